//! The loops over bounds: 64 comparisons become the bits of one word.
//!
//! Each is compiled for several instruction sets, of which the best that the machine has is picked at run time.

use multiversion::multiversion;

use super::Relation;

/// Takes from `live` the containers whose value is known and does not stand in `relation` to `end`. A bit of `live` and of
/// `known` and a value stand for a container each.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn keep<T: Copy + PartialOrd>(live: &mut [u64], known: &[u64], values: &[T], relation: Relation, end: T) {
    match relation {
        Relation::Lt => keep_where(live, known, values, end, |value| value < end),
        Relation::LtEq => keep_where(live, known, values, end, |value| value <= end),
        Relation::Gt => keep_where(live, known, values, end, |value| value > end),
        Relation::GtEq => keep_where(live, known, values, end, |value| value >= end),
    }
}

/// The same for values of which only leading keys are at hand: a key equal to that of the end does not decide. Such
/// containers stay live; those of them whose value is known come out in `tied`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn keep_by_key(
    live: &mut [u64],
    known_and_keys: [&[u64]; 2],
    relation: Relation,
    end: u64,
    tied: &mut [u64],
) {
    let [known, keys] = known_and_keys;
    match relation {
        Relation::Lt | Relation::LtEq => keep_where(live, known, keys, end, |key| key <= end),
        Relation::Gt | Relation::GtEq => keep_where(live, known, keys, end, |key| key >= end),
    }
    for (tied, (live, known)) in tied.iter_mut().zip(live.iter().zip(known)) {
        *tied = *live & *known;
    }
    keep_where(tied, known, keys, end, |key| key == end);
}

/// Which counts are zero, a bit for each.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
pub(crate) fn zeros(counts: &[u64]) -> Vec<u64> {
    let (chunks, rest) = counts.as_chunks::<64>();
    let mut words: Vec<u64> = chunks.iter().map(|chunk| pack(chunk, |count| count == 0)).collect();
    if !rest.is_empty() {
        words.push(rest.iter().enumerate().fold(0, |word, (bit, count)| word | u64::from(*count == 0) << bit));
    }
    words
}

#[expect(clippy::inline_always, reason = "outside of its caller it would be compiled without the instruction set")]
#[inline(always)]
fn keep_where<T: Copy>(live: &mut [u64], known: &[u64], values: &[T], any: T, test: impl Fn(T) -> bool) {
    let (chunks, rest) = values.as_chunks::<64>();
    let mut words = live.iter_mut().zip(known);
    for (chunk, (live, known)) in chunks.iter().zip(&mut words) {
        if *live != 0 {
            *live &= pack(chunk, &test) | !known;
        }
    }
    if let Some((live, known)) = words.next() {
        let mut chunk = [any; 64];
        for (slot, value) in chunk.iter_mut().zip(rest) {
            *slot = *value;
        }
        *live &= pack(&chunk, &test) | !known;
    }
}

#[expect(clippy::inline_always, reason = "outside of its caller it would be compiled without the instruction set")]
#[inline(always)]
fn pack<T: Copy>(chunk: &[T; 64], test: impl Fn(T) -> bool) -> u64 {
    chunk.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(test(*value)) << bit)
}
