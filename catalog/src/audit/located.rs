//! Which leaf of a registered file is which column: as it was settled when the file was registered, whatever columns are called
//! since. A file that nobody has read is looked at as if it was registered now.

use std::collections::{BTreeMap, BTreeSet};

use prunus_manifest::DataFileRow;
use prunus_statistics::FieldId;

use crate::collect::{self, ColumnFault, Footer, TableColumn};
use crate::file_columns::{late_leaf, taken_for};
use crate::late_columns::{has_folder, is_absent};
use crate::schema::LeafColumn;

/// The columns of a table in a file. One that is neither here nor absent is unknown.
#[derive(Debug, Default)]
pub(super) struct Located {
    /// The leaf that a column is.
    pub(super) leaf_of_column: BTreeMap<FieldId, usize>,
    /// The columns that the file is known not to hold.
    pub(super) absent: BTreeSet<FieldId>,
}

/// Why columns cannot be found in a file.
#[derive(Debug)]
pub(super) enum Unlocated {
    /// Its leaves are not those that it was registered with.
    OtherLeaves,
    /// It is not plain which leaf a column is.
    Faults(Vec<ColumnFault>),
}

/// Finds columns in a file. `first` are the columns of the table's first schema.
pub(super) fn locate(
    columns: &[TableColumn],
    first: &[LeafColumn],
    file: &DataFileRow,
    footer: &Footer<'_>,
) -> Result<Located, Unlocated> {
    if file.leaves.is_empty() { locate_by_name(columns, file, footer) } else { recall(columns, first, file, footer) }
}

fn locate_by_name(columns: &[TableColumn], file: &DataFileRow, footer: &Footer<'_>) -> Result<Located, Unlocated> {
    let collected = collect::match_columns(footer, columns, usize::MAX).map_err(Unlocated::Faults)?;
    let leaf_of_column = collected.leaf_of_column;
    let is_known =
        |column: &&TableColumn| collected.columns.contains_key(&column.id) && !leaf_of_column.contains_key(&column.id);
    // A folder of the name may be the column's value.
    let absent = columns.iter().filter(is_known).filter(|column| !has_folder(column, &file.path));
    Ok(Located { absent: absent.map(|column| column.id).collect(), leaf_of_column })
}

fn recall(
    columns: &[TableColumn],
    first: &[LeafColumn],
    file: &DataFileRow,
    footer: &Footer<'_>,
) -> Result<Located, Unlocated> {
    let found = footer.leaves().iter().map(|leaf| &leaf.path);
    if !found.eq(file.leaves.iter().map(|leaf| &leaf.path)) {
        return Err(Unlocated::OtherLeaves);
    }
    let taken = taken_for(&file.leaves, first);
    let mut located = Located::default();
    for column in columns {
        let registered = taken.iter().position(|taken| *taken == Some(column.id));
        match registered.or_else(|| late_leaf(&file.leaves, &taken, column)) {
            // A list has many values a row.
            Some(leaf) if footer.leaves().get(leaf).is_some_and(|leaf| !leaf.repeated) => {
                located.leaf_of_column.insert(column.id, leaf);
            }
            Some(_) => {}
            None if is_absent(column, file) => _ = located.absent.insert(column.id),
            None => {}
        }
    }
    Ok(located)
}
