//! Changes of a table.

use std::collections::BTreeMap;

use prunus_catalog::{
    AlterRequest, Fault, FieldJson, FieldPlace, NameError, SchemaChange, TypeJson, check_fields, type_named,
};
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
#[serde(tag = "op", rename_all = "snake_case", try_from = "SchemaChangeFields")]
pub enum SchemaChangeJson {
    /// A field more.
    #[schema(title = "AddField")]
    Add {
        /// Its id; assigned where absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<FieldIdSchema>)]
        id: Option<i32>,
        /// Its name; a dotted path where it goes into a struct.
        name: String,
        /// Its type.
        #[serde(rename = "type")]
        #[schema(schema_with = TypeSchema::schema)]
        field_type: TypeJson,
        /// Whether rows may be null; they may if it is absent.
        #[schema(required = false, default = true)]
        nullable: bool,
        /// What rows of files without the field read as.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = ValueSchema)]
        default: Option<serde_json::Value>,
        /// A note for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        doc: Option<String>,
        /// The column beside it that it comes after; null to come first, absent to come last.
        #[serde(skip_serializing_if = "PlaceJson::is_last")]
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
        after: PlaceJson,
    },
}

/// The fields of a [`SchemaChangeJson`], whichever change it is. (serde does not say where a fault is in what has variants.)
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaChangeFields {
    op: SchemaChangeOp,
    #[serde(default)]
    id: Option<i32>,
    #[serde(default, deserialize_with = "given")]
    name: Option<String>,
    #[serde(default, rename = "type", deserialize_with = "given")]
    field_type: Option<TypeJson>,
    #[serde(default, deserialize_with = "given")]
    nullable: Option<bool>,
    #[serde(default)]
    default: Option<serde_json::Value>,
    #[serde(default)]
    doc: Option<String>,
    #[serde(default, deserialize_with = "given")]
    after: Option<PlaceJson>,
    #[serde(default, deserialize_with = "given")]
    column: Option<String>,
    #[serde(default, deserialize_with = "given")]
    to: Option<String>,
}

/// Which change it is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SchemaChangeOp {
    Add,
    Rename,
    Drop,
    Widen,
    MakeNullable,
    Move,
}

/// Reads what is there, so that null is something other than nothing.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl SchemaChangeOp {
    /// Its name, the fields that it needs, and those that it may have.
    const fn form(self) -> (&'static str, &'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Add => ("`add`", &["name", "type"], &["id", "nullable", "default", "doc", "after"]),
            Self::Rename => ("`rename`", &["column", "to"], &[]),
            Self::Drop => ("`drop`", &["column"], &[]),
            Self::Widen => ("`widen`", &["column", "type"], &[]),
            Self::MakeNullable => ("`make_nullable`", &["column"], &[]),
            Self::Move => ("`move`", &["column", "after"], &[]),
        }
    }
}

impl TryFrom<SchemaChangeFields> for SchemaChangeJson {
    type Error = String;

    fn try_from(fields: SchemaChangeFields) -> Result<Self, String> {
        let there = [
            ("id", fields.id.is_some()),
            ("name", fields.name.is_some()),
            ("type", fields.field_type.is_some()),
            ("nullable", fields.nullable.is_some()),
            ("default", fields.default.is_some()),
            ("doc", fields.doc.is_some()),
            ("after", fields.after.is_some()),
            ("column", fields.column.is_some()),
            ("to", fields.to.is_some()),
        ];
        let SchemaChangeFields { op, id, name, field_type, nullable, default, doc, after, column, to } = fields;
        let (title, needed, allowed) = op.form();
        check_fields(title, &there, needed, allowed)?;
        let (name, column, to) = (name.unwrap_or_default(), column.unwrap_or_default(), to.unwrap_or_default());
        let after = after.unwrap_or_default();
        Ok(match (op, field_type) {
            (SchemaChangeOp::Add, Some(field_type)) => {
                Self::Add { id, name, field_type, nullable: nullable.unwrap_or(true), default, doc, after }
            }
            (SchemaChangeOp::Widen, Some(TypeJson::Primitive(to))) => Self::Widen { column, to },
            (SchemaChangeOp::Add | SchemaChangeOp::Widen, _) => {
                return Err("`widen` needs the name of a primitive type in `type`".to_owned());
            }
            (SchemaChangeOp::Rename, _) => Self::Rename { column, to },
            (SchemaChangeOp::Drop, _) => Self::Drop { column },
            (SchemaChangeOp::MakeNullable, _) => Self::MakeNullable { column },
            (SchemaChangeOp::Move, _) => Self::Move { column, after },
        })
    }
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

impl AlterTableJson {
    /// The change as the catalog is asked for it, with every fault found: where there are any, what is at fault is another change
    /// that can be looked at with the rest.
    pub(crate) fn parse(self) -> AlterRequest {
        let mut faults = Vec::new();
        let rename = self.rename.map(|name| name.parse()).transpose().unwrap_or_else(|error: NameError| {
            faults.push(Fault::at("rename", error.to_string()));
            None
        });
        let changes = self.schema.into_iter().enumerate();
        let schema = changes.map(|(index, change)| change.parse(&format!("schema[{index}]"), &mut faults)).collect();
        AlterRequest { rename, properties: self.properties, cluster_by: self.cluster_by, schema, faults }
    }
}

impl SchemaChangeJson {
    /// The change. What of it is none is added to the faults, and is another change of the same column.
    fn parse(self, at: &str, faults: &mut Vec<Fault>) -> SchemaChange {
        match self {
            Self::Add { id, name, field_type, nullable, default, doc, after } => {
                let field = FieldJson { id, name, field_type, nullable, default, doc };
                let mut of_field = Vec::new();
                let parsed = field.read(at, &mut of_field);
                faults.extend(of_field.into_iter().map(|fault| fault.in_column(&field.name)));
                SchemaChange::Add { field: parsed, place: after.into() }
            }
            Self::Rename { column, to } => SchemaChange::Rename { column, to },
            Self::Drop { column } => SchemaChange::Drop { column },
            Self::Widen { column, to } => match type_named(&to) {
                Ok(to) => SchemaChange::Widen { column, to },
                Err(message) => {
                    faults.push(Fault::at(at, message).in_column(&column));
                    // Which looks for the column, too.
                    SchemaChange::MakeNullable { column }
                }
            },
            Self::MakeNullable { column } => SchemaChange::MakeNullable { column },
            Self::Move { column, after } => SchemaChange::Move { column, place: after.into() },
        }
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
        let request = body.parse();
        if request.faults.is_empty() { Ok(request) } else { Err(request.faults.into_iter().map(shown).collect()) }
    }

    #[test]
    fn the_document_requires_of_a_change_what_the_server_does() {
        use SchemaChangeOp::{Add, Drop, MakeNullable, Move, Rename, Widen};
        let schema = serde_json::to_value(SchemaChangeJson::schema()).unwrap();
        let described = schema["oneOf"].as_array().unwrap();
        let ops = [Add, Rename, Drop, Widen, MakeNullable, Move];
        assert_eq!(described.len(), ops.len());
        for (described, op) in described.iter().zip(ops) {
            let mut required: Vec<String> = serde_json::from_value(described["required"].clone()).unwrap();
            required.retain(|name| name != "op");
            assert_eq!(required, op.form().1, "{op:?}");
        }
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
        assert_eq!(parse(json!({"schema": [{"op": "move", "column": "a"}]})).unwrap_err(), ["`move` needs `after`"]);
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
                "schema[0] a: field `a`: unknown type `int7`, did you mean `int8`?",
                "schema[2] c: unknown type `long`, did you mean `int64`?",
            ]
        );
    }

    #[test]
    fn a_property_goes_by_null() {
        let properties = parse(json!({"properties": {"a": null, "b": "1"}})).unwrap().properties;
        assert_eq!(properties, [("a".to_owned(), None), ("b".to_owned(), Some("1".to_owned()))].into());
    }
}
