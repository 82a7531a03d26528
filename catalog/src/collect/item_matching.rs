//! What a footer says of the items of a table's lists and maps.
//!
//! No file is refused for them. Which leaf an item is must be plain: the list or map has its field id and a current or former
//! name, or its exact name and no id, and whatever lies in it is of the table's shape, with no id that is another's. Else nothing
//! is known of its items. A file that has neither the id nor any spelling of a name of the list or map is known not to hold them.
//! An id that the file has more than once makes what has it unknown.

use std::collections::{BTreeMap, HashMap};

use prunus_statistics::{ColumnStatistics, FieldId, FileColumn, PrimitiveType, cut_to_limit, normalise};

use super::column_lookup::FileColumns;
use super::file_schema::{FileSchema, Node};
use super::footer::Footer;
use super::leaf_as_column::leaf_as_column;
use super::name_folding::same_when_folded;
use super::node_shape::Shape;
use super::scan::{LeafScan, ScannedLeaves};
use crate::schema::{Field, Type, items_of};

/// A list or map of a table that a file's is sought for: one that is reached through structs alone.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemHolder {
    /// The field.
    pub field: Field,
    /// Its names from the top down.
    pub path: Vec<String>,
    /// The paths that it had before renames.
    pub former_paths: Vec<Vec<String>>,
}

/// What a file says of the items of a table's lists and maps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectedItems {
    /// What is known of each; one that is missing here is unknown.
    pub columns: BTreeMap<FieldId, FileColumn>,
    /// Which leaf of the file each is that it holds, by its index in [`Footer::leaves`].
    pub leaf_of_item: BTreeMap<FieldId, usize>,
}

/// Finds the items of each list and map in a file, by the ids of their leaves, and takes from the footer, or from the leaves that
/// were read, what is soundly said of them: bounds of all values of the file, never a count. Bounds of strings and binary are cut
/// to `bound_bytes_max` bytes.
pub fn match_items(
    footer: &Footer<'_>,
    scans: &ScannedLeaves,
    holders: &[ItemHolder],
    bound_bytes_max: usize,
) -> CollectedItems {
    let mut collected = CollectedItems::default();
    if holders.is_empty() {
        return collected;
    }
    let file = FileColumns::of(footer);
    for holder in holders {
        match locate(&file, footer.schema(), holder) {
            Located::Doubtful => {}
            Located::Absent => {
                collected
                    .columns
                    .extend(items_of(&holder.field, &holder.path).iter().map(|item| (item.id, FileColumn::Absent)));
            }
            Located::At(node) => {
                let mut leaves = Vec::new();
                let field = &holder.field;
                match_type(footer.schema(), &field.field_type, field.id, &node.shape(), &mut leaves);
                collected.leaf_of_item.extend(leaves.iter().map(|leaf| (leaf.id, leaf.leaf)));
                let present = |leaf: ItemLeaf| {
                    Some((leaf.id, FileColumn::Present(bounds(footer, scans, leaf, bound_bytes_max)?)))
                };
                collected.columns.extend(leaves.into_iter().filter_map(present));
            }
        }
    }
    collected
}

/// Where a list or map stands in a file.
enum Located<'f, 'a> {
    At(&'f Node<'a>),
    Absent,
    Doubtful,
}

/// What stands in a file where a path leads: a node, or one on the way that is no struct.
enum Found<'f, 'a> {
    Node(&'f Node<'a>),
    Obstacle,
}

impl Found<'_, '_> {
    fn is(&self, node: &Node<'_>) -> bool {
        matches!(self, Self::Node(found) if std::ptr::eq::<Node<'_>>(*found, node))
    }
}

fn locate<'f, 'a>(file: &FileColumns<'f, 'a>, schema: &FileSchema<'a>, holder: &ItemHolder) -> Located<'f, 'a> {
    if schema.is_shared(holder.field.id) {
        return Located::Doubtful;
    }
    let named = at_path(file, &holder.path);
    if let Some(node) = file.with_id(holder.field.id) {
        let is_former = |path: &Vec<String>| at_path(file, path).iter().any(|found| found.is(node));
        return match named.as_slice() {
            [] if holder.former_paths.iter().any(is_former) => Located::At(node),
            [found] if found.is(node) => Located::At(node),
            _ => Located::Doubtful,
        };
    }
    match named.as_slice() {
        [Found::Node(node)] if node.field_id.is_none() => Located::At(node),
        [] => {
            let mut paths = std::iter::once(&holder.path).chain(&holder.former_paths);
            if paths.any(|path| is_at_any_spelling(file, path)) { Located::Doubtful } else { Located::Absent }
        }
        _ => Located::Doubtful,
    }
}

/// What stands where a path leads, by its exact names.
fn at_path<'f, 'a>(file: &FileColumns<'f, 'a>, path: &[String]) -> Vec<Found<'f, 'a>> {
    let mut found = Vec::new();
    if let Some((name, below)) = path.split_first() {
        file.at_top(name).iter().for_each(|node| follow(node, below, |a, b| a == b, &mut found));
    }
    found
}

fn is_at_any_spelling(file: &FileColumns<'_, '_>, path: &[String]) -> bool {
    let mut found = Vec::new();
    if let Some((name, below)) = path.split_first() {
        file.at_top_in_any_spelling(name).iter().for_each(|node| follow(node, below, same_when_folded, &mut found));
    }
    !found.is_empty()
}

/// Goes down from a node that has the first name of a path, by the names below it.
fn follow<'f, 'a>(node: &'f Node<'a>, below: &[String], same: fn(&str, &str) -> bool, found: &mut Vec<Found<'f, 'a>>) {
    match (node.shape(), below.split_first()) {
        (_, None) => found.push(Found::Node(node)),
        (Shape::Struct(children), Some((name, below))) => {
            for child in children.iter().filter(|child| same(child.name, name)) {
                follow(child, below, same, found);
            }
        }
        _ => found.push(Found::Obstacle),
    }
}

/// A leaf of the file that an item is.
#[derive(Clone, Copy)]
struct ItemLeaf {
    id: FieldId,
    column_type: PrimitiveType,
    /// Its index among the file's leaves.
    leaf: usize,
}

/// Goes down the table's type and the file's shape side by side, as far as the two agree.
fn match_type(
    schema: &FileSchema<'_>,
    item_type: &Type,
    id: FieldId,
    shape: &Shape<'_, '_>,
    leaves: &mut Vec<ItemLeaf>,
) {
    let is_it =
        |file_id: Option<FieldId>, id: FieldId| file_id.is_none_or(|file_id| file_id == id) && !schema.is_shared(id);
    match (item_type, shape) {
        (Type::Primitive(column_type), Shape::Leaf(leaf)) => {
            leaves.push(ItemLeaf { id, column_type: *column_type, leaf: *leaf });
        }
        (Type::Struct(fields), Shape::Struct(children)) => {
            let parts = Parts::of(children);
            for field in fields {
                if let Some(node) = parts.named(&field.name, field.id).filter(|node| is_it(node.field_id, field.id)) {
                    match_type(schema, &field.field_type, field.id, &node.shape(), leaves);
                }
            }
        }
        (Type::List { element_id, element: element_type }, Shape::List(element))
            if is_it(element.field_id(), *element_id) =>
        {
            match_type(schema, element_type, *element_id, &element.shape(), leaves);
        }
        (Type::Map { key_id, key: key_type, value_id, value: value_type }, Shape::Map { key, value }) => {
            for (node, item_type, id) in [(key, key_type, *key_id), (value, value_type, *value_id)] {
                if is_it(node.field_id, id) {
                    match_type(schema, item_type, id, &node.shape(), leaves);
                }
            }
        }
        _ => {}
    }
}

/// The parts of a struct of the file by name and by id.
struct Parts<'n, 'a> {
    by_name: HashMap<&'n str, Vec<&'n Node<'a>>>,
    by_id: HashMap<FieldId, &'n Node<'a>>,
}

impl<'n, 'a> Parts<'n, 'a> {
    fn of(children: &'n [Node<'a>]) -> Self {
        let mut by_name: HashMap<&str, Vec<&Node<'a>>> = HashMap::with_capacity(children.len());
        for node in children {
            by_name.entry(node.name).or_default().push(node);
        }
        let by_id = children.iter().filter_map(|node| Some((node.field_id?, node))).collect();
        Self { by_name, by_id }
    }

    /// The only part of this name, unless another one has the id.
    fn named(&self, name: &str, id: FieldId) -> Option<&'n Node<'a>> {
        let [node] = self.by_name.get(name)?.as_slice() else { return None };
        let is_other = |other: &&Node<'_>| !std::ptr::eq::<Node<'_>>(*other, *node);
        (!self.by_id.get(&id).is_some_and(is_other)).then_some(*node)
    }
}

/// What the footer, or the data if it was read, says of something in a list or map that is this leaf of the file: its bounds, if
/// any are known that can be used.
pub(crate) fn item_at(
    footer: &Footer<'_>,
    leaf: usize,
    scan: Option<&LeafScan>,
    column_type: PrimitiveType,
) -> Option<ColumnStatistics> {
    let scans: ScannedLeaves = scan.map(|scan| (leaf, scan.clone())).into_iter().collect();
    bounds(footer, &scans, ItemLeaf { id: FieldId(0), column_type, leaf }, usize::MAX)
}

/// The bounds of an item, if any are known that can be used.
fn bounds(
    footer: &Footer<'_>,
    scans: &ScannedLeaves,
    item: ItemLeaf,
    bound_bytes_max: usize,
) -> Option<ColumnStatistics> {
    let ItemLeaf { column_type, leaf, .. } = item;
    let mut statistics = leaf_as_column(footer, leaf, scans.get(&leaf), column_type)?;
    cut_to_limit(&mut statistics, column_type, bound_bytes_max);
    normalise(&mut statistics, column_type, None);
    let ColumnStatistics { min, max, .. } = statistics;
    (min.is_some() || max.is_some()).then(|| ColumnStatistics { min, max, ..ColumnStatistics::default() })
}

#[cfg(test)]
mod tests {
    use prunus_statistics::{Bound, Precision, Provenance, Value};

    use super::super::scan::LeafScan;
    use super::super::test_footer::{
        BYTE_ARRAY, INT32, INT64, INT96, REPEATED, REQUIRED, TestChunk, TestElement, TestFooter,
    };
    use super::*;
    use crate::schema_json::schema_from_text;

    const LIST: i32 = 3;
    const MAP: i32 = 1;

    /// The holder with id 1 of a schema.
    fn holder(text: &str) -> ItemHolder {
        let schema = schema_from_text(text).unwrap();
        let (path, field) = schema.item_holders().into_iter().find(|(_, field)| field.id == FieldId(1)).unwrap();
        ItemHolder { field: field.clone(), path, former_paths: Vec::new() }
    }

    fn list_named(name: &str, element: &str) -> ItemHolder {
        holder(&format!(
            r#"[{{"id": 1, "name": "{name}", "type": {{"type": "list", "element_id": 2, "element": {element}}}}}]"#
        ))
    }

    fn ints() -> ItemHolder {
        list_named("l", r#""int64""#)
    }

    fn shown(file: &TestFooter, holder: &ItemHolder) -> Vec<(i32, String)> {
        let bytes = file.encode();
        let footer = Footer::parse(&bytes).unwrap();
        let found = match_items(&footer, &ScannedLeaves::new(), std::slice::from_ref(holder), 4).columns;
        let of_bound = |bound: &Option<Bound>| match bound {
            None => "?".to_owned(),
            Some(Bound { value, precision: Precision::Bound, provenance: Provenance::Footer }) => match value {
                Value::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
                value => value.display(PrimitiveType::Int64).to_string(),
            },
            other => panic!("{other:?}"),
        };
        let show = |column: FileColumn| match column {
            FileColumn::Absent => "absent".to_owned(),
            FileColumn::Present(ColumnStatistics { min, max, null_count: None, nan_count: None }) => {
                format!("{}..{}", of_bound(&min), of_bound(&max))
            }
            FileColumn::Present(other) => panic!("{other:?}"),
        };
        found.into_iter().map(|(id, column)| (id.0, show(column))).collect()
    }

    #[track_caller]
    fn check(file: &TestFooter, holder: &ItemHolder, expected: &[(i32, &str)]) {
        let expected: Vec<(i32, String)> = expected.iter().map(|(id, text)| (*id, (*text).to_owned())).collect();
        assert_eq!(shown(file, holder), expected);
    }

    /// A list of three levels: `list` of optional INT64 elements.
    fn three_levels(name: &str) -> Vec<TestElement> {
        vec![
            TestElement::group(name, Some(1)).converted(LIST),
            TestElement::group("list", Some(1)).repetition(REPEATED),
            TestElement::leaf("element", INT64),
        ]
    }

    fn of_leaf(path: &str, physical: i32, values: i64) -> TestChunk {
        TestChunk::at(&path.split('.').collect::<Vec<_>>(), physical, values)
    }

    fn chunk(path: &str, min: i64, max: i64) -> TestChunk {
        of_leaf(path, INT64, 5).bounds(&min.to_le_bytes(), &max.to_le_bytes()).nulls(2)
    }

    /// A file whose only field is these elements, with bounds from 3 to 9 of its only leaf.
    fn with_bounds(elements: Vec<TestElement>, path: &str) -> TestFooter {
        TestFooter::new(1, elements).row_group(2, vec![chunk(path, 3, 9)])
    }

    #[test]
    fn elements_have_bounds_in_every_form_of_a_list() {
        check(&with_bounds(three_levels("l"), "l.list.element"), &ints(), &[(2, "3..9")]);
        let two_levels = vec![
            TestElement::group("l", Some(1)).converted(LIST),
            TestElement::leaf("array", INT64).repetition(REPEATED),
        ];
        check(&with_bounds(two_levels, "l.array"), &ints(), &[(2, "3..9")]);
        check(&with_bounds(vec![TestElement::leaf("l", INT64).repetition(REPEATED)], "l"), &ints(), &[(2, "3..9")]);
    }

    #[test]
    fn keys_and_values_of_maps_have_bounds() {
        let map = vec![
            TestElement::group("m", Some(1)).converted(MAP),
            TestElement::group("key_value", Some(2)).repetition(REPEATED),
            TestElement::leaf("key", BYTE_ARRAY).converted(0).repetition(REQUIRED),
            TestElement::leaf("value", INT64),
        ];
        let keys = of_leaf("m.key_value.key", BYTE_ARRAY, 5).bounds(b"alpha", b"beta");
        let file = TestFooter::new(1, map).row_group(2, vec![keys, chunk("m.key_value.value", 3, 9)]);
        let text = r#"[{"id": 1, "name": "m", "type": {"type": "map", "key_id": 2, "key": "string", "value_id": 3, "value": "int64"}}]"#;
        check(&file, &holder(text), &[(2, "alph..beta"), (3, "3..9")]);
    }

    #[test]
    fn what_lies_deeper_has_bounds_where_the_shapes_agree() {
        let struct_of = |fields: &str| format!(r#"{{"type": "struct", "fields": [{fields}]}}"#);
        let elements = struct_of(r#"{"id": 3, "name": "a", "type": "int64"}, {"id": 4, "name": "b", "type": "int64"}"#);
        let structs = vec![
            TestElement::group("l", Some(1)).converted(LIST),
            TestElement::group("list", Some(1)).repetition(REPEATED),
            TestElement::group("element", Some(1)),
            TestElement::leaf("a", INT64),
        ];
        let file = with_bounds(structs, "l.list.element.a");
        // Where an element lacks a part, its default may be read, so that nothing is known of that part.
        check(&file, &list_named("l", &elements), &[(3, "3..9")]);
        check(&file, &ints(), &[]);
        check(&with_bounds(three_levels("l"), "l.list.element"), &list_named("l", &elements), &[]);
    }

    #[test]
    fn a_file_without_the_list_is_known_to_hold_no_element() {
        let file = TestFooter::flat(vec![TestElement::leaf("x", INT32)]);
        check(&file, &ints(), &[(2, "absent")]);
        let nested = r#"[{"id": 9, "name": "s", "type": {"type": "struct", "fields": [
            {"id": 1, "name": "l", "type": {"type": "list", "element_id": 2, "element": "int64"}}]}}]"#;
        check(&file, &holder(nested), &[(2, "absent")]);
        // A value where the table has a struct leaves it open what is read in it.
        check(&TestFooter::flat(vec![TestElement::leaf("s", INT32)]), &holder(nested), &[]);
    }

    #[test]
    fn a_list_that_may_be_another_is_unknown() {
        let of = |name: &str| with_bounds(three_levels(name), &format!("{name}.list.element"));
        check(&of("L"), &ints(), &[]);
        let renamed = ItemHolder { former_paths: vec![vec!["k".to_owned()]], ..ints() };
        check(&of("k"), &renamed, &[]);
        check(&of("k"), &ints(), &[(2, "absent")]);
        let twice = [three_levels("l"), three_levels("l")].concat();
        check(&TestFooter::new(2, twice), &ints(), &[]);
    }

    #[test]
    fn an_id_counts_with_a_current_or_former_name() {
        let with_id = |name: &str, id: i32| {
            let mut elements = three_levels(name);
            elements[0] = elements[0].clone().id(id);
            with_bounds(elements, &format!("{name}.list.element"))
        };
        check(&with_id("l", 1), &ints(), &[(2, "3..9")]);
        check(&with_id("l", 7), &ints(), &[]);
        check(&with_id("k", 1), &ints(), &[]);
        let renamed = ItemHolder { former_paths: vec![vec!["k".to_owned()]], ..ints() };
        check(&with_id("k", 1), &renamed, &[(2, "3..9")]);
        check(&with_id("k", 7), &renamed, &[]);
    }

    #[test]
    fn an_element_with_the_id_of_another_is_unknown() {
        let with_element_id = |id: i32| {
            let mut elements = three_levels("l");
            elements[2] = elements[2].clone().id(id);
            with_bounds(elements, "l.list.element")
        };
        check(&with_element_id(2), &ints(), &[(2, "3..9")]);
        check(&with_element_id(3), &ints(), &[]);
    }

    #[test]
    fn elements_of_a_type_that_does_not_convert_are_unknown() {
        check(&with_bounds(three_levels("l"), "l.list.element"), &list_named("l", r#""string""#), &[]);
        check(
            &with_bounds(three_levels("l"), "l.list.element"),
            &list_named("l", r#""decimal(38,2)""#),
            &[(2, "300..900")],
        );
    }

    #[test]
    fn items_whose_id_several_elements_have_are_unknown() {
        let x = |id| TestElement::leaf("x", INT32).id(id);
        check(&TestFooter::flat(vec![x(1), x(1)]), &ints(), &[]);
        check(&TestFooter::flat(vec![x(7), x(7)]), &ints(), &[(2, "absent")]);
        let shared = |id| {
            let elements = [vec![x(id), x(id)], three_levels("l")].concat();
            let of_x = || TestChunk::of("x", INT32, 2);
            TestFooter::new(3, elements).row_group(2, vec![of_x(), of_x(), chunk("l.list.element", 3, 9)])
        };
        check(&shared(1), &ints(), &[]);
        check(&shared(2), &ints(), &[]);
        check(&shared(7), &ints(), &[(2, "3..9")]);
    }

    #[test]
    fn an_int96_that_64_bits_may_wrap_leaves_items_unbounded() {
        let leaf = TestElement::leaf("l", INT96).repetition(REPEATED);
        let bytes = TestFooter::new(1, vec![leaf]).row_group(2, vec![of_leaf("l", INT96, 5)]).encode();
        let bound = |seconds: i128| {
            let value = Value::Integer(seconds * 1_000_000_000);
            Some(Bound { value, precision: Precision::Exact, provenance: Provenance::Scanned })
        };
        let bounded = |unit: &str, max: i128| {
            let read = ColumnStatistics { min: bound(0), max: bound(max), ..ColumnStatistics::default() };
            let scans = ScannedLeaves::from([(0, LeafScan::Everything(read))]);
            let holder = list_named("l", &format!(r#""timestamp({unit})""#));
            match_items(&Footer::parse(&bytes).unwrap(), &scans, &[holder], 64).columns.len()
        };
        // The last second of 9999 is none that nanoseconds in 64 bits reach.
        assert_eq!([bounded("ns", 1), bounded("s", 253_402_300_799), bounded("ns", 253_402_300_799)], [1, 1, 0]);
    }

    #[test]
    fn no_count_proves_that_there_is_no_element() {
        let none = of_leaf("l.list.element", INT64, 0);
        check(&TestFooter::new(1, three_levels("l")).row_group(0, vec![none]), &ints(), &[]);
        let nulls = of_leaf("l.list.element", INT64, 5).nulls(5);
        let file = TestFooter::new(1, three_levels("l")).row_group(2, vec![nulls]);
        check(&file.row_group(2, vec![chunk("l.list.element", 3, 9)]), &ints(), &[]);
    }
}
