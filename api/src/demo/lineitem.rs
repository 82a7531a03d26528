//! TPC-H `lineitem` as Parquet files that follow one another in time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, sort_to_indices, take_record_batch};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use tpchgen::generators::LineItemGenerator;
use tpchgen_arrow::LineItemArrow;

use super::filters::column;
use super::{DemoError, FILES};

const BATCH_ROWS: usize = 65_536;

/// What was written.
#[derive(Debug)]
pub(super) struct Written {
    /// The files in the order of their ship dates.
    pub(super) files: Vec<PathBuf>,
    pub(super) rows: usize,
    pub(super) bytes: u64,
}

/// Generates `lineitem` at a scale, sorts it by ship date and writes it into [`FILES`] files of a folder.
pub(super) fn write(scale: f64, folder: &Path) -> Result<Written, DemoError> {
    let batch = generate(scale)?;
    let order = sort_to_indices(column(&batch, "l_shipdate")?, None, None)?;
    let rows_per_file = batch.num_rows().div_ceil(FILES).max(1);
    let mut written = Written { files: Vec::new(), rows: batch.num_rows(), bytes: 0 };
    for (number, first) in (0..batch.num_rows()).step_by(rows_per_file).enumerate() {
        let rows = order.slice(first, rows_per_file.min(batch.num_rows() - first));
        let path = folder.join(format!("lineitem-{number:02}.parquet"));
        written.bytes += write_file(&path, &batch, &rows)?;
        written.files.push(path);
    }
    Ok(written)
}

fn generate(scale: f64) -> Result<RecordBatch, DemoError> {
    let batches: Vec<RecordBatch> = LineItemArrow::new(LineItemGenerator::new(scale, 1, 1))
        .with_batch_size(BATCH_ROWS)
        .collect::<Result<_, _>>()?;
    Ok(concat_batches(&LineItemArrow::schema_ref(), &batches)?)
}

/// Writes the rows with these numbers, in this order, and answers how many bytes that took.
fn write_file(path: &Path, batch: &RecordBatch, rows: &UInt32Array) -> Result<u64, DemoError> {
    let part = take_record_batch(batch, rows)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(File::create(path)?, Arc::clone(&part.schema()), Some(properties))?;
    writer.write(&part)?;
    writer.close()?;
    Ok(std::fs::metadata(path)?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_are_written_in_the_order_of_their_ship_dates() {
        let folder = tempfile::tempdir().unwrap();
        let written = write(0.001, folder.path()).unwrap();
        assert_eq!((written.files.len(), written.rows), (FILES, 6_005));
        assert!(written.files.is_sorted());
        assert_eq!(written.bytes, written.files.iter().map(|path| path.metadata().unwrap().len()).sum::<u64>());
    }
}
