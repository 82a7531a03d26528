//! Tables.

use std::collections::BTreeMap;

use prunus_statistics::FieldId;
use rusqlite::{Row, params};

use crate::error::FormatError;
use crate::ids::Unsigned;
use crate::schema::SchemaColumn;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, NamespaceId, Result, SchemaId, SnapshotId, TableId, Totals, json};

/// A table as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// Its id.
    pub table_id: TableId,
    /// The id of its namespace.
    pub namespace_id: NamespaceId,
    /// The name of its namespace.
    pub namespace: String,
    /// Its name, unique in its namespace.
    pub name: String,
    /// Its id in the world, as it was given at creation.
    pub uuid: String,
    /// Where its files lie, if it has a place of its own.
    pub location: Option<String>,
    /// Its newest snapshot.
    pub current_snapshot: SnapshotId,
    /// What is live in its newest snapshot.
    pub totals: Totals,
    /// Its current schema.
    pub schema_id: SchemaId,
    /// The largest field id that was ever in use.
    pub last_field_id: FieldId,
    /// Counts the repairs of statistics.
    pub statistics_generation: u64,
    /// How many of its entries are in no manifest yet, removed ones counted.
    pub tail_files: u64,
    /// Counts the changes of which manifests there are and which files are in the tail, other than by commits.
    pub layout_generation: u64,
    /// The columns by whose lower bound sealed entries are ordered; none: in the order of arrival.
    pub cluster_by: Vec<FieldId>,
    /// What its owner set.
    pub properties: BTreeMap<String, String>,
    /// When it was created, in milliseconds since 1970-01-01T00:00Z.
    pub created_at_ms: i64,
}

/// A table to be created, with its first schema.
#[derive(Clone, Debug)]
pub struct NewTable {
    /// The name of its namespace, which must exist.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its id in the world, unique in the store.
    pub uuid: String,
    /// Where its files lie, if it has a place of its own.
    pub location: Option<String>,
    /// The schema as JSON text; the store does not look inside.
    pub schema: String,
    /// The columns of the schema that carry statistics.
    pub columns: Vec<SchemaColumn>,
    /// The largest field id of the schema.
    pub last_field_id: FieldId,
    /// The columns by whose lower bound sealed entries are ordered; none: in the order of arrival.
    pub cluster_by: Vec<FieldId>,
    /// What its owner set.
    pub properties: BTreeMap<String, String>,
    /// When it is created, in milliseconds since 1970-01-01T00:00Z.
    pub created_at_ms: i64,
}

// One table in each FROM: what is unique there is looked up by its index whatever SQLite knows of the table's size, while in
// a join a table that once had few rows is read whole.
const SELECT_TABLE: &str = "
    SELECT t.table_id, t.namespace_id,
        (SELECT n.name FROM namespace n WHERE n.namespace_id = t.namespace_id) AS namespace, t.name, t.uuid, t.location,
        t.current_snapshot, t.schema_id, t.last_field_id, t.statistics_generation, t.tail_files, t.layout_generation,
        t.cluster_by, t.properties, t.created_at_ms, s.files, s.rows, s.files_of_unknown_rows, s.bytes
    FROM lake_table t INDEXED BY sqlite_autoindex_lake_table_2
        LEFT JOIN snapshot s INDEXED BY sqlite_autoindex_snapshot_1
            ON s.table_id = t.table_id AND s.snapshot_id = t.current_snapshot
    WHERE t.namespace_id = (SELECT n.namespace_id FROM namespace n WHERE n.name = ?1) AND t.name = ?2";

const SELECT_TABLE_BY_ID: &str = "
    SELECT t.table_id, t.namespace_id,
        (SELECT n.name FROM namespace n WHERE n.namespace_id = t.namespace_id) AS namespace, t.name, t.uuid, t.location,
        t.current_snapshot, t.schema_id, t.last_field_id, t.statistics_generation, t.tail_files, t.layout_generation,
        t.cluster_by, t.properties, t.created_at_ms, s.files, s.rows, s.files_of_unknown_rows, s.bytes
    FROM lake_table t
        LEFT JOIN snapshot s INDEXED BY sqlite_autoindex_snapshot_1
            ON s.table_id = t.table_id AND s.snapshot_id = t.current_snapshot
    WHERE t.table_id = ?1";

// The index is the one of UNIQUE (namespace_id, name).
const LIST_TABLES: &str = "
    SELECT t.table_id, t.namespace_id,
        (SELECT n.name FROM namespace n WHERE n.namespace_id = t.namespace_id) AS namespace, t.name, t.uuid, t.location,
        t.current_snapshot, t.schema_id, t.last_field_id, t.statistics_generation, t.tail_files, t.layout_generation,
        t.cluster_by, t.properties, t.created_at_ms, s.files, s.rows, s.files_of_unknown_rows, s.bytes
    FROM lake_table t INDEXED BY sqlite_autoindex_lake_table_2
        LEFT JOIN snapshot s INDEXED BY sqlite_autoindex_snapshot_1
            ON s.table_id = t.table_id AND s.snapshot_id = t.current_snapshot
    WHERE t.namespace_id = ?1 AND t.name > ?2
    ORDER BY t.name
    LIMIT ?3";

// Of the index alone: each commit asks it.
const SELECT_ID: &str = "
    SELECT t.table_id
    FROM lake_table t INDEXED BY sqlite_autoindex_lake_table_2
    WHERE t.namespace_id = (SELECT n.namespace_id FROM namespace n WHERE n.name = ?1) AND t.name = ?2";

const SELECT_STATISTICS_GENERATION: &str = "
    SELECT statistics_generation
    FROM lake_table
    WHERE table_id = ?1";

const RAISE_STATISTICS_GENERATION: &str = "
    UPDATE lake_table
    SET statistics_generation = statistics_generation + 1
    WHERE table_id = ?1";

const INSERT_TABLE: &str = "
    INSERT INTO lake_table (namespace_id, name, uuid, location, current_snapshot, schema_id, last_field_id,
        statistics_generation, tail_files, cluster_by, properties, created_at_ms)
    VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, 0, 0, ?7, ?8, ?9)";

const SET_CLUSTER_BY: &str = "
    UPDATE lake_table
    SET cluster_by = ?2
    WHERE table_id = ?1";

const DELETE_TABLE: &str = "
    DELETE FROM lake_table
    WHERE table_id = ?1";

impl ReadTransaction<'_> {
    /// The table of this name.
    ///
    /// # Errors
    /// [`Error::NamespaceNotFound`], [`Error::TableNotFound`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn load_table(&self, namespace: &str, name: &str) -> Result<TableRow> {
        if let Some(table) = self.get_table(namespace, name)? {
            return Ok(table);
        }
        self.load_namespace(namespace)?;
        Err(Error::TableNotFound { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// The table of this id.
    ///
    /// # Errors
    /// [`Error::TableGone`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn load_table_by_id(&self, table_id: TableId) -> Result<TableRow> {
        self.query_first(SELECT_TABLE_BY_ID, [table_id], table_row)?.ok_or(Error::TableGone(table_id))
    }

    /// The id of the table of this name, if there is one; costs less than the table.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn get_table_id(&self, namespace: &str, name: &str) -> Result<Option<TableId>> {
        self.query_first(SELECT_ID, [namespace, name], |row| Ok(row.get(0)?))
    }

    /// Up to `limit` tables of a namespace in the order of their names, from the first one after `after` (`""`: from the
    /// first).
    ///
    /// # Errors
    /// [`Error::NamespaceNotFound`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_tables(&self, namespace: &str, after: &str, limit: u32) -> Result<Vec<TableRow>> {
        let namespace_id = self.load_namespace(namespace)?.namespace_id;
        self.query_all(LIST_TABLES, params![namespace_id, after, limit], table_row)
    }

    /// How often statistics of the table were repaired.
    pub(crate) fn load_statistics_generation(&self, table_id: TableId) -> Result<u64> {
        let read = |row: &Row<'_>| Ok(row.get::<_, Unsigned>(0)?.0);
        self.query_first(SELECT_STATISTICS_GENERATION, [table_id], read)?.ok_or(Error::TableGone(table_id))
    }

    pub(crate) fn get_table(&self, namespace: &str, name: &str) -> Result<Option<TableRow>> {
        self.query_first(SELECT_TABLE, [namespace, name], table_row)
    }
}

impl WriteTransaction<'_> {
    /// Creates a table without files.
    ///
    /// # Errors
    /// [`Error::NamespaceNotFound`], [`Error::TableExists`], [`Error::Sqlite`].
    pub fn create_table(&self, new: &NewTable) -> Result<TableRow> {
        let namespace_id = self.load_namespace(&new.namespace)?.namespace_id;
        if self.get_table(&new.namespace, &new.name)?.is_some() {
            return Err(Error::TableExists { namespace: new.namespace.clone(), name: new.name.clone() });
        }
        let values = params![
            namespace_id,
            new.name,
            new.uuid,
            new.location,
            SchemaId::FIRST,
            new.last_field_id.0,
            json::write(&new.cluster_by)?,
            json::write(&new.properties)?,
            new.created_at_ms,
        ];
        let table_id = TableId(self.insert(INSERT_TABLE, values)?);
        self.insert_schema(table_id, SchemaId::FIRST, &new.schema, &new.columns)?;
        self.load_table_by_id(table_id)
    }

    /// Sets the columns by whose lower bounds entries are ordered when they are sealed or grouped anew.
    ///
    /// # Errors
    /// [`Error::TableGone`], [`Error::Sqlite`].
    pub fn set_cluster_by(&self, table_id: TableId, cluster_by: &[FieldId]) -> Result<()> {
        match self.execute(SET_CLUSTER_BY, params![table_id, json::write(&cluster_by)?])? {
            0 => Err(Error::TableGone(table_id)),
            _ => Ok(()),
        }
    }

    /// Notes that statistics of the table were repaired: what is built from older ones is not put in place any more.
    pub(crate) fn raise_statistics_generation(&self, table_id: TableId) -> Result<()> {
        self.execute(RAISE_STATISTICS_GENERATION, [table_id])?;
        Ok(())
    }

    /// Forgets a table with its snapshots and files. The data files themselves are not touched.
    ///
    /// # Errors
    /// [`Error::NamespaceNotFound`], [`Error::TableNotFound`], [`Error::Sqlite`].
    pub fn drop_table(&self, namespace: &str, name: &str) -> Result<()> {
        let table_id = self.load_table(namespace, name)?.table_id;
        self.execute(DELETE_TABLE, [table_id])?;
        Ok(())
    }
}

fn table_row(row: &Row<'_>) -> Result<TableRow> {
    let table_id: TableId = row.get(0)?;
    let cluster_by: String = row.get(12)?;
    let properties: String = row.get(13)?;
    Ok(TableRow {
        table_id,
        namespace_id: row.get(1)?,
        namespace: row.get(2)?,
        name: row.get(3)?,
        uuid: row.get(4)?,
        location: row.get(5)?,
        current_snapshot: row.get(6)?,
        totals: totals_of(row, table_id)?,
        schema_id: row.get(7)?,
        last_field_id: FieldId(row.get(8)?),
        statistics_generation: row.get::<_, Unsigned>(9)?.0,
        tail_files: row.get::<_, Unsigned>(10)?.0,
        layout_generation: row.get::<_, Unsigned>(11)?.0,
        cluster_by: json::read(&cluster_by, "cluster_by of a table", table_id.0)?,
        properties: json::read(&properties, "properties of a table", table_id.0)?,
        created_at_ms: row.get(14)?,
    })
}

/// The totals of the newest snapshot; the empty table has none, and holds nothing.
fn totals_of(row: &Row<'_>, table_id: TableId) -> Result<Totals> {
    if row.get::<_, SnapshotId>(6)? == SnapshotId::EMPTY {
        return Ok(Totals::default());
    }
    let sum = |index| Ok::<_, Error>(row.get::<_, Option<Unsigned>>(index)?.map(|sum| sum.0));
    match (sum(15)?, sum(16)?, sum(17)?, sum(18)?) {
        (Some(files), Some(rows), Some(files_of_unknown_rows), Some(bytes)) => {
            Ok(Totals { files, rows, files_of_unknown_rows, bytes })
        }
        _ => Err(Error::damaged_row("newest snapshot of a table", table_id.0)(FormatError::NoSuchRow)),
    }
}
