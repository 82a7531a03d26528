//! Tables and their schemas.

use std::collections::BTreeMap;

use prunus_catalog::schema::{NewField, Schema};
use prunus_catalog::{
    Fault, FieldJson, NamespaceName, NewTable, SchemaId, SchemaSource, Table, TableIdent, TableName, faults_of_table,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::time::to_rfc3339;
use crate::openapi::values::{FieldSchema, NameSchema};

/// A table to be created, with a schema of its own or that of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({
    "name": "trips", "location": "s3://lake/raw/trips/", "cluster_by": ["day"],
    "schema": {"fields": [{"name": "day", "type": "date", "nullable": false}, {"name": "fare", "type": "decimal(9,2)"}]},
})))]
pub struct NewTableJson {
    /// Its name.
    #[schema(value_type = NameSchema)]
    pub name: String,
    /// Its schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<NewSchemaJson>,
    /// A Parquet file whose schema it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_from: Option<String>,
    /// Where its files lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The columns that its manifests are to be clustered by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_by: Option<Vec<String>>,
    /// What its owner sets.
    #[serde(default, deserialize_with = "super::unique_map::deserialize", skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
}

/// The schema of a table to be created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSchemaJson {
    /// Its fields.
    #[schema(value_type = Vec<FieldSchema>)]
    pub fields: Vec<FieldJson>,
}

impl NewTableJson {
    /// The table as the catalog is asked for it; or every fault, those too that the catalog would find without reading a file.
    pub(crate) fn parse(self, namespace: NamespaceName) -> Result<NewTable, Vec<Fault>> {
        let Self { name, schema, schema_from, location, cluster_by, properties } = self;
        let mut faults = Vec::new();
        let name: Option<TableName> =
            name.parse().map_err(|error| faults.push(Fault::at("name", format!("{error}")))).ok();
        let fields = schema.map(|schema| schema.parse(&mut faults));
        let schema = match (fields, schema_from) {
            (Some(fields), None) => Some(SchemaSource::Fields(fields)),
            (None, Some(path)) => Some(SchemaSource::File(path)),
            (None, None) => {
                faults.push(Fault::at("schema", "a table needs one of schema and schema_from"));
                None
            }
            (Some(_), Some(_)) => {
                faults.push(Fault::at("schema_from", "schema and schema_from exclude each other"));
                None
            }
        };
        match (name, schema) {
            (Some(name), Some(schema)) if faults.is_empty() => {
                let ident = TableIdent { namespace, name };
                Ok(NewTable { ident, schema, location, cluster_by, properties })
            }
            (_, schema) => {
                let fields = match schema {
                    Some(SchemaSource::Fields(fields)) => Some(fields),
                    _ => None,
                };
                faults.extend(faults_of_table(fields, location.as_deref(), cluster_by.as_deref(), &properties));
                Err(faults)
            }
        }
    }
}

impl NewSchemaJson {
    fn parse(self, faults: &mut Vec<Fault>) -> Vec<NewField> {
        let fields = self.fields.iter().enumerate();
        fields.map(|(index, field)| field.read(&format!("schema.fields[{index}]"), faults)).collect()
    }
}

/// A schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SchemaJson {
    /// Its id, which counts up in its table.
    pub schema_id: i64,
    /// Its fields.
    #[schema(value_type = Vec<FieldSchema>)]
    pub fields: Vec<FieldJson>,
}

impl SchemaJson {
    pub(crate) fn new(schema_id: SchemaId, schema: &Schema) -> Self {
        Self { schema_id: schema_id.0, fields: schema.fields().iter().map(FieldJson::from).collect() }
    }
}

/// A table as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TableJson {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its identity, which no other table ever has.
    pub table_id: String,
    /// Where its files lie; null if it has no place of its own.
    #[schema(required = true)]
    pub location: Option<String>,
    /// Its schema.
    pub schema: SchemaJson,
    /// Its newest snapshot; 0 before the first commit.
    pub current_snapshot: i64,
    /// Counts the times that statistics of its files were mended, by which no snapshot changes.
    #[serde(default)]
    #[schema(required = true)]
    pub statistics_generation: u64,
    /// How many files are live.
    pub files: u64,
    /// The rows of those whose row count is known.
    pub rows: u64,
    /// How many of them have no known row count.
    #[serde(default)]
    #[schema(required = true)]
    pub files_of_unknown_rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The columns that its manifests are clustered by.
    pub cluster_by: Vec<String>,
    /// What its owner set.
    pub properties: BTreeMap<String, String>,
    /// When it was created, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl From<Table> for TableJson {
    fn from(table: Table) -> Self {
        Self {
            schema: SchemaJson::new(table.schema_id, &table.schema),
            namespace: table.namespace,
            name: table.name,
            table_id: table.table_id,
            location: table.location,
            current_snapshot: table.current_snapshot.0,
            statistics_generation: table.statistics_generation,
            files: table.totals.files,
            rows: table.totals.rows,
            files_of_unknown_rows: table.totals.files_of_unknown_rows,
            bytes: table.totals.bytes,
            cluster_by: table.cluster_by,
            properties: table.properties,
            created_at: to_rfc3339(table.created_at_ms),
        }
    }
}

/// A table in a listing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TableNameJson {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A page of a namespace's tables by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TablesJson {
    /// The page.
    pub tables: Vec<TableNameJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(json: serde_json::Value) -> Vec<(String, String)> {
        let table: NewTableJson = serde_json::from_value(json).unwrap();
        let faults = table.parse("n".parse().unwrap()).unwrap_err();
        faults.into_iter().map(|fault| (fault.at.unwrap_or_default(), fault.message)).collect()
    }

    #[test]
    fn every_fault_of_a_new_table_is_found() {
        let pair = |at: &str, message: &str| (at.to_owned(), message.to_owned());
        let bad = serde_json::json!({"name": "a.b", "schema": {"fields": [
            {"name": "x", "type": "int32"}, {"name": "y", "type": "int33"}, {"name": "z", "type": "int8", "default": 300},
            {"name": "x", "type": "date"}
        ]}, "location": "relative", "cluster_by": ["x", "yy"], "properties": {"verification": "foter", "statistics.zz": "none"}});
        assert_eq!(
            faults(bad),
            [
                pair("name", "a name cannot hold the character '.'"),
                pair("schema.fields[1]", "field `y`: unknown type `int33`, did you mean `int32`?"),
                pair("schema.fields[2]", "field `z`: the default is not a value of its type"),
                pair("location", "a location is an absolute path or a URL, and this is a relative path"),
                pair("schema", "two fields are named `x`"),
                pair(
                    "properties.verification",
                    "`foter` is none of `footer`, `scan`, `declared`; did you mean `footer`?"
                ),
            ]
        );
    }

    #[test]
    fn columns_are_looked_for_where_the_names_of_all_are_known() {
        let bad = serde_json::json!({"name": "t", "schema": {"fields": [{"name": "amount", "type": "int33"}]},
            "cluster_by": ["amount", "amont"], "properties": {"statistics.amuont": "none"}});
        let at: Vec<_> = faults(bad).into_iter().map(|(at, _)| at).collect();
        assert_eq!(at, ["schema.fields[0]", "cluster_by", "properties.statistics.amuont"]);
    }

    #[test]
    fn a_table_has_its_schema_from_one_place() {
        assert_eq!(faults(serde_json::json!({"name": "t"})).first().unwrap().0, "schema");
        let both = serde_json::json!({"name": "t", "schema": {"fields": []}, "schema_from": "/x.parquet"});
        assert_eq!(faults(both).first().unwrap().0, "schema_from");
    }
}
