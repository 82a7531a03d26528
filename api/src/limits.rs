//! The limits that an operator sets, as the catalog takes them. What all limits are, and what happens beyond them, is told in
//! `docs/limits.md`.

#[cfg(test)]
mod page;
mod range;

use std::num::NonZeroUsize;

use prunus_catalog::Limits;

use crate::settings::LimitSettings;

pub(crate) use range::{RANGES, Range};

impl LimitSettings {
    /// Those of the catalog.
    pub(crate) fn of_catalog(&self) -> Limits {
        Limits {
            files_per_commit: self.files_per_commit,
            filter_bytes: self.filter_bytes,
            filter_words: self.filter_words,
            filter_depth: self.filter_depth,
            page_size: self.page_size,
            plans_at_once: NonZeroUsize::new(self.plans_at_once).unwrap_or(NonZeroUsize::MIN),
            plans_waiting: self.plans_waiting,
            changes_waiting: self.changes_waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_left_alone_are_the_limits_of_the_catalog() {
        assert_eq!(LimitSettings::default().of_catalog(), Limits::default());
    }
}
