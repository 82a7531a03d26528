//! Schema evolution: a schema and changes of it make the next one, or faults. Pure.
//!
//! A field is its id. Its name, its place and (to one that holds all its values) its type may change; its default never does, and
//! its id is never given to another, so that a name that was dropped and added again is another column. Changes apply in their
//! order, each to what those before it made.

use std::fmt;

use prunus_pruner::nearest;
use prunus_statistics::{FieldId, PrimitiveType, Reading};

use crate::column_ref;
use crate::schema::{Field, MAX_FIELD_NAME_BYTES, NewField, Schema, SchemaError, Type, assign_ids_after};
use crate::{Error, Fault, Result};

/// The most changes of a schema that one request makes.
pub const MAX_SCHEMA_CHANGES: usize = 1_000;

/// A change of a schema. A column is named by a key: its name, its dotted path through structs, or `#id`; what is in a list or map
/// cannot be named.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaChange {
    /// A field more. Its name is a dotted path where it goes into a struct.
    Add {
        /// The field.
        field: NewField,
        /// Where it goes among its siblings.
        place: FieldPlace,
    },
    /// Another name.
    Rename {
        /// The column.
        column: String,
        /// Its new name, without those of the structs around it.
        to: String,
    },
    /// A field fewer, with all that is in it.
    Drop {
        /// The column.
        column: String,
    },
    /// A type that holds all values of the one before.
    Widen {
        /// The column.
        column: String,
        /// Its new type.
        to: PrimitiveType,
    },
    /// Rows may be null from now on.
    MakeNullable {
        /// The column.
        column: String,
    },
    /// Another place among its siblings.
    Move {
        /// The column.
        column: String,
        /// The place.
        place: FieldPlace,
    },
}

/// In a few words, without what is new in a field but its name.
impl fmt::Display for SchemaChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add { field, .. } => write!(f, "add {}", field.name),
            Self::Rename { column, to } => write!(f, "rename {column} to {to}"),
            Self::Drop { column } => write!(f, "drop {column}"),
            Self::Widen { column, to } => write!(f, "widen {column} to {to}"),
            Self::MakeNullable { column } => write!(f, "make {column} nullable"),
            Self::Move { column, .. } => write!(f, "move {column}"),
        }
    }
}

/// A place among siblings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldPlace {
    /// Before all others.
    First,
    /// Behind all others.
    Last,
    /// Behind this one: its name among its siblings, or a key of it.
    After(String),
}

/// A schema after changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Evolved {
    /// The schema.
    pub schema: Schema,
    /// The largest id that was ever given in the table.
    pub last_field_id: FieldId,
}

/// Applies changes to a schema. `last_field_id` is the largest id that was ever given in its table.
///
/// # Errors
/// [`Error::Invalid`] with a fault for each change that cannot be made; it names the change by its index, and the column.
pub fn evolve(schema: &Schema, last_field_id: FieldId, changes: &[SchemaChange]) -> Result<Evolved> {
    if changes.len() > MAX_SCHEMA_CHANGES {
        let message = format!("a request makes at most {MAX_SCHEMA_CHANGES} changes of a schema");
        return Err(Error::invalid(Fault::at("schema", message)));
    }
    let mut evolution = Evolution { fields: schema.fields().to_vec(), last_field_id };
    let mut faults = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        if let Err(message) = evolution.apply(change) {
            faults.push(Fault::at(format!("schema[{index}]"), message).in_column(change.column()));
        }
    }
    if !faults.is_empty() {
        return Err(Error::Invalid(faults));
    }
    let schema = Schema::new(evolution.fields).map_err(|error| Error::invalid(Fault::at("schema", error.to_string())));
    Ok(Evolved { schema: schema?, last_field_id: evolution.last_field_id })
}

impl SchemaChange {
    fn column(&self) -> &str {
        match self {
            Self::Add { field, .. } => &field.name,
            Self::Rename { column, .. }
            | Self::Drop { column }
            | Self::Widen { column, .. }
            | Self::MakeNullable { column }
            | Self::Move { column, .. } => column,
        }
    }
}

/// A schema that is being changed.
struct Evolution {
    fields: Vec<Field>,
    last_field_id: FieldId,
}

/// Where a field stands: the index of each struct on the way, then its own among its siblings.
struct Position {
    parents: Vec<usize>,
    index: usize,
}

/// What is wrong with a change, as a sentence.
type Refusal = String;

impl Evolution {
    fn apply(&mut self, change: &SchemaChange) -> Result<(), Refusal> {
        match change {
            SchemaChange::Add { field, place } => self.add(field, place),
            SchemaChange::Rename { column, to } => self.rename(column, to),
            SchemaChange::Drop { column } => self.drop_field(column),
            SchemaChange::Widen { column, to } => self.widen(column, *to),
            SchemaChange::MakeNullable { column } => {
                self.field(column)?.nullable = true;
                Ok(())
            }
            SchemaChange::Move { column, place } => self.move_field(column, place),
        }
    }

    fn add(&mut self, new: &NewField, place: &FieldPlace) -> Result<(), Refusal> {
        let mut parents = column_ref::parts(&new.name).ok_or("the name is no column's: its quotes are wrong")?;
        let name = parents.pop().unwrap_or_default();
        if !new.nullable && new.default.is_none() {
            return Err(
                "a column that is added may be null, or has a default: files that are there do not hold it".into()
            );
        }
        let (field, last_field_id) = assign_ids_after(NewField { name, ..new.clone() }, self.last_field_id)
            .map_err(|error| error.to_string())?;
        let siblings = if parents.is_empty() { &mut self.fields } else { struct_at(&mut self.fields, &parents)? };
        check_name(siblings.iter(), &field.name)?;
        let index = index_of(siblings, &parents, place)?;
        siblings.insert(index, field);
        self.last_field_id = last_field_id;
        Ok(())
    }

    fn rename(&mut self, column: &str, to: &str) -> Result<(), Refusal> {
        let (siblings, index) = self.siblings(column)?;
        let others = siblings.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, field)| field);
        check_name(others, to)?;
        to.clone_into(&mut siblings.get_mut(index).ok_or_else(|| unknown(&[], column))?.name);
        Ok(())
    }

    fn drop_field(&mut self, column: &str) -> Result<(), Refusal> {
        let (siblings, index) = self.siblings(column)?;
        if siblings.len() == 1 {
            return Err("a table, and a struct in it, keeps at least one column".to_owned());
        }
        siblings.remove(index);
        Ok(())
    }

    fn widen(&mut self, column: &str, to: PrimitiveType) -> Result<(), Refusal> {
        let field = self.field(column)?;
        let Type::Primitive(from) = field.field_type else {
            return Err("only a column of a primitive type can be widened".to_owned());
        };
        if from == to {
            return Ok(());
        }
        if !from.widens_to(to) {
            return Err(format!("{from} does not widen to {to}, which does not hold all its values in their order"));
        }
        // The same value, as it is stored in the new type.
        let same =
            |default| Reading::of(from, to).exactly(default).ok_or("the column's default has no place in the new type");
        field.default = field.default.as_ref().map(same).transpose()?;
        field.field_type = Type::Primitive(to);
        Ok(())
    }

    fn move_field(&mut self, column: &str, place: &FieldPlace) -> Result<(), Refusal> {
        let parents = self.parents_of(column)?;
        let (siblings, index) = self.siblings(column)?;
        let field = siblings.remove(index);
        match index_of(siblings, &parents, place) {
            Ok(to) => {
                siblings.insert(to, field);
                Ok(())
            }
            Err(refusal) => {
                siblings.insert(index, field);
                Err(refusal)
            }
        }
    }

    fn field(&mut self, column: &str) -> Result<&mut Field, Refusal> {
        let (siblings, index) = self.siblings(column)?;
        siblings.get_mut(index).ok_or_else(|| unknown(&[], column))
    }

    /// The fields beside a column, itself among them, and its place there.
    fn siblings(&mut self, column: &str) -> Result<(&mut Vec<Field>, usize), Refusal> {
        let Position { parents, index } = locate(&self.fields, column).ok_or_else(|| unknown(&self.fields, column))?;
        let mut siblings = &mut self.fields;
        for parent in parents {
            siblings = match siblings.get_mut(parent).map(|field| &mut field.field_type) {
                Some(Type::Struct(fields)) => fields,
                _ => return Err(unknown(&[], column)),
            };
        }
        Ok((siblings, index))
    }

    /// The names of the structs around a column.
    fn parents_of(&self, column: &str) -> Result<Vec<String>, Refusal> {
        let Position { parents, .. } = locate(&self.fields, column).ok_or_else(|| unknown(&self.fields, column))?;
        let (mut siblings, mut names) = (self.fields.as_slice(), Vec::new());
        for parent in parents {
            if let Some(Field { name, field_type: Type::Struct(fields), .. }) = siblings.get(parent) {
                names.push(name.clone());
                siblings = fields;
            }
        }
        Ok(names)
    }
}

/// What is wrong with a key that names no field that is reached through structs alone.
fn unknown(fields: &[Field], column: &str) -> Refusal {
    let mut keys = Vec::new();
    collect_keys(fields, &mut Vec::new(), &mut keys);
    let is_in_items = |key: &String| column.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with('.'));
    match keys.iter().find(|key| is_in_items(key) && locate(fields, key).is_some_and(|at| is_list_or_map(fields, &at)))
    {
        Some(key) => format!("what is in the list or map `{key}` cannot be changed"),
        None => column_ref::unknown_name(column, keys.iter().map(String::as_str)),
    }
}

fn is_list_or_map(fields: &[Field], Position { parents, index }: &Position) -> bool {
    let mut siblings = fields;
    for parent in parents {
        siblings = match siblings.get(*parent).map(|field| &field.field_type) {
            Some(Type::Struct(fields)) => fields,
            _ => return false,
        };
    }
    siblings.get(*index).is_some_and(|field| matches!(field.field_type, Type::List { .. } | Type::Map { .. }))
}

/// The keys of all fields that are reached through structs alone.
fn collect_keys(fields: &[Field], path: &mut Vec<String>, keys: &mut Vec<String>) {
    for field in fields {
        path.push(field.name.clone());
        keys.push(column_ref::key(path));
        if let Type::Struct(fields) = &field.field_type {
            collect_keys(fields, path, keys);
        }
        path.pop();
    }
}

fn locate(fields: &[Field], key: &str) -> Option<Position> {
    if let Some(id) = key.strip_prefix('#').and_then(|digits| digits.parse().ok()) {
        return locate_id(fields, FieldId(id));
    }
    let parts = column_ref::parts(key)?;
    let (mut siblings, mut indices) = (fields, Vec::new());
    for (depth, part) in parts.iter().enumerate() {
        let index = siblings.iter().position(|field| field.name == *part)?;
        indices.push(index);
        match siblings.get(index).map(|field| &field.field_type) {
            Some(Type::Struct(fields)) => siblings = fields,
            _ if depth + 1 < parts.len() => return None,
            _ => {}
        }
    }
    let index = indices.pop()?;
    Some(Position { parents: indices, index })
}

fn locate_id(fields: &[Field], id: FieldId) -> Option<Position> {
    fields.iter().enumerate().find_map(|(index, field)| match &field.field_type {
        _ if field.id == id => Some(Position { parents: Vec::new(), index }),
        Type::Struct(fields) => {
            let mut position = locate_id(fields, id)?;
            position.parents.insert(0, index);
            Some(position)
        }
        _ => None,
    })
}

fn struct_at<'f>(fields: &'f mut Vec<Field>, names: &[String]) -> Result<&'f mut Vec<Field>, Refusal> {
    let mut siblings = fields;
    for name in names {
        siblings = match siblings.iter_mut().find(|field| field.name == *name).map(|field| &mut field.field_type) {
            Some(Type::Struct(fields)) => fields,
            Some(_) => return Err(format!("`{name}` is no struct")),
            None => {
                return Err(format!("there is no struct `{name}`; a name that holds a dot stands in double quotes"));
            }
        };
    }
    Ok(siblings)
}

fn check_name<'f>(siblings: impl IntoIterator<Item = &'f Field>, name: &str) -> Result<(), Refusal> {
    if name.len() > MAX_FIELD_NAME_BYTES {
        return Err(SchemaError::NameTooLong(name.to_owned()).to_string());
    }
    if siblings.into_iter().any(|field| field.name == name) {
        return Err(format!("there is a column `{name}` already"));
    }
    Ok(())
}

/// The index that a place is among these siblings, which are in the structs of these names.
fn index_of(siblings: &[Field], parents: &[String], place: &FieldPlace) -> Result<usize, Refusal> {
    let key = match place {
        FieldPlace::First => return Ok(0),
        FieldPlace::Last => return Ok(siblings.len()),
        FieldPlace::After(key) => key,
    };
    let id = key.strip_prefix('#').and_then(|digits| digits.parse().ok()).map(FieldId);
    let name = column_ref::parts(key).and_then(|mut parts| {
        let name = parts.pop()?;
        (parts.is_empty() || parts == parents).then_some(name)
    });
    let is_it = |field: &Field| id.map_or_else(|| Some(&field.name) == name.as_ref(), |id| field.id == id);
    let found = siblings.iter().position(is_it);
    let suggestion = || {
        let name = nearest(key, siblings.iter().map(|field| field.name.as_str()));
        name.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
    };
    found
        .map(|index| index + 1)
        .ok_or_else(|| format!("there is no column `{key}` beside it to come after{}", suggestion()))
}

#[cfg(test)]
mod tests {
    use prunus_statistics::Value;

    use super::*;
    use crate::schema::{NewType, assign_ids};
    use crate::schema_json::FieldJson;

    fn new_fields(json: serde_json::Value) -> Vec<NewField> {
        let fields: Vec<FieldJson> = serde_json::from_value(json).unwrap();
        fields.iter().map(|field| field.to_new_field().unwrap()).collect()
    }

    /// `a` (1), `b` (2), and the struct `s` (3) of `x` (4) and `y` (5).
    fn schema() -> Schema {
        assign_ids(new_fields(serde_json::json!([
            {"name": "a", "type": "int32", "default": 7},
            {"name": "b", "type": "date", "nullable": false},
            {"name": "s", "type": {"type": "struct", "fields": [{"name": "x", "type": "float32"}, {"name": "y", "type": "decimal(9,2)"}]}},
        ])))
        .unwrap()
    }

    fn add(name: &str, place: FieldPlace) -> SchemaChange {
        let field_type = NewType::Primitive(PrimitiveType::Int64);
        let field = NewField { id: None, name: name.to_owned(), field_type, nullable: true, default: None, doc: None };
        SchemaChange::Add { field, place }
    }

    fn rename(column: &str, to: &str) -> SchemaChange {
        SchemaChange::Rename { column: column.to_owned(), to: to.to_owned() }
    }

    fn drop(column: &str) -> SchemaChange {
        SchemaChange::Drop { column: column.to_owned() }
    }

    fn widen(column: &str, to: &str) -> SchemaChange {
        SchemaChange::Widen { column: column.to_owned(), to: to.parse().unwrap() }
    }

    fn move_to(column: &str, place: FieldPlace) -> SchemaChange {
        SchemaChange::Move { column: column.to_owned(), place }
    }

    fn after(key: &str) -> FieldPlace {
        FieldPlace::After(key.to_owned())
    }

    fn evolved(changes: &[SchemaChange]) -> Evolved {
        evolve(&schema(), FieldId(5), changes).unwrap()
    }

    /// The leaves as `path:id`, in their order.
    fn leaves(changes: &[SchemaChange]) -> Vec<String> {
        let leaves = evolved(changes).schema.leaf_columns();
        leaves.iter().map(|leaf| format!("{}:{}", leaf.path.join("."), leaf.id.0)).collect()
    }

    fn refusals(changes: &[SchemaChange]) -> Vec<String> {
        match evolve(&schema(), FieldId(5), changes) {
            Err(Error::Invalid(faults)) => faults
                .into_iter()
                .map(|fault| format!("{} {}: {}", fault.at.unwrap(), fault.column.unwrap_or_default(), fault.message))
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_column_is_added_where_it_is_asked_for() {
        assert_eq!(leaves(&[add("n", FieldPlace::Last)]), ["a:1", "b:2", "s.x:4", "s.y:5", "n:6"]);
        assert_eq!(leaves(&[add("n", FieldPlace::First)]), ["n:6", "a:1", "b:2", "s.x:4", "s.y:5"]);
        assert_eq!(leaves(&[add("n", after("#1"))]), ["a:1", "n:6", "b:2", "s.x:4", "s.y:5"]);
        assert_eq!(leaves(&[add("s.n", after("x"))]), ["a:1", "b:2", "s.x:4", "s.n:6", "s.y:5"]);
        assert_eq!(leaves(&[add("s.n", after("s.x"))]), ["a:1", "b:2", "s.x:4", "s.n:6", "s.y:5"]);
        assert_eq!(leaves(&[add("\"s.n\"", FieldPlace::First)]), ["s.n:6", "a:1", "b:2", "s.x:4", "s.y:5"]);
    }

    #[test]
    fn an_id_is_never_given_again() {
        let changes = [drop("a"), add("a", FieldPlace::First), drop("a"), add("a", FieldPlace::First)];
        assert_eq!(leaves(&changes), ["a:7", "b:2", "s.x:4", "s.y:5"]);
        assert_eq!(evolved(&changes[..3]).last_field_id, FieldId(6));
    }

    #[test]
    fn an_id_may_be_asked_for_if_none_ever_had_it() {
        let with_id = |id| match add("n", FieldPlace::Last) {
            SchemaChange::Add { field, place } => {
                SchemaChange::Add { field: NewField { id: Some(FieldId(id)), ..field }, place }
            }
            other => other,
        };
        assert_eq!(evolved(&[with_id(9)]).last_field_id, FieldId(9));
        let refused = refusals(&[drop("a"), with_id(1), with_id(i32::MAX)]);
        let used = "schema[1] n: the id #1 is not above all that were ever given in the table";
        assert_eq!(refused, [used, "schema[2] n: the schema has more than 10000 fields"]);
    }

    #[test]
    fn a_column_without_a_value_for_old_files_is_refused() {
        let mut change = add("n", FieldPlace::Last);
        let SchemaChange::Add { field, .. } = &mut change else { panic!() };
        field.nullable = false;
        let message = "a column that is added may be null, or has a default: files that are there do not hold it";
        assert_eq!(refusals(&[change.clone()]), [format!("schema[0] n: {message}")]);
        let SchemaChange::Add { field, .. } = &mut change else { panic!() };
        field.default = Some(Value::Integer(1));
        assert!(!evolved(&[change]).schema.fields()[3].nullable);
    }

    #[test]
    fn changes_apply_in_their_order() {
        assert_eq!(leaves(&[rename("a", "t"), rename("b", "a"), rename("t", "b")]), ["b:1", "a:2", "s.x:4", "s.y:5"]);
        assert_eq!(leaves(&[rename("s", "t"), rename("t.x", "z")]), ["a:1", "b:2", "t.z:4", "t.y:5"]);
        assert_eq!(leaves(&[rename("#4", "z")]), ["a:1", "b:2", "s.z:4", "s.y:5"]);
    }

    #[test]
    fn a_column_moves_among_its_siblings() {
        assert_eq!(leaves(&[move_to("s", FieldPlace::First)]), ["s.x:4", "s.y:5", "a:1", "b:2"]);
        assert_eq!(leaves(&[move_to("a", after("b"))]), ["b:2", "a:1", "s.x:4", "s.y:5"]);
        assert_eq!(leaves(&[move_to("s.y", FieldPlace::First)]), ["a:1", "b:2", "s.y:5", "s.x:4"]);
        assert_eq!(
            refusals(&[move_to("s.y", after("a")), move_to("a", after("a"))]),
            [
                "schema[0] s.y: there is no column `a` beside it to come after",
                "schema[1] a: there is no column `a` beside it to come after",
            ]
        );
    }

    #[test]
    fn a_type_becomes_a_wider_one() {
        let changes =
            [widen("a", "int64"), widen("b", "timestamp(ms)"), widen("s.x", "float64"), widen("s.y", "decimal(20,2)")];
        let types: Vec<String> =
            evolved(&changes).schema.leaf_columns().iter().map(|leaf| leaf.column_type.to_string()).collect();
        assert_eq!(types, ["int64", "timestamp(ms)", "float64", "decimal(20,2)"]);
        assert_eq!(
            refusals(&[widen("a", "int16"), widen("s", "int64"), widen("s.y", "decimal(20,3)")]),
            [
                "schema[0] a: int32 does not widen to int16, which does not hold all its values in their order",
                "schema[1] s: only a column of a primitive type can be widened",
                "schema[2] s.y: decimal(9,2) does not widen to decimal(20,3), which does not hold all its values in their order",
            ]
        );
    }

    #[test]
    fn a_default_stays_the_same_value() {
        assert_eq!(evolved(&[widen("a", "int64")]).schema.fields()[0].default, Some(Value::Integer(7)));
        let json = serde_json::json!([{"name": "d", "type": "date", "default": "1970-01-02"}, {"name": "e", "type": "date", "default": "9999-12-31"}]);
        let dates = assign_ids(new_fields(json)).unwrap();
        let widened = evolve(&dates, FieldId(2), &[widen("d", "timestamp(s)")]).unwrap();
        assert_eq!(widened.schema.fields()[0].default, Some(Value::Integer(86_400)));
        assert!(evolve(&dates, FieldId(2), &[widen("e", "timestamp(ns)")]).is_err());
    }

    #[test]
    fn every_change_that_cannot_be_made_is_named() {
        assert_eq!(
            refusals(&[
                drop("z"),
                rename("a", "b"),
                add("a", FieldPlace::Last),
                add("t.n", FieldPlace::Last),
                add("a.n", FieldPlace::Last),
                drop("s.x"),
                drop("s.y"),
            ]),
            [
                "schema[0] z: unknown column `z`",
                "schema[1] a: there is a column `b` already",
                "schema[2] a: there is a column `a` already",
                "schema[3] t.n: there is no struct `t`; a name that holds a dot stands in double quotes",
                "schema[4] a.n: `a` is no struct",
                "schema[6] s.y: a table, and a struct in it, keeps at least one column",
            ]
        );
    }

    #[test]
    fn nullability_is_only_ever_given() {
        let change = SchemaChange::MakeNullable { column: "b".to_owned() };
        assert!(evolved(&[change]).schema.fields()[1].nullable);
    }

    #[test]
    fn a_request_makes_only_so_many_changes() {
        let changes = vec![rename("a", "a"); MAX_SCHEMA_CHANGES + 1];
        assert_eq!(leaves(&changes[1..])[0], "a:1");
        assert_eq!(refusals(&changes).len(), 1);
    }
}
