//! Rows of many types with everything that is hard about them, in Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int16Array, Int64Array,
    RecordBatch, StringArray, TimestampMicrosecondArray, UInt32Array, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// A small generator of numbers (SplitMix64), so that every run has the same rows.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// Rows of file number `file`: most columns are clustered by it, some not at all; some are null or NaN in places, some in
/// whole files.
pub(crate) fn batch(file: u64, rows: usize) -> RecordBatch {
    let numbers = &mut Numbers(file);
    let base = i64::try_from(file).unwrap() * 100;
    let mut column = |nullable: bool| -> Vec<Option<i64>> {
        let all_null = nullable && file % 7 == 3;
        (0..rows)
            .map(|_| {
                let value = base + i64::try_from(numbers.below(120)).unwrap();
                let null = all_null || (nullable && file % 3 == 1 && numbers.one_in(4));
                (!null).then_some(value)
            })
            .collect()
    };
    let (id, opt, text, day, at, money) =
        (column(false), column(true), column(true), column(true), column(false), column(true));
    let (small, unsigned, large) = (column(true), column(false), column(false));
    let float = |value: i64| match value % 23 {
        0 if file % 4 == 2 => f64::NAN,
        1 if file % 5 == 2 => -f64::NAN,
        2 if file % 6 == 1 => f64::INFINITY,
        3 if file == 0 => -0.0,
        _ => value as f64 / 8.0,
    };
    let floats: Vec<Option<f64>> = id.iter().map(|value| value.map(float)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(id.clone()))),
        ("opt", Arc::new(Int64Array::from(opt))),
        ("small", Arc::new(small.iter().map(|value| value.map(|value| (value % 300) as i16)).collect::<Int16Array>())),
        (
            "u32",
            Arc::new(unsigned.iter().map(|value| value.map(|value| u32::MAX - value as u32)).collect::<UInt32Array>()),
        ),
        (
            "u64",
            Arc::new(large.iter().map(|value| value.map(|value| u64::MAX - value as u64)).collect::<UInt64Array>()),
        ),
        ("f64", Arc::new(Float64Array::from(floats))),
        ("f32", Arc::new(self::f32_column(&money))),
        ("flag", Arc::new(text.iter().map(|value| value.map(|value| value % 100 < 60)).collect::<BooleanArray>())),
        (
            "name",
            Arc::new(text.iter().map(|value| value.map(|value| format!("n{value:05}-é"))).collect::<StringArray>()),
        ),
        ("day", Arc::new(day.iter().map(|value| value.map(|value| value as i32 - 500)).collect::<Date32Array>())),
        (
            "at",
            Arc::new(
                at.iter().map(|value| value.map(|value| value * 60_000_000)).collect::<TimestampMicrosecondArray>(),
            ),
        ),
        ("money", Arc::new(decimals(&money))),
        ("noise", Arc::new((0..rows).map(|_| Some(numbers.below(1000) as i64)).collect::<Int64Array>())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn f32_column(values: &[Option<i64>]) -> Float32Array {
    values.iter().map(|value| value.map(|value| value as f32 / 10.0)).collect()
}

fn decimals(values: &[Option<i64>]) -> Decimal128Array {
    let unscaled: Decimal128Array =
        values.iter().map(|value| value.map(|value| i128::from(value) * 7 - 3000)).collect();
    unscaled.with_precision_and_scale(12, 2).unwrap()
}

/// Writes a Parquet file of several row groups; some files have no statistics.
pub(crate) fn write(path: &Path, batch: &RecordBatch, statistics: EnabledStatistics) {
    let properties = WriterProperties::builder()
        .set_statistics_enabled(statistics)
        .set_max_row_group_row_count(Some(64))
        .set_compression(Compression::SNAPPY)
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}
