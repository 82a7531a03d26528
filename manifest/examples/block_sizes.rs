//! What does a file cost in a column block, compressed in each of the ways that Arrow's format knows?
//!
//! ```sh
//! cargo run --release -p prunus-manifest --example block_sizes
//! ```
//! Each column is the zones of as many files as a manifest has, put into an Arrow stream as the store does it. Every stream
//! is first read back and must hold what was written; then it is read again and again for the time.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow::ipc::{CompressionType, MetadataVersion};
use prunus_manifest::{ColumnZones, MANIFEST_TARGET_FILES};
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FileColumn, Precision, PrimitiveType, Provenance, TimeUnit, Value, ZoneMap,
};

const ROWS: u64 = 100_000;
const HOUR_MICROS: u64 = 3_600_000_000;
const READS: u32 = 200;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let columns = [
        ("timestamps, an hour each", PrimitiveType::Timestamptz(TimeUnit::Microsecond), timestamps as Bounds),
        ("strings, as of customers", PrimitiveType::String, names),
        ("numbers without order", PrimitiveType::Int64, numbers),
        ("doubles without order", PrimitiveType::Float64, doubles),
    ];
    let mut out = std::io::stdout().lock();
    let heads = ["column", "compression", "bytes per file", "to read"];
    writeln!(out, "{:26}{:14}{:>16}{:>12}", heads[0], heads[1], heads[2], heads[3])?;
    for (name, column_type, bounds) in columns {
        let batch = batch_of(column_type, bounds)?;
        for (how, compression) in
            [("none", None), ("LZ4", Some(CompressionType::LZ4_FRAME)), ("ZSTD", Some(CompressionType::ZSTD))]
        {
            let bytes = write(&batch, compression)?;
            assert_eq!(read(&bytes)?, batch, "{name}, {how}");
            let per_file = f64::from(u32::try_from(bytes.len())?) / f64::from(MANIFEST_TARGET_FILES);
            writeln!(out, "{name:26}{how:14}{per_file:>16.1}{:>12?}", time_to_read(&bytes)?)?;
        }
    }
    Ok(())
}

fn write(batch: &RecordBatch, compression: Option<CompressionType>) -> Result<Vec<u8>> {
    // As in `block.rs`.
    let options = IpcWriteOptions::try_new(8, false, MetadataVersion::V5)?.try_with_compression(compression)?;
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), batch.schema_ref(), options)?;
    writer.write(batch)?;
    Ok(writer.into_inner()?)
}

fn read(bytes: &[u8]) -> Result<RecordBatch> {
    let mut reader = StreamReader::try_new(bytes, None)?;
    Ok(reader.next().ok_or("the stream is empty")??)
}

/// The least of many: what disturbs only adds.
fn time_to_read(bytes: &[u8]) -> Result<Duration> {
    let mut least = Duration::MAX;
    for _ in 0..READS {
        let started = Instant::now();
        std::hint::black_box(read(bytes)?);
        least = least.min(started.elapsed());
    }
    Ok(least)
}

/// The bounds of a file, from its number and from a number without order.
type Bounds = fn(u64, u64) -> (Value, Value);

fn batch_of(column_type: PrimitiveType, bounds: Bounds) -> Result<RecordBatch> {
    let mut chance = 1;
    let zones: Vec<ZoneMap> = (0..u64::from(MANIFEST_TARGET_FILES))
        .map(|number| {
            chance = next_chance(chance);
            let column = FileColumn::Present(statistics(bounds(number, chance)));
            ZoneMap::of_file(Some(&column), column_type, Some(ROWS))
        })
        .collect();
    let zones = ColumnZones::from_zone_maps(column_type.physical_type(), &zones);
    assert_eq!(zones.min().null_count(), 0, "every bound is usable");
    let columns: [(&str, ArrayRef); 5] = [
        ("min", Arc::clone(zones.min())),
        ("max", Arc::clone(zones.max())),
        ("null_count", Arc::new(zones.null_count().clone())),
        ("nan_count", Arc::new(zones.nan_count().clone())),
        ("valueless", Arc::new(zones.valueless().clone())),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, name != "valueless")))?)
}

fn statistics((min, max): (Value, Value)) -> ColumnStatistics {
    let provenance = Provenance::Footer;
    let bound = |value| Some(Bound { value, precision: Precision::Exact, provenance });
    ColumnStatistics {
        min: bound(min),
        max: bound(max),
        null_count: Some(Count { value: 0, provenance }),
        nan_count: None,
    }
}

/// Files of an hour each, whose first and last rows lie anywhere in the first and last second of it.
fn timestamps(number: u64, chance: u64) -> (Value, Value) {
    let start = 1_700_000_000_000_000 + number * HOUR_MICROS;
    integers(start + chance % 1_000_000, start + HOUR_MICROS - (chance >> 20) % 1_000_000)
}

/// Ordered names with a number that has none, as `Customer#000012345`.
fn names(number: u64, chance: u64) -> (Value, Value) {
    let name = |number: u64| Value::Bytes(format!("Customer#{number:09}").into_bytes());
    let start = number * 20_000;
    (name(start + chance % 1000), name(start + 19_000 + (chance >> 20) % 1000))
}

fn numbers(_: u64, chance: u64) -> (Value, Value) {
    integers(chance % 1_000_000, 1_000_000_000 - (chance >> 20) % 1_000_000)
}

fn doubles(_: u64, chance: u64) -> (Value, Value) {
    // From 1 to 2, each bit of the fraction by chance.
    let part = |bits: u64| f64::from_bits(1_f64.to_bits() | bits >> 12);
    (Value::Float(part(chance)), Value::Float(part(next_chance(chance)) + 1.0))
}

fn integers(min: u64, max: u64) -> (Value, Value) {
    (Value::Integer(min.into()), Value::Integer(max.into()))
}

/// A step of xorshift: the same numbers on every run.
fn next_chance(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}
