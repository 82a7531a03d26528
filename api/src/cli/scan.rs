//! What plans, explanations and inspections have in common: which rows of which snapshot, for which engine.

use clap::{Args, ValueEnum};
use prunus_catalog::{TableIdent, TagName};

use crate::client::{Client, ClientError, SnapshotChoice};
use crate::wire::{FilterJson, NanOrderJson, PlanJson};

use super::CliError;
use super::json_file::read_json;
use super::time::time;

/// Which snapshot.
#[derive(Debug, Args)]
pub(super) struct SnapshotArgs {
    /// The snapshot's number, or a tag of it [default: the newest]
    #[arg(long, value_name = "N|TAG", conflicts_with = "as_of", value_parser = named_snapshot)]
    snapshot: Option<NamedSnapshot>,

    /// The newest snapshot at or before this time, such as 2026-01-31T12:00:00Z, 2026-01-31 (its first moment), or 3d: three days ago
    #[arg(long, value_name = "TIME", value_parser = time)]
    as_of: Option<String>,
}

/// A snapshot by what people call it.
#[derive(Clone, Debug)]
enum NamedSnapshot {
    Number(i64),
    Tag(TagName),
}

fn named_snapshot(text: &str) -> Result<NamedSnapshot, String> {
    if let Ok(number) = text.parse() {
        return Ok(NamedSnapshot::Number(number));
    }
    let tag = text.parse().map(NamedSnapshot::Tag);
    tag.map_err(|error| format!("a snapshot is named by its number or by a tag: {error}"))
}

impl SnapshotArgs {
    /// The choice as the API has it, which the server is asked for where it is a tag.
    pub(super) async fn choice(self, client: &Client, table: &TableIdent) -> Result<SnapshotChoice, ClientError> {
        let snapshot_id = match self.snapshot {
            None => None,
            Some(NamedSnapshot::Number(number)) => Some(number),
            Some(NamedSnapshot::Tag(tag)) => Some(client.load_tag(table, tag.as_str()).await?.snapshot_id),
        };
        Ok(SnapshotChoice { snapshot_id, as_of: self.as_of })
    }
}

/// Which rows of which snapshot, for which engine.
#[derive(Debug, Args)]
pub(super) struct ScanArgs {
    /// The rows that are wanted, as a SQL condition [default: all]
    #[arg(long = "where", value_name = "CONDITION", conflicts_with = "filter_json")]
    filter: Option<String>,

    /// The same as an Iceberg expression, in a JSON file; `-` is standard input
    #[arg(long, value_name = "FILE.json")]
    filter_json: Option<String>,

    #[command(flatten)]
    snapshot: SnapshotArgs,

    /// An argument too many, which is most likely the filter: --where names it
    #[arg(hide = true, value_name = "CONDITION", value_parser = misplaced_filter)]
    _misplaced: Option<String>,

    /// How the reading engine orders NaN
    #[arg(long, value_name = "ORDER", default_value = "any")]
    nan_order: NanOrder,

    /// The zone in which the reading engine takes times without one, such as Europe/Paris or +01:00
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    time_zone: Option<String>,
}

/// How an engine orders NaN.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum NanOrder {
    /// Not known: what is answered is right for all
    Any,
    /// Above every number and equal to itself (PostgreSQL, Spark, DuckDB)
    Greatest,
    /// Unordered (IEEE 754, pandas)
    Ieee,
}

impl From<NanOrder> for NanOrderJson {
    fn from(order: NanOrder) -> Self {
        match order {
            NanOrder::Any => Self::Any,
            NanOrder::Greatest => Self::Greatest,
            NanOrder::Ieee => Self::Ieee,
        }
    }
}

/// The number of a snapshot, a manifest or an audit.
pub(super) fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "it is called by its number".to_owned())
}

fn misplaced_filter(text: &str) -> Result<String, String> {
    Err(format!("name the rows with --where: `--where '{text}'`"))
}

impl ScanArgs {
    /// Whether rows were asked for at all.
    pub(super) fn has_filter(&self) -> bool {
        self.filter.is_some() || self.filter_json.is_some()
    }

    /// The plan that asks for them.
    pub(super) async fn request(self, client: &Client, table: &TableIdent) -> Result<PlanJson, CliError> {
        let filter = match &self.filter_json {
            Some(path) => Some(read_json(path, "an Iceberg expression").await?),
            None => self.filter.map(FilterJson::Sql),
        };
        let SnapshotChoice { snapshot_id, as_of } = self.snapshot.choice(client, table).await?;
        let (nan_order, time_zone) = (self.nan_order.into(), self.time_zone);
        Ok(PlanJson { filter, snapshot_id, as_of, nan_order, time_zone, ..PlanJson::default() })
    }
}
