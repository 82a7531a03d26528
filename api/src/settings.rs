//! What an operator may set: a section per subject, each value with its default.
//!
//! These are plain values, as they stand in `prunus.toml`. A key that is none of them is an error wherever it is read ([`Sources`]).

pub(crate) mod address;
mod check;
mod effective;
mod locations;
mod sources;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use prunus_catalog::{
    AuditBudget, CatalogOptions, DEFAULT_AUDIT_BYTES_PER_SECOND, DEFAULT_PLAN_CACHE_BYTES, Limits, PowerLoss,
};
use serde::{Deserialize, Serialize};

use crate::router::MAX_BODY_BYTES;

pub use effective::Effective;
pub use locations::{Reach, StorageSettingsError};
pub(crate) use sources::VARIABLE_PREFIX;
pub use sources::{DEFAULT_FILE, FILE_VARIABLE, Origin, SettingsError, Sources};

/// All that may be set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How the server is reached.
    pub server: ServerSettings,
    /// Who may use it.
    pub access: AccessSettings,
    /// Where data files may lie, and how they are reached.
    pub storage: StorageSettings,
    /// What the catalog is kept in.
    pub store: StoreSettings,
    /// How much is taken at once.
    pub limits: LimitSettings,
    /// What is logged.
    pub log: LogSettings,
    /// Where traces are sent.
    pub traces: TraceSettings,
}

/// How the server is reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// The address to listen on, as `HOST:PORT`. Port 0 is a free one.
    #[serde(deserialize_with = "address::deserialize")]
    pub listen: SocketAddr,
    /// The file of the certificate chain, as PEM, the server's own first. With it the server speaks TLS alone.
    pub tls_cert: Option<PathBuf>,
    /// The file of the certificate's private key, as PEM.
    pub tls_key: Option<PathBuf>,
    /// How long a server that is told to stop waits for requests that have begun, in seconds.
    pub shutdown_seconds: u64,
}

/// Who may use the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessSettings {
    /// Whether requests need a token.
    pub tokens: TokenRule,
}

/// Whether requests need a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenRule {
    /// On every address but a loopback one.
    #[default]
    Auto,
    /// Always.
    Required,
    /// Never, on whatever address: whoever reaches the server may do all that it can do.
    Off,
}

/// Where data files may lie, and how they are reached.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageSettings {
    /// The folders and prefixes below which tables and files may lie. Absent: anywhere while the server listens on a loopback address and
    /// tokens are `auto`, and nowhere otherwise.
    pub allow: Option<Vec<String>>,
    /// The same for single namespaces and those below them, in the place of the list for all.
    pub namespaces: BTreeMap<String, Vec<String>>,
    /// Options of the object stores, by the names of their environment variables in lower case, before which they come. Secrets.
    pub options: BTreeMap<String, String>,
}

/// What the catalog is kept in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    /// The folder that the catalog is kept in.
    pub data_dir: Option<PathBuf>,
    /// How many bytes of what plans have read are kept in memory.
    pub plan_cache_bytes: u64,
    /// Whether commits are answered before they have reached the disk.
    pub power_loss_may_lose_commits: bool,
    /// How many bytes of data files are read a second to improve their statistics in the background; 0 reads nothing.
    pub audit_bytes_per_second: u64,
    /// The server says that it is not ready when the disk of the catalog has fewer free bytes than this.
    pub free_bytes_min: u64,
    /// How many days the journal keeps its entries; 0 keeps them for ever.
    pub journal_days: u32,
}

/// How much is taken at once. What is beyond it is refused with 413, 422, 429, 431 or 503.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Connections that are open at once.
    pub connections: usize,
    /// Bytes of the head of a request: its line and all headers.
    pub header_bytes: usize,
    /// How long the head of a request may take to arrive, in seconds; also how long a connection may idle.
    pub header_seconds: u64,
    /// Bytes of a body, as they are once they are decompressed.
    pub body_bytes: usize,
    /// How long the body of a request may take to arrive, in seconds.
    pub body_seconds: u64,
    /// How long a client may take nothing of its answer, in seconds.
    pub write_seconds: u64,
    /// How long a request may take until its answer begins, in seconds.
    pub request_seconds: u64,
    /// Files that a commit adds and removes.
    pub files_per_commit: usize,
    /// Bytes of a filter as SQL text.
    pub filter_bytes: usize,
    /// Words and operators of a filter as SQL text.
    pub filter_words: usize,
    /// How deep a filter is nested.
    pub filter_depth: usize,
    /// Items of a page.
    pub page_size: u32,
    /// Plans that are made at once.
    pub plans_at_once: usize,
    /// Plans that wait for their turn.
    pub plans_waiting: usize,
    /// Changes that wait for the writer.
    pub changes_waiting: usize,
}

/// What is logged, on standard error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// How a line is written.
    pub format: LogFormat,
    /// Which lines are written, in the language of `RUST_LOG`, which comes before it.
    pub filter: Option<String>,
}

/// How a line of the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people
    #[default]
    Text,
    /// A JSON object per line
    Json,
}

/// Where traces are sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceSettings {
    /// The URL of an OTLP collector that takes traces over HTTP. Absent: none are sent.
    pub otlp_endpoint: Option<String>,
}

impl Settings {
    /// What of it is set when the catalog is opened.
    ///
    /// # Errors
    /// [`StorageSettingsError`] if a location or an option of object stores is none.
    pub fn catalog_options(&self) -> Result<CatalogOptions, StorageSettingsError> {
        let loses_commits = self.store.power_loss_may_lose_commits;
        let reach = self.access.reach(self.server.listen);
        Ok(CatalogOptions {
            allowed_locations: self.storage.of_access(reach)?,
            object_store_options: self.storage.object_store_options()?,
            plan_cache_bytes: self.store.plan_cache_bytes,
            power_loss: if loses_commits { PowerLoss::MayLoseLastCommits } else { PowerLoss::LosesNothing },
            audit_budget: AuditBudget::of_bytes_per_second(self.store.audit_bytes_per_second),
            free_bytes_min: self.store.free_bytes_min,
            journal_days: self.store.journal_days,
            limits: self.limits.of_catalog(),
            ..CatalogOptions::default()
        })
    }
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8181)),
            tls_cert: None,
            tls_key: None,
            shutdown_seconds: 30,
        }
    }
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self {
            data_dir: None,
            plan_cache_bytes: DEFAULT_PLAN_CACHE_BYTES,
            power_loss_may_lose_commits: false,
            audit_bytes_per_second: DEFAULT_AUDIT_BYTES_PER_SECOND,
            free_bytes_min: 256 << 20,
            journal_days: 0,
        }
    }
}

impl Default for LimitSettings {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            connections: 4_096,
            header_bytes: 32 << 10,
            header_seconds: 15,
            body_bytes: MAX_BODY_BYTES,
            body_seconds: 60,
            write_seconds: 60,
            request_seconds: 300,
            files_per_commit: limits.files_per_commit,
            filter_bytes: limits.filter_bytes,
            filter_words: limits.filter_words,
            filter_depth: limits.filter_depth,
            page_size: limits.page_size,
            plans_at_once: limits.plans_at_once.get(),
            plans_waiting: limits.plans_waiting,
            changes_waiting: limits.changes_waiting,
        }
    }
}
