//! Which column a name in a file means, where the file has no field ids.
//!
//! A table has one mapping for all its files, so each name is one column's: the column's that has it now, or else the one's that had it,
//! if only one ever did. What files call otherwise clients cannot find, and plans of such files are refused.

use std::collections::BTreeMap;

use prunus_catalog::SchemaId;
use prunus_catalog::schema::{Field, Schema, Type};
use prunus_statistics::FieldId;
use serde::Serialize;

/// The property of a table that holds it, as JSON.
pub(super) const PROPERTY: &str = "schema.name-mapping.default";

/// The names of fields beside each other, and of those below them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct NameMapping {
    fields: Vec<MappedField>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
struct MappedField {
    field_id: i32,
    names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<MappedField>,
}

/// The names that each field has and had, oldest first.
type Names = BTreeMap<FieldId, Vec<String>>;

impl NameMapping {
    /// That of a table whose schemas these are, the newest last.
    pub(super) fn of(schemas: &[(SchemaId, Schema)]) -> Self {
        let mut names = Names::new();
        for (_, schema) in schemas {
            add_names(schema.fields(), &mut names);
        }
        let current = schemas.last().map(|(_, schema)| schema.fields()).unwrap_or_default();
        Self { fields: mapped(current, &names) }
    }

    /// Whether it takes a name in a file for a column, both dotted paths; without a name, never: then it would take some other
    /// name for it.
    pub(super) fn finds(&self, column: FieldId, name: Option<&str>) -> bool {
        let Some(name) = name else { return false };
        let (mut fields, mut found) = (&self.fields, None);
        for part in name.split('.') {
            let Some(field) = fields.iter().find(|field| field.names.iter().any(|known| known == part)) else {
                return false;
            };
            (fields, found) = (&field.fields, Some(field.field_id));
        }
        found == Some(column.0)
    }
}

fn add_names(fields: &[Field], names: &mut Names) {
    for field in fields {
        let known = names.entry(field.id).or_default();
        if !known.contains(&field.name) {
            known.push(field.name.clone());
        }
        add_below(&field.field_type, names);
    }
}

fn add_below(of: &Type, names: &mut Names) {
    match of {
        Type::Primitive(_) => {}
        Type::Struct(fields) => add_names(fields, names),
        Type::List { element, .. } => add_below(element, names),
        Type::Map { key, value, .. } => {
            add_below(key, names);
            add_below(value, names);
        }
    }
}

fn mapped(fields: &[Field], names: &Names) -> Vec<MappedField> {
    let map = |field: &Field| {
        let former = names.get(&field.id).into_iter().flatten().filter(|name| **name != field.name);
        let is_free = |name: &&String| is_of_one(name, field.id, names);
        let all = std::iter::once(&field.name).chain(former.filter(is_free)).cloned().collect();
        MappedField { field_id: field.id.0, names: all, fields: mapped_below(&field.field_type, names) }
    };
    fields.iter().map(map).collect()
}

/// Whether no other field has or had a name. Fields of other structs count, too: which struct a field was in is not asked.
fn is_of_one(name: &str, field: FieldId, names: &Names) -> bool {
    names.iter().all(|(other, names)| *other == field || names.iter().all(|known| known != name))
}

fn mapped_below(of: &Type, names: &Names) -> Vec<MappedField> {
    let item = |id: FieldId, name: &str, item: &Type| MappedField {
        field_id: id.0,
        names: vec![name.to_owned()],
        fields: mapped_below(item, names),
    };
    match of {
        Type::Primitive(_) => Vec::new(),
        Type::Struct(fields) => mapped(fields, names),
        Type::List { element_id, element } => vec![item(*element_id, "element", element)],
        Type::Map { key_id, key, value_id, value } => {
            vec![item(*key_id, "key", key), item(*value_id, "value", value)]
        }
    }
}

#[cfg(test)]
mod tests {
    use prunus_statistics::PrimitiveType;
    use serde_json::json;

    use super::*;

    fn field(id: i32, name: &str) -> Field {
        let field_type = Type::Primitive(PrimitiveType::Int32);
        Field { id: FieldId(id), name: name.to_owned(), field_type, nullable: true, default: None, doc: None }
    }

    fn mapping(schemas: &[&[(i32, &str)]]) -> NameMapping {
        let schema =
            |fields: &&[(i32, &str)]| Schema::new(fields.iter().map(|(id, name)| field(*id, name)).collect()).unwrap();
        NameMapping::of(&(1..).map(SchemaId).zip(schemas.iter().map(schema)).collect::<Vec<_>>())
    }

    #[test]
    fn every_field_has_its_name() {
        let list = Type::List { element_id: FieldId(3), element: Box::new(Type::Struct(vec![field(4, "x")])) };
        let schema = Schema::new(vec![field(1, "id"), Field { field_type: list, ..field(2, "l") }]).unwrap();
        let mapping = serde_json::to_value(NameMapping::of(&[(SchemaId(1), schema)])).unwrap();
        let x = json!({"field-id": 4, "names": ["x"]});
        let element = json!({"field-id": 3, "names": ["element"], "fields": [x]});
        let expected = json!([{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["l"], "fields": [element]}]);
        assert_eq!(mapping, expected);
    }

    #[test]
    fn a_former_name_is_found() {
        let mapping = mapping(&[&[(1, "a")], &[(1, "b")], &[(1, "c"), (2, "d")]]);
        for (column, name, expected) in
            [(1, "a", true), (1, "b", true), (1, "c", true), (1, "d", false), (2, "a", false), (2, "d", true)]
        {
            assert_eq!(mapping.finds(FieldId(column), Some(name)), expected, "{column} {name}");
        }
        assert!(!mapping.finds(FieldId(1), None));
    }

    #[test]
    fn a_name_that_two_had_is_of_the_one_that_has_it() {
        let mapping = mapping(&[&[(1, "a"), (2, "b")], &[(1, "b"), (2, "a")]]);
        assert!(mapping.finds(FieldId(1), Some("b")) && mapping.finds(FieldId(2), Some("a")));
        assert!(!mapping.finds(FieldId(1), Some("a")) && !mapping.finds(FieldId(2), Some("b")));
    }

    #[test]
    fn a_name_of_a_column_that_is_gone_is_nobodys() {
        let mapping = mapping(&[&[(1, "a"), (2, "b")], &[(2, "b")], &[(2, "a")], &[(2, "c")]]);
        assert!(!mapping.finds(FieldId(2), Some("a")) && mapping.finds(FieldId(2), Some("b")));
    }
}
