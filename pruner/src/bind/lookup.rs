//! Finding the column that a name means.

use crate::{Column, ColumnName, FilterError, nearest};

/// The column of a name: parts in quotes match to the letter, others whatever their case. Where several columns match, engines
/// differ on which is meant, also where one does to the letter: some fold names to lower case, some to upper, some not at all.
pub(super) fn find<'a>(columns: &'a [Column], name: &ColumnName) -> Result<&'a Column, FilterError> {
    let folded = |part: &str, written: &str, quoted: bool| {
        part == written || (!quoted && part.to_lowercase() == written.to_lowercase())
    };
    let mut candidates = columns.iter().filter(|column| matches(column, name, folded));
    match (candidates.next(), candidates.next()) {
        (Some(column), None) => Ok(column),
        (Some(_), Some(_)) => Err(FilterError::AmbiguousColumn { name: name.to_string() }),
        (None, _) => by_path_or_id(columns, name).ok_or_else(|| FilterError::UnknownColumn {
            name: name.to_string(),
            suggestion: suggestion(columns, name),
        }),
    }
}

/// Iceberg writes a path as one text, so `a.b` may also be a column, or a field of one, whose own name holds the dot; and it
/// may name a column by its id.
fn by_path_or_id<'a>(columns: &'a [Column], name: &ColumnName) -> Option<&'a Column> {
    if !name.parts.iter().all(|part| part.quoted) {
        return None;
    }
    let path = name.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".");
    let is_path = |column: &&Column| column.path.len() < name.parts.len() && column.path.join(".") == path;
    let is_id = |column: &&Column| column.id.to_string() == path;
    let mut candidates = columns.iter().filter(is_path).chain(columns.iter().filter(is_id));
    candidates.next().filter(|_| candidates.next().is_none())
}

fn matches(column: &Column, name: &ColumnName, same: impl Fn(&str, &str, bool) -> bool) -> bool {
    column.path.len() == name.parts.len()
        && column.path.iter().zip(&name.parts).all(|(part, written)| same(part, &written.text, written.quoted))
}

fn suggestion(columns: &[Column], name: &ColumnName) -> Option<String> {
    let written = name.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".");
    let paths: Vec<String> = columns.iter().map(|column| column.path.join(".")).collect();
    nearest(&written, paths.iter().map(String::as_str)).map(str::to_owned)
}
