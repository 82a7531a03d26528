//! A table's schema: fields with ids that are assigned once and never given to another field.

mod items;

use std::collections::BTreeSet;

use prunus_statistics::{FieldId, PrimitiveType, Value};

pub(crate) use items::items_of;

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A leaf.
    Primitive(PrimitiveType),
    /// Named fields.
    Struct(Vec<Field>),
    /// A list of elements of one type.
    List {
        /// The id of the element.
        element_id: FieldId,
        /// The type of the element.
        element: Box<Type>,
    },
    /// A map.
    Map {
        /// The id of the key.
        key_id: FieldId,
        /// The type of the key.
        key: Box<Type>,
        /// The id of the value.
        value_id: FieldId,
        /// The type of the value.
        value: Box<Type>,
    },
}

/// A field of a schema or of a struct in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its identity through renames.
    pub id: FieldId,
    /// Its name, unique among its siblings.
    pub name: String,
    /// Its type.
    pub field_type: Type,
    /// Whether rows may be null. A wish of the table's owner, never a proof about a file.
    pub nullable: bool,
    /// What rows of files without the field read as; null where there is none. Never changes.
    pub default: Option<Value>,
    /// A note for people.
    pub doc: Option<String>,
}

/// A column that carries statistics: a leaf that is reached through structs alone, so that it has one value per row; or one that
/// lies in a list or map, see [`Schema::item_columns`].
#[derive(Clone, Debug, PartialEq)]
pub struct LeafColumn {
    /// The id of the leaf.
    pub id: FieldId,
    /// The names from the top down to the leaf.
    pub path: Vec<String>,
    /// The type of the leaf.
    pub column_type: PrimitiveType,
    /// What rows of files without the column read as.
    pub default: Option<Value>,
    /// Whether neither the leaf nor a struct around it may be null, so that a file must hold it.
    pub required: bool,
}

/// A schema that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Two fields beside each other have one name.
    #[error("two fields are named `{0}`")]
    DuplicateName(String),
    /// Two fields have one id.
    #[error("two fields have the id {0}")]
    DuplicateId(FieldId),
    /// An id that some field has or had.
    #[error("the id {0} is not above all that were ever given in the table")]
    UsedId(FieldId),
    /// An id that is not positive.
    #[error("field `{name}` has the id {}, which is not above 0", id.0)]
    BadId {
        /// The name of the field.
        name: String,
        /// The id.
        id: FieldId,
    },
    /// A name that cannot be written in a filter or listing.
    #[error("field name {0:?} is longer than {MAX_FIELD_NAME_BYTES} bytes")]
    NameTooLong(String),
    /// Too many fields.
    #[error("the schema has more than {MAX_FIELDS} fields")]
    TooManyFields,
    /// Structs, lists and maps inside each other too deeply.
    #[error("the schema is nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// A default that is no value of the field's type.
    #[error("the default of field `{0}` is not a value of its type")]
    BadDefault(String),
    /// A nested field cannot have a default.
    #[error("field `{0}` is not of a primitive type and cannot have a default")]
    NestedDefault(String),
}

/// The longest name of a field.
pub const MAX_FIELD_NAME_BYTES: usize = 1024;
/// The most fields that a schema has, nested ones counted.
pub const MAX_FIELDS: usize = 10_000;
/// How deep structs, lists and maps may be nested.
pub const MAX_DEPTH: usize = 64;

/// The fields of a table. Names are unique among siblings, ids are unique and above 0, defaults are of their type.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    fields: Vec<Field>,
}

impl Schema {
    /// A schema of these fields.
    ///
    /// # Errors
    /// [`SchemaError`] if names or ids repeat, if an id is not above 0, or if a limit is passed.
    pub fn new(fields: Vec<Field>) -> Result<Self, SchemaError> {
        match Checked::of(&fields).errors.into_iter().next() {
            Some(first) => Err(first),
            None => Ok(Self { fields }),
        }
    }

    /// The top-level fields in their order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The columns that carry statistics and have one value per row, in the order of the schema.
    pub fn leaf_columns(&self) -> Vec<LeafColumn> {
        let mut leaves = Vec::new();
        collect_leaves(&self.fields, &mut Vec::new(), true, &mut leaves);
        leaves
    }

    /// The largest id in use, 0 for no fields.
    pub fn last_field_id(&self) -> FieldId {
        fn largest(field_type: &Type) -> i32 {
            match field_type {
                Type::Primitive(_) => 0,
                Type::Struct(fields) => fields.iter().map(largest_of).max().unwrap_or(0),
                Type::List { element_id, element } => element_id.0.max(largest(element)),
                Type::Map { key_id, key, value_id, value } => {
                    key_id.0.max(value_id.0).max(largest(key)).max(largest(value))
                }
            }
        }
        fn largest_of(field: &Field) -> i32 {
            field.id.0.max(largest(&field.field_type))
        }
        FieldId(self.fields.iter().map(largest_of).max().unwrap_or(0))
    }
}

/// What is found of fields that are to make a schema.
#[derive(Default)]
struct Checked {
    ids: BTreeSet<FieldId>,
    errors: Vec<SchemaError>,
}

impl Checked {
    fn of(fields: &[Field]) -> Self {
        let mut checked = Self::default();
        checked.fields(fields, 0);
        if checked.ids.len() > MAX_FIELDS {
            checked.errors.push(SchemaError::TooManyFields);
        }
        checked
    }

    fn fields(&mut self, fields: &[Field], depth: usize) {
        let mut names = BTreeSet::new();
        for field in fields {
            // More are not looked at.
            if self.ids.len() > MAX_FIELDS {
                return;
            }
            if field.name.len() > MAX_FIELD_NAME_BYTES {
                self.errors.push(SchemaError::NameTooLong(field.name.clone()));
            }
            if !names.insert(&field.name) {
                self.errors.push(SchemaError::DuplicateName(field.name.clone()));
            }
            self.id(field.id, &field.name);
            match (&field.default, &field.field_type) {
                (Some(value), Type::Primitive(column_type)) if !value.fits(*column_type) => {
                    self.errors.push(SchemaError::BadDefault(field.name.clone()));
                }
                (Some(_), Type::Struct(_) | Type::List { .. } | Type::Map { .. }) => {
                    self.errors.push(SchemaError::NestedDefault(field.name.clone()));
                }
                _ => {}
            }
            self.field_type(&field.field_type, &field.name, depth + 1);
        }
    }

    fn field_type(&mut self, field_type: &Type, name: &str, depth: usize) {
        if depth > MAX_DEPTH {
            self.errors.push(SchemaError::TooDeep);
            return;
        }
        match field_type {
            Type::Primitive(_) => {}
            Type::Struct(fields) => self.fields(fields, depth),
            Type::List { element_id, element } => {
                self.id(*element_id, name);
                self.field_type(element, name, depth + 1);
            }
            Type::Map { key_id, key, value_id, value } => {
                self.id(*key_id, name);
                self.id(*value_id, name);
                self.field_type(key, name, depth + 1);
                self.field_type(value, name, depth + 1);
            }
        }
    }

    fn id(&mut self, id: FieldId, name: &str) {
        if id.0 <= 0 {
            self.errors.push(SchemaError::BadId { name: name.to_owned(), id });
        } else if !self.ids.insert(id) {
            self.errors.push(SchemaError::DuplicateId(id));
        }
    }
}

fn collect_leaves(fields: &[Field], path: &mut Vec<String>, required: bool, leaves: &mut Vec<LeafColumn>) {
    for field in fields {
        path.push(field.name.clone());
        let required = required && !field.nullable;
        match &field.field_type {
            Type::Primitive(column_type) => leaves.push(LeafColumn {
                id: field.id,
                path: path.clone(),
                column_type: *column_type,
                default: field.default.clone(),
                required,
            }),
            Type::Struct(fields) => collect_leaves(fields, path, required, leaves),
            Type::List { .. } | Type::Map { .. } => {}
        }
        path.pop();
    }
}

/// A field as a client asks for it: ids may be missing.
#[derive(Clone, Debug, PartialEq)]
pub struct NewField {
    /// The wished id.
    pub id: Option<FieldId>,
    /// The name.
    pub name: String,
    /// The type.
    pub field_type: NewType,
    /// Whether rows may be null.
    pub nullable: bool,
    /// What rows of files without the field read as.
    pub default: Option<Value>,
    /// A note for people.
    pub doc: Option<String>,
}

/// A type as a client asks for it: ids may be missing.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the same as `Type`, with optional ids")]
pub enum NewType {
    Primitive(PrimitiveType),
    Struct(Vec<NewField>),
    List { element_id: Option<FieldId>, element: Box<NewType> },
    Map { key_id: Option<FieldId>, key: Box<NewType>, value_id: Option<FieldId>, value: Box<NewType> },
}

/// Gives every field without an id the next free one: ids that were asked for stay, and none is given twice.
///
/// # Errors
/// [`SchemaError`] as [`Schema::new`].
pub fn assign_ids(fields: Vec<NewField>) -> Result<Schema, SchemaError> {
    let mut next = Ids { last: largest_asked_for(&fields) };
    Schema::new(next.fields(fields, 0)?)
}

/// The same with all that is wrong with the fields.
///
/// # Errors
/// Every [`SchemaError`], at least one.
pub(crate) fn assign_ids_or_all(fields: Vec<NewField>) -> Result<Schema, Vec<SchemaError>> {
    let mut next = Ids { last: largest_asked_for(&fields) };
    let fields = next.fields(fields, 0).map_err(|error| vec![error])?;
    let errors = Checked::of(&fields).errors;
    if errors.is_empty() { Ok(Schema { fields }) } else { Err(errors) }
}

/// Gives a field, and those in it, ids above `last`, and says which is the last one now. Ids that were asked for stay.
///
/// # Errors
/// [`SchemaError::UsedId`] for an id that was asked for and is not above `last`; [`SchemaError::TooManyFields`] if there are no
/// more ids; [`SchemaError::TooDeep`].
pub fn assign_ids_after(field: NewField, last: FieldId) -> Result<(Field, FieldId), SchemaError> {
    if let Some(used) = asked_for(std::slice::from_ref(&field)).into_iter().find(|id| *id <= last) {
        return Err(SchemaError::UsedId(used));
    }
    let mut next = Ids { last: last.0.max(largest_asked_for(std::slice::from_ref(&field))) };
    let fields = next.fields(vec![field], 0)?;
    let has_room = next.last < i32::MAX;
    let field = fields.into_iter().next().filter(|_| has_room).ok_or(SchemaError::TooManyFields)?;
    Ok((field, FieldId(next.last)))
}

fn asked_for(fields: &[NewField]) -> Vec<FieldId> {
    fn of_type(new_type: &NewType) -> Vec<FieldId> {
        match new_type {
            NewType::Primitive(_) => Vec::new(),
            NewType::Struct(fields) => asked_for(fields),
            NewType::List { element_id, element } => element_id.iter().copied().chain(of_type(element)).collect(),
            NewType::Map { key_id, key, value_id, value } => {
                let ids = [*key_id, *value_id].into_iter().flatten();
                ids.chain(of_type(key)).chain(of_type(value)).collect()
            }
        }
    }
    fields.iter().flat_map(|field| field.id.into_iter().chain(of_type(&field.field_type))).collect()
}

fn largest_asked_for(fields: &[NewField]) -> i32 {
    fn of_type(new_type: &NewType) -> i32 {
        match new_type {
            NewType::Primitive(_) => 0,
            NewType::Struct(fields) => largest_asked_for(fields),
            NewType::List { element_id, element } => element_id.map_or(0, |id| id.0).max(of_type(element)),
            NewType::Map { key_id, key, value_id, value } => [*key_id, *value_id]
                .into_iter()
                .flatten()
                .map(|id| id.0)
                .chain([of_type(key), of_type(value)])
                .max()
                .unwrap_or(0),
        }
    }
    fields.iter().map(|field| field.id.map_or(0, |id| id.0).max(of_type(&field.field_type))).max().unwrap_or(0)
}

struct Ids {
    last: i32,
}

impl Ids {
    fn id(&mut self, wished: Option<FieldId>) -> FieldId {
        wished.unwrap_or_else(|| {
            self.last = self.last.saturating_add(1);
            FieldId(self.last)
        })
    }

    fn fields(&mut self, fields: Vec<NewField>, depth: usize) -> Result<Vec<Field>, SchemaError> {
        let ids: Vec<FieldId> = fields.iter().map(|field| self.id(field.id)).collect();
        fields
            .into_iter()
            .zip(ids)
            .map(|(field, id)| {
                let NewField { name, field_type, nullable, default, doc, .. } = field;
                Ok(Field { id, name, field_type: self.field_type(field_type, depth + 1)?, nullable, default, doc })
            })
            .collect()
    }

    fn field_type(&mut self, new_type: NewType, depth: usize) -> Result<Type, SchemaError> {
        if depth > MAX_DEPTH {
            return Err(SchemaError::TooDeep);
        }
        Ok(match new_type {
            NewType::Primitive(column_type) => Type::Primitive(column_type),
            NewType::Struct(fields) => Type::Struct(self.fields(fields, depth)?),
            NewType::List { element_id, element } => {
                Type::List { element_id: self.id(element_id), element: Box::new(self.field_type(*element, depth + 1)?) }
            }
            NewType::Map { key_id, key, value_id, value } => Type::Map {
                key_id: self.id(key_id),
                value_id: self.id(value_id),
                key: Box::new(self.field_type(*key, depth + 1)?),
                value: Box::new(self.field_type(*value, depth + 1)?),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(name: &str, id: Option<i32>) -> NewField {
        nested(name, id, NewType::Primitive(PrimitiveType::Int64))
    }

    fn nested(name: &str, id: Option<i32>, field_type: NewType) -> NewField {
        NewField { id: id.map(FieldId), name: name.to_owned(), field_type, nullable: true, default: None, doc: None }
    }

    #[test]
    fn fields_without_id_get_the_next_free_one() {
        let inner = NewType::Struct(vec![leaf("x", None), leaf("y", Some(7))]);
        let list = NewType::List { element_id: None, element: Box::new(NewType::Primitive(PrimitiveType::Date)) };
        let schema =
            assign_ids(vec![leaf("a", None), leaf("b", Some(3)), nested("s", None, inner), nested("l", None, list)])
                .unwrap();
        let ids: Vec<i32> = schema.fields().iter().map(|field| field.id.0).collect();
        assert_eq!(ids, [8, 3, 9, 10]);
        let leaves: Vec<(String, i32)> =
            schema.leaf_columns().iter().map(|leaf| (leaf.path.join("."), leaf.id.0)).collect();
        let expected = [("a", 8), ("b", 3), ("s.x", 11), ("s.y", 7)].map(|(path, id)| (path.to_owned(), id));
        assert_eq!(leaves, expected);
        assert_eq!(schema.last_field_id(), FieldId(12));
    }

    #[test]
    fn impossible_schemas_are_refused() {
        let check = |fields, expected| assert_eq!(assign_ids(fields), Err(expected));
        check(vec![leaf("a", None), leaf("a", None)], SchemaError::DuplicateName("a".to_owned()));
        check(vec![leaf("a", Some(1)), leaf("b", Some(1))], SchemaError::DuplicateId(FieldId(1)));
        check(vec![leaf("a", Some(0))], SchemaError::BadId { name: "a".to_owned(), id: FieldId(0) });
        let mut with_default = leaf("a", None);
        with_default.default = Some(Value::Boolean(true));
        check(vec![with_default], SchemaError::BadDefault("a".to_owned()));
        check(vec![leaf(&"n".repeat(1025), None)], SchemaError::NameTooLong("n".repeat(1025)));
        let deep = (0..70).fold(NewType::Primitive(PrimitiveType::Date), |inner, _| NewType::List {
            element_id: None,
            element: Box::new(inner),
        });
        check(vec![nested("d", None, deep)], SchemaError::TooDeep);
    }

    #[test]
    fn names_that_differ_by_case_are_two_fields() {
        assert!(assign_ids(vec![leaf("id", None), leaf("ID", None)]).is_ok());
    }
}
