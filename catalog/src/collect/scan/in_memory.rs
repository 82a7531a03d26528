//! A file in memory, read for tests as one in an object store is.

use std::collections::BTreeMap;

use super::super::footer::Footer;
use super::super::test_footer::{INT32, TestChunk, TestElement, TestFooter, Writer};
use super::budget::{Budget, Waiting};
use super::chunk_plan::plan_chunks;
use super::fault::ScanError;
use super::{LeafReading, LeafScan, ScanFor, fold_of};

/// As [`super::scan`], of a file whose bytes these are.
pub(in super::super) fn scan_bytes(
    file: &[u8],
    footer: &Footer<'_>,
    leaves: &[usize],
    what: ScanFor,
) -> Result<BTreeMap<usize, LeafScan>, ScanError> {
    let mut scans = BTreeMap::new();
    for leaf in leaves {
        let Some(fold) = fold_of(footer, *leaf, what) else { continue };
        let (plans, waiting) = (plan_chunks(footer, *leaf, file.len() as u64)?, Waiting::default());
        let mut reading = LeafReading::of(fold, what, Budget::for_chunks(&plans, &waiting));
        for plan in plans {
            let range = usize::try_from(plan.range.start).unwrap()..usize::try_from(plan.range.end).unwrap();
            let column = footer.leaves()[*leaf].dotted_path();
            reading.read(&plan, &file[range]).map_err(|fault| ScanError::Chunk {
                column,
                row_group: plan.row_group,
                fault,
            })?;
        }
        scans.insert(*leaf, reading.into_scan());
    }
    Ok(scans)
}

/// The leaves that have a chunk which this byte of the file lies in.
pub(in super::super) fn leaves_at(position: usize, file: &[u8], footer: &Footer<'_>) -> Vec<usize> {
    let (position, size_bytes) = (position as u64, file.len() as u64);
    let holds = |leaf: &usize| {
        let plans = plan_chunks(footer, *leaf, size_bytes).unwrap_or_default();
        plans.iter().any(|plan| plan.range.contains(&position))
    };
    (0..footer.leaves().len()).filter(holds).collect()
}

/// A file of one required column `x` with the rows 5 and 7, and its footer.
pub(crate) fn file_of_one_column() -> (Vec<u8>, Vec<u8>) {
    let mut page = Writer::default();
    for (id, value) in [(1, 0), (2, 8), (3, 8)] {
        page.i64(id, value);
    }
    page.structure(5, |page| {
        for (id, value) in [(1, 2), (2, 0), (3, 3), (4, 3)] {
            page.i64(id, value);
        }
    });
    page.bytes.extend([0, 5, 0, 0, 0, 7, 0, 0, 0]);
    let chunk = TestChunk::of("x", INT32, 2).placed(4, page.bytes.len().try_into().unwrap());
    let leaf = TestElement::leaf("x", INT32).repetition(0);
    let footer = TestFooter::flat(vec![leaf]).row_group(2, vec![chunk]).encode();
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    ([b"PAR1", &page.bytes[..], &footer, &length, b"PAR1"].concat(), footer)
}
