//! What is known of a leaf, as statistics of a column or item of a table.

use prunus_statistics::{Bound, ColumnStatistics, PrimitiveType};

use super::footer::Footer;
use super::leaf_type::StoredType;
use super::scan::LeafScan;
use super::type_conversion::{conversion_of, convert};

/// The statistics of a leaf in a table's type: what reading it has shown, else what the footer says. They are neither cut nor
/// normalised. `None` if there is no such leaf or its values do not convert.
pub(super) fn leaf_as_column(
    footer: &Footer<'_>,
    leaf: usize,
    scan: Option<&LeafScan>,
    column_type: PrimitiveType,
) -> Option<ColumnStatistics> {
    let file_leaf = footer.leaves().get(leaf)?;
    let conversion = conversion_of(file_leaf, column_type)?;
    let in_footer = footer.leaf_statistics(leaf);
    let known = if let Some(scan) = scan { scan.over(in_footer) } else { in_footer };
    let mut statistics = convert(known, conversion);
    if file_leaf.stored == StoredType::Int96 {
        drop_wrapped(&mut statistics, column_type);
    }
    Some(statistics)
}

/// An INT96 holds more instants than 64 bits do, and readers that keep 64 wrap the others to where they may be beyond every
/// value: one bound that does not fit takes the other with it.
fn drop_wrapped(statistics: &mut ColumnStatistics, column_type: PrimitiveType) {
    let fits = |bound: &Option<Bound>| bound.as_ref().is_none_or(|bound| bound.value.fits(column_type));
    if !(fits(&statistics.min) && fits(&statistics.max)) {
        (statistics.min, statistics.max) = (None, None);
    }
}
