//! Ids of plans and their tasks. They hold the scan itself: nothing of a plan is kept here, so that any number of them costs nothing,
//! and those of yesterday's server are as good as those of today's.
//!
//! They are opaque to clients and not signed: whoever forges one reads nothing that could not be asked for outright.

use prunus_catalog::{Catalog, FileId, LEASE_MS, SchemaId, SnapshotId};
use prunus_statistics::{PrimitiveType, Value, parse_hex};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Deserializer;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use super::scan::Scan;

/// The form of what is in a token.
const VERSION: u8 = 1;
/// The longest id of a plan that has the scan in it: it stands in a path.
const MAX_PLAN_ID_BYTES: usize = 4 << 10;

/// A plan, and how far it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// Which plan it is, where the scan is too long to stand in its id.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BareId {
    plan: Uuid,
    table_id: i64,
    issued_ms: i64,
}

/// What the id of a plan says.
#[derive(Debug, PartialEq)]
pub(super) enum PlanId {
    /// All of it.
    Whole(Box<ScanToken>),
    /// Which plan it is.
    Bare(BareId),
}

/// What clients are given: JSON twice, so that what is beside is as deep as it is by itself.
fn encode(token: &impl Serialize, beside: &impl Serialize) -> String {
    // JSON of names, numbers and JSON cannot fail; if it did, it would be no token.
    let content = serde_json::to_vec(&(VERSION, token)).and_then(|mut content| {
        serde_json::to_writer(&mut content, beside)?;
        Ok(content)
    });
    let content = content.unwrap_or_default();
    let token = [&content[..], &xxh3_64(&content).to_be_bytes()].concat();
    Value::Bytes(token).display(PrimitiveType::Binary).to_string()
}

/// What a token says, and what is beside; `None` if it is none.
fn decode<T: DeserializeOwned, B: DeserializeOwned>(token: &str) -> Option<(T, B)> {
    let bytes = parse_hex(token)?;
    let (content, hash) = bytes.split_last_chunk()?;
    if xxh3_64(content).to_be_bytes() != *hash {
        return None;
    }
    let mut content = Deserializer::from_slice(content);
    let (version, token) = <(u8, T)>::deserialize(&mut content).ok()?;
    let beside = B::deserialize(&mut content).ok()?;
    content.end().ok().filter(|()| version == VERSION).map(|()| (token, beside))
}

fn is_alive(issued_ms: i64, catalog: &Catalog) -> bool {
    catalog.now_ms().saturating_sub(issued_ms) < LEASE_MS
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
        encode(self, &self.scan.filter)
    }

    /// What a token says; `None` if it is none, or too old.
    pub(super) fn decode(token: &str, catalog: &Catalog) -> Option<Self> {
        let (mut token, filter): (Self, _) = decode(token)?;
        token.scan.filter = filter;
        Some(token).filter(|token| is_alive(token.issued_ms, catalog))
    }

    /// The id of the plan.
    pub(super) fn plan_id(&self) -> String {
        let whole = self.encode();
        if whole.len() <= MAX_PLAN_ID_BYTES {
            return whole;
        }
        encode(&BareId { plan: self.plan, table_id: self.table_id, issued_ms: self.issued_ms }, &())
    }
}

impl PlanId {
    /// What an id says; `None` if it is none, or too old.
    pub(super) fn decode(id: &str, catalog: &Catalog) -> Option<Self> {
        let bare = || decode(id).map(|(bare, ()): (BareId, _)| bare).filter(|bare| is_alive(bare.issued_ms, catalog));
        ScanToken::decode(id, catalog).map(|token| Self::Whole(Box::new(token))).or_else(|| bare().map(Self::Bare))
    }

    pub(super) fn plan(&self) -> Uuid {
        match self {
            Self::Whole(token) => token.plan,
            Self::Bare(bare) => bare.plan,
        }
    }

    /// The table that it is a plan of.
    pub(super) fn table_id(&self) -> i64 {
        match self {
            Self::Whole(token) => token.table_id,
            Self::Bare(bare) => bare.table_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn token(filter_bytes: usize) -> ScanToken {
        let scan = json!({"since": null, "selected": null, "filtered": [], "doubts": [], "ignores_case": false, "min_rows": null,
            "stats_fields": [], "lost": null, "gone": [], "is_ambiguous": false});
        let mut scan: Scan = serde_json::from_value(scan).unwrap();
        scan.filter = Some("x".repeat(filter_bytes).into());
        let (plan, after) = (Uuid::from_u128(7), None);
        ScanToken { plan, table_id: 1, snapshot_id: 2, schema_id: 1, issued_ms: 5, after, matching_rows: 0, scan }
    }

    #[test]
    fn a_token_says_what_it_was_made_of() {
        let (mut decoded, filter): (ScanToken, _) = decode(&token(3).encode()).unwrap();
        assert_eq!(decoded.scan.filter, None);
        decoded.scan.filter = filter;
        assert_eq!(decoded, token(3));
    }

    #[test]
    fn the_id_of_a_plan_has_the_scan_in_it_up_to_the_limit() {
        let bytes_left = (MAX_PLAN_ID_BYTES - token(0).encode().len()) / 2;
        let (fits, beyond) = (token(bytes_left), token(bytes_left + 1));
        assert_eq!(fits.encode().len(), MAX_PLAN_ID_BYTES);
        assert_eq!(fits.plan_id(), fits.encode());
        let (bare, ()): (BareId, _) = decode(&beyond.plan_id()).unwrap();
        assert_eq!(bare, BareId { plan: Uuid::from_u128(7), table_id: 1, issued_ms: 5 });
    }
}
