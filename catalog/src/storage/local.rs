//! Files of this machine, read without a detour: what `object_store` does in several tasks and system calls is one of each here,
//! and what is told of a file (size, etag, time) is the same to the byte.
//!
//! All of it blocks, and is for threads that may.

use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::SystemTime;

use bytes::Bytes;

use super::allowed::Allowed;
use super::confined::{self, Purpose};
use super::{FooterBytes, StorageError, StoredObject};
use crate::collect::{self, FOOTER_TRAILER_BYTES};
use crate::location::{Location, LocationError};

/// The metadata of a Parquet file, if it may be read. To read again costs less here than to read in vain: so what follows the
/// footer first, and then just the footer.
pub(super) fn read_footer(location: &Location, allowed: &Allowed) -> Result<FooterBytes, StorageError> {
    let file = open(location, allowed)?;
    let object = stored_object(location, &file.metadata().map_err(failed)?);
    let end = object.size_bytes;
    let trailer = read(&file, end.saturating_sub(FOOTER_TRAILER_BYTES)..end)?;
    let metadata = read(&file, collect::footer_range(&trailer, end)?)?;
    if stored_object(location, &file.metadata().map_err(failed)?) != object {
        return Err(StorageError::Replaced);
    }
    Ok(FooterBytes { object, metadata, room: None })
}

fn open(location: &Location, allowed: &Allowed) -> Result<File, StorageError> {
    // There is one of every location that is asked for here.
    let path = location.file_path().ok_or(StorageError::NotAFile)?;
    refuse_upload(&path)?;
    if let Some(roots) = allowed.roots() {
        return Ok(confined::open_file(roots, location, Purpose::Read)?.0);
    }
    refuse_special(&path)?;
    File::open(path).map_err(failed)
}

/// What is told of a file in one of these folders.
pub(super) fn head_within(location: &Location, roots: &[Location]) -> Result<StoredObject, StorageError> {
    let (_, metadata) = confined::open_file(roots, location, Purpose::Look)?;
    Ok(stored_object(location, &metadata))
}

/// A range of a file in one of these folders, which must be what it was when it was asked about.
pub(super) fn read_within(object: &StoredObject, range: Range<u64>, roots: &[Location]) -> Result<Bytes, StorageError> {
    let (file, metadata) = confined::open_file(roots, &object.location, Purpose::Read)?;
    if stored_object(&object.location, &metadata) != *object {
        return Err(StorageError::Replaced);
    }
    read(&file, range)
}

/// Refuses what is in the file system and no file: a pipe would never answer.
pub(super) fn refuse_special(path: &Path) -> Result<(), StorageError> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(StorageError::NotAFile),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(StorageError::NotFound),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(StorageError::Denied),
        Err(_) => Err(StorageError::NotAFile),
    }
}

/// Refuses a name that `object_store` gives to uploads that are not finished: it lists no such file, nor reads it.
fn refuse_upload(path: &Path) -> Result<(), StorageError> {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if is_upload(&name) {
        return Err(
            LocationError::Key("its name ends with `#` and a number, as an unfinished upload's".to_owned()).into()
        );
    }
    Ok(())
}

/// Whether `object_store` gives such a name to an upload that is not finished.
pub(super) fn is_upload(name: &str) -> bool {
    let number = name.split_once('#').map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(super) fn stored_object(location: &Location, metadata: &Metadata) -> StoredObject {
    let written = metadata.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let written_us = written.unwrap_or_default().as_micros();
    let size_bytes = metadata.len();
    StoredObject {
        location: location.clone(),
        size_bytes,
        etag: Some(format!("{:x}-{written_us:x}-{size_bytes:x}", metadata.ino())),
        // The nanoseconds count upwards before 1970, too.
        last_modified_ms: metadata.mtime().saturating_mul(1_000).saturating_add(metadata.mtime_nsec() / 1_000_000),
    }
}

/// The bytes of a range that lies in the file, or did when it was opened.
fn read(file: &File, range: Range<u64>) -> Result<Bytes, StorageError> {
    let mut bytes = vec![0; usize::try_from(range.end - range.start).map_err(|_| StorageError::Replaced)?];
    match file.read_exact_at(&mut bytes, range.start) {
        Ok(()) => Ok(bytes.into()),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(StorageError::Replaced),
        Err(error) => Err(failed(error)),
    }
}

pub(super) fn failed(error: std::io::Error) -> StorageError {
    match error.kind() {
        ErrorKind::NotFound => StorageError::NotFound,
        ErrorKind::PermissionDenied => StorageError::Denied,
        _ => {
            let source = Box::new(error);
            StorageError::Unavailable(object_store::Error::Generic { store: "the local file system", source }.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::storage::Storage;

    /// A file that ends as a Parquet file with a footer of so many bytes, after so many others.
    fn write(path: &Path, data_bytes: usize, footer_bytes: u32) {
        let footer: Vec<u8> = (0..footer_bytes).map(|index| index.to_le_bytes()[0]).collect();
        let file = [&vec![7; data_bytes][..], &footer, &footer_bytes.to_le_bytes(), b"PAR1"].concat();
        std::fs::write(path, file).unwrap();
    }

    fn read_at(path: &Path) -> Result<FooterBytes, StorageError> {
        read_footer(&Location::parse(path.to_str().unwrap(), None).unwrap(), &Allowed::Anything)
    }

    #[tokio::test]
    async fn a_file_is_told_of_as_its_store_tells_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let (old, link) = (folder.path().join("a b%20#x.parquet"), folder.path().join("link.parquet"));
        write(&old, 10, 100);
        let before_1970 = SystemTime::UNIX_EPOCH - Duration::from_micros(1_234_567);
        File::options().write(true).open(&old).unwrap().set_modified(before_1970).unwrap();
        let new = folder.path().join("new.parquet");
        write(&new, 100_000, 50_000);
        std::os::unix::fs::symlink(&new, &link).unwrap();
        let storage = Storage::from_environment();
        for path in [old, new, link] {
            let location = Location::parse(path.to_str().unwrap(), None).unwrap();
            assert_eq!(read_at(&path).unwrap().object, storage.head(&location).await.unwrap(), "{location}");
        }
    }

    #[test]
    fn a_footer_of_any_length_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        for footer_bytes in [0, 1, 4, 1_000, 1_000_000] {
            write(&path, 5, footer_bytes);
            let metadata = read_at(&path).unwrap().metadata;
            let expected: Vec<u8> = (0..footer_bytes).map(|index| index.to_le_bytes()[0]).collect();
            assert!(metadata == expected, "{footer_bytes}");
        }
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        std::os::unix::fs::symlink(at("loop"), at("loop")).unwrap();
        write(&at("file"), 5, 5);
        write(&at("upload#17"), 5, 5);
        let pipe = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (path, expected) in [
            (at(""), "it is not a regular file"),
            ("/dev/null".into(), "it is not a regular file"),
            (at("socket"), "it is not a regular file"),
            (at("loop"), "it is not a regular file"),
            (at("file/below"), "it is not a regular file"),
            (at("missing"), "there is no such file"),
            (at("dangling"), "there is no such file"),
        ] {
            assert_eq!(read_at(&path).unwrap_err().to_string(), expected, "{}", path.display());
        }
        drop(pipe);
        assert!(matches!(read_at(&at("upload#17")), Err(StorageError::Location(_))));
        assert!(read_at(&at("file")).is_ok());
    }

    #[test]
    fn an_empty_file_is_too_short() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(read_at(&path), Err(StorageError::Footer(_))));
    }
}
