//! Query strings.

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use prunus_catalog::Fault;
use serde::de::DeserializeOwned;

use super::form;
use super::form_error::FormPart;
use super::form_tree::Node;
use crate::problem::Problem;
use crate::unread;

/// A query string.
pub(crate) struct QueryOf<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        unread::note_query_is_read(parts);
        parse(&parts.uri).map(Self).map_err(Problem::MalformedQuery)
    }
}

fn parse<T: DeserializeOwned>(uri: &Uri) -> Result<T, Vec<Fault>> {
    let pairs: Query<Vec<(String, String)>> =
        Query::try_from_uri(uri).map_err(|rejection| vec![Fault::new(rejection.body_text())])?;
    let parameters = pairs.0.into_iter().map(|(name, value)| (name, Node::Parameter(value)));
    form::read(Node::Object(parameters.collect()), FormPart::Parameter)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        from: i64,
        page_size: Option<u32>,
        path: Option<String>,
        dry: Option<bool>,
    }

    fn faults(query: &str) -> Vec<(String, String)> {
        let faults = parse::<Asked>(&format!("/?{query}").parse().unwrap()).unwrap_err();
        faults.into_iter().map(|fault| (fault.at.unwrap_or_default(), fault.message)).collect()
    }

    #[test]
    fn parameters_are_read_as_what_they_stand_for() {
        let asked = parse::<Asked>(&"/?from=-1&path=a%2Bb&page_size=5&dry=true".parse().unwrap());
        let expected = Asked { from: -1, page_size: Some(5), path: Some("a+b".to_owned()), dry: Some(true) };
        assert_eq!(asked, Ok(expected));
    }

    #[test]
    fn every_fault_of_a_query_string_is_found() {
        let pair = |at: &str, message: &str| (at.to_owned(), message.to_owned());
        assert_eq!(
            faults("page_sise=5&page_size=-1&path=a&path=b&dry=yes&x"),
            [
                pair(
                    "page_sise",
                    "unknown parameter `page_sise`, expected one of `from`, `page_size`, `path`, `dry`; did you mean `page_size`?"
                ),
                pair("page_size", "`-1` is not a whole number from 0 to 4294967295"),
                pair("path", "the parameter `path` stands twice"),
                pair("dry", "`yes` is not true or false"),
                pair("x", "unknown parameter `x`, expected one of `from`, `page_size`, `path`, `dry`"),
                pair("from", "missing parameter `from`"),
            ]
        );
    }
}
