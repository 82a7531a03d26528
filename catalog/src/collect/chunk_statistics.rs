//! What one row group soundly says of one leaf: its bounds and counts without what cannot be true.

use std::cmp::Ordering;

use prunus_statistics::Value;

use super::bound_value::decode_bound;
use super::file_schema::FileLeaf;
use super::raw_footer::{RawChunk, RawStatistics};

/// Which of a leaf's statistics may be used at all.
#[derive(Clone, Copy)]
pub(super) struct Knowledge {
    pub(super) bounds: bool,
    pub(super) counts: bool,
}

/// One row group's statistics of a leaf, without what cannot be true.
pub(super) struct ChunkStatistics {
    pub(super) min: Option<Value>,
    pub(super) max: Option<Value>,
    pub(super) null_count: Option<u64>,
    pub(super) nan_count: Option<u64>,
    /// Whether no value that is neither null nor NaN is in the chunk.
    pub(super) valueless: bool,
}

impl ChunkStatistics {
    pub(super) fn of(chunk: &RawChunk<'_>, leaf: &FileLeaf, usable: Knowledge) -> Self {
        let values = chunk.value_count();
        // Counts of a repeated leaf prove nothing, not even that it holds none.
        if values == Some(0) && !leaf.repeated {
            return Self { min: None, max: None, null_count: Some(0), nan_count: Some(0), valueless: true };
        }
        let raw = &chunk.statistics();
        let bounds = if usable.bounds { chunk_bounds(raw, leaf) } else { ChunkBounds::default() };
        let null_count = if usable.counts { null_count(raw, values, leaf) } else { None };
        let not_null = values.and_then(|values| values.checked_sub(null_count.unwrap_or(0)));
        let nan_count = if usable.counts { nan_count(raw, not_null, &bounds) } else { None };
        let all_null = null_count.is_some() && not_null == Some(0);
        let all_nan = null_count.is_some() && nan_count.is_some() && nan_count == not_null;
        if all_null || all_nan {
            let nan_count = if all_null { Some(0) } else { nan_count };
            return Self { min: None, max: None, null_count, nan_count, valueless: true };
        }
        Self { min: bounds.min, max: bounds.max, null_count, nan_count, valueless: false }
    }
}

/// The bounds of a chunk that could be read, and whether one of them is NaN.
#[derive(Default)]
struct ChunkBounds {
    min: Option<Value>,
    max: Option<Value>,
    has_nan: bool,
}

/// A bound that is no value of the type casts doubt on the other too, and so do bounds the wrong way round; NaN only takes
/// its own side.
fn chunk_bounds(raw: &RawStatistics<'_>, leaf: &FileLeaf) -> ChunkBounds {
    let decoded = |bytes: Option<&[u8]>| bytes.map(|bytes| decode_bound(bytes, leaf).ok_or(())).transpose();
    let (Ok(min), Ok(max)) = (decoded(raw.min_value), decoded(raw.max_value)) else {
        return ChunkBounds::default();
    };
    let has_nan = [&min, &max].into_iter().flatten().any(Value::is_nan);
    let min = min.filter(|value| !value.is_nan()).map(|value| widened(value, -0.0));
    let max = max.filter(|value| !value.is_nan()).map(|value| widened(value, 0.0));
    let inverted = match (&min, &max) {
        (Some(min), Some(max)) => min.compare(max) == Some(Ordering::Greater),
        _ => false,
    };
    if inverted { ChunkBounds { has_nan, ..Default::default() } } else { ChunkBounds { min, max, has_nan } }
}

/// Zeros of either sign may hide behind one of the other.
fn widened(value: Value, zero: f64) -> Value {
    if value == Value::Float(0.0) { Value::Float(zero) } else { value }
}

/// How many of the values are null. What the structure rules out needs no count; a count of all beside a value contradicts
/// itself; where only nulls may be stored, readers disagree on what anything else means.
fn null_count(raw: &RawStatistics<'_>, values: Option<u64>, leaf: &FileLeaf) -> Option<u64> {
    let claimed = raw.null_count.and_then(|count| u64::try_from(count).ok());
    let all_null = claimed.is_some() && claimed == values;
    if leaf.holds_only_nulls() {
        return claimed.filter(|_| all_null);
    }
    if !leaf.nullable {
        return Some(0);
    }
    claimed.filter(|_| !(all_null && holds_a_value(raw)))
}

/// Whether a bound is there that no writer would put in for a column without values: zeros and nothing are put in.
fn holds_a_value(raw: &RawStatistics<'_>) -> bool {
    [raw.min_value, raw.max_value, raw.deprecated_min, raw.deprecated_max]
        .into_iter()
        .flatten()
        .any(|bytes| bytes.iter().any(|byte| *byte != 0))
}

/// How many of the values are NaN, if that goes with how many may be and with the bounds.
fn nan_count(raw: &RawStatistics<'_>, not_null: Option<u64>, bounds: &ChunkBounds) -> Option<u64> {
    let nans = u64::try_from(raw.nan_count?).ok()?;
    let others = not_null?.checked_sub(nans)?;
    let is_bounded = bounds.min.is_some() || bounds.max.is_some();
    let contradicted = if others == 0 { is_bounded && nans > 0 } else { bounds.has_nan };
    (!contradicted).then_some(nans)
}
