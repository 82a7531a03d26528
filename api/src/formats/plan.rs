//! A page of a plan.

mod arrow;
mod json;

use prunus_catalog::{PlannedChunk, PlannedPage};
use serde::Serialize;

use super::WriteError;
use crate::accept::Format;
use crate::page_token::{FilePosition, PageTokens};
use crate::wire::{PlanMetricsJson, SchemaJson};

/// Which part of a plan a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanPart {
    /// The first, which has the metrics of all.
    First,
    Later,
}

/// Writes a page of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanWriter {
    pub(crate) format: Format,
    pub(crate) tokens: PageTokens,
    pub(crate) part: PlanPart,
}

/// What is said of a page as a whole.
#[derive(Serialize)]
struct PlanHead {
    snapshot_id: i64,
    schema: SchemaJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<PlanMetricsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

impl PlanWriter {
    /// The head, and the first chunk of the files.
    pub(crate) fn begin(self, page: &PlannedPage, first: &PlannedChunk) -> Result<Vec<u8>, WriteError> {
        let head = self.head(page);
        match self.format {
            Format::Json => {
                let mut out = super::json::head(&head)?;
                out.reserve(json::FILE_BYTES * first.verdicts.len());
                json::write_files(&mut out, page, first)?;
                Ok(out)
            }
            Format::Arrow => arrow::begin(&head, page, first),
        }
    }

    /// A later chunk.
    pub(crate) fn chunk(self, page: &PlannedPage, chunk: &PlannedChunk) -> Result<Vec<u8>, WriteError> {
        match self.format {
            Format::Json => {
                let mut out = Vec::with_capacity(json::FILE_BYTES * chunk.verdicts.len());
                json::write_files(&mut out, page, chunk)?;
                Ok(out)
            }
            Format::Arrow => arrow::chunk(chunk),
        }
    }

    fn head(self, page: &PlannedPage) -> PlanHead {
        let (snapshot_id, schema_id) = (page.snapshot_id.0, page.schema_id.0);
        let token = page.next_after().map(|last| FilePosition { snapshot_id, schema_id, after: last.0 });
        PlanHead {
            snapshot_id,
            schema: SchemaJson::new(page.schema_id, page.schema()),
            metrics: (self.part == PlanPart::First).then(|| PlanMetricsJson::from(&page.metrics)),
            next_page_token: token.map(|position| self.tokens.encode(&position)),
        }
    }
}
