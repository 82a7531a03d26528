//! The schemas of a table: text that the store keeps, and the columns in it that carry statistics.

use prunus_statistics::{FieldId, PrimitiveType};
use rusqlite::{Row, params};

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, Result, SchemaId, TableId};

/// A column that carries statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SchemaColumn {
    /// The field.
    pub field_id: FieldId,
    /// Its type.
    pub column_type: PrimitiveType,
}

const SELECT_SCHEMA: &str = "
    SELECT schema
    FROM table_schema
    WHERE table_id = ?1 AND schema_id = ?2";

const LIST_SCHEMAS: &str = "
    SELECT schema
    FROM table_schema
    WHERE table_id = ?1
    ORDER BY schema_id";

const LIST_COLUMNS: &str = "
    SELECT field_id, column_type, schema_id
    FROM schema_column
    WHERE table_id = ?1
    ORDER BY schema_id, field_id";

const INSERT_SCHEMA: &str = "
    INSERT INTO table_schema (table_id, schema_id, schema)
    VALUES (?1, ?2, ?3)";

const INSERT_COLUMN: &str = "
    INSERT INTO schema_column (table_id, schema_id, field_id, column_type)
    VALUES (?1, ?2, ?3, ?4)";

impl ReadTransaction<'_> {
    /// The schema of a table as the JSON text that it was stored as.
    ///
    /// # Errors
    /// [`Error::SchemaNotFound`], [`Error::Sqlite`].
    pub fn load_schema(&self, table_id: TableId, schema_id: SchemaId) -> Result<String> {
        self.query_first(SELECT_SCHEMA, params![table_id, schema_id], |row| Ok(row.get(0)?))?
            .ok_or(Error::SchemaNotFound { table_id, schema_id })
    }

    /// All schemas that the table has and had, oldest first, as they were stored.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn list_schemas(&self, table_id: TableId) -> Result<Vec<String>> {
        self.query_all(LIST_SCHEMAS, [table_id], |row| Ok(row.get(0)?))
    }

    /// Every column that any schema of the table has or had, ascending by field, in its newest type. What is stored of files in
    /// the tail is in these types.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_columns(&self, table_id: TableId) -> Result<Vec<SchemaColumn>> {
        let rows = self.query_all(LIST_COLUMNS, [table_id], schema_column)?;
        let newest: std::collections::BTreeMap<_, _> =
            rows.into_iter().map(|column| (column.field_id, column)).collect();
        Ok(newest.into_values().collect())
    }
}

impl WriteTransaction<'_> {
    pub(crate) fn insert_schema(
        &self,
        table_id: TableId,
        schema_id: SchemaId,
        schema: &str,
        columns: &[SchemaColumn],
    ) -> Result<()> {
        self.execute(INSERT_SCHEMA, params![table_id, schema_id, schema])?;
        for column in columns {
            let column_type = column.column_type.to_string();
            self.execute(INSERT_COLUMN, params![table_id, schema_id, column.field_id.0, column_type])?;
        }
        Ok(())
    }
}

fn schema_column(row: &Row<'_>) -> Result<SchemaColumn> {
    let column_type: String = row.get(1)?;
    let column_type = column_type.parse().map_err(Error::damaged_row("columns of a schema", row.get(2)?))?;
    Ok(SchemaColumn { field_id: FieldId(row.get(0)?), column_type })
}
