//! Random settings of Arrow's Parquet writer.

use arrow::datatypes::DataType;
use parquet::basic::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::ColumnPath;

use super::columns::Column;
use crate::rows::Numbers;

/// Settings, and what they are for people.
pub(super) fn draw(numbers: &mut Numbers, columns: &[Column]) -> (WriterProperties, String) {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    let codec = pick(numbers, &codecs);
    let statistics = pick(numbers, &[EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page]);
    let version = pick(numbers, &[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]);
    let truncated = pick(numbers, &[None, Some(1), Some(4), Some(64)]);
    let group_rows = pick(numbers, &[3, 100, 1_000_000]);
    let page_rows = pick(numbers, &[1, 20, 1_000_000]);
    let dictionary_bytes = pick(numbers, &[None, Some(64), Some(1_000_000)]);
    let mut builder = WriterProperties::builder()
        .set_compression(codec)
        .set_statistics_enabled(statistics)
        .set_writer_version(version)
        .set_statistics_truncate_length(truncated)
        .set_column_index_truncate_length(truncated)
        .set_max_row_group_row_count(Some(group_rows))
        .set_data_page_row_count_limit(page_rows)
        .set_write_batch_size(page_rows.min(50))
        .set_dictionary_enabled(dictionary_bytes.is_some());
    if let Some(bytes) = dictionary_bytes {
        builder = builder.set_dictionary_page_size_limit(bytes);
    }
    let encoded = numbers.below(2) == 0;
    if encoded {
        builder = columns.iter().fold(builder, |builder, column| encode(numbers, builder, column));
    }
    let shown = format!(
        "{codec:?}, statistics {statistics:?} cut to {truncated:?}, {version:?}, {group_rows} rows to a group, \
         {page_rows} to a page, dictionary {dictionary_bytes:?}, drawn encodings {encoded}"
    );
    (builder.build(), shown)
}

fn pick<T: Copy>(numbers: &mut Numbers, choices: &[T]) -> T {
    choices[numbers.below(choices.len() as u64) as usize]
}

/// Sets how the values of a column are encoded where they are not numbers of a dictionary.
fn encode(numbers: &mut Numbers, builder: WriterPropertiesBuilder, column: &Column) -> WriterPropertiesBuilder {
    let Some(encoding) = encodings(column.field.data_type()).get(numbers.below(4) as usize) else { return builder };
    builder.set_column_encoding(ColumnPath::from(column.field.name().as_str()), *encoding)
}

fn encodings(data_type: &DataType) -> &'static [Encoding] {
    use DataType as T;
    const INTEGERS: &[Encoding] = &[Encoding::PLAIN, Encoding::DELTA_BINARY_PACKED, Encoding::BYTE_STREAM_SPLIT];
    const STRINGS: &[Encoding] = &[Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY];
    match data_type {
        T::Boolean => &[Encoding::PLAIN, Encoding::RLE],
        T::Float16 | T::FixedSizeBinary(_) => {
            &[Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT, Encoding::DELTA_BYTE_ARRAY]
        }
        T::Float32 | T::Float64 => &[Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT],
        T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary => STRINGS,
        T::Struct(_) | T::List(_) | T::Dictionary(..) => &[],
        T::Decimal128(19.., _) => &[Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT],
        _ => INTEGERS,
    }
}
