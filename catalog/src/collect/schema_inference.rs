//! A table's schema as a file suggests it.

use std::collections::BTreeSet;

use prunus_statistics::PrimitiveType;

use super::file_schema::{FileLeaf, Node, Repetition};
use super::footer::Footer;
use super::node_shape::Shape;
use crate::schema::{NewField, NewType};

/// Why a file's schema cannot be a table's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaInferenceError {
    /// Two fields beside each other have one name.
    #[error("the file has more than one column `{column}`")]
    DuplicateName {
        /// The path of the column, its names joined with dots.
        column: String,
    },
    /// A column of a type that a table cannot have.
    #[error("column `{column}` is of type {file_type}, which a table cannot have")]
    UnsupportedType {
        /// The path of the column.
        column: String,
        /// Its type in the file.
        file_type: String,
    },
    /// A column of which the file does not say the type, since it stores nulls alone.
    #[error(
        "column `{column}` has no type in this file: all of it is null; name a file that has one, or give the schema"
    )]
    Untyped {
        /// The path of the column.
        column: String,
    },
}

impl SchemaInferenceError {
    /// The path of the column that it is about, its names joined with dots.
    pub fn column(&self) -> &str {
        match self {
            Self::DuplicateName { column } | Self::UnsupportedType { column, .. } | Self::Untyped { column } => column,
        }
    }

    /// What the file has as the type of the column, if that is what is wrong; `null` where it has none.
    pub fn file_type(&self) -> Option<&str> {
        match self {
            Self::DuplicateName { .. } => None,
            Self::UnsupportedType { file_type, .. } => Some(file_type),
            Self::Untyped { .. } => Some("null"),
        }
    }
}

/// The fields that a table of such files would have, in the order of the file.
///
/// A field id of the file is kept where it can serve as one: it is above 0 and no other field of the file has it. Columns
/// are matched by the same rule, so that a table made from a file takes that file.
///
/// # Errors
/// A [`SchemaInferenceError`] for each name that repeats among siblings, and for each column whose type the file does not tell or a
/// table cannot have.
pub fn infer_schema(footer: &Footer<'_>) -> Result<Vec<NewField>, Vec<SchemaInferenceError>> {
    let schema = footer.schema();
    let mut inference = Inference { leaves: &schema.leaves, path: Vec::new(), errors: Vec::new() };
    let fields = inference.fields(&schema.fields);
    if inference.errors.is_empty() { Ok(fields) } else { Err(inference.errors) }
}

struct Inference<'f> {
    leaves: &'f [FileLeaf],
    path: Vec<&'f str>,
    errors: Vec<SchemaInferenceError>,
}

impl<'f> Inference<'f> {
    /// The fields without those whose type is not known, each of which is an error.
    fn fields(&mut self, nodes: &'f [Node<'f>]) -> Vec<NewField> {
        let mut names = BTreeSet::new();
        let mut fields = Vec::with_capacity(nodes.len());
        for node in nodes {
            self.path.push(node.name);
            if !names.insert(node.name) {
                self.errors.push(SchemaInferenceError::DuplicateName { column: self.path.join(".") });
            } else if let Some(field_type) = self.type_of(&node.shape()) {
                let (id, name) = (node.field_id, node.name.to_owned());
                let nullable = node.repetition == Repetition::Optional;
                fields.push(NewField { id, name, field_type, nullable, default: None, doc: None });
            }
            self.path.pop();
        }
        fields
    }

    /// The type of a column; `None` after an error.
    fn type_of(&mut self, shape: &Shape<'f, 'f>) -> Option<NewType> {
        Some(match shape {
            Shape::Leaf(index) => NewType::Primitive(self.type_of_leaf(*index)?),
            Shape::Struct(children) => NewType::Struct(self.fields(children)),
            Shape::List(element) => {
                NewType::List { element_id: element.field_id(), element: Box::new(self.type_of(&element.shape())?) }
            }
            Shape::Map { key, value } => NewType::Map {
                key_id: key.field_id,
                key: Box::new(self.type_of(&key.shape())?),
                value_id: value.field_id,
                value: Box::new(self.type_of(&value.shape())?),
            },
        })
    }

    fn type_of_leaf(&mut self, index: usize) -> Option<PrimitiveType> {
        let leaf = self.leaves.get(index);
        let column_type = leaf.filter(|leaf| !leaf.holds_only_nulls()).and_then(|leaf| leaf.column_type);
        if column_type.is_none() {
            let column = self.path.join(".");
            // Such a leaf is stored as some type, which says nothing of what other files have in its place.
            self.errors.push(if leaf.is_some_and(FileLeaf::holds_only_nulls) {
                SchemaInferenceError::Untyped { column }
            } else {
                let file_type = leaf.map(FileLeaf::type_name).unwrap_or_default();
                SchemaInferenceError::UnsupportedType { column, file_type }
            });
        }
        column_type
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_footer::{BYTE_ARRAY, FIXED, INT32, REPEATED, REQUIRED, TestElement, TestFooter};
    use super::*;
    use crate::schema::assign_ids;

    const LIST: i32 = 3;
    const MAP: i32 = 1;
    const NULL: i16 = 11;

    fn inferred(file: &TestFooter) -> Result<String, Vec<SchemaInferenceError>> {
        let bytes = file.encode();
        infer_schema(&Footer::parse(&bytes).unwrap()).map(|fields| shown(&fields))
    }

    fn check(fields: i32, elements: Vec<TestElement>, expected: &str) {
        assert_eq!(inferred(&TestFooter::new(fields, elements)), Ok(expected.to_owned()));
    }

    fn shown(fields: &[NewField]) -> String {
        let field = |field: &NewField| {
            let id = field.id.map(|id| id.to_string()).unwrap_or_default();
            let optional = if field.nullable { "?" } else { "" };
            format!("{}{id}{optional}: {}", field.name, shown_type(&field.field_type))
        };
        fields.iter().map(field).collect::<Vec<_>>().join(", ")
    }

    fn shown_type(new_type: &NewType) -> String {
        let id = |id: &Option<prunus_statistics::FieldId>| id.map(|id| id.to_string()).unwrap_or_default();
        match new_type {
            NewType::Primitive(column_type) => column_type.to_string(),
            NewType::Struct(fields) => format!("{{{}}}", shown(fields)),
            NewType::List { element_id, element } => format!("[{}{}]", id(element_id), shown_type(element)),
            NewType::Map { key_id, key, value_id, value } => {
                format!("<{}{}, {}{}>", id(key_id), shown_type(key), id(value_id), shown_type(value))
            }
        }
    }

    fn leaf(name: &str) -> TestElement {
        TestElement::leaf(name, INT32)
    }

    fn group(name: &str, children: i32) -> TestElement {
        TestElement::group(name, Some(children))
    }

    #[test]
    fn leaves_and_structs_are_fields() {
        let string = TestElement::leaf("b", BYTE_ARRAY).converted(0).repetition(REQUIRED);
        check(
            3,
            vec![leaf("a"), group("s", 2), string, leaf("c"), leaf("")],
            "a?: int32, s?: {b: string, c?: int32}, ?: int32",
        );
    }

    #[test]
    fn a_list_has_three_levels_or_two() {
        let list = || group("l", 1).converted(LIST);
        let middle = |name: &str, children| group(name, children).repetition(REPEATED);
        check(1, vec![list(), middle("list", 1), leaf("element")], "l?: [int32]");
        check(1, vec![list(), middle("bag", 1), leaf("array_element")], "l?: [int32]");
        check(1, vec![list(), leaf("array").repetition(REPEATED)], "l?: [int32]");
        check(1, vec![list(), middle("element", 2), leaf("a"), leaf("b")], "l?: [{a?: int32, b?: int32}]");
        check(1, vec![list(), middle("array", 1), leaf("a")], "l?: [{a?: int32}]");
        check(1, vec![list(), middle("l_tuple", 1), leaf("a")], "l?: [{a?: int32}]");
        check(1, vec![list(), middle("list", 1), leaf("a").repetition(REPEATED)], "l?: [{a: [int32]}]");
        let inner = middle("array", 1).converted(LIST);
        check(1, vec![list(), inner, leaf("array").repetition(REPEATED)], "l?: [[int32]]");
    }

    #[test]
    fn a_map_has_keys_and_values() {
        let entries = |children| group("key_value", children).repetition(REPEATED);
        let key = || leaf("key").repetition(REQUIRED);
        check(1, vec![group("m", 1).converted(MAP), entries(2), key(), leaf("value")], "m?: <int32, int32>");
        check(1, vec![group("m", 1).converted(2), entries(2), key(), leaf("value")], "m?: <int32, int32>");
        check(1, vec![group("m", 1).converted(MAP), entries(1), key()], "m?: [{key: int32}]");
    }

    #[test]
    fn a_field_that_repeats_is_a_list_of_itself() {
        check(1, vec![leaf("r").repetition(REPEATED).id(4)], "r#4: [int32]");
        check(1, vec![group("r", 1).repetition(REPEATED), leaf("a")], "r: [{a?: int32}]");
    }

    #[test]
    fn an_annotated_group_without_the_form_is_a_struct() {
        check(1, vec![group("l", 1).converted(LIST), leaf("a")], "l?: {a?: int32}");
        check(1, vec![group("m", 2).converted(MAP), leaf("a"), leaf("b")], "m?: {a?: int32, b?: int32}");
    }

    #[test]
    fn ids_are_kept_where_they_can_serve() {
        let list =
            vec![group("l", 1).converted(LIST).id(3), group("list", 1).repetition(REPEATED), leaf("element").id(4)];
        check(1, list, "l#3?: [#4int32]");
        let shared = vec![leaf("a").id(7), leaf("b").id(7), leaf("c").id(9), leaf("d").id(0), leaf("e").id(-3)];
        check(5, shared, "a?: int32, b?: int32, c#9?: int32, d?: int32, e?: int32");
    }

    #[test]
    fn inferred_fields_make_a_schema() {
        let elements = vec![leaf("a").id(2), group("s", 1), leaf("b"), leaf("c").id(2)];
        let bytes = TestFooter::new(3, elements).encode();
        let fields = infer_schema(&Footer::parse(&bytes).unwrap()).unwrap();
        assert_eq!(assign_ids(fields).unwrap().leaf_columns().len(), 3);
    }

    #[test]
    fn a_repeated_name_is_refused() {
        let error = |column: &str| Err(vec![SchemaInferenceError::DuplicateName { column: column.to_owned() }]);
        assert_eq!(inferred(&TestFooter::flat(vec![leaf("a"), leaf("a")])), error("a"));
        let nested = TestFooter::new(1, vec![group("s", 2), leaf("a"), leaf("a")]);
        assert_eq!(inferred(&nested), error("s.a"));
        assert!(inferred(&TestFooter::flat(vec![leaf("a"), leaf("A")])).is_ok());
    }

    #[test]
    fn a_type_that_a_table_cannot_have_is_refused() {
        let error = |file_type: &str| {
            Err(vec![SchemaInferenceError::UnsupportedType { column: "d".to_owned(), file_type: file_type.to_owned() }])
        };
        let decimal = TestElement::leaf("d", FIXED).length(32).decimal(60, 2);
        assert_eq!(inferred(&TestFooter::flat(vec![decimal])), error("decimal(60,2)"));
        let nothing = TestElement::leaf("d", FIXED).length(0);
        assert_eq!(inferred(&TestFooter::flat(vec![nothing])), error("fixed(0)"));
    }

    #[test]
    fn every_column_whose_type_is_not_told_is_named() {
        let null = |name: &str| leaf(name).logical(NULL);
        let list = [group("l", 1).converted(LIST), group("list", 1).repetition(REPEATED), null("element")];
        let file =
            TestFooter::new(4, [leaf("a"), null("b"), group("s", 1), null("c")].into_iter().chain(list).collect());
        let untyped = |column: &str| SchemaInferenceError::Untyped { column: column.to_owned() };
        assert_eq!(inferred(&file), Err(vec![untyped("b"), untyped("s.c"), untyped("l")]));
    }
}
