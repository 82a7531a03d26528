//! One file on its way into a commit: read its footer or take the writer's word, and make of it what the store keeps.

mod declarations;
mod matched;
mod reading;
mod reconciling;
mod target;

use std::collections::BTreeMap;

use prunus_manifest::{EncodedStatistics, FileLeaf, NewDataFile};
use prunus_statistics::{FieldId, FileColumn, FileStatistics};

use crate::commit::AddedFile;
use crate::location::{Location, without_credentials};
use crate::partition::{self, Constants};
use crate::properties::Verification;
use crate::schema::LeafColumn;
use crate::storage::{FooterBytes, Storage, StorageError, StoredObject};
use crate::{Fault, Result, column_ref};

use matched::Matched;
pub(crate) use target::Target;

/// A file that is ready to be committed, and what in its declaration was taken as unknown.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) file: NewDataFile,
    pub(crate) warnings: Vec<Fault>,
}

/// Why a file cannot be committed.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// What is wrong with it.
    Faults(Vec<Fault>),
    /// Its store did not answer.
    Unavailable { path: String, source: StorageError },
    /// What is known of it cannot be kept.
    Store(prunus_manifest::Error),
}

impl From<Vec<Fault>> for Refusal {
    fn from(faults: Vec<Fault>) -> Self {
        Self::Faults(faults)
    }
}

/// A file on its way into a commit, by its place.
#[derive(Debug)]
pub(crate) struct LocatedFile {
    pub(crate) location: Location,
    pub(crate) added: AddedFile,
    /// Its footer, if it was read already.
    pub(crate) footer: Option<Result<FooterBytes, StorageError>>,
}

/// The field of a file that is to be added which says where it is.
pub(crate) const PATH_FIELD: &str = "path";

/// Finds the place of a file, which must be one where the table's files may lie.
pub(crate) fn locate(target: &Target, added: AddedFile) -> Result<LocatedFile, Refusal> {
    let base = target.location.as_ref();
    // The table's folder, and those above it, are no files of it.
    let holds_table = |location: &Location| base.is_some_and(|base| base.at_or_below(location).is_some());
    let message = match Location::parse(&added.path, base) {
        Ok(location) if location.is_folder() || holds_table(&location) => {
            "the path names a folder, not a file".to_owned()
        }
        Ok(location) => match target.allowed.check_file(&location) {
            Ok(()) => return Ok(LocatedFile { location, added, footer: None }),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    };
    let at = Some(PATH_FIELD.to_owned());
    let fault = Fault { at, ..Fault::of_path(without_credentials(&added.path), message) };
    Err(Refusal::Faults(added.faults.into_iter().chain([fault]).collect()))
}

/// Reads or takes one file.
pub(crate) async fn register(storage: &Storage, target: &Target, file: LocatedFile) -> Result<Registered, Refusal> {
    let LocatedFile { location, mut added, footer } = file;
    let faults = std::mem::take(&mut added.faults);
    let mut file =
        Registration { target, location, added, footer, constants_known: true, faults, warnings: Vec::new() };
    let constants = file.constants();
    let content = match target.properties.verification {
        Verification::Footer | Verification::Scan => file.read(storage, &constants).await?,
        Verification::Declared => file.declared_alone(&constants),
    };
    file.finish(content, constants)
}

struct Registration<'a> {
    target: &'a Target,
    location: Location,
    added: AddedFile,
    footer: Option<Result<FooterBytes, StorageError>>,
    /// Whether the partition values could all be read.
    constants_known: bool,
    faults: Vec<Fault>,
    warnings: Vec<Fault>,
}

/// What a file turned out to hold.
struct Content {
    object: Option<StoredObject>,
    row_count: Option<u64>,
    leaves: Vec<FileLeaf>,
    columns: BTreeMap<FieldId, FileColumn>,
}

impl Registration<'_> {
    fn path(&self) -> &str {
        self.location.as_str()
    }

    fn constants(&mut self) -> Constants {
        let Target { location, columns, .. } = self.target;
        partition::constants(&self.added.partition, &self.location, location.as_ref(), columns).unwrap_or_else(
            |faults| {
                self.faults.extend(faults);
                self.constants_known = false;
                Constants::new()
            },
        )
    }

    fn column_faults(&mut self, leaf: &LeafColumn, faults: Vec<Fault>) {
        let (path, column) = (self.location.as_str().to_owned(), column_ref::key(&leaf.path));
        let placed =
            faults.into_iter().map(|fault| Fault { path: Some(path.clone()), column: Some(column.clone()), ..fault });
        self.faults.extend(placed);
    }

    fn finish(self, content: Content, partition: Constants) -> Result<Registered, Refusal> {
        if !self.faults.is_empty() {
            return Err(Refusal::Faults(self.faults));
        }
        let (size_bytes, etag, last_modified_ms) = match content.object {
            Some(object) => (object.size_bytes, object.etag, Some(object.last_modified_ms)),
            None => (self.added.size_bytes.unwrap_or_default(), None, None),
        };
        let columns = self.target.kept_of(content.columns);
        let statistics = EncodedStatistics::new(&FileStatistics { columns }).map_err(Refusal::Store)?;
        let file = NewDataFile {
            path: self.location.as_str().to_owned(),
            size_bytes,
            row_count: content.row_count,
            etag,
            last_modified_ms,
            leaves: content.leaves,
            partition,
            statistics,
        };
        Ok(Registered { file, warnings: self.warnings })
    }
}
