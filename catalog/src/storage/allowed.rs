//! Where tables and files may lie.

use std::collections::BTreeMap;
use std::sync::Arc;

use percent_encoding::percent_decode;
use unicode_normalization::UnicodeNormalization;

use crate::location::{Location, LocationError};
use crate::name::NamespaceName;

/// How often a path is decoded to see what a server may make of it that does so too often. What is encoded even then is refused.
const MAX_DECODINGS: usize = 8;

/// Where tables and files of each namespace may lie. By default anywhere, which is for a catalog whose users may read all that
/// its process may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedLocations {
    all: Allowed,
    namespaces: BTreeMap<String, Allowed>,
}

/// Where files may lie, of a table or of whoever asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// Wherever the process can read.
    #[default]
    Anything,
    /// Below one of these folders or prefixes.
    Below(Arc<[Location]>),
}

impl AllowedLocations {
    /// Anywhere.
    pub fn anything() -> Self {
        Self::default()
    }

    /// Only below these folders and prefixes, of which each stands for itself and all that its name is a whole part of the path
    /// of. Below none of them is nowhere.
    pub fn below(prefixes: impl IntoIterator<Item = Location>) -> Self {
        Self { all: Allowed::below(prefixes), namespaces: BTreeMap::new() }
    }

    /// The same, but for a namespace and those below it that have no list of their own: there these take the place of all others.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &NamespaceName, prefixes: impl IntoIterator<Item = Location>) -> Self {
        self.namespaces.insert(namespace.as_str().to_owned(), Allowed::below(prefixes));
        self
    }

    /// What holds for a namespace: its own list, or that of the nearest namespace above it that has one.
    pub(crate) fn of_namespace(&self, namespace: &str) -> &Allowed {
        if self.namespaces.is_empty() {
            return &self.all;
        }
        let mut ancestors =
            std::iter::successors(Some(namespace), |name| name.rsplit_once('.').map(|(above, _)| above));
        ancestors.find_map(|name| self.namespaces.get(name)).unwrap_or(&self.all)
    }

    /// Whether there is anything that is not allowed to somebody.
    pub(crate) fn has_bounds(&self) -> bool {
        std::iter::once(&self.all).chain(self.namespaces.values()).any(|allowed| *allowed != Allowed::Anything)
    }
}

impl Allowed {
    pub(crate) fn below(prefixes: impl IntoIterator<Item = Location>) -> Self {
        Self::Below(prefixes.into_iter().collect())
    }

    /// The folders and prefixes; `None` for anything.
    pub(super) fn roots(&self) -> Option<&Arc<[Location]>> {
        match self {
            Self::Anything => None,
            Self::Below(roots) => Some(roots),
        }
    }

    /// Refuses a file that does not lie below one of them.
    ///
    /// # Errors
    /// [`LocationError::NotAllowed`], [`LocationError::Disguised`].
    pub(crate) fn check_file(&self, file: &Location) -> Result<(), LocationError> {
        self.check(file, |below| !below.is_empty())
    }

    /// Refuses a folder that is neither one of them nor lies below one.
    ///
    /// # Errors
    /// As [`Allowed::check_file`].
    pub(crate) fn check_folder(&self, folder: &Location) -> Result<(), LocationError> {
        self.check(folder, |_| true)
    }

    fn check(&self, location: &Location, is_inside: impl Fn(&str) -> bool) -> Result<(), LocationError> {
        let Self::Below(roots) = self else { return Ok(()) };
        let mut below = roots.iter().filter_map(|root| location.at_or_below(root)).filter(|below| is_inside(below));
        match below.next() {
            None => Err(LocationError::NotAllowed),
            Some(below) if is_disguised(below) => Err(LocationError::Disguised),
            Some(_) => Ok(()),
        }
    }
}

/// Whether a path means another one to a server that decodes it more than once, normalises it, or takes other signs for slashes,
/// and might leave the prefix there. What Hive encodes in the values of partitions does not.
fn is_disguised(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.=+,:@~()!$&'".contains(&byte);
    if path.bytes().all(is_plain) {
        // Nor does it hold a part of dots alone: no location does.
        return false;
    }
    let mut bytes = path.as_bytes().to_vec();
    for _ in 0..MAX_DECODINGS {
        if is_misleading(&bytes) {
            return true;
        }
        let decoded: Vec<u8> = percent_decode(&bytes).collect();
        if decoded == bytes {
            return false;
        }
        bytes = decoded;
    }
    true
}

fn is_misleading(path: &[u8]) -> bool {
    // The first is where some servers take a name to end. The others are in no UTF-8, but in longer spellings of dots and slashes.
    if path.iter().any(|byte| matches!(byte, 0 | 0xC0 | 0xC1)) {
        return true;
    }
    let text: String = String::from_utf8_lossy(path).nfkc().collect();
    // Some servers leave out blanks at the end of a part, and what comes behind a semicolon.
    let mut parts = text.split(['/', '\\']).map(|part| part.split(';').next().unwrap_or_default().trim());
    parts.any(|part| part == "." || part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Location {
        Location::parse(text, None).unwrap()
    }

    fn below(prefixes: &[&str]) -> Allowed {
        Allowed::below(prefixes.iter().map(|text| at(text)))
    }

    #[test]
    fn a_file_lies_below_a_prefix_and_a_folder_may_be_it() {
        let allowed = below(&["s3://b/lake/", "/data/lake", "https://h/lake"]);
        for (text, file, folder) in [
            ("s3://b/lake/a", true, true),
            ("s3a://b/lake/x/a", true, true),
            ("s3://b/lake", false, true),
            ("s3://b/lake/", false, true),
            ("s3://b/lakes/a", false, false),
            ("s3://b/", false, false),
            ("s3://B/lake/a", false, false),
            ("gs://b/lake/a", false, false),
            ("/data/lake/a", true, true),
            ("file://localhost/data/./lake//a", true, true),
            ("/data/Lake/a", false, false),
            ("/data", false, false),
            ("HTTPS://H/lake/a", true, true),
            ("http://h/lake/a", false, false),
            ("https://h:443/lake/a", false, false),
            ("https://h./lake/a", false, false),
            ("https://h/Lake/a", false, false),
        ] {
            let found = (allowed.check_file(&at(text)).is_ok(), allowed.check_folder(&at(text)).is_ok());
            assert_eq!(found, (file, folder), "{text}");
        }
    }

    #[test]
    fn a_path_that_leads_up_once_it_is_decoded_is_refused() {
        let allowed = below(&["https://h/lake"]);
        for path in [
            "%2e%2e/a",
            "%2E%2E%2Fa",
            "x%2f..%2f..%2fa",
            "..%2fa",
            "%252e%252e%252fa",
            "%25252525252525252525252e%2e/a",
            "..\\a",
            "x\\..\\..\\a",
            "%5c..%5ca",
            "..;/a",
            "..;x=1/a",
            ".. /a",
            "x/%2e/a",
            "%c0%ae%c0%ae%c0%afa",
            "a%00.parquet",
            "\u{ff0e}\u{ff0e}/a",
            "\u{2025}/a",
            "..\u{ff0f}a",
            "%ef%bc%8e%ef%bc%8e/a",
        ] {
            let location = at(&format!("https://h/lake/{path}"));
            assert_eq!(allowed.check_file(&location), Err(LocationError::Disguised), "{path}");
        }
    }

    #[test]
    fn encoded_values_of_partitions_are_what_they_are() {
        let allowed = below(&["s3://b/lake"]);
        for path in
            ["url=http%3A%2F%2Fx%2Fy/a", "t=10%3A30/a b.parquet", "x=%41%zz/100%", "\u{e9}=1/a", "...", "a..b/..c"]
        {
            assert_eq!(allowed.check_file(&at(&format!("s3://b/lake/{path}"))), Ok(()), "{path}");
        }
    }

    #[test]
    fn the_nearest_list_holds_for_a_namespace() {
        let name = |text: &str| text.parse::<NamespaceName>().unwrap();
        let allowed = AllowedLocations::below([at("/all")])
            .in_namespace(&name("a"), [at("/a")])
            .in_namespace(&name("a.b.c"), [at("/c")])
            .in_namespace(&name("z"), []);
        for (namespace, expected) in
            [("x", "/all/f"), ("a", "/a/f"), ("a.b", "/a/f"), ("a.b.c", "/c/f"), ("a.b.c.d", "/c/f"), ("ab", "/all/f")]
        {
            for path in ["/all/f", "/a/f", "/c/f"] {
                let found = allowed.of_namespace(namespace).check_file(&at(path)).is_ok();
                assert_eq!(found, path == expected, "{namespace} {path}");
            }
        }
        assert!(allowed.of_namespace("z.y").check_folder(&at("/all")).is_err());
    }

    #[test]
    fn without_a_list_all_is_allowed() {
        let allowed = AllowedLocations::anything();
        assert!(allowed.of_namespace("a").check_file(&at("/x/%2e%2e/y")).is_ok());
        assert!(!allowed.has_bounds());
        assert!(allowed.in_namespace(&"a".parse().unwrap(), []).has_bounds());
    }
}
