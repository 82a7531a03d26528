//! Sums over files.

use std::fmt;

/// How many files there are of some kind, and what they hold. No sum passes 2^63 - 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files.
    pub files: u64,
    /// The rows of those whose row count is known.
    pub rows: u64,
    /// How many have no known row count.
    pub files_of_unknown_rows: u64,
    /// The bytes of all.
    pub bytes: u64,
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, rows, files_of_unknown_rows, bytes } = self;
        write!(f, "{files} files with {rows} rows and {bytes} bytes, {files_of_unknown_rows} of them of unknown rows")
    }
}

impl Totals {
    /// The largest sum that a row can hold.
    const MAX_SUM: u64 = i64::MAX.cast_unsigned();

    /// With one file more; `None` if a sum grows too large.
    pub(crate) fn with(self, size_bytes: u64, row_count: Option<u64>) -> Option<Self> {
        let sum = |a: u64, b: u64| a.checked_add(b).filter(|sum| *sum <= Self::MAX_SUM);
        Some(Self {
            files: sum(self.files, 1)?,
            rows: sum(self.rows, row_count.unwrap_or(0))?,
            files_of_unknown_rows: sum(self.files_of_unknown_rows, row_count.is_none().into())?,
            bytes: sum(self.bytes, size_bytes)?,
        })
    }

    /// Without one of its files; `None` if it cannot have been one.
    pub(crate) fn without(self, size_bytes: u64, row_count: Option<u64>) -> Option<Self> {
        Some(Self {
            files: self.files.checked_sub(1)?,
            rows: self.rows.checked_sub(row_count.unwrap_or(0))?,
            files_of_unknown_rows: self.files_of_unknown_rows.checked_sub(row_count.is_none().into())?,
            bytes: self.bytes.checked_sub(size_bytes)?,
        })
    }

    /// Without some of its files. The checks of the schema keep a part from being larger than the whole.
    pub(crate) fn minus(self, part: Self) -> Self {
        Self {
            files: self.files.saturating_sub(part.files),
            rows: self.rows.saturating_sub(part.rows),
            files_of_unknown_rows: self.files_of_unknown_rows.saturating_sub(part.files_of_unknown_rows),
            bytes: self.bytes.saturating_sub(part.bytes),
        }
    }
}
