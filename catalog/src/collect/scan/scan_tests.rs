//! Chunks made by hand, read: what writers write, and what none would.

use prunus_statistics::{Bound, ColumnStatistics, Value};

use super::super::annotation::Annotation;
use super::super::file_schema::FileLeaf;
use super::super::leaf_type::StoredType;
use super::super::test_footer::{Writer, test_leaf};
use super::budget::{Budget, Waiting};
use super::chunk_plan::ChunkPlan;
use super::chunk_reader::{Extent, read_chunk};
use super::decompress::Codec;
use super::fault::ChunkFault;
use super::leaf_fold::LeafFold;
use super::{LeafReading, LeafScan, ScanFor};

const PLAIN: i64 = 0;
const RUNS: i64 = 3;
const BIT_PACKED: i64 = 4;
const DICTIONARY: i64 = 8;

/// A page: the code of its kind, the sizes of its body, and the struct of its kind in the field of that number.
fn page(kind: i64, body: &[u8], uncompressed: usize, (field, parts): (i16, &[(i16, i64)])) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.i64(1, kind);
    writer.i64(2, uncompressed.try_into().unwrap());
    writer.i64(3, body.len().try_into().unwrap());
    writer.structure(field, |writer| parts.iter().for_each(|(id, value)| writer.i64(*id, *value)));
    writer.bytes.push(0);
    [writer.bytes, body.to_vec()].concat()
}

fn data_page(values: i64, encoding: i64, levels_encoding: i64, body: &[u8]) -> Vec<u8> {
    page(0, body, body.len(), (5, &[(1, values), (2, encoding), (3, levels_encoding), (4, levels_encoding)]))
}

fn dictionary_page(entries: i64, body: &[u8]) -> Vec<u8> {
    page(2, body, body.len(), (7, &[(1, entries), (2, PLAIN)]))
}

/// Definition levels of a page: so many slots that all have the same one.
fn levels(level: u8, slots: u8) -> Vec<u8> {
    vec![2, 0, 0, 0, slots << 1, level]
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn double_leaf() -> FileLeaf {
    test_leaf(StoredType::Double, Annotation::Plain)
}

/// Of a chunk of three slots in three rows. Its place in the file has been looked up already.
fn plan(codec: Codec) -> ChunkPlan {
    ChunkPlan { row_group: 0, range: 0..1, codec, values: 3, rows: 3 }
}

fn budget(waiting: &Waiting) -> Budget {
    Budget::of(0, waiting)
}

fn read_for(what: ScanFor, leaf: &FileLeaf, rows: u64, pages: &[Vec<u8>]) -> Result<(Extent, LeafFold), ChunkFault> {
    let bytes = pages.concat();
    let plan = ChunkPlan { values: rows, rows, ..plan(Codec::Uncompressed) };
    let mut fold = LeafFold::of(leaf);
    let waiting = Waiting::default();
    read_chunk(&plan, &bytes, what, &mut fold, &mut budget(&waiting)).map(|extent| (extent, fold))
}

/// Bounds, null count and NaN count.
type Known = (Option<Value>, Option<Value>, Option<u64>, Option<u64>);

fn known(statistics: ColumnStatistics) -> Known {
    let ColumnStatistics { min, max, null_count, nan_count } = statistics;
    let value = |bound: Option<Bound>| bound.map(|bound| bound.value);
    (value(min), value(max), null_count.map(|count| count.value), nan_count.map(|count| count.value))
}

fn read(leaf: &FileLeaf, rows: u64, pages: &[Vec<u8>]) -> Result<Known, ChunkFault> {
    read_for(ScanFor::Everything, leaf, rows, pages).map(|(_, fold)| known(fold.into_statistics()))
}

fn floats(min: f64, max: f64, nulls: u64, nans: u64) -> Known {
    (Some(Value::Float(min)), Some(Value::Float(max)), Some(nulls), Some(nans))
}

#[test]
fn values_and_nulls_of_all_pages_count() {
    let first = data_page(2, PLAIN, RUNS, &[levels(1, 2), doubles(&[3.0, f64::NAN])].concat());
    let nulls = data_page(3, PLAIN, RUNS, &levels(0, 3));
    let last = data_page(1, PLAIN, RUNS, &[levels(1, 1), doubles(&[-7.0])].concat());
    assert_eq!(read(&double_leaf(), 6, &[first, nulls, last]), Ok(floats(-7.0, 3.0, 3, 1)));
}

#[test]
fn an_entry_of_a_dictionary_counts_as_often_as_it_is_used() {
    let dictionary = dictionary_page(3, &doubles(&[1.0, f64::NAN, 9.0]));
    // Four times entry 1, twice entry 0, and entry 2 never.
    let data = data_page(6, DICTIONARY, RUNS, &[levels(1, 6), vec![2, 0x08, 1, 0x04, 0]].concat());
    assert_eq!(read(&double_leaf(), 6, &[dictionary, data]), Ok(floats(1.0, 1.0, 0, 4)));
}

#[test]
fn a_dictionary_without_nan_proves_that_there_is_none() {
    let dictionary = |entries: &[f64]| dictionary_page(entries.len().try_into().unwrap(), &doubles(entries));
    let damaged = || data_page(6, DICTIONARY, RUNS, &[0xff; 3]);
    let nans = |pages: &[Vec<u8>]| {
        read_for(ScanFor::NanCount, &double_leaf(), 6, pages).map(|(extent, fold)| (extent, fold.nan_count().value))
    };
    assert_eq!(nans(&[dictionary(&[1.0]), damaged()]), Ok((Extent::Dictionary, 0)));
    assert_eq!(nans(&[dictionary(&[1.0, f64::NAN]), damaged()]), Err(ChunkFault::Levels));
    assert_eq!(nans(&[damaged()]), Err(ChunkFault::Levels));
    let plain = data_page(3, PLAIN, RUNS, &[levels(1, 3), doubles(&[1.0, 2.0, f64::NAN])].concat());
    let coded = data_page(3, DICTIONARY, RUNS, &[levels(1, 3), vec![1, 0x06, 0]].concat());
    assert_eq!(nans(&[dictionary(&[1.0]), coded, plain]), Ok((Extent::Whole, 1)));
}

#[test]
fn a_dictionary_must_be_there_and_come_first() {
    let dictionary = dictionary_page(1, &doubles(&[1.0]));
    let data = data_page(1, DICTIONARY, RUNS, &[levels(1, 1), vec![1, 0x02, 0]].concat());
    let plain = data_page(1, PLAIN, RUNS, &[levels(1, 1), doubles(&[1.0])].concat());
    let twice = [dictionary.clone(), dictionary.clone(), data.clone()];
    assert_eq!(read(&double_leaf(), 1, std::slice::from_ref(&data)), Err(ChunkFault::NoDictionary));
    assert_eq!(read(&double_leaf(), 1, &twice), Err(ChunkFault::LateDictionary));
    assert_eq!(read(&double_leaf(), 2, &[plain, dictionary, data]), Err(ChunkFault::LateDictionary));
}

#[test]
fn a_number_beyond_the_dictionary_is_damage() {
    let dictionary = dictionary_page(1, &doubles(&[1.0]));
    let data = data_page(1, DICTIONARY, RUNS, &[levels(1, 1), vec![1, 0x02, 1]].concat());
    assert_eq!(read(&double_leaf(), 1, &[dictionary, data]), Err(ChunkFault::Values));
}

#[test]
fn a_dictionary_that_claims_more_entries_than_bytes_is_refused() {
    let data = data_page(1, DICTIONARY, RUNS, &[levels(1, 1), vec![1, 0x02, 0]].concat());
    for entries in [2, i64::from(i32::MAX), -1] {
        let dictionary = dictionary_page(entries, &doubles(&[1.0]));
        assert_eq!(read(&double_leaf(), 1, &[dictionary, data.clone()]), Err(ChunkFault::Dictionary), "{entries}");
        let text = test_leaf(StoredType::ByteArray, Annotation::String);
        let dictionary = dictionary_page(entries, &[1, 0, 0, 0, b'a']);
        assert_eq!(read(&text, 1, &[dictionary, data.clone()]), Err(ChunkFault::Dictionary), "{entries}");
    }
}

#[test]
fn a_page_of_the_second_version_compresses_its_values_alone() {
    let values = doubles(&[4.0, 5.0]);
    let body = [vec![0x04, 1, 0x02, 0], snap::raw::Encoder::new().compress_vec(&values).unwrap()].concat();
    let parts = [(1, 3), (2, 1), (3, 3), (4, PLAIN), (5, 4), (6, 0)];
    let bytes = page(3, &body, 4 + values.len(), (8, &parts));
    let mut fold = LeafFold::of(&double_leaf());
    let waiting = Waiting::default();
    let read = read_chunk(&plan(Codec::Snappy), &bytes, ScanFor::Everything, &mut fold, &mut budget(&waiting));
    assert_eq!(read, Ok(Extent::Whole));
    assert_eq!(known(fold.into_statistics()), floats(4.0, 5.0, 1, 0));
}

#[test]
fn levels_may_be_packed_from_the_highest_bit_down() {
    let data = data_page(3, PLAIN, BIT_PACKED, &[vec![0b1010_0000], doubles(&[1.0, 2.0])].concat());
    assert_eq!(read(&double_leaf(), 3, &[data]), Ok(floats(1.0, 2.0, 1, 0)));
}

#[test]
fn a_level_above_the_schemas_is_damage() {
    let data = data_page(1, PLAIN, RUNS, &[levels(2, 1), doubles(&[1.0])].concat());
    assert_eq!(read(&double_leaf(), 1, &[data]), Err(ChunkFault::Levels));
}

#[test]
fn a_leaf_in_a_list_has_bounds_over_its_elements_and_no_counts() {
    let list = FileLeaf { repeated: true, max_definition: 2, max_repetition: 1, ..double_leaf() };
    // Three slots, of which the second continues the first row; the last is an empty list.
    let repetition = [2, 0, 0, 0, 0x03, 0b010];
    let definition = [4, 0, 0, 0, 0x04, 2, 0x02, 0];
    let body = [&repetition[..], &definition, &doubles(&[8.0, 6.0])].concat();
    let read = |rows| {
        let mut fold = LeafFold::of(&list);
        let plan = ChunkPlan { rows, ..plan(Codec::Uncompressed) };
        let bytes = data_page(3, PLAIN, RUNS, &body);
        let waiting = Waiting::default();
        let read = read_chunk(&plan, &bytes, ScanFor::Everything, &mut fold, &mut budget(&waiting));
        read.map(|_| known(fold.into_statistics()))
    };
    assert_eq!(read(2), Ok((Some(Value::Float(6.0)), Some(Value::Float(8.0)), None, None)));
    assert_eq!(read(3), Err(ChunkFault::Rows { found: 2, claimed: 3 }));
}

#[test]
fn values_that_end_early_are_damage() {
    let data = data_page(2, PLAIN, RUNS, &[levels(1, 2), doubles(&[1.0])].concat());
    assert_eq!(read(&double_leaf(), 2, &[data]), Err(ChunkFault::Values));
}

#[test]
fn nulls_without_end_take_no_time() {
    let most = i64::from(i32::MAX);
    let run = [0xfe, 0xff, 0xff, 0xff, 0x1f, 0];
    let data = data_page(most, PLAIN, RUNS, &[&[6, 0, 0, 0][..], &run].concat());
    let rows = u64::try_from(most).unwrap();
    assert_eq!(read(&double_leaf(), rows, &[data]), Ok((None, None, Some(rows), Some(0))));
}

#[test]
fn booleans_without_end_take_no_time_and_are_only_so_many() {
    let most = i64::from(i32::MAX);
    let run = [6, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x1f, 1];
    let data = data_page(most, RUNS, RUNS, &[run, run].concat());
    let leaf = test_leaf(StoredType::Boolean, Annotation::Plain);
    let rows = u64::try_from(most).unwrap();
    let all_true = Some(Value::Boolean(true));
    assert_eq!(read(&leaf, rows, std::slice::from_ref(&data)), Ok((all_true.clone(), all_true, Some(0), None)));
    assert_eq!(read(&leaf, 3 * rows, &[data.clone(), data.clone(), data]), Err(ChunkFault::TooMuch));
}

#[test]
fn a_page_without_values_is_not_decompressed() {
    let damaged = page(0, &[0xff; 5], 200 << 20, (5, &[(1, 0), (2, PLAIN), (3, RUNS), (4, RUNS)]));
    let bytes = [damaged, {
        let body = [levels(1, 3), doubles(&[1.0, 2.0, 3.0])].concat();
        let compressed = snap::raw::Encoder::new().compress_vec(&body).unwrap();
        page(0, &compressed, body.len(), (5, &[(1, 3), (2, PLAIN), (3, RUNS), (4, RUNS)]))
    }];
    let (mut fold, waiting) = (LeafFold::of(&double_leaf()), Waiting::default());
    let (plan, bytes) = (plan(Codec::Snappy), bytes.concat());
    let read = read_chunk(&plan, &bytes, ScanFor::Everything, &mut fold, &mut budget(&waiting));
    assert_eq!(read, Ok(Extent::Whole));
}

#[test]
fn a_chunk_that_nobody_waits_for_is_not_read_on() {
    let data = data_page(3, PLAIN, RUNS, &[levels(1, 3), doubles(&[1.0, 2.0, 3.0])].concat());
    let (mut fold, waiting) = (LeafFold::of(&double_leaf()), Waiting::default());
    let mut budget = budget(&waiting);
    drop(waiting);
    let read = read_chunk(&plan(Codec::Uncompressed), &data, ScanFor::Everything, &mut fold, &mut budget);
    assert_eq!(read, Err(ChunkFault::ReaderFailed));
}

#[test]
fn nans_are_counted_over_chunks_of_which_one_is_decided_by_its_dictionary() {
    let waiting = Waiting::default();
    let mut reading = LeafReading::of(LeafFold::of(&double_leaf()), ScanFor::NanCount, budget(&waiting));
    let plain = data_page(3, PLAIN, RUNS, &[levels(1, 3), doubles(&[1.0, f64::NAN, 3.0])].concat());
    let coded = data_page(3, DICTIONARY, RUNS, &[levels(1, 3), vec![1, 0x06, 0]].concat());
    let chunks = [plain.clone(), [dictionary_page(1, &doubles(&[1.0])), coded].concat(), plain];
    for bytes in &chunks {
        reading.read(&plan(Codec::Uncompressed), bytes).unwrap();
    }
    let LeafScan::NanCount(count) = reading.into_scan() else { panic!("not all was read") };
    assert_eq!(count.value, 2);
}
