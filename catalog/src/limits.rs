//! How much a catalog takes at once: what its operator may lower, within what the code can bear.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use prunus_pruner::{FilterLimits, MAX_FILTER_BYTES, MAX_FILTER_DEPTH, MAX_FILTER_WORDS, MIN_FILTER_DEPTH};

use crate::Fault;
use crate::admission::{MAX_CHANGES_WAITING, MAX_PLANS_AT_ONCE, MAX_PLANS_WAITING};
use crate::commit::MAX_FILES_PER_COMMIT;
use crate::page::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageSize};

/// The most that is taken of each kind. A value beyond what the code can bear counts as that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files that a commit adds and removes, from 1 to [`MAX_FILES_PER_COMMIT`].
    pub files_per_commit: usize,
    /// Bytes of a filter, as SQL text or as an Iceberg expression, from 1 to [`MAX_FILTER_BYTES`].
    pub filter_bytes: usize,
    /// Words and operators of a filter as SQL text, or tests and connectives of one as an Iceberg expression, from 1 to
    /// [`MAX_FILTER_WORDS`].
    pub filter_words: usize,
    /// How deep a filter is nested, as SQL text or as an Iceberg expression, from [`MIN_FILTER_DEPTH`] to [`MAX_FILTER_DEPTH`].
    pub filter_depth: usize,
    /// Items of a page, from 1 to [`MAX_PAGE_SIZE`].
    pub page_size: u32,
    /// Plans that are made at once, up to [`MAX_PLANS_AT_ONCE`].
    pub plans_at_once: NonZeroUsize,
    /// Plans that wait for their turn, up to [`MAX_PLANS_WAITING`]. A further one is refused.
    pub plans_waiting: usize,
    /// Changes that are worked on or wait for the writer, from 1 to [`MAX_CHANGES_WAITING`]. A further one is refused.
    pub changes_waiting: usize,
}

/// How many plans are made at once unless it is said otherwise.
const DEFAULT_PLANS_AT_ONCE: NonZeroUsize = NonZeroUsize::new(16).unwrap();
/// How many plans wait unless it is said otherwise.
const DEFAULT_PLANS_WAITING: usize = 1_024;
/// How many changes wait unless it is said otherwise.
const DEFAULT_CHANGES_WAITING: usize = 1_024;

/// The most columns that a plan selects.
pub const MAX_SELECTED_COLUMNS: usize = 10_000;
/// The most columns that a table is clustered by.
pub const MAX_CLUSTER_BY_COLUMNS: usize = 100;
/// The most columns that are named in each of the lists that a commit has of a file.
pub const MAX_COLUMNS_OF_FILE: usize = 10_000;
/// The most entries of a commit's summary, and of the properties of a namespace or table.
pub const MAX_NOTES: usize = 1_000;
/// The most bytes of the keys and values of a summary, or of properties, together.
pub const MAX_NOTES_BYTES: usize = 1 << 20;

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

impl Limits {
    /// What of it holds: a value that is out of its range counts as the nearest in it.
    #[must_use]
    pub fn in_range(self) -> Self {
        let plans_at_once = NonZeroUsize::new(MAX_PLANS_AT_ONCE).unwrap_or(NonZeroUsize::MIN);
        Self {
            files_per_commit: self.files_per_commit.clamp(1, MAX_FILES_PER_COMMIT),
            filter_bytes: self.filter_bytes.clamp(1, MAX_FILTER_BYTES),
            filter_words: self.filter_words.clamp(1, MAX_FILTER_WORDS),
            filter_depth: self.filter_depth.clamp(MIN_FILTER_DEPTH, MAX_FILTER_DEPTH),
            page_size: self.page_size.clamp(1, MAX_PAGE_SIZE),
            plans_at_once: self.plans_at_once.min(plans_at_once),
            plans_waiting: self.plans_waiting.min(MAX_PLANS_WAITING),
            changes_waiting: self.changes_waiting.clamp(1, MAX_CHANGES_WAITING),
        }
    }

    /// The size of a page: what is asked for, or the default, which is no larger than a page may be.
    ///
    /// # Errors
    /// A fault if it is 0, or larger than a page may be.
    pub fn page_size(&self, asked: Option<u32>) -> Result<PageSize, Vec<Fault>> {
        let size = asked.unwrap_or(DEFAULT_PAGE_SIZE.min(self.page_size));
        let page_size = PageSize::new(size).ok().filter(|_| size <= self.page_size);
        let fault = || vec![Fault::at("page_size", format!("page_size is not from 1 to {}", self.page_size))];
        page_size.ok_or_else(fault)
    }

    /// Those of filters.
    pub(crate) fn of_filter(&self) -> FilterLimits {
        FilterLimits { bytes: self.filter_bytes, words: self.filter_words, depth: self.filter_depth }
    }
}

/// A fault if there are more of them than may be.
pub(crate) fn too_many(at: &str, what: &str, count: usize, max: usize) -> Option<Fault> {
    (count > max).then(|| Fault::at(at, format!("{count} {what} are more than {max}")))
}

/// What is wrong with how many notes there are, or how long they are together.
pub(crate) fn check_notes(at: &str, notes: &BTreeMap<String, String>) -> Vec<Fault> {
    let bytes: usize = notes.iter().map(|(key, value)| key.len() + value.len()).sum();
    let too_long = too_many(at, "bytes of keys and values", bytes, MAX_NOTES_BYTES);
    too_many(at, "entries", notes.len(), MAX_NOTES).into_iter().chain(too_long).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_counts_as_the_nearest_in_it() {
        assert_eq!(Limits::default().in_range(), Limits::default());
        let all = |value: usize| Limits {
            files_per_commit: value,
            filter_bytes: value,
            filter_words: value,
            filter_depth: value,
            page_size: u32::try_from(value).unwrap_or(u32::MAX),
            plans_at_once: NonZeroUsize::new(value).unwrap_or(NonZeroUsize::MIN),
            plans_waiting: value,
            changes_waiting: value,
        };
        let largest = all(usize::MAX).in_range();
        assert_eq!((largest.plans_at_once.get(), largest.plans_waiting), (MAX_PLANS_AT_ONCE, MAX_PLANS_WAITING));
        assert_eq!(largest.changes_waiting, MAX_CHANGES_WAITING);
        assert_eq!(largest, Limits { ..largest }.in_range());
        let least = all(0).in_range();
        assert_eq!((least.files_per_commit, least.filter_bytes, least.filter_words), (1, 1, 1));
        assert_eq!((least.filter_depth, least.page_size), (MIN_FILTER_DEPTH, 1));
        assert_eq!((least.plans_at_once.get(), least.plans_waiting, least.changes_waiting), (1, 0, 1));
    }

    #[test]
    fn a_page_is_as_large_as_asked_for_up_to_the_limit() {
        let size = |limit, asked| Limits { page_size: limit, ..Limits::default() }.page_size(asked).map(PageSize::get);
        assert_eq!(size(MAX_PAGE_SIZE, None), Ok(DEFAULT_PAGE_SIZE));
        assert_eq!(size(10, None), Ok(10));
        assert_eq!(size(10, Some(10)), Ok(10));
        assert_eq!(size(10, Some(11)), Err(vec![Fault::at("page_size", "page_size is not from 1 to 10")]));
        assert!(size(10, Some(0)).is_err());
        assert!(size(MAX_PAGE_SIZE, Some(MAX_PAGE_SIZE + 1)).is_err());
    }

    #[test]
    fn notes_are_taken_up_to_their_number_and_length() {
        let notes = |count: usize| (0..count).map(|number| (number.to_string(), String::new())).collect();
        assert_eq!(check_notes("summary", &notes(MAX_NOTES)), []);
        assert_eq!(
            check_notes("summary", &notes(MAX_NOTES + 1)),
            [Fault::at("summary", "1001 entries are more than 1000")]
        );
        let long = |bytes: usize| BTreeMap::from([("k".to_owned(), "x".repeat(bytes - 1))]);
        assert_eq!(check_notes("summary", &long(MAX_NOTES_BYTES)), []);
        let expected = "1048577 bytes of keys and values are more than 1048576";
        assert_eq!(check_notes("summary", &long(MAX_NOTES_BYTES + 1)), [Fault::at("summary", expected)]);
    }
}
