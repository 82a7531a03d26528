//! Changes of a table's definition: its name, schema, order and properties.

use std::collections::BTreeMap;

use prunus_statistics::{FieldId, PrimitiveType, Reading};
use rusqlite::params;

use crate::schema::SchemaColumn;
use crate::table::TableRow;
use crate::tail::EncodedStatistics;
use crate::transaction::WriteTransaction;
use crate::{Error, Result, SchemaId, TableId, json};

/// What is to become of a table. What is `None` stays as it is.
#[derive(Clone, Debug)]
pub struct TableChange {
    /// The table.
    pub table_id: TableId,
    /// Its namespace, which must exist, and its name there.
    pub name: Option<(String, String)>,
    /// Its schema.
    pub schema: Option<NewSchema>,
    /// The columns by whose lower bound sealed entries are ordered.
    pub cluster_by: Option<Vec<FieldId>>,
    /// All that its owner set.
    pub properties: Option<BTreeMap<String, String>>,
}

/// A schema that is to follow another one.
#[derive(Clone, Debug)]
pub struct NewSchema {
    /// The schema as JSON text; the store does not look inside.
    pub text: String,
    /// The columns of it that carry statistics. A column that there was may be of a type that holds all values of the former.
    pub columns: Vec<SchemaColumn>,
    /// The largest field id that was ever in use in the table.
    pub last_field_id: FieldId,
}

const UPDATE_TABLE: &str = "
    UPDATE lake_table
    SET namespace_id = ?2, name = ?3, schema_id = ?4, last_field_id = ?5, cluster_by = ?6, properties = ?7
    WHERE table_id = ?1";

const RAISE_STATISTICS_GENERATION: &str = "
    UPDATE lake_table
    SET statistics_generation = statistics_generation + 1
    WHERE table_id = ?1";

/// A column whose values are stored as others from now on.
struct Moved {
    field_id: FieldId,
    from: PrimitiveType,
    to: PrimitiveType,
}

impl WriteTransaction<'_> {
    /// Changes a table, all or nothing.
    ///
    /// # Errors
    /// [`Error::TableGone`], [`Error::NamespaceNotFound`], [`Error::TableExists`]; [`Error::DamagedRow`], [`Error::Sqlite`].
    pub fn alter_table(&self, change: &TableChange) -> Result<TableRow> {
        let table_id = change.table_id;
        let row = self.load_table_by_id(table_id)?;
        let (namespace, name) = change.name.as_ref().unwrap_or(&(row.namespace, row.name)).clone();
        let namespace_id = self.load_namespace(&namespace)?.namespace_id;
        if self.get_table(&namespace, &name)?.is_some_and(|other| other.table_id != table_id) {
            return Err(Error::TableExists { namespace, name });
        }
        let (mut schema_id, mut last_field_id) = (row.schema_id, row.last_field_id);
        if let Some(schema) = &change.schema {
            schema_id = SchemaId(schema_id.0 + 1);
            last_field_id = schema.last_field_id;
            self.follow_with(table_id, schema_id, schema)?;
        }
        let values = params![
            table_id,
            namespace_id,
            name,
            schema_id,
            last_field_id.0,
            json::write(change.cluster_by.as_ref().unwrap_or(&row.cluster_by))?,
            json::write(change.properties.as_ref().unwrap_or(&row.properties))?,
        ];
        self.execute(UPDATE_TABLE, values)?;
        self.load_table_by_id(table_id)
    }

    fn follow_with(&self, table_id: TableId, schema_id: SchemaId, schema: &NewSchema) -> Result<()> {
        let before: BTreeMap<FieldId, PrimitiveType> =
            self.list_columns(table_id)?.into_iter().map(|column| (column.field_id, column.column_type)).collect();
        self.insert_schema(table_id, schema_id, &schema.text, &schema.columns)?;
        let moved = schema.columns.iter().filter_map(|column| {
            let SchemaColumn { field_id, column_type: to } = *column;
            let from = before.get(&field_id).copied()?;
            (!Reading::of(from, to).keeps_values()).then_some(Moved { field_id, from, to })
        });
        self.rewrite_tail(table_id, &moved.collect::<Vec<_>>())?;
        self.note_late_columns(table_id);
        Ok(())
    }

    /// Blocks say which type they were written as; the statistics of the tail do not, and are always in the newest one.
    fn rewrite_tail(&self, table_id: TableId, moved: &[Moved]) -> Result<()> {
        if moved.is_empty() {
            return Ok(());
        }
        for mut entry in self.list_tail(table_id)? {
            let mut is_changed = false;
            for Moved { field_id, from, to } in moved {
                if let Some(column) = entry.statistics.columns.remove(field_id) {
                    entry.statistics.columns.insert(*field_id, column.read_as(*from, *to));
                    is_changed = true;
                }
            }
            if is_changed {
                self.update_tail_statistics(entry.file_id, &EncodedStatistics::new(&entry.statistics)?)?;
            }
        }
        self.execute(RAISE_STATISTICS_GENERATION, [table_id])?;
        Ok(())
    }
}
