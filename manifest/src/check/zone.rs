//! A zone against the files that it is of: whatever it claims, they must bear out.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt64Array};
use prunus_statistics::{PrimitiveType, Value, ZoneMap};

use crate::column_detail::value_at;
use crate::column_zones::{ColumnZones, MAX_BOUND_BYTES};

/// What of the zone the files do not bear out. A zone may know less than they do together, never more.
pub(super) fn claims_too_much(zone: &ZoneMap, files: &ColumnZones, column_type: PrimitiveType) -> Vec<&'static str> {
    let bears_out = |bound: Option<&Value>, bounds, outside| {
        bound.is_none_or(|bound| all_within(bound, (bounds, files.valueless()), column_type, outside))
    };
    let claims = [
        ("lower bounds", bears_out(zone.min(), files.min(), Ordering::Greater)),
        ("upper bounds", bears_out(zone.max(), files.max(), Ordering::Less)),
        ("null counts", zone.null_count().is_none_or(|count| sum(files.null_count()) == Some(count.into()))),
        ("NaN counts", zone.nan_count().is_none_or(|count| sum(files.nan_count()) == Some(count.into()))),
        ("values", !zone.is_valueless() || files.valueless().true_count() == files.len()),
    ];
    claims.into_iter().filter(|(_, holds)| !holds).map(|(name, _)| name).collect()
}

/// Whether every file that may hold values has a bound, and none of these lies outside of the zone's.
fn all_within(
    zone: &Value,
    (bounds, valueless): (&ArrayRef, &BooleanArray),
    column_type: PrimitiveType,
    outside: Ordering,
) -> bool {
    let is_within = |index| match value_at(bounds, index, column_type) {
        Some(bound) => zone.compare(&bound).is_some_and(|order| order != outside),
        None => may_be_cut(bounds),
    };
    (0..bounds.len()).all(|index| valueless.value(index) || is_within(index))
}

/// Whether bounds may be unknown for their number of bytes alone: the zone was made before they were cut. Half of the
/// limit, since nobody knows how long the bound was that did not fit.
fn may_be_cut(bounds: &ArrayRef) -> bool {
    bounds.as_binary_opt::<i32>().is_some_and(|bytes| bytes.value_data().len() >= MAX_BOUND_BYTES / 2)
}

/// `None` as soon as one is unknown.
fn sum(counts: &UInt64Array) -> Option<u128> {
    counts.iter().map(|count| count.map(u128::from)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{builder, column_block, sample};

    proptest! {
        #[test]
        fn a_zone_that_is_merged_from_its_files_claims_nothing_too_much(entries in sample::entries(6)) {
            let listed: Vec<&builder::Entry> = entries.iter().collect();
            for built in builder::build(&listed, &sample::columns()).unwrap().unwrap().columns {
                let column_type = built.column.column_type;
                let files = column_block::decode(&built.block, column_type.physical_type(), entries.len()).unwrap();
                prop_assert_eq!(claims_too_much(&built.zone, &files, column_type), Vec::<&str>::new());
            }
        }

        #[test]
        fn a_zone_of_some_of_the_files_is_found_out_where_the_rest_lies_outside(entries in sample::entries(6)) {
            let some = &entries[..entries.len() / 2];
            for column in sample::columns() {
                let zone_of = |entry: &builder::Entry| sample::zone_of(entry, &column);
                let merge = |entries: &[builder::Entry]| entries.iter().map(zone_of).reduce(ZoneMap::merge);
                let (Some(part), Some(whole)) = (merge(some), merge(&entries)) else { continue };
                let zones: Vec<ZoneMap> = entries.iter().map(zone_of).collect();
                let files = ColumnZones::from_zone_maps(column.column_type.physical_type(), &zones);
                let claims = claims_too_much(&part, &files, column.column_type);
                let moved = |of: fn(&ZoneMap) -> Option<&Value>| match (of(&part), of(&whole)) {
                    (Some(part), Some(whole)) => part.compare(whole) != Some(Ordering::Equal),
                    (part, whole) => part.is_some() && whole.is_none(),
                };
                prop_assert_eq!(claims.contains(&"lower bounds"), moved(ZoneMap::min));
                prop_assert_eq!(claims.contains(&"upper bounds"), moved(ZoneMap::max));
                let counts = part.null_count().is_some() && part.null_count() != whole.null_count();
                prop_assert_eq!(claims.contains(&"null counts"), counts);
                prop_assert_eq!(claims.contains(&"values"), part.is_valueless() && !whole.is_valueless());
            }
        }
    }
}
