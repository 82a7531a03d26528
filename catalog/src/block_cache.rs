//! Decoded blocks of manifests, shared between plans.
//!
//! A manifest never changes and its id is never given to another, so that what is here is never stale. Which of its files are
//! live does change, and is not kept here.

use std::cell::Cell;
use std::sync::Arc;

use moka::sync::Cache;
use prunus_manifest::{EntryBlock, ManifestId, ManifestRow, ReadTransaction, SchemaColumn};
use prunus_pruner::ColumnZones;
use prunus_statistics::{FieldId, PrimitiveType};

use crate::{Result, zone_maps};

/// How many bytes of decoded blocks are kept unless it is said otherwise.
pub const DEFAULT_BLOCK_CACHE_BYTES: u64 = 256 << 20;

/// Blocks by manifest and column; those least likely to be asked for again are dropped when they get too many.
#[derive(Clone)]
pub(crate) struct BlockCache {
    blocks: Cache<Key, Block>,
}

/// The type is that which a block is read as: a column may be widened after it was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Entries(ManifestId),
    Column(ManifestId, FieldId, PrimitiveType),
}

#[derive(Clone)]
enum Block {
    Entries(Arc<EntryBlock>),
    Column(Arc<ColumnZones>),
}

/// A plan's way to the blocks, which counts how many it had to read.
pub(crate) struct BlockReader<'a> {
    cache: &'a BlockCache,
    tx: &'a ReadTransaction<'a>,
    counts: Cell<BlockCounts>,
}

/// How many blocks a plan needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockCounts {
    /// Read from the store and decoded.
    pub(crate) read: u64,
    /// Found in memory.
    pub(crate) cached: u64,
}

impl BlockCache {
    pub(crate) fn new(max_bytes: u64) -> Self {
        let blocks = Cache::builder().weigher(|_, block: &Block| block.size_bytes()).max_capacity(max_bytes).build();
        Self { blocks }
    }
}

impl Block {
    fn size_bytes(&self) -> u32 {
        let size = match self {
            Self::Entries(entries) => entries.size_bytes(),
            Self::Column(zones) => zones.size_bytes(),
        };
        u32::try_from(size + size_of::<(Key, Self)>()).unwrap_or(u32::MAX)
    }
}

impl<'a> BlockReader<'a> {
    pub(crate) fn new(cache: &'a BlockCache, tx: &'a ReadTransaction<'a>) -> Self {
        Self { cache, tx, counts: Cell::default() }
    }

    /// How many blocks were asked for so far.
    pub(crate) fn counts(&self) -> BlockCounts {
        self.counts.get()
    }

    /// The entries of a manifest.
    pub(crate) fn load_entries(&self, manifest: &ManifestRow) -> Result<Arc<EntryBlock>> {
        let key = Key::Entries(manifest.manifest_id);
        if let Some(Block::Entries(entries)) = self.get(key) {
            return Ok(entries);
        }
        let entries = Arc::new(self.tx.load_entry_block(manifest)?);
        self.keep(key, Block::Entries(Arc::clone(&entries)));
        Ok(entries)
    }

    /// The zone maps of a column over the files of a manifest.
    pub(crate) fn load_column(&self, manifest: &ManifestRow, column: SchemaColumn) -> Result<Arc<ColumnZones>> {
        let key = Key::Column(manifest.manifest_id, column.field_id, column.column_type);
        if let Some(Block::Column(zones)) = self.get(key) {
            return Ok(zones);
        }
        let zones = Arc::new(zone_maps::usable(&self.tx.load_column_block(manifest, column)?)?);
        self.keep(key, Block::Column(Arc::clone(&zones)));
        Ok(zones)
    }

    fn get(&self, key: Key) -> Option<Block> {
        let block = self.cache.blocks.get(&key)?;
        let counts = self.counts.get();
        self.counts.set(BlockCounts { cached: counts.cached + 1, ..counts });
        Some(block)
    }

    fn keep(&self, key: Key, block: Block) {
        let counts = self.counts.get();
        self.counts.set(BlockCounts { read: counts.read + 1, ..counts });
        self.cache.blocks.insert(key, block);
    }
}
