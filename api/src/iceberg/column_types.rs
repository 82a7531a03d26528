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
pub(super) fn name_of(primitive: PrimitiveType) -> Result<String, &'static str> {
    use PrimitiveType as P;
    const NONE: &str = "which Iceberg does not have";
    const NANOSECONDS: &str = "whose nanoseconds Iceberg's format 2 does not have";
    // PyIceberg holds a filter against the type in the file, which it takes for an int: what is above 2147483647 is lost.
    const UNSIGNED: &str = "in whose files clients of Iceberg lose rows";
    const MILLISECONDS: &str = "whose files clients of Iceberg do not read";
    let name = match primitive {
        P::Boolean => "boolean",
        P::Int8 | P::Int16 | P::Int32 | P::UInt8 | P::UInt16 => "int",
        P::Int64 => "long",
        P::Float32 => "float",
        P::Float64 => "double",
        P::String => "string",
        P::Binary => "binary",
        P::Uuid => "uuid",
        P::Date => "date",
        P::Decimal { precision, scale } if precision <= 38 => return Ok(format!("decimal({precision}, {scale})")),
        P::Fixed(length) => return Ok(format!("fixed[{length}]")),
        P::Time(TimeUnit::Microsecond) => "time",
        P::Timestamp(TimeUnit::Second | TimeUnit::Millisecond | TimeUnit::Microsecond) => "timestamp",
        P::Timestamptz(TimeUnit::Second | TimeUnit::Millisecond | TimeUnit::Microsecond) => "timestamptz",
        P::Time(TimeUnit::Nanosecond) | P::Timestamp(_) | P::Timestamptz(_) => return Err(NANOSECONDS),
        P::Time(_) => return Err(MILLISECONDS),
        P::UInt32 => return Err(UNSIGNED),
        P::UInt64 | P::Float16 | P::Decimal { .. } => return Err(NONE),
    };
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use prunus_statistics::FieldId;

    use super::*;

    fn schema(fields: &[(&str, Type)]) -> Schema {
        let field = |(index, (name, field_type)): (i32, &(&str, Type))| Field {
            id: FieldId(index),
            name: (*name).to_owned(),
            field_type: field_type.clone(),
            nullable: false,
            default: None,
            doc: None,
        };
        Schema::new((1..).zip(fields).map(field).collect()).unwrap()
    }

    fn of_type(name: &str) -> Type {
        Type::Primitive(name.parse().unwrap())
    }

    #[test]
    fn types_have_their_names() {
        for (name, expected) in [
            ("boolean", "boolean"),
            ("int8", "int"),
            ("int16", "int"),
            ("int32", "int"),
            ("uint8", "int"),
            ("uint16", "int"),
            ("int64", "long"),
            ("float32", "float"),
            ("float64", "double"),
            ("decimal(38,4)", "decimal(38, 4)"),
            ("string", "string"),
            ("binary", "binary"),
            ("fixed(4)", "fixed[4]"),
            ("uuid", "uuid"),
            ("date", "date"),
            ("time(us)", "time"),
            ("timestamp(s)", "timestamp"),
            ("timestamp(ms)", "timestamp"),
            ("timestamp(us)", "timestamp"),
            ("timestamptz(ms)", "timestamptz"),
            ("timestamptz(us)", "timestamptz"),
        ] {
            let json = schema_json(1, &schema(&[("x", of_type(name))])).unwrap();
            assert_eq!(json["fields"][0]["type"], expected, "{name}");
        }
    }

    #[test]
    fn what_clients_would_not_read_rightly_is_refused_all_at_once() {
        let types =
            ["uint32", "uint64", "float16", "time(s)", "time(ms)", "time(ns)", "timestamp(ns)", "timestamptz(ns)"];
        let fields: Vec<(&str, Type)> = types.iter().map(|name| (*name, of_type(name))).collect();
        let faults = schema_json(1, &schema(&fields)).unwrap_err();
        assert_eq!(faults.len(), types.len(), "{faults:?}");
        for (fault, name) in faults.iter().zip(types) {
            assert!(fault.starts_with(&format!("`{name}` is of type {name}, ")), "{fault}");
        }
    }

    #[test]
    fn fields_inside_others_are_named_by_their_way() {
        let list = Type::List { element_id: FieldId(7), element: Box::new(of_type("uint64")) };
        let faults = schema_json(1, &schema(&[("l", list)])).unwrap_err();
        assert_eq!(faults, ["`l.element` is of type uint64, which Iceberg does not have"]);
    }

    #[test]
    fn nothing_is_required_of_files() {
        let json = schema_json(4, &schema(&[("x", of_type("int32"))])).unwrap();
        let x = json!({"id": 1, "name": "x", "required": false, "type": "int"});
        assert_eq!(json, json!({"type": "struct", "schema-id": 4, "fields": [x]}));
    }

    #[test]
    fn names_with_dots_and_defaults_are_refused() {
        let field = Field {
            id: FieldId(1),
            name: "a.b".to_owned(),
            field_type: of_type("int32"),
            nullable: true,
            default: Some(prunus_statistics::Value::Integer(1)),
            doc: None,
        };
        assert_eq!(schema_json(1, &Schema::new(vec![field]).unwrap()).unwrap_err().len(), 2);
    }
}
