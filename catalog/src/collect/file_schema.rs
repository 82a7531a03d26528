//! The schema of a file: its elements as a tree and as leaves.

use prunus_statistics::{FieldId, PrimitiveType};

use super::annotation::Annotation;
use super::footer_error::{FooterError, SchemaTreeFault};
use super::leaf_type::{LeafType, StoredType};
use super::raw_footer::RawElement;

/// How deep the groups of a file may be nested.
pub const MAX_SCHEMA_DEPTH: usize = 128;
/// How many bytes the paths of all leaves may take together, each written out from the root.
pub const MAX_PATH_BYTES: usize = 64 * 1024 * 1024;

/// A leaf of a file's schema: what a column chunk of each row group holds the values of.
#[derive(Clone, Debug, PartialEq)]
pub struct FileLeaf {
    /// The names from the root down to the leaf, those of the groups that make up lists and maps included.
    pub path: Vec<String>,
    /// The field id as it stands in the file.
    pub field_id: Option<i32>,
    /// The field ids of the groups around it, from the root down; empty if none has one.
    pub group_ids: Vec<Option<i32>>,
    /// The type of the values. `None`: one that Prunus has no name for.
    pub column_type: Option<PrimitiveType>,
    /// Whether the leaf lies in a list or map, so that a row may have none or many of its values and counts of values are
    /// no counts of rows.
    pub repeated: bool,
    pub(super) stored: StoredType,
    /// Whether the type defines an order.
    pub(super) ordered: bool,
    /// Whether the file's structure allows nulls here.
    pub(super) nullable: bool,
    pub(super) annotation: Annotation,
    /// The definition level of a value that is there.
    pub(super) max_definition: u32,
    /// The repetition level of an element of the innermost list.
    pub(super) max_repetition: u32,
}

impl FileLeaf {
    /// The path for people: its names joined with dots.
    pub fn dotted_path(&self) -> String {
        self.path.join(".")
    }

    /// The type for people, also where Prunus has no such type.
    pub fn type_name(&self) -> String {
        match (self.column_type, self.annotation, self.stored) {
            (Some(column_type), ..) => column_type.to_string(),
            (None, Annotation::Decimal { precision, scale }, _) => format!("decimal({precision},{scale})"),
            (None, _, stored) => format!("{stored:?}").to_lowercase(),
        }
    }

    /// Whether the format says that only nulls are stored.
    pub(super) fn holds_only_nulls(&self) -> bool {
        self.annotation == Annotation::Null
    }
}

/// How often an element occurs in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repetition {
    Required,
    Optional,
    Repeated,
}

/// A column or group of the file.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) name: &'a str,
    /// The field id, if it can serve as one: it is above 0 and no other element has it.
    pub(super) field_id: Option<FieldId>,
    pub(super) repetition: Repetition,
    pub(super) content: Content<'a>,
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// A leaf, by its index.
    Leaf(usize),
    Group {
        annotation: Annotation,
        children: Vec<Node<'a>>,
    },
}

/// The tree and its leaves, in the order of the file.
#[derive(Debug)]
pub(super) struct FileSchema<'a> {
    pub(super) fields: Vec<Node<'a>>,
    pub(super) leaves: Vec<FileLeaf>,
    /// The ids that more than one element has, in order.
    shared_ids: Vec<i32>,
}

impl<'a> FileSchema<'a> {
    /// The tree whose elements these are, listed parents first.
    pub(super) fn build(elements: &[RawElement<'a>]) -> Result<Self, FooterError> {
        let (root, rest) = elements.split_first().ok_or(SchemaTreeFault::Empty)?;
        let mut builder = Builder {
            rest: rest.iter(),
            leaves: Vec::new(),
            path: Vec::new(),
            group_ids: Vec::new(),
            path_bytes: 0,
            shared_ids: shared_ids(rest),
        };
        let around = Around { repetition: 0, definition: 0, unordered: false };
        let children = child_count(root.name, root.children.unwrap_or(0))?;
        let fields = builder.children(root.name, children, around)?;
        match builder.rest.len() {
            0 => Ok(Self { fields, leaves: builder.leaves, shared_ids: builder.shared_ids }),
            extra => Err(SchemaTreeFault::ExtraElements(extra).into()),
        }
    }

    /// Whether more than one element has this id. Which of them a reader takes for the field is then up to the reader.
    pub(super) fn is_shared(&self, id: FieldId) -> bool {
        self.shared_ids.binary_search(&id.0).is_ok()
    }
}

/// The ids that more than one element has, in order.
fn shared_ids(elements: &[RawElement<'_>]) -> Vec<i32> {
    let mut ids: Vec<i32> = elements.iter().filter_map(|element| element.field_id).collect();
    ids.sort_unstable();
    let mut shared: Vec<i32> =
        ids.windows(2).filter_map(|pair| if let [a, b] = pair { (a == b).then_some(*a) } else { None }).collect();
    shared.dedup();
    shared
}

fn child_count(name: &str, children: i32) -> Result<usize, SchemaTreeFault> {
    usize::try_from(children).map_err(|_| SchemaTreeFault::NeitherColumnNorGroup(name.to_owned()))
}

/// What the groups around an element make of the leaves in it.
#[derive(Clone, Copy)]
struct Around {
    /// How many of them are repeated.
    repetition: u32,
    /// How many of them are not required.
    definition: u32,
    unordered: bool,
}

impl Around {
    fn and(self, repetition: Repetition) -> Self {
        Self {
            repetition: self.repetition + u32::from(repetition == Repetition::Repeated),
            definition: self.definition + u32::from(repetition != Repetition::Required),
            unordered: self.unordered,
        }
    }
}

struct Builder<'e, 'a> {
    rest: std::slice::Iter<'e, RawElement<'a>>,
    leaves: Vec<FileLeaf>,
    path: Vec<&'a str>,
    group_ids: Vec<Option<i32>>,
    path_bytes: usize,
    shared_ids: Vec<i32>,
}

impl<'a> Builder<'_, 'a> {
    fn children(&mut self, parent: &str, count: usize, around: Around) -> Result<Vec<Node<'a>>, FooterError> {
        let mut nodes = Vec::new();
        for _ in 0..count {
            let element = self.rest.next().ok_or_else(|| SchemaTreeFault::MissingChildren(parent.to_owned()))?;
            nodes.push(self.node(element, around)?);
        }
        Ok(nodes)
    }

    fn node(&mut self, element: &RawElement<'a>, around: Around) -> Result<Node<'a>, FooterError> {
        let repetition = match element.repetition {
            Some(0) => Repetition::Required,
            Some(1) => Repetition::Optional,
            Some(2) => Repetition::Repeated,
            _ => return Err(SchemaTreeFault::NoRepetition(element.name.to_owned()).into()),
        };
        let mut around = around.and(repetition);
        if self.path.len() == MAX_SCHEMA_DEPTH {
            return Err(SchemaTreeFault::TooDeep.into());
        }
        self.path.push(element.name);
        let content = match (element.physical_type, element.children) {
            (Some(code), None | Some(0)) => self.leaf(element, code, around)?,
            (None, Some(children)) => {
                // The parts of a variant, or of what is newer than this program, have no meaning of their own.
                around.unordered |= element.annotation == Annotation::Unordered;
                let count = child_count(element.name, children)?;
                self.group_ids.push(element.field_id);
                let children = self.children(element.name, count, around)?;
                self.group_ids.pop();
                Content::Group { annotation: element.annotation, children }
            }
            _ => return Err(SchemaTreeFault::NeitherColumnNorGroup(element.name.to_owned()).into()),
        };
        self.path.pop();
        Ok(Node { name: element.name, field_id: self.usable_id(element.field_id), repetition, content })
    }

    fn usable_id(&self, field_id: Option<i32>) -> Option<FieldId> {
        field_id.filter(|id| *id > 0 && self.shared_ids.binary_search(id).is_err()).map(FieldId)
    }

    fn leaf(&mut self, element: &RawElement<'a>, code: i32, around: Around) -> Result<Content<'a>, FooterError> {
        self.path_bytes += self.path.iter().map(|name| name.len() + size_of::<String>()).sum::<usize>();
        if self.path_bytes > MAX_PATH_BYTES {
            return Err(SchemaTreeFault::PathsTooLong.into());
        }
        if let Annotation::Decimal { precision, scale } = element.annotation
            && (precision < 1 || !(0..=precision).contains(&scale))
        {
            return Err(FooterError::ImpossibleDecimal { column: self.path.join("."), precision, scale });
        }
        let stored = stored_type(element, code)?;
        let leaf_type = LeafType::of(stored, element.annotation);
        let index = self.leaves.len();
        self.leaves.push(FileLeaf {
            path: self.path.iter().map(|name| (*name).to_owned()).collect(),
            field_id: element.field_id,
            group_ids: if self.group_ids.iter().any(Option::is_some) { self.group_ids.clone() } else { Vec::new() },
            column_type: leaf_type.column_type,
            repeated: around.repetition > 0,
            stored,
            ordered: leaf_type.ordered && !around.unordered,
            nullable: around.definition > 0,
            annotation: element.annotation,
            max_definition: around.definition,
            max_repetition: around.repetition,
        });
        Ok(Content::Leaf(index))
    }
}

fn stored_type(element: &RawElement<'_>, code: i32) -> Result<StoredType, SchemaTreeFault> {
    Ok(match code {
        0 => StoredType::Boolean,
        1 => StoredType::Int32,
        2 => StoredType::Int64,
        3 => StoredType::Int96,
        4 => StoredType::Float,
        5 => StoredType::Double,
        6 => StoredType::ByteArray,
        7 => {
            let length = element.type_length.and_then(|length| u32::try_from(length).ok());
            StoredType::Fixed(length.ok_or_else(|| SchemaTreeFault::NoLength(element.name.to_owned()))?)
        }
        _ => return Err(SchemaTreeFault::UnknownPhysicalType { name: element.name.to_owned(), code }),
    })
}

impl From<SchemaTreeFault> for FooterError {
    fn from(fault: SchemaTreeFault) -> Self {
        Self::SchemaTree { fault }
    }
}
