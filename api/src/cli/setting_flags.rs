//! Settings on the command line: over a file and the environment.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use clap::Args;
use prunus_catalog::{DEFAULT_AUDIT_BYTES_PER_SECOND, DEFAULT_PLAN_CACHE_BYTES};
use serde_json::Value;

use crate::settings::{DEFAULT_FILE, FILE_VARIABLE, LogFormat, SettingsError, Sources, VARIABLE_PREFIX, address};

use super::CliError;
use super::output::note;

/// Where settings come from, and those that may be said here.
#[derive(Debug, Args)]
pub(super) struct SettingFlags {
    /// The file of the configuration [env: PRUNUS_CONFIG] [default: prunus.toml in the current folder, if it is there]
    // Clap shows an option that the environment sets in the usage of every error, as if it were required: this is read here.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The folder that the catalog is kept in; it is made where it is missing
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,

    /// The address to listen on, as HOST:PORT; with port 0 a free port is taken, and printed [default: 127.0.0.1:8181]
    #[arg(long, value_name = "ADDR", value_parser = address::parse)]
    listen: Option<SocketAddr>,

    /// The certificate chain of the server as PEM, its own certificate first: with it, TLS alone is spoken. Read again when it
    /// changes
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<String>,

    /// The private key of the certificate as PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,

    /// Require an access token on a loopback address, too
    #[arg(long, conflicts_with = "insecure_no_auth")]
    require_tokens: bool,

    /// Require no access token on any address: whoever reaches the server may do all that it can do
    #[arg(long)]
    insecure_no_auth: bool,

    /// A folder or prefix below which tables and files may lie; may be given more than once. By default anywhere on a loopback
    /// address, without --require-tokens and --insecure-no-auth, and nowhere otherwise
    #[arg(long, value_name = "PREFIX")]
    allow_location: Vec<String>,

    #[arg(long, value_name = "BYTES", help = plan_cache_help())]
    plan_cache_bytes: Option<u64>,

    /// Answer commits before they have reached the disk: faster, but a loss of power or a crash of the machine may lose the
    /// last ones. Nothing is damaged by it, and nothing is lost when only the server ends
    #[arg(long)]
    power_loss_may_lose_commits: bool,

    #[arg(long, value_name = "BYTES", help = audit_help())]
    audit_bytes_per_second: Option<u64>,

    /// How the log on standard error is written [default: text]
    #[arg(long, value_name = "FORMAT")]
    log: Option<LogFormat>,
}

/// Whether somebody asked for the file, or it just lay there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Yes,
    No,
}

/// What may be wrong with who else may read or write the file.
fn warnings_of_mode(mode: u32, named: Named, has_options: bool) -> Vec<&'static str> {
    let warnings = [
        (
            has_options && mode & 0o044 != 0,
            "holds options of object stores, and others than its owner may read it: make it `chmod 600`",
        ),
        (
            named == Named::No && mode & 0o022 != 0,
            "was found in this folder, and others than its owner may write it: name it with --config if it is yours",
        ),
    ];
    warnings.into_iter().filter(|(holds, _)| *holds).map(|(_, warning)| warning).collect()
}

fn plan_cache_help() -> String {
    format!(
        "How many bytes of what plans have read are kept in memory, so that others need not read it again [default: \
         {DEFAULT_PLAN_CACHE_BYTES}]"
    )
}

fn audit_help() -> String {
    format!(
        "How many bytes of data files are read a second to improve their statistics in the background: to count NaNs, to make bounds \
         exact, to look at what was declared. Each file is read once; 0 reads nothing [default: {DEFAULT_AUDIT_BYTES_PER_SECOND}]"
    )
}

/// The variables of the environment that are settings. Of others it does not matter whether they are texts.
fn variables() -> Result<Vec<(String, String)>, SettingsError> {
    let is_setting = |name: &OsString| name.as_encoded_bytes().starts_with(VARIABLE_PREFIX.as_bytes());
    let text = |(name, value): (OsString, OsString)| match (name.into_string(), value.into_string()) {
        (Ok(name), Ok(value)) => Ok((name, value)),
        (Ok(name), Err(_)) => Err(SettingsError::Variable(name)),
        (Err(name), _) => Err(SettingsError::Variable(name.to_string_lossy().into_owned())),
    };
    std::env::vars_os().filter(|(name, _)| is_setting(name)).map(text).collect()
}

impl SettingFlags {
    /// What the file, the environment and these flags say.
    pub(super) fn sources(&self) -> Result<Sources, CliError> {
        let mut sources = Sources::default();
        if let Some((path, named)) = self.file() {
            sources.add_file(&path)?;
            let mode = std::fs::metadata(&path).map_or(0, |file| file.permissions().mode());
            for warning in warnings_of_mode(mode, named, sources.has_options()) {
                note(&format!("warning: the configuration file {} {warning}\n", path.display()));
            }
        }
        sources.add_environment(variables()?.into_iter());
        for (section, key, value, flag) in self.said() {
            if let Some(value) = value {
                sources.add_flag(section, key, value, flag);
            }
        }
        Ok(sources)
    }

    /// The file of the configuration. One that is named must be there.
    pub(super) fn file(&self) -> Option<(PathBuf, Named)> {
        let named = std::env::var_os(FILE_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let default = || Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.exists());
        let named = self.config.clone().or(named).map(|path| (path, Named::Yes));
        named.or_else(|| default().map(|path| (path, Named::No)))
    }

    /// Section, key, value and flag.
    fn said(&self) -> [(&'static str, &'static str, Option<Value>, &'static str); 12] {
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let set = |is_set: bool, value: Value| is_set.then_some(value);
        let allowed = Some(&self.allow_location).filter(|prefixes| !prefixes.is_empty());
        let format = |format: LogFormat| serde_json::to_value(format).unwrap_or_default();
        [
            ("store", "data_dir", text(&self.data_dir), "--data-dir"),
            ("server", "listen", self.listen.map(|address| address.to_string().into()), "--listen"),
            ("server", "tls_cert", text(&self.tls_cert), "--tls-cert"),
            ("server", "tls_key", text(&self.tls_key), "--tls-key"),
            ("access", "tokens", set(self.require_tokens, "required".into()), "--require-tokens"),
            ("access", "tokens", set(self.insecure_no_auth, "off".into()), "--insecure-no-auth"),
            ("storage", "allow", allowed.map(|prefixes| prefixes.clone().into()), "--allow-location"),
            ("store", "plan_cache_bytes", self.plan_cache_bytes.map(Value::from), "--plan-cache-bytes"),
            (
                "store",
                "power_loss_may_lose_commits",
                set(self.power_loss_may_lose_commits, true.into()),
                "--power-loss-may-lose-commits",
            ),
            (
                "store",
                "audit_bytes_per_second",
                self.audit_bytes_per_second.map(Value::from),
                "--audit-bytes-per-second",
            ),
            ("log", "format", self.log.map(format), "--log"),
            (
                "log",
                "filter",
                std::env::var("RUST_LOG").ok().filter(|filter| !filter.is_empty()).map(Value::from),
                "RUST_LOG",
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_others_may_read_or_write_is_warned_of() {
        let check = |mode, named, has_options, expected: &[&str]| {
            let found = warnings_of_mode(mode, named, has_options);
            assert_eq!(found.len(), expected.len(), "{mode:o} {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.contains(expected), "{found}");
            }
        };
        check(0o100_600, Named::No, true, &[]);
        check(0o100_644, Named::No, false, &[]);
        check(0o100_640, Named::Yes, true, &["may read"]);
        check(0o100_666, Named::Yes, false, &[]);
        check(0o100_602, Named::No, false, &["may write"]);
        check(0o100_664, Named::No, true, &["may read", "may write"]);
    }
}
