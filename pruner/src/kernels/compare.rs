//! The loops over keys and counts, whose answers are bits.
//!
//! Each is compiled for several instruction sets, of which the best that the machine has is picked at run time.

use multiversion::multiversion;

use super::Item;
use super::alphabet::Alphabet;
use super::side::Scale;

/// How many words of 64 containers a block has.
pub(crate) const BLOCK_WORDS: usize = 16;

/// The keys of a block, so laid out that comparing a row of them with one value gives a bit of each of 64 short words: the key
/// of the block's container `16 * n + bit` stands in row `bit` at `n`.
pub(super) type Block = [[u16; 64]; 16];

/// The least and the greatest key of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extremes {
    least: u16,
    greatest: u16,
}

/// The keys that pass a test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) direction: Direction,
    /// The last key that may pass, or the first.
    pub(super) key: u16,
    /// Whether it takes a look at the value to know if a bound with this very key passes.
    pub(super) may_tie: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    UpTo,
    From,
}

/// What stands for the containers of a tile, or of one block, on one side of their bounds.
#[derive(Clone, Copy)]
pub(super) struct SideOf<'a, Blocks: ?Sized, Extremes: ?Sized> {
    pub(super) known: &'a [u64],
    pub(super) keys: &'a Blocks,
    pub(super) extremes: &'a Extremes,
}

/// Takes from `live` the containers whose bound is known and whose key does not pass. Those of which only the bound can tell
/// stay live, and come out in `tied`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn keep(live: &mut [u64], tied: &mut [u64], tile: SideOf<'_, [Block], [Extremes]>, cut: Cut) {
    let blocks = live.chunks_mut(BLOCK_WORDS).zip(tied.chunks_mut(BLOCK_WORDS));
    let facts = tile.known.chunks(BLOCK_WORDS).zip(tile.keys.iter().zip(tile.extremes));
    for ((live, tied), (known, (keys, extremes))) in blocks.zip(facts) {
        tied.fill(0);
        if live.iter().any(|word| *word != 0) {
            let block = SideOf { known, keys, extremes };
            match cut.direction {
                Direction::UpTo => keep_block(live, tied, block, cut, |key| key <= cut.key),
                Direction::From => keep_block(live, tied, block, cut, |key| key >= cut.key),
            }
        }
    }
}

#[expect(clippy::inline_always, reason = "outside of its caller it would be compiled without the instruction set")]
#[inline(always)]
fn keep_block(
    live: &mut [u64],
    tied: &mut [u64],
    block: SideOf<'_, Block, Extremes>,
    cut: Cut,
    passes: impl Fn(u16) -> bool,
) {
    let SideOf { known, keys, extremes: Extremes { least, greatest } } = block;
    match (passes(*least), passes(*greatest)) {
        (false, false) => live.iter_mut().zip(known).for_each(|(live, known)| *live &= !known),
        (true, true) if !cut.may_tie || (*least != cut.key && *greatest != cut.key) => {}
        _ => {
            for ((live, known), passing) in live.iter_mut().zip(known).zip(words(&bits(keys, passes))) {
                *live &= passing | !known;
            }
            let is_equal = |key: &u16| u16::from(*key == cut.key);
            if cut.may_tie && keys.as_flattened().iter().fold(0, |any, key| any | is_equal(key)) != 0 {
                let equal = bits(keys, |key| key == cut.key);
                for (tied, (equal, (live, known))) in tied.iter_mut().zip(words(&equal).zip(live.iter().zip(known))) {
                    *tied = equal & *live & known;
                }
            }
        }
    }
}

/// Takes from `live` the containers between whose keys no listed one lies; `next` has for each group of `1 << shift` keys the
/// least listed key of it or of those behind it.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn keep_listed(live: &mut [u64], [min, max]: [&[Block]; 2], next: &[u16], shift: u32) {
    for (live, (min, max)) in live.chunks_mut(BLOCK_WORDS).zip(min.iter().zip(max)) {
        if live.iter().all(|word| *word == 0) {
            continue;
        }
        let mut bits = [0; 64];
        for (bit, (min, max)) in min.iter().zip(max).enumerate() {
            for (word, (min, max)) in bits.iter_mut().zip(min.iter().zip(max)) {
                let may_hold = next.get(usize::from(*min) >> shift).is_none_or(|listed| listed <= max);
                *word |= u16::from(may_hold) << bit;
            }
        }
        for (live, may_hold) in live.iter_mut().zip(words(&bits)) {
            *live &= may_hold;
        }
    }
}

/// For each key of a block a bit, in the order of the containers.
#[expect(clippy::inline_always, reason = "outside of its caller it would be compiled without the instruction set")]
#[inline(always)]
fn bits(keys: &Block, test: impl Fn(u16) -> bool) -> [u16; 64] {
    let mut bits = [0_u16; 64];
    for (bit, row) in keys.iter().enumerate() {
        for (word, key) in bits.iter_mut().zip(row) {
            *word |= u16::from(test(*key)) << bit;
        }
    }
    bits
}

#[expect(clippy::inline_always, reason = "outside of its caller it would be compiled without the instruction set")]
#[inline(always)]
fn words(bits: &[u16; 64]) -> impl Iterator<Item = u64> {
    let (words, _) = bits.as_chunks::<4>();
    words.iter().map(|[a, b, c, d]| u64::from(*a) | u64::from(*b) << 16 | u64::from(*c) << 32 | u64::from(*d) << 48)
}

/// Lays out the keys of a block's containers. Those that are not known become one that is, so that they are no extremes.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn block(keys: &mut [u16; 64 * BLOCK_WORDS], known: &[u64]) -> Block {
    let first_known = known.iter().enumerate().find(|(_, word)| **word != 0);
    let first_known = first_known.map(|(at, word)| at * 64 + word.trailing_zeros() as usize);
    let any = first_known.and_then(|first| keys.get(first)).copied().unwrap_or_default();
    let (words, _) = keys.as_chunks_mut::<64>();
    for (keys, known) in words.iter_mut().zip(known.iter().chain(std::iter::repeat(&0))) {
        if *known != u64::MAX {
            for (bit, key) in keys.iter_mut().enumerate() {
                *key = if known >> bit & 1 == 1 { *key } else { any };
            }
        }
    }
    let mut block = [[0; 64]; 16];
    let (short_words, _) = keys.as_chunks::<16>();
    for (at, keys) in short_words.iter().enumerate() {
        for (row, key) in block.iter_mut().zip(keys) {
            if let Some(slot) = row.get_mut(at) {
                *slot = *key;
            }
        }
    }
    block
}

/// The least and the greatest of each block's keys.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn extremes(keys: &[Block]) -> Vec<Extremes> {
    let of_block = |keys: &Block| Extremes {
        least: keys.as_flattened().iter().fold(u16::MAX, |least, key| least.min(*key)),
        greatest: keys.as_flattened().iter().fold(0, |greatest, key| greatest.max(*key)),
    };
    keys.iter().map(of_block).collect()
}

/// The key of each value.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn write_keys<T: for<'a> Item<View<'a> = T> + Copy + 'static>(
    values: &[T],
    scale: &Scale,
    keys: &mut [u16],
) {
    let alphabet = Alphabet::default();
    for (key, value) in keys.iter_mut().zip(values) {
        *key = scale.place(T::key(*value, &alphabet));
    }
}

/// Which counts are zero, a bit for each.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2", "aarch64+neon"))]
pub(crate) fn zeros(counts: &[u64]) -> Vec<u64> {
    let (chunks, rest) = counts.as_chunks::<64>();
    let mut zeros: Vec<u64> = chunks.iter().map(|chunk| pack(chunk, |count| count == 0)).collect();
    if !rest.is_empty() {
        zeros.push(rest.iter().enumerate().fold(0, |word, (bit, count)| word | u64::from(*count == 0) << bit));
    }
    zeros
}

#[expect(clippy::inline_always, reason = "outside of its caller it would be compiled without the instruction set")]
#[inline(always)]
fn pack<T: Copy>(chunk: &[T; 64], test: impl Fn(T) -> bool) -> u64 {
    chunk.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(test(*value)) << bit)
}
