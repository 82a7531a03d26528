//! Where a file or a folder of files is: one spelling for each.

mod credentials;

use std::collections::BTreeSet;
use std::fmt;

use object_store::path::Path;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use unicode_normalization::UnicodeNormalization;
use url::Url;

pub use credentials::{HIDDEN, without_credentials};

/// What URLs encode in paths, and the sign that begins an encoded byte.
const PATH_ENCODED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`').add(b'{').add(b'}');

/// What Hive encodes in the values of partition folders, beyond that.
const HIVE_ENCODED: &AsciiSet = &PATH_ENCODED.add(b'\'').add(b'*').add(b':').add(b'[').add(b'\\').add(b']').add(b'^');

/// All but what RFC 3986 reserves for nothing, and the slash.
const STRICTLY_ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The longest location, in bytes.
pub const MAX_LOCATION_BYTES: usize = 4096;

/// A file, folder or prefix in an object store, in its one normal spelling: `file:///data/a.parquet`,
/// `s3://bucket/key`. What follows the authority is the key as the store has it: nothing in it is percent-encoded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    text: String,
    /// Where the key begins in `text`.
    key_at: usize,
}

/// A text that is no location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// Nothing.
    #[error("the path is empty")]
    Empty,
    /// Too long.
    #[error("the path is longer than {MAX_LOCATION_BYTES} bytes")]
    TooLong,
    /// A relative path where there is nothing that it is relative to.
    #[error("the path is relative, and the table has no location that it could be relative to")]
    Relative,
    /// A scheme that no object store answers to.
    #[error("the scheme `{0}` is none of file, s3, gs, az, abfss, http and https")]
    Scheme(String),
    /// No bucket, container or host.
    #[error("the path names no bucket or host")]
    NoAuthority,
    /// `..` in the path.
    #[error("the path holds `..`")]
    Upwards,
    /// A key that object stores cannot be asked for.
    #[error("the path cannot be a key of an object store: {0}")]
    Key(String),
    /// A control character.
    #[error("the path holds the control character {0:?}")]
    Character(char),
    /// A user, a password or a query, which may let in whoever reads it.
    #[error(
        "the path holds a user, a password or a query: what lets into an object store is set where the server runs, and is part of \
         no path"
    )]
    Credentials,
    /// It is none of the places where files may lie.
    #[error("the path lies outside of the locations that this server allows")]
    NotAllowed,
    /// A path that a server which decodes more than it should takes for another.
    #[error("the path holds `.`, `..` or what is no text once it is decoded")]
    Disguised,
}

impl Location {
    /// Reads a URL or an absolute path; a relative path is taken to lie below `base`.
    ///
    /// # Errors
    /// [`LocationError`] if the text is none, holds what would make two spellings of one file, or what lets into a store.
    pub fn parse(text: &str, base: Option<&Self>) -> Result<Self, LocationError> {
        if credentials::are_in(text, base) {
            return Err(LocationError::Credentials);
        }
        Self::parse_registered(text, base)
    }

    /// The same for what may be registered already: earlier versions took what holds credentials, and it must be found to be
    /// removed.
    ///
    /// # Errors
    /// [`LocationError`] if the text is none, or holds what would make two spellings of one file.
    pub(crate) fn parse_registered(text: &str, base: Option<&Self>) -> Result<Self, LocationError> {
        if text.is_empty() {
            return Err(LocationError::Empty);
        }
        if text.len() > MAX_LOCATION_BYTES {
            return Err(LocationError::TooLong);
        }
        if let Some(character) = text.chars().find(|character| character.is_control()) {
            return Err(LocationError::Character(character));
        }
        if let Some(absolute) = text.strip_prefix('/') {
            return Self::of_file(absolute);
        }
        match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => Self::of_url(&scheme.to_ascii_lowercase(), rest),
            _ => base.ok_or(LocationError::Relative)?.join(text),
        }
    }

    fn of_url(scheme: &str, rest: &str) -> Result<Self, LocationError> {
        if scheme == "file" {
            let path = rest.strip_prefix("//localhost/").or_else(|| rest.strip_prefix("///"));
            let path = path.or_else(|| rest.strip_prefix('/').filter(|path| !path.starts_with('/')));
            return Self::of_file(path.ok_or(LocationError::NoAuthority)?);
        }
        let scheme = match scheme {
            "s3" | "s3a" | "s3n" => "s3",
            "gs" | "gcs" => "gs",
            "az" | "azure" | "adl" => "az",
            "abfs" | "abfss" => "abfss",
            "http" | "https" => scheme,
            other => return Err(LocationError::Scheme(other.to_owned())),
        };
        let rest = rest.strip_prefix("//").ok_or(LocationError::NoAuthority)?;
        let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() {
            return Err(LocationError::NoAuthority);
        }
        if key.starts_with('/') {
            return Err(LocationError::Key("it begins with an empty part".to_owned()));
        }
        // Hosts have no case; buckets and containers do.
        let authority = if scheme.starts_with("http") { authority.to_ascii_lowercase() } else { authority.to_owned() };
        if scheme.starts_with("http") && key.contains(['?', '#']) {
            return Err(LocationError::Key("a query or fragment is no part of it".to_owned()));
        }
        Self::new(format!("{scheme}://{authority}/"), key)
    }

    /// A path of the file system: `.` and doubled slashes mean nothing in it, but that it ends with a folder if it ends with one.
    fn of_file(path: &str) -> Result<Self, LocationError> {
        let folder = matches!(path.rsplit('/').next(), None | Some("" | "."));
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let key = parts.join("/");
        Self::new("file:///".to_owned(), &if folder && !key.is_empty() { format!("{key}/") } else { key })
    }

    fn new(mut text: String, key: &str) -> Result<Self, LocationError> {
        if key.split('/').any(|part| part == "..") {
            return Err(LocationError::Upwards);
        }
        Path::parse(key).map_err(|error| LocationError::Key(error.to_string()))?;
        let key_at = text.len();
        text.push_str(key);
        Ok(Self { text, key_at })
    }

    /// The location of a relative path below this one.
    ///
    /// # Errors
    /// [`LocationError`] as [`Location::parse`].
    pub fn join(&self, relative: &str) -> Result<Self, LocationError> {
        let folder = self.key().trim_end_matches('/');
        let key = if folder.is_empty() { relative.to_owned() } else { format!("{folder}/{relative}") };
        if self.store() == "file:///" { Self::of_file(&key) } else { self.with_key(&key) }
    }

    /// Whether it is in the file system of this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.store() == "file:///"
    }

    /// The path in the file system, if it is there.
    pub fn file_path(&self) -> Option<std::path::PathBuf> {
        self.is_local().then(|| std::path::Path::new("/").join(self.key()))
    }

    /// The location of another key in the same store.
    pub(crate) fn with_key(&self, key: &str) -> Result<Self, LocationError> {
        Self::new(self.store().to_owned(), key)
    }

    /// The normal spelling.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it names a folder or prefix: it ends with a slash, or is a whole store.
    pub fn is_folder(&self) -> bool {
        self.key().is_empty() || self.key().ends_with('/')
    }

    /// The key or path behind the authority, without a slash in front.
    pub fn key(&self) -> &str {
        self.text.get(self.key_at..).unwrap_or_default()
    }

    /// The store that holds it: scheme and authority.
    pub(crate) fn store(&self) -> &str {
        self.text.get(..self.key_at).unwrap_or_default()
    }

    /// The URL of the store, and the key in it.
    pub(crate) fn to_store_and_path(&self) -> Result<(Url, Path), LocationError> {
        let bad_key = |error: &dyn fmt::Display| LocationError::Key(error.to_string());
        let url = Url::parse(self.store()).map_err(|error| bad_key(&error))?;
        let path = Path::parse(self.key()).map_err(|error| bad_key(&error))?;
        Ok((url, path))
    }

    /// What else the same object may have been registered as by a writer whose word was taken: with the key percent-encoded or
    /// decoded, in another Unicode normalization form, under Azure's other scheme. For where doubt must not do harm; to all
    /// else these are other files.
    pub(crate) fn other_spellings(&self) -> Vec<String> {
        let key = self.key();
        let decoded = percent_decode_str(key).decode_utf8().ok().map(std::borrow::Cow::into_owned);
        let keys = [
            Some(key.to_owned()),
            decoded,
            Some(utf8_percent_encode(key, PATH_ENCODED).to_string()),
            Some(utf8_percent_encode(key, HIVE_ENCODED).to_string()),
            Some(utf8_percent_encode(key, STRICTLY_ENCODED).to_string()),
            Some(key.nfc().collect()),
            Some(key.nfd().collect()),
        ];
        let container = self.store().strip_prefix("abfss://").and_then(|authority| authority.split_once('@'));
        let stores = [Some(self.store().to_owned()), container.map(|(container, _)| format!("az://{container}/"))];
        let keys: BTreeSet<String> = keys.into_iter().flatten().collect();
        let texts = stores.into_iter().flatten().flat_map(|store| keys.iter().map(move |key| format!("{store}{key}")));
        texts.filter(|text| *text != self.text).collect()
    }

    /// The path from a folder, however that is written, down to this location, which is empty for the folder itself; `None` if
    /// it lies elsewhere. Only whole parts of the path count.
    pub(crate) fn at_or_below(&self, folder: &Self) -> Option<&str> {
        if self.store() != folder.store() {
            return None;
        }
        let (key, folder) = (self.key(), folder.key().trim_end_matches('/'));
        if folder.is_empty() {
            return Some(key);
        }
        let rest = key.strip_prefix(folder)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }

    /// The path from a folder down to this location; `None` if it does not lie below it.
    pub fn below(&self, folder: &Self) -> Option<&str> {
        let rest = self.text.strip_prefix(folder.text.trim_end_matches('/'))?;
        rest.strip_prefix('/').filter(|rest| !rest.is_empty())
    }
}

fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character))
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_place_become_one() {
        for (text, expected) in [
            ("/data/a.parquet", "file:///data/a.parquet"),
            ("//data/./x//a.parquet", "file:///data/x/a.parquet"),
            ("file:///data/a.parquet", "file:///data/a.parquet"),
            ("file:/data/a.parquet", "file:///data/a.parquet"),
            ("FILE://localhost/data/a b%20.parquet", "file:///data/a b%20.parquet"),
            ("s3a://bucket/k/a=1/x.parquet", "s3://bucket/k/a=1/x.parquet"),
            ("s3://bucket", "s3://bucket/"),
            ("HTTPS://Host.example/A", "https://host.example/A"),
            ("abfs://box@account.example/a", "abfss://box@account.example/a"),
            ("gs://bucket/é", "gs://bucket/é"),
            ("/data/", "file:///data/"),
            ("/data/.", "file:///data/"),
            ("/data/./", "file:///data/"),
            ("/.", "file:///"),
        ] {
            assert_eq!(Location::parse(text, None).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn a_relative_path_lies_below_its_base() {
        let base = Location::parse("s3://bucket/table/", None).unwrap();
        let file = Location::parse("x/a.parquet", Some(&base)).unwrap();
        assert_eq!(file.as_str(), "s3://bucket/table/x/a.parquet");
        assert_eq!(file.below(&base), Some("x/a.parquet"));
        assert_eq!(Location::parse("s3://bucket/tables/a", None).unwrap().below(&base), None);
        assert_eq!(Location::parse("x", None), Err(LocationError::Relative));
    }

    #[test]
    fn a_folder_holds_what_lies_below_it_by_whole_parts() {
        for (text, folder, expected) in [
            ("s3://b/lake/x/y", "s3://b/lake", Some("x/y")),
            ("s3://b/lake/x", "s3://b/lake/", Some("x")),
            ("s3://b/lake", "s3://b/lake/", Some("")),
            ("s3://b/lake/", "s3://b/lake", Some("")),
            ("s3://b/lakes", "s3://b/lake", None),
            ("s3://b/Lake/x", "s3://b/lake", None),
            ("s3://bb/lake/x", "s3://b/lake", None),
            ("gs://b/lake/x", "s3://b/lake", None),
            ("s3://b/x", "s3://b", Some("x")),
            ("https://h:443/lake/x", "https://h/lake", None),
            ("https://H/lake/x", "https://h/lake", Some("x")),
            ("/x/y", "/", Some("x/y")),
            ("/x", "/x/y", None),
        ] {
            let at = |text| Location::parse(text, None).unwrap();
            assert_eq!(at(text).at_or_below(&at(folder)), expected, "{text} {folder}");
        }
    }

    #[test]
    fn an_object_may_be_registered_in_other_spellings() {
        for (text, other) in [
            ("/data/a b=c.parquet", "file:///data/a%20b=c.parquet"),
            ("/data/a b=c.parquet", "file:///data/a%20b%3Dc.parquet"),
            ("/data/t=1:2/a.parquet", "file:///data/t=1%3A2/a.parquet"),
            ("/data/100%.parquet", "file:///data/100%25.parquet"),
            ("/data/a%20b.parquet", "file:///data/a b.parquet"),
            ("s3://bucket/\u{e9}", "s3://bucket/e\u{301}"),
            ("s3://bucket/e\u{301}", "s3://bucket/\u{e9}"),
            ("s3://bucket/\u{e9}", "s3://bucket/%C3%A9"),
            ("abfss://box@account.example/a", "az://box/a"),
        ] {
            let spellings = Location::parse(text, None).unwrap().other_spellings();
            assert!(spellings.contains(&other.to_owned()), "{text} {spellings:?}");
        }
    }

    #[test]
    fn what_is_no_location_is_refused() {
        for (text, expected) in [
            ("", LocationError::Empty),
            ("/a/../b", LocationError::Upwards),
            ("s3://bucket/a/..", LocationError::Upwards),
            ("ftp://host/a", LocationError::Scheme("ftp".to_owned())),
            ("s3:///a", LocationError::NoAuthority),
            ("file://host/a", LocationError::NoAuthority),
            ("/a\nb", LocationError::Character('\n')),
        ] {
            assert_eq!(Location::parse(text, None), Err(expected), "{text}");
        }
        assert!(matches!(Location::parse("s3://bucket/a//b", None), Err(LocationError::Key(_))));
        assert!(matches!(Location::parse("s3://bucket//a", None), Err(LocationError::Key(_))));
        assert!(matches!(Location::parse("https://host/a?token", None), Err(LocationError::Key(_))));
        assert_eq!(Location::parse(&format!("/{}", "a".repeat(4096)), None), Err(LocationError::TooLong));
        assert!(Location::parse(&format!("/{}", "a".repeat(4095)), None).is_ok());
    }
}
