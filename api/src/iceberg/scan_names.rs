//! The names of columns in a request: which there are, and what they are in the schema where case does not count.

use std::collections::{BTreeMap, BTreeSet};

use prunus_catalog::Fault;
use prunus_catalog::schema::{Field, Schema, Type};
use prunus_statistics::FieldId;
use serde_json::{Map, Value};

/// Where the operands of an expression stand. What is no object there is a name.
const OPERANDS: [&str; 4] = ["left", "right", "child", "term"];
/// Where the arguments of an operand stand.
const ARGUMENTS: &str = "arguments";
/// What is made of other expressions.
const CONNECTIVES: [&str; 3] = ["and", "or", "not"];
/// The tests in which PyIceberg takes an integer beyond the range of `int` for the end of the range, or has it match nulls.
const MISREAD_TESTS: [&str; 6] = ["in", "not-in", "lt", "lt-eq", "gt", "gt-eq"];

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

    /// The fields that these names mean, which are paths or `#id`: with what is inside them, and what they are inside of.
    pub(super) fn named(&self, names: &[String]) -> BTreeSet<FieldId> {
        let mut found = BTreeSet::new();
        for name in names {
            if let Some(id) = id_of(name) {
                let paths = self.by_path.iter().filter(|(_, field)| **field == id).map(|(path, _)| path.as_str());
                paths.for_each(|path| self.add(path, &mut found));
            } else {
                self.add(name, &mut found);
            }
        }
        found
    }

    fn add(&self, path: &str, found: &mut BTreeSet<FieldId>) {
        let above = path.match_indices('.').filter_map(|(end, _)| path.get(..end)).chain([path]);
        found.extend(above.filter_map(|path| self.by_path.get(path)));
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

/// The id that a filter names a column by.
fn id_of(name: &str) -> Option<FieldId> {
    name.strip_prefix('#')?.parse().ok().map(FieldId)
}

/// Looks at, and may change, every name in an expression; what is named by its id is looked at as `#id`, and stays.
pub(super) fn visit_names(expression: &mut Value, visit: &mut impl FnMut(&mut String)) {
    let Value::Object(members) = expression else { return };
    let (is_reference, id) = (is_of_type(members, &["reference"]), members.get("id").cloned());
    if is_reference && let (Some(Value::Number(id)), None, None) = (id, members.get("name"), members.get("term")) {
        return visit(&mut format!("#{id}"));
    }
    for (key, part) in members.iter_mut() {
        match part {
            Value::String(name) if OPERANDS.contains(&key.as_str()) || (is_reference && key == "name") => visit(name),
            Value::Object(_) if OPERANDS.contains(&key.as_str()) => visit_names(part, visit),
            Value::Array(arguments) if key == ARGUMENTS => {
                for argument in arguments {
                    visit_names(argument, visit);
                }
            }
            _ => {}
        }
    }
}

fn is_of_type(members: &Map<String, Value>, types: &[&str]) -> bool {
    let name = members.get("type").and_then(Value::as_str).map(|name| name.to_ascii_lowercase().replace('_', "-"));
    name.is_some_and(|name| types.contains(&name.as_str()))
}

/// The names in the tests of an expression in which an integer beyond the range of `int` stands, and PyIceberg misreads it.
pub(super) fn names_beside_wide_integers(expression: &mut Value, found: &mut BTreeSet<String>) {
    let Value::Object(members) = expression else { return };
    if is_of_type(members, &CONNECTIVES) {
        for key in OPERANDS {
            if let Some(part) = members.get_mut(key) {
                names_beside_wide_integers(part, found);
            }
        }
    } else if is_of_type(members, &MISREAD_TESTS) && members.values().any(has_wide_integer) {
        visit_names(expression, &mut |name| {
            found.insert(name.clone());
        });
    }
}

fn has_wide_integer(json: &Value) -> bool {
    match json {
        Value::Number(number) if number.is_f64() => false,
        Value::Number(number) => number.as_i64().is_none_or(|value| i32::try_from(value).is_err()),
        Value::Array(parts) => parts.iter().any(has_wide_integer),
        Value::Object(members) => members.values().any(has_wide_integer),
        _ => false,
    }
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
        visit_names(&mut expression, &mut |name| {
            found.push(name.clone());
            name.make_ascii_uppercase();
        });
        found.sort();
        assert_eq!(found, ["a", "b", "d"]);
        assert_eq!(expression["left"]["left"]["term"], "B");
        assert_eq!(expression["right"]["child"]["left"]["name"], "D");
    }

    fn names_of(mut expression: Value) -> Vec<String> {
        let mut found = Vec::new();
        visit_names(&mut expression, &mut |name| found.push(name.clone()));
        found
    }

    #[test]
    fn names_are_found_wherever_filters_may_have_them() {
        let literal = json!({"type": "literal", "value": 5});
        assert_eq!(names_of(json!({"type": "eq", "left": "a", "right": literal})), ["a"]);
        assert_eq!(names_of(json!({"type": "lt", "left": literal, "right": "b"})), ["b"]);
        assert_eq!(names_of(json!({"type": "is-null", "child": "c"})), ["c"]);
        assert_eq!(names_of(json!({"type": "is-null", "child": {"type": "reference", "term": "d"}})), ["d"]);
        assert_eq!(names_of(json!({"type": "is-null", "child": {"type": "REFERENCE", "id": 5}})), ["#5"]);
        let apply = json!({"type": "apply", "function": "f", "arguments": [{"type": "reference", "name": "e"}]});
        assert_eq!(names_of(json!({"type": "eq", "left": apply, "right": literal})), ["e"]);
        assert_eq!(names_of(json!({"type": "eq", "term": "f", "value": "g"})), ["f"]);
    }

    #[test]
    fn a_name_means_what_is_inside_it_and_around_it() {
        let fields = Fields::of(&schema());
        let ids = |names: &[&str]| -> Vec<i32> {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            fields.named(&names).into_iter().map(|id| id.0).collect()
        };
        assert_eq!(ids(&["City"]), [1]);
        assert_eq!(ids(&["place"]), [2, 3, 4, 5, 6]);
        assert_eq!(ids(&["place.Tags.element"]), [2, 3, 4]);
        assert_eq!(ids(&["#5"]), [2, 5]);
        assert_eq!(ids(&["none", "#9"]), Vec::<i32>::new());
    }

    #[test]
    fn integers_that_do_not_fit_an_int_are_found_where_they_matter() {
        let of = |mut expression: Value| {
            let mut found = BTreeSet::new();
            names_beside_wide_integers(&mut expression, &mut found);
            found.into_iter().collect::<Vec<_>>()
        };
        let wide = 4_000_000_000_i64;
        assert_eq!(of(json!({"type": "not-in", "term": "a", "values": [1, wide]})), ["a"]);
        assert_eq!(of(json!({"type": "not", "child": {"type": "GT_EQ", "term": "a", "value": -wide}})), ["a"]);
        assert_eq!(
            of(
                json!({"type": "lt", "left": {"type": "reference", "name": "a"}, "right": {"type": "literal", "value": wide}})
            ),
            ["a"]
        );
        // Nothing equals it, in every reading.
        assert_eq!(of(json!({"type": "eq", "term": "a", "value": wide})), Vec::<String>::new());
        assert_eq!(of(json!({"type": "in", "term": "a", "values": [1, i32::MAX, i32::MIN]})), Vec::<String>::new());
        let and = json!({"type": "and", "left": {"type": "lt", "term": "a", "value": wide}, "right": {"type": "lt", "term": "b", "value": 1}});
        assert_eq!(of(and), ["a"]);
    }
}
