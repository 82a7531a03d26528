//! The JSON form of a schema, as the API shows it and as the store keeps it.

use std::fmt;

use prunus_statistics::{FieldId, Literal, Number, PrimitiveType, Value, parse_value};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::schema::{Field, NewField, NewType, Schema, SchemaError, Type};
use crate::whole_number;

/// A field in JSON. An id that is absent is assigned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldJson {
    /// The id.
    #[serde(default, deserialize_with = "whole_number::optional", skip_serializing_if = "Option::is_none")]
    pub id: Option<i32>,
    /// The name.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub field_type: TypeJson,
    /// Whether rows may be null; they may if it is absent.
    #[serde(default = "nullable")]
    pub nullable: bool,
    /// What rows of files without the field read as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<serde_json::Value>,
    /// A note for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
}

/// A type in JSON: the name of a primitive type, or an object that says how it is nested.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the names are those of the API")]
pub enum TypeJson {
    Primitive(String),
    Nested(NestedJson),
}

/// By hand, since serde tells of an untagged enum only that no variant matched.
impl<'de> Deserialize<'de> for TypeJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TypeVisitor;

        impl<'de> Visitor<'de> for TypeVisitor {
            type Value = TypeJson;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a type or the object of a nested type")
            }

            fn visit_str<E>(self, name: &str) -> Result<TypeJson, E> {
                Ok(TypeJson::Primitive(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TypeJson, A::Error> {
                NestedJson::deserialize(MapAccessDeserializer::new(map)).map(TypeJson::Nested)
            }
        }

        deserializer.deserialize_any(TypeVisitor)
    }
}

/// A nested type in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of the API")]
pub enum NestedJson {
    Struct {
        fields: Vec<FieldJson>,
    },
    List {
        #[serde(default, deserialize_with = "whole_number::optional", skip_serializing_if = "Option::is_none")]
        element_id: Option<i32>,
        element: Box<TypeJson>,
    },
    Map {
        #[serde(default, deserialize_with = "whole_number::optional", skip_serializing_if = "Option::is_none")]
        key_id: Option<i32>,
        key: Box<TypeJson>,
        #[serde(default, deserialize_with = "whole_number::optional", skip_serializing_if = "Option::is_none")]
        value_id: Option<i32>,
        value: Box<TypeJson>,
    },
}

/// JSON that is no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaJsonError {
    /// A type name that is none.
    #[error("field `{field}`: unknown type `{type_name}`")]
    UnknownType {
        /// The field.
        field: String,
        /// The name.
        type_name: String,
    },
    /// A default that is no value of its field's type.
    #[error("field `{field}`: the default is not a value of its type")]
    BadDefault {
        /// The field.
        field: String,
    },
    /// The fields do not make a schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

fn nullable() -> bool {
    true
}

impl FieldJson {
    /// The field as it is asked for.
    ///
    /// # Errors
    /// [`SchemaJsonError`] if a type or default is none.
    pub fn to_new_field(&self) -> Result<NewField, SchemaJsonError> {
        let field_type = self.field_type.to_new_type(&self.name)?;
        let default = match (&self.default, &field_type) {
            (None | Some(serde_json::Value::Null), _) => None,
            (Some(json), NewType::Primitive(column_type)) => Some(
                value_from_json(json, *column_type)
                    .ok_or_else(|| SchemaJsonError::BadDefault { field: self.name.clone() })?,
            ),
            (Some(_), _) => return Err(SchemaError::NestedDefault(self.name.clone()).into()),
        };
        let (id, name) = (self.id.map(FieldId), self.name.clone());
        Ok(NewField { id, name, field_type, nullable: self.nullable, default, doc: self.doc.clone() })
    }
}

impl TypeJson {
    fn to_new_type(&self, field: &str) -> Result<NewType, SchemaJsonError> {
        Ok(match self {
            Self::Primitive(type_name) => {
                NewType::Primitive(type_name.parse().map_err(|_| SchemaJsonError::UnknownType {
                    field: field.to_owned(),
                    type_name: type_name.clone(),
                })?)
            }
            Self::Nested(NestedJson::Struct { fields }) => {
                NewType::Struct(fields.iter().map(FieldJson::to_new_field).collect::<Result<_, _>>()?)
            }
            Self::Nested(NestedJson::List { element_id, element }) => {
                NewType::List { element_id: element_id.map(FieldId), element: Box::new(element.to_new_type(field)?) }
            }
            Self::Nested(NestedJson::Map { key_id, key, value_id, value }) => NewType::Map {
                key_id: key_id.map(FieldId),
                key: Box::new(key.to_new_type(field)?),
                value_id: value_id.map(FieldId),
                value: Box::new(value.to_new_type(field)?),
            },
        })
    }
}

impl From<&Field> for FieldJson {
    fn from(field: &Field) -> Self {
        let default = match (&field.default, &field.field_type) {
            (Some(value), Type::Primitive(column_type)) => Some(value_to_json(value, *column_type)),
            _ => None,
        };
        Self {
            id: Some(field.id.0),
            name: field.name.clone(),
            field_type: TypeJson::from(&field.field_type),
            nullable: field.nullable,
            default,
            doc: field.doc.clone(),
        }
    }
}

impl From<&Type> for TypeJson {
    fn from(field_type: &Type) -> Self {
        match field_type {
            Type::Primitive(column_type) => Self::Primitive(column_type.to_string()),
            Type::Struct(fields) => {
                Self::Nested(NestedJson::Struct { fields: fields.iter().map(FieldJson::from).collect() })
            }
            Type::List { element_id, element } => Self::Nested(NestedJson::List {
                element_id: Some(element_id.0),
                element: Box::new(Self::from(element.as_ref())),
            }),
            Type::Map { key_id, key, value_id, value } => Self::Nested(NestedJson::Map {
                key_id: Some(key_id.0),
                key: Box::new(Self::from(key.as_ref())),
                value_id: Some(value_id.0),
                value: Box::new(Self::from(value.as_ref())),
            }),
        }
    }
}

/// A value in JSON: booleans, integers and finite floats as such, all else as text.
pub fn value_to_json(value: &Value, column_type: PrimitiveType) -> serde_json::Value {
    match value {
        Value::Boolean(value) => (*value).into(),
        Value::Integer(value) if column_type.is_integer() => match (i64::try_from(*value), u64::try_from(*value)) {
            (Ok(signed), _) => signed.into(),
            (_, Ok(unsigned)) => unsigned.into(),
            _ => value.to_string().into(),
        },
        Value::Float(float) if float.is_finite() => {
            // The shortest digits of the column's own width, not those of the widened value.
            serde_json::from_str(&value.display(column_type).to_string()).unwrap_or_else(|_| (*float).into())
        }
        other => other.display(column_type).to_string().into(),
    }
}

/// A value of a type from JSON; `None` if it is none. Numbers may also be written as strings of digits.
pub(crate) fn value_from_json(json: &serde_json::Value, column_type: PrimitiveType) -> Option<Value> {
    value_from_literal(&literal_from_json(json)?, column_type)
}

/// A JSON boolean, number or string as a literal.
pub fn literal_from_json(json: &serde_json::Value) -> Option<Literal> {
    match json {
        serde_json::Value::Bool(value) => Some(Literal::Boolean(*value)),
        // What is no integer of 64 bits was rounded when the JSON was read.
        serde_json::Value::Number(number) if number.is_f64() => number.as_f64().map(Literal::Float),
        serde_json::Value::Number(number) => Number::parse(&number.to_string()).map(Literal::Number),
        serde_json::Value::String(text) => Some(Literal::Text(text.clone())),
        _ => None,
    }
}

/// A literal as exactly one value of a type. Numbers and booleans go with columns of their kind alone.
pub(crate) fn value_from_literal(literal: &Literal, column_type: PrimitiveType) -> Option<Value> {
    let is_number =
        column_type.is_integer() || column_type.is_float() || matches!(column_type, PrimitiveType::Decimal { .. });
    match literal {
        Literal::Text(text) => parse_value(text, column_type).ok(),
        Literal::Number(number) if is_number => parse_value(&number.to_string(), column_type).ok(),
        Literal::Float(value) if column_type.is_float() => parse_value(&format!("{value:?}"), column_type).ok(),
        Literal::Boolean(value) if column_type == PrimitiveType::Boolean => Some(Value::Boolean(*value)),
        _ => None,
    }
}

/// The schema as the store keeps it.
pub(crate) fn schema_to_text(schema: &Schema) -> Result<String, serde_json::Error> {
    serde_json::to_string(&schema.fields().iter().map(FieldJson::from).collect::<Vec<_>>())
}

/// The inverse of [`schema_to_text`].
pub(crate) fn schema_from_text(text: &str) -> Option<Schema> {
    let fields: Vec<FieldJson> = serde_json::from_str(text).ok()?;
    let fields = fields.iter().map(FieldJson::to_new_field).collect::<Result<_, _>>().ok()?;
    crate::schema::assign_ids(fields).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_survives_being_stored() {
        let text = r#"[
            {"id":1,"name":"a","type":"decimal(9,2)","nullable":false,"default":"1.50","doc":"d"},
            {"id":2,"name":"s","type":{"type":"struct","fields":[{"id":3,"name":"x","type":"float32","nullable":true,"default":0.1}]},"nullable":true},
            {"id":4,"name":"l","type":{"type":"list","element_id":5,"element":"date"},"nullable":true},
            {"id":6,"name":"m","type":{"type":"map","key_id":7,"key":"string","value_id":8,"value":"uint64"},"nullable":true}
        ]"#;
        let schema = schema_from_text(text).unwrap();
        let stored = schema_to_text(&schema).unwrap();
        assert_eq!(schema_from_text(&stored).unwrap(), schema);
        let (given, kept): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(text).unwrap(), serde_json::from_str(&stored).unwrap());
        assert_eq!(given, kept);
    }

    #[test]
    fn values_go_with_their_types() {
        let check = |json: serde_json::Value, column_type: &str, expected: Option<Value>| {
            assert_eq!(value_from_json(&json, column_type.parse().unwrap()), expected, "{json} as {column_type}");
        };
        check(5.into(), "int8", Some(Value::Integer(5)));
        check("5".into(), "int8", Some(Value::Integer(5)));
        check(u64::MAX.into(), "uint64", Some(Value::Integer(u64::MAX.into())));
        check(300.into(), "int8", None);
        check(1.5.into(), "int8", None);
        check(5.into(), "string", None);
        check("5".into(), "string", Some(Value::Bytes(b"5".to_vec())));
        check(true.into(), "int8", None);
        check("1.50".into(), "decimal(9,2)", Some(Value::Integer(150)));
        check("00ff".into(), "binary", Some(Value::Bytes(vec![0, 255])));
        check(1.5.into(), "decimal(9,2)", None);
        check(1.5.into(), "float32", Some(Value::Float(1.5)));
        check(serde_json::from_str("123456789012345678901").unwrap(), "decimal(30,0)", None);
        check("123456789012345678901".into(), "decimal(30,0)", Some(Value::Integer(123_456_789_012_345_678_901)));
        check(serde_json::Value::Null, "int8", None);
    }
}
