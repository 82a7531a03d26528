//! The columns that a request names: which there are, and what their names are in the schema where case does not count.

use std::collections::{BTreeMap, BTreeSet};

use prunus_catalog::Fault;
use prunus_catalog::schema::{Field, Schema, Type};
use prunus_statistics::FieldId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where the operands of an expression stand. What is no object there is a name.
pub(super) const OPERANDS: [&str; 4] = ["left", "right", "child", "term"];
/// Where the arguments of an operand stand.
const ARGUMENTS: &str = "arguments";
/// All fields of a schema by their paths, as Iceberg writes them.
pub(super) fn fields_of(schema: &Schema) -> BTreeMap<String, FieldId> {
    let mut fields = BTreeMap::new();
    schema.fields().iter().for_each(|field| add_field(field, "", &mut fields));
    fields
}

fn add_field(field: &Field, above: &str, fields: &mut BTreeMap<String, FieldId>) {
    let path = if above.is_empty() { field.name.clone() } else { format!("{above}.{}", field.name) };
    add_below(&field.field_type, &path, fields);
    fields.insert(path, field.id);
}

fn add_below(of: &Type, path: &str, fields: &mut BTreeMap<String, FieldId>) {
    let mut add_item = |name: &str, id: FieldId, item: &Type| {
        let path = format!("{path}.{name}");
        add_below(item, &path, fields);
        fields.insert(path, id);
    };
    match of {
        Type::Primitive(_) => {}
        Type::Struct(below) => below.iter().for_each(|field| add_field(field, path, fields)),
        Type::List { element_id, element } => add_item("element", *element_id, element),
        Type::Map { key_id, key, value_id, value } => {
            add_item("key", *key_id, key);
            add_item("value", *value_id, value);
        }
    }
}

/// What names mean where their case does not count.
pub(super) struct FoldedNames {
    by_folded: BTreeMap<String, Vec<String>>,
}

impl FoldedNames {
    pub(super) fn of(schema: &Schema) -> Self {
        let mut by_folded: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in fields_of(schema).into_keys() {
            by_folded.entry(path.to_lowercase()).or_default().push(path);
        }
        Self { by_folded }
    }

    /// The name as the schema has it. One that it does not have stays as it is, for whoever looks it up to say so.
    pub(super) fn exact(&self, at: &str, name: &str) -> Result<String, Box<Fault>> {
        match self.by_folded.get(&name.to_lowercase()).map(Vec::as_slice) {
            Some([only]) => Ok(only.clone()),
            Some([_, ..]) => {
                Err(Box::new(Fault::at(at, format!("`{name}` names several columns where case does not count"))))
            }
            Some([]) | None => Ok(name.to_owned()),
        }
    }
}

/// A column as a filter names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ColumnRef {
    /// By its path.
    Name(String),
    /// By its id.
    Id(i32),
}

impl ColumnRef {
    pub(super) fn of_names(names: &[String]) -> Vec<Self> {
        names.iter().cloned().map(Self::Name).collect()
    }
}

/// Where a filter names a column; a name can be changed.
pub(super) enum Mention<'e> {
    Name(&'e mut String),
    Id(i32),
}

impl Mention<'_> {
    fn to_ref(&self) -> ColumnRef {
        match self {
            Self::Name(name) => ColumnRef::Name((*name).clone()),
            Self::Id(id) => ColumnRef::Id(*id),
        }
    }
}

/// The fields of a schema, to be found by names.
pub(super) struct Fields {
    by_path: BTreeMap<String, FieldId>,
}

impl From<BTreeMap<String, FieldId>> for Fields {
    fn from(by_path: BTreeMap<String, FieldId>) -> Self {
        Self { by_path }
    }
}

impl Fields {
    pub(super) fn of(schema: &Schema) -> Self {
        Self { by_path: fields_of(schema) }
    }

    /// The fields that are named so, with what is inside them, and what they are inside of.
    pub(super) fn named(&self, columns: &[ColumnRef]) -> BTreeSet<FieldId> {
        let mut found = BTreeSet::new();
        for column in columns {
            match column {
                ColumnRef::Name(name) => self.add(name, &mut found),
                ColumnRef::Id(id) => {
                    let paths = self.by_path.iter().filter(|(_, field)| field.0 == *id);
                    paths.for_each(|(path, _)| self.add(path, &mut found));
                }
            }
        }
        found
    }

    /// The fields that a field is inside of, from the top down.
    pub(super) fn around(&self, path: &str) -> impl Iterator<Item = FieldId> {
        let above = path.match_indices('.').filter_map(|(end, _)| path.get(..end));
        above.filter_map(|path| self.by_path.get(path).copied())
    }

    fn add(&self, path: &str, found: &mut BTreeSet<FieldId>) {
        found.extend(self.around(path));
        found.extend(self.by_path.get(path));
        let inside = format!("{path}.");
        let below = self.by_path.range(inside.clone()..).take_while(|(path, _)| path.starts_with(&inside));
        found.extend(below.map(|(_, id)| *id));
    }

    /// All of them.
    pub(super) fn all(&self) -> BTreeSet<FieldId> {
        self.by_path.values().copied().collect()
    }

    /// A fault for each name that is no path.
    pub(super) fn unknown(&self, at: &'static str, names: &[String]) -> Vec<Fault> {
        let unknown = names.iter().filter(|name| !self.by_path.contains_key(*name));
        unknown.map(|name| Fault::at(at, format!("there is no column `{name}`"))).collect()
    }
}

/// The columns that an expression names.
pub(super) fn columns_in(expression: &mut Value) -> BTreeSet<ColumnRef> {
    let mut found = BTreeSet::new();
    visit_columns(expression, &mut |mention| _ = found.insert(mention.to_ref()));
    found
}

/// Looks at every column that an expression names, and may change its name.
pub(super) fn visit_columns(expression: &mut Value, visit: &mut impl FnMut(Mention<'_>)) {
    let Value::Object(members) = expression else { return };
    let (is_reference, id) = (is_of_type(members, &["reference"]), members.get("id").and_then(Value::as_i64));
    if is_reference && let (Some(id), None, None) = (id, members.get("name"), members.get("term")) {
        // One that is no `i32` is no column's.
        return i32::try_from(id).into_iter().for_each(|id| visit(Mention::Id(id)));
    }
    for (key, part) in members.iter_mut() {
        match part {
            Value::String(name) if OPERANDS.contains(&key.as_str()) || (is_reference && key == "name") => {
                visit(Mention::Name(name));
            }
            Value::Object(_) if OPERANDS.contains(&key.as_str()) => visit_columns(part, visit),
            Value::Array(arguments) if key == ARGUMENTS => {
                for argument in arguments {
                    visit_columns(argument, visit);
                }
            }
            _ => {}
        }
    }
}

pub(super) fn is_of_type(members: &Map<String, Value>, types: &[&str]) -> bool {
    let name = members.get("type").and_then(Value::as_str).map(|name| name.to_ascii_lowercase().replace('_', "-"));
    name.is_some_and(|name| types.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use prunus_statistics::PrimitiveType;
    use serde_json::json;

    use super::*;

    fn field(id: i32, name: &str, field_type: Type) -> Field {
        Field { id: FieldId(id), name: name.to_owned(), field_type, nullable: true, default: None, doc: None }
    }

    fn schema() -> Schema {
        let string = || Type::Primitive(PrimitiveType::String);
        let list = Type::List { element_id: FieldId(4), element: Box::new(string()) };
        Schema::new(vec![
            field(1, "City", string()),
            field(
                2,
                "place",
                Type::Struct(vec![field(3, "Tags", list), field(5, "x", string()), field(6, "X", string())]),
            ),
        ])
        .unwrap()
    }

    #[test]
    fn all_fields_have_a_path() {
        let paths: Vec<String> = fields_of(&schema()).into_keys().collect();
        assert_eq!(paths, ["City", "place", "place.Tags", "place.Tags.element", "place.X", "place.x"]);
    }

    #[test]
    fn a_name_is_found_whatever_its_case() {
        let names = FoldedNames::of(&schema());
        assert_eq!(names.exact("filter", "CITY").as_deref(), Ok("City"));
        assert_eq!(names.exact("filter", "Place.tags").as_deref(), Ok("place.Tags"));
        assert_eq!(names.exact("filter", "none").as_deref(), Ok("none"));
        assert!(names.exact("filter", "place.x").is_err());
    }

    #[test]
    fn names_are_found_in_both_forms_of_expressions_and_not_in_literals() {
        let transform = json!({"type": "transform", "transform": "bucket[4]", "term": "a"});
        let mut expression = json!({"type": "and",
            "left": {"type": "or", "left": {"type": "eq", "term": "b", "value": "term"},
                "right": {"type": "in", "term": transform, "values": ["c"]}},
            "right": {"type": "not", "child": {"type": "lt", "left": {"type": "reference", "name": "d"},
                "right": {"type": "literal", "value": {"term": "e"}}}}});
        let mut found = Vec::new();
        visit_columns(&mut expression, &mut |mention| {
            let Mention::Name(name) = mention else { return };
            found.push(name.clone());
            name.make_ascii_uppercase();
        });
        found.sort();
        assert_eq!(found, ["a", "b", "d"]);
        assert_eq!(expression["left"]["left"]["term"], "B");
        assert_eq!(expression["right"]["child"]["left"]["name"], "D");
    }

    fn names_of(mut expression: Value) -> Vec<String> {
        columns_in(&mut expression).iter().map(shown).collect()
    }

    fn shown(column: &ColumnRef) -> String {
        match column {
            ColumnRef::Name(name) => name.clone(),
            ColumnRef::Id(id) => format!("id {id}"),
        }
    }

    #[test]
    fn names_are_found_wherever_filters_may_have_them() {
        let literal = json!({"type": "literal", "value": 5});
        assert_eq!(names_of(json!({"type": "eq", "left": "a", "right": literal})), ["a"]);
        assert_eq!(names_of(json!({"type": "lt", "left": literal, "right": "b"})), ["b"]);
        assert_eq!(names_of(json!({"type": "is-null", "child": "c"})), ["c"]);
        assert_eq!(names_of(json!({"type": "is-null", "child": {"type": "reference", "term": "d"}})), ["d"]);
        assert_eq!(names_of(json!({"type": "is-null", "child": {"type": "REFERENCE", "id": 5}})), ["id 5"]);
        assert_eq!(names_of(json!({"type": "eq", "term": "#5", "value": 1})), ["#5"]);
        let apply = json!({"type": "apply", "function": "f", "arguments": [{"type": "reference", "name": "e"}]});
        assert_eq!(names_of(json!({"type": "eq", "left": apply, "right": literal})), ["e"]);
        assert_eq!(names_of(json!({"type": "eq", "term": "f", "value": "g"})), ["f"]);
    }

    #[test]
    fn a_name_means_what_is_inside_it_and_around_it() {
        let fields = Fields::of(&schema());
        let ids = |column: ColumnRef| -> Vec<i32> { fields.named(&[column]).into_iter().map(|id| id.0).collect() };
        let name = |name: &str| ColumnRef::Name(name.to_owned());
        assert_eq!(ids(name("City")), [1]);
        assert_eq!(ids(name("place")), [2, 3, 4, 5, 6]);
        assert_eq!(ids(name("place.Tags.element")), [2, 3, 4]);
        assert_eq!(ids(ColumnRef::Id(5)), [2, 5]);
        for nobody in [name("none"), name("#5"), ColumnRef::Id(9)] {
            assert_eq!(ids(nobody), Vec::<i32>::new());
        }
    }
}
