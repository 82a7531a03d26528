//! The names of columns in a request: which there are, and what they are in the schema where case does not count.

use std::collections::BTreeMap;

use prunus_catalog::Fault;
use prunus_catalog::schema::{Field, Schema, Type};
use prunus_statistics::FieldId;
use serde_json::Value;

/// Where the parts of an expression stand that may name columns; literals stand elsewhere.
const PARTS: [&str; 5] = ["left", "right", "child", "term", "arguments"];

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

/// Looks at, and may change, every name in an expression.
pub(super) fn visit_names(expression: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match expression {
        Value::Array(parts) => parts.iter_mut().for_each(|part| visit_names(part, visit)),
        Value::Object(members) => {
            let is_reference = members.get("type").and_then(Value::as_str) == Some("reference");
            for (key, part) in members.iter_mut() {
                match part {
                    Value::String(name) if key == "term" || (is_reference && key == "name") => visit(name),
                    part if PARTS.contains(&key.as_str()) => visit_names(part, visit),
                    _ => {}
                }
            }
        }
        _ => {}
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
}
