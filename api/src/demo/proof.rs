//! The proof: every row of every file is read and each filter evaluated on it, and what the plans left out is held against that.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::filters::{COLUMNS, FILTERS, count_matches};
use super::{DemoError, Planned};

/// What one file really holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileTruth {
    pub(super) rows: usize,
    /// How many of them each filter matches, in the order of [`FILTERS`].
    pub(super) matching: [usize; FILTERS.len()],
}

/// Reads all files, each once.
pub(super) fn read_all(files: &[PathBuf]) -> Result<BTreeMap<String, FileTruth>, DemoError> {
    files.iter().map(|path| Ok((url_of(path), read(path)?))).collect()
}

/// How the server names a local file.
pub(super) fn url_of(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn read(path: &Path) -> Result<FileTruth, DemoError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let columns = ProjectionMask::columns(builder.parquet_schema(), COLUMNS);
    let mut truth = FileTruth::default();
    for rows in builder.with_projection(columns).build()? {
        let rows = rows?;
        truth.rows += rows.num_rows();
        for (filter, matching) in FILTERS.iter().zip(&mut truth.matching) {
            *matching += count_matches(filter, &rows)?;
        }
    }
    Ok(truth)
}

/// Holds the plan of the filter with this number against what the files hold: the matching rows of all files, which are those
/// of the files kept.
///
/// # Errors
/// [`DemoError::Disproved`] if the files kept hold fewer matching rows than all files do, or if a file that was called wholly
/// matching holds a row that does not match.
pub(super) fn prove(number: usize, planned: &Planned, truth: &BTreeMap<String, FileTruth>) -> Result<usize, DemoError> {
    let matching = |file: &FileTruth| file.matching.get(number).copied().unwrap_or_default();
    let matching_rows = truth.values().map(matching).sum();
    let mut in_kept_files = 0;
    for (path, wholly) in &planned.kept {
        let file = truth
            .get(path)
            .ok_or_else(|| DemoError::Disproved(format!("the plan names {path}, which was not registered")))?;
        in_kept_files += matching(file);
        if *wholly && matching(file) != file.rows {
            let (rows, found) = (file.rows, matching(file));
            return Err(DemoError::Disproved(format!(
                "{path} was called wholly matching, but only {found} of its {rows} rows match"
            )));
        }
    }
    if in_kept_files == matching_rows {
        Ok(matching_rows)
    } else {
        Err(DemoError::Disproved(format!(
            "{matching_rows} rows match in all files, but {in_kept_files} in the files kept"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth() -> BTreeMap<String, FileTruth> {
        let file = |rows, found| FileTruth { rows, matching: [found; FILTERS.len()] };
        [("a", file(10, 10)), ("b", file(10, 3)), ("c", file(10, 0))].map(|(path, file)| (path.to_owned(), file)).into()
    }

    fn check(kept: &[(&str, bool)]) -> Option<usize> {
        let kept = kept.iter().map(|(path, wholly)| ((*path).to_owned(), *wholly)).collect();
        prove(0, &Planned { kept, ..Planned::default() }, &truth()).ok()
    }

    #[test]
    fn a_plan_that_keeps_all_matching_rows_is_proven() {
        assert_eq!(check(&[("a", true), ("b", false)]), Some(13));
        assert_eq!(check(&[("a", false), ("b", false), ("c", false)]), Some(13));
    }

    #[test]
    fn a_plan_that_loses_a_row_is_disproved() {
        assert_eq!(check(&[("a", true)]), None);
    }

    #[test]
    fn a_file_wrongly_called_wholly_matching_is_disproved() {
        assert_eq!(check(&[("a", true), ("b", true)]), None);
    }

    #[test]
    fn a_file_that_was_never_registered_is_disproved() {
        assert_eq!(check(&[("a", true), ("b", false), ("d", false)]), None);
    }
}
