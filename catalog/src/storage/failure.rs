//! Why an object cannot be read. That a store failed is told without its own words: they may hold addresses of the inside, what was
//! sent and signed, and parts of the options.

use std::error::Error;
use std::fmt;

use super::retry;
use crate::collect::FooterError;
use crate::location::LocationError;

/// Why an object cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// There is nothing there.
    #[error("there is no such file")]
    NotFound,
    /// What is there is a folder, a pipe or a device, or cannot be reached.
    #[error("it is not a regular file")]
    NotAFile,
    /// The store does not let us.
    #[error("the store refuses access")]
    Denied,
    /// The store cannot be set up from the environment of the server.
    #[error("the object store of this location is not set up here")]
    Unusable(#[source] StoreFailure),
    /// Files of this machine cannot be kept apart from others here, so none is read.
    #[error("files cannot be confined to folders on the server's machine, which takes Linux 5.6 or newer")]
    Unconfined,
    /// The store answers with the address of another place, which is not asked.
    #[error("the store answers with status {status}, which leads to another place")]
    Redirected {
        /// The status code, one of 3xx.
        status: u16,
    },
    /// The store answers that it will not do this, now or later.
    #[error("the store answers with status {status}")]
    Refused {
        /// The status code, one of 4xx.
        status: u16,
        /// What else it said.
        source: StoreFailure,
    },
    /// The store failed, for now.
    #[error("the object store failed")]
    Unavailable(#[source] StoreFailure),
    /// There was no time left for it.
    #[error("the object store answers too slowly")]
    TooSlow,
    /// The object was replaced between two requests.
    #[error("the file was replaced while it was read")]
    Replaced,
    /// The location cannot be asked for.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// The object is no Parquet file that can be registered.
    #[error(transparent)]
    Footer(#[from] FooterError),
}

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

impl StorageError {
    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::TooSlow | Self::Replaced)
    }

    /// What the store failed of, for those who asked: in a few words, which tell nothing of credentials or of the inside.
    pub(crate) fn short_cause(&self) -> Option<String> {
        match self {
            Self::Unavailable(failure) => failure.short_cause(),
            Self::TooSlow => Some("it answers too slowly".to_owned()),
            _ => None,
        }
    }

    /// Whether it may be the store that is at fault, and not the one object.
    pub(crate) fn may_be_of_all(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::TooSlow | Self::Denied | Self::Unusable(_) | Self::Unconfined)
    }
}

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
