//! The statistics of one column of one data file, and of a whole file, with their stored form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Bound, Count, FieldId, Precision, Provenance, Value};

/// What is known of one column of one data file. `None` is unknown, and unknown is never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// No value that is neither null nor NaN lies below it.
    pub min: Option<Bound>,
    /// No value that is neither null nor NaN lies above it.
    pub max: Option<Bound>,
    /// How many rows are null.
    pub null_count: Option<Count>,
    /// How many rows are NaN; meaningless, and unknown, for a column that is not of floats.
    pub nan_count: Option<Count>,
}

impl ColumnStatistics {
    /// The statistics of a column that has the same value in every row (`None`: null), as a partition constant has.
    pub fn constant(value: Option<Value>, row_count: Option<u64>) -> Self {
        let provenance = Provenance::Constant;
        let count = |value| Count { value, provenance };
        let Some(value) = value else {
            return Self { null_count: row_count.map(count), nan_count: Some(count(0)), ..Self::default() };
        };
        if value.is_nan() {
            return Self { null_count: Some(count(0)), nan_count: row_count.map(count), ..Self::default() };
        }
        let bound = Bound { value, precision: Precision::Exact, provenance };
        Self { min: Some(bound.clone()), max: Some(bound), null_count: Some(count(0)), nan_count: Some(count(0)) }
    }

    /// Whether they are those of a value that stands for the column in every row, and not of values in the file.
    pub fn is_constant(&self) -> bool {
        let of_bounds = [&self.min, &self.max].into_iter().flatten().map(|bound| bound.provenance);
        let of_counts = [self.null_count, self.nan_count].into_iter().flatten().map(|count| count.provenance);
        of_bounds.chain(of_counts).any(|provenance| provenance == Provenance::Constant)
    }
}

/// What a file says of one column of its table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FileColumn {
    /// The file is known not to hold the column: every row reads as null.
    Absent,
    /// The file holds the column, or may hold it, with these statistics.
    Present(ColumnStatistics),
}

/// The statistics of one data file by field. A field that is missing here is unknown in every respect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileStatistics {
    /// The columns of which anything is known.
    pub columns: BTreeMap<FieldId, FileColumn>,
}

/// Stored statistics that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// The bytes are not what this version writes.
    #[error("stored statistics do not decode")]
    Damaged(#[source] rmp_serde::decode::Error),
    /// A newer version of the format.
    #[error("stored statistics have format version {0}, newer than this program's {FORMAT_VERSION}")]
    NewerVersion(u8),
    /// The statistics could not be written.
    #[error("statistics do not encode")]
    Encode(#[from] rmp_serde::encode::Error),
}

const FORMAT_VERSION: u8 = 1;

impl FileStatistics {
    /// One MessagePack value: a format version, then the columns.
    ///
    /// # Errors
    /// [`CodecError::Encode`], which no value of this type is known to cause.
    pub fn encode(&self) -> Result<Vec<u8>, CodecError> {
        Ok(rmp_serde::to_vec(&(FORMAT_VERSION, &self.columns))?)
    }

    /// The inverse of [`FileStatistics::encode`].
    ///
    /// # Errors
    /// [`CodecError::Damaged`] or [`CodecError::NewerVersion`].
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        // A pair, then the version: both fit a byte in MessagePack, so the version shows before the rest is read.
        if let [_, version, ..] = bytes
            && (FORMAT_VERSION + 1..0x80).contains(version)
        {
            return Err(CodecError::NewerVersion(*version));
        }
        let (_, columns): (u8, _) = rmp_serde::from_slice(bytes).map_err(CodecError::Damaged)?;
        Ok(Self { columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> FileStatistics {
        let bound = |value, precision| Some(Bound { value, precision, provenance: Provenance::Footer });
        let long = ColumnStatistics {
            min: bound(Value::Integer(-(10_i128.pow(37))), Precision::Bound),
            max: bound(Value::Integer(i128::from(u64::MAX)), Precision::Exact),
            null_count: Some(Count { value: 3, provenance: Provenance::Scanned }),
            nan_count: None,
        };
        let float = ColumnStatistics { min: bound(Value::Float(-0.0), Precision::Estimate), ..Default::default() };
        let bytes = ColumnStatistics { max: bound(Value::Bytes(vec![0, 255]), Precision::Bound), ..Default::default() };
        let columns = [
            (FieldId(1), FileColumn::Present(long)),
            (FieldId(2), FileColumn::Present(float)),
            (FieldId(3), FileColumn::Present(bytes)),
            (FieldId(9), FileColumn::Absent),
            (FieldId(10), FileColumn::Present(ColumnStatistics::constant(Some(Value::Boolean(true)), None))),
        ];
        FileStatistics { columns: columns.into() }
    }

    #[test]
    fn statistics_survive_being_stored() {
        let bytes = sample().encode().unwrap();
        assert_eq!(FileStatistics::decode(&bytes).unwrap(), sample());
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        let bytes = sample().encode().unwrap();
        for cut in 0..bytes.len() {
            assert!(FileStatistics::decode(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn a_newer_format_is_named() {
        let newer = rmp_serde::to_vec(&(9_u8, BTreeMap::<FieldId, FileColumn>::new())).unwrap();
        assert!(matches!(FileStatistics::decode(&newer), Err(CodecError::NewerVersion(9))));
    }
}
