//! Commits: files in, files out, one snapshot more.
//!
//! All reading and checking is done before the transaction; in it the store compares, inserts and reads its answer.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt;
use futures::stream;
use prunus_manifest::{NewCommit, NewDataFile, Operation, SchemaId, SnapshotId, TableId, Totals};
use prunus_statistics::Literal;

use crate::catalog::Catalog;
use crate::declared::DeclaredStatistics;
use crate::location::Location;
use crate::name::TableIdent;
use crate::properties::StatisticsProperties;
use crate::registration::{Refusal, Registered, Target, register};
use crate::schema::{Field, Type};
use crate::{Error, Fault, Result, tables};

/// The most files that one commit adds and removes.
pub const MAX_FILES_PER_COMMIT: usize = 100_000;
/// How many footers are read at once.
const MAX_FOOTERS_AT_ONCE: usize = 32;

/// A change of a table, as it is asked for.
#[derive(Clone, Debug)]
pub struct CommitRequest {
    /// What it means.
    pub operation: Operation,
    /// The snapshot that it was worked out from: what is removed must have been live in it.
    pub base_snapshot: Option<SnapshotId>,
    /// The files to be added.
    pub add: Vec<AddedFile>,
    /// The paths of the files to be removed.
    pub remove: Vec<String>,
    /// What the writer notes.
    pub summary: BTreeMap<String, String>,
}

/// A file to be added, with what its writer says of it. What is absent is unknown.
#[derive(Clone, Debug, Default)]
pub struct AddedFile {
    /// Where it is.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: Option<u64>,
    /// How many rows it has.
    pub row_count: Option<u64>,
    /// Values that it has in every row, by column key; `None` is null.
    pub partition: BTreeMap<String, Option<Literal>>,
    /// The table's columns that it does not hold, by column key.
    pub absent_columns: Vec<String>,
    /// Statistics by column key.
    pub columns: BTreeMap<String, DeclaredStatistics>,
}

/// What a commit did.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The new snapshot.
    pub snapshot_id: SnapshotId,
    /// Its time, in milliseconds since 1970-01-01T00:00Z.
    pub committed_at_ms: i64,
    /// How many files were added.
    pub added_files: u64,
    /// How many files were removed.
    pub removed_files: u64,
    /// What is live in the table now.
    pub totals: Totals,
    /// What in the declarations was taken as unknown, and why.
    pub warnings: Vec<Fault>,
}

struct Head {
    table_id: TableId,
    schema_id: SchemaId,
    target: Target,
}

impl Catalog {
    /// Reads the files of a change, checks it, and makes it the table's newest snapshot. All or nothing.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every fault of every file; [`Error::Conflict`] with every path that contradicts the table;
    /// [`Error::NotFound`], [`Error::StorageUnavailable`], [`Error::SchemaMoved`], [`Error::Store`].
    pub async fn commit(&self, ident: TableIdent, request: CommitRequest) -> Result<Committed> {
        check_shape(&request)?;
        let head = self.head(ident).await?;
        let (remove, faults) = removed_paths(&request.remove, head.target.location.as_ref());
        let (add, warnings) = self.register_all(&head.target, request.add, faults).await?;
        let commit = NewCommit {
            table_id: head.table_id,
            base_snapshot: request.base_snapshot,
            schema_id: head.schema_id,
            operation: request.operation,
            add,
            remove,
            summary: request.summary,
            committed_at_ms: self.clock.now_ms(),
        };
        let done = self.write(move |tx| Ok(tx.commit(&commit)?)).await?;
        Ok(Committed {
            snapshot_id: done.snapshot_id,
            committed_at_ms: done.committed_at_ms,
            added_files: done.added_files,
            removed_files: done.removed_files,
            totals: done.totals,
            warnings,
        })
    }

    async fn head(&self, ident: TableIdent) -> Result<Head> {
        self.read(move |tx| {
            let row = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let schema = tables::load_schema(tx, &row, row.schema_id)?;
            let location = row.location.as_deref().and_then(|text| Location::parse(text, None).ok());
            let properties = StatisticsProperties::parse(&row.properties).map_err(Error::Invalid)?;
            let is_nested = |field: &Field| matches!(field.field_type, Type::List { .. } | Type::Map { .. });
            let has_nested = schema.fields().iter().any(is_nested);
            let columns = schema.leaf_columns();
            let wanted = columns.iter().map(Into::into).collect();
            let target = Target { location, columns, wanted, has_nested, properties };
            Ok(Head { table_id: row.table_id, schema_id: row.schema_id, target })
        })
        .await
    }

    /// Reads or takes all files, [`MAX_FOOTERS_AT_ONCE`] at a time, in their order; the faults of all come together, with those
    /// that were found before.
    async fn register_all(
        &self,
        target: &Target,
        files: Vec<AddedFile>,
        mut faults: Vec<Fault>,
    ) -> Result<(Vec<NewDataFile>, Vec<Fault>)> {
        let registered: Vec<Result<Registered, Refusal>> = stream::iter(files)
            .map(|file| register(&self.storage, target, file))
            .buffered(MAX_FOOTERS_AT_ONCE)
            .collect()
            .await;
        let (mut add, mut warnings) = (Vec::with_capacity(registered.len()), Vec::new());
        let mut unavailable = None;
        for result in registered {
            match result {
                Ok(registered) => {
                    add.push(registered.file);
                    warnings.extend(registered.warnings);
                }
                Err(Refusal::Faults(of_file)) => faults.extend(of_file),
                Err(Refusal::Unavailable { path, source }) => {
                    unavailable.get_or_insert((path, source));
                }
            }
        }
        faults.extend(named_twice(&add));
        match (faults.is_empty(), unavailable) {
            (false, _) => Err(Error::Invalid(faults)),
            (true, Some((path, source))) => Err(Error::StorageUnavailable { path, source }),
            (true, None) => Ok((add, warnings)),
        }
    }
}

/// A path that is added twice, in whichever spellings.
fn named_twice(add: &[NewDataFile]) -> Vec<Fault> {
    let mut seen = BTreeSet::new();
    add.iter()
        .filter(|file| !seen.insert(&file.path))
        .map(|file| Fault::of_path(&file.path, "the commit adds the file more than once"))
        .collect()
}

/// Holds a request against what its operation may do.
fn check_shape(request: &CommitRequest) -> Result<()> {
    let (adds, removes) = (!request.add.is_empty(), !request.remove.is_empty());
    let fault = match request.operation {
        _ if request.add.len() + request.remove.len() > MAX_FILES_PER_COMMIT => {
            Some(("add", format!("a commit adds and removes at most {MAX_FILES_PER_COMMIT} files")))
        }
        Operation::Append if !adds => Some(("add", "an append adds at least one file".to_owned())),
        Operation::Append if removes => Some(("remove", "an append removes nothing".to_owned())),
        Operation::Delete if adds => Some(("add", "a delete adds nothing".to_owned())),
        Operation::Delete if !removes => Some(("remove", "a delete removes at least one file".to_owned())),
        Operation::Replace if !adds => Some(("add", "a replace adds at least one file".to_owned())),
        Operation::Replace if !removes => Some(("remove", "a replace removes at least one file".to_owned())),
        Operation::Overwrite if !adds && !removes => Some(("add", "an overwrite adds or removes something".to_owned())),
        _ => None,
    };
    fault.map_or(Ok(()), |(at, message)| Err(Error::invalid(Fault::at(at, message))))
}

/// The normal spellings of the paths, and a fault for each that is none.
fn removed_paths(paths: &[String], base: Option<&Location>) -> (Vec<String>, Vec<Fault>) {
    let mut removed = Vec::with_capacity(paths.len());
    let mut faults = Vec::new();
    for path in paths {
        match Location::parse(path, base) {
            Ok(location) => removed.push(location.as_str().to_owned()),
            Err(error) => faults.push(Fault::of_path(path, error.to_string())),
        }
    }
    (removed, faults)
}
