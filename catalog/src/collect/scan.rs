//! What the data of a Parquet file says of its columns: the chunks of chosen leaves, read and counted.
//!
//! A file's bytes are not believed here either. The `parquet` crate's decoders reserve memory by claimed counts and
//! decompress without end, so the pages are decoded here: nothing is allocated that the bytes do not bear out, a count that
//! differs from the footer's is an error, and so is whatever cannot be read. One chunk is in memory at a time, on a thread
//! that may block. In reading order: where the chunks are (`chunk_plan`), their pages (`pages`, `page_header`,
//! `decompress`), what is in a page (`levels`, `values`, `dictionary`), how much of it is accepted (`budget`), and what it all
//! comes to (`leaf_fold`).

mod bits;
mod budget;
mod chunk_plan;
mod chunk_reader;
mod decompress;
mod delta;
mod dictionary;
mod fault;
mod leaf_fold;
mod levels;
mod page_header;
mod pages;
mod runs;
mod values;

#[cfg(test)]
mod in_memory;
#[cfg(test)]
mod scan_tests;

use std::collections::BTreeMap;

use prunus_statistics::{ColumnStatistics, Count, PrimitiveType};

use super::footer::Footer;
use crate::blocking;
use crate::storage::{Storage, StoredObject};

pub use chunk_plan::MAX_CHUNK_BYTES;
pub use fault::{ChunkFault, ScanError};
pub use leaf_fold::MAX_EXACT_BOUND_BYTES;
pub use page_header::MAX_PAGE_BYTES;

#[cfg(test)]
pub(crate) use in_memory::file_of_one_column;
#[cfg(test)]
pub(super) use in_memory::{leaves_at, scan_bytes};

use budget::{Budget, Waiting};
use chunk_plan::{ChunkPlan, plan_chunks};
use chunk_reader::{Extent, read_chunk};
use leaf_fold::LeafFold;

/// What data is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanFor {
    /// Bounds and counts.
    Everything,
    /// The NaN counts of floats alone, which a dictionary without NaN proves to be 0. Other leaves, and those whose counts
    /// are no counts of rows, are not read.
    NanCount,
}

/// What reading a leaf has shown, in the leaf's own type.
#[derive(Clone, Debug, PartialEq)]
pub enum LeafScan {
    /// All that can be known; what is unknown here is so for good, whatever a footer says.
    ///
    /// The bounds are exact and the counts are of rows. A leaf in a list or map has bounds over all its elements and no
    /// counts. A type without an order, and values that the type cannot hold, make both bounds unknown. Strings are bytes
    /// that need not be UTF-8. An INT96 is an instant in nanoseconds that 64 bits may not hold.
    Everything(ColumnStatistics),
    /// How many rows are NaN, and nothing else.
    NanCount(Count),
}

impl LeafScan {
    /// What is known of the leaf when its footer said this.
    #[must_use]
    pub fn over(&self, footer: ColumnStatistics) -> ColumnStatistics {
        match self {
            Self::Everything(statistics) => statistics.clone(),
            Self::NanCount(count) => ColumnStatistics { nan_count: Some(*count), ..footer },
        }
    }
}

/// What reading leaves has shown, by their indexes in [`Footer::leaves`].
pub type ScannedLeaves = BTreeMap<usize, LeafScan>;

/// Reads the data of leaves of a file, by their indexes in [`Footer::leaves`]. A leaf that is not there, or that there is
/// nothing to read of, is missing in the result. One request after
/// the other is made for each row group of each leaf that has values, and more for one that is long. Reading stops soon after
/// nobody waits for it any more.
///
/// # Errors
/// [`ScanError`] if the data of one leaf cannot be read, or contradicts the footer.
pub async fn scan(
    storage: &Storage,
    object: &StoredObject,
    footer: &Footer<'_>,
    leaves: &[usize],
    what: ScanFor,
) -> Result<ScannedLeaves, ScanError> {
    let mut scans = BTreeMap::new();
    for leaf in leaves {
        if let Some(scan) = scan_leaf(storage, object, footer, *leaf, what).await? {
            scans.insert(*leaf, scan);
        }
    }
    Ok(scans)
}

async fn scan_leaf(
    storage: &Storage,
    object: &StoredObject,
    footer: &Footer<'_>,
    index: usize,
    what: ScanFor,
) -> Result<Option<LeafScan>, ScanError> {
    let waiting = Waiting::default();
    let Some(fold) = fold_of(footer, index, what) else { return Ok(None) };
    let plans = plan_chunks(footer, index, object.size_bytes)?;
    let mut reading = LeafReading::of(fold, what, Budget::for_chunks(&plans, &waiting));
    for plan in plans {
        let chunk = storage.read_chunk(object, plan.range.clone()).await?;
        // Pages may be a thousand times as long when they are decompressed.
        let turn = storage.turn_to_decode().await;
        let row_group = plan.row_group;
        let read = blocking::attempt(move || {
            let read = reading.read(&plan, chunk.bytes()).map(|()| reading);
            drop(turn);
            read
        })
        .await;
        reading = read.unwrap_or(Err(ChunkFault::ReaderFailed)).map_err(|fault| {
            let column = footer.leaves().get(index).map(super::FileLeaf::dotted_path).unwrap_or_default();
            ScanError::Chunk { column, row_group, fault }
        })?;
    }
    Ok(Some(reading.into_scan()))
}

/// Where the values of a leaf go; `None` if there is no such leaf, or nothing to read it for.
fn fold_of(footer: &Footer<'_>, index: usize, what: ScanFor) -> Option<LeafFold> {
    let leaf = footer.leaves().get(index)?;
    let counts_nans = leaf.column_type.is_some_and(PrimitiveType::is_float) && !leaf.repeated;
    (what == ScanFor::Everything || counts_nans).then(|| LeafFold::of(leaf))
}

/// A leaf that is being read, chunk by chunk.
struct LeafReading {
    fold: LeafFold,
    budget: Budget,
    what: ScanFor,
    extent: Extent,
}

impl LeafReading {
    fn of(fold: LeafFold, what: ScanFor, budget: Budget) -> Self {
        Self { fold, budget, what, extent: Extent::Whole }
    }

    fn read(&mut self, plan: &ChunkPlan, bytes: &[u8]) -> Result<(), ChunkFault> {
        if read_chunk(plan, bytes, self.what, &mut self.fold, &mut self.budget)? == Extent::Dictionary {
            self.extent = Extent::Dictionary;
        }
        Ok(())
    }

    fn into_scan(self) -> LeafScan {
        match self.extent {
            Extent::Whole => LeafScan::Everything(self.fold.into_statistics()),
            Extent::Dictionary => LeafScan::NanCount(self.fold.nan_count()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::file_of_one_column as file;
    use super::*;
    use crate::location::Location;
    use crate::storage::StorageError;

    #[tokio::test]
    async fn a_leaf_is_read_from_its_storage() {
        let (bytes, metadata) = file();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, bytes).unwrap();
        let (storage, location) = (Storage::from_environment(), Location::parse(path.to_str().unwrap(), None).unwrap());
        let object = storage.head(&location).await.unwrap();
        let footer = Footer::parse(&metadata).unwrap();
        let scans = scan(&storage, &object, &footer, &[0, 1], ScanFor::Everything).await.unwrap();
        let [(0, LeafScan::Everything(read))] = &scans.into_iter().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!(read.max.as_ref().map(|bound| &bound.value), Some(&prunus_statistics::Value::Integer(7)));
        assert!(scan(&storage, &object, &footer, &[0], ScanFor::NanCount).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_file_that_was_replaced_is_not_read() {
        let (bytes, metadata) = file();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, &bytes).unwrap();
        let (storage, location) = (Storage::from_environment(), Location::parse(path.to_str().unwrap(), None).unwrap());
        let object = storage.head(&location).await.unwrap();
        std::fs::write(&path, [&bytes[..], b"more"].concat()).unwrap();
        let footer = Footer::parse(&metadata).unwrap();
        let replaced = scan(&storage, &object, &footer, &[0], ScanFor::Everything).await;
        assert!(matches!(replaced, Err(ScanError::Storage(StorageError::Replaced))), "{replaced:?}");
    }
}
