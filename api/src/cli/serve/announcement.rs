//! What the log says first: as what the server has started, and what of that its operator may not have meant.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use prunus_catalog::{Catalog, Location};

use crate::access::{Access, is_loopback};
use crate::settings::{Reach, Settings, StorageSettings};
use crate::wire::to_rfc3339;

/// How long before the last admin's token ends it is warned of.
const ADMINS_END_SOON: Duration = Duration::from_hours(14 * 24);

/// A server that has started.
pub(super) struct Started<'a> {
    pub(super) settings: &'a Settings,
    /// The file of the configuration.
    pub(super) config: Option<&'a Path>,
    pub(super) address: SocketAddr,
    pub(super) access: Access,
    /// How its URLs begin.
    pub(super) scheme: &'static str,
    pub(super) catalog: &'a Catalog,
}

impl Started<'_> {
    /// Tells of it.
    pub(super) fn tell(&self) {
        let shown = |path: Option<&Path>| path.map_or("none".to_owned(), |path| path.display().to_string());
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            address = %self.address,
            tls = self.is_tls(),
            tokens = match self.access {
                Access::Tokens => "needed",
                Access::ThisMachine => "not needed on this machine",
                Access::Open => "off",
            },
            allowed_locations = self.allowed(),
            config = shown(self.config),
            data_dir = shown(self.settings.store.data_dir.as_deref()),
            "started"
        );
        for warning in self.warnings() {
            tracing::warn!("{warning}");
        }
    }

    fn is_tls(&self) -> bool {
        self.scheme == "https"
    }

    /// How many folders and prefixes are allowed, or that all are.
    fn allowed(&self) -> String {
        let storage = &self.settings.storage;
        let is_anywhere = storage.allow.is_none() && self.settings.access.reach(self.address) == Reach::ThisMachine;
        if is_anywhere { "anywhere".to_owned() } else { prefixes(storage).count().to_string() }
    }

    fn warnings(&self) -> Vec<String> {
        let (address, mut warnings) = (self.address, Vec::new());
        let is_beyond = !is_loopback(address);
        if self.access == Access::Tokens && is_beyond && !self.is_tls() {
            warnings.push(format!(
                "tokens and answers pass {address} in plain text: set tls_cert and tls_key in [server], or have a proxy before it that \
                 speaks TLS"
            ));
        }
        if self.access == Access::Open && is_beyond {
            warnings.push(format!("requests need no token: whoever reaches {address} may do everything"));
        }
        if self.access == Access::Tokens && self.allowed() == "0" {
            warnings.push(
                "no location is allowed, so that no file can be registered: name the folders and prefixes of the files with `allow` in \
                 [storage]"
                    .to_owned(),
            );
        }
        for prefix in prefixes(&self.settings.storage) {
            let folder = Location::parse(prefix, None).ok().and_then(|location| location.file_path());
            if let Some(folder) = folder.filter(|folder| !folder.exists()) {
                warnings.push(format!("the allowed folder {} is not there", folder.display()));
            }
        }
        if let Some(end_ms) =
            self.catalog.last_admin_ends_within(ADMINS_END_SOON).filter(|_| self.access == Access::Tokens)
        {
            warnings.push(format!(
                "the last token that is admin of everything ends at {}: create another before that",
                to_rfc3339(end_ms)
            ));
        }
        warnings
    }
}

/// All that are allowed, for all namespaces or for some.
fn prefixes(storage: &StorageSettings) -> impl Iterator<Item = &String> {
    storage.allow.iter().chain(storage.namespaces.values()).flatten()
}

#[cfg(test)]
mod tests {
    use prunus_catalog::{CatalogOptions, Clock, Grants, NewToken, SystemClock};

    use super::*;

    /// What is warned of, each by its first word.
    async fn check(settings: &str, address: &str, access: Access, scheme: &'static str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let grants = Grants::new(vec!["admin".parse().unwrap()]).unwrap();
        let end_ms = SystemClock.now_ms() + 60_000;
        let token = NewToken { name: "a".parse().unwrap(), grants, expires_at_ms: Some(end_ms) };
        catalog.create_token(token).await.unwrap();
        let settings: Settings = toml::from_str(settings).unwrap();
        let address = address.parse().unwrap();
        Started { settings: &settings, config: None, address, access, scheme, catalog: &catalog }.warnings()
    }

    fn begins(warnings: &[String], beginnings: &[&str]) -> bool {
        warnings.len() == beginnings.len() && warnings.iter().zip(beginnings).all(|(one, other)| one.starts_with(other))
    }

    #[tokio::test]
    async fn what_an_operator_may_not_have_meant_is_warned_of() {
        let end = "the last token that is admin of everything ends at ";
        let warnings = check("", "0.0.0.0:1", Access::Tokens, "http").await;
        assert!(begins(&warnings, &["tokens and answers pass ", "no location is allowed", end]), "{warnings:?}");
        let warnings = check("", "0.0.0.0:1", Access::Open, "http").await;
        assert!(begins(&warnings, &["requests need no token"]), "{warnings:?}");
        let allow = "[storage]\nallow = ['/not/there', 's3://b/']";
        let warnings = check(allow, "0.0.0.0:1", Access::Tokens, "https").await;
        assert!(begins(&warnings, &["the allowed folder /not/there", end]), "{warnings:?}");
        assert_eq!(check("", "127.0.0.1:1", Access::ThisMachine, "http").await, Vec::<String>::new());
    }
}
