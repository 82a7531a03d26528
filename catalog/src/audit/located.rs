//! Which leaf of a registered file is which column: as it was settled when the file was registered, whatever columns are called
//! since. A file that nobody has read is looked at as if it was registered now.

use std::collections::{BTreeMap, BTreeSet};

use prunus_manifest::DataFileRow;
use prunus_statistics::FieldId;

use crate::collect::{self, ColumnFault, Footer, TableColumn};
use crate::file_columns::taken_for;
use crate::late_columns::{has_folder, is_absent};
use crate::schema::LeafColumn;

/// The columns of a table in a file. One that is neither here nor absent is unknown.
#[derive(Debug, Default)]
pub(super) struct Located {
    /// The leaf that a column is.
    pub(super) leaf_of_column: BTreeMap<FieldId, usize>,
    /// The leaf that something in a list or map is.
    pub(super) leaf_of_item: BTreeMap<FieldId, usize>,
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

/// What is sought for in files: the columns of a table.
pub(super) struct Sought<'t> {
    pub(super) columns: &'t [TableColumn],
    /// The leaves that lie in lists and maps.
    pub(super) items: &'t [LeafColumn],
    /// The columns of the table's first schema.
    pub(super) first: &'t [LeafColumn],
}

/// Finds columns in a file.
pub(super) fn locate(sought: &Sought<'_>, file: &DataFileRow, footer: &Footer<'_>) -> Result<Located, Unlocated> {
    // Only the store of an object says when it was written.
    if file.last_modified_ms.is_none() { locate_by_name(sought, file, footer) } else { recall(sought, file, footer) }
}

/// In a file that nobody has read, by the names that the columns had when it was registered.
fn locate_by_name(sought: &Sought<'_>, file: &DataFileRow, footer: &Footer<'_>) -> Result<Located, Unlocated> {
    let noted = |id: FieldId| file.leaves.iter().find(|leaf| leaf.column == Some(id)).map(|leaf| &leaf.path);
    let as_it_was = |column: &TableColumn| match noted(column.id) {
        // With its id the file may have it by any of its names.
        Some(path) => {
            let others = column.former_paths.iter().chain([&column.path]).filter(|other| *other != path);
            Some(TableColumn { path: path.clone(), former_paths: others.cloned().collect(), ..column.clone() })
        }
        // The name is another column's in this file.
        None if file.leaves.iter().any(|leaf| leaf.path == column.path) => None,
        None => Some(column.clone()),
    };
    let columns: Vec<TableColumn> = sought.columns.iter().filter_map(as_it_was).collect();
    let collected = collect::match_columns(footer, &columns, usize::MAX).map_err(Unlocated::Faults)?;
    let leaf_of_column = collected.leaf_of_column;
    let is_known =
        |column: &&TableColumn| collected.columns.contains_key(&column.id) && !leaf_of_column.contains_key(&column.id);
    // A folder of the name may be the column's value.
    let absent = columns.iter().filter(is_known).filter(|column| !has_folder(column, &file.path));
    Ok(Located { absent: absent.map(|column| column.id).collect(), leaf_of_column, ..Located::default() })
}

fn recall(sought: &Sought<'_>, file: &DataFileRow, footer: &Footer<'_>) -> Result<Located, Unlocated> {
    let found = footer.leaves().iter().map(|leaf| &leaf.path);
    if !found.eq(file.leaves.iter().map(|leaf| &leaf.path)) {
        return Err(Unlocated::OtherLeaves);
    }
    let taken = taken_for(&file.leaves, sought.first);
    let leaf_of = |id: FieldId| taken.iter().position(|taken| *taken == Some(id));
    let of_items = sought.items.iter().filter_map(|item| Some((item.id, leaf_of(item.id)?)));
    let mut located = Located { leaf_of_item: of_items.collect(), ..Located::default() };
    for column in sought.columns {
        // A leaf that was there before the column is not taken for it: what it is called would not stand anywhere.
        match leaf_of(column.id) {
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
