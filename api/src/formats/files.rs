//! A page of a listing of files.

mod arrow;
mod json;

use prunus_catalog::{FileChunk, ListedPage};
use serde::Serialize;

use super::WriteError;
use crate::accept::Format;
use crate::page_token::{FilePosition, PageTokens};

/// Writes a page of a listing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilesWriter {
    pub(crate) format: Format,
    pub(crate) tokens: PageTokens,
}

/// What is said of a page as a whole.
#[derive(Serialize)]
struct FilesHead {
    snapshot_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

impl FilesWriter {
    /// The head, and the first chunk of the files.
    pub(crate) fn begin(self, page: &ListedPage, first: &FileChunk) -> Result<Vec<u8>, WriteError> {
        let (snapshot_id, schema_id) = (page.snapshot_id.0, page.schema_id.0);
        let position = page.next_after().map(|last| FilePosition { snapshot_id, schema_id, after: last.0 });
        let head = FilesHead { snapshot_id, next_page_token: position.map(|position| self.tokens.encode(&position)) };
        match self.format {
            Format::Json => {
                let mut out = super::json::head(&head)?;
                out.reserve(json::FILE_BYTES * first.rows.len());
                json::write_files(&mut out, first)?;
                Ok(out)
            }
            Format::Arrow => arrow::begin(&head, first),
        }
    }

    /// A later chunk.
    pub(crate) fn chunk(self, chunk: &FileChunk) -> Result<Vec<u8>, WriteError> {
        match self.format {
            Format::Json => {
                let mut out = Vec::with_capacity(json::FILE_BYTES * chunk.rows.len());
                json::write_files(&mut out, chunk)?;
                Ok(out)
            }
            Format::Arrow => arrow::chunk(chunk),
        }
    }
}
