//! Tables and their schemas.

use std::collections::BTreeMap;

use prunus_catalog::schema::Schema;
use prunus_catalog::{Fault, FieldJson, NamespaceName, NewTable, SchemaId, SchemaSource, Table, TableIdent};
use serde::{Deserialize, Serialize};

use super::time::to_rfc3339;

/// A table to be created, with a schema of its own or that of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewTableJson {
    /// Its name.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSchemaJson {
    /// Its fields.
    pub fields: Vec<FieldJson>,
}

impl NewTableJson {
    /// The table as the catalog is asked for it; every fault found.
    pub(crate) fn parse(self, namespace: NamespaceName) -> Result<NewTable, Vec<Fault>> {
        let name = self.name.parse().map_err(|error| Fault::at("name", format!("{error}")));
        let schema = match (self.schema, self.schema_from) {
            (Some(schema), None) => schema.parse().map(SchemaSource::Fields),
            (None, Some(path)) => Ok(SchemaSource::File(path)),
            (None, None) => Err(vec![Fault::at("schema", "a table needs one of schema and schema_from")]),
            (Some(_), Some(_)) => Err(vec![Fault::at("schema_from", "schema and schema_from exclude each other")]),
        };
        match (name, schema) {
            (Ok(name), Ok(schema)) => Ok(NewTable {
                ident: TableIdent { namespace, name },
                schema,
                location: self.location,
                cluster_by: self.cluster_by,
                properties: self.properties,
            }),
            (name, schema) => Err(name.err().into_iter().chain(schema.err().into_iter().flatten()).collect()),
        }
    }
}

impl NewSchemaJson {
    fn parse(self) -> Result<Vec<prunus_catalog::schema::NewField>, Vec<Fault>> {
        let mut fields = Vec::with_capacity(self.fields.len());
        let mut faults = Vec::new();
        for (index, field) in self.fields.iter().enumerate() {
            match field.to_new_field() {
                Ok(field) => fields.push(field),
                Err(error) => faults.push(Fault::at(format!("schema.fields[{index}]"), error.to_string())),
            }
        }
        if faults.is_empty() { Ok(fields) } else { Err(faults) }
    }
}

/// A schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SchemaJson {
    /// Its id, which counts up in its table.
    pub schema_id: i64,
    /// Its fields.
    pub fields: Vec<FieldJson>,
}

impl SchemaJson {
    pub(super) fn new(schema_id: SchemaId, schema: &Schema) -> Self {
        Self { schema_id: schema_id.0, fields: schema.fields().iter().map(FieldJson::from).collect() }
    }
}

/// A table as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableJson {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its identity, which no other table ever has.
    pub table_id: String,
    /// Where its files lie; null if it has no place of its own.
    pub location: Option<String>,
    /// Its schema.
    pub schema: SchemaJson,
    /// Its newest snapshot; 0 before the first commit.
    pub current_snapshot: i64,
    /// Counts the times that statistics of its files were mended, by which no snapshot changes.
    #[serde(default)]
    pub statistics_generation: u64,
    /// How many files are live.
    pub files: u64,
    /// The rows of those whose row count is known.
    pub rows: u64,
    /// How many of them have no known row count.
    #[serde(default)]
    pub files_of_unknown_rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The columns that its manifests are clustered by.
    pub cluster_by: Vec<String>,
    /// What its owner set.
    pub properties: BTreeMap<String, String>,
    /// When it was created, RFC 3339.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableNameJson {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A page of a namespace's tables by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TablesJson {
    /// The page.
    pub tables: Vec<TableNameJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
            {"name": "x", "type": "int32"}, {"name": "y", "type": "int33"}, {"name": "z", "type": "int8", "default": 300}
        ]}});
        assert_eq!(
            faults(bad),
            [
                pair("name", "a name cannot hold the character '.'"),
                pair("schema.fields[1]", "field `y`: unknown type `int33`"),
                pair("schema.fields[2]", "field `z`: the default is not a value of its type"),
            ]
        );
    }

    #[test]
    fn a_table_has_its_schema_from_one_place() {
        assert_eq!(faults(serde_json::json!({"name": "t"})).first().unwrap().0, "schema");
        let both = serde_json::json!({"name": "t", "schema": {"fields": []}, "schema_from": "/x.parquet"});
        assert_eq!(faults(both).first().unwrap().0, "schema_from");
    }
}
