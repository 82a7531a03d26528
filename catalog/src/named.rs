//! Places that are named: a file of some table is registered there.
//!
//! Who asks will delete what is not named, so doubt says that it is: a name counts in another spelling, and where the links of
//! the file system lead. A name that leads to a place through a link is not known to be one of it, unless the link was followed.

use std::collections::BTreeSet;
use std::path::Path;

use prunus_manifest::{FileId, ReadTransaction};

use crate::Result;
use crate::location::Location;

/// Where a location of the file system is once links are followed; others are where they are. `None` if nothing is there.
pub(crate) fn resolve_links(location: &Location) -> Option<Location> {
    let Some(path) = location.file_path() else { return Some(location.clone()) };
    let path = std::fs::canonicalize(path).ok()?;
    Location::parse(Path::to_str(&path)?, None).ok()
}

/// Whether a file other than these is registered at a location, or where it is once links are followed, in whichever spelling.
pub(crate) fn is_named(
    tx: &ReadTransaction<'_>,
    location: &Location,
    real: &Location,
    except: &BTreeSet<FileId>,
) -> Result<bool> {
    Ok(is_spelled(tx, location, except)? || (real != location && is_spelled(tx, real, except)?))
}

fn is_spelled(tx: &ReadTransaction<'_>, location: &Location, except: &BTreeSet<FileId>) -> Result<bool> {
    if tx.is_named(location.as_str(), except)? {
        return Ok(true);
    }
    for spelling in location.other_spellings() {
        if tx.is_named(&spelling, except)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A path that was registered, and the places that it may name.
pub(crate) struct NamedPath {
    pub(crate) path: String,
    /// Its location, and where that is once links are followed; `None` for a path that is none.
    places: Option<(Location, Location)>,
}

impl NamedPath {
    /// Asks the file system.
    pub(crate) fn of(path: String) -> Self {
        let location = Location::parse_registered(&path, None).ok();
        let places = location.map(|location| (location.clone(), resolve_links(&location).unwrap_or(location)));
        Self { path, places }
    }

    /// Whether a file other than these is registered there.
    pub(crate) fn is_named(&self, tx: &ReadTransaction<'_>, except: &BTreeSet<FileId>) -> Result<bool> {
        if tx.is_named(&self.path, except)? {
            return Ok(true);
        }
        self.places.as_ref().map_or(Ok(false), |(location, real)| is_named(tx, location, real, except))
    }
}
