//! Namespaces: create, list, look at, delete.

use std::collections::BTreeMap;

use prunus_manifest::{NamespaceRow, ReadTransaction, Role, WriteTransaction};

use crate::access::Places;
use crate::catalog::Catalog;
use crate::journal::{Change, Made};
use crate::limits::check_notes;
use crate::name::NamespaceName;
use crate::once::{Done, Once};
use crate::page::PageSize;
use crate::{Error, Result};

/// A namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// What its owner noted.
    pub properties: BTreeMap<String, String>,
    /// When it was created, in milliseconds since 1970-01-01T00:00Z.
    pub created_at_ms: i64,
}

impl From<NamespaceRow> for Namespace {
    fn from(row: NamespaceRow) -> Self {
        Self { name: row.name, properties: row.properties, created_at_ms: row.created_at_ms }
    }
}

impl Catalog {
    /// Creates a namespace.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`], [`Error::Store`].
    pub async fn create_namespace(
        &self,
        name: NamespaceName,
        properties: BTreeMap<String, String>,
    ) -> Result<Namespace> {
        self.create_namespace_once(name, properties, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::create_namespace`], and [`Error::KeyReused`].
    pub async fn create_namespace_once(
        &self,
        name: NamespaceName,
        properties: BTreeMap<String, String>,
        once: Once<Namespace>,
    ) -> Result<Done<Namespace>> {
        let faults = check_notes("properties", &properties);
        if !faults.is_empty() {
            return Err(Error::Invalid(faults));
        }
        let now_ms = self.clock.now_ms();
        let create = move |tx: &WriteTransaction<'_>| {
            let created = tx.create_namespace(name.as_str(), &properties, now_ms)?.into();
            Ok(Made::change(created, Change::of_namespace("create_namespace", &name)))
        };
        self.write_once(once, create).await
    }

    /// A page of the namespaces that the principal may see, in the order of their names, from the first one after `after`, and whether there are more.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn list_namespaces(&self, after: String, page_size: PageSize) -> Result<(Vec<Namespace>, bool)> {
        let places = self.principal.places(Role::Reader);
        self.read(move |tx| {
            let mut rows = list_within(tx, &places, &after, page_size.and_one())?;
            let more = page_size.cut(&mut rows);
            Ok((rows.into_iter().map(Namespace::from).collect(), more))
        })
        .await
    }

    /// The namespace of this name.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub async fn load_namespace(&self, name: NamespaceName) -> Result<Namespace> {
        self.read(move |tx| match tx.get_namespace(name.as_str())? {
            Some(row) => Ok(row.into()),
            None => Err(Error::NotFound { what: "namespace", name: name.as_str().to_owned() }),
        })
        .await
    }

    /// Deletes a namespace that holds no table.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NamespaceNotEmpty`], [`Error::Store`].
    pub async fn delete_namespace(&self, name: NamespaceName) -> Result<()> {
        self.delete_namespace_once(name, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::delete_namespace`], and [`Error::KeyReused`].
    pub async fn delete_namespace_once(&self, name: NamespaceName, once: Once<()>) -> Result<Done<()>> {
        self.write_once(once, move |tx| {
            tx.delete_namespace(name.as_str())?;
            Ok(Made::change((), Change::of_namespace("delete_namespace", &name)))
        })
        .await
    }
}

/// At least the first `limit` namespaces of these places, in the order of their names, as far as there are so many.
fn list_within(tx: &ReadTransaction<'_>, places: &Places, after: &str, limit: u32) -> Result<Vec<NamespaceRow>> {
    let Places::Within(names) = places else { return Ok(tx.list_namespaces(after, limit)?) };
    let mut rows = Vec::new();
    for name in names {
        rows.extend(tx.list_namespaces_within(name.as_str(), after, limit)?);
    }
    // Names that are not below `a` may stand between it and those that are, such as `a-b`.
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(rows)
}
