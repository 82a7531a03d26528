//! That an object store failed, without its own words: they may hold addresses of the inside, what was sent and signed, and parts
//! of the options.

use std::error::Error;
use std::fmt;

use super::retry;

/// That an object store failed. It prints as what that means in a few words, and has no source: its own words are for
/// [`StoreFailure::own_words`] alone.
pub struct StoreFailure(object_store::Error);

impl StoreFailure {
    /// What the store or the library says, with all causes. For whoever gave the keys that were used, and for nobody else.
    pub fn own_words(&self) -> String {
        let mut words = Vec::<String>::new();
        for text in self.causes().map(ToString::to_string) {
            // Many print their causes themselves.
            if !words.last().is_some_and(|last| last.contains(&text)) {
                words.push(text);
            }
        }
        words.join(": ")
    }

    /// What the operating system failed of, if it did.
    pub fn io_error_kind(&self) -> Option<std::io::ErrorKind> {
        self.causes().filter_map(|error| error.downcast_ref::<std::io::Error>()).last().map(std::io::Error::kind)
    }

    /// The error itself, and what it was caused by.
    fn causes(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        let itself: &(dyn Error + 'static) = &self.0;
        std::iter::successors(Some(itself), |error: &&(dyn Error + 'static)| (**error).source())
    }

    /// What failed in a few words; `None` where that cannot be told.
    pub(super) fn short_cause(&self) -> Option<String> {
        retry::short_cause(&self.0)
    }
}

impl From<object_store::Error> for StoreFailure {
    fn from(error: object_store::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short_cause().as_deref().unwrap_or("its own words are not shown"))
    }
}

impl fmt::Debug for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreFailure({self})")
    }
}

impl Error for StoreFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_words_are_told_only_to_who_asks_for_them() {
        let failure = StoreFailure(object_store::Error::Generic { store: "S3", source: "secret".into() });
        assert_eq!(failure.own_words(), "Generic S3 error: secret");
        for shown in [failure.to_string(), format!("{failure:?}"), format!("{failure:#?}")] {
            assert!(!shown.contains("secret"), "{shown}");
        }
        assert!(failure.source().is_none());
    }
}
