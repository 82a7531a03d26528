//! Which column a name in a file means, where the file has no field ids.
//!
//! A table has one mapping for all its files, so each name is one column's: the column's that has it now, or else the one's that had it,
//! if only one ever did. Columns that are gone are there, too, for snapshots that have them. What files call otherwise clients cannot
//! find, and plans of such files are refused.

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
        let newest_first: Vec<&[Field]> = schemas.iter().rev().map(|(_, schema)| schema.fields()).collect();
        Self { fields: mapped(&newest_first, &names) }
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

/// The fields that stand beside each other in any of the schemas, newest first; those that are gone have the names alone that only
/// they ever had.
fn mapped(newest_first: &[&[Field]], names: &Names) -> Vec<MappedField> {
    let mut fields: Vec<&Field> = Vec::new();
    for field in newest_first.iter().copied().flatten() {
        if fields.iter().all(|known| known.id != field.id) {
            fields.push(field);
        }
    }
    let current = newest_first.first().copied().unwrap_or_default();
    let map = |field: &&Field| {
        let is_current = current.iter().any(|known| known.id == field.id);
        let all = names.get(&field.id).into_iter().flatten();
        let is_its = |name: &&String| (is_current && **name == field.name) || is_of_one(name, field.id, names);
        let mut its: Vec<String> = all.filter(is_its).cloned().collect();
        its.sort_by_key(|name| *name != field.name);
        let below: Vec<&Type> = newest_first
            .iter()
            .copied()
            .flatten()
            .filter(|same| same.id == field.id)
            .map(|same| &same.field_type)
            .collect();
        MappedField { field_id: field.id.0, names: its, fields: mapped_below(&below, names) }
    };
    fields.iter().map(map).filter(|mapped| !mapped.names.is_empty()).collect()
}

/// Whether no other field has or had a name. Fields of other structs count, too: which struct a field was in is not asked.
fn is_of_one(name: &str, field: FieldId, names: &Names) -> bool {
    names.iter().all(|(other, names)| *other == field || names.iter().all(|known| known != name))
}

/// What is mapped inside a field, which had these types, newest first. Only structs change what they hold.
fn mapped_below(newest_first: &[&Type], names: &Names) -> Vec<MappedField> {
    let item = |id: FieldId, name: &str, of: Vec<&Type>| MappedField {
        field_id: id.0,
        names: vec![name.to_owned()],
        fields: mapped_below(&of, names),
    };
    match newest_first.first() {
        None | Some(Type::Primitive(_)) => Vec::new(),
        Some(Type::Struct(_)) => {
            let structs = newest_first
                .iter()
                .filter_map(|of| if let Type::Struct(fields) = of { Some(&fields[..]) } else { None });
            mapped(&structs.collect::<Vec<_>>(), names)
        }
        Some(Type::List { element_id, .. }) => {
            let elements = newest_first
                .iter()
                .filter_map(|of| if let Type::List { element, .. } = of { Some(&**element) } else { None });
            vec![item(*element_id, "element", elements.collect())]
        }
        Some(Type::Map { key_id, value_id, .. }) => {
            let both = newest_first
                .iter()
                .filter_map(|of| if let Type::Map { key, value, .. } = of { Some((&**key, &**value)) } else { None });
            let (keys, values) = both.unzip();
            vec![item(*key_id, "key", keys), item(*value_id, "value", values)]
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
    fn a_column_that_is_gone_has_what_nobody_else_had() {
        let mapping = mapping(&[&[(1, "a"), (2, "b"), (3, "x")], &[(2, "b")], &[(2, "a")], &[(2, "c")]]);
        assert!(!mapping.finds(FieldId(2), Some("a")) && mapping.finds(FieldId(2), Some("b")));
        assert!(!mapping.finds(FieldId(1), Some("a")) && mapping.finds(FieldId(3), Some("x")));
    }
}
