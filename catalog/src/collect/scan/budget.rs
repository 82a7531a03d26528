//! How much work it may be to read a leaf: what its bytes bear out is read, and no small file takes hours.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::chunk_plan::ChunkPlan;
use super::fault::ChunkFault;

/// How many bytes the pages of a leaf may decompress into, beyond those that its stored bytes allow.
pub(super) const MAX_FREE_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// How many values of a leaf may be written out otherwise than by a dictionary, beyond those that its stored bytes allow.
pub(super) const MAX_FREE_VALUES: u64 = 1 << 32;
/// How many more of both each stored byte allows: about what gzip makes of one at most.
const PER_STORED_BYTE: u64 = 1024;

/// What of the work is left, and whether anybody waits for it.
#[derive(Debug)]
pub(super) struct Budget {
    bytes_left: u64,
    values_left: u64,
    abandoned: Arc<AtomicBool>,
}

impl Budget {
    /// For a leaf that has these chunks.
    pub(super) fn for_chunks(chunks: &[ChunkPlan], waiting: &Waiting) -> Self {
        let bytes = |chunk: &ChunkPlan| chunk.range.end.saturating_sub(chunk.range.start);
        Self::of(chunks.iter().map(bytes).fold(0, u64::saturating_add), waiting)
    }

    /// For a leaf whose chunks have so many bytes together, as they are stored.
    pub(super) fn of(stored_bytes: u64, waiting: &Waiting) -> Self {
        let more = stored_bytes.saturating_mul(PER_STORED_BYTE);
        Self {
            bytes_left: MAX_FREE_BYTES.saturating_add(more),
            values_left: MAX_FREE_VALUES.saturating_add(more),
            abandoned: Arc::clone(&waiting.0),
        }
    }

    pub(super) fn take_bytes(&mut self, bytes: u64) -> Result<(), ChunkFault> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(ChunkFault::TooMuch)?;
        Ok(())
    }

    pub(super) fn take_values(&mut self, values: u64) -> Result<(), ChunkFault> {
        self.values_left = self.values_left.checked_sub(values).ok_or(ChunkFault::TooMuch)?;
        Ok(())
    }

    /// Ends a reading that nobody waits for.
    pub(super) fn check_wanted(&self) -> Result<(), ChunkFault> {
        if self.abandoned.load(Ordering::Relaxed) { Err(ChunkFault::ReaderFailed) } else { Ok(()) }
    }
}

/// That somebody waits for a leaf: a reader on another thread stops at its next page once this is dropped.
#[derive(Debug, Default)]
pub(super) struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_bytes_allow_for_more() {
        let waiting = Waiting::default();
        let mut budget = Budget::of(3, &waiting);
        assert_eq!(budget.take_bytes(MAX_FREE_BYTES + 3 * PER_STORED_BYTE), Ok(()));
        assert_eq!(budget.take_bytes(1), Err(ChunkFault::TooMuch));
        assert_eq!(budget.take_values(MAX_FREE_VALUES + 3 * PER_STORED_BYTE), Ok(()));
        assert_eq!(budget.take_values(1), Err(ChunkFault::TooMuch));
    }
}
