//! What a Parquet file soundly says of its columns, read from its footer and, where that is not enough, from its data.
//!
//! The footer's thrift is walked here and not by the `parquet` crate, which hides some of what soundness needs, fails a
//! whole footer for one bad bound, and reserves memory by claimed counts. In reading order: where the footer is
//! ([`footer_range`]), what it says ([`Footer::parse`]), its schema as one for a table ([`infer_schema`]), what its data says
//! ([`scan()`]), and the statistics as those of a table's columns ([`match_columns`], [`match_scanned_columns`]) and of what its
//! lists and maps hold ([`match_items`]).
//!
//! ```
//! use prunus_catalog::collect::{Footer, FooterError, footer_range, metadata_within};
//!
//! /// How many rows a Parquet file has that is in memory whole.
//! fn row_count(file: &[u8]) -> Result<u64, FooterError> {
//!     let size_bytes = file.len() as u64;
//!     let range = footer_range(file, size_bytes)?;
//!     let metadata = metadata_within(file, size_bytes, &range).unwrap_or_default();
//!     Ok(Footer::parse(metadata)?.row_count())
//! }
//! assert!(matches!(row_count(b"id,name\n1,Alice\n"), Err(FooterError::NotParquet { .. })));
//! ```

mod annotation;
mod bound_value;
mod chunk_statistics;
mod column_fault;
mod column_lookup;
mod column_matching;
mod file_schema;
mod footer;
mod footer_error;
mod footer_location;
mod item_matching;
mod leaf_as_column;
mod leaf_statistics;
mod leaf_type;
mod name_folding;
mod node_shape;
mod raw_footer;
mod scan;
mod schema_inference;
mod thrift;
mod type_conversion;
mod writer_rules;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod test_footer;

pub use column_fault::{ColumnFault, ColumnProblem};
pub(crate) use column_matching::column_at;
pub use column_matching::{CollectedColumns, LeafInFile, TableColumn, match_columns, match_scanned_columns};
pub use file_schema::{FileLeaf, MAX_PATH_BYTES, MAX_SCHEMA_DEPTH};
pub use footer::Footer;
pub use footer_error::{FooterError, SchemaTreeFault};
pub use footer_location::{FOOTER_SUFFIX_BYTES, FOOTER_TRAILER_BYTES, MAX_FOOTER_BYTES, footer_range, metadata_within};
pub(crate) use item_matching::item_at;
pub use item_matching::{CollectedItems, ItemHolder, match_items};
pub(crate) use name_folding::same_when_folded;
pub use raw_footer::{MAX_COLUMN_CHUNKS, MAX_ROW_GROUPS, MAX_SCHEMA_ELEMENTS};
#[cfg(test)]
pub(crate) use scan::file_of_one_column;
pub use scan::{
    ChunkFault, LeafScan, MAX_CHUNK_BYTES, MAX_EXACT_BOUND_BYTES, MAX_PAGE_BYTES, ScanError, ScanFor, ScannedLeaves,
    scan,
};
pub use schema_inference::{SchemaInferenceError, infer_schema};
pub use thrift::{MAX_THRIFT_DEPTH, ThriftError};
