//! Long answers, written piece by piece in the format that is asked for.
//!
//! A page is a head, a piece for each chunk of its files, and an end. The head and the first piece are written together; a page of
//! one chunk is a body of known length, a longer one a stream ([`body`]). In either format the pieces up to any of them are no
//! whole answer, so that one that breaks off is never taken for a shorter one.

pub(crate) mod body;
mod json;
mod patience;
mod ipc;
mod files;
mod plan;

pub(crate) use files::FilesWriter;
pub(crate) use plan::{PlanPart, PlanWriter};

/// Why an answer could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// As JSON.
    #[error("it could not be written as JSON")]
    Json(#[from] serde_json::Error),
    /// As Arrow.
    #[error("it could not be written as Arrow")]
    Arrow(#[from] arrow::error::ArrowError),
}
