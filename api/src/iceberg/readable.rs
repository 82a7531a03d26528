//! What keeps clients of Iceberg from reading a file as the catalog does. Whoever would read other values, or count other rows, is told
//! so, and gets nothing: the file is registered in a way that Iceberg has no words for.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use arrow::array::Array;
use prunus_catalog::schema::{LeafColumn, Schema};
use prunus_catalog::{FileLeaf, Partition, PlannedChunk, column_key_parts};
use prunus_statistics::{FieldId, PrimitiveType, TimeUnit};

use super::column_types;
use super::doubts::Doubt;
use super::name_mapping::NameMapping;
use super::scan::Scan;
use super::scan_names::Fields;

/// What clients take out of a location, or end it at, where it stands for itself.
const SPLITTING: [char; 5] = ['#', '?', '\t', '\r', '\n'];

/// Why a file cannot be read that has ids and not one for each of its parts.
const ODD_IDS: &str =
    "it does not give each of its columns a field id of its own, and clients that go by ids would read null for others";

/// Why a file cannot be read that no set of leaves is known of.
const UNKNOWN_LEAVES: &str = "which columns it holds is not known";

/// What a file calls a column that it does not call as the schema does: right only if the name mapping of the table knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OtherName {
    pub(super) column: FieldId,
    /// A column key; `None` where the file does not hold the column, and calls another one so.
    pub(super) name: Option<String>,
    /// A file that does.
    pub(super) path: String,
}

impl OtherName {
    /// Whether clients find the column by it.
    pub(super) fn is_found(&self, mapping: &NameMapping) -> bool {
        let parts = self.name.as_deref().and_then(column_key_parts);
        parts.is_some_and(|parts| mapping.finds(self.column, parts.iter().map(String::as_str)))
    }
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
    doubts: BTreeSet<(FieldId, Doubt)>,
    columns: BTreeMap<FieldId, KnownColumn>,
}

/// A column, or what a list or map holds.
struct KnownColumn {
    column: LeafColumn,
    /// The fields that it lies in, from the top down.
    around: Vec<FieldId>,
}

impl<'s> Wanted<'s> {
    /// Of a schema that the names of the scan are bound to.
    pub(super) fn of(scan: &'s Scan, schema: &'s Schema) -> Self {
        Self { scan, schema, fields: OnceCell::new() }
    }

    fn fields(&self) -> &WantedFields {
        self.fields.get_or_init(|| {
            let fields = Fields::of(self.schema);
            let mut read = self.scan.wanted().map_or_else(|| fields.all(), |wanted| fields.named(&wanted));
            read.extend(self.scan.gone.iter().copied().map(FieldId));
            let known = |column: LeafColumn| {
                (column.id, KnownColumn { around: fields.around(&column.path.join(".")).collect(), column })
            };
            let leaves = self.schema.leaf_columns().into_iter().chain(self.schema.item_columns());
            let doubts = self.scan.doubts.iter().flat_map(|(column, doubt)| {
                fields.named(std::slice::from_ref(column)).into_iter().map(|id| (id, *doubt))
            });
            WantedFields {
                read,
                filtered: fields.named(&self.scan.filtered),
                doubts: doubts.collect(),
                columns: leaves.map(known).collect(),
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
            ToldBy::Nothing => Some(ODD_IDS.to_owned()),
            _ => obstacle_of_ids(leaves, wanted)
                .or_else(|| obstacle_of_case(leaves, wanted))
                .or_else(|| obstacle_of_types(leaves, wanted)),
        };
        Self { told, obstacle }
    }

    /// Whether some client may tell columns by their names.
    pub(super) fn may_go_by_names(&self) -> bool {
        self.told != ToldBy::Ids
    }
}

fn told(leaves: &[FileLeaf]) -> ToldBy {
    let mut groups: BTreeMap<&[String], i32> = BTreeMap::new();
    for leaf in leaves {
        for (depth, id) in leaf.group_ids.iter().enumerate() {
            groups.extend(leaf.path.get(..=depth).zip(*id));
        }
    }
    let ids: Vec<i32> = leaves.iter().filter_map(|leaf| leaf.field_id).chain(groups.values().copied()).collect();
    let distinct: BTreeSet<i32> = ids.iter().copied().filter(|id| *id > 0).collect();
    let has_all = leaves.iter().all(|leaf| leaf.field_id.is_some()) && distinct.len() == ids.len();
    match (ids.is_empty(), has_all) {
        (true, _) => ToldBy::Names,
        (false, false) => ToldBy::Nothing,
        (false, true) if leaves.iter().all(|leaf| leaf.path.len() == 1) => ToldBy::Ids,
        (false, true) => ToldBy::Either,
    }
}

/// Clients find what is in a group by the id of the group first.
fn obstacle_of_ids(leaves: &[FileLeaf], wanted: &Wanted<'_>) -> Option<String> {
    // Sets from before it was noted which columns leaves are do not say it of any, nor a type.
    let is_noted = leaves.iter().any(|leaf| leaf.column.is_some() || leaf.file_type.is_some());
    let is_misplaced = |leaf: &&FileLeaf| {
        let id = leaf.column.or(leaf.field_id.map(FieldId));
        let Some(known) = id.and_then(|id| wanted.fields().columns.get(&id)) else { return false };
        let mut around = known.around.iter();
        // Levels that only files have are without ids.
        let is_in_place = leaf.group_ids.iter().flatten().all(|id| around.any(|field| field.0 == *id));
        wanted.has(known.column.id) && !(is_in_place && leaf.column == Some(known.column.id))
    };
    let has_ids = |leaf: &&FileLeaf| is_noted && (leaf.field_id.is_some() || !leaf.group_ids.is_empty());
    let misplaced = leaves.iter().filter(has_ids).find(is_misplaced)?.path.join(".");
    Some(format!("it gives `{misplaced}`, or what is around it, other field ids or names than the table has"))
}

/// Clients look for the columns of a filter in the file, too, by the names that it has for them.
fn obstacle_of_case(leaves: &[FileLeaf], wanted: &Wanted<'_>) -> Option<String> {
    if !wanted.scan.ignores_case {
        return None;
    }
    let is_filtered = |leaf: &&FileLeaf| leaf.column.is_some_and(|id| wanted.fields().filtered.contains(&id));
    let spellings = Spellings::of(leaves);
    let twin = leaves.iter().filter(is_filtered).find_map(|leaf| spellings.other(&leaf.path))?;
    Some(format!("`{twin}` has the name of a column of the filter but for its case"))
}

/// How the names beside each other in a file are spelled: by what they stand in, and by themselves without case.
struct Spellings<'l>(BTreeMap<(&'l [String], String), BTreeSet<&'l str>>);

impl<'l> Spellings<'l> {
    fn of(leaves: &'l [FileLeaf]) -> Self {
        let mut spellings = BTreeMap::<_, BTreeSet<&str>>::new();
        for (key, name) in leaves.iter().flat_map(|leaf| levels(&leaf.path)) {
            spellings.entry(key).or_default().insert(name);
        }
        Self(spellings)
    }

    /// A name that differs in case alone from that of a leaf, or from one that it lies in.
    fn other(&self, path: &'l [String]) -> Option<&'l str> {
        levels(path).find_map(|(key, name)| self.0.get(&key)?.iter().copied().find(|other| *other != name))
    }
}

/// Each name of a path, with what it stands in and itself without case.
fn levels(path: &[String]) -> impl Iterator<Item = ((&[String], String), &str)> {
    path.iter().enumerate().filter_map(|(depth, name)| Some(((path.get(..depth)?, name.to_lowercase()), name.as_str())))
}

fn obstacle_of_types(leaves: &[FileLeaf], wanted: &Wanted<'_>) -> Option<String> {
    let misread_as = |known: &KnownColumn, file_type: Option<PrimitiveType>| {
        let (column, fields) = (&known.column, wanted.fields());
        let (held, id) = (file_type.unwrap_or(column.column_type), column.id);
        let doubts = Doubt::ALL.into_iter().filter(|doubt| fields.doubts.contains(&(id, *doubt))).collect::<Vec<_>>();
        let why = misread(held, column.column_type, (fields.filtered.contains(&id), &doubts))?;
        let held = file_type.map_or_else(String::new, |file_type| format!(" as {file_type}"));
        let (path, column_type) = (column.path.join("."), column.column_type);
        wanted.has(id).then(|| format!("it holds column `{path}` of type {column_type}{held}, {why}"))
    };
    let columns = &wanted.fields().columns;
    if leaves.is_empty() {
        return columns.values().find_map(|known| misread_as(known, None));
    }
    leaves.iter().find_map(|leaf| misread_as(columns.get(&leaf.column?)?, leaf.file_type))
}

/// Why clients read a column wrongly, or not at all, that a file holds as another type than the table, or that is compared with these
/// literals. PyIceberg binds filters to the type in the file, and so literals lose what that cannot hold.
fn misread(
    held: PrimitiveType,
    column_type: PrimitiveType,
    (is_filtered, doubts): (bool, &[Doubt]),
) -> Option<&'static str> {
    use PrimitiveType as P;
    let is_doubtful = |of: &[Doubt]| doubts.iter().any(|doubt| of.contains(doubt));
    let is_finer = |unit: TimeUnit, of: TimeUnit| unit == TimeUnit::Nanosecond && of != TimeUnit::Nanosecond;
    match (held, column_type) {
        (P::Timestamp(unit), P::Timestamp(of)) | (P::Timestamptz(unit), P::Timestamptz(of)) if is_finer(unit, of) => {
            return Some("whose nanoseconds clients cut off");
        }
        (P::UInt32, P::Int64) if is_filtered => {
            return Some("in which clients lose rows above 2147483647 where they filter by it");
        }
        (P::Float32, P::Float64) if is_filtered => {
            return Some("to which clients round the literals of a filter, so that rows are lost");
        }
        (P::String, P::Binary) | (P::Binary, P::String) if is_filtered => {
            return Some("to which clients do not bring the literals of a filter");
        }
        (held, column_type) if held != column_type && !is_read_as(held, column_type) => {
            return Some("which clients do not read as that");
        }
        _ => {}
    }
    let is_misled = match held {
        P::Int8 | P::Int16 | P::Int32 | P::UInt8 | P::UInt16 => {
            is_doubtful(&[Doubt::Fraction, Doubt::BeyondInt, Doubt::Text])
        }
        P::Int64 => is_doubtful(&[Doubt::Fraction, Doubt::BeyondLong, Doubt::Text]),
        P::Float32 => is_doubtful(&[Doubt::BeyondFloat, Doubt::Text]),
        P::Date => is_doubtful(&[Doubt::BeyondInt]),
        _ => false,
    };
    is_misled.then_some("and clients take a literal of the filter, which is no value of that, for another one")
}

/// Whether clients read values of a type in a file as those of another type of a table.
fn is_read_as(held: PrimitiveType, column_type: PrimitiveType) -> bool {
    use PrimitiveType as P;
    let name = |of| column_types::name_of(of).ok();
    match (held, column_type) {
        (P::UInt32 | P::Int8 | P::Int16 | P::Int32 | P::UInt8 | P::UInt16, P::Int64) => true,
        (P::Float32, P::Float64) | (P::Fixed(16), P::Uuid) => true,
        (P::String, P::Binary) | (P::Binary, P::String) => true,
        (P::Decimal { scale: of, .. }, P::Decimal { scale, .. }) => of == scale,
        _ => name(held).is_some() && name(held) == name(column_type),
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

    fn leaf(path: &str, field_id: Option<i32>, group_ids: &[Option<i32>]) -> FileLeaf {
        let path = path.split('.').map(str::to_owned).collect();
        FileLeaf { path, field_id, column: None, file_type: None, group_ids: group_ids.to_vec() }
    }

    #[test]
    fn clients_go_by_ids_where_everything_has_one_of_its_own() {
        let flat = |ids: &[Option<i32>]| told(&ids.iter().map(|id| leaf("a", *id, &[])).collect::<Vec<_>>());
        assert_eq!(flat(&[Some(1), Some(2)]), ToldBy::Ids);
        assert_eq!(flat(&[None, None]), ToldBy::Names);
        assert_eq!(flat(&[]), ToldBy::Names);
        for ids in [[Some(1), None], [Some(1), Some(1)], [Some(0), Some(1)], [Some(-1), Some(-2)]] {
            assert_eq!(flat(&ids), ToldBy::Nothing, "{ids:?}");
        }
        let nested = |ids: [Option<i32>; 3], group: Option<i32>| {
            let [a, x, y] = ids;
            told(&[leaf("a", a, &[]), leaf("s.x", x, &[group]), leaf("s.y", y, &[group])])
        };
        let all = [Some(1), Some(2), Some(3)];
        assert_eq!(nested(all, Some(4)), ToldBy::Either);
        assert_eq!(nested(all, None), ToldBy::Either);
        for group in [Some(1), Some(0), Some(-4)] {
            assert_eq!(nested(all, group), ToldBy::Nothing, "{group:?}");
        }
        assert_eq!(nested([None; 3], Some(4)), ToldBy::Nothing);
    }

    #[test]
    fn names_that_differ_in_case_alone_may_be_taken_for_each_other() {
        let check = |other: &str, name: &str, expected: bool| {
            let leaves = [leaf(name, None, &[]), leaf(other, None, &[])];
            assert_eq!(Spellings::of(&leaves).other(&leaves[0].path).is_some(), expected, "{other} {name}");
        };
        check("A", "a", true);
        check("S.b", "s.a", true);
        check("s.A", "s.a", true);
        check("A", "a.x", true);
        check("b", "a", false);
        check("s.b", "s.a", false);
        check("s.a.x", "s.a", false);
    }

    #[test]
    fn types_in_files_that_clients_misread_are_known() {
        let check = |held: &str, column: &str, expected: [bool; 2]| {
            let of =
                |is_filtered| misread(held.parse().unwrap(), column.parse().unwrap(), (is_filtered, &[])).is_some();
            assert_eq!([of(false), of(true)], expected, "{held} {column}");
        };
        for (held, column) in [("uint32", "int64"), ("float32", "float64"), ("string", "binary"), ("binary", "string")]
        {
            check(held, column, [false, true]);
        }
        for (held, column) in [
            ("timestamp(ns)", "timestamp(us)"),
            ("timestamptz(ns)", "timestamptz(ms)"),
            ("timestamp(ns)", "timestamptz(us)"),
            ("timestamptz(us)", "timestamp(us)"),
            ("date", "timestamp(us)"),
            ("int32", "decimal(18,2)"),
            ("decimal(9,2)", "decimal(18,4)"),
            ("float16", "float32"),
            ("time(ms)", "time(us)"),
            ("fixed(2)", "binary"),
            ("uuid", "fixed(16)"),
            ("string", "int32"),
        ] {
            check(held, column, [true, true]);
        }
        for (held, column) in [
            ("int64", "int64"),
            ("uint8", "int16"),
            ("int32", "int64"),
            ("float64", "float64"),
            ("float32", "float32"),
            ("timestamp(ms)", "timestamp(us)"),
            ("decimal(9,2)", "decimal(18,2)"),
            ("fixed(16)", "uuid"),
            ("string", "string"),
        ] {
            check(held, column, [false, false]);
        }
    }

    #[test]
    fn literals_that_clients_misread_are_known() {
        use Doubt::{BeyondFloat, BeyondInt, BeyondLong, Fraction, Text};
        for (held, misled) in [
            ("int8", &[Fraction, BeyondInt, Text][..]),
            ("int32", &[Fraction, BeyondInt, Text]),
            ("uint16", &[Fraction, BeyondInt, Text]),
            ("int64", &[Fraction, BeyondLong, Text]),
            ("float32", &[BeyondFloat, Text]),
            ("float64", &[]),
            ("date", &[BeyondInt]),
            ("string", &[]),
        ] {
            let held: PrimitiveType = held.parse().unwrap();
            for doubt in [Fraction, BeyondInt, BeyondLong, BeyondFloat, Text] {
                assert_eq!(
                    misread(held, held, (true, &[doubt])).is_some(),
                    misled.contains(&doubt),
                    "{held} {doubt:?}"
                );
            }
        }
    }
}
