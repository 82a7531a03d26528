//! The JSON form of a schema, as the API shows it and as the store keeps it.

use std::fmt;

use prunus_pruner::nearest;
use prunus_statistics::{FieldId, Literal, Number, PrimitiveType, Value, parse_value};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::Fault;
use crate::schema::{Field, NewField, NewType, Schema, SchemaError, Type};

/// A field in JSON. An id that is absent is assigned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldJson {
    /// The id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
#[serde(tag = "type", rename_all = "lowercase", try_from = "NestedFields")]
#[expect(missing_docs, reason = "the names are those of the API")]
pub enum NestedJson {
    Struct {
        fields: Vec<FieldJson>,
    },
    List {
        #[serde(skip_serializing_if = "Option::is_none")]
        element_id: Option<i32>,
        element: Box<TypeJson>,
    },
    Map {
        #[serde(skip_serializing_if = "Option::is_none")]
        key_id: Option<i32>,
        key: Box<TypeJson>,
        #[serde(skip_serializing_if = "Option::is_none")]
        value_id: Option<i32>,
        value: Box<TypeJson>,
    },
}

/// The fields of a [`NestedJson`], whichever type it is. (serde does not say where a fault is in what has variants.)
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NestedFields {
    #[serde(rename = "type")]
    kind: NestedKind,
    #[serde(default)]
    fields: Option<Vec<FieldJson>>,
    #[serde(default)]
    element_id: Option<i32>,
    #[serde(default)]
    element: Option<Box<TypeJson>>,
    #[serde(default)]
    key_id: Option<i32>,
    #[serde(default)]
    key: Option<Box<TypeJson>>,
    #[serde(default)]
    value_id: Option<i32>,
    #[serde(default)]
    value: Option<Box<TypeJson>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NestedKind {
    Struct,
    List,
    Map,
}

impl TryFrom<NestedFields> for NestedJson {
    type Error = String;

    fn try_from(nested: NestedFields) -> Result<Self, String> {
        let there = [
            ("fields", nested.fields.is_some()),
            ("element_id", nested.element_id.is_some()),
            ("element", nested.element.is_some()),
            ("key_id", nested.key_id.is_some()),
            ("key", nested.key.is_some()),
            ("value_id", nested.value_id.is_some()),
            ("value", nested.value.is_some()),
        ];
        let (title, needed, allowed): (&str, &[&str], &[&str]) = match nested.kind {
            NestedKind::Struct => ("a struct", &["fields"], &[]),
            NestedKind::List => ("a list", &["element"], &["element_id"]),
            NestedKind::Map => ("a map", &["key", "value"], &["key_id", "value_id"]),
        };
        check_fields(title, &there, needed, allowed)?;
        let NestedFields { kind, fields, element_id, element, key_id, key, value_id, value } = nested;
        Ok(match (kind, fields, element, key.zip(value)) {
            (NestedKind::Struct, Some(fields), ..) => Self::Struct { fields },
            (NestedKind::List, _, Some(element), _) => Self::List { element_id, element },
            (NestedKind::Map, .., Some((key, value))) => Self::Map { key_id, key, value_id, value },
            _ => return Err(format!("{title} needs `{}`", needed.join("`, `"))),
        })
    }
}

/// Holds the fields that are there against those that something of several forms needs and may have in one of them, and says
/// what is missing and what does not belong.
///
/// # Errors
/// All of it as a sentence.
pub fn check_fields(title: &str, there: &[(&str, bool)], needed: &[&str], allowed: &[&str]) -> Result<(), String> {
    let is_there = |name: &str| there.iter().any(|(field, is_there)| *field == name && *is_there);
    let foreign = there.iter().filter(|(_, is_there)| *is_there).map(|(field, _)| field);
    let foreign = foreign.filter(|field| !needed.contains(field) && !allowed.contains(field));
    let messages: Vec<String> = foreign
        .map(|field| format!("{title} has no `{field}`"))
        .chain(needed.iter().filter(|name| !is_there(name)).map(|field| format!("{title} needs `{field}`")))
        .collect();
    if messages.is_empty() { Ok(()) } else { Err(messages.join("; ")) }
}

/// JSON that is no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaJsonError {
    /// A type name that is none.
    #[error("field `{field}`: unknown type `{type_name}`{}", suggested_type(type_name))]
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
    /// The first [`SchemaJsonError`], if a type or default is none.
    pub fn to_new_field(&self) -> Result<NewField, SchemaJsonError> {
        let mut first = None;
        let field = self.convert("", &mut |_, error| {
            first.get_or_insert(error);
        });
        first.map_or(Ok(field), Err)
    }

    /// The field as it is asked for. What is wrong with it is added to the faults, with its place, which begins with `at`; the field
    /// is then good for nothing but to look for more faults: what is of an unknown type is a string.
    pub fn read(&self, at: &str, faults: &mut Vec<Fault>) -> NewField {
        self.convert(at, &mut |at, error| faults.push(Fault::at(at, error.to_string())))
    }

    fn convert(&self, at: &str, found: &mut dyn FnMut(&str, SchemaJsonError)) -> NewField {
        let field_type = self.field_type.convert(&self.name, at, found);
        let default = match (&self.default, &field_type) {
            (None | Some(serde_json::Value::Null), _) => None,
            (Some(json), NewType::Primitive(column_type)) => {
                let default = value_from_json(json, *column_type);
                // Of what is of an unknown type, that is the fault.
                if default.is_none() && self.field_type.is_known() {
                    found(at, SchemaJsonError::BadDefault { field: self.name.clone() });
                }
                default
            }
            (Some(_), _) => {
                found(at, SchemaError::NestedDefault(self.name.clone()).into());
                None
            }
        };
        let (id, name) = (self.id.map(FieldId), self.name.clone());
        NewField { id, name, field_type, nullable: self.nullable, default, doc: self.doc.clone() }
    }
}

impl TypeJson {
    fn is_known(&self) -> bool {
        !matches!(self, Self::Primitive(name) if name.parse::<PrimitiveType>().is_err())
    }

    fn convert(&self, field: &str, at: &str, found: &mut dyn FnMut(&str, SchemaJsonError)) -> NewType {
        match self {
            Self::Primitive(type_name) => NewType::Primitive(type_name.parse().unwrap_or_else(|_| {
                let (field, type_name) = (field.to_owned(), type_name.clone());
                found(at, SchemaJsonError::UnknownType { field, type_name });
                PrimitiveType::String
            })),
            Self::Nested(NestedJson::Struct { fields }) => {
                let fields = fields.iter().enumerate();
                let convert =
                    |(index, field): (usize, &FieldJson)| field.convert(&format!("{at}.type.fields[{index}]"), found);
                NewType::Struct(fields.map(convert).collect())
            }
            Self::Nested(NestedJson::List { element_id, element }) => {
                let element = element.convert(field, &format!("{at}.type.element"), found);
                NewType::List { element_id: element_id.map(FieldId), element: Box::new(element) }
            }
            Self::Nested(NestedJson::Map { key_id, key, value_id, value }) => NewType::Map {
                key_id: key_id.map(FieldId),
                key: Box::new(key.convert(field, &format!("{at}.type.key"), found)),
                value_id: value_id.map(FieldId),
                value: Box::new(value.convert(field, &format!("{at}.type.value"), found)),
            },
        }
    }
}

/// The names of primitive types, those with parameters as examples of them, and what other systems call them.
const TYPE_NAMES: [(&str, &[&str]); 21] = [
    ("boolean", &["bool"]),
    ("int8", &["tinyint"]),
    ("int16", &["smallint", "short"]),
    ("int32", &["int", "integer"]),
    ("int64", &["long", "bigint"]),
    ("uint8", &[]),
    ("uint16", &[]),
    ("uint32", &["uint"]),
    ("uint64", &[]),
    ("float16", &["half"]),
    ("float32", &["float", "real"]),
    ("float64", &["double"]),
    ("decimal(9,2)", &["decimal", "numeric"]),
    ("string", &["text", "varchar", "utf8"]),
    ("binary", &["bytes", "blob"]),
    ("fixed(16)", &["fixed"]),
    ("uuid", &[]),
    ("date", &["date32"]),
    ("time(us)", &[]),
    ("timestamp(us)", &["datetime"]),
    ("timestamptz(us)", &[]),
];

/// The primitive type of a name.
///
/// # Errors
/// That there is none, as a sentence, with the one that was probably meant.
pub fn type_named(name: &str) -> Result<PrimitiveType, String> {
    name.parse().map_err(|_| format!("unknown type `{name}`{}", suggested_type(name)))
}

fn suggested_type(name: &str) -> String {
    // Of `varchar(20)` the type is what stands before its length.
    let folded = name.split('(').next().unwrap_or(name).trim().to_lowercase();
    let by_alias = TYPE_NAMES.iter().find(|(_, aliases)| aliases.contains(&folded.as_str()));
    let suggestion =
        by_alias.map(|(name, _)| *name).or_else(|| nearest(name, TYPE_NAMES.iter().map(|(name, _)| *name)));
    match suggestion {
        Some(name) => format!(", did you mean `{name}`?"),
        None => format!("; there are {}", TYPE_NAMES.map(|(name, _)| name).join(", ")),
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
        // JSON Schema has it that `7.0` is the integer `7`; from 2^53 on floats are more than one apart.
        Literal::Float(value)
            if column_type.is_integer() && value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 =>
        {
            parse_value(&format!("{value:.0}"), column_type).ok()
        }
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
    fn a_whole_float_is_an_integer_of_its_value() {
        let check = |float: f64, column_type: &str, expected: Option<Value>| {
            let value = value_from_literal(&Literal::Float(float), column_type.parse().unwrap());
            assert_eq!(value, expected, "{float} {column_type}");
        };
        check(5.0, "int64", Some(Value::Integer(5)));
        check(-7.0, "int8", Some(Value::Integer(-7)));
        check(-0.0, "uint8", Some(Value::Integer(0)));
        check(5.5, "int64", None);
        check(300.0, "int8", None);
        check(9_007_199_254_740_992.0, "int64", None);
        check(5.0, "decimal(9,2)", None);
        check(5.0, "date", None);
    }

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
    fn a_type_that_was_probably_meant_is_suggested() {
        let check = |name: &str, expected: &str| assert_eq!(type_named(name).unwrap_err(), expected);
        check("int", "unknown type `int`, did you mean `int32`?");
        check("DOUBLE", "unknown type `DOUBLE`, did you mean `float64`?");
        check("int33", "unknown type `int33`, did you mean `int32`?");
        check("timestamp(s", "unknown type `timestamp(s`, did you mean `timestamp(us)`?");
        check("VARCHAR(20)", "unknown type `VARCHAR(20)`, did you mean `string`?");
        check(
            "geometry",
            "unknown type `geometry`; there are boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, \
             float64, decimal(9,2), string, binary, fixed(16), uuid, date, time(us), timestamp(us), timestamptz(us)",
        );
        assert!(TYPE_NAMES.iter().all(|(name, _)| type_named(name).is_ok()));
    }

    #[test]
    fn every_fault_of_a_nested_field_is_found() {
        let json = r#"{"name": "s", "type": {"type": "struct", "fields": [
            {"name": "a", "type": "int7", "default": "x"},
            {"name": "m", "type": {"type": "map", "key": "text", "value": {"type": "list", "element": "blob"}}},
            {"name": "b", "type": "int8", "default": 300}
        ]}, "default": 1}"#;
        let (field, mut faults) = (serde_json::from_str::<FieldJson>(json).unwrap(), Vec::new());
        field.read("f", &mut faults);
        let at: Vec<&str> = faults.iter().filter_map(|fault| fault.at.as_deref()).collect();
        let expected = [
            "f.type.fields[0]",
            "f.type.fields[1].type.key",
            "f.type.fields[1].type.value.type.element",
            "f.type.fields[2]",
            "f",
        ];
        assert_eq!(at, expected);
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
