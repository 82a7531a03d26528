//! What a footer says of the items of a table's lists and maps.
//!
//! No file is refused for them. Which leaf an item is must be plain: the list or map has its field id and a current or former
//! name, or its exact name and no id, and whatever lies in it is of the table's shape, with no id that is another's. Else nothing
//! is known of its items. A file that has neither the id nor any spelling of a name of the list or map is known not to hold them.

use std::collections::BTreeMap;

use prunus_statistics::{ColumnStatistics, FieldId, FileColumn, PrimitiveType, cut_to_limit, normalise};

use super::file_schema::{Content, Node};
use super::footer::Footer;
use super::name_folding::same_when_folded;
use super::node_shape::Shape;
use super::scan::{LeafScan, ScannedLeaves};
use super::type_conversion::{conversion_of, convert};
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
    for holder in holders {
        match locate(&footer.schema().fields, holder) {
            Located::Doubtful => {}
            Located::Absent => {
                collected
                    .columns
                    .extend(items_of(&holder.field, &holder.path).iter().map(|item| (item.id, FileColumn::Absent)));
            }
            Located::At(node) => {
                let mut leaves = Vec::new();
                match_type(&holder.field.field_type, holder.field.id, &node.shape(), &mut leaves);
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

fn locate<'f, 'a>(fields: &'f [Node<'a>], holder: &ItemHolder) -> Located<'f, 'a> {
    let named = at_path(fields, &holder.path, |a, b| a == b);
    if let Some(node) = with_id(fields, holder.field.id) {
        let is_former = |path: &Vec<String>| at_path(fields, path, |a, b| a == b).iter().any(|found| found.is(node));
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
            let is_there = paths.any(|path| !at_path(fields, path, same_when_folded).is_empty());
            if is_there { Located::Doubtful } else { Located::Absent }
        }
        _ => Located::Doubtful,
    }
}

fn at_path<'f, 'a>(nodes: &'f [Node<'a>], path: &[String], same: fn(&str, &str) -> bool) -> Vec<Found<'f, 'a>> {
    let Some((name, below)) = path.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    for node in nodes.iter().filter(|node| same(node.name, name)) {
        match node.shape() {
            _ if below.is_empty() => found.push(Found::Node(node)),
            Shape::Struct(children) => found.extend(at_path(children, below, same)),
            _ => found.push(Found::Obstacle),
        }
    }
    found
}

/// The node with a field id, wherever it stands.
fn with_id<'f, 'a>(nodes: &'f [Node<'a>], id: FieldId) -> Option<&'f Node<'a>> {
    nodes.iter().find_map(|node| match &node.content {
        _ if node.field_id == Some(id) => Some(node),
        Content::Leaf(_) => None,
        Content::Group { children, .. } => with_id(children, id),
    })
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
fn match_type(item_type: &Type, id: FieldId, shape: &Shape<'_, '_>, leaves: &mut Vec<ItemLeaf>) {
    let is_it = |file_id: Option<FieldId>, id: FieldId| file_id.is_none_or(|file_id| file_id == id);
    match (item_type, shape) {
        (Type::Primitive(column_type), Shape::Leaf(leaf)) => {
            leaves.push(ItemLeaf { id, column_type: *column_type, leaf: *leaf });
        }
        (Type::Struct(fields), Shape::Struct(children)) => {
            for field in fields {
                let is_candidate = |node: &&Node<'_>| node.name == field.name || node.field_id == Some(field.id);
                let mut candidates = children.iter().filter(is_candidate);
                if let (Some(node), None) = (candidates.next(), candidates.next())
                    && node.name == field.name
                    && is_it(node.field_id, field.id)
                {
                    match_type(&field.field_type, field.id, &node.shape(), leaves);
                }
            }
        }
        (Type::List { element_id, element: element_type }, Shape::List(element))
            if is_it(element.field_id(), *element_id) =>
        {
            match_type(element_type, *element_id, &element.shape(), leaves);
        }
        (Type::Map { key_id, key: key_type, value_id, value: value_type }, Shape::Map { key, value }) => {
            for (node, item_type, id) in [(key, key_type, *key_id), (value, value_type, *value_id)] {
                if is_it(node.field_id, id) {
                    match_type(item_type, id, &node.shape(), leaves);
                }
            }
        }
        _ => {}
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
    let conversion = conversion_of(footer.leaves().get(leaf)?, column_type)?;
    let in_footer = footer.leaf_statistics(leaf);
    let known = if let Some(scan) = scans.get(&leaf) { scan.over(in_footer) } else { in_footer };
    let mut statistics = convert(known, conversion);
    cut_to_limit(&mut statistics, column_type, bound_bytes_max);
    normalise(&mut statistics, column_type, None);
    let ColumnStatistics { min, max, .. } = statistics;
    (min.is_some() || max.is_some()).then(|| ColumnStatistics { min, max, ..ColumnStatistics::default() })
}

#[cfg(test)]
mod tests {
    use prunus_statistics::{Bound, Precision, Provenance, Value};

    use super::super::test_footer::{BYTE_ARRAY, INT32, INT64, REPEATED, REQUIRED, TestChunk, TestElement, TestFooter};
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
    fn no_count_proves_that_there_is_no_element() {
        let none = of_leaf("l.list.element", INT64, 0);
        check(&TestFooter::new(1, three_levels("l")).row_group(2, vec![none]), &ints(), &[]);
        let nulls = of_leaf("l.list.element", INT64, 5).nulls(5);
        let file = TestFooter::new(1, three_levels("l")).row_group(2, vec![nulls]);
        check(&file.row_group(2, vec![chunk("l.list.element", 3, 9)]), &ints(), &[]);
    }
}
