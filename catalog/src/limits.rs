//! How much a catalog takes at once: what its operator may lower, within what the code can bear.

use std::num::NonZeroUsize;

use prunus_pruner::{MAX_FILTER_BYTES, MAX_FILTER_DEPTH, MAX_FILTER_WORDS};

use crate::commit::MAX_FILES_PER_COMMIT;
use crate::page::MAX_PAGE_SIZE;

/// The most that is taken of each kind. A value beyond what the code can bear counts as that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files that a commit adds and removes.
    pub files_per_commit: usize,
    /// Bytes of a filter as SQL text.
    pub filter_bytes: usize,
    /// Words and operators of a filter as SQL text.
    pub filter_words: usize,
    /// How deep a filter is nested, as SQL text or as an Iceberg expression.
    pub filter_depth: usize,
    /// Items of a page.
    pub page_size: u32,
    /// Plans that are made at once.
    pub plans_at_once: NonZeroUsize,
    /// Plans that wait for their turn. A further one is refused.
    pub plans_waiting: usize,
    /// Changes that wait for the writer. A further one is refused.
    pub changes_waiting: usize,
}

/// How many plans are made at once unless it is said otherwise.
const DEFAULT_PLANS_AT_ONCE: NonZeroUsize = NonZeroUsize::new(16).unwrap();
/// How many plans wait unless it is said otherwise.
const DEFAULT_PLANS_WAITING: usize = 1_024;
/// How many changes wait unless it is said otherwise.
const DEFAULT_CHANGES_WAITING: usize = 1_024;

impl Default for Limits {
    fn default() -> Self {
        Self {
            files_per_commit: MAX_FILES_PER_COMMIT,
            filter_bytes: MAX_FILTER_BYTES,
            filter_words: MAX_FILTER_WORDS,
            filter_depth: MAX_FILTER_DEPTH,
            page_size: MAX_PAGE_SIZE,
            plans_at_once: DEFAULT_PLANS_AT_ONCE,
            plans_waiting: DEFAULT_PLANS_WAITING,
            changes_waiting: DEFAULT_CHANGES_WAITING,
        }
    }
}
