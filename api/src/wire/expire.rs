//! Expiry of snapshots.

use prunus_catalog::{ExpireRequest, ExpireRun, Expired, Fault};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::time::parse_time;

/// What is to be expired: what both limits let go. One of them must be given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"older_than": "2024-01-31T00:00:00Z", "keep_last": 10})))]
pub struct ExpireJson {
    /// Keeps what was committed at or after this time, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub older_than: Option<String>,
    /// Keeps so many of the newest snapshots; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = Int64, minimum = 1, maximum = 4_294_967_295_i64)]
    pub keep_last: Option<u32>,
    /// Whether it is only said what would be done.
    #[serde(default = "dry")]
    #[schema(default = dry)]
    pub dry_run: bool,
}

/// Nothing goes unless it is said outright.
fn dry() -> bool {
    true
}

impl ExpireJson {
    /// The expiry as the catalog is asked for it; or every fault.
    pub(crate) fn parse(&self) -> Result<ExpireRequest, Vec<Fault>> {
        let older_than_ms = self.older_than.as_deref().map(|text| parse_time("older_than", text)).transpose();
        let run = if self.dry_run { ExpireRun::Dry } else { ExpireRun::Real };
        // A time that does not read is a limit all the same.
        let request = |older_than_ms| ExpireRequest { older_than_ms, keep_last: self.keep_last, run };
        older_than_ms.map(request).map_err(|faults| faults.into_iter().chain(request(Some(0)).faults()).collect())
    }
}

/// What was expired, or would be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExpiredJson {
    /// Whether nothing was done.
    pub dry_run: bool,
    /// The snapshots that are gone, oldest first.
    pub snapshots: Vec<i64>,
    /// How many files are forgotten: no snapshot names them any more.
    pub forgotten_files: u64,
    /// The paths that no file of any table has any more. The objects are still there.
    pub removable: Vec<String>,
    /// Whether there is more, for another call.
    pub more: bool,
}

impl ExpiredJson {
    pub(crate) fn new(expired: Expired, dry_run: bool) -> Self {
        Self {
            dry_run,
            snapshots: expired.snapshots.into_iter().map(|snapshot_id| snapshot_id.0).collect(),
            forgotten_files: expired.forgotten_files,
            removable: expired.removable,
            more: expired.more,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_an_expiry_is_found() {
        let json = serde_json::json!({"older_than": "yesterday", "keep_last": 0});
        let faults = serde_json::from_value::<ExpireJson>(json).unwrap().parse().unwrap_err();
        assert_eq!(
            faults.iter().filter_map(|fault| fault.at.as_deref()).collect::<Vec<_>>(),
            ["older_than", "keep_last"]
        );
    }

    #[test]
    fn an_expiry_is_dry_unless_it_is_said_otherwise() {
        let run = |json| serde_json::from_value::<ExpireJson>(json).unwrap().parse().unwrap().run;
        assert_eq!(run(serde_json::json!({})), ExpireRun::Dry);
        assert_eq!(run(serde_json::json!({"dry_run": true})), ExpireRun::Dry);
        assert_eq!(run(serde_json::json!({"dry_run": false})), ExpireRun::Real);
    }
}
