//! "Did you mean": the name that was probably meant by one that there is not.

/// How alike two names must be for one to be suggested for the other.
const MIN_SIMILARITY: f64 = 0.8;
/// Names of which neither is so long are alike only by more than that they differ in one letter.
const MIN_BYTES_FOR_A_SLIP: usize = 3;
/// The most names that are looked at; what it costs to be helpful stays small however many there are.
const MAX_NAMES: usize = 1_000;
/// The longest name that is compared, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// The name that is most like what was written, whatever its case; the first of those that are equally like it, and `None` if
/// none is like it enough. Only the first thousand names are looked at, and none that is very long.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if written.is_empty() || written.len() > MAX_NAME_BYTES {
        return None;
    }
    let written = written.to_lowercase();
    let mut best = None;
    for name in names.into_iter().take(MAX_NAMES).filter(|name| name.len() <= MAX_NAME_BYTES) {
        let similarity = similarity(&name.to_lowercase(), &written);
        if similarity >= MIN_SIMILARITY && best.is_none_or(|(best, _)| similarity > best) {
            best = Some((similarity, name));
        }
    }
    best.map(|(_, name)| name)
}

/// How alike two names are, from 0 to 1. In a short name one slip of the hand is a large part of it: where one letter was left out,
/// put in, replaced, or exchanged with its neighbour, they are alike enough.
fn similarity(name: &str, written: &str) -> f64 {
    let similarity = strsim::jaro_winkler(name, written);
    let is_short = name.len().max(written.len()) < MIN_BYTES_FOR_A_SLIP || written.len() < 2;
    if similarity >= MIN_SIMILARITY || is_short || name.len().abs_diff(written.len()) > char::MAX.len_utf8() {
        return similarity;
    }
    if strsim::osa_distance(name, written) <= 1 { MIN_SIMILARITY } else { similarity }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_if_it_is_near() {
        let names = ["path", "size_bytes", "row_count", "columns"];
        assert_eq!(nearest("row_cuont", names), Some("row_count"));
        assert_eq!(nearest("Size_Bytes", names), Some("size_bytes"));
        assert_eq!(nearest("column", names), Some("columns"));
        assert_eq!(nearest("filter", names), None);
        assert_eq!(nearest("", names), None);
    }

    #[test]
    fn one_slip_of_the_hand_is_seen_in_short_names() {
        for written in ["dya", "dy", "ay", "dax", "dayy", "DYA"] {
            assert_eq!(nearest(written, ["id", "day"]), Some("day"), "{written}");
        }
        assert_eq!(nearest("yad", ["day"]), None);
        assert_eq!(nearest("a", ["b"]), None);
        assert_eq!(nearest("xd", ["id"]), None);
    }

    #[test]
    fn of_names_that_are_as_near_the_first_is_suggested() {
        assert_eq!(nearest("AMOUNT", ["amount", "Amount"]), Some("amount"));
    }

    #[test]
    fn names_are_compared_up_to_the_limits() {
        let name = "n".repeat(MAX_NAME_BYTES);
        assert_eq!(nearest(&name, [name.as_str()]), Some(name.as_str()));
        let longer = format!("{name}n");
        assert_eq!(nearest(&longer, [name.as_str()]), None);
        assert_eq!(nearest(&name, [longer.as_str()]), None);
        let behind = |others: usize| nearest("wanted", std::iter::repeat_n("other", others).chain(["wanted"]));
        assert_eq!(behind(MAX_NAMES - 1), Some("wanted"));
        assert_eq!(behind(MAX_NAMES), None);
    }
}
