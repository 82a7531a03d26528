//! Object stores: where data files are read from.

mod activity;
mod allowed;
mod options;
mod failure;
mod connector;
mod confined;
mod local;
mod retry;
mod watched;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::{GetRange, ObjectMeta, ObjectStore};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::collect;
use crate::location::Location;
use confined::Listing;
use connector::Redirects;
use retry::{may_answer_otherwise, storage_error};
use watched::{Running, WatchedStore};

pub use activity::{
    OperationActivity, SchemeActivity, StorageActivity, StoreOperation, StoreOutcome, StoreScheme, TryOutcome,
};
pub(crate) use allowed::Allowed;
pub use allowed::AllowedLocations;
pub use failure::{StorageError, StoreFailure};
pub use options::{ObjectStoreOptions, UnknownOption};
pub use retry::{MAX_REQUESTS_AT_ONCE, MAX_RETRIES, MAX_RETRY_TIME};

/// How many long footers are in memory at once. Decoded, one that is made for it takes hundreds of megabytes.
const MAX_LONG_FOOTERS_AT_ONCE: usize = 2;
/// A footer is long if it has more bytes; decoding one that is not takes no time to speak of.
const LONG_FOOTER_BYTES: usize = 64 * 1024;
/// Beyond this a footer is not even fetched before there is room for it.
const HUGE_FOOTER_BYTES: u64 = 1024 * 1024;
/// How many bytes one request asks for at most: so many come from a slow store too, in the time that a try may take.
const MAX_PART_BYTES: u64 = 8 * 1024 * 1024;

/// How many bytes of column chunks are in memory at once, whichever commits and audits read them. A longer chunk waits until
/// it is the only one.
const MAX_CHUNK_BYTES_AT_ONCE: u32 = 512 * 1024 * 1024;
/// How many bytes the shortest chunk counts for: its pages may be much longer when they are decompressed.
const MIN_CHUNK_BYTES_COUNTED: u32 = MAX_CHUNK_BYTES_AT_ONCE / 32;

/// How many chunks are decoded at once: one may take a few pages' worth of memory, however short it is.
const MAX_CHUNKS_DECODED_AT_ONCE: usize = 2;

/// How many objects of a listing wait for whoever reads it.
const MAX_LISTED_AHEAD: usize = 1_000;

/// The stores that locations name, and the locations that may be read of them. It is cheap to clone; all clones have the same
/// stores.
#[derive(Clone)]
pub struct Storage {
    stores: Arc<Stores>,
    allowed: Allowed,
}

/// Object stores, opened once each.
struct Stores {
    options: ObjectStoreOptions,
    redirects: Redirects,
    opened: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
    activity: Arc<StorageActivity>,
    room_for_long_footers: Arc<Semaphore>,
    /// A permit is a byte. Who has room for a chunk waits for nothing else, so that it is given back.
    room_for_chunks: Arc<Semaphore>,
    /// A permit is a chunk. Who decodes one has room for it already, and waits for nothing else.
    turns_to_decode: Arc<Semaphore>,
}

/// What a store says of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// Where it is.
    pub location: Location,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// What the store calls this content; `None` if it gives no name.
    pub etag: Option<String>,
    /// When it was written, in milliseconds since 1970-01-01T00:00Z.
    pub last_modified_ms: i64,
}

/// A Parquet file's metadata as bytes, and what the store says of the object.
#[derive(Debug)]
pub(crate) struct FooterBytes {
    pub(crate) object: StoredObject,
    pub(crate) metadata: Bytes,
    /// The room that it has been given, if it needs to be.
    room: Option<OwnedSemaphorePermit>,
}

/// The bytes of a column chunk, with the room that they take.
#[derive(Debug)]
pub(crate) struct ChunkBytes {
    bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl ChunkBytes {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl FooterBytes {
    fn len(&self) -> u64 {
        self.metadata.len() as u64
    }

    /// Whether it is better decoded on a thread that may block, once there is room for it.
    pub(crate) fn is_long(&self) -> bool {
        self.metadata.len() > LONG_FOOTER_BYTES
    }
}

impl Storage {
    /// Stores that take their options (keys, regions, endpoints) from the environment's standard variables, such as
    /// `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, `GOOGLE_SERVICE_ACCOUNT` or `AZURE_STORAGE_ACCOUNT_NAME`. Of them anything may be
    /// read.
    pub fn from_environment() -> Self {
        Self::of_stores(ObjectStoreOptions::from_environment(), Redirects::Followed, Allowed::Anything)
    }

    /// Stores for a catalog in which this is allowed. Of them nothing may be read until it is said what ([`Storage::within`]): whoever
    /// forgets to say it reads nothing. Where not everything is allowed no store is followed to another place.
    pub(crate) fn of_catalog(options: ObjectStoreOptions, allowed: &AllowedLocations) -> Self {
        let redirects = if allowed.has_bounds() { Redirects::Refused } else { Redirects::Followed };
        Self::of_stores(options, redirects, Allowed::below([]))
    }

    fn of_stores(options: ObjectStoreOptions, redirects: Redirects, allowed: Allowed) -> Self {
        let stores = Stores {
            options,
            redirects,
            opened: Mutex::default(),
            activity: Arc::default(),
            room_for_long_footers: Arc::new(Semaphore::new(MAX_LONG_FOOTERS_AT_ONCE)),
            room_for_chunks: Arc::new(Semaphore::new(MAX_CHUNK_BYTES_AT_ONCE as usize)),
            turns_to_decode: Arc::new(Semaphore::new(MAX_CHUNKS_DECODED_AT_ONCE)),
        };
        Self { stores: Arc::new(stores), allowed }
    }

    /// The same stores, of which this may be read.
    #[must_use]
    pub(crate) fn within(&self, allowed: &Allowed) -> Self {
        Self { stores: Arc::clone(&self.stores), allowed: allowed.clone() }
    }

    /// What was asked of the stores since they were opened.
    pub fn activity(&self) -> &Arc<StorageActivity> {
        &self.stores.activity
    }

    /// What the store says of one object.
    ///
    /// # Errors
    /// [`StorageError`] if it is not there, may not be read, or cannot be asked for.
    pub async fn head(&self, location: &Location) -> Result<StoredObject, StorageError> {
        self.allowed.check_file(location)?;
        if let Some(roots) = self.local_roots(location) {
            let location = location.clone();
            let running = self.begin(StoreOperation::Head);
            let object = on_blocking_thread(move || local::head_within(&location, &roots)).await;
            running.end(&object, |_| 0);
            return object;
        }
        refuse_special_file(location).await?;
        let meta = self.open(location)?.head().await.map_err(storage_error)?;
        Ok(stored_object(location.clone(), &meta))
    }

    /// All objects below a folder or prefix, in the order of their locations.
    ///
    /// # Errors
    /// [`StorageError`] if the store cannot be asked for them.
    pub async fn list(&self, folder: &Location) -> Result<Vec<StoredObject>, StorageError> {
        let mut objects: Vec<StoredObject> = self.stream(folder)?.try_collect().await?;
        objects.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(objects)
    }

    /// All objects below a folder or prefix that may be read, in the order in which the store names them. One whose name is no
    /// location ends the stream: the store does not say what comes after it.
    ///
    /// # Errors
    /// [`StorageError`], as [`Storage::list`], at once or in the stream.
    pub(crate) fn stream(
        &self,
        folder: &Location,
    ) -> Result<BoxStream<'static, Result<StoredObject, StorageError>>, StorageError> {
        self.allowed.check_folder(folder)?;
        if let Some(roots) = self.local_roots(folder) {
            return Ok(stream_within(roots, folder.clone(), self.begin(StoreOperation::List)));
        }
        let objects = self.open(folder)?.list();
        let (folder, allowed) = (folder.clone(), self.allowed.clone());
        let listed = objects.map(move |meta| {
            let meta = meta?;
            Ok(stored_object(folder.with_key(meta.location.as_ref())?, &meta))
        });
        // A store may say of more than it was asked for.
        let is_shown = move |listed: &Result<StoredObject, StorageError>| {
            std::future::ready(listed.as_ref().map_or(true, |object| allowed.check_file(&object.location).is_ok()))
        };
        Ok(listed.filter(is_shown).boxed())
    }

    /// The metadata of a Parquet file: one request for its end, and a second only if its footer is longer than that.
    pub(crate) async fn read_footer(&self, location: &Location) -> Result<FooterBytes, StorageError> {
        self.allowed.check_file(location)?;
        if location.is_local() {
            let (counted, allowed) = (location.clone(), self.allowed.clone());
            let running = self.begin(StoreOperation::Get);
            let footer = on_blocking_thread(move || local::read_footer(&counted, &allowed)).await;
            running.end(&footer, FooterBytes::len);
            return footer;
        }
        let store = self.open(location)?;
        let (object, suffix) = read_suffix(&store, location).await?;
        let range = collect::footer_range(&suffix, object.size_bytes)?;
        if let Some(metadata) = collect::metadata_within(&suffix, object.size_bytes, &range) {
            return Ok(FooterBytes { metadata: suffix.slice_ref(metadata), object, room: None });
        }
        let is_huge = range.end - range.start > HUGE_FOOTER_BYTES;
        let room = if is_huge { self.room().await } else { None };
        let metadata = read_same(&store, &object, range).await?;
        Ok(FooterBytes { object, metadata, room })
    }

    /// The same for a file of this machine, on this thread, which must be one that may block; `None` for a location elsewhere.
    pub(crate) fn read_local_footer(&self, location: &Location) -> Option<Result<FooterBytes, StorageError>> {
        let read = || {
            self.allowed.check_file(location)?;
            let running = self.begin(StoreOperation::Get);
            let footer = local::read_footer(location, &self.allowed);
            running.end(&footer, FooterBytes::len);
            footer
        };
        location.is_local().then(read)
    }

    /// Waits until there is room for a long footer, and keeps it as long as there is the footer.
    pub(crate) async fn make_room(&self, footer: &mut FooterBytes) {
        if footer.is_long() && footer.room.is_none() {
            footer.room = self.room().await;
        }
    }

    async fn room(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.stores.room_for_long_footers).acquire_owned().await.ok()
    }

    /// A column chunk of an object that was asked about before, and must not have been replaced since, once there is room for
    /// it.
    pub(crate) async fn read_chunk(
        &self,
        object: &StoredObject,
        range: Range<u64>,
    ) -> Result<ChunkBytes, StorageError> {
        let room = self.room_for_chunk(range.end.saturating_sub(range.start)).await;
        self.allowed.check_file(&object.location)?;
        if let Some(roots) = self.local_roots(&object.location) {
            let object = object.clone();
            let running = self.begin(StoreOperation::Get);
            let bytes = on_blocking_thread(move || local::read_within(&object, range, &roots)).await;
            running.end(&bytes, |bytes| bytes.len() as u64);
            return Ok(ChunkBytes { bytes: bytes?, _room: room });
        }
        refuse_special_file(&object.location).await?;
        let bytes = read_same(&self.open(&object.location)?, object, range).await?;
        Ok(ChunkBytes { bytes, _room: room })
    }

    /// Waits until a chunk may be decoded; to be kept until it is.
    pub(crate) async fn turn_to_decode(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.stores.turns_to_decode).acquire_owned().await.ok()
    }

    async fn room_for_chunk(&self, length_bytes: u64) -> Option<OwnedSemaphorePermit> {
        let counted = u32::try_from(length_bytes).unwrap_or(u32::MAX);
        let counted = counted.clamp(MIN_CHUNK_BYTES_COUNTED, MAX_CHUNK_BYTES_AT_ONCE);
        // It is never closed.
        Arc::clone(&self.stores.room_for_chunks).acquire_many_owned(counted).await.ok()
    }

    /// The folders that a file of this machine must be in; `None` for one that may be anywhere, or is elsewhere.
    fn local_roots(&self, location: &Location) -> Option<Arc<[Location]>> {
        self.allowed.roots().filter(|_| location.is_local()).cloned()
    }

    /// A request of a file of this machine, counted when it ends.
    fn begin(&self, operation: StoreOperation) -> Running {
        Running::begin(&self.stores.activity, StoreScheme::File, operation)
    }

    fn open(&self, location: &Location) -> Result<WatchedStore, StorageError> {
        let (url, path) = location.to_store_and_path()?;
        let Stores { options, redirects, opened, activity, .. } = &*self.stores;
        let (scheme, activity) = (StoreScheme::of_url(url.scheme()), Arc::clone(activity));
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = opened.get(location.store()) {
            return Ok(WatchedStore { store: Arc::clone(store), path, scheme, activity });
        }
        let store = retry::open(&url, options, *redirects, &activity).map_err(|error| {
            tracing::debug!(words = %error, "an object store cannot be set up");
            StorageError::Unusable(error.into())
        })?;
        opened.insert(location.store().to_owned(), Arc::clone(&store));
        Ok(WatchedStore { store, path, scheme, activity })
    }
}

/// Not the stores, which show more of their options than they should.
impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stores { options, redirects, .. } = &*self.stores;
        let mut shown = f.debug_struct("Storage");
        shown.field("allowed", &self.allowed).field("options", options).field("redirects", redirects);
        shown.finish_non_exhaustive()
    }
}

/// The files of this machine in a folder, listed by a thread that may block.
fn stream_within(
    roots: Arc<[Location]>,
    folder: Location,
    running: Running,
) -> BoxStream<'static, Result<StoredObject, StorageError>> {
    let (sender, mut listed) = mpsc::channel(MAX_LISTED_AHEAD);
    tokio::task::spawn_blocking(move || {
        let found = |object| match sender.blocking_send(Ok(object)) {
            Ok(()) => Listing::Wanted,
            Err(_) => Listing::Over,
        };
        let listed = confined::list(&roots, &folder, found);
        running.end(&listed, |()| 0);
        if let Err(error) = listed {
            // Who has gone away does not want to know.
            let _ = sender.blocking_send(Err(error));
        }
    });
    stream::poll_fn(move |context| listed.poll_recv(context)).boxed()
}

/// Refuses what is in the file system and no file.
async fn refuse_special_file(location: &Location) -> Result<(), StorageError> {
    match location.file_path() {
        Some(path) => on_blocking_thread(move || local::refuse_special(&path)).await,
        None => Ok(()),
    }
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    let lost = |source| object_store::Error::JoinError { source };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(StorageError::Unavailable(lost(error).into())))
}

/// The end of an object. Some stores cannot be asked for the end alone, and none for the end of nothing: then its size first.
async fn read_suffix(store: &WatchedStore, location: &Location) -> Result<(StoredObject, Bytes), StorageError> {
    match store.get(GetRange::Suffix(collect::FOOTER_SUFFIX_BYTES), None).await {
        Ok((meta, suffix)) => Ok((stored_object(location.clone(), &meta), suffix)),
        Err(error) if !may_answer_otherwise(&error) => Err(storage_error(error)),
        Err(_) => {
            let object = stored_object(location.clone(), &store.head().await.map_err(storage_error)?);
            if object.size_bytes == 0 {
                return Ok((object, Bytes::new()));
            }
            let range = object.size_bytes.saturating_sub(collect::FOOTER_SUFFIX_BYTES)..object.size_bytes;
            let suffix = read_same(store, &object, range).await?;
            Ok((object, suffix))
        }
    }
}

/// A range of an object that was asked about before, and must not have been replaced since.
async fn read_same(store: &WatchedStore, object: &StoredObject, range: Range<u64>) -> Result<Bytes, StorageError> {
    if range.end.saturating_sub(range.start) <= MAX_PART_BYTES {
        return read_part(store, object, range).await;
    }
    let mut whole = Vec::new();
    for part in parts(range) {
        let bytes = part.end - part.start;
        let read = read_part(store, object, part).await?;
        if u64::try_from(read.len()) != Ok(bytes) {
            return Err(StorageError::Replaced);
        }
        whole.extend_from_slice(&read);
    }
    Ok(whole.into())
}

/// A range as parts of which each is asked for by itself.
fn parts(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let part = start..range.end.min(start.saturating_add(MAX_PART_BYTES));
        start = part.end;
        (!part.is_empty()).then_some(part)
    })
}

async fn read_part(store: &WatchedStore, object: &StoredObject, part: Range<u64>) -> Result<Bytes, StorageError> {
    let (meta, bytes) = match store.get(GetRange::Bounded(part), strong_etag(object)).await {
        Err(object_store::Error::Precondition { .. }) => return Err(StorageError::Replaced),
        read => read.map_err(storage_error)?,
    };
    if stored_object(object.location.clone(), &meta) != *object {
        return Err(StorageError::Replaced);
    }
    Ok(bytes)
}

/// The etag that a store may be asked to compare. By HTTP's rules a weak one matches nothing there, not even itself; what comes
/// back is compared here in any case.
fn strong_etag(object: &StoredObject) -> Option<String> {
    object.etag.clone().filter(|etag| !etag.starts_with("W/"))
}

fn stored_object(location: Location, meta: &ObjectMeta) -> StoredObject {
    StoredObject {
        location,
        size_bytes: meta.size,
        etag: meta.e_tag.clone(),
        last_modified_ms: meta.last_modified.timestamp_millis(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn footer(bytes: usize) -> FooterBytes {
        let location = Location::parse("s3://b/a", None).unwrap();
        let object = StoredObject { location, size_bytes: 0, etag: None, last_modified_ms: 0 };
        FooterBytes { object, metadata: vec![0; bytes].into(), room: None }
    }

    #[tokio::test]
    async fn only_so_many_long_footers_have_room_at_once() {
        let storage = Storage::from_environment();
        let mut with_room: Vec<FooterBytes> =
            (0..MAX_LONG_FOOTERS_AT_ONCE).map(|_| footer(LONG_FOOTER_BYTES + 1)).collect();
        for footer in &mut with_room {
            storage.make_room(footer).await;
        }
        storage.make_room(&mut footer(LONG_FOOTER_BYTES)).await;
        let mut one_more = footer(LONG_FOOTER_BYTES + 1);
        assert!(tokio::time::timeout(Duration::from_millis(20), storage.make_room(&mut one_more)).await.is_err());
        with_room.pop();
        storage.make_room(&mut one_more).await;
        assert!(one_more.room.is_some());
    }

    /// Whether there is room for one more chunk of so many bytes beside those that have it.
    async fn has_room(storage: &Storage, length_bytes: u64) -> bool {
        tokio::time::timeout(Duration::from_millis(20), storage.room_for_chunk(length_bytes)).await.is_ok()
    }

    #[tokio::test]
    async fn chunks_have_room_up_to_so_many_bytes() {
        let storage = Storage::from_environment();
        let half = storage.room_for_chunk(u64::from(MAX_CHUNK_BYTES_AT_ONCE / 2)).await;
        assert!(has_room(&storage, u64::from(MAX_CHUNK_BYTES_AT_ONCE / 2)).await);
        assert!(!has_room(&storage, u64::from(MAX_CHUNK_BYTES_AT_ONCE / 2) + 1).await);
        drop(half);
        assert!(has_room(&storage, u64::from(MAX_CHUNK_BYTES_AT_ONCE / 2) + 1).await);
    }

    #[tokio::test]
    async fn a_chunk_that_is_longer_than_all_room_takes_all_of_it() {
        let storage = Storage::from_environment();
        let all = storage.room_for_chunk(u64::MAX).await;
        assert!(!has_room(&storage, 1).await);
        drop(all);
        assert!(has_room(&storage, u64::from(MAX_CHUNK_BYTES_AT_ONCE) + 1).await);
    }

    #[tokio::test]
    async fn short_chunks_are_only_so_many_at_once() {
        let storage = Storage::from_environment();
        let mut with_room = Vec::new();
        for _ in 0..MAX_CHUNK_BYTES_AT_ONCE / MIN_CHUNK_BYTES_COUNTED {
            with_room.push(storage.room_for_chunk(1).await);
        }
        assert!(!has_room(&storage, 1).await);
        with_room.pop();
        assert!(has_room(&storage, 1).await);
    }

    #[test]
    fn a_long_range_is_asked_for_in_parts() {
        let all = |range| parts(range).collect::<Vec<_>>();
        assert_eq!(all(5..5 + MAX_PART_BYTES), vec![5..5 + MAX_PART_BYTES; 1]);
        let end = 2 * MAX_PART_BYTES + 6;
        assert_eq!(all(5..end), [5..5 + MAX_PART_BYTES, 5 + MAX_PART_BYTES..5 + 2 * MAX_PART_BYTES, end - 1..end]);
    }

    #[tokio::test]
    async fn the_parts_of_a_range_are_put_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let bytes: Vec<u8> = (0..MAX_PART_BYTES + 1_000).map(|at| u8::try_from(at * at % 251).unwrap()).collect();
        std::fs::write(&path, &bytes).unwrap();
        let (storage, location) = (Storage::from_environment(), Location::parse(path.to_str().unwrap(), None).unwrap());
        let object = storage.head(&location).await.unwrap();
        assert!(storage.read_chunk(&object, 10..object.size_bytes).await.unwrap().bytes() == &bytes[10..]);
    }

    #[test]
    fn only_a_strong_etag_is_asked_for() {
        let etag = |etag: &str| {
            let object = StoredObject { etag: Some(etag.to_owned()), ..footer(0).object };
            strong_etag(&object)
        };
        assert_eq!(etag("\"a\"").as_deref(), Some("\"a\""));
        assert_eq!(etag("W/\"a\""), None);
    }
}
