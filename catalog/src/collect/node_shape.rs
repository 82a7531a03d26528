//! What a node of a file's schema is in a table: a leaf, a struct, a list or a map.
//!
//! Parquet has groups and repetition only; lists and maps are groups of an agreed form, in several generations. The rules
//! are those of the format's LogicalTypes.md. A group that is annotated but has not the form is a struct.

use prunus_statistics::FieldId;

use super::annotation::Annotation;
use super::file_schema::{Content, Node, Repetition};

/// What a node is.
#[derive(Debug)]
pub(super) enum Shape<'n, 'a> {
    /// A leaf, by its index.
    Leaf(usize),
    Struct(&'n [Node<'a>]),
    List(Element<'n, 'a>),
    Map {
        key: &'n Node<'a>,
        value: &'n Node<'a>,
    },
}

/// The element of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Element<'n, 'a> {
    /// One occurrence of the field itself, which repeats.
    Itself(&'n Node<'a>),
    /// One occurrence of a repeated node in the field.
    Occurrence(&'n Node<'a>),
    /// A node of its own, which may be null.
    Whole(&'n Node<'a>),
}

impl<'n, 'a> Element<'n, 'a> {
    /// Its own field id: a field that repeats has one for both.
    pub(super) fn field_id(self) -> Option<FieldId> {
        match self {
            Self::Itself(_) => None,
            Self::Occurrence(node) | Self::Whole(node) => node.field_id,
        }
    }

    pub(super) fn shape(self) -> Shape<'n, 'a> {
        match self {
            Self::Itself(node) | Self::Occurrence(node) => node.occurrence_shape(),
            Self::Whole(node) => node.shape(),
        }
    }
}

impl Shape<'_, '_> {
    /// The word for it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Leaf(_) => "a single value",
            Self::Struct(_) => "a struct",
            Self::List(_) => "a list",
            Self::Map { .. } => "a map",
        }
    }
}

impl<'a> Node<'a> {
    pub(super) fn shape(&self) -> Shape<'_, 'a> {
        match self.repetition {
            Repetition::Repeated => Shape::List(Element::Itself(self)),
            Repetition::Required | Repetition::Optional => self.occurrence_shape(),
        }
    }

    fn occurrence_shape(&self) -> Shape<'_, 'a> {
        match &self.content {
            Content::Leaf(index) => Shape::Leaf(*index),
            Content::Group { annotation, children } => match (annotation, children.as_slice()) {
                (Annotation::List, [repeated]) if repeated.is_repeated() => {
                    Shape::List(list_element(self.name, repeated))
                }
                (Annotation::Map, [entries]) if entries.is_repeated() => map_of(entries),
                (_, children) => Shape::Struct(children),
            },
        }
    }

    fn is_repeated(&self) -> bool {
        self.repetition == Repetition::Repeated
    }
}

/// Three levels, of which the middle one only repeats; or two, where the repeated one is the element itself.
fn list_element<'n, 'a>(list_name: &str, repeated: &'n Node<'a>) -> Element<'n, 'a> {
    match &repeated.content {
        Content::Group { children, .. } => match children.as_slice() {
            [only] if !only.is_repeated() && !names_an_element(repeated.name, list_name) => Element::Whole(only),
            _ => Element::Occurrence(repeated),
        },
        Content::Leaf(_) => Element::Occurrence(repeated),
    }
}

/// Names that older writers gave to a repeated group which is the element.
fn names_an_element(name: &str, list_name: &str) -> bool {
    name == "array" || name.strip_suffix("_tuple") == Some(list_name)
}

/// Keys and values; a map without values is a list of what it has.
fn map_of<'n, 'a>(entries: &'n Node<'a>) -> Shape<'n, 'a> {
    if let Content::Group { children, .. } = &entries.content
        && let [key, value] = children.as_slice()
    {
        return Shape::Map { key, value };
    }
    Shape::List(Element::Occurrence(entries))
}
