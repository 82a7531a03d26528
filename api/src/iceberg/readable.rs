//! What keeps clients of Iceberg from reading a file as the catalog does. Whoever would read other values, or count other rows, is told
//! so, and gets nothing: the file is registered in a way that Iceberg has no words for.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use arrow::array::Array;
use prunus_catalog::schema::{LeafColumn, Schema};
use prunus_catalog::{FileLeaf, Partition, PlannedChunk};
use prunus_statistics::{FieldId, PrimitiveType, TimeUnit};

use super::scan::Scan;
use super::scan_names::Fields;

/// What clients take out of a location, or end it at, where it stands for itself.
const SPLITTING: [char; 5] = ['#', '?', '\t', '\r', '\n'];

/// Why a file cannot be read that no set of leaves is known of.
const UNKNOWN_LEAVES: &str = "which columns it holds is not known";

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
        write!(f, "file `{path}` cannot be planned for Iceberg: clients may go by names in it, and ")?;
        match name {
            Some(name) => write!(f, "calls column {column} `{name}`, which is, or was, another column's name, too"),
            None => write!(f, "clients would take another of its columns for column {column}, which it does not hold"),
        }
    }
}

/// What a scan reads of files.
pub(super) struct Wanted<'s> {
    scan: &'s Scan,
    schema: &'s Schema,
    /// Found out where a file gives cause to ask.
    fields: OnceCell<WantedFields>,
}

struct WantedFields {
    read: BTreeSet<FieldId>,
    filtered: BTreeSet<FieldId>,
    beside_wide_integers: BTreeSet<FieldId>,
}

impl<'s> Wanted<'s> {
    /// Of a schema that the names of the scan are bound to.
    pub(super) fn of(scan: &'s Scan, schema: &'s Schema) -> Self {
        Self { scan, schema, fields: OnceCell::new() }
    }

    fn fields(&self) -> &WantedFields {
        self.fields.get_or_init(|| {
            let (fields, wanted) = (Fields::of(self.schema), self.scan.wanted());
            let mut read = if wanted.is_empty() { fields.all() } else { fields.named(&wanted) };
            read.extend(self.scan.gone.iter().copied().map(FieldId));
            WantedFields {
                read,
                filtered: fields.named(&self.scan.filtered),
                beside_wide_integers: fields.named(&self.scan.beside_wide_integers),
            }
        })
    }

    /// Whether a column is read.
    pub(super) fn has(&self, column: FieldId) -> bool {
        self.fields().read.contains(&column)
    }
}

/// How clients tell which column a leaf of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToldBy {
    /// By names.
    Names,
    /// By ids.
    Ids,
    /// By ids, or, where groups around leaves have none, some by names.
    Either,
    /// Each client as it likes: the ids are not one for each leaf.
    Nothing,
}

/// What is the same for all files that have one set of leaves.
pub(super) struct LeafSet {
    told: ToldBy,
    obstacle: Option<String>,
}

impl LeafSet {
    /// Of these leaves.
    pub(super) fn of(leaves: &[FileLeaf], wanted: &Wanted<'_>) -> Self {
        let told = told(leaves);
        let obstacle = match told {
            ToldBy::Nothing => Some(
                "it does not give each of its columns a field id of its own, and clients that go by ids would read null for others"
                    .to_owned(),
            ),
            _ => obstacle_of_types(leaves, wanted),
        };
        Self { told, obstacle }
    }

    /// Whether some client may tell columns by their names.
    pub(super) fn may_go_by_names(&self) -> bool {
        self.told != ToldBy::Ids
    }
}

fn told(leaves: &[FileLeaf]) -> ToldBy {
    let ids: BTreeSet<i32> = leaves.iter().filter_map(|leaf| leaf.field_id).collect();
    let has_none = ids.is_empty() && leaves.iter().all(|leaf| !leaf.in_group_with_id);
    let has_all = ids.len() == leaves.len() && ids.iter().all(|id| *id > 0);
    match (has_none, has_all) {
        (true, _) => ToldBy::Names,
        (false, false) => ToldBy::Nothing,
        (false, true) if leaves.iter().all(|leaf| leaf.path.len() == 1) => ToldBy::Ids,
        (false, true) => ToldBy::Either,
    }
}

fn obstacle_of_types(leaves: &[FileLeaf], wanted: &Wanted<'_>) -> Option<String> {
    let is_asked = !wanted.scan.filtered.is_empty();
    let may_be_misread =
        |leaf: &&FileLeaf| is_asked || leaf.file_type.as_deref().is_some_and(|name| name.ends_with("(ns)"));
    let mut suspects = leaves.iter().filter(may_be_misread).peekable();
    if suspects.peek().is_none() && !(leaves.is_empty() && is_asked) {
        return None;
    }
    let columns: BTreeMap<FieldId, LeafColumn> = wanted
        .schema
        .leaf_columns()
        .into_iter()
        .chain(wanted.schema.item_columns())
        .map(|column| (column.id, column))
        .collect();
    let misread_as = |column: &LeafColumn, file_type: Option<PrimitiveType>| {
        let fields = wanted.fields();
        let why = misread(
            file_type,
            column.column_type,
            Filtered {
                is_filtered: fields.filtered.contains(&column.id),
                is_beside_wide_integer: fields.beside_wide_integers.contains(&column.id),
            },
        )?;
        let file_type = file_type.map_or_else(String::new, |file_type| format!(" as {file_type}"));
        let (path, column_type) = (column.path.join("."), column.column_type);
        wanted.has(column.id).then(|| format!("it holds column `{path}` of type {column_type}{file_type}, {why}"))
    };
    if leaves.is_empty() {
        return columns.values().find_map(|column| misread_as(column, None));
    }
    suspects.find_map(|leaf| {
        let file_type = leaf.file_type.as_deref().and_then(|name| name.parse().ok());
        misread_as(columns.get(&leaf.column?)?, file_type)
    })
}

/// What a filter has of a column.
#[derive(Clone, Copy, Default)]
struct Filtered {
    is_filtered: bool,
    is_beside_wide_integer: bool,
}

/// Why clients read a column wrongly that a file holds in a narrower type, or in a finer one. PyIceberg binds filters to the type in
/// the file, and so literals lose what that cannot hold.
fn misread(file_type: Option<PrimitiveType>, column_type: PrimitiveType, of: Filtered) -> Option<&'static str> {
    use PrimitiveType as P;
    let is_finer = |unit: TimeUnit, of: TimeUnit| unit == TimeUnit::Nanosecond && of != TimeUnit::Nanosecond;
    let is_int = |of: PrimitiveType| matches!(of, P::Int8 | P::Int16 | P::Int32 | P::UInt8 | P::UInt16);
    match (file_type.unwrap_or(column_type), column_type) {
        (P::Timestamp(unit), P::Timestamp(of)) | (P::Timestamptz(unit), P::Timestamptz(of)) if is_finer(unit, of) => {
            Some("whose nanoseconds clients cut off")
        }
        (P::UInt32, _) if of.is_filtered => Some("in which clients lose rows above 2147483647 where they filter by it"),
        (P::Float32 | P::Float16, P::Float64) | (P::Float16, P::Float32) if of.is_filtered => {
            Some("to which clients round the literals of a filter, so that rows are lost")
        }
        (held, _) if of.is_beside_wide_integer && is_int(held) => {
            Some("and clients take an integer of the filter that is beyond the range of int for another one")
        }
        _ => None,
    }
}

/// What keeps a file from being read; `None` if nothing does.
pub(super) fn obstacle(
    chunk: &PlannedChunk,
    index: usize,
    set: Option<&LeafSet>,
    wanted: &Wanted<'_>,
) -> Option<String> {
    let rows = &chunk.files.rows;
    let path = rows.path.value(index);
    let told = if rows.row_count.is_null(index) {
        "how many rows it has is not known".to_owned()
    } else if path.contains(SPLITTING) {
        "clients would read another one, since they split paths at `#`, `?`, tabs and line ends".to_owned()
    } else if let Some(obstacle) = set.map_or(Some(UNKNOWN_LEAVES), |set| set.obstacle.as_deref()) {
        obstacle.to_owned()
    } else if let Some(lost) = wanted.scan.lost.as_ref().filter(|_| set.is_some_and(LeafSet::may_go_by_names)) {
        format!(
            "it has no field ids for all that is in it, and clients would not find the column `{lost}` of this snapshot in it, which \
             the table has under this name no more; select other columns"
        )
    } else {
        let constant =
            rows.partition.get(index).and_then(|partition| in_path_alone(partition, chunk, index, wanted))?;
        format!(
            "the value of column {constant} stands in its path alone, where clients would read null; select other columns"
        )
    };
    Some(format!("file `{path}` cannot be planned for Iceberg: {told}"))
}

/// A column that is wanted and whose value a file does not hold, or is not known to hold, as people know it.
fn in_path_alone(partition: &Partition, chunk: &PlannedChunk, index: usize, wanted: &Wanted<'_>) -> Option<String> {
    let leaves = chunk.files.rows.leaves.get(index).map(|leaves| &**leaves).unwrap_or_default();
    let is_held = |id: FieldId| leaves.iter().any(|leaf| leaf.column == Some(id));
    let mut constants = partition.iter().filter(|(_, value)| value.is_some()).map(|(id, _)| *id);
    let id = constants.find(|id| wanted.has(*id) && !is_held(*id))?;
    let column = wanted.schema.leaf_columns().into_iter().find(|column| column.id == id);
    Some(column.map_or_else(|| id.to_string(), |column| format!("`{}`", column.path.join("."))))
}

/// The columns that a file calls otherwise.
pub(super) fn other_names(chunk: &PlannedChunk, index: usize) -> impl Iterator<Item = OtherName> {
    let path = chunk.files.rows.path.value(index);
    let names = chunk.columns.get(index).map(|names| &**names).unwrap_or_default();
    names.iter().map(move |(column, name)| OtherName { column: *column, name: name.clone(), path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(path: &str, field_id: Option<i32>, in_group_with_id: bool) -> FileLeaf {
        let path = path.split('.').map(str::to_owned).collect();
        FileLeaf { path, field_id, column: None, file_type: None, in_group_with_id }
    }

    #[test]
    fn clients_go_by_ids_where_every_leaf_has_one_of_its_own() {
        let flat = |ids: &[Option<i32>]| told(&ids.iter().map(|id| leaf("a", *id, false)).collect::<Vec<_>>());
        assert_eq!(flat(&[Some(1), Some(2)]), ToldBy::Ids);
        assert_eq!(flat(&[None, None]), ToldBy::Names);
        assert_eq!(flat(&[]), ToldBy::Names);
        for ids in [[Some(1), None], [Some(1), Some(1)], [Some(0), Some(1)], [Some(-1), Some(-2)]] {
            assert_eq!(flat(&ids), ToldBy::Nothing, "{ids:?}");
        }
        assert_eq!(told(&[leaf("a", Some(1), false), leaf("s.b", Some(2), true)]), ToldBy::Either);
        assert_eq!(told(&[leaf("s.b", None, true)]), ToldBy::Nothing);
    }

    #[test]
    fn types_in_files_that_clients_misread_are_known() {
        let check = |file: &str, column: &str, expected: [bool; 3]| {
            let of = |is_filtered, is_beside_wide_integer| {
                let of = Filtered { is_filtered, is_beside_wide_integer };
                misread(Some(file.parse().unwrap()), column.parse().unwrap(), of).is_some()
            };
            assert_eq!([of(false, false), of(true, false), of(true, true)], expected, "{file} {column}");
        };
        check("uint32", "int64", [false, true, true]);
        check("float32", "float64", [false, true, true]);
        check("timestamp(ns)", "timestamp(us)", [true, true, true]);
        check("timestamptz(ns)", "timestamptz(ms)", [true, true, true]);
        for (file, column) in [("int32", "int64"), ("uint16", "int64"), ("uint8", "int32"), ("int32", "int32")] {
            check(file, column, [false, false, true]);
        }
        for (file, column) in [
            ("int64", "int64"),
            ("float64", "float64"),
            ("float32", "float32"),
            ("timestamp(ms)", "timestamp(us)"),
            ("string", "string"),
        ] {
            check(file, column, [false, false, false]);
        }
    }
}
