//! Tables: create, list, look at, drop.

use std::collections::BTreeMap;

use prunus_manifest::{
    NewTable as NewTableRow, ReadTransaction, SchemaColumn, SchemaId, SnapshotId, TableRow, Totals, WriteTransaction,
};
use prunus_statistics::{FieldId, PrimitiveType};

use crate::catalog::Catalog;
use crate::column_ref;
use crate::journal::{Change, Made};
use crate::limits::{MAX_CLUSTER_BY_COLUMNS, check_notes, too_many};
use crate::location::{Location, LocationError};
use crate::name::{NamespaceName, TableIdent};
use crate::once::{Done, Once};
use crate::page::PageSize;
use crate::properties::StatisticsProperties;
use crate::schema::{LeafColumn, NewField, Schema, assign_ids_or_all};
use crate::schema_json::{schema_from_text, schema_to_text};
use crate::storage::Allowed;
use crate::{Error, Fault, Result, blocking, schema_from_file};

/// A table as it stands.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its identity, which no other table ever has.
    pub table_id: String,
    /// Where its files lie, if it has a place of its own.
    pub location: Option<String>,
    /// The id of its schema.
    pub schema_id: SchemaId,
    /// Its schema.
    pub schema: Schema,
    /// Its newest snapshot; 0 before the first commit.
    pub current_snapshot: SnapshotId,
    /// Counts the repairs of statistics.
    pub statistics_generation: u64,
    /// What is live in it.
    pub totals: Totals,
    /// The columns that its manifests are clustered by, as keys.
    pub cluster_by: Vec<String>,
    /// What its owner set.
    pub properties: BTreeMap<String, String>,
    /// When it was created, in milliseconds since 1970-01-01T00:00Z.
    pub created_at_ms: i64,
}

/// A table to be created.
#[derive(Clone, Debug)]
pub struct NewTable {
    /// Its name.
    pub ident: TableIdent,
    /// Where its schema comes from.
    pub schema: SchemaSource,
    /// Where its files lie: what relative paths are relative to, and below which `key=value` folders are partitions.
    pub location: Option<String>,
    /// The columns that its manifests are to be clustered by; absent: the first date or timestamp.
    pub cluster_by: Option<Vec<String>>,
    /// What its owner sets.
    pub properties: BTreeMap<String, String>,
}

/// Where the schema of a new table comes from.
#[derive(Clone, Debug)]
pub enum SchemaSource {
    /// These fields.
    Fields(Vec<NewField>),
    /// The schema of this Parquet file, with a string column more for each partition folder above it.
    File(String),
}

impl NewTable {
    /// A table with this schema and nothing else that is its own.
    pub fn new(ident: TableIdent, schema: SchemaSource) -> Self {
        Self { ident, schema, location: None, cluster_by: None, properties: BTreeMap::new() }
    }
}

impl Catalog {
    /// Creates a table without files.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every fault found, [`Error::NotFound`] for the namespace, [`Error::AlreadyExists`],
    /// [`Error::StorageUnavailable`], [`Error::Store`].
    pub async fn create_table(&self, new: NewTable) -> Result<Table> {
        self.create_table_once(new, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::create_table`], and [`Error::KeyReused`].
    pub async fn create_table_once(&self, new: NewTable, once: Once<Table>) -> Result<Done<Table>> {
        let NewTable { ident, schema, location, cluster_by, properties } = new;
        let allowed = self.allowed.of_namespace(ident.namespace.as_str());
        let (fields, mut faults) = match schema {
            SchemaSource::Fields(fields) => (Some(fields), Vec::new()),
            SchemaSource::File(path) => self.fields_of_file(&path, location.as_deref(), allowed).await?,
        };
        faults.extend(location.as_deref().and_then(|text| not_allowed(text, allowed)));
        let definition = define(fields, location.as_deref(), cluster_by.as_deref(), &properties);
        let Definition { location, schema, cluster_by } = match (definition, faults.is_empty()) {
            (Ok(definition), true) => definition,
            (definition, _) => {
                let others = definition.err().unwrap_or_default();
                return Err(Error::Invalid(faults.into_iter().chain(others).collect()));
            }
        };
        let row = NewTableRow {
            namespace: ident.namespace.as_str().to_owned(),
            name: ident.name.as_str().to_owned(),
            uuid: self.clock.new_uuid().to_string(),
            location: location.map(|location| location.as_str().to_owned()),
            schema: schema_to_text(&schema).map_err(|_| Error::StoredSchema)?,
            columns: stored_columns(&schema),
            last_field_id: schema.last_field_id(),
            cluster_by,
            properties,
            created_at_ms: self.clock.now_ms(),
        };
        self.write_once(once, move |tx| {
            let row = tx.create_table(&row)?;
            Ok(Made::change(load(tx, row)?, Change::of_table("create_table", &ident)))
        })
        .await
    }

    /// The fields of a table that is made from a file, or what is wrong with the file. Without a location that reads, the file is
    /// looked for where its path alone says.
    async fn fields_of_file(
        &self,
        path: &str,
        location: Option<&str>,
        allowed: &Allowed,
    ) -> Result<(Option<Vec<NewField>>, Vec<Fault>)> {
        let base = location.and_then(|text| Location::parse(text, None).ok());
        match schema_from_file::schema_of_file(&self.storage.within(allowed), path, base.as_ref()).await {
            Ok(fields) => Ok((Some(fields), Vec::new())),
            Err(Error::Invalid(faults)) => Ok((None, faults)),
            Err(error) => Err(error),
        }
    }

    /// A page of the tables of a namespace in the order of their names, from the first one after `after`, and whether there
    /// are more.
    ///
    /// # Errors
    /// [`Error::NotFound`] for the namespace, [`Error::Store`].
    pub async fn list_tables(
        &self,
        namespace: NamespaceName,
        after: String,
        page_size: PageSize,
    ) -> Result<(Vec<String>, bool)> {
        self.read(move |tx| {
            let mut rows = tx.list_tables(namespace.as_str(), &after, page_size.and_one())?;
            let more = page_size.cut(&mut rows);
            Ok((rows.into_iter().map(|row| row.name).collect(), more))
        })
        .await
    }

    /// The table of this name.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub async fn load_table(&self, ident: TableIdent) -> Result<Table> {
        self.read(move |tx| {
            let row = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            load(tx, row)
        })
        .await
    }

    /// Forgets a table and its snapshots. Its data files are not touched.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub async fn drop_table(&self, ident: TableIdent) -> Result<()> {
        self.drop_table_once(ident, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::drop_table`], and [`Error::KeyReused`].
    pub async fn drop_table_once(&self, ident: TableIdent, once: Once<()>) -> Result<Done<()>> {
        let catalog = self.clone();
        // The head is forgotten also where nobody waits for the answer any more.
        let drop = async move {
            let dropped = ident.clone();
            let drop = move |tx: &WriteTransaction<'_>| {
                let (namespace, name) = (dropped.namespace.as_str(), dropped.name.as_str());
                let last = tx.load_table(namespace, name)?.current_snapshot;
                tx.drop_table(namespace, name)?;
                Ok(Made::change((), Change::of_table("delete_table", &dropped).from(last)))
            };
            let done = catalog.write_once(once, drop).await;
            catalog.heads.forget(&ident);
            done
        };
        blocking::to_the_end(drop).await
    }
}

/// Whether a table's files may not lie at a location. What is none is a fault of another kind.
fn not_allowed(location: &str, allowed: &Allowed) -> Option<Fault> {
    let error = allowed.check_folder(&Location::parse(location, None).ok()?).err()?;
    Some(Fault { path: Some(location.to_owned()), ..Fault::at("location", error.to_string()) })
}

/// What a table is made of.
struct Definition {
    location: Option<Location>,
    schema: Schema,
    cluster_by: Vec<FieldId>,
}

/// What is wrong with a table that is to be created, as far as no file needs to be read for it; `fields` are `None` where they are
/// not known, and nothing is said of columns then.
pub fn faults_of_table(
    fields: Option<Vec<NewField>>,
    location: Option<&str>,
    cluster_by: Option<&[String]>,
    properties: &BTreeMap<String, String>,
) -> Vec<Fault> {
    define(fields, location, cluster_by, properties).err().unwrap_or_default()
}

/// What a table is made of; or every fault, which are none only where the fields are not known.
fn define(
    fields: Option<Vec<NewField>>,
    location: Option<&str>,
    cluster_by: Option<&[String]>,
    properties: &BTreeMap<String, String>,
) -> Result<Definition, Vec<Fault>> {
    let mut faults = Vec::new();
    let location = location.map(|text| Location::parse(text, None)).transpose().unwrap_or_else(|error| {
        let message = match error {
            LocationError::Relative => {
                "a location is an absolute path or a URL, and this is a relative path".to_owned()
            }
            error => error.to_string(),
        };
        faults.push(Fault::at("location", message));
        None
    });
    faults.extend(check_notes("properties", properties));
    let schema = fields.and_then(|fields| match assign_ids_or_all(fields) {
        Ok(schema) => Some(schema),
        Err(errors) => {
            faults.extend(errors.into_iter().map(|error| Fault::at("schema", error.to_string())));
            None
        }
    });
    // Of a schema that cannot be made nobody knows the columns.
    let Some(schema) = schema else {
        faults.extend(StatisticsProperties::parse(properties).err().unwrap_or_default());
        return Err(faults);
    };
    let cluster_by = match cluster_by {
        Some(keys) => cluster_by_ids(keys, &schema.leaf_columns(), &schema.item_columns()).unwrap_or_else(|of_keys| {
            faults.extend(of_keys);
            Vec::new()
        }),
        None => default_cluster_by(&schema.leaf_columns()),
    };
    faults.extend(StatisticsProperties::parse_for(properties, &schema).err().unwrap_or_default());
    if faults.is_empty() { Ok(Definition { location, schema, cluster_by }) } else { Err(faults) }
}

/// The columns of a schema that the store keeps statistics of.
pub(crate) fn stored_columns(schema: &Schema) -> Vec<SchemaColumn> {
    let columns = schema.leaf_columns().into_iter().chain(schema.item_columns());
    columns.map(|column| SchemaColumn { field_id: column.id, column_type: column.column_type }).collect()
}

/// What a table is clustered by if nothing is asked for: the first column of dates or times.
fn default_cluster_by(leaves: &[LeafColumn]) -> Vec<FieldId> {
    let is_time = |leaf: &&LeafColumn| {
        matches!(leaf.column_type, PrimitiveType::Date | PrimitiveType::Timestamp(_) | PrimitiveType::Timestamptz(_))
    };
    leaves.iter().find(is_time).map(|leaf| leaf.id).into_iter().collect()
}

/// The columns of these keys, or a fault for each that is none. `items` are what lies in lists and maps.
pub(crate) fn cluster_by_ids(
    keys: &[String],
    leaves: &[LeafColumn],
    items: &[LeafColumn],
) -> Result<Vec<FieldId>, Vec<Fault>> {
    let (mut ids, mut faults) = (Vec::new(), Vec::new());
    if let Some(fault) = too_many("cluster_by", "columns", keys.len(), MAX_CLUSTER_BY_COLUMNS) {
        return Err(vec![fault]);
    }
    for key in keys {
        match column_ref::find(leaves, key) {
            Some(leaf) => ids.push(leaf.id),
            None => faults.push(Fault::at("cluster_by", column_ref::unknown(key, leaves, items)).in_column(key)),
        }
    }
    if faults.is_empty() { Ok(ids) } else { Err(faults) }
}

/// The keys of these columns; one that is not in the schema has none.
pub(crate) fn cluster_by_keys(ids: &[FieldId], leaves: &[LeafColumn]) -> Vec<String> {
    let leaf = |id: &FieldId| leaves.iter().find(|leaf| leaf.id == *id);
    ids.iter().filter_map(leaf).map(|leaf| column_ref::key(&leaf.path)).collect()
}

/// The schema of a table by its id.
pub(crate) fn load_schema(tx: &ReadTransaction<'_>, row: &TableRow, schema_id: SchemaId) -> Result<Schema> {
    schema_from_text(&tx.load_schema(row.table_id, schema_id)?).ok_or(Error::StoredSchema)
}

/// The table of a row.
pub(crate) fn load(tx: &ReadTransaction<'_>, row: TableRow) -> Result<Table> {
    let schema = load_schema(tx, &row, row.schema_id)?;
    let leaves = schema.leaf_columns();
    let cluster_by = cluster_by_keys(&row.cluster_by, &leaves);
    Ok(Table {
        namespace: row.namespace,
        name: row.name,
        table_id: row.uuid,
        location: row.location,
        schema_id: row.schema_id,
        schema,
        current_snapshot: row.current_snapshot,
        statistics_generation: row.statistics_generation,
        totals: row.totals,
        cluster_by,
        properties: row.properties,
        created_at_ms: row.created_at_ms,
    })
}
