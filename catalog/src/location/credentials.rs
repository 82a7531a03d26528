//! What lets into a store and stands in a URL: a user and a password before its host, a query that is signed. It has no place in a
//! catalog, which shows locations to everyone who may read a table.

use std::borrow::Cow;

use super::{Location, is_scheme};

/// What stands for what is not shown.
pub const HIDDEN: &str = "***";

/// Whether a location, as it is written, holds a user, a password or a query. A relative one is one of `base`.
pub(super) fn are_in(text: &str, base: Option<&Location>) -> bool {
    match Parts::of(text) {
        Some(parts) => parts.has_user() || parts.has_query(),
        // The file system has no queries.
        None => base.is_some_and(|base| !base.is_local()) && !text.starts_with('/') && is_query(text),
    }
}

/// A location as it is written, without what [`Location::parse`] refuses for letting in whoever reads it.
pub fn without_credentials(text: &str) -> Cow<'_, str> {
    let Some(parts) = Parts::of(text) else {
        return match text.split_once('?') {
            Some((path, query)) if !text.starts_with('/') && query.contains('=') => format!("{path}?{HIDDEN}").into(),
            _ => text.into(),
        };
    };
    let query_at = parts.rest.find(['?', '#']).filter(|_| !parts.is_local());
    let hides_something = parts.has_user() || parts.has_query() || (parts.is_http() && query_at.is_some());
    if !hides_something {
        return text.into();
    }
    let (place, query) = parts.rest.split_at(query_at.unwrap_or(parts.rest.len()));
    let place = match (parts.has_user(), place.rsplit_once('@')) {
        (false, _) => place.to_owned(),
        (true, Some((_, place))) if !query.contains('@') => format!("{HIDDEN}@{place}"),
        // Where the host begins cannot be told.
        (true, _) => HIDDEN.to_owned(),
    };
    let query = if query.is_empty() { String::new() } else { format!("?{HIDDEN}") };
    match parts.kind {
        Kind::Unknown => format!("{place}{query}").into(),
        _ => format!("{}://{place}{query}", parts.scheme).into(),
    }
}

/// A URL, whether or not it is one of an object store.
struct Parts<'t> {
    scheme: &'t str,
    kind: Kind,
    /// Host and path.
    rest: &'t str,
    /// What stands where the host does.
    authority: &'t str,
}

#[derive(PartialEq)]
enum Kind {
    Local,
    Http,
    /// A container may stand before the host of its account.
    Container,
    /// A bucket alone is the host.
    Bucket,
    Unknown,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let (scheme, rest) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme))?;
        let kinds: [(&[&str], Kind); 4] = [
            (&["file"], Kind::Local),
            (&["http", "https"], Kind::Http),
            (&["abfs", "abfss"], Kind::Container),
            (&["s3", "s3a", "s3n", "gs", "gcs", "az", "azure", "adl"], Kind::Bucket),
        ];
        let is_one = |schemes: &[&str]| schemes.iter().any(|one| one.eq_ignore_ascii_case(scheme));
        let kind = kinds.into_iter().find(|(schemes, _)| is_one(schemes)).map_or(Kind::Unknown, |(_, kind)| kind);
        let (written, rest) = (rest, rest.trim_start_matches(['/', '\\']));
        // Behind a third slash the path of a file begins, in which anything may stand.
        let has_authority = kind != Kind::Local || written.len() - rest.len() == 2;
        let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
        let authority = rest.get(..end).filter(|_| has_authority).unwrap_or_default();
        Some(Self { scheme, kind, rest, authority })
    }

    fn is_local(&self) -> bool {
        self.kind == Kind::Local
    }

    fn is_http(&self) -> bool {
        self.kind == Kind::Http
    }

    /// Whether something stands before the host, or where its port should be: a secret with a slash in it ends there.
    fn has_user(&self) -> bool {
        match self.kind {
            Kind::Local => self.authority.contains('@'),
            Kind::Http => self.authority.contains('@') || !has_port_at_most(self.authority),
            Kind::Container => match self.authority.split_once('@') {
                Some((container, account)) => container.contains(':') || account.contains('@'),
                None => self.authority.contains(':'),
            },
            Kind::Bucket => self.authority.contains(['@', ':']),
            Kind::Unknown => self.rest.contains('@'),
        }
    }

    fn has_query(&self) -> bool {
        !self.is_local() && is_query(self.rest)
    }
}

fn is_query(path: &str) -> bool {
    path.split_once('?').is_some_and(|(_, query)| query.contains('='))
}

/// Whether nothing but a number stands behind the colon of a host.
fn has_port_at_most(authority: &str) -> bool {
    let behind_address = authority.rsplit_once(']').map_or(authority, |(_, port)| port);
    behind_address.split_once(':').is_none_or(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::LocationError;
    use super::*;

    /// Texts with a secret in them, and what is shown of each.
    const SECRETS: [(&str, &str); 21] = [
        ("https://user:SECRET@host/a.parquet", "https://***@host/a.parquet"),
        ("https://SECRET@host/a.parquet", "https://***@host/a.parquet"),
        ("HTTPS://user:SECRET@host/a@b", "HTTPS://***@b"),
        ("https://user:SEC/RET@host/a", "https://***@host/a"),
        ("https://user:SEC?RET@host/a", "https://***?***"),
        ("https://user:SECRET", "https://***"),
        ("https:/user:SECRET@host/a", "https://***@host/a"),
        ("https:\\\\user:SECRET@host/a", "https://***@host/a"),
        ("https://host/a.parquet?sig=SECRET", "https://host/a.parquet?***"),
        ("https://host/a.parquet?SECRET", "https://host/a.parquet?***"),
        ("https://host/a.parquet#SECRET", "https://host/a.parquet?***"),
        ("s3://key:SECRET@bucket/a", "s3://***@bucket/a"),
        ("s3://key:SEC/RET@bucket/a", "s3://***@bucket/a"),
        ("s3://bucket/a?X-Amz-Signature=SECRET", "s3://bucket/a?***"),
        ("gs://SECRET@bucket/a", "gs://***@bucket/a"),
        ("az://box/a?sv=1&sig=SECRET", "az://box/a?***"),
        ("abfss://box:SECRET@account.example/a", "abfss://***@account.example/a"),
        ("abfss://box@account.example/a?sig=SECRET", "abfss://box@account.example/a?***"),
        ("abfss://SECRET@box@account.example/a", "abfss://***@account.example/a"),
        ("file://user:SECRET@host/a", "file://***@host/a"),
        ("AKIA:SECRET@bucket/a", "***@bucket/a"),
    ];

    #[test]
    fn what_holds_credentials_is_refused_and_not_shown() {
        for (text, shown) in SECRETS {
            let error = Location::parse(text, None).unwrap_err();
            assert!(matches!(error, LocationError::Credentials | LocationError::Key(_)), "{text} {error:?}");
            assert!(!error.to_string().contains("SEC"), "{text} {error}");
            assert_eq!(without_credentials(text), shown, "{text}");
        }
    }

    #[test]
    fn what_holds_none_is_taken_and_shown_as_it_is() {
        for text in [
            "/data/a?b=c@d.parquet",
            "file:///data/a?b=c@d.parquet",
            "file:///@home/a.parquet",
            "file:/@home/a.parquet",
            "s3://bucket/a@b/c?.parquet",
            "abfss://box@account.example/a@b.parquet",
            "https://host:8080/a@b.parquet",
            "https://[::1]:8080/a.parquet",
            "az://box/a=1/b.parquet",
        ] {
            assert!(Location::parse(text, None).is_ok(), "{text}");
            assert_eq!(without_credentials(text), text);
        }
    }

    #[test]
    fn a_relative_path_has_no_query_but_in_the_file_system() {
        let at = |text| Location::parse(text, None).unwrap();
        let (https, local) = (at("https://host/t/"), at("/t/"));
        assert_eq!(Location::parse("a?sig=SECRET", Some(&https)), Err(LocationError::Credentials));
        assert_eq!(without_credentials("a?sig=SECRET"), "a?***");
        assert!(Location::parse("a?b=c", Some(&local)).is_ok());
    }

    #[test]
    fn what_was_registered_with_credentials_can_still_be_named() {
        let text = "https://user:secret@host/a.parquet";
        assert_eq!(Location::parse_registered(text, None).unwrap().as_str(), text);
    }
}
