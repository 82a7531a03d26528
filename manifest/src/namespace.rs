//! Namespaces.

use std::collections::BTreeMap;

use rusqlite::{Row, params};

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, NamespaceId, Result, json};

/// A namespace as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceRow {
    /// Its id.
    pub namespace_id: NamespaceId,
    /// Its name, unique in the store.
    pub name: String,
    /// What its owner noted.
    pub properties: BTreeMap<String, String>,
    /// When it was created, in milliseconds since 1970-01-01T00:00Z.
    pub created_at_ms: i64,
}

const SELECT_NAMESPACE: &str = "
    SELECT namespace_id, name, properties, created_at_ms
    FROM namespace
    WHERE name = ?1";

const LIST_NAMESPACES: &str = "
    SELECT namespace_id, name, properties, created_at_ms
    FROM namespace
    WHERE name > ?1
    ORDER BY name
    LIMIT ?2";

const LIST_NAMESPACES_BETWEEN: &str = "
    SELECT namespace_id, name, properties, created_at_ms
    FROM namespace
    WHERE name > ?1 AND name < ?2
    ORDER BY name
    LIMIT ?3";

const INSERT_NAMESPACE: &str = "
    INSERT INTO namespace (name, properties, created_at_ms)
    VALUES (?1, ?2, ?3)";

const HAS_TABLES: &str = "
    SELECT EXISTS (SELECT 1 FROM lake_table WHERE namespace_id = ?1)";

const DELETE_NAMESPACE: &str = "
    DELETE FROM namespace
    WHERE namespace_id = ?1";

impl ReadTransaction<'_> {
    /// The namespace of this name, if there is one.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn get_namespace(&self, name: &str) -> Result<Option<NamespaceRow>> {
        self.query_first(SELECT_NAMESPACE, [name], namespace_row)
    }

    /// Up to `limit` namespaces in the order of their names, from the first one after `after` (`""`: from the first).
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_namespaces(&self, after: &str, limit: u32) -> Result<Vec<NamespaceRow>> {
        self.query_all(LIST_NAMESPACES, params![after, limit], namespace_row)
    }

    /// Up to `limit` namespaces of those that are `namespace` or below it, in the order of their names, from the first one after
    /// `after` (`""`: from the first).
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_namespaces_within(&self, namespace: &str, after: &str, limit: u32) -> Result<Vec<NamespaceRow>> {
        let mut rows = Vec::new();
        if namespace > after {
            rows.extend(self.get_namespace(namespace)?);
        }
        // Those below it are what begins with its name and a dot: from there up to the byte behind the dot.
        let (first, end) = (format!("{namespace}."), format!("{namespace}/"));
        let first = if first.as_str() > after { first.as_str() } else { after };
        let limit_below = limit.saturating_sub(u32::from(!rows.is_empty()));
        rows.extend(self.query_all(LIST_NAMESPACES_BETWEEN, params![first, end, limit_below], namespace_row)?);
        Ok(rows)
    }

    pub(crate) fn load_namespace(&self, name: &str) -> Result<NamespaceRow> {
        self.get_namespace(name)?.ok_or_else(|| Error::NamespaceNotFound(name.to_owned()))
    }
}

impl WriteTransaction<'_> {
    /// Creates a namespace.
    ///
    /// # Errors
    /// [`Error::NamespaceExists`], [`Error::Sqlite`].
    pub fn create_namespace(
        &self,
        name: &str,
        properties: &BTreeMap<String, String>,
        created_at_ms: i64,
    ) -> Result<NamespaceRow> {
        if self.get_namespace(name)?.is_some() {
            return Err(Error::NamespaceExists(name.to_owned()));
        }
        let id = self.insert(INSERT_NAMESPACE, params![name, json::write(properties)?, created_at_ms])?;
        let (name, properties) = (name.to_owned(), properties.clone());
        Ok(NamespaceRow { namespace_id: NamespaceId(id), name, properties, created_at_ms })
    }

    /// Deletes a namespace without tables.
    ///
    /// # Errors
    /// [`Error::NamespaceNotFound`], [`Error::NamespaceNotEmpty`], [`Error::Sqlite`].
    pub fn delete_namespace(&self, name: &str) -> Result<()> {
        let namespace_id = self.load_namespace(name)?.namespace_id;
        if self.query_first(HAS_TABLES, [namespace_id], |row| Ok(row.get(0)?))? == Some(true) {
            return Err(Error::NamespaceNotEmpty(name.to_owned()));
        }
        self.execute(DELETE_NAMESPACE, [namespace_id])?;
        Ok(())
    }
}

fn namespace_row(row: &Row<'_>) -> Result<NamespaceRow> {
    let namespace_id: NamespaceId = row.get(0)?;
    let properties: String = row.get(2)?;
    Ok(NamespaceRow {
        namespace_id,
        name: row.get(1)?,
        properties: json::read(&properties, "properties of a namespace", namespace_id.0)?,
        created_at_ms: row.get(3)?,
    })
}
