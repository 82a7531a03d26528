//! A file in memory, read for tests as one in an object store is.

use std::collections::BTreeMap;

use super::super::footer::Footer;
use super::chunk_plan::plan_chunks;
use super::fault::ScanError;
use super::{LeafReading, LeafScan, ScanFor};

/// As [`super::scan`], of a file whose bytes these are.
pub(in super::super) fn scan_bytes(
    file: &[u8],
    footer: &Footer<'_>,
    leaves: &[usize],
    what: ScanFor,
) -> Result<BTreeMap<usize, LeafScan>, ScanError> {
    let mut scans = BTreeMap::new();
    for leaf in leaves {
        let Some(mut reading) = LeafReading::of(footer, *leaf, what) else { continue };
        for plan in plan_chunks(footer, *leaf, file.len() as u64)? {
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
