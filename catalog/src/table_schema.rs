//! A stored schema with what plans and commits derive from it, so that this is done once.

use prunus_manifest::{ReadTransaction, SchemaId, TableId};
use prunus_pruner::{Column, ItemColumn, ItemKind};
use prunus_statistics::FieldId;

use crate::schema::{Field, LeafColumn, Schema, Type};
use crate::schema_json::schema_from_text;
use crate::{Error, Result};

/// A schema of a table.
#[derive(Debug)]
pub(crate) struct TableSchema {
    /// The schema.
    pub(crate) schema: Schema,
    /// The columns that carry statistics and have one value per row.
    pub(crate) leaves: Vec<LeafColumn>,
    /// Those that lie in lists and maps.
    pub(crate) items: Vec<LeafColumn>,
    /// Every column that a filter may name: leaves with their type, and what holds them without.
    pub(crate) columns: Vec<Column>,
    text_bytes: usize,
}

impl TableSchema {
    /// Reads it.
    pub(crate) fn load(tx: &ReadTransaction<'_>, table_id: TableId, schema_id: SchemaId) -> Result<Self> {
        let text = tx.load_schema(table_id, schema_id)?;
        let schema = schema_from_text(&text).ok_or(Error::StoredSchema)?;
        let mut columns = Vec::new();
        collect(schema.fields(), &mut Vec::new(), &mut columns);
        Ok(Self {
            leaves: schema.leaf_columns(),
            items: schema.item_columns(),
            schema,
            columns,
            text_bytes: text.len(),
        })
    }

    /// About how much memory it takes: each of the three forms is a few times as large as the text.
    pub(crate) fn size_bytes(&self) -> usize {
        const FORMS: usize = 8;
        FORMS * self.text_bytes
    }
}

fn collect(fields: &[Field], path: &mut Vec<String>, columns: &mut Vec<Column>) {
    for field in fields {
        path.push(field.name.clone());
        let column_type = if let Type::Primitive(column_type) = &field.field_type { Some(*column_type) } else { None };
        columns.push(Column { id: field.id, path: path.clone(), column_type, items: items(&field.field_type) });
        if let Type::Struct(fields) = &field.field_type {
            collect(fields, path, columns);
        }
        path.pop();
    }
}

/// The items of a list or map that are single values.
fn items(field_type: &Type) -> Vec<ItemColumn> {
    let item = |kind, id: FieldId, item_type: &Type| match item_type {
        Type::Primitive(column_type) => Some(ItemColumn { kind, id, column_type: *column_type }),
        _ => None,
    };
    let items = match field_type {
        Type::List { element_id, element } => [item(ItemKind::Element, *element_id, element), None],
        Type::Map { key_id, key, value_id, value } => {
            [item(ItemKind::Key, *key_id, key), item(ItemKind::Value, *value_id, value)]
        }
        Type::Primitive(_) | Type::Struct(_) => [None, None],
    };
    items.into_iter().flatten().collect()
}
