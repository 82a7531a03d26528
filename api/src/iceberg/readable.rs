//! What keeps clients of Iceberg from reading a file as the catalog does. Whoever would read other values, or count other rows, is told
//! so, and gets nothing: the file is registered in a way that Iceberg has no words for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use arrow::array::Array;
use prunus_catalog::schema::{LeafColumn, Schema};
use prunus_catalog::{FileLeaf, NamedPartition, PlannedChunk};
use prunus_statistics::{FieldId, PrimitiveType, TimeUnit};

use super::scan::Scan;

/// What clients take out of a location, or end it at, where it stands for itself.
const SPLITTING: [char; 5] = ['#', '?', '\t', '\r', '\n'];

/// What a file calls a column that it does not call as the schema does: right only if the name mapping of the table knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OtherName {
    pub(super) column: FieldId,
    /// `None` where the file does not hold the column, and calls another one so.
    pub(super) name: Option<String>,
    /// A file that does.
    pub(super) path: String,
}

impl fmt::Display for OtherName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, name, path } = self;
        write!(f, "file `{path}` cannot be planned for Iceberg: it has no field ids, and ")?;
        match name {
            Some(name) => write!(f, "calls column {column} `{name}`, which is, or was, another column's name, too"),
            None => write!(f, "clients would take another of its columns for column {column}, which it does not hold"),
        }
    }
}

/// What of a file a scan wants to be read.
pub(super) struct Wanted {
    /// All columns if empty.
    columns: BTreeSet<String>,
    /// Those that rows are filtered by.
    filtered: BTreeSet<String>,
    /// One that only ids can tell of.
    lost: Option<String>,
}

impl Wanted {
    pub(super) fn of(scan: &Scan) -> Self {
        let set = |names: &[String]| names.iter().cloned().collect();
        Self { columns: set(&scan.columns), filtered: set(&scan.filtered), lost: scan.lost.clone() }
    }

    /// Whether a column is read, by its path: it, or one that it is in, was named.
    pub(super) fn has(&self, path: &str) -> bool {
        let mut above = path.match_indices('.').filter_map(|(end, _)| path.get(..end));
        self.columns.is_empty() || self.columns.contains(path) || above.any(|above| self.columns.contains(above))
    }
}

/// What keeps files of each set of leaves from being read, by the place of the set: their types.
pub(super) fn obstacles_of_types(chunk: &PlannedChunk, schema: &Schema, wanted: &Wanted) -> Vec<Option<String>> {
    let columns = schema.leaf_columns();
    let by_id: BTreeMap<FieldId, &LeafColumn> = columns.iter().map(|column| (column.id, column)).collect();
    let obstacle_of = |leaf: &FileLeaf| {
        let column = by_id.get(&leaf.column?)?;
        let file_type: PrimitiveType = leaf.file_type.as_deref()?.parse().ok()?;
        let (path, column_type) = (column.path.join("."), column.column_type);
        let why = misread(file_type, column_type, wanted.filtered.contains(&path)).filter(|_| wanted.has(&path))?;
        Some(format!("it holds column `{path}` of type {column_type} as {file_type}, {why}"))
    };
    let sets = chunk.files.rows.leaves.values().iter();
    sets.map(|leaves| leaves.iter().find_map(obstacle_of)).collect()
}

/// Why clients read a column wrongly that a file holds in a narrower type, or in a finer one. PyIceberg binds filters to the type in
/// the file, and so literals lose what that cannot hold.
fn misread(file_type: PrimitiveType, column_type: PrimitiveType, is_filtered: bool) -> Option<&'static str> {
    use PrimitiveType as P;
    let is_finer = |unit: TimeUnit, of: TimeUnit| unit == TimeUnit::Nanosecond && of != TimeUnit::Nanosecond;
    match (file_type, column_type) {
        (P::Timestamp(unit), P::Timestamp(of)) | (P::Timestamptz(unit), P::Timestamptz(of)) if is_finer(unit, of) => {
            Some("whose nanoseconds clients cut off")
        }
        (P::UInt32, _) if is_filtered => Some("in which clients lose rows above 2147483647 where they filter by it"),
        (P::Float32 | P::Float16, P::Float64) | (P::Float16, P::Float32) if is_filtered => {
            Some("to which clients round the literals of a filter, so that rows are lost")
        }
        _ => None,
    }
}

/// What keeps a file from being read; `None` if nothing does.
pub(super) fn obstacle(
    chunk: &PlannedChunk,
    index: usize,
    wanted: &Wanted,
    of_types: &[Option<String>],
) -> Option<String> {
    let rows = &chunk.files.rows;
    let path = rows.path.value(index);
    if rows.row_count.is_null(index) {
        return Some(format!("file `{path}` cannot be planned for Iceberg: how many rows it has is not known"));
    }
    if path.contains(SPLITTING) {
        return Some(format!(
            "file `{path}` cannot be planned for Iceberg: clients would read another one, since they split paths at {}",
            "`#`, `?`, tabs and line ends"
        ));
    }
    let set = rows.leaves.indices().get(index);
    if let Some(of_type) = set.and_then(|set| of_types.get(*set)?.as_ref()) {
        return Some(format!("file `{path}` cannot be planned for Iceberg: {of_type}"));
    }
    let leaves = rows.leaves.get(index).map(|leaves| &**leaves).unwrap_or_default();
    if leaves.iter().any(has_id) && !go_by_ids(leaves) {
        return Some(format!(
            "file `{path}` cannot be planned for Iceberg: it gives field ids to some of its columns alone, and clients that go by ids \
             would read null for the others"
        ));
    }
    // A constant of a column that the table has no more is not named among those of today.
    let has_ids = go_by_ids(leaves) && rows.partition.get(index).is_none_or(BTreeMap::is_empty);
    if let Some(lost) = wanted.lost.as_ref().filter(|_| !has_ids) {
        return Some(format!(
            "file `{path}` cannot be planned for Iceberg: it has no field ids, or values in its path, and clients would not find the \
             column `{lost}` of this snapshot in it, which the table has under this name no more; select other columns"
        ));
    }
    let column = chunk.files.partitions.get(index).and_then(|partition| in_path_alone(partition, leaves, wanted))?;
    Some(format!(
        "file `{path}` cannot be planned for Iceberg: the value of column `{column}` stands in its path alone, where clients would \
         read null; select other columns"
    ))
}

/// A column that is wanted and whose value a file does not hold, or is not known to hold.
fn in_path_alone<'p>(partition: &'p NamedPartition, leaves: &[FileLeaf], wanted: &Wanted) -> Option<&'p str> {
    let is_held = |key: &str| leaves.iter().any(|leaf| leaf.path.join(".") == key);
    let mut constants = partition.iter().filter(|(_, (_, value))| value.is_some()).map(|(key, _)| key.as_str());
    constants.find(|key| wanted.has(key) && !is_held(key))
}

/// Whether clients go by ids in a file: all its leaves have one.
fn go_by_ids(leaves: &[FileLeaf]) -> bool {
    !leaves.is_empty() && leaves.iter().all(has_id)
}

fn has_id(leaf: &FileLeaf) -> bool {
    leaf.field_id.is_some_and(|id| id > 0)
}

/// The columns that a file calls otherwise, if clients go by names in it: they go by ids where all its leaves have one.
pub(super) fn other_names(chunk: &PlannedChunk, index: usize, found: &mut BTreeSet<OtherName>) {
    let Some(names) = chunk.columns.get(index).filter(|names| !names.is_empty()) else { return };
    let leaves = chunk.files.rows.leaves.get(index).map(|leaves| &**leaves).unwrap_or_default();
    if go_by_ids(leaves) {
        return;
    }
    for (column, name) in names.iter() {
        let is_known = found.iter().any(|known| (known.column, &known.name) == (*column, name));
        if !is_known {
            found.insert(OtherName {
                column: *column,
                name: name.clone(),
                path: chunk.files.rows.path.value(index).to_owned(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_in_files_that_clients_misread_are_known() {
        let check = |file: &str, column: &str, unfiltered: bool, filtered: bool| {
            let of = |is_filtered| misread(file.parse().unwrap(), column.parse().unwrap(), is_filtered).is_some();
            assert_eq!((of(false), of(true)), (unfiltered, filtered), "{file} {column}");
        };
        check("uint32", "int64", false, true);
        check("float32", "float64", false, true);
        check("timestamp(ns)", "timestamp(us)", true, true);
        check("timestamptz(ns)", "timestamptz(ms)", true, true);
        for (file, column) in [
            ("int32", "int64"),
            ("uint16", "int64"),
            ("uint8", "int32"),
            ("float64", "float64"),
            ("float32", "float32"),
            ("timestamp(ms)", "timestamp(us)"),
            ("string", "string"),
        ] {
            check(file, column, false, false);
        }
    }
}
