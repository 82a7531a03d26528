//! Bodies: JSON, up to limits of size and depth.

use std::fmt::Write as _;

use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use prunus_catalog::Fault;
use serde::de::DeserializeOwned;

use super::arrival::BodyTurn;
use super::form;
use super::form_error::FormPart;
use super::form_tree::Node;
use crate::problem::Problem;

/// How deep objects and arrays of a body may be nested: the parser, and all that walks the body after it, recurses as deep.
pub(crate) const MAX_BODY_DEPTH: usize = 127;

/// The largest body of which every fault of form is looked for; of a larger one the first is told. What is kept of it for that
/// takes several times as much memory as its text.
const MAX_TREE_BYTES: usize = 32 << 20;

/// The largest body that is parsed where it has arrived. A larger one takes milliseconds, in which its thread does nothing for others.
const MAX_PARSED_AT_ONCE_BYTES: usize = 256 << 10;

/// A JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send + 'static> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        check_content_type(request.headers())?;
        if request.body().is_end_stream() {
            return parse_json(b"").map(Self);
        }
        let (turn, (parts, body)) = (BodyTurn::of(request.extensions()), request.into_parts());
        let bytes = turn.arrive(&parts.headers, body).await?;
        if bytes.len() <= MAX_PARSED_AT_ONCE_BYTES {
            return parse_json(&bytes).map(Self);
        }
        turn.rules().run_in_turn(move || parse_json(&bytes)).await?.map(Self)
    }
}

/// The body of a request, within the limits that stand for it, as it is without its encoding. What is read so may be put back as
/// the body of the request, and read again.
pub(crate) async fn body_bytes(request: Request) -> Result<Bytes, Problem> {
    if request.body().is_end_stream() {
        return Ok(Bytes::new());
    }
    let (turn, (parts, body)) = (BodyTurn::of(request.extensions()), request.into_parts());
    turn.arrive(&parts.headers, body).await
}

fn check_content_type(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else {
        return Err(Problem::UnsupportedMediaType("and the request has no Content-Type".to_owned()));
    };
    let text = String::from_utf8_lossy(content_type.as_bytes());
    let name = text.split(';').next().unwrap_or_default().trim();
    if name.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(Problem::UnsupportedMediaType(format!("not `{name}`")))
    }
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // An array would be read as the fields in their order, which no contract names.
    if !bytes.trim_ascii_start().starts_with(b"{") && !bytes.trim_ascii().is_empty() {
        return Err(malformed("a JSON object is expected"));
    }
    if let Some(place) = too_deep(bytes) {
        return Err(malformed(format!(
            "objects and arrays are nested more than {MAX_BODY_DEPTH} deep at {place}; a filter of many conditions can be SQL \
             text, or its `and` and `or` trees of even depth"
        )));
    }
    serde_json::from_slice(bytes).or_else(|error| read_as_tree(bytes, &error).map_err(Problem::MalformedBody))
}

fn malformed(message: impl Into<String>) -> Problem {
    Problem::MalformedBody(vec![Fault::new(message)])
}

/// A body that did not read at once: every fault of it, the first of which is known and alone has line and column. Or what it
/// holds, where it was only that whole numbers are written as floats.
fn read_as_tree<T: DeserializeOwned>(bytes: &[u8], first: &serde_json::Error) -> Result<T, Vec<Fault>> {
    let of_text = |error: &serde_json::Error| vec![Fault::new(error.to_string())];
    if bytes.len() > MAX_TREE_BYTES {
        return Err(of_text(first));
    }
    let tree: Node = serde_json::from_slice(bytes).map_err(|error| {
        // Behind what does not fit there is what is no JSON.
        if first.is_data() { [of_text(first), of_text(&error)].concat() } else { of_text(&error) }
    })?;
    form::read::<T>(tree, FormPart::Field).map_err(|mut faults| {
        if let Some(fault) = faults.first_mut() {
            let _ = write!(fault.message, " (line {} column {})", first.line(), first.column());
        }
        faults
    })
}

/// Where the text gets nested too deeply, by line and column.
fn too_deep(bytes: &[u8]) -> Option<String> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BODY_DEPTH {
            let before = bytes.get(..index).unwrap_or_default();
            let line = before.split(|byte| *byte == b'\n').count();
            let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
            return Some(format!("line {line} column {column}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{CommitJson, PlanJson};

    /// The place and message of every fault.
    fn faults(text: &str) -> Vec<(String, String)> {
        match parse_json::<CommitJson>(text.as_bytes()) {
            Err(Problem::MalformedBody(faults)) => {
                faults.into_iter().map(|fault| (fault.at.unwrap_or_default(), fault.message)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn malformed_json_is_named_by_path_line_and_column() {
        let check = |text: &str, at: &str, message: &str| {
            assert_eq!(faults(text), [(at.to_owned(), message.to_owned())], "{text}");
        };
        check("{", "", "EOF while parsing an object at line 1 column 1");
        check("{}", "operation", "missing field `operation` (line 1 column 2)");
        check("{\"operation\": \"append\"} x", "", "trailing characters at line 1 column 25");
        check(
            "{\"operation\": \"append\",\n \"add\": [{\"path\": \"a\"}, {\"path\": \"b\", \"size_bytes\": -1}]}",
            "add[1].size_bytes",
            "expected a whole number from 0 to 18446744073709551615, found -1 (line 2 column 54)",
        );
    }

    #[test]
    fn the_first_of_many_faults_has_line_and_column() {
        let found = faults("{\"operation\": 1,\n \"remove\": [2]}");
        assert_eq!(found[0].1, "expected a string, found 1 (line 1 column 15)");
        assert_eq!(found[1], ("remove[0]".to_owned(), "expected a string, found 2".to_owned()));
    }

    #[test]
    fn what_is_no_json_is_told_behind_what_does_not_fit() {
        let found = faults("{\"operatio\": \"append\", \"add\": [}");
        assert!(found[0].1.starts_with("unknown field `operatio`"), "{found:?}");
        assert_eq!(found[1].1, "expected value at line 1 column 32");
    }

    #[test]
    fn every_fault_is_looked_for_up_to_the_limit() {
        let found = |bytes: usize| {
            let text = "{\"a\": 1, \"b\": 2, \"operation\": \"append\"}";
            faults(&format!("{text}{}", " ".repeat(bytes - text.len()))).len()
        };
        assert_eq!(found(MAX_TREE_BYTES), 2);
        assert_eq!(found(MAX_TREE_BYTES + 1), 1);
    }

    #[test]
    fn a_body_that_is_nested_too_deeply_says_where() {
        // The body itself is the first level, and each `not` one more.
        let nested = |depth: usize| {
            let (open, close) = ("{\"type\": \"not\", \"child\":\n".repeat(depth - 1), "}".repeat(depth - 1));
            format!("{{\"filter\": {open}\"}}]\\\"{{[\"{close}}}")
        };
        assert!(parse_json::<PlanJson>(nested(MAX_BODY_DEPTH).as_bytes()).is_ok());
        match parse_json::<PlanJson>(nested(MAX_BODY_DEPTH + 1).as_bytes()) {
            Err(Problem::MalformedBody(faults)) => {
                let expected = "objects and arrays are nested more than 127 deep at line 127 column 1";
                assert!(faults[0].message.starts_with(expected), "{faults:?}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_body_is_json_by_its_content_type() {
        let check = |content_type: &str| {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, content_type.parse().unwrap())]);
            check_content_type(&headers).is_ok()
        };
        assert!(check("application/json"));
        assert!(check("Application/JSON; charset=utf-8"));
        assert!(!check("text/plain"));
        assert!(!check("application/jsonl"));
        assert!(check_content_type(&HeaderMap::new()).is_err());
    }
}
