//! What clients can count on of a server: its limits, its defaults, the formats that it speaks.

use prunus_catalog::schema::{MAX_DEPTH, MAX_FIELD_NAME_BYTES, MAX_FIELDS};
use prunus_catalog::{
    DEFAULT_PAGE_SIZE, LEASE_MS, Limits, MAX_AUDITS_PER_TABLE, MAX_CLUSTER_BY_COLUMNS, MAX_COLUMNS_OF_FILE,
    MAX_EXPIRED_SNAPSHOTS, MAX_FILES_PER_ROLLBACK, MAX_FILTER_VALUES, MAX_LISTED_CONFLICTS, MAX_LOCATION_BYTES,
    MAX_NAME_BYTES, MAX_NAMESPACE_PARTS, MAX_NOTES, MAX_NOTES_BYTES, MAX_SCHEMA_CHANGES, MAX_SCHEMAS,
    MAX_SELECTED_COLUMNS, MAX_TABLES_PER_TRANSACTION, MAX_TAGS_PER_TABLE, REPLY_KEPT_MS,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::problem::MAX_FAULTS;
use crate::accept::{ENCODINGS, Format};
use crate::extract::MAX_BODY_DEPTH;
use crate::idempotency::MAX_KEY_BYTES;
use crate::router::MAX_BODY_BYTES;
use crate::settings::LimitSettings;

/// What a client can count on here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigJson {
    /// The version of the server.
    pub version: String,
    /// The most that is taken, and that is answered, of each kind. What is beyond it is refused, unless the limit says otherwise.
    pub limits: LimitsJson,
    /// What holds where a request says nothing.
    pub defaults: DefaultsJson,
    /// The content types of answers.
    pub formats: Vec<String>,
    /// The content encodings of answers.
    pub encodings: Vec<String>,
}

/// The most of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct LimitsJson {
    /// Bytes of a body, once it is decompressed.
    pub body_bytes: u64,
    /// How deep objects and arrays of a body are nested, the body itself counted.
    pub body_depth: u64,
    /// Items of a page.
    pub page_size: u64,
    /// Files that a commit adds and removes.
    pub files_per_commit: u64,
    /// Tables of a transaction.
    pub tables_per_transaction: u64,
    /// Files that differ where a table is rolled back.
    pub files_per_rollback: u64,
    /// Snapshots that one call forgets; whether there are more it says.
    pub snapshots_per_expire: u64,
    /// Bytes of a filter.
    pub filter_bytes: u64,
    /// Words and operators of a filter as SQL, without values and the commas between them; or tests and connectives of an Iceberg
    /// expression.
    pub filter_words: u64,
    /// How deep a filter is nested.
    pub filter_depth: u64,
    /// Values of a filter.
    pub filter_values: u64,
    /// Columns that a plan selects.
    pub selected_columns: u64,
    /// Columns in each of the lists that a commit has of a file.
    pub columns_of_file: u64,
    /// Columns that a table is clustered by.
    pub cluster_by_columns: u64,
    /// Entries of a commit's summary, and of the properties of a namespace or table.
    pub notes: u64,
    /// Bytes of the keys and values of a summary, or of properties, together.
    pub notes_bytes: u64,
    /// Fields of a schema, nested ones counted.
    pub fields: u64,
    /// How deep structs, lists and maps of a schema are nested.
    pub field_depth: u64,
    /// Bytes of a field's name.
    pub field_name_bytes: u64,
    /// Changes of a schema in one request.
    pub schema_changes: u64,
    /// Schemas that a table has had.
    pub schemas_per_table: u64,
    /// Bytes of the name of a table or tag, and of each part of a namespace's.
    pub name_bytes: u64,
    /// Parts of a namespace's name.
    pub namespace_parts: u64,
    /// Bytes of a path.
    pub path_bytes: u64,
    /// Tags of a table.
    pub tags_per_table: u64,
    /// Audits of a table that run, and that are remembered.
    pub audits_per_table: u64,
    /// Bytes of an idempotency key.
    pub idempotency_key_bytes: u64,
    /// Faults that a problem lists; beyond it their number is told.
    pub faults_listed: u64,
    /// Conflicts that a problem lists.
    pub conflicts_listed: u64,
    /// Plans, and other requests that may take long, that are worked on at once.
    pub plans_at_once: u64,
    /// Those that wait for their turn; a further one is answered with 429.
    pub plans_waiting: u64,
    /// Changes that are worked on or wait for the store; a further one is answered with 503.
    pub changes_waiting: u64,
}

/// What holds where a request says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DefaultsJson {
    /// Items of a page.
    pub page_size: u64,
    /// How long a page that has a next one holds its snapshot against expiry, in milliseconds.
    pub lease_ms: u64,
    /// How long the reply to a request under an idempotency key is kept, in milliseconds.
    pub replies_kept_ms: u64,
}

impl ConfigJson {
    /// That of this server.
    pub(crate) fn of_this_server(settings: &LimitSettings, limits: &Limits) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            limits: LimitsJson::of_this_server(settings, limits),
            defaults: DefaultsJson {
                page_size: DEFAULT_PAGE_SIZE.min(limits.page_size).into(),
                lease_ms: LEASE_MS.unsigned_abs(),
                replies_kept_ms: REPLY_KEPT_MS.unsigned_abs(),
            },
            formats: Format::ALL.map(|format| format.name().to_owned()).into(),
            encodings: ENCODINGS.map(str::to_owned).into(),
        }
    }
}

impl LimitsJson {
    fn of_this_server(settings: &LimitSettings, limits: &Limits) -> Self {
        Self {
            body_bytes: settings.body_bytes.min(MAX_BODY_BYTES) as u64,
            body_depth: MAX_BODY_DEPTH as u64,
            page_size: limits.page_size.into(),
            files_per_commit: limits.files_per_commit as u64,
            tables_per_transaction: MAX_TABLES_PER_TRANSACTION as u64,
            files_per_rollback: MAX_FILES_PER_ROLLBACK.into(),
            snapshots_per_expire: MAX_EXPIRED_SNAPSHOTS.into(),
            filter_bytes: limits.filter_bytes as u64,
            filter_words: limits.filter_words as u64,
            filter_depth: limits.filter_depth as u64,
            filter_values: MAX_FILTER_VALUES as u64,
            selected_columns: MAX_SELECTED_COLUMNS as u64,
            columns_of_file: MAX_COLUMNS_OF_FILE as u64,
            cluster_by_columns: MAX_CLUSTER_BY_COLUMNS as u64,
            notes: MAX_NOTES as u64,
            notes_bytes: MAX_NOTES_BYTES as u64,
            fields: MAX_FIELDS as u64,
            field_depth: MAX_DEPTH as u64,
            field_name_bytes: MAX_FIELD_NAME_BYTES as u64,
            schema_changes: MAX_SCHEMA_CHANGES as u64,
            schemas_per_table: MAX_SCHEMAS as u64,
            name_bytes: MAX_NAME_BYTES as u64,
            namespace_parts: MAX_NAMESPACE_PARTS as u64,
            path_bytes: MAX_LOCATION_BYTES as u64,
            tags_per_table: MAX_TAGS_PER_TABLE.into(),
            audits_per_table: MAX_AUDITS_PER_TABLE.into(),
            idempotency_key_bytes: MAX_KEY_BYTES as u64,
            faults_listed: MAX_FAULTS as u64,
            conflicts_listed: MAX_LISTED_CONFLICTS as u64,
            plans_at_once: limits.plans_at_once.get() as u64,
            plans_waiting: limits.plans_waiting as u64,
            changes_waiting: limits.changes_waiting as u64,
        }
    }
}
