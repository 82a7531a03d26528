//! How large a filter may be, in whichever language it is written.

/// The longest filter text, in bytes.
pub const MAX_FILTER_BYTES: usize = 16 << 20;
/// The most words and operators of a filter; values and the commas between them do not count.
pub const MAX_FILTER_WORDS: usize = 10_000;
/// How deep a filter may be nested.
pub const MAX_FILTER_DEPTH: usize = 64;
/// What a filter may be nested at least: plain ones are read through so many levels of the SQL parser.
pub const MIN_FILTER_DEPTH: usize = 8;
/// The most values of a filter, in all its lists and comparisons: each takes some hundred bytes while it is read.
pub const MAX_FILTER_VALUES: usize = 1 << 20;

/// How large filters are read; by default as large as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterLimits {
    /// Bytes of its text, up to [`MAX_FILTER_BYTES`]. An Iceberg expression has none here.
    pub bytes: usize,
    /// Words and operators of SQL text, or tests and connectives of an Iceberg expression, up to [`MAX_FILTER_WORDS`].
    pub words: usize,
    /// How deep it is nested, from [`MIN_FILTER_DEPTH`] to [`MAX_FILTER_DEPTH`].
    pub depth: usize,
}

impl Default for FilterLimits {
    fn default() -> Self {
        Self { bytes: MAX_FILTER_BYTES, words: MAX_FILTER_WORDS, depth: MAX_FILTER_DEPTH }
    }
}

impl FilterLimits {
    /// What of them holds: what is out of range counts as the nearest in it.
    pub(crate) fn in_range(self) -> Self {
        Self {
            bytes: self.bytes.min(MAX_FILTER_BYTES),
            words: self.words.min(MAX_FILTER_WORDS),
            depth: self.depth.clamp(MIN_FILTER_DEPTH, MAX_FILTER_DEPTH),
        }
    }
}
