//! Why a file's footer cannot be used.

use super::footer_location::MAX_FOOTER_BYTES;
use super::thrift::ThriftError;

/// Why a file is not a Parquet file whose footer can be used. Each is final: reading again changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FooterError {
    /// Fewer bytes than the smallest Parquet file has.
    #[error("the file has {size_bytes} bytes, too few for a Parquet file")]
    TooShort {
        /// How many bytes there are.
        size_bytes: u64,
    },
    /// The file does not end as a Parquet file does.
    #[error("not a Parquet file, or a truncated one: it does not end with \"PAR1\"")]
    NotParquet {
        /// The last four bytes.
        trailing_bytes: [u8; 4],
    },
    /// The footer itself is encrypted.
    #[error("the footer is encrypted")]
    EncryptedFooter,
    /// The footer would begin before the file does.
    #[error("the footer claims {footer_bytes} bytes in a file of {size_bytes}")]
    LengthBeyondFile {
        /// How many bytes it claims.
        footer_bytes: u64,
        /// How many bytes the file has.
        size_bytes: u64,
    },
    /// The footer is longer than is accepted.
    #[error("the footer has {footer_bytes} bytes, more than {MAX_FOOTER_BYTES}")]
    TooLong {
        /// How many bytes it has.
        footer_bytes: u64,
    },
    /// The footer is no thrift, or not the struct that it should be.
    #[error("the footer is damaged in {reading}")]
    Damaged {
        /// Which part of the footer was being read.
        reading: &'static str,
        /// What was wrong with it.
        #[source]
        cause: ThriftError,
    },
    /// The list of schema elements forms no tree.
    #[error("the schema is no tree: {fault}")]
    SchemaTree {
        /// What is wrong with it.
        fault: SchemaTreeFault,
    },
    /// A decimal that cannot be.
    #[error("column `{column}` is decimal({precision},{scale}), which cannot be")]
    ImpossibleDecimal {
        /// The path of the column, its names joined with dots.
        column: String,
        /// How many digits it claims.
        precision: i32,
        /// How many of them after the point.
        scale: i32,
    },
    /// A row group that does not have one chunk for each column.
    #[error("row group {row_group} has {chunks} column chunks for {columns} columns")]
    ChunkCount {
        /// Which row group, from 0.
        row_group: usize,
        /// How many chunks it has.
        chunks: usize,
        /// How many columns the schema has.
        columns: usize,
    },
    /// A chunk without metadata that is not encrypted either.
    #[error("column `{column}` has no metadata in row group {row_group}")]
    ChunkWithoutMetadata {
        /// The path of the column.
        column: String,
        /// Which row group, from 0.
        row_group: usize,
    },
    /// A chunk of another column or type than the schema has in its place.
    #[error("row group {row_group} holds another column or type than `{column}` in its place")]
    ChunkOfOtherColumn {
        /// The path of the column.
        column: String,
        /// Which row group, from 0.
        row_group: usize,
    },
    /// The data is in another file: this is a summary of a directory.
    #[error("the data of column `{column}` is in another file, `{file}`")]
    ChunkInOtherFile {
        /// The path of the column.
        column: String,
        /// The other file.
        file: String,
    },
    /// A count of rows or values that is negative.
    #[error("{what} is {count}")]
    NegativeCount {
        /// Which count.
        what: &'static str,
        /// The count.
        count: i64,
    },
    /// A column that does not have one value for each row, or one in lists that has fewer values than there are rows.
    #[error("column `{column}` has {values} values in row group {row_group}, which has {rows} rows")]
    InconsistentValues {
        /// The path of the column.
        column: String,
        /// Which row group, from 0.
        row_group: usize,
        /// How many values the column claims.
        values: u64,
        /// How many rows the row group claims.
        rows: u64,
    },
    /// The file's row count is not the sum over its row groups.
    #[error("the file claims {file_rows} rows and its row groups {row_group_rows}")]
    InconsistentRows {
        /// How many rows the file claims.
        file_rows: u64,
        /// How many rows the row groups claim together.
        row_group_rows: u128,
    },
}

/// Why the list of schema elements forms no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaTreeFault {
    /// There is no root.
    #[error("it has no elements")]
    Empty,
    /// A group claims more children than there are elements.
    #[error("`{0}` claims more children than there are elements")]
    MissingChildren(String),
    /// Elements that no group claims.
    #[error("{0} elements belong to no group")]
    ExtraElements(usize),
    /// An element that is both a column and a group, or neither.
    #[error("`{0}` is neither a column nor a group")]
    NeitherColumnNorGroup(String),
    /// An element of a physical type that Parquet does not have.
    #[error("`{name}` has the unknown physical type {code}")]
    UnknownPhysicalType {
        /// The name of the element.
        name: String,
        /// The code of its type.
        code: i32,
    },
    /// A column of fixed length without a length.
    #[error("`{0}` is of fixed length, and its length is missing or negative")]
    NoLength(String),
    /// An element that does not say how often it occurs.
    #[error("`{0}` does not say how often it occurs")]
    NoRepetition(String),
    /// Groups in groups.
    #[error("groups are nested more than {} deep", super::file_schema::MAX_SCHEMA_DEPTH)]
    TooDeep,
    /// The names of all columns, each with those of its groups, take too many bytes.
    #[error("the paths of its columns take more than {} bytes", super::file_schema::MAX_PATH_BYTES)]
    PathsTooLong,
}
