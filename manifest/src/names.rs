//! Names alone, for whoever looks for one that is like another: indexes are read, no rows.

use rusqlite::params;

use crate::Result;
use crate::transaction::ReadTransaction;

const LIST_NAMESPACE_NAMES: &str = "
    SELECT name
    FROM namespace
    ORDER BY name
    LIMIT ?1";

const LIST_TABLE_NAMES: &str = "
    SELECT t.name
    FROM lake_table t INDEXED BY sqlite_autoindex_lake_table_2
    WHERE t.namespace_id = (SELECT n.namespace_id FROM namespace n WHERE n.name = ?1)
    ORDER BY t.name
    LIMIT ?2";

const LIST_NAMESPACES_OF_TABLE: &str = "
    SELECT n.name
    FROM (SELECT namespace_id, name FROM namespace ORDER BY name LIMIT ?2) n
    WHERE EXISTS (
        SELECT 1
        FROM lake_table t INDEXED BY sqlite_autoindex_lake_table_2
        WHERE t.namespace_id = n.namespace_id AND t.name = ?1)
    ORDER BY n.name";

impl ReadTransaction<'_> {
    /// The first `limit` names of namespaces, in their order.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn list_namespace_names(&self, limit: u32) -> Result<Vec<String>> {
        self.query_all(LIST_NAMESPACE_NAMES, [limit], |row| Ok(row.get(0)?))
    }

    /// The first `limit` names of a namespace's tables, in their order; none where there is no such namespace.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn list_table_names(&self, namespace: &str, limit: u32) -> Result<Vec<String>> {
        self.query_all(LIST_TABLE_NAMES, params![namespace, limit], |row| Ok(row.get(0)?))
    }

    /// Those of the first `limit` namespaces that have a table of this name, in the order of their names.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn list_namespaces_of_table(&self, name: &str, limit: u32) -> Result<Vec<String>> {
        self.query_all(LIST_NAMESPACES_OF_TABLE, params![name, limit], |row| Ok(row.get(0)?))
    }
}
