//! The side block of a column: with the column's own block it gives back the statistics as they were registered.
//!
//! The column's block has the values of the usable bounds; here stands, in a byte each, how tight they are and where they
//! came from. Where that does not add up to what was registered (an estimate, a contradiction that was taken as unknown)
//! the entry is kept as it was.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch, UInt8Array};
use arrow::datatypes::{
    DataType, Decimal128Type, Field, Float64Type, Int32Type, Int64Type, Schema, UInt8Type, UInt64Type,
};
use prunus_statistics::{Bound, ColumnStatistics, Count, FileColumn, Precision, PrimitiveType, Provenance, Value};

use crate::block;
use crate::column_zones::ColumnZones;
use crate::error::FormatError;

/// How an entry is kept.
const UNSAID: u8 = 0;
const ABSENT: u8 = 1;
const CODED: u8 = 2;
const AS_IT_WAS: u8 = 3;

/// In a code byte: there is no such statistic.
const NONE: u8 = 0;
/// A bound's code is 1 + its precision times this + its provenance.
const PROVENANCES: u8 = 4;

const COLUMNS: [&str; 5] = ["kind", "min", "max", "null_count", "nan_count"];

fn schema() -> Schema {
    let mut fields: Vec<Field> = COLUMNS.iter().map(|name| Field::new(*name, DataType::UInt8, false)).collect();
    fields.push(Field::new("as_it_was", DataType::Binary, true));
    Schema::new(fields)
}

/// The bytes of one entry, in the order of [`COLUMNS`].
type Codes = [u8; 5];

/// `columns` is what the files say of a column, `zones` what its block holds of them.
pub(crate) fn encode(
    columns: &[Option<&FileColumn>],
    zones: &ColumnZones,
    column_type: PrimitiveType,
) -> Result<Vec<u8>, FormatError> {
    let mut codes: Vec<Codes> = Vec::with_capacity(columns.len());
    let mut originals: Vec<Option<Vec<u8>>> = Vec::with_capacity(columns.len());
    for (index, column) in columns.iter().enumerate() {
        let (code, original) = match column {
            None => ([UNSAID, NONE, NONE, NONE, NONE], None),
            Some(FileColumn::Absent) => ([ABSENT, NONE, NONE, NONE, NONE], None),
            Some(FileColumn::Present(statistics)) => {
                let code = codes_of(statistics);
                if rebuild(code, zones, index, column_type)?.as_ref() == *column {
                    (code, None)
                } else {
                    ([AS_IT_WAS, NONE, NONE, NONE, NONE], Some(rmp_serde::to_vec(statistics)?))
                }
            }
        };
        codes.push(code);
        originals.push(original);
    }
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(COLUMNS.len() + 1);
    for position in 0..COLUMNS.len() {
        let column = codes.iter().map(|code| code.get(position).copied().unwrap_or(NONE));
        arrays.push(Arc::new(UInt8Array::from_iter_values(column)));
    }
    arrays.push(Arc::new(originals.into_iter().collect::<BinaryArray>()));
    block::write(&RecordBatch::try_new(Arc::new(schema()), arrays)?)
}

/// What one block of details says, ready to be asked for any of its files.
pub(crate) struct Details<'z> {
    codes: [UInt8Array; COLUMNS.len()],
    as_it_was: BinaryArray,
    zones: &'z ColumnZones,
    column_type: PrimitiveType,
}

impl<'z> Details<'z> {
    /// `zones` is what the column's own block holds of the same files, written as this type.
    pub(crate) fn decode(
        bytes: &[u8],
        zones: &'z ColumnZones,
        column_type: PrimitiveType,
    ) -> Result<Self, FormatError> {
        let batch = block::read(bytes, &schema(), zones.len())?;
        let [codes @ .., as_it_was] = batch.columns() else { return Err(FormatError::WrongColumns) };
        let codes: Option<Vec<UInt8Array>> =
            codes.iter().map(|column| column.as_primitive_opt::<UInt8Type>().cloned()).collect();
        let codes = codes.and_then(|codes| codes.try_into().ok()).ok_or(FormatError::WrongColumns)?;
        let as_it_was = as_it_was.as_binary_opt().cloned().ok_or(FormatError::WrongColumns)?;
        Ok(Self { codes, as_it_was, zones, column_type })
    }

    /// What the column's own block holds, read as another type.
    pub(crate) fn zones_as(&self, column_type: PrimitiveType) -> Result<ColumnZones, FormatError> {
        self.zones.clone().read_as(self.column_type, column_type)
    }

    /// What the file at `index` said of the column; `None` if nothing.
    pub(crate) fn get(&self, index: usize) -> Result<Option<FileColumn>, FormatError> {
        let codes: Codes = self.codes.each_ref().map(|column| column.value(index));
        if codes.first() == Some(&AS_IT_WAS) {
            return Ok(Some(FileColumn::Present(rmp_serde::from_slice(self.as_it_was.value(index))?)));
        }
        rebuild(codes, self.zones, index, self.column_type)
    }

    /// Whether every file's entry reads.
    pub(crate) fn verify(&self) -> Result<(), FormatError> {
        (0..self.zones.len()).try_for_each(|index| self.get(index).map(drop))
    }
}

fn codes_of(statistics: &ColumnStatistics) -> Codes {
    let bound = |bound: &Option<Bound>| {
        bound.as_ref().map_or(NONE, |bound| 1 + u8::from(bound.precision) * PROVENANCES + u8::from(bound.provenance))
    };
    let count = |count: Option<Count>| count.map_or(NONE, |count| 1 + u8::from(count.provenance));
    [CODED, bound(&statistics.min), bound(&statistics.max), count(statistics.null_count), count(statistics.nan_count)]
}

fn rebuild(
    [kind, min, max, null_count, nan_count]: Codes,
    zones: &ColumnZones,
    index: usize,
    column_type: PrimitiveType,
) -> Result<Option<FileColumn>, FormatError> {
    match kind {
        UNSAID => Ok(None),
        ABSENT => Ok(Some(FileColumn::Absent)),
        CODED => Ok(Some(FileColumn::Present(ColumnStatistics {
            min: rebuild_bound(min, value_at(zones.min(), index, column_type))?,
            max: rebuild_bound(max, value_at(zones.max(), index, column_type))?,
            null_count: rebuild_count(null_count, zones.null_count(), index)?,
            nan_count: rebuild_count(nan_count, zones.nan_count(), index)?,
        }))),
        unknown => Err(FormatError::UnknownCode(unknown)),
    }
}

fn rebuild_bound(code: u8, value: Option<Value>) -> Result<Option<Bound>, FormatError> {
    let (Some(code), Some(value)) = (code.checked_sub(1), value) else { return Ok(None) };
    let unknown = |_| FormatError::UnknownCode(code);
    let precision = Precision::try_from(code / PROVENANCES).map_err(unknown)?;
    let provenance = Provenance::try_from(code % PROVENANCES).map_err(unknown)?;
    Ok(Some(Bound { value, precision, provenance }))
}

fn rebuild_count(code: u8, counts: &arrow::array::UInt64Array, index: usize) -> Result<Option<Count>, FormatError> {
    let Some(code) = code.checked_sub(1) else { return Ok(None) };
    let provenance = Provenance::try_from(code).map_err(|_| FormatError::UnknownCode(code))?;
    Ok(counts.is_valid(index).then(|| Count { value: counts.value(index), provenance }))
}

/// The bound at `index`, which lies within the array; `None` if it is unknown.
pub(crate) fn value_at(bounds: &ArrayRef, index: usize, column_type: PrimitiveType) -> Option<Value> {
    if bounds.is_null(index) {
        return None;
    }
    let integer = |value: i128| match column_type {
        PrimitiveType::Boolean => Value::Boolean(value != 0),
        _ => Value::Integer(value),
    };
    match bounds.data_type() {
        DataType::Int32 => bounds.as_primitive_opt::<Int32Type>().map(|array| integer(array.value(index).into())),
        DataType::Int64 => bounds.as_primitive_opt::<Int64Type>().map(|array| integer(array.value(index).into())),
        DataType::UInt64 => bounds.as_primitive_opt::<UInt64Type>().map(|array| integer(array.value(index).into())),
        DataType::Decimal128(..) => {
            bounds.as_primitive_opt::<Decimal128Type>().map(|array| integer(array.value(index)))
        }
        DataType::Float64 => bounds.as_primitive_opt::<Float64Type>().map(|array| Value::Float(array.value(index))),
        _ => bounds.as_binary_opt::<i32>().map(|array| Value::Bytes(array.value(index).to_vec())),
    }
}
