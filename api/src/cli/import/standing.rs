//! Which candidates are new to a table, which are registered already, and which changed since they were.

use std::collections::HashMap;

use serde::Serialize;

use super::listing::Candidate;

/// What tells one content of a path from another; what is `None` is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Content {
    pub(super) size_bytes: Option<u64>,
    pub(super) etag: Option<String>,
}

/// A registered file that is not the same any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Changed {
    pub(super) path: String,
    pub(super) registered: Content,
    pub(super) found: Content,
}

/// The candidates by what is to be done about them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sorted {
    /// They are to be registered.
    pub(super) new: Vec<Candidate>,
    /// How many are registered already, as they are.
    pub(super) skipped: usize,
    /// They are registered with other content. Nothing is done about them.
    pub(super) changed: Vec<Changed>,
}

/// Holds candidates against the live files of the table, by path.
pub(super) fn sort(candidates: Vec<Candidate>, live: &HashMap<String, Content>) -> Sorted {
    let mut sorted = Sorted::default();
    for candidate in candidates {
        let Some(registered) = live.get(&candidate.path) else {
            sorted.new.push(candidate);
            continue;
        };
        let found = Content { size_bytes: candidate.size_bytes, etag: candidate.etag };
        if differs(registered.size_bytes, found.size_bytes) || differs(registered.etag.as_ref(), found.etag.as_ref()) {
            sorted.changed.push(Changed { path: candidate.path, registered: registered.clone(), found });
        } else {
            sorted.skipped += 1;
        }
    }
    sorted
}

/// Whether two contents are known to differ.
fn differs<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(size_bytes: Option<u64>, etag: Option<&str>) -> Content {
        Content { size_bytes, etag: etag.map(str::to_owned) }
    }

    fn check(registered: Option<Content>, found: &Content) -> &'static str {
        let candidate = Candidate { path: "a".to_owned(), size_bytes: found.size_bytes, etag: found.etag.clone() };
        let live = registered.map(|content| ("a".to_owned(), content)).into_iter().collect();
        match sort(vec![candidate], &live) {
            Sorted { new, skipped: 0, changed } if new.len() == 1 && changed.is_empty() => "new",
            Sorted { new, skipped: 1, changed } if new.is_empty() && changed.is_empty() => "skipped",
            Sorted { new, skipped: 0, changed } if new.is_empty() && changed.len() == 1 => "changed",
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_path_that_is_not_live_is_new() {
        assert_eq!(check(None, &content(Some(1), Some("x"))), "new");
    }

    #[test]
    fn a_live_path_is_skipped_unless_it_is_known_to_differ() {
        let registered = content(Some(1), Some("x"));
        for (found, expected) in [
            (content(Some(1), Some("x")), "skipped"),
            (content(Some(1), None), "skipped"),
            (content(None, None), "skipped"),
            (content(Some(2), Some("x")), "changed"),
            (content(Some(1), Some("y")), "changed"),
            (content(Some(2), None), "changed"),
        ] {
            assert_eq!(check(Some(registered.clone()), &found), expected, "{found:?}");
        }
        assert_eq!(check(Some(content(Some(1), None)), &content(Some(1), Some("x"))), "skipped");
    }
}
