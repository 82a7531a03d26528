//! A file of the corpus, and what is expected of it.

use std::path::Path;

use prunus_catalog::schema::{MAX_DEPTH, MAX_FIELD_NAME_BYTES, MAX_FIELDS};
use serde_json::Value as Json;

use crate::truth::corpus;

/// By what the statistics of a table are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The footers of its files.
    Footer,
    /// Their data.
    Scan,
    /// Their footers, and their data in an audit that repairs.
    Audit,
}

impl Policy {
    /// The value of the property `verification`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Footer | Self::Audit => "footer",
            Self::Scan => "scan",
        }
    }
}

/// What must become of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Registered,
    Refused,
    Either,
}

impl Expected {
    fn named(name: &Json) -> Self {
        match name.as_str().unwrap() {
            "ok" => Self::Registered,
            "error" => Self::Refused,
            "either" => Self::Either,
            other => panic!("the corpus expects `{other}`"),
        }
    }
}

/// A file of the corpus.
pub(crate) struct Case {
    json: Json,
    path: String,
}

impl Case {
    /// The most digits that a decimal column of a table has.
    pub(crate) const MAX_DECIMAL_PRECISION: u64 = 38;

    /// All files, in the order of `corpus.json`.
    pub(crate) fn all(folder: &Path) -> Vec<Self> {
        // The server names files by their whole paths.
        let path = |json: &Json| folder.join(json["file"].as_str().unwrap()).canonicalize().unwrap();
        let case = |json: Json| Self { path: path(&json).to_str().unwrap().to_owned(), json };
        corpus(folder).into_iter().map(case).collect()
    }

    pub(crate) fn name(&self) -> &str {
        self.json["file"].as_str().unwrap()
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn sha256(&self) -> &str {
        self.json["sha256"].as_str().unwrap()
    }

    /// Who says to have written it.
    pub(crate) fn created_by(&self) -> Option<&str> {
        self.json["created_by"].as_str()
    }

    /// How many rows are stored; `None` if that is not known.
    pub(crate) fn rows(&self) -> Option<u64> {
        self.json["rows"].as_u64()
    }

    /// What the corpus says of the file's leaves.
    pub(crate) fn leaves(&self) -> &[Json] {
        self.json["columns"].as_array().unwrap()
    }

    pub(crate) fn has_tag(&self, tag: &str) -> bool {
        self.json["tags"].as_array().unwrap().iter().any(|given| given == tag)
    }

    /// What must become of the file. Where data is read the footer is too, so it must be good for both.
    pub(crate) fn expected(&self, policy: Policy) -> Expected {
        let footer = Expected::named(&self.json["expect"]["footer"]);
        let data = Expected::named(&self.json["expect"]["data"]);
        match (policy, footer, data) {
            (Policy::Footer | Policy::Audit, footer, _) => footer,
            (Policy::Scan, Expected::Refused, _) => Expected::Refused,
            (Policy::Scan, _, Expected::Refused) => Expected::Refused,
            (Policy::Scan, Expected::Either, _) | (Policy::Scan, _, Expected::Either) => Expected::Either,
            (Policy::Scan, Expected::Registered, Expected::Registered) => Expected::Registered,
        }
    }

    /// Whether the data is sound, so that reading it gives all that there is to know.
    pub(crate) fn has_sound_data(&self) -> bool {
        Expected::named(&self.json["expect"]["data"]) == Expected::Registered
    }

    /// Why no table can be made from the file's schema, although the file is sound. No other reason counts. Such a file is
    /// imported into a table of its other columns.
    pub(crate) fn why_no_table(&self) -> Option<&'static str> {
        let paths: Vec<Vec<&str>> = self.leaves().iter().map(path).collect();
        let is_same_column = |a: usize, b: usize| a != b && paths[b].starts_with(&paths[a]);
        let has_same_column = |a: usize| (0..paths.len()).any(|b| is_same_column(a, b));
        let digits = |leaf: &Json| [&leaf["precision"], &leaf["logical"]["precision"]].map(Json::as_u64);
        let is_too_long = |digits: Option<u64>| digits.is_some_and(|digits| digits > Self::MAX_DECIMAL_PRECISION);
        let is_blank = |leaf: &Json| leaf["physical"] == "FIXED_LEN_BYTE_ARRAY" && leaf["type_length"] == 0;
        let reasons = [
            // Of two groups of one name the leaves alone do not tell.
            ((0..paths.len()).any(has_same_column) || self.has_tag("names_duplicate"), "a name that occurs twice"),
            (self.leaves().iter().flat_map(digits).any(is_too_long), "a decimal of too many digits"),
            (self.leaves().iter().any(is_blank), "values of no bytes"),
            (
                self.leaves().iter().any(|leaf| leaf["logical"]["type"] == "UNKNOWN"),
                "nothing but nulls, which have no type",
            ),
            (paths.iter().flatten().any(|name| name.len() > MAX_FIELD_NAME_BYTES), "a name that is too long"),
            (paths.iter().any(|path| path.len() > MAX_DEPTH), "groups too deep in each other"),
            (paths.len() > MAX_FIELDS, "too many columns"),
        ];
        reasons.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
    }
}

/// The names from the root down to a leaf.
pub(crate) fn path(leaf: &Json) -> Vec<&str> {
    leaf["path"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

/// Whether a leaf lies in a list or map. Tables keep no counts of those.
pub(crate) fn is_repeated(leaf: &Json) -> bool {
    leaf["max_rep"].as_u64().unwrap() > 0
}
