//! What is the least that a filter can cost: a loop made for it alone, which reads the bounds and where they are known, and
//! is compiled for the same instruction sets as the pruner's.

use arrow::array::{Array, ArrowPrimitiveType, AsArray, PrimitiveArray, StringArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{ArrowNativeType, Float64Type};
use multiversion::multiversion;

use super::data::{EPOCH, MINUTE, STEP, Table, TableColumn, text};
use super::filters::{Filter, Floor};

/// A loop with all that it reads; it answers with a bit for each container that may match.
pub(crate) type Loop = Box<dyn Fn() -> Vec<u64>>;

impl Filter {
    pub(crate) fn floor(&self, table: &Table) -> Loop {
        match &self.floor {
            Floor::Timestamps(ranges) => overlap(table.column("ts"), ranges),
            Floor::Ids(range) => overlap(table.column("id"), &[*range]),
            Floor::Texts([from, to]) => {
                let [min, max] = Keys::of(table.column("s"));
                let (from, to) = (from.clone(), to.clone());
                let ends = [min.key(&to), max.key(&from)];
                Box::new(move || {
                    let mut out = texts([&min.keys, &max.keys], [&min.known, &max.known], ends);
                    // What the keys do not tell apart, the texts do.
                    for (word, at) in out.iter_mut().zip((0..).step_by(64)) {
                        let mut left = *word;
                        while left != 0 {
                            let bit = left.trailing_zeros() as usize;
                            left &= left - 1;
                            if min.is_tied(at + bit, ends[0], |text| text < to.as_str())
                                || max.is_tied(at + bit, ends[1], |text| text >= from.as_str())
                            {
                                *word &= !(1 << bit);
                            }
                        }
                    }
                    out
                })
            }
            Floor::IdList(values) => {
                let [min, max] = table.column("id").integers().map(|side| Numbers::of(&side));
                let values = values.clone();
                Box::new(move || listed(&min, &max, &values))
            }
            Floor::TenConjuncts => ten(table),
            Floor::PriceIsNull => {
                let counts = &table.column("price").null_count;
                let counts = Counts { values: padded(counts.values()), known: known(counts) };
                Box::new(move || is_not_zero(&counts.values, &counts.known))
            }
        }
    }
}

/// One side of bounds, as long as a whole number of words.
struct Numbers<T> {
    values: Vec<T>,
    known: Vec<u64>,
}

impl<T: ArrowNativeType> Numbers<T> {
    fn of<P: ArrowPrimitiveType<Native = T>>(array: &PrimitiveArray<P>) -> Self {
        Self { values: padded(array.values()), known: known(array) }
    }
}

struct Counts {
    values: Vec<u64>,
    known: Vec<u64>,
}

/// One side of bounds of texts, with the eight bytes after what all of them begin with.
struct Keys {
    texts: StringArray,
    prefix: usize,
    keys: Vec<u64>,
    known: Vec<u64>,
}

impl Keys {
    fn of(column: &TableColumn) -> [Self; 2] {
        [&column.min, &column.max].map(|side| {
            let texts = side.as_string::<i32>().clone();
            let mut valid = texts.iter().flatten();
            let first = valid.next().unwrap().as_bytes();
            let prefix = valid.fold(first.len(), |shared, text| {
                first[..shared].iter().zip(text.as_bytes()).take_while(|(a, b)| a == b).count()
            });
            let mut side = Self { known: known(&texts), texts, prefix, keys: Vec::new() };
            side.keys = padded(&side.texts.iter().map(|text| side.key(text.unwrap_or_default())).collect::<Vec<_>>());
            side
        })
    }

    /// The key of a text that begins as all do, or of none.
    fn key(&self, text: &str) -> u64 {
        let mut key = [0; 8];
        for (slot, byte) in key.iter_mut().zip(text.as_bytes().iter().skip(self.prefix)) {
            *slot = *byte;
        }
        u64::from_be_bytes(key)
    }

    /// Whether a known text has this key and yet does not pass.
    fn is_tied(&self, at: usize, key: u64, passes: impl Fn(&str) -> bool) -> bool {
        self.keys[at] == key && self.known[at / 64] >> (at % 64) & 1 == 1 && !passes(self.texts.value(at))
    }
}

fn padded<T: Copy + Default>(values: &[T]) -> Vec<T> {
    let mut padded = values.to_vec();
    padded.resize(values.len().next_multiple_of(64), T::default());
    padded
}

/// Where an array is valid; a bit per place.
fn known(array: &dyn Array) -> Vec<u64> {
    let all = || NullBuffer::new_valid(array.len());
    let nulls = array.nulls().cloned().unwrap_or_else(all);
    nulls.inner().bit_chunks().iter_padded().take(array.len().div_ceil(64)).collect()
}

fn overlap(column: &TableColumn, ranges: &[[i64; 2]]) -> Loop {
    let [min, max] = column.integers().map(|side| Numbers::of(&side));
    match *ranges {
        [range] => Box::new(move || one_range(&min, &max, range)),
        [a, b, c] => Box::new(move || three_ranges(&min, &max, [a, b, c])),
        _ => panic!("one range or three"),
    }
}

fn ten(table: &Table) -> Loop {
    let tenth = table.containers / 10;
    let longs = |name| table.column(name).integers().map(|side| Numbers::of(&side));
    let ints = |name| table.column(name).small_integers().map(|side| Numbers::of(&side));
    let floats = |name| {
        let column = table.column(name);
        [&column.min, &column.max].map(|side| Numbers::of(side.as_primitive::<Float64Type>()))
    };
    let keys = |name, end: &str| {
        let [min, _] = Keys::of(table.column(name));
        (min.key(end), Numbers { values: min.keys, known: min.known })
    };
    let [_, ts] = longs("ts");
    let [_, id] = longs("id");
    let (s_end, s) = keys("s", &text(tenth * 9 * STEP));
    let [price, _] = floats("price");
    let [d, _] = ints("d");
    let [_, id32] = ints("id32");
    let [qty, _] = ints("qty");
    let [_, f1] = floats("f1");
    let [i1, _] = longs("i1");
    let (cat_end, cat) = keys("cat", "cat-90");
    let columns = Ten { ts, id, s, price, d, id32, qty, f1, i1, cat };
    let ts_from = EPOCH + tenth as i64 * MINUTE;
    let id_from = (tenth * STEP) as i64;
    Box::new(move || ten_conjuncts(&columns, ts_from, id_from, s_end, cat_end))
}

/// The sides that the ten conjuncts read.
struct Ten {
    ts: Numbers<i64>,
    id: Numbers<i64>,
    s: Numbers<u64>,
    price: Numbers<f64>,
    d: Numbers<i32>,
    id32: Numbers<i32>,
    qty: Numbers<i32>,
    f1: Numbers<f64>,
    i1: Numbers<i64>,
    cat: Numbers<u64>,
}

macro_rules! packed {
    ($chunk:expr, $test:expr) => {{
        let mut word = 0_u64;
        for bit in 0..64 {
            word |= u64::from($test(&$chunk[bit])) << bit;
        }
        word
    }};
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
fn one_range(min: &Numbers<i64>, max: &Numbers<i64>, [from, to]: [i64; 2]) -> Vec<u64> {
    let values = min.values.as_chunks::<64>().0.iter().zip(max.values.as_chunks::<64>().0);
    let known = min.known.iter().zip(&max.known);
    values
        .zip(known)
        .map(|((min, max), (min_known, max_known))| {
            (packed!(min, |min: &i64| *min <= to) | !min_known) & (packed!(max, |max: &i64| *max >= from) | !max_known)
        })
        .collect()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
fn three_ranges(min: &Numbers<i64>, max: &Numbers<i64>, ranges: [[i64; 2]; 3]) -> Vec<u64> {
    let values = min.values.as_chunks::<64>().0.iter().zip(max.values.as_chunks::<64>().0);
    let known = min.known.iter().zip(&max.known);
    values
        .zip(known)
        .map(|((min, max), (min_known, max_known))| {
            let mut any = 0;
            for [from, to] in ranges {
                any |= (packed!(min, |min: &i64| *min <= to) | !min_known)
                    & (packed!(max, |max: &i64| *max >= from) | !max_known);
            }
            any
        })
        .collect()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
fn texts(keys: [&[u64]; 2], known: [&[u64]; 2], [to, from]: [u64; 2]) -> Vec<u64> {
    let values = keys[0].as_chunks::<64>().0.iter().zip(keys[1].as_chunks::<64>().0);
    values
        .zip(known[0].iter().zip(known[1]))
        .map(|((min, max), (min_known, max_known))| {
            (packed!(min, |min: &u64| *min <= to) | !min_known) & (packed!(max, |max: &u64| *max >= from) | !max_known)
        })
        .collect()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
fn ten_conjuncts(columns: &Ten, ts_from: i64, id_from: i64, s_end: u64, cat_end: u64) -> Vec<u64> {
    macro_rules! side {
        ($side:ident, $at:expr, $test:expr) => {
            packed!(columns.$side.values.as_chunks::<64>().0[$at], $test) | !columns.$side.known[$at]
        };
    }
    (0..columns.ts.known.len())
        .map(|at| {
            side!(ts, at, |max: &i64| *max >= ts_from)
                & side!(id, at, |max: &i64| *max >= id_from)
                & side!(s, at, |min: &u64| *min <= s_end)
                & side!(price, at, |min: &f64| *min < 9000.0)
                & side!(d, at, |min: &i32| *min < 19_900)
                & side!(id32, at, |max: &i32| *max >= 100_000)
                & side!(qty, at, |min: &i32| *min < 45)
                & side!(f1, at, |max: &f64| *max >= 50_000.0)
                & side!(i1, at, |min: &i64| *min < 6_300_000)
                & side!(cat, at, |min: &u64| *min < cat_end)
        })
        .collect()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
fn is_not_zero(counts: &[u64], known: &[u64]) -> Vec<u64> {
    let chunks = counts.as_chunks::<64>().0.iter().zip(known);
    chunks.map(|(counts, known)| packed!(counts, |count: &u64| *count != 0) | !known).collect()
}

/// A binary search per container.
fn listed(min: &Numbers<i64>, max: &Numbers<i64>, list: &[i64]) -> Vec<u64> {
    let values = min.values.as_chunks::<64>().0.iter().zip(max.values.as_chunks::<64>().0);
    values
        .zip(min.known.iter().zip(&max.known))
        .map(|((min, max), (min_known, max_known))| {
            let mut word = 0_u64;
            for bit in 0..64 {
                let first = list.partition_point(|value| *value < min[bit]);
                word |= u64::from(list.get(first).is_some_and(|value| *value <= max[bit])) << bit;
            }
            word | !min_known | !max_known
        })
        .collect()
}
