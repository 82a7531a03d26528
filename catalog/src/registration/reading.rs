//! What a file says of itself: its footer, and the data of the columns that have to be read.

use std::collections::BTreeMap;

use prunus_manifest::FileLeaf;
use prunus_statistics::{ColumnStatistics, FieldId, FileColumn};

use super::reconciling::Known;
use super::{Content, Matched, Refusal, Registration};
use crate::collect::{self, ColumnFault, Footer, LeafInFile, ScanError, ScanFor, ScannedLeaves};
use crate::partition::Constants;
use crate::properties::{KeptStatistics, NanCounts, Verification};
use crate::schema::LeafColumn;
use crate::storage::{Storage, StorageError, StoredObject};
use crate::{Fault, column_ref, declared};

/// A leaf that is to be read.
struct Wish {
    /// The key of the table's column.
    column: String,
    scan_for: ScanFor,
}

impl Registration<'_> {
    /// What the file says of itself, held against what the writer declares.
    pub(super) async fn read(&mut self, storage: &Storage, constants: &Constants) -> Result<Content, Refusal> {
        let read = match self.footer.take() {
            Some(read) => read,
            None => storage.read_footer(&self.location).await,
        };
        let bytes = read.map_err(|error| self.unreadable(error))?;
        let footer = Footer::parse(&bytes.metadata).map_err(|error| self.unreadable(error.into()))?;
        let row_count = footer.row_count();
        self.check_object(&bytes.object, row_count);
        let mut collected = self.matched(&footer, &ScannedLeaves::new())?;
        let declared = self.declarations(Some(row_count));
        let wishes = self.leaves_to_scan(&collected, &declared);
        if !wishes.is_empty() {
            let scanned = self.scan(storage, &bytes.object, &footer, wishes).await?;
            collected = self.matched(&footer, &scanned)?;
        }
        let declared = self.without_unbounded(&footer, &collected, declared);
        let column_of = collected.columns_of_leaves();
        let Matched { columns, leaves, read, .. } = collected;
        let known = Known { columns, read, row_count };
        let columns = self.reconciled(known, declared, constants);
        let leaf = |(index, leaf): (usize, LeafInFile)| {
            let LeafInFile { path, field_id, file_type, group_ids } = leaf;
            FileLeaf { path, field_id, column: column_of.get(&index).copied(), file_type, group_ids }
        };
        let leaves = leaves.into_iter().enumerate().map(leaf).collect();
        Ok(Content { object: Some(bytes.object), row_count: Some(row_count), leaves, columns })
    }

    /// Leaves out declared bounds of columns whose values, as the footer says, go beyond the column's type: that the footer bounds
    /// them there is all that can be said, and a bound that was declared would stand against it.
    fn without_unbounded(
        &mut self,
        footer: &Footer<'_>,
        collected: &Matched,
        mut declared: Vec<(LeafColumn, ColumnStatistics)>,
    ) -> Vec<(LeafColumn, ColumnStatistics)> {
        for (leaf, claim) in &mut declared {
            let Some(index) = collected.leaf_of(leaf.id) else { continue };
            let Some(FileColumn::Present(known)) = collected.columns.get(&leaf.id) else { continue };
            let lacks = [(&claim.min, &known.min), (&claim.max, &known.max)];
            if !lacks.iter().any(|(claimed, known)| claimed.is_some() && known.is_none()) {
                continue;
            }
            let in_file = footer.leaf_statistics(index);
            for (claimed, known, in_file) in
                [(&mut claim.min, &known.min, &in_file.min), (&mut claim.max, &known.max, &in_file.max)]
            {
                if claimed.is_some() && known.is_none() && in_file.is_some() {
                    *claimed = None;
                    let message =
                        "values of the file go beyond the column's type; the declared bound is taken as unknown";
                    let warning = Fault::of_path(self.location.as_str(), message);
                    self.warnings.push(warning.in_column(column_ref::key(&leaf.path)));
                }
            }
        }
        declared
    }

    /// Why a file could not be read, with the faults that were found before.
    fn unreadable(&mut self, error: StorageError) -> Refusal {
        if error.is_retryable() {
            return Refusal::Unavailable { path: self.path().to_owned(), source: error };
        }
        let mut faults = std::mem::take(&mut self.faults);
        faults.push(Fault::of_path(self.path(), error.to_string()));
        Refusal::Faults(faults)
    }

    /// The table's columns in the file.
    fn matched(&self, footer: &Footer<'_>, scanned: &ScannedLeaves) -> Result<Matched, Refusal> {
        Matched::find(footer, scanned, self.target).map_err(|faults| {
            let path = self.path();
            let placed = |fault: ColumnFault| Fault::of_path(path, fault.to_string()).in_column(fault.column());
            Refusal::Faults(self.faults.iter().cloned().chain(faults.into_iter().map(placed)).collect())
        })
    }

    /// Which leaves have to be read, and for what.
    fn leaves_to_scan(
        &self,
        collected: &Matched,
        declared: &[(LeafColumn, ColumnStatistics)],
    ) -> BTreeMap<usize, Wish> {
        let claims: BTreeMap<FieldId, &ColumnStatistics> =
            declared.iter().map(|(leaf, statistics)| (leaf.id, statistics)).collect();
        let properties = &self.target.properties;
        let wish = |leaf: &LeafColumn| {
            let index = collected.leaf_of(leaf.id)?;
            let unknown = ColumnStatistics::default();
            let known = match collected.columns.get(&leaf.id) {
                Some(FileColumn::Present(known)) => known,
                _ => &unknown,
            };
            let kept = self.target.kept(leaf.id);
            let is_contested = || claims.get(&leaf.id).is_some_and(|claim| declared::is_tighter(claim, known));
            let scan_for = match properties.verification {
                _ if kept == KeptStatistics::None => return None,
                Verification::Scan => ScanFor::Everything,
                _ if kept == KeptStatistics::Bounds && is_contested() => ScanFor::Everything,
                _ if properties.nan_counts == NanCounts::AtCommit && lacks_nan_count(leaf, known) => ScanFor::NanCount,
                _ => return None,
            };
            Some((index, Wish { column: column_ref::key(&leaf.path), scan_for }))
        };
        self.target.columns.iter().chain(&self.target.items).filter_map(wish).collect()
    }

    /// Reads leaves. One that cannot be read is a fault where all are to be read, else it is as the footer says.
    async fn scan(
        &mut self,
        storage: &Storage,
        object: &StoredObject,
        footer: &Footer<'_>,
        wishes: BTreeMap<usize, Wish>,
    ) -> Result<ScannedLeaves, Refusal> {
        let mut scanned = ScannedLeaves::new();
        for (index, Wish { column, scan_for }) in wishes {
            match collect::scan(storage, object, footer, &[index], scan_for).await {
                Ok(found) => scanned.extend(found),
                Err(ScanError::Storage(error)) if error.is_retryable() => return Err(self.unreadable(error)),
                Err(error) => {
                    let fault = Fault::of_path(self.path(), error.with_cause()).in_column(column);
                    match self.target.properties.verification {
                        Verification::Scan => self.faults.push(fault),
                        Verification::Footer | Verification::Declared => self.warnings.push(fault),
                    }
                }
            }
        }
        Ok(scanned)
    }

    /// Holds the declared size and rows against the object.
    fn check_object(&mut self, object: &StoredObject, row_count: u64) {
        for (what, declared, found) in
            [("size_bytes", self.added.size_bytes, object.size_bytes), ("row_count", self.added.row_count, row_count)]
        {
            if let Some(declared) = declared.filter(|declared| *declared != found) {
                let fault = Fault::of_path(self.path(), format!("{what} differs from the file's"));
                self.faults.push(fault.with_evidence(declared.to_string(), format!("the file has {found}")));
            }
        }
    }
}

fn lacks_nan_count(leaf: &LeafColumn, known: &ColumnStatistics) -> bool {
    leaf.column_type.is_float() && known.nan_count.is_none()
}
