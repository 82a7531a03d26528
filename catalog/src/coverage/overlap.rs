//! How many files a point value hits.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Decimal128Type, Float64Type, Int32Type, Int64Type, UInt64Type};
use prunus_manifest::ColumnZones;
use prunus_pruner::Mask;

/// How many files have to be read for one value of a column, by their bounds alone.
///
/// A file holds the values from its lower to its upper bound, both among them; a side that is unknown has no end, so that a
/// file without bounds is hit by every value. Files that are known to hold no value are hit by none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OverlapDepth {
    /// How many files are hit on average by a value that is drawn as the files' bounds are: each known bound, lower or upper, is
    /// as likely as any other. It is 1 where no two files overlap, and the number of files where all have the same bounds, or
    /// none. 0 if no file may hold a value.
    pub mean: f64,
    /// The most files that one value hits.
    pub max: u64,
}

/// Some files of a column.
pub(super) struct Slice {
    pub(super) zones: ColumnZones,
    /// Which of them are looked at: those that may hold a value.
    pub(super) with_values: Mask,
}

/// The overlap of all files of the slices, which are of one physical type. Takes as long as sorting their bounds.
pub(super) fn depth(slices: &[Slice]) -> OverlapDepth {
    match slices.first().map(|slice| slice.zones.min()) {
        None => OverlapDepth::default(),
        Some(bounds) if bounds.as_binary_opt::<i32>().is_some() => Intervals::collect(slices, bytes_at).depth(),
        Some(_) => Intervals::collect(slices, number_at).depth(),
    }
}

/// The bounds of files, each side sorted.
struct Intervals<T> {
    lower: Vec<T>,
    upper: Vec<T>,
    /// How many files have no known lower bound, so that they begin before every value.
    without_lower: u64,
}

impl<T: Ord> Intervals<T> {
    fn collect<'s>(slices: &'s [Slice], bound_at: impl Fn(&'s ArrayRef, usize) -> Option<T>) -> Self {
        let (mut lower, mut upper, mut without_lower) = (Vec::new(), Vec::new(), 0);
        for slice in slices {
            for index in slice.with_values.indices() {
                match bound_at(slice.zones.min(), index) {
                    Some(bound) => lower.push(bound),
                    None => without_lower += 1,
                }
                upper.extend(bound_at(slice.zones.max(), index));
            }
        }
        lower.sort_unstable();
        upper.sort_unstable();
        Self { lower, upper, without_lower }
    }

    /// How many intervals hold a value.
    fn depth_at(&self, value: &T) -> u64 {
        let begun = self.lower.partition_point(|lower| lower <= value) as u64;
        let ended = self.upper.partition_point(|upper| upper < value) as u64;
        (self.without_lower + begun).saturating_sub(ended)
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    fn depth(&self) -> OverlapDepth {
        let bounds = self.lower.len() + self.upper.len();
        // Below every bound there are the files that have no lower one.
        let (mut sum, mut max) = (0_u128, self.without_lower);
        for value in self.lower.iter().chain(&self.upper) {
            let depth = self.depth_at(value);
            sum += u128::from(depth);
            max = max.max(depth);
        }
        let mean = if bounds == 0 { max as f64 } else { sum as f64 / bounds as f64 };
        OverlapDepth { mean, max }
    }
}

fn bytes_at(bounds: &ArrayRef, index: usize) -> Option<&[u8]> {
    bounds.as_binary_opt::<i32>().filter(|array| array.is_valid(index)).map(|array| array.value(index))
}

/// The bound at `index` as a number in the same order; `None` if it is unknown.
fn number_at(bounds: &ArrayRef, index: usize) -> Option<i128> {
    if bounds.is_null(index) {
        return None;
    }
    let integer = || {
        let int32 = bounds.as_primitive_opt::<Int32Type>().map(|array| array.value(index).into());
        let int64 = || bounds.as_primitive_opt::<Int64Type>().map(|array| array.value(index).into());
        let uint64 = || bounds.as_primitive_opt::<UInt64Type>().map(|array| array.value(index).into());
        let decimal = || bounds.as_primitive_opt::<Decimal128Type>().map(|array| array.value(index));
        int32.or_else(int64).or_else(uint64).or_else(decimal)
    };
    match bounds.as_primitive_opt::<Float64Type>() {
        Some(array) => Some(float_key(array.value(index)).into()),
        None => integer(),
    }
}

/// A number that is ordered as the float is; both zeros have one. No bound is NaN.
fn float_key(value: f64) -> i64 {
    // A sum of zeros of different signs is positive.
    let bits = (value + 0.0).to_bits().cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::{Strategy, any, prop_oneof, proptest};
    use prunus_statistics::{
        Bound, ColumnStatistics, FileColumn, PhysicalType, Precision, PrimitiveType, Provenance, Value, ZoneMap,
    };

    use super::*;

    type Interval = (Option<Value>, Option<Value>);

    fn slice(column_type: PrimitiveType, files: &[Interval]) -> Slice {
        let bound = |value: &Option<Value>| {
            let value = value.clone()?;
            Some(Bound { value, precision: Precision::Bound, provenance: Provenance::Footer })
        };
        let zones: Vec<ZoneMap> = files
            .iter()
            .map(|(min, max)| {
                let statistics = ColumnStatistics { min: bound(min), max: bound(max), ..Default::default() };
                ZoneMap::of_file(Some(&FileColumn::Present(statistics)), column_type, None)
            })
            .collect();
        let zones = ColumnZones::from_zone_maps(column_type.physical_type(), &zones);
        Slice { zones, with_values: Mask::all(files.len()) }
    }

    fn integers(files: &[(Option<i128>, Option<i128>)]) -> Vec<Interval> {
        files.iter().map(|(min, max)| (min.map(Value::Integer), max.map(Value::Integer))).collect()
    }

    #[track_caller]
    fn check(files: &[(Option<i128>, Option<i128>)], mean: f64, max: u64) {
        let slices = [slice(PrimitiveType::Int64, &integers(files))];
        assert_eq!(depth(&slices), OverlapDepth { mean, max }, "{files:?}");
    }

    #[test]
    fn files_that_do_not_overlap_are_hit_one_at_a_time() {
        check(&[(Some(0), Some(9)), (Some(20), Some(29)), (Some(10), Some(19))], 1.0, 1);
    }

    #[test]
    fn files_of_the_same_bounds_are_hit_all_at_once() {
        check(&[(Some(0), Some(9)); 3], 3.0, 3);
    }

    #[test]
    fn bounds_belong_to_their_file() {
        // 0 and 20 hit one file each, 10 hits both and is a bound twice.
        check(&[(Some(0), Some(10)), (Some(10), Some(20))], 1.5, 2);
    }

    #[test]
    fn a_file_without_bounds_is_hit_by_every_value() {
        check(&[(None, None), (Some(0), Some(9))], 2.0, 2);
        check(&[(None, None), (None, None)], 2.0, 2);
        // Below 5 the first two, from 5 to 7 all three, above the last two.
        check(&[(None, Some(7)), (None, None), (Some(5), None)], 3.0, 3);
    }

    #[test]
    fn no_file_is_hit_where_none_may_hold_a_value() {
        check(&[], 0.0, 0);
        assert_eq!(depth(&[]), OverlapDepth::default());
        let of_none = Slice { with_values: Mask::none(1), ..slice(PrimitiveType::Int64, &integers(&[(None, None)])) };
        assert_eq!(depth(&[of_none]), OverlapDepth::default());
    }

    #[test]
    fn zeros_of_either_sign_are_one_value() {
        let float = |value| Some(Value::Float(value));
        let files = [(float(-1.0), float(-0.0)), (float(0.0), float(f64::INFINITY))];
        assert_eq!(depth(&[slice(PrimitiveType::Float64, &files)]), OverlapDepth { mean: 1.5, max: 2 });
    }

    /// The depths at all bounds, each found by looking at every file.
    fn brute_force(files: &[Interval]) -> OverlapDepth {
        let is_beyond =
            |a: &Value, b: &Option<Value>, ordering| b.as_ref().is_some_and(|b| a.compare(b) == Some(ordering));
        let hit = |value: &Value| {
            let holds = |(min, max): &&Interval| {
                !is_beyond(value, min, std::cmp::Ordering::Less) && !is_beyond(value, max, std::cmp::Ordering::Greater)
            };
            files.iter().filter(holds).count() as u64
        };
        let bounds: Vec<&Value> = files.iter().flat_map(|(min, max)| [min, max]).flatten().collect();
        let below_all = files.iter().filter(|(min, _)| min.is_none()).count() as u64;
        let depths: Vec<u64> = bounds.into_iter().map(hit).collect();
        let max = depths.iter().copied().chain([below_all]).max().unwrap_or_default();
        let (sum, number) = if depths.is_empty() { (max, 1) } else { (depths.iter().sum(), depths.len()) };
        let float = |number: u64| f64::from(u32::try_from(number).unwrap());
        let mean = float(sum) / float(number as u64);
        OverlapDepth { mean, max }
    }

    /// A value that is small, so that values meet, or one of the type's extremes.
    fn value(column_type: PrimitiveType) -> impl Strategy<Value = Value> {
        let extremes = match column_type.physical_type() {
            PhysicalType::Float64 => vec![Value::Float(f64::NEG_INFINITY), Value::Float(f64::MAX), Value::Float(-0.0)],
            PhysicalType::Bytes => vec![Value::Bytes(vec![]), Value::Bytes(vec![0xff; 9])],
            PhysicalType::UInt64 => vec![Value::Integer(u64::MAX.into()), Value::Integer(0)],
            PhysicalType::Int128 => vec![Value::Integer(10_i128.pow(37)), Value::Integer(-(10_i128.pow(37)))],
            PhysicalType::Int32 => vec![Value::Integer(i32::MIN.into()), Value::Integer(i32::MAX.into())],
            PhysicalType::Int64 => vec![Value::Integer(i64::MIN.into()), Value::Integer(i64::MAX.into())],
        };
        let small = (0_u8..12).prop_map(move |number| match column_type.physical_type() {
            PhysicalType::Float64 => Value::Float(f64::from(number) / 4.0 - 1.0),
            PhysicalType::Bytes => Value::Bytes(vec![b'a'; usize::from(number)]),
            PhysicalType::UInt64 => Value::Integer(number.into()),
            _ => Value::Integer(i128::from(number) - 6),
        });
        prop_oneof![8 => small, 1 => proptest::sample::select(extremes)]
    }

    fn interval(column_type: PrimitiveType) -> impl Strategy<Value = Interval> {
        let side = || of(value(column_type));
        (side(), side()).prop_map(|(a, b)| match (&a, &b) {
            (Some(min), Some(max)) if min.compare(max) == Some(std::cmp::Ordering::Greater) => (b, a),
            _ => (a, b),
        })
    }

    const TYPES: [&str; 6] = ["int32", "int64", "uint64", "float64", "decimal(38,2)", "binary"];

    proptest! {
        #[test]
        fn the_depth_is_that_of_counting_files_for_each_bound(
            (column_type, files) in proptest::sample::select(TYPES.to_vec()).prop_flat_map(|name| {
                let column_type: PrimitiveType = name.parse().unwrap();
                (proptest::strategy::Just(column_type), vec(interval(column_type), 0..20))
            }),
            cut in any::<proptest::sample::Index>(),
        ) {
            let (first, second) = files.split_at(cut.index(files.len() + 1));
            let slices = [slice(column_type, first), slice(column_type, second)];
            assert_eq!(depth(&slices), brute_force(&files));
        }
    }
}
