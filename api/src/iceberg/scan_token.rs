//! Ids of plans and their tasks. They hold the scan itself: nothing of a plan is kept here, so that any number of them costs nothing,
//! and those of yesterday's server are as good as those of today's.
//!
//! They are opaque to clients and not signed: whoever forges one reads nothing that could not be asked for outright.

use prunus_catalog::{Catalog, FileId, LEASE_MS, SchemaId, SnapshotId};
use prunus_statistics::{PrimitiveType, Value, parse_hex};
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use super::scan::Scan;

/// The form of what is in a token.
const VERSION: u8 = 1;
/// The longest id of a plan that has the scan in it: it stands in a path.
const MAX_PLAN_ID_BYTES: usize = 8 << 10;

/// A plan, and how far it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ScanToken {
    pub(super) plan: Uuid,
    pub(super) table_id: i64,
    snapshot_id: i64,
    schema_id: i64,
    issued_ms: i64,
    /// The last file that was told of; `None` at the beginning.
    after: Option<i64>,
    /// How many rows were told of that all match.
    pub(super) matching_rows: u64,
    scan: Scan,
}

/// What the id of a plan says.
#[derive(Debug, PartialEq)]
pub(super) enum PlanId {
    /// All of it.
    Whole(Box<ScanToken>),
    /// Which plan it is; the scan was too long to stand in it.
    Bare(Uuid),
}

impl ScanToken {
    /// A plan of a scan that begins now.
    pub(super) fn begin(
        scan: Scan,
        (table_id, snapshot_id, schema_id): (i64, SnapshotId, SchemaId),
        catalog: &Catalog,
    ) -> Self {
        Self {
            plan: catalog.new_uuid(),
            table_id,
            snapshot_id: snapshot_id.0,
            schema_id: schema_id.0,
            issued_ms: catalog.now_ms(),
            after: None,
            matching_rows: 0,
            scan: scan.pinned(snapshot_id, schema_id),
        }
    }

    /// What comes after a file, as of now.
    pub(super) fn after(&self, file_id: FileId, matching_rows: u64, now_ms: i64) -> Self {
        Self { after: Some(file_id.0), matching_rows, issued_ms: now_ms, ..self.clone() }
    }

    /// The scan, and the file that it goes on after.
    pub(super) fn scan(&self) -> (Scan, Option<FileId>) {
        let scan = self.scan.clone().pinned(SnapshotId(self.snapshot_id), SchemaId(self.schema_id));
        (scan, self.after.map(FileId))
    }

    /// What clients are given.
    pub(super) fn encode(&self) -> String {
        // JSON of names, numbers and JSON cannot fail; if it did, it would be no token.
        let content = serde_json::to_vec(&(VERSION, self)).unwrap_or_default();
        let token = [&content[..], &xxh3_64(&content).to_be_bytes()].concat();
        Value::Bytes(token).display(PrimitiveType::Binary).to_string()
    }

    /// What a token says; `None` if it is none, or too old.
    pub(super) fn decode(token: &str, catalog: &Catalog) -> Option<Self> {
        let bytes = parse_hex(token)?;
        let (content, hash) = bytes.split_last_chunk()?;
        if xxh3_64(content).to_be_bytes() != *hash {
            return None;
        }
        let (version, token): (u8, Self) = serde_json::from_slice(content).ok()?;
        let is_alive = catalog.now_ms().saturating_sub(token.issued_ms) < LEASE_MS;
        (version == VERSION && is_alive).then_some(token)
    }

    /// The id of the plan.
    pub(super) fn plan_id(&self) -> String {
        let whole = self.encode();
        if whole.len() <= MAX_PLAN_ID_BYTES { whole } else { self.plan.to_string() }
    }
}

impl PlanId {
    /// What an id says; `None` if it is none, or too old.
    pub(super) fn decode(id: &str, catalog: &Catalog) -> Option<Self> {
        match Uuid::try_parse(id) {
            Ok(plan) => Some(Self::Bare(plan)),
            Err(_) => ScanToken::decode(id, catalog).map(|token| Self::Whole(Box::new(token))),
        }
    }

    pub(super) fn plan(&self) -> Uuid {
        match self {
            Self::Whole(token) => token.plan,
            Self::Bare(plan) => *plan,
        }
    }
}
