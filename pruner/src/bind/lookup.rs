//! Finding the column that a name means.

use crate::{Column, ColumnName, FilterError};

/// How alike two names must be for one to be suggested for the other.
const MIN_SIMILARITY: f64 = 0.8;

/// The column of a name: the one whose path is the name to the letter, else, for parts without quotes, the only one whose
/// path is the name but for upper and lower case.
pub(super) fn find<'a>(columns: &'a [Column], name: &ColumnName) -> Result<&'a Column, FilterError> {
    if let Some(column) = columns.iter().find(|column| matches(column, name, |a, b, _| a == b)) {
        return Ok(column);
    }
    let folded = |part: &str, written: &str, quoted: bool| {
        part == written || (!quoted && part.to_lowercase() == written.to_lowercase())
    };
    let mut candidates = columns.iter().filter(|column| matches(column, name, folded));
    match (candidates.next(), candidates.next()) {
        (Some(column), None) => Ok(column),
        (Some(_), Some(_)) => Err(FilterError::AmbiguousColumn { name: name.to_string() }),
        (None, _) => Err(FilterError::UnknownColumn { name: name.to_string(), suggestion: suggestion(columns, name) }),
    }
}

fn matches(column: &Column, name: &ColumnName, same: impl Fn(&str, &str, bool) -> bool) -> bool {
    column.path.len() == name.parts.len()
        && column.path.iter().zip(&name.parts).all(|(part, written)| same(part, &written.text, written.quoted))
}

fn suggestion(columns: &[Column], name: &ColumnName) -> Option<String> {
    let written = name.parts.iter().map(|part| part.text.to_lowercase()).collect::<Vec<_>>().join(".");
    columns
        .iter()
        .map(|column| {
            let path = column.path.join(".");
            (strsim::jaro_winkler(&path.to_lowercase(), &written), path)
        })
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, path)| path)
}
