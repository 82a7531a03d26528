//! What lists and maps of a schema hold.

use prunus_pruner::ItemKind;
use prunus_statistics::FieldId;

use super::{Field, LeafColumn, Schema, Type};

impl Schema {
    /// The leaves that lie in lists and maps, in the order of the schema: elements, keys and values, and leaves of structs among
    /// these. Their paths go through `element`, or through `key` and `value`, and can be no other column's: the path to a list or
    /// map leads to nothing else. A row may have none or many of their values, so that a file has bounds of all of them and no
    /// counts. None is required or has a default.
    pub fn item_columns(&self) -> Vec<LeafColumn> {
        self.item_holders().into_iter().flat_map(|(path, field)| items_of(field, &path)).collect()
    }

    /// The lists and maps that are reached through structs alone, with the names from the top down to them.
    pub(crate) fn item_holders(&self) -> Vec<(Vec<String>, &Field)> {
        let mut holders = Vec::new();
        collect_holders(self.fields(), &[], &mut holders);
        holders
    }
}

/// The leaves that the list or map of a field holds; `path` are the names down to the field. A field of another type has none.
pub(crate) fn items_of(field: &Field, path: &[String]) -> Vec<LeafColumn> {
    let mut items = Vec::new();
    if let Type::List { .. } | Type::Map { .. } = field.field_type {
        collect_items(&field.field_type, field.id, &mut path.to_vec(), &mut items);
    }
    items
}

fn collect_holders<'s>(fields: &'s [Field], above: &[String], holders: &mut Vec<(Vec<String>, &'s Field)>) {
    for field in fields {
        let path: Vec<String> = above.iter().chain([&field.name]).cloned().collect();
        match &field.field_type {
            Type::Primitive(_) => {}
            Type::Struct(fields) => collect_holders(fields, &path, holders),
            Type::List { .. } | Type::Map { .. } => holders.push((path, field)),
        }
    }
}

/// The leaves of what stands at `path` in a list or map, and has this id.
fn collect_items(item_type: &Type, id: FieldId, path: &mut Vec<String>, items: &mut Vec<LeafColumn>) {
    let mut within = |name: &str, item_type: &Type, id: FieldId| {
        path.push(name.to_owned());
        collect_items(item_type, id, path, items);
        path.pop();
    };
    match item_type {
        Type::Primitive(column_type) => {
            items.push(LeafColumn {
                id,
                path: path.clone(),
                column_type: *column_type,
                default: None,
                required: false,
            });
        }
        Type::Struct(fields) => fields.iter().for_each(|field| within(&field.name, &field.field_type, field.id)),
        Type::List { element_id, element } => within(ItemKind::Element.name(), element, *element_id),
        Type::Map { key_id, key, value_id, value } => {
            within(ItemKind::Key.name(), key, *key_id);
            within(ItemKind::Value.name(), value, *value_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_json::schema_from_text;

    #[test]
    fn leaves_in_lists_and_maps_are_items() {
        let text = r#"[
            {"id": 1, "name": "a", "type": "int32"},
            {"id": 2, "name": "s", "type": {"type": "struct", "fields": [
                {"id": 3, "name": "x", "type": "int32"},
                {"id": 4, "name": "l.l", "type": {"type": "list", "element_id": 5, "element": "string"}}
            ]}},
            {"id": 6, "name": "m", "type": {"type": "map", "key_id": 7, "key": "date", "value_id": 8, "value":
                {"type": "list", "element_id": 9, "element": {"type": "struct", "fields": [
                    {"id": 10, "name": "element", "type": "uuid", "default": "00000000-0000-0000-0000-000000000000"}
                ]}}
            }}
        ]"#;
        let schema = schema_from_text(text).unwrap();
        let items: Vec<(i32, String)> =
            schema.item_columns().iter().map(|item| (item.id.0, crate::column_ref::key(&item.path))).collect();
        let expected = [(5, "s.\"l.l\".element"), (7, "m.key"), (10, "m.value.element.element")];
        assert_eq!(items, expected.map(|(id, key)| (id, key.to_owned())));
        assert!(schema.item_columns().iter().all(|item| item.default.is_none() && !item.required));
        let holders: Vec<i32> = schema.item_holders().iter().map(|(_, field)| field.id.0).collect();
        assert_eq!(holders, [4, 6]);
    }
}
