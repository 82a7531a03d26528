//! Pages of long answers.

use crate::{Error, Fault, Result};

/// The size of a page where none is asked for.
pub const DEFAULT_PAGE_SIZE: u32 = 1_000;
/// The largest page that may be asked for.
pub const MAX_PAGE_SIZE: u32 = 100_000;

/// How many items a page has, from 1 to [`MAX_PAGE_SIZE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSize(u32);

impl Default for PageSize {
    fn default() -> Self {
        Self(DEFAULT_PAGE_SIZE)
    }
}

impl PageSize {
    /// A page of `size` items.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is 0 or above [`MAX_PAGE_SIZE`].
    pub fn new(size: u32) -> Result<Self> {
        if (1..=MAX_PAGE_SIZE).contains(&size) {
            Ok(Self(size))
        } else {
            Err(Error::invalid(Fault::at("page_size", format!("page_size is not from 1 to {MAX_PAGE_SIZE}"))))
        }
    }

    /// The number of items.
    pub fn get(self) -> u32 {
        self.0
    }

    pub(crate) fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// One more than the page holds, to see whether there is a next one.
    pub(crate) fn and_one(self) -> u32 {
        self.0 + 1
    }

    /// Cuts what was read, with one item more than the page has or all that there are, to a page; true if there is more.
    pub fn cut<T>(self, items: &mut Vec<T>) -> bool {
        let more = items.len() > self.as_usize();
        items.truncate(self.as_usize());
        more
    }
}
