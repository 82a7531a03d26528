//! Which files an import is about: paths as given, folders and prefixes as their stores list them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use futures::{StreamExt, TryStreamExt, stream};
use prunus_catalog::{Location, Storage, StorageError, StoredObject, without_credentials};

use crate::cli::CliError;

/// How many paths are looked at at once.
const MAX_LOOKUPS_AT_ONCE: usize = 32;
/// How the names of Parquet files end.
const ENDINGS: [&str; 3] = [".parquet", ".parq", ".pq"];

/// A file that the import may register, with what its store says of it; `None` where it was not to be asked from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: String,
    pub(super) size_bytes: Option<u64>,
    pub(super) etag: Option<String>,
}

/// What the arguments of an import amount to.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Each file once, in the order of the arguments.
    pub(super) candidates: Vec<Candidate>,
    /// How many files below folders and prefixes are none to import, by their names.
    pub(super) passed_over: usize,
    /// The folder or prefix, if there is one argument and it is such.
    pub(super) sole_folder: Option<Location>,
}

impl Listing {
    /// Two files whose `key=value` folders below the sole folder do not name the same columns, if there are such.
    pub(super) fn uneven_partitions(&self) -> Option<(&str, &str)> {
        let folder = self.sole_folder.as_ref()?;
        let first = self.candidates.first()?;
        let keys = |file: &Candidate| partition_keys(folder, &file.path);
        let expected = keys(first);
        let other = self.candidates.iter().find(|file| keys(file) != expected)?;
        Some((&first.path, &other.path))
    }
}

/// The keys of the `key=value` folders between a folder and a file.
fn partition_keys(folder: &Location, path: &str) -> Vec<String> {
    let below = path.strip_prefix(folder.as_str()).unwrap_or(path);
    let folders = below.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').filter_map(|part| part.split_once('=')).map(|(key, _)| key.to_owned()).collect()
}

/// What one argument amounts to.
enum Found {
    File(Candidate),
    Folder { folder: Location, files: Vec<Candidate>, passed_over: usize },
}

/// Lists what the arguments name. Relative paths are of the current folder.
///
/// # Errors
/// [`CliError`] if an argument is no path, or a folder or prefix cannot be listed.
pub(super) async fn list(storage: &Storage, arguments: &[String]) -> Result<Listing, CliError> {
    let found: Vec<Found> =
        stream::iter(arguments).map(|text| look_at(storage, text)).buffered(MAX_LOOKUPS_AT_ONCE).try_collect().await?;
    let sole_folder = match found.as_slice() {
        [Found::Folder { folder, .. }] => Some(folder.clone()),
        _ => None,
    };
    let mut listing = Listing { sole_folder, ..Listing::default() };
    let mut seen = HashSet::new();
    for found in found {
        let files = match found {
            Found::File(file) => vec![file],
            Found::Folder { files, passed_over, .. } => {
                listing.passed_over += passed_over;
                files
            }
        };
        listing.candidates.extend(files.into_iter().filter(|file| seen.insert(file.path.clone())));
    }
    Ok(listing)
}

async fn look_at(storage: &Storage, text: &str) -> Result<Found, CliError> {
    let location = locate(text)?;
    let is_folder = match local_path(&location) {
        Some(path) => is_local_folder(text, &path)?,
        None => location.key().is_empty() || location.key().ends_with('/'),
    };
    if is_folder {
        return list_folder(storage, location).await;
    }
    match storage.head(&location).await {
        Ok(object) => Ok(Found::File(candidate(object))),
        // A prefix may be written without the slash at its end; what holds nothing either is a file that is missing.
        Err(StorageError::NotFound) if local_path(&location).is_none() => {
            match list_folder(storage, location.clone()).await? {
                Found::Folder { files, passed_over: 0, .. } if files.is_empty() => Ok(unseen(&location)),
                folder => Ok(folder),
            }
        }
        // The server may be able to read it all the same; if not, it says so.
        Err(_) => Ok(unseen(&location)),
    }
}

/// Whether a path of this machine is that of a folder. What is not there may be on the server's machine, if it is given as a URL.
fn is_local_folder(text: &str, path: &Path) -> Result<bool, CliError> {
    match path.metadata() {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(_) if is_url(text) => Ok(false),
        Err(error) => {
            let reason = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
                _ => error.to_string(),
            };
            Err(CliError::Path { path: text.to_owned(), reason })
        }
    }
}

fn unseen(location: &Location) -> Found {
    Found::File(Candidate { path: location.as_str().to_owned(), size_bytes: None, etag: None })
}

async fn list_folder(storage: &Storage, folder: Location) -> Result<Found, CliError> {
    let objects = storage.list(&folder).await.map_err(|source| not_listed(&folder, source))?;
    let all = objects.len();
    let files: Vec<Candidate> = objects
        .into_iter()
        .filter(|object| object.location.below(&folder).is_some_and(is_wanted))
        .map(candidate)
        .collect();
    Ok(Found::Folder { passed_over: all - files.len(), folder, files })
}

/// Why a folder or prefix cannot be listed. What the library says of a folder of this machine is about its own doings.
fn not_listed(folder: &Location, source: StorageError) -> CliError {
    let Some(path) = local_path(folder) else {
        return CliError::Listing { folder: folder.as_str().to_owned(), source };
    };
    let kind = match &source {
        StorageError::Unavailable(failure) => failure.io_error_kind(),
        _ => None,
    };
    let why = kind.map_or_else(|| source.to_string(), |kind| kind.to_string());
    CliError::Path {
        path: path.display().to_string(),
        reason: format!("it, or a folder in it, cannot be listed: {why}"),
    }
}

fn candidate(object: StoredObject) -> Candidate {
    let path = object.location.as_str().to_owned();
    Candidate { path, size_bytes: Some(object.size_bytes), etag: object.etag }
}

/// Whether a path below a folder is that of a data file: it ends like one, and neither it nor a folder above it is hidden as
/// `_temporary`, `_delta_log` or `.git` are. A partition folder such as `_day=1` is not hidden by its underscore.
fn is_wanted(below: &str) -> bool {
    let (folders, name) = below.rsplit_once('/').unwrap_or(("", below));
    let hidden = |part: &str| part.starts_with('.') || (part.starts_with('_') && !part.contains('='));
    let lower = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| lower.ends_with(ending))
        && !name.starts_with(['.', '_'])
        && !folders.split('/').any(hidden)
}

/// The location that an argument names: a URL, or a path of this machine.
///
/// # Errors
/// [`CliError::Path`].
pub(in crate::cli) fn locate(text: &str) -> Result<Location, CliError> {
    let absolute = if is_url(text) { text.to_owned() } else { absolute_path(text)? };
    Location::parse(&absolute, None)
        .map_err(|error| CliError::Path { path: without_credentials(text).into_owned(), reason: error.to_string() })
}

fn is_url(text: &str) -> bool {
    text.contains("://") || text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// The absolute spelling of a path. Links stay as they are named, but for those before a `..`, which means what it leads to.
fn absolute_path(text: &str) -> Result<String, CliError> {
    let unusable = |reason: String| CliError::Path { path: text.to_owned(), reason };
    let mut path = std::path::absolute(text).map_err(|error| unusable(error.to_string()))?;
    let parts: Vec<_> = path.components().collect();
    if let Some(last) = parts.iter().rposition(|part| matches!(part, std::path::Component::ParentDir)) {
        let (before, after) = parts.split_at(last + 1);
        let before = before.iter().collect::<PathBuf>().canonicalize().map_err(|error| unusable(error.to_string()))?;
        path = before.join(after.iter().collect::<PathBuf>());
    }
    path.to_str().map(str::to_owned).ok_or_else(|| unusable("it is not UTF-8".to_owned()))
}

/// The path of a location on this machine; `None` if it is in an object store.
fn local_path(location: &Location) -> Option<PathBuf> {
    location.as_str().starts_with("file:").then(|| Path::new("/").join(location.key()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_files_are_told_from_others_by_their_names() {
        for (below, expected) in [
            ("a.parquet", true),
            ("x/y=1/A.SNAPPY.PARQUET", true),
            ("a.parq", true),
            ("a.pq", true),
            ("_day=1/a.parquet", true),
            ("a.csv", false),
            ("parquet", false),
            ("_metadata.parquet", false),
            (".a.parquet", false),
            ("_delta_log/a.checkpoint.parquet", false),
            ("x/.tmp/a.parquet", false),
            ("x/a.parquet.crc", false),
        ] {
            assert_eq!(is_wanted(below), expected, "{below}");
        }
    }

    #[test]
    fn paths_become_absolute_and_urls_stay() {
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        for (text, expected) in [
            ("/data/x.parquet", "file:///data/x.parquet".to_owned()),
            ("s3://bucket/x/", "s3://bucket/x/".to_owned()),
            ("file:/data/x", "file:///data/x".to_owned()),
            ("x y=1/./a:b.parquet", format!("file://{here}/x y=1/a:b.parquet")),
            ("src/../x.parquet", format!("file://{here}/x.parquet")),
        ] {
            assert_eq!(locate(text).unwrap().as_str(), expected);
        }
        assert!(matches!(locate("ftp://host/a"), Err(CliError::Path { .. })));
    }

    async fn list_below(folder: &Path, arguments: &[&str]) -> Listing {
        let arguments: Vec<String> =
            arguments.iter().map(|name| folder.join(name).to_str().unwrap().to_owned()).collect();
        list(&Storage::from_environment(), &arguments).await.unwrap()
    }

    fn names(listing: &Listing) -> Vec<&str> {
        listing.candidates.iter().map(|file| file.path.rsplit('/').next().unwrap()).collect()
    }

    #[tokio::test]
    async fn folders_are_searched_and_paths_taken_as_given() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b.parquet", "sub/a%20é b.parquet", "_x.parquet", "notes.txt"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "data").unwrap();
        }
        let whole = list_below(folder.path(), &[""]).await;
        assert_eq!((names(&whole), whole.passed_over), (vec!["b.parquet", "a%20é b.parquet"], 2));
        assert!(whole.sole_folder.is_some());
        assert!(whole.candidates.iter().all(|file| file.size_bytes == Some(4) && file.etag.is_some()));

        let mixed =
            list_below(folder.path(), &["notes.txt", "sub", "_x.parquet", "notes.txt", "sub/../notes.txt"]).await;
        assert_eq!(names(&mixed), ["notes.txt", "a%20é b.parquet", "_x.parquet"]);
        assert_eq!((mixed.passed_over, mixed.sole_folder), (0, None));
    }

    #[tokio::test]
    async fn a_path_that_is_not_there_is_told() {
        let storage = Storage::from_environment();
        let refused = list(&storage, &["/none/x".to_owned()]).await.unwrap_err();
        assert_eq!(refused.to_string(), "`/none/x` cannot be used as a path: there is no such file or folder");
        // A URL may be of the server's machine.
        assert_eq!(list(&storage, &["file:///none/x".to_owned()]).await.unwrap().candidates.len(), 1);
    }

    #[test]
    fn folders_of_partitions_are_held_against_each_other() {
        let folder = locate("/d/").unwrap();
        let listing = |paths: &[&str]| Listing {
            candidates: paths
                .iter()
                .map(|path| Candidate { path: format!("file:///d/{path}"), size_bytes: None, etag: None })
                .collect(),
            passed_over: 0,
            sole_folder: Some(folder.clone()),
        };
        assert_eq!(listing(&["day=1/a", "day=2/x/b", "day=3/c=d"]).uneven_partitions(), None);
        let uneven = listing(&["day=1/a", "dya=2/b"]);
        assert_eq!(uneven.uneven_partitions(), Some(("file:///d/day=1/a", "file:///d/dya=2/b")));
        assert!(listing(&["day=1/a", "b"]).uneven_partitions().is_some());
    }
}
