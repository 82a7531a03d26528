//! Orphans: objects below a table's location that no file of any table is. They are listed, never deleted.
//!
//! Somebody will delete what is listed here, so doubt keeps an object off the list: one that is younger than the age asked
//! for, since writers upload first and commit later; one whose name in another spelling is registered; one that lies behind
//! a link of the file system in a place where it is registered.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use futures::TryStreamExt;
use prunus_manifest::ReadTransaction;

use crate::catalog::Catalog;
use crate::location::{Location, without_credentials};
use crate::name::TableIdent;
use crate::named::{is_named, resolve_links};
use crate::page::PageSize;
use crate::storage::{StorageError, StoredObject};
use crate::{Error, Fault, Result, blocking};

/// How old an object is at least, in milliseconds, unless it is said otherwise.
pub const MIN_ORPHAN_AGE_MS: i64 = 3 * 24 * 60 * 60 * 1000;

/// How many objects are looked up in one read transaction.
const OBJECTS_PER_LOOKUP: usize = 1_000;

/// Which orphans are asked for.
#[derive(Clone, Debug, Default)]
pub struct OrphansRequest {
    /// Only what was written before this time, in milliseconds since 1970-01-01T00:00Z; `None`: [`MIN_ORPHAN_AGE_MS`] ago.
    pub older_than_ms: Option<i64>,
    /// The location that the page before ended with; `None` for the first page.
    pub after: Option<String>,
    /// How many the page has at most.
    pub page_size: PageSize,
}

/// A page of orphans.
#[derive(Clone, Debug)]
pub struct OrphanPage {
    /// The time that all of them were written before, in milliseconds since 1970-01-01T00:00Z.
    pub older_than_ms: i64,
    /// The page, in the order of their locations. It may be shorter than was asked for though more follow.
    pub orphans: Vec<StoredObject>,
    /// Where the next page begins, where more follow.
    pub next_after: Option<String>,
}

/// What is listed, and how.
#[derive(Debug)]
struct Listing {
    folder: Location,
    /// The folder once links are followed.
    real_folder: Location,
    older_than_ms: i64,
    after: Option<String>,
    page_size: PageSize,
}

/// An object that was listed, and where it is once links are followed.
#[derive(Debug)]
struct Listed {
    object: StoredObject,
    real: Location,
}

/// What was found so far: of the candidates no more than a page, with the one after it.
#[derive(Debug, Default)]
struct Found {
    candidates: BTreeMap<Location, Listed>,
    /// Where registered objects are that were reached through links below the folder: there they are listed once more.
    named_behind_links: HashSet<Location>,
}

impl Catalog {
    /// A page of the objects below the table's location that are old enough and that no table names, whatever its snapshots.
    /// Every page lists the whole location anew, since stores list in no order that all of them share, and a page must be known to leave
    /// nothing out: whoever gives it less time than that takes has no page at all. It takes memory for the page, and for each registered object that is reached
    /// through a link below the location.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a table without a location and for a store that cannot be listed; [`Error::NotFound`],
    /// [`Error::StorageUnavailable`], [`Error::Store`].
    pub async fn list_orphans(&self, ident: TableIdent, request: OrphansRequest) -> Result<OrphanPage> {
        let _turn = self.admission.list_orphans().await?;
        let storage = self.storage.within(self.allowed.of_namespace(ident.namespace.as_str()));
        let folder = self.location_of(ident).await?;
        let older_than_ms = request.older_than_ms.unwrap_or_else(|| self.clock.now_ms() - MIN_ORPHAN_AGE_MS);
        let real_folder = folder.clone();
        let real_folder = blocking::run(move || Ok(resolve_links(&real_folder).unwrap_or(real_folder))).await?;
        let OrphansRequest { after, page_size, .. } = request;
        let listing = Arc::new(Listing { folder, real_folder, older_than_ms, after, page_size });
        let unavailable = |error| storage_error(&listing.folder, error);
        let mut chunks = storage.stream(&listing.folder).map_err(unavailable)?.try_chunks(OBJECTS_PER_LOOKUP);
        let mut found = Found::default();
        while let Some(chunk) = chunks.try_next().await.map_err(|error| unavailable(error.1))? {
            // The file system is asked before there is a turn: where it is slow, no other read is to wait for it.
            let listed: Vec<Listed> =
                blocking::run(move || Ok(chunk.into_iter().filter_map(Listed::new).collect())).await?;
            let (store, listing) = (Arc::clone(&self.store), Arc::clone(&listing));
            found = blocking::run_while_awaited(self.admission.read().await?, move |_| {
                store.read(|tx| found.with(tx, &listing, listed))
            })
            .await?;
        }
        Ok(found.into_page(&listing))
    }

    async fn location_of(&self, ident: TableIdent) -> Result<Location> {
        self.read(move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let location = table.location.as_deref().and_then(|text| Location::parse_registered(text, None).ok());
            location.ok_or_else(|| Error::invalid(Fault::new("the table has no location that could be listed")))
        })
        .await
    }
}

fn storage_error(folder: &Location, error: StorageError) -> Error {
    let path = without_credentials(folder.as_str()).into_owned();
    if error.is_retryable() {
        Error::StorageUnavailable { path, source: error }
    } else {
        Error::invalid(Fault::of_path(path, error.to_string()))
    }
}

impl Listed {
    /// `None` for an object that is gone since, or whose place has no name that could be registered.
    fn new(object: StoredObject) -> Option<Self> {
        Some(Self { real: resolve_links(&object.location)?, object })
    }

    /// Whether a link below the folder leads to it.
    fn is_behind_link(&self, listing: &Listing) -> bool {
        self.object.location.below(&listing.folder) != self.real.below(&listing.real_folder)
    }
}

impl Found {
    /// Adds those of the objects that are on the page as far as is known, or that others may turn out to be.
    fn with(mut self, tx: &ReadTransaction<'_>, listing: &Listing, listed: Vec<Listed>) -> Result<Self> {
        for listed in listed {
            let is_candidate = self.is_candidate(listing, &listed.object);
            let is_behind_link = listed.is_behind_link(listing);
            if !is_candidate && !is_behind_link {
                continue;
            }
            if is_named(tx, &listed.object.location, &listed.real, &BTreeSet::new())? {
                if is_behind_link {
                    self.named_behind_links.insert(listed.real);
                }
            } else if is_candidate {
                self.candidates.insert(listed.object.location.clone(), listed);
                if self.candidates.len() > listing.page_size.as_usize() + 1 {
                    self.candidates.pop_last();
                }
            }
        }
        Ok(self)
    }

    fn is_candidate(&self, listing: &Listing, object: &StoredObject) -> bool {
        let location = object.location.as_str();
        let is_full = self.candidates.len() > listing.page_size.as_usize();
        let is_beyond = is_full && self.candidates.last_key_value().is_some_and(|(last, _)| *last < object.location);
        object.last_modified_ms < listing.older_than_ms
            && listing.after.as_deref().is_none_or(|after| location > after)
            && !is_beyond
    }

    fn into_page(mut self, listing: &Listing) -> OrphanPage {
        let more = self.candidates.len() > listing.page_size.as_usize();
        if more {
            self.candidates.pop_last();
        }
        let last = self.candidates.last_key_value().filter(|_| more);
        let next_after = last.map(|(location, _)| location.as_str().to_owned());
        let orphans = self.candidates.into_values();
        let orphans = orphans.filter(|listed| !self.named_behind_links.contains(&listed.real));
        OrphanPage {
            older_than_ms: listing.older_than_ms,
            orphans: orphans.map(|listed| listed.object).collect(),
            next_after,
        }
    }
}
