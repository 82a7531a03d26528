//! Of a file whose schema cannot be a table's, the columns that a table can have all the same.

use prunus_catalog::schema::MAX_FIELD_NAME_BYTES;
use serde_json::{Value as Json, json};

use crate::case::{Case, path};

/// A schema, as `prunus table create --schema` takes it, of the file's top-level columns whose names are theirs alone and whose
/// types are a table's. Annotations that only old writers make are left out.
pub(crate) fn schema(case: &Case) -> Json {
    let names: Vec<&str> = case.leaves().iter().map(|leaf| path(leaf)[0]).collect();
    let is_unique = |leaf: &&Json| names.iter().filter(|name| **name == path(leaf)[0]).count() == 1;
    let field = |leaf: &Json| Some(json!({"name": sole_name(leaf)?, "type": type_name(leaf)?}));
    let fields: Vec<Json> = case.leaves().iter().filter(is_unique).filter_map(field).collect();
    json!({"fields": fields})
}

fn sole_name(leaf: &Json) -> Option<&str> {
    match path(leaf)[..] {
        [name] if name.len() <= MAX_FIELD_NAME_BYTES => Some(name),
        _ => None,
    }
}

fn type_name(leaf: &Json) -> Option<String> {
    let logical = &leaf["logical"];
    if logical.is_null() && leaf["converted"].is_null() {
        return plain_type(leaf);
    }
    let number = |key: &str| logical[key].as_u64();
    let unit = || match logical["unit"].as_str()? {
        "MILLIS" => Some("ms"),
        "MICROS" => Some("us"),
        "NANOS" => Some("ns"),
        _ => None,
    };
    Some(match logical["type"].as_str()? {
        "STRING" | "JSON" | "ENUM" => "string".to_owned(),
        "BSON" => "binary".to_owned(),
        "UUID" => "uuid".to_owned(),
        "FLOAT16" => "float16".to_owned(),
        "DATE" => "date".to_owned(),
        "TIME" => format!("time({})", unit()?),
        "TIMESTAMP" if logical["utc"] == true => format!("timestamptz({})", unit()?),
        "TIMESTAMP" => format!("timestamp({})", unit()?),
        "INTEGER" if logical["signed"] == true => format!("int{}", number("bits")?),
        "INTEGER" => format!("uint{}", number("bits")?),
        "DECIMAL" if number("precision")? <= Case::MAX_DECIMAL_PRECISION => {
            format!("decimal({},{})", number("precision")?, number("scale")?)
        }
        _ => return None,
    })
}

fn plain_type(leaf: &Json) -> Option<String> {
    Some(match leaf["physical"].as_str()? {
        "BOOLEAN" => "boolean".to_owned(),
        "INT32" => "int32".to_owned(),
        "INT64" => "int64".to_owned(),
        "INT96" => "timestamp(ns)".to_owned(),
        "FLOAT" => "float32".to_owned(),
        "DOUBLE" => "float64".to_owned(),
        "BYTE_ARRAY" => "binary".to_owned(),
        "FIXED_LEN_BYTE_ARRAY" => format!("fixed({})", leaf["type_length"].as_u64().filter(|length| *length > 0)?),
        _ => return None,
    })
}
