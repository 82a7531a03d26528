//! The bytes of a block: a head with a checksum, then one compressed Arrow record batch.
//!
//! ```text
//! "PNB"   version: u8   xxh3 of the rest: u64, little-endian   an Arrow IPC stream of one batch
//! ```
//! The checksum is looked at before Arrow is: what it lets pass is what was written.

use crate::checked;
use crate::error::FormatError;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow::ipc::{CompressionType, MetadataVersion};

const MAGIC: &[u8] = b"PNB";
const FORMAT_VERSION: u8 = 1;

/// The alignment of Arrow's buffers in the payload. They are decompressed into memory of their own, so the least will do.
const ALIGNMENT: usize = 8;

/// Of 4,096 files LZ4 takes about 16 bytes for each where ZSTD takes 14 (timestamps), 23 where it takes 14 (strings), and no
/// less time to read: `cargo run --release -p prunus-manifest --example block_sizes`.
const COMPRESSION: CompressionType = CompressionType::ZSTD;

/// Puts a batch into a block.
pub(crate) fn write(batch: &RecordBatch) -> Result<Vec<u8>, FormatError> {
    let options =
        IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?.try_with_compression(Some(COMPRESSION))?;
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), batch.schema_ref(), options)?;
    writer.write(batch)?;
    let payload = writer.into_inner()?;
    Ok([MAGIC, &[FORMAT_VERSION], &checked::seal(&payload)].concat())
}

/// Takes a batch of this schema and of so many rows out of a block.
pub(crate) fn read(bytes: &[u8], schema: &Schema, rows: usize) -> Result<RecordBatch, FormatError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(FormatError::NotABlock)?;
    let (version, rest) = rest.split_first().ok_or(FormatError::NotABlock)?;
    match *version {
        FORMAT_VERSION => {}
        0 => return Err(FormatError::NotABlock),
        newer => return Err(FormatError::NewerVersion(newer)),
    }
    let mut reader = StreamReader::try_new(checked::open(rest)?, None)?;
    let batch = reader.next().ok_or(FormatError::WrongColumns)??;
    if reader.next().is_some() || batch.schema_ref().fields() != schema.fields() {
        return Err(FormatError::WrongColumns);
    }
    if batch.num_rows() != rows {
        return Err(FormatError::WrongLength { expected: rows, found: batch.num_rows() });
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::Int64Array;
    use arrow::datatypes::{DataType, Field};

    use super::*;

    fn schema(name: &str) -> Schema {
        Schema::new(vec![Field::new(name, DataType::Int64, false)])
    }

    fn block() -> Vec<u8> {
        let values = Int64Array::from_iter_values((0..100).map(|number| number * 7));
        write(&RecordBatch::try_new(Arc::new(schema("a")), vec![Arc::new(values)]).unwrap()).unwrap()
    }

    #[test]
    fn every_flipped_byte_is_an_error() {
        let block = block();
        for position in 0..block.len() {
            let mut damaged = block.clone();
            damaged[position] ^= 0x10;
            assert!(read(&damaged, &schema("a"), 100).is_err(), "byte {position}");
        }
    }

    #[test]
    fn every_cut_is_an_error() {
        let block = block();
        for length in 0..block.len() {
            assert!(read(&block[..length], &schema("a"), 100).is_err(), "length {length}");
        }
    }

    #[test]
    fn a_newer_version_is_named() {
        let mut newer = block();
        newer[MAGIC.len()] = FORMAT_VERSION + 1;
        assert!(matches!(read(&newer, &schema("a"), 100), Err(FormatError::NewerVersion(_))));
    }

    #[test]
    fn other_columns_are_refused() {
        assert!(matches!(read(&block(), &schema("b"), 100), Err(FormatError::WrongColumns)));
    }

    #[test]
    fn another_length_is_refused() {
        let answer = read(&block(), &schema("a"), 99);
        assert!(matches!(answer, Err(FormatError::WrongLength { expected: 99, found: 100 })));
    }
}
