//! Changes of a table.

use std::collections::BTreeMap;

use prunus_catalog::{AlterRequest, Fault, FieldJson, FieldPlace, NameError, SchemaChange, TypeJson, whole_number};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::openapi::values::{FieldIdSchema, QualifiedNameSchema, TypeSchema, ValueSchema};

/// What is to become of a table. What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({
    "properties": {"owner": "data"}, "schema": [{"op": "add", "name": "tip", "type": "decimal(9,2)", "after": "fare"}],
})))]
pub struct AlterTableJson {
    /// Its new name, behind that of its namespace and a dot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<QualifiedNameSchema>)]
    pub rename: Option<String>,
    /// Properties by key; null for one that goes.
    #[serde(default, deserialize_with = "super::unique_map::deserialize", skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Option<String>>,
    /// The columns that its manifests are to be clustered by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_by: Option<Vec<String>>,
    /// Changes of its schema, which apply in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schema: Vec<SchemaChangeJson>,
}

/// A change of a schema. Columns are named by name, by dotted path through structs, or by `#id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum SchemaChangeJson {
    /// A field more.
    #[schema(title = "AddField")]
    Add {
        /// Its id; assigned where absent.
        #[serde(default, deserialize_with = "whole_number::optional", skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<FieldIdSchema>)]
        id: Option<i32>,
        /// Its name; a dotted path where it goes into a struct.
        name: String,
        /// Its type.
        #[serde(rename = "type")]
        #[schema(schema_with = TypeSchema::schema)]
        field_type: TypeJson,
        /// Whether rows may be null; they may if it is absent.
        #[serde(default = "nullable")]
        nullable: bool,
        /// What rows of files without the field read as.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = ValueSchema)]
        default: Option<serde_json::Value>,
        /// A note for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doc: Option<String>,
        /// The column beside it that it comes after; null to come first, absent to come last.
        #[serde(default, skip_serializing_if = "PlaceJson::is_last")]
        after: PlaceJson,
    },
    /// Another name.
    #[schema(title = "RenameField")]
    Rename {
        /// The column.
        column: String,
        /// Its new name, without those of the structs around it.
        to: String,
    },
    /// A field fewer.
    #[schema(title = "DropField")]
    Drop {
        /// The column.
        column: String,
    },
    /// A type that holds all values of the one before.
    #[schema(title = "WidenField")]
    Widen {
        /// The column.
        column: String,
        /// The name of its new type.
        #[serde(rename = "type")]
        to: String,
    },
    /// Rows may be null from now on.
    #[schema(title = "MakeNullable")]
    MakeNullable {
        /// The column.
        column: String,
    },
    /// Another place among the columns beside it.
    #[schema(title = "MoveField")]
    Move {
        /// The column.
        column: String,
        /// The column beside it that it comes after; null to come first.
        #[serde(deserialize_with = "required")]
        after: PlaceJson,
    },
}

fn nullable() -> bool {
    true
}

/// A place among the columns beside it: null, or the column that it comes after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<String>", into = "Option<String>")]
pub enum PlaceJson {
    /// Behind all others; said by saying nothing.
    #[default]
    Last,
    /// Before all others.
    First,
    /// Behind this one.
    After(String),
}

impl PartialSchema for PlaceJson {
    fn schema() -> RefOr<Schema> {
        let description = "The column beside it that it comes after; null to come first.";
        let place = ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null]));
        place.description(Some(description)).into()
    }
}

impl ToSchema for PlaceJson {}

impl PlaceJson {
    fn is_last(&self) -> bool {
        *self == Self::Last
    }
}

impl From<Option<String>> for PlaceJson {
    fn from(after: Option<String>) -> Self {
        after.map_or(Self::First, Self::After)
    }
}

impl From<PlaceJson> for Option<String> {
    fn from(place: PlaceJson) -> Self {
        match place {
            PlaceJson::Last | PlaceJson::First => None,
            PlaceJson::After(column) => Some(column),
        }
    }
}

impl From<PlaceJson> for FieldPlace {
    fn from(place: PlaceJson) -> Self {
        match place {
            PlaceJson::Last => Self::Last,
            PlaceJson::First => Self::First,
            PlaceJson::After(column) => Self::After(column),
        }
    }
}

/// Without it, serde takes an option that is absent for null.
fn required<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PlaceJson, D::Error> {
    PlaceJson::deserialize(deserializer)
}

impl AlterTableJson {
    /// The change as the catalog is asked for it; every fault found.
    pub(crate) fn parse(self) -> Result<AlterRequest, Vec<Fault>> {
        let mut faults = Vec::new();
        let rename = self.rename.map(|name| name.parse()).transpose().unwrap_or_else(|error: NameError| {
            faults.push(Fault::at("rename", error.to_string()));
            None
        });
        let mut schema = Vec::with_capacity(self.schema.len());
        for (index, change) in self.schema.into_iter().enumerate() {
            match change.parse() {
                Ok(change) => schema.push(change),
                Err((column, message)) => {
                    faults.push(Fault::at(format!("schema[{index}]"), message).in_column(column));
                }
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(AlterRequest { rename, properties: self.properties, cluster_by: self.cluster_by, schema })
    }
}

impl SchemaChangeJson {
    /// The change; or its column, and what is wrong.
    fn parse(self) -> Result<SchemaChange, (String, String)> {
        Ok(match self {
            Self::Add { id, name, field_type, nullable, default, doc, after } => {
                let field = FieldJson { id, name, field_type, nullable, default, doc };
                let parsed = field.to_new_field().map_err(|error| (field.name, error.to_string()))?;
                SchemaChange::Add { field: parsed, place: after.into() }
            }
            Self::Rename { column, to } => SchemaChange::Rename { column, to },
            Self::Drop { column } => SchemaChange::Drop { column },
            Self::Widen { column, to } => match to.parse() {
                Ok(to) => SchemaChange::Widen { column, to },
                Err(error) => return Err((column, format!("{error}"))),
            },
            Self::MakeNullable { column } => SchemaChange::MakeNullable { column },
            Self::Move { column, after } => SchemaChange::Move { column, place: after.into() },
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(json: serde_json::Value) -> Result<AlterRequest, Vec<String>> {
        let body: AlterTableJson = serde_json::from_value(json).map_err(|error| vec![error.to_string()])?;
        let shown = |fault: Fault| {
            format!("{} {}: {}", fault.at.unwrap_or_default(), fault.column.unwrap_or_default(), fault.message)
        };
        body.parse().map_err(|faults| faults.into_iter().map(shown).collect())
    }

    #[test]
    fn a_place_is_first_last_or_after_another() {
        let places = parse(json!({"schema": [
            {"op": "add", "name": "a", "type": "int8"},
            {"op": "add", "name": "b", "type": "int8", "after": null},
            {"op": "add", "name": "c", "type": "int8", "after": "b"},
            {"op": "move", "column": "a", "after": null},
        ]}));
        let places: Vec<FieldPlace> = places
            .unwrap()
            .schema
            .into_iter()
            .map(|change| match change {
                SchemaChange::Add { place, .. } | SchemaChange::Move { place, .. } => place,
                other => panic!("{other:?}"),
            })
            .collect();
        let after = FieldPlace::After("b".to_owned());
        assert_eq!(places, [FieldPlace::Last, FieldPlace::First, after, FieldPlace::First]);
    }

    #[test]
    fn a_move_says_where_to() {
        assert_eq!(parse(json!({"schema": [{"op": "move", "column": "a"}]})).unwrap_err(), ["missing field `after`"]);
    }

    #[test]
    fn every_change_that_does_not_read_is_named() {
        let faults = parse(json!({"rename": "t", "schema": [
            {"op": "add", "name": "a", "type": "int7"},
            {"op": "drop", "column": "b"},
            {"op": "widen", "column": "c", "type": "long"},
        ]}));
        assert_eq!(
            faults.unwrap_err(),
            [
                "rename : `t` names no namespace: write NAMESPACE.TABLE",
                "schema[0] a: field `a`: unknown type `int7`",
                "schema[2] c: unknown type `long`",
            ]
        );
    }

    #[test]
    fn a_property_goes_by_null() {
        let properties = parse(json!({"properties": {"a": null, "b": "1"}})).unwrap().properties;
        assert_eq!(properties, [("a".to_owned(), None), ("b".to_owned(), Some("1".to_owned()))].into());
    }
}
