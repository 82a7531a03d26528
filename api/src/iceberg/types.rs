//! The types of columns, as Iceberg has them. A type that it does not have becomes a wider one if no value is lost and clients read
//! files of the narrower one as well; where that is not so, the table cannot be loaded.

use prunus_catalog::schema::{Field, Schema, Type};
use prunus_statistics::{PrimitiveType, TimeUnit};
use serde_json::{Map, Value, json};

/// A schema, or the columns that keep it from being one.
pub(super) fn schema_json(schema_id: i64, schema: &Schema) -> Result<Value, Vec<String>> {
    let mut faults = Vec::new();
    let fields = fields_json(schema.fields(), "", &mut faults);
    let schema = json!({"type": "struct", "schema-id": schema_id, "fields": fields});
    if faults.is_empty() { Ok(schema) } else { Err(faults) }
}

fn fields_json(fields: &[Field], above: &str, faults: &mut Vec<String>) -> Vec<Value> {
    fields.iter().map(|field| field_json(field, above, faults)).collect()
}

fn field_json(field: &Field, above: &str, faults: &mut Vec<String>) -> Value {
    let path = if above.is_empty() { field.name.clone() } else { format!("{above}.{}", field.name) };
    let mut json = Map::new();
    json.insert("id".to_owned(), field.id.0.into());
    json.insert("name".to_owned(), field.name.as_str().into());
    // What the owner of a table wishes is no proof about a file, and readers would be misled by it.
    json.insert("required".to_owned(), false.into());
    json.insert("type".to_owned(), type_json(&field.field_type, &path, faults));
    if let Some(doc) = &field.doc {
        json.insert("doc".to_owned(), doc.as_str().into());
    }
    if field.default.is_some() {
        faults.push(format!("`{path}` has a default, which readers of Iceberg's format 2 do not know"));
    }
    if field.name.contains('.') {
        faults.push(format!("`{path}` has a dot in its name, which cannot be told from a field of a struct"));
    }
    Value::Object(json)
}

fn type_json(of: &Type, path: &str, faults: &mut Vec<String>) -> Value {
    match of {
        Type::Primitive(primitive) => match name_of(*primitive) {
            Ok(name) => name.into(),
            Err(why) => {
                faults.push(format!("`{path}` is of type {primitive}, {why}"));
                Value::Null
            }
        },
        Type::Struct(fields) => json!({"type": "struct", "fields": fields_json(fields, path, faults)}),
        Type::List { element_id, element } => json!({
            "type": "list", "element-id": element_id.0, "element-required": false,
            "element": type_json(element, &format!("{path}.element"), faults),
        }),
        Type::Map { key_id, key, value_id, value } => json!({
            "type": "map", "key-id": key_id.0, "value-id": value_id.0, "value-required": false,
            "key": type_json(key, &format!("{path}.key"), faults),
            "value": type_json(value, &format!("{path}.value"), faults),
        }),
    }
}

/// The name of a type, or why there is none.
fn name_of(primitive: PrimitiveType) -> Result<String, &'static str> {
    const NONE: &str = "which Iceberg does not have";
    const NANOSECONDS: &str = "whose nanoseconds Iceberg's format 2 does not have";
    let name = match primitive {
        PrimitiveType::Boolean => "boolean",
        PrimitiveType::Int8
        | PrimitiveType::Int16
        | PrimitiveType::Int32
        | PrimitiveType::UInt8
        | PrimitiveType::UInt16 => "int",
        PrimitiveType::Int64 | PrimitiveType::UInt32 => "long",
        PrimitiveType::Float32 => "float",
        PrimitiveType::Float64 => "double",
        PrimitiveType::String => "string",
        PrimitiveType::Binary => "binary",
        PrimitiveType::Uuid => "uuid",
        PrimitiveType::Date => "date",
        PrimitiveType::Decimal { precision, scale } if precision <= 38 => {
            return Ok(format!("decimal({precision}, {scale})"));
        }
        PrimitiveType::Fixed(length) => return Ok(format!("fixed[{length}]")),
        PrimitiveType::Time(TimeUnit::Nanosecond)
        | PrimitiveType::Timestamp(TimeUnit::Nanosecond)
        | PrimitiveType::Timestamptz(TimeUnit::Nanosecond) => return Err(NANOSECONDS),
        PrimitiveType::Time(_) => "time",
        PrimitiveType::Timestamp(_) => "timestamp",
        PrimitiveType::Timestamptz(_) => "timestamptz",
        PrimitiveType::UInt64 | PrimitiveType::Float16 | PrimitiveType::Decimal { .. } => return Err(NONE),
    };
    Ok(name.to_owned())
}
