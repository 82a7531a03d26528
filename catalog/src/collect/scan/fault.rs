//! Why the data of a file cannot be read.

use super::super::thrift::ThriftError;
use super::chunk_plan::MAX_CHUNK_BYTES;
use super::page_header::MAX_PAGE_BYTES;
use crate::storage::StorageError;

/// Why leaves of a file cannot be read. Nothing is known of any of them then.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The object store did not give the bytes.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The data of a column is damaged, or made in a way that this program cannot read.
    #[error("column `{column}` cannot be read in row group {row_group}")]
    Chunk {
        /// The path of the column.
        column: String,
        /// Which row group, from 0.
        row_group: usize,
        /// What is wrong with it.
        #[source]
        fault: ChunkFault,
    },
}

impl ScanError {
    /// The error and what caused it, in a sentence.
    pub(crate) fn with_cause(&self) -> String {
        match self {
            Self::Storage(error) => error.to_string(),
            Self::Chunk { fault, .. } => format!("{self}: {fault}"),
        }
    }
}

/// What is wrong with a column chunk. All but [`ChunkFault::ReaderFailed`] are evidence against the file or its writer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChunkFault {
    /// The chunk is encrypted.
    #[error("it is encrypted")]
    Encrypted,
    /// The footer does not say where the chunk is or how it is compressed.
    #[error("the footer does not say where it is")]
    NoPlace,
    /// The chunk would lie outside the file.
    #[error("it would begin at byte {start} and have {length} bytes, in a file of {size_bytes}")]
    OutsideFile {
        /// Where it would begin.
        start: i64,
        /// How long it would be.
        length: i64,
        /// How long the file is.
        size_bytes: u64,
    },
    /// The chunks of the column together are longer than the file.
    #[error("the column's chunks together are longer than the file")]
    Overlapping,
    /// The chunks of all columns together are longer than the file.
    #[error("the chunks of all columns together are longer than the file")]
    SharedBytes,
    /// The chunk is longer than is accepted.
    #[error("it has {0} bytes, more than {MAX_CHUNK_BYTES}")]
    ChunkTooLong(u64),
    /// The values are compressed in a way that this program does not know.
    #[error("its codec {0} is not supported")]
    UnsupportedCodec(i32),
    /// The values are encoded in a way that this program does not know, or that does not go with their type.
    #[error("its encoding {0} is not supported for its type")]
    UnsupportedEncoding(i32),
    /// The header of a page does not decode.
    #[error("the header of a page is damaged")]
    PageHeader(#[source] ThriftError),
    /// A page whose kind this program does not know.
    #[error("a page is of the unknown kind {0}")]
    UnknownPage(i32),
    /// A page that would be longer than what is left of its chunk.
    #[error("a page claims {claimed_bytes} bytes where {bytes_left} are left")]
    PageBeyondChunk {
        /// How many bytes it claims.
        claimed_bytes: i32,
        /// How many are left.
        bytes_left: usize,
    },
    /// A page that would be longer than is accepted when it is decompressed.
    #[error("a page claims {0} bytes when decompressed; from 0 to {MAX_PAGE_BYTES} are accepted")]
    PageTooLong(i32),
    /// The bytes of a page are not those that its checksum was made of.
    #[error("the checksum of a page does not match")]
    Checksum,
    /// A page does not decompress, or not into as many bytes as it claims.
    #[error("a page does not decompress into the {0} bytes that it claims")]
    Decompression(usize),
    /// A page that claims a negative number of values, or more than are left in the chunk.
    #[error("a page claims {claimed} values where {values_left} are left")]
    PageValues {
        /// How many it claims.
        claimed: i32,
        /// How many are left.
        values_left: u64,
    },
    /// The chunk ends before it has held the values that the footer says.
    #[error("it ends with {0} values missing")]
    ValuesMissing(u64),
    /// The chunk holds another number of rows than its row group.
    #[error("it holds {found} rows where the footer says {claimed}")]
    Rows {
        /// How many it holds.
        found: u64,
        /// How many the footer says.
        claimed: u64,
    },
    /// The levels of a page, which say where nulls and lists are, are damaged.
    #[error("the levels of a page are damaged")]
    Levels,
    /// The values of a page end early, or do not decode.
    #[error("the values of a page are damaged")]
    Values,
    /// A page whose values are numbers of a dictionary that the chunk does not have.
    #[error("a page needs a dictionary, and there is none")]
    NoDictionary,
    /// A dictionary that does not come first.
    #[error("a dictionary does not come first")]
    LateDictionary,
    /// A dictionary that is damaged, or of a type that has none.
    #[error("the dictionary is damaged")]
    Dictionary,
    /// The values of the column are more, or longer, than is accepted of so few bytes.
    #[error("its values are too much to read for so few bytes")]
    TooMuch,
    /// The reader itself failed.
    #[error("the reader failed")]
    ReaderFailed,
}

impl From<ThriftError> for ChunkFault {
    fn from(error: ThriftError) -> Self {
        Self::PageHeader(error)
    }
}
