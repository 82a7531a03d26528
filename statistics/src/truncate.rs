//! Long bounds cut short, without losing that they are bounds.

use crate::{Bound, ColumnStatistics, Precision, PrimitiveType, Value};

/// A lower bound of `bytes` of at most `limit` bytes: a prefix. For strings it ends where a character ends, and stops before
/// bytes that are not UTF-8.
pub fn cut_lower(bytes: &[u8], column_type: PrimitiveType, limit: usize) -> Vec<u8> {
    prefix(bytes, column_type, limit).to_vec()
}

/// An upper bound of `bytes` of at most `limit` bytes: the bytes themselves, or a prefix whose last byte (for strings: last
/// character) that can grow has grown. `None` if none can.
pub fn cut_upper(bytes: &[u8], column_type: PrimitiveType, limit: usize) -> Option<Vec<u8>> {
    let prefix = prefix(bytes, column_type, limit);
    if prefix.len() == bytes.len() {
        return Some(bytes.to_vec());
    }
    match column_type {
        PrimitiveType::String => next_string(std::str::from_utf8(prefix).ok()?, limit).map(String::into_bytes),
        _ => next_bytes(prefix),
    }
}

/// Cuts both bounds of a string or binary column to `limit` bytes. A bound that was cut is no longer exact; an upper bound
/// that cannot be rounded up is unknown.
pub fn cut_to_limit(statistics: &mut ColumnStatistics, column_type: PrimitiveType, limit: usize) {
    if !matches!(column_type, PrimitiveType::String | PrimitiveType::Binary) {
        return;
    }
    cut(&mut statistics.min, |bytes| Some(cut_lower(bytes, column_type, limit)));
    cut(&mut statistics.max, |bytes| cut_upper(bytes, column_type, limit));
}

fn cut(side: &mut Option<Bound>, shorten: impl Fn(&[u8]) -> Option<Vec<u8>>) {
    let Some(Bound { value: Value::Bytes(bytes), precision, .. }) = side else { return };
    match shorten(bytes) {
        None => *side = None,
        Some(short) if short != *bytes => {
            *bytes = short;
            if *precision == Precision::Exact {
                *precision = Precision::Bound;
            }
        }
        Some(_) => {}
    }
}

fn prefix(bytes: &[u8], column_type: PrimitiveType, limit: usize) -> &[u8] {
    let cut = bytes.get(..limit).unwrap_or(bytes);
    if column_type != PrimitiveType::String {
        return cut;
    }
    match std::str::from_utf8(cut) {
        Ok(_) => cut,
        Err(error) => cut.get(..error.valid_up_to()).unwrap_or_default(),
    }
}

/// The least string of the shortest prefix that lies above everything that starts with `text`, in the order of bytes.
fn next_string(text: &str, limit: usize) -> Option<String> {
    text.char_indices().rev().find_map(|(at, last)| {
        // The step over the surrogates, which are no characters, goes to the first one after them.
        let next = if last == '\u{d7ff}' { '\u{e000}' } else { char::from_u32(u32::from(last) + 1)? };
        let kept = text.get(..at).filter(|kept| kept.len() + next.len_utf8() <= limit)?;
        Some(format!("{kept}{next}"))
    })
}

fn next_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
    let at = bytes.iter().rposition(|byte| *byte < u8::MAX)?;
    let (last, kept) = bytes.get(..=at)?.split_last()?;
    Some([kept, &[last + 1]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upper(text: &str, limit: usize) -> Option<String> {
        cut_upper(text.as_bytes(), PrimitiveType::String, limit).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_short_bound_stays() {
        assert_eq!(upper("abc", 3).as_deref(), Some("abc"));
        assert_eq!(cut_lower(b"abc", PrimitiveType::Binary, 3), b"abc");
    }

    #[test]
    fn a_lower_bound_ends_where_a_character_ends() {
        assert_eq!(cut_lower("aé".as_bytes(), PrimitiveType::String, 2), b"a");
        assert_eq!(cut_lower("aé".as_bytes(), PrimitiveType::Binary, 2), &"aé".as_bytes()[..2]);
    }

    #[test]
    fn an_upper_bound_is_rounded_up() {
        assert_eq!(upper("abcd", 3).as_deref(), Some("abd"));
        assert_eq!(upper("ab\u{10ffff}x", 6).as_deref(), Some("ac"));
        assert_eq!(upper("a\u{d7ff}x", 4).as_deref(), Some("a\u{e000}"));
        assert_eq!(upper("\u{10ffff}\u{10ffff}", 4), None);
        assert_eq!(cut_upper(&[1, 255, 255, 9], PrimitiveType::Binary, 3), Some(vec![2]));
        assert_eq!(cut_upper(&[255, 255], PrimitiveType::Binary, 1), None);
    }

    #[test]
    fn rounding_up_never_grows_past_the_limit() {
        // U+007F is one byte, its successor two.
        assert_eq!(upper("a\u{7f}x", 2).as_deref(), Some("b"));
    }

    #[test]
    fn a_long_bound_that_cannot_grow_takes_no_time() {
        let highest = ["\u{10ffff}".repeat(4_000_000).as_bytes(), &[0xff]].concat();
        assert_eq!(cut_upper(&highest, PrimitiveType::String, usize::MAX), None);
    }

    #[test]
    fn bounds_that_are_not_utf8_are_cut_to_what_is() {
        assert_eq!(cut_lower(&[b'a', 0xff, b'b'], PrimitiveType::String, 9), b"a");
        assert_eq!(cut_upper(&[b'a', 0xff, b'b'], PrimitiveType::String, 9), Some(b"b".to_vec()));
        assert_eq!(cut_upper(&[0xff], PrimitiveType::String, 9), None);
    }

    #[test]
    fn a_cut_bound_is_no_longer_exact() {
        let bound = |bytes: &[u8]| {
            Some(Bound {
                value: Value::Bytes(bytes.to_vec()),
                precision: Precision::Exact,
                provenance: crate::Provenance::Scanned,
            })
        };
        let mut statistics = ColumnStatistics { min: bound(b"abcd"), max: bound(b"z"), ..Default::default() };
        cut_to_limit(&mut statistics, PrimitiveType::String, 2);
        assert_eq!(statistics.min.unwrap().precision, Precision::Bound);
        assert_eq!(statistics.max.unwrap().precision, Precision::Exact);
    }
}
