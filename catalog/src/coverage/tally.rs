//! Counts of files by what is known of a column in them.

use arrow::array::Array;
use prunus_manifest::{ColumnZones, RegisteredColumn};
use prunus_pruner::Mask;
use prunus_statistics::{Bound, ColumnStatistics, Count, FileColumn, Precision, PrimitiveType, Provenance};

/// In how many files what is known of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnFiles {
    /// Files that are known to hold no value that is neither null nor NaN: absent ones, and others of nothing but nulls and
    /// NaNs, or without rows. They need no bounds and are counted at no bound.
    pub without_values: u64,
    /// Of these, files that are known not to hold the column.
    pub absent: u64,
    /// The lower bounds of the others.
    pub min: SideFiles,
    /// The upper bounds of the others.
    pub max: SideFiles,
    /// The null counts of all; `None` for a column in a list or map, which has no counts of rows.
    pub null_count: Option<CountFiles>,
    /// The NaN counts of all; `None` for a column in a list or map, and for one that is not of floats.
    pub nan_count: Option<CountFiles>,
}

/// In how many files how much is known of one side's bound. Together they are the files that may hold a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideFiles {
    /// The bound occurs in the file.
    pub exact: u64,
    /// The bound may not occur.
    pub bound: u64,
    /// There is a guess, which pruning does not use.
    pub estimate: u64,
    /// There is nothing, or nothing that pruning may use.
    pub unknown: u64,
    /// Where the exact and other bounds came from.
    pub provenance: ProvenanceFiles,
}

/// In how many files a count is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountFiles {
    /// It is.
    pub known: u64,
    /// It is not.
    pub unknown: u64,
    /// Where the known ones came from. Those of files that do not hold the column, or no row, came from nowhere.
    pub provenance: ProvenanceFiles,
}

/// In how many files a statistic has which provenance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProvenanceFiles {
    /// The writer's word.
    pub declared: u64,
    /// The file's footer.
    pub footer: u64,
    /// The data was read.
    pub scanned: u64,
    /// A partition constant of the file, or the column's default.
    pub constant: u64,
}

impl ColumnFiles {
    /// None yet, of a column of this type that has a value per row.
    pub(super) fn of_rows(column_type: PrimitiveType) -> Self {
        let nan_count = column_type.is_float().then(CountFiles::default);
        Self { null_count: Some(CountFiles::default()), nan_count, ..Self::default() }
    }

    /// None yet, of a column in a list or map.
    pub(super) fn of_items() -> Self {
        Self::default()
    }

    /// Counts the files of `live`, and says which of them may hold a value.
    pub(super) fn add(&mut self, column: &RegisteredColumn, live: &Mask, without_rows: &Mask) -> Mask {
        let RegisteredColumn { zones, files } = column;
        let with_values = Mask::from_fn(live.len(), |index| {
            live.contains(index) && !without_rows.contains(index) && !zones.valueless().value(index)
        });
        for index in live.indices() {
            let registered = files.get(index).and_then(Option::as_ref);
            let is_absent = registered == Some(&FileColumn::Absent);
            let statistics =
                if let Some(FileColumn::Present(statistics)) = registered { Some(statistics) } else { None };
            if with_values.contains(index) {
                self.add_bounds(zones, index, statistics);
            } else {
                self.without_values += 1;
                self.absent += u64::from(is_absent);
            }
            let no_rows = is_absent || without_rows.contains(index);
            let count = |pick: fn(&ColumnStatistics) -> Option<Count>| statistics.and_then(pick);
            if let Some(null_count) = &mut self.null_count {
                null_count.add(no_rows || zones.null_count().is_valid(index), count(|of| of.null_count));
            }
            if let Some(nan_count) = &mut self.nan_count {
                nan_count.add(no_rows || zones.nan_count().is_valid(index), count(|of| of.nan_count));
            }
        }
        with_values
    }

    fn add_bounds(&mut self, zones: &ColumnZones, index: usize, statistics: Option<&ColumnStatistics>) {
        self.min.add(zones.min().is_valid(index), statistics.and_then(|statistics| statistics.min.as_ref()));
        self.max.add(zones.max().is_valid(index), statistics.and_then(|statistics| statistics.max.as_ref()));
    }
}

impl SideFiles {
    /// `usable` is whether plans have a bound here, and `registered` what the file said.
    fn add(&mut self, usable: bool, registered: Option<&Bound>) {
        match (usable, registered) {
            (false, Some(Bound { precision: Precision::Estimate, .. })) => self.estimate += 1,
            (false, _) | (_, None) => self.unknown += 1,
            (true, Some(Bound { precision, provenance, .. })) => {
                match precision {
                    Precision::Exact => self.exact += 1,
                    Precision::Bound | Precision::Estimate => self.bound += 1,
                }
                self.provenance.add(*provenance);
            }
        }
    }
}

impl CountFiles {
    fn add(&mut self, known: bool, registered: Option<Count>) {
        if !known {
            self.unknown += 1;
            return;
        }
        self.known += 1;
        if let Some(Count { provenance, .. }) = registered {
            self.provenance.add(provenance);
        }
    }
}

impl ProvenanceFiles {
    fn add(&mut self, provenance: Provenance) {
        match provenance {
            Provenance::Declared => self.declared += 1,
            Provenance::Footer => self.footer += 1,
            Provenance::Scanned => self.scanned += 1,
            Provenance::Constant => self.constant += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use prunus_statistics::{Value, ZoneMap};

    use super::*;

    const FLOAT: PrimitiveType = PrimitiveType::Float64;

    fn bound(value: f64, precision: Precision, provenance: Provenance) -> Bound {
        Bound { value: Value::Float(value), precision, provenance }
    }

    fn count(value: u64) -> Count {
        Count { value, provenance: Provenance::Footer }
    }

    /// Ten rows each; `None` is a file that says nothing.
    fn tally(files: Vec<Option<FileColumn>>, live: &Mask) -> (ColumnFiles, Mask) {
        let zones: Vec<ZoneMap> = files.iter().map(|file| ZoneMap::of_file(file.as_ref(), FLOAT, Some(10))).collect();
        let zones = ColumnZones::from_zone_maps(FLOAT.physical_type(), &zones);
        let mut tally = ColumnFiles::of_rows(FLOAT);
        let without_rows = Mask::none(files.len());
        let with_values = tally.add(&RegisteredColumn { zones, files }, live, &without_rows);
        (tally, with_values)
    }

    fn sample() -> Vec<Option<FileColumn>> {
        let nothing = ColumnStatistics::default();
        let present = |statistics| Some(FileColumn::Present(statistics));
        vec![
            present(ColumnStatistics {
                min: Some(bound(1.0, Precision::Exact, Provenance::Scanned)),
                max: Some(bound(2.0, Precision::Bound, Provenance::Footer)),
                null_count: Some(count(0)),
                nan_count: None,
            }),
            present(ColumnStatistics {
                min: Some(bound(1.0, Precision::Estimate, Provenance::Declared)),
                max: Some(bound(f64::NAN, Precision::Exact, Provenance::Declared)),
                ..nothing.clone()
            }),
            present(ColumnStatistics { null_count: Some(count(4)), nan_count: Some(count(6)), ..nothing }),
            present(ColumnStatistics::constant(Some(Value::Float(0.5)), Some(10))),
            Some(FileColumn::Absent),
            None,
        ]
    }

    #[test]
    fn each_file_counts_once_on_each_side() {
        let (tally, with_values) = tally(sample(), &Mask::all(6));
        assert_eq!(with_values.indices().collect::<Vec<_>>(), [0, 1, 3, 5]);
        assert_eq!((tally.without_values, tally.absent), (2, 1));
        let provenance = ProvenanceFiles { scanned: 1, constant: 1, ..ProvenanceFiles::default() };
        assert_eq!(tally.min, SideFiles { exact: 2, bound: 0, estimate: 1, unknown: 1, provenance });
        let provenance = ProvenanceFiles { footer: 1, constant: 1, ..ProvenanceFiles::default() };
        assert_eq!(tally.max, SideFiles { exact: 1, bound: 1, estimate: 0, unknown: 2, provenance });
    }

    #[test]
    fn a_count_of_an_absent_column_is_known_and_came_from_nowhere() {
        let (tally, _) = tally(sample(), &Mask::all(6));
        let provenance = ProvenanceFiles { footer: 2, constant: 1, ..ProvenanceFiles::default() };
        assert_eq!(tally.null_count, Some(CountFiles { known: 4, unknown: 2, provenance }));
        let provenance = ProvenanceFiles { footer: 1, constant: 1, ..ProvenanceFiles::default() };
        assert_eq!(tally.nan_count, Some(CountFiles { known: 3, unknown: 3, provenance }));
    }

    #[test]
    fn only_live_files_count() {
        let (tally, with_values) = tally(sample(), &Mask::from_fn(6, |index| index == 4));
        assert_eq!((tally.without_values, tally.absent, tally.null_count.unwrap().known), (1, 1, 1));
        assert_eq!((tally.min, with_values.count()), (SideFiles::default(), 0));
    }

    #[test]
    fn a_file_without_rows_needs_nothing() {
        let zones = ColumnZones::unknown(FLOAT, 1);
        let mut tally = ColumnFiles::of_rows(FLOAT);
        tally.add(&RegisteredColumn { zones, files: vec![None] }, &Mask::all(1), &Mask::all(1));
        assert_eq!((tally.without_values, tally.absent), (1, 0));
        assert_eq!((tally.null_count.unwrap().known, tally.nan_count.unwrap().known), (1, 1));
    }

    #[test]
    fn what_lies_in_lists_has_no_counts() {
        let zones = ColumnZones::unknown(FLOAT, 2);
        let mut tally = ColumnFiles::of_items();
        let files = vec![None, Some(FileColumn::Absent)];
        tally.add(&RegisteredColumn { zones, files }, &Mask::all(2), &Mask::none(2));
        assert_eq!((tally.null_count, tally.nan_count, tally.min.unknown), (None, None, 2));
    }
}
