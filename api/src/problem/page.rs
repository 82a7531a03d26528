//! The pages that the `type` of a problem leads to: what it means, for people, and the same as JSON.
//!
//! They are made of the table of problems, load nothing and run nothing.

use std::fmt::Write as _;

use super::kind::{Adds, KINDS, Kind};
use crate::wire::{ConflictJson, ConflictReasonJson, FaultJson, ProblemFieldJson, ProblemJson, ProblemTypeJson};

const HEAD: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 45rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 0.9rem/1.4 ui-monospace, monospace; background: #8882; border-radius: 0.2rem; }
code { padding: 0.1rem 0.2rem; }
pre { padding: 0.7rem; white-space: pre-wrap; overflow-wrap: anywhere; }
td, th { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; }
</style>
";

/// The page of one kind of problem.
pub(crate) fn page(kind: &Kind) -> String {
    let json = ProblemTypeJson::from(kind);
    let mut html = format!("{HEAD}<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n", title = kind.title);
    let again = if kind.retryable { "The same request may succeed later." } else { "The same request fails again." };
    let status = json.status;
    let _ = writeln!(html, "<p>Status {status}, type <code>{}</code>. {again}</p>", kind.uri());
    let _ = writeln!(html, "<p>{}</p>", marked_up(kind.description));
    if !json.fields.is_empty() {
        html.push_str("<p>Beside the fields that every problem has:</p>\n<table>\n");
        for ProblemFieldJson { name, description } in &json.fields {
            let _ = writeln!(html, "<tr><td><code>{name}</code></td><td>{}</td></tr>", marked_up(description));
        }
        html.push_str("</table>\n");
    }
    let example = serde_json::to_string_pretty(&json.example).unwrap_or_default();
    let _ = writeln!(html, "<h2>Example</h2>\n<pre>{}</pre>", escaped(&example));
    html.push_str("<p><a href=\"/problems\">All problems</a></p>\n</body>\n</html>\n");
    html
}

/// The page that lists all kinds.
pub(crate) fn list_page() -> String {
    let mut html = format!("{HEAD}<title>Problems</title>\n</head>\n<body>\n<h1>Problems</h1>\n");
    html.push_str("<p>What the server can answer instead of a result, as <code>application/problem+json</code>.</p>\n");
    html.push_str("<table>\n<tr><th>Status</th><th>Type</th><th>Title</th></tr>\n");
    for kind in KINDS {
        let (status, uri, title) = (kind.status.as_u16(), kind.uri(), kind.title);
        let _ =
            writeln!(html, "<tr><td>{status}</td><td><a href=\"{uri}\">{}</a></td><td>{title}</td></tr>", kind.name);
    }
    html.push_str("</table>\n</body>\n</html>\n");
    html
}

/// A text with what stands in backticks as code.
fn marked_up(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in text.split('`').enumerate() {
        let is_code = index % 2 == 1;
        let (begin, end) = if is_code { ("<code>", "</code>") } else { ("", "") };
        html.extend([begin, &escaped(part), end]);
    }
    html
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl From<&Kind> for ProblemTypeJson {
    fn from(kind: &Kind) -> Self {
        Self {
            problem_type: kind.uri(),
            title: kind.title.to_owned(),
            status: kind.status.as_u16(),
            retryable: kind.retryable,
            description: kind.description.to_owned(),
            fields: fields(kind.adds),
            example: example(kind),
        }
    }
}

fn fields(adds: Adds) -> Vec<ProblemFieldJson> {
    let field = |(name, description): (&str, &str)| ProblemFieldJson {
        name: name.to_owned(),
        description: description.to_owned(),
    };
    let fields: &[(&str, &str)] = match adds {
        Adds::Nothing => &[],
        Adds::Faults(_) => &[
            (
                "faults",
                "what is wrong with which part of the request: `message`, and where they apply `at` (the place in the request), \
                 `path` (of a file), `column`, `claim` and `evidence`; at most 100",
            ),
            ("fault_count", "how many there are, where they are more than are listed"),
        ],
        Adds::Conflicts => &[
            ("current_snapshot", "the table's newest snapshot, which the commit was held against"),
            ("conflicts", "every path in the way, with its `reason` and the same as a sentence"),
        ],
    };
    fields.iter().copied().map(field).collect()
}

fn example(kind: &Kind) -> ProblemJson {
    let fault = |(at, message): &(&str, &str)| FaultJson {
        message: (*message).to_owned(),
        at: Some((*at).to_owned()),
        ..FaultJson::default()
    };
    let conflict = || ConflictJson {
        path: "s3://bucket/a.parquet".to_owned(),
        reason: ConflictReasonJson::AlreadyLive,
        message: prunus_catalog::ConflictReason::AlreadyLive.to_string(),
    };
    let (faults, conflicts) = match kind.adds {
        Adds::Nothing => (Vec::new(), None),
        Adds::Faults(faults) => (faults.iter().map(fault).collect(), None),
        Adds::Conflicts => (Vec::new(), Some(vec![conflict()])),
    };
    ProblemJson {
        problem_type: kind.uri(),
        title: kind.title.to_owned(),
        status: kind.status.as_u16(),
        detail: kind.example.to_owned(),
        request_id: "8f0c1bd6-3f5f-4a3e-9d62-5a0d3c1f7b11".to_owned(),
        retryable: kind.retryable,
        faults,
        fault_count: None,
        table: None,
        current_snapshot: conflicts.is_some().then_some(7),
        conflicts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_loads_and_runs_nothing() {
        let pages = KINDS.iter().map(|kind| page(kind)).chain([list_page()]);
        for html in pages {
            for part in ["<script", "<link", "<img", "<iframe", "@import", "url(", "http:", "https:", "src="] {
                assert!(!html.contains(part), "{part}: {html}");
            }
        }
    }

    #[test]
    fn code_is_marked_and_what_html_means_is_not() {
        assert_eq!(marked_up("`a` < b & `c`"), "<code>a</code> &lt; b &amp; <code>c</code>");
    }

    #[test]
    fn a_page_says_what_its_json_says() {
        for kind in KINDS {
            let (html, json) = (page(kind), ProblemTypeJson::from(kind));
            let shown = [json.title, json.problem_type, json.status.to_string(), marked_up(&json.description)];
            assert!(shown.iter().all(|part| html.contains(part)), "{html}");
            assert!(html.contains(&escaped(&json.example.detail)), "{html}");
        }
    }
}
