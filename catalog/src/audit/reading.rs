//! What is read of a file that is looked at again.

use std::collections::BTreeMap;

use prunus_manifest::{AuditMode, InspectedFile};
use prunus_statistics::{Bound, Count, FieldId, FileColumn, Provenance};

use crate::collect::ScanFor;
use crate::declared::{Column, is_valueless};
use crate::properties::{KeptStatistics, NanCounts};
use crate::registration::Target;
use crate::schema::LeafColumn;

/// What is read of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Its footer.
    Footer,
    /// And all its columns of which statistics are kept.
    Data,
    /// And the columns whose NaNs nobody has counted, for that; nothing of a file that has none.
    NanCounts,
    /// And the columns whose statistics are not exact; nothing of a file that has none.
    Loose,
}

impl Reading {
    /// What an audit of this mode reads.
    pub(super) const fn of_mode(mode: AuditMode) -> Self {
        match mode {
            AuditMode::Footer => Self::Footer,
            AuditMode::Scan => Self::Data,
        }
    }

    /// Which columns of a file it has read, and for what.
    pub(super) fn of_columns(self, target: &Target, file: &InspectedFile) -> BTreeMap<FieldId, ScanFor> {
        let rows = file.row.row_count;
        let wish = |leaf: &LeafColumn| {
            let stored = file.statistics.columns.get(&leaf.id);
            let scan_for = match self {
                Self::Footer => return None,
                _ if target.kept(leaf.id) == KeptStatistics::None => return None,
                Self::Data => ScanFor::Everything,
                Self::NanCounts if lacks_nan_count(stored, leaf) => ScanFor::NanCount,
                Self::Loose if is_loose(stored, leaf, rows, target) => ScanFor::Everything,
                Self::NanCounts | Self::Loose => return None,
            };
            Some((leaf.id, scan_for))
        };
        let of_item = |item: &LeafColumn| {
            let is_wanted = match self {
                _ if target.kept(item.id) == KeptStatistics::None => false,
                Self::Data => true,
                Self::Loose => !has_scanned_bounds(file.statistics.columns.get(&item.id)),
                Self::Footer | Self::NanCounts => false,
            };
            is_wanted.then_some((item.id, ScanFor::Everything))
        };
        target.columns.iter().filter_map(wish).chain(target.items.iter().filter_map(of_item)).collect()
    }
}

/// Whether the bounds of what lists and maps hold are as good as they can be.
fn has_scanned_bounds(stored: Option<&FileColumn>) -> bool {
    match stored {
        None => false,
        Some(FileColumn::Absent) => true,
        Some(FileColumn::Present(statistics)) => {
            let is_scanned =
                |bound: &Option<Bound>| bound.as_ref().is_some_and(|bound| bound.provenance == Provenance::Scanned);
            is_scanned(&statistics.min) && is_scanned(&statistics.max)
        }
    }
}

fn lacks_nan_count(stored: Option<&FileColumn>, leaf: &LeafColumn) -> bool {
    let is_unknown = match stored {
        None => true,
        Some(FileColumn::Absent) => false,
        Some(FileColumn::Present(statistics)) => statistics.nan_count.is_none(),
    };
    leaf.column_type.is_float() && is_unknown
}

/// Whether something that is kept of a column could be known better by reading it. Where nobody wants NaNs counted, that they are
/// not is none.
fn is_loose(stored: Option<&FileColumn>, leaf: &LeafColumn, row_count: Option<u64>, target: &Target) -> bool {
    let statistics = match stored {
        None => return true,
        Some(FileColumn::Absent) => return false,
        Some(FileColumn::Present(statistics)) if statistics.is_constant() => return false,
        Some(FileColumn::Present(statistics)) => statistics,
    };
    let column = Column { column_type: leaf.column_type, row_count };
    let is_exact = |bound: &Option<Bound>| bound.as_ref().is_some_and(|bound| bound.provenance == Provenance::Scanned);
    let is_counted = |count: Option<Count>| count.is_some_and(|count| count.provenance != Provenance::Declared);
    let is_bounded = target.kept(leaf.id) != KeptStatistics::Bounds
        || is_valueless(statistics, column)
        || (is_exact(&statistics.min) && is_exact(&statistics.max));
    let are_nans_wanted = leaf.column_type.is_float() && target.properties.nan_counts != NanCounts::Unknown;
    let has_nan_count = !are_nans_wanted || is_counted(statistics.nan_count);
    !(is_bounded && is_counted(statistics.null_count) && has_nan_count)
}
