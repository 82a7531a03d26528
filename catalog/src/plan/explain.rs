//! Why a plan keeps or skips a file.

use std::collections::BTreeMap;

use prunus_manifest::{DataFileRow, FileId, ManifestId, ReadTransaction, SnapshotId};
use prunus_pruner::{Explanation, Outcome, Verdict};
use prunus_statistics::{FileColumn, FileStatistics, PrimitiveType};

use super::filter::ReadFilter;
use super::{PlanRequest, ResolvedSnapshot, prepare};
use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::name::TableIdent;
use crate::plan_cache::PlanReader;
use crate::table_schema::TableSchema;
use crate::{Result, blocking, column_ref, files, zone_maps};

/// What is found of one file, and why.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The snapshot that was planned.
    pub snapshot_id: SnapshotId,
    /// The file.
    pub file_id: FileId,
    /// The manifest that it is in; `None` while it is in the tail.
    pub manifest_id: Option<ManifestId>,
    /// What is proven of it.
    pub verdict: Verdict,
    /// The conjunct that it is skipped for, by its place in the filter; `None` if it is kept, or has no rows.
    pub pruned_by: Option<usize>,
    /// What each conjunct of the filter contributes, in its order.
    pub conjuncts: Vec<ExplainedConjunct>,
}

/// What is found of one conjunct, and from what.
#[derive(Clone, Debug)]
pub struct ExplainedConjunct {
    /// Its text as SQL.
    pub expression: String,
    /// What it may be on the file's rows; nothing else is possible.
    pub outcomes: Vec<Outcome>,
    /// The statistics of the columns that it reads, by column key, where the file has any.
    pub statistics: BTreeMap<String, (PrimitiveType, FileColumn)>,
    /// All of it as a sentence.
    pub sentence: String,
}

impl Catalog {
    /// Explains what a plan finds of one live file of the snapshot. Its page is of no account.
    ///
    /// # Errors
    /// Those of [`Catalog::plan`]; [`Error::NotFound`](crate::Error::NotFound) also if no live file has that path.
    pub async fn explain(&self, ident: TableIdent, path: String, request: PlanRequest) -> Result<Explained> {
        let (turn, catalog) = (self.admission.plan(|| request.size_bytes()).await?, self.clone());
        blocking::run_while_awaited(turn, move |cancelled| {
            catalog.read_here(|tx| explain(tx, (&catalog, cancelled), &ident, &path, request))
        })
        .await
    }
}

fn explain(
    tx: &ReadTransaction<'_>,
    (catalog, cancelled): (&Catalog, &Cancelled),
    ident: &TableIdent,
    path: &str,
    mut request: PlanRequest,
) -> Result<Explained> {
    let filter = ReadFilter::parse_of(&request, &catalog.limits);
    let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
    let ResolvedSnapshot { snapshot_id, schema_id, .. } = request.snapshot.resolve(tx, &table)?;
    let reader = PlanReader::new(&catalog.plan_cache, tx, &table, cancelled);
    let schema = reader.load_schema(schema_id)?;
    request.faults.extend(files::location_in(&table, path).err().unwrap_or_default());
    let program = prepare::compile(&schema.columns, &request, filter.as_ref())?.program;
    let row = files::live_file(tx, &table, snapshot_id, path)?;
    let statistics = reader.load_history()?.read_as(tx.load_file_statistics(row.file_id)?, &schema.leaves);
    let zones = zone_maps::of_file(row.row_count, &statistics, &program.columns())?;
    let explanation = program.explain(&zones, 0);
    Ok(Explained::new((snapshot_id, &row), explanation, &statistics, &schema))
}

impl Explained {
    fn new(
        (snapshot_id, row): (SnapshotId, &DataFileRow),
        explanation: Explanation,
        statistics: &FileStatistics,
        schema: &TableSchema,
    ) -> Self {
        let of_column = |facts: &prunus_pruner::ColumnFacts| {
            let leaf = schema.leaves.iter().chain(&schema.items).find(|leaf| leaf.id == facts.id)?;
            let column = statistics.columns.get(&facts.id)?.clone();
            Some((column_ref::key(&leaf.path), (leaf.column_type, column)))
        };
        let conjuncts = explanation.conjuncts.into_iter().map(|conjunct| ExplainedConjunct {
            statistics: conjunct.columns.iter().filter_map(of_column).collect(),
            expression: conjunct.expression,
            outcomes: conjunct.outcomes,
            sentence: conjunct.sentence,
        });
        Self {
            snapshot_id,
            file_id: row.file_id,
            manifest_id: row.manifest_id,
            verdict: explanation.verdict,
            pruned_by: explanation.pruned_by,
            conjuncts: conjuncts.collect(),
        }
    }
}
