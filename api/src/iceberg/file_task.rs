//! A file of a plan, as clients are told of it.

use serde::Serialize;

use prunus_catalog::PlannedChunk;

use super::file_statistics::FileStatisticsJson;

/// A data file. Tables are unpartitioned: what a file holds of a partition, its columns do.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct DataFileJson<'f> {
    content: &'static str,
    file_path: &'f str,
    file_format: &'static str,
    spec_id: u8,
    partition: [(); 0],
    file_size_in_bytes: u64,
    record_count: u64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    statistics: Option<&'f FileStatisticsJson>,
}

/// What is written of a file beside what the plan says of it.
#[derive(Clone, Copy)]
pub(super) struct Beside<'f> {
    /// What is left to filter its rows by, as JSON.
    pub(super) residual: &'f [u8],
    /// What was asked for of its columns.
    pub(super) statistics: Option<&'f FileStatisticsJson>,
}

/// Writes the task of a file behind what there is.
pub(super) fn write(
    text: &mut Vec<u8>,
    chunk: &PlannedChunk,
    index: usize,
    beside: Beside<'_>,
) -> serde_json::Result<()> {
    let rows = &chunk.files.rows;
    let file = DataFileJson {
        content: "data",
        file_path: rows.path.value(index),
        file_format: "parquet",
        spec_id: 0,
        partition: [],
        file_size_in_bytes: rows.size_bytes.value(index),
        record_count: rows.row_count.value(index),
        statistics: beside.statistics,
    };
    text.extend_from_slice(br#"{"data-file":"#);
    serde_json::to_writer(&mut *text, &file)?;
    text.extend_from_slice(br#","residual-filter":"#);
    text.extend_from_slice(beside.residual);
    text.push(b'}');
    Ok(())
}
