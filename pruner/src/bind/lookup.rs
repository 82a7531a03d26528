//! Finding the column that a name means.

use crate::{Column, ColumnName, ColumnSuggestion, FilterError, nearest};

/// How many parts the name of a table has that is written before a column: a catalog, a namespace and a table.
const MAX_PARTS_OF_TABLE: usize = 3;

/// The column of a name: parts in quotes match to the letter, others whatever their case. Where several columns match, engines
/// differ on which is meant, also where one does to the letter: some fold names to lower case, some to upper, some not at all.
pub(super) fn find<'a>(columns: &'a [Column], name: &ColumnName) -> Result<&'a Column, FilterError> {
    let unknown = || FilterError::UnknownColumn { name: name.to_string(), suggestion: suggestion(columns, name) };
    if let Some(id) = name.id {
        return columns.iter().find(|column| column.id == id).ok_or_else(unknown);
    }
    let mut candidates = columns.iter().filter(|column| matches(column, name, folded));
    match (candidates.next(), candidates.next()) {
        (Some(column), None) => Ok(column),
        (Some(_), Some(_)) => Err(FilterError::AmbiguousColumn { name: name.to_string() }),
        (None, _) => by_path_or_id(columns, name).ok_or_else(unknown),
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

fn folded(part: &str, written: &str, quoted: bool) -> bool {
    part == written || (!quoted && part.to_lowercase() == written.to_lowercase())
}

fn matches(column: &Column, name: &ColumnName, same: impl Fn(&str, &str, bool) -> bool) -> bool {
    column.path.len() == name.parts.len()
        && column.path.iter().zip(&name.parts).all(|(part, written)| same(part, &written.text, written.quoted))
}

fn suggestion(columns: &[Column], name: &ColumnName) -> Option<ColumnSuggestion> {
    if let Some(rest) = without_table(columns, name) {
        return Some(ColumnSuggestion::WithoutTable(rest.to_string()));
    }
    let written = name.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".");
    let paths: Vec<String> = columns.iter().map(|column| column.path.join(".")).collect();
    nearest(&written, paths.iter().map(String::as_str)).map(|name| ColumnSuggestion::Column(name.to_owned()))
}

/// The name without what may be the table's, if some column has the rest.
fn without_table(columns: &[Column], name: &ColumnName) -> Option<ColumnName> {
    let rest = |parts: usize| Some(ColumnName { parts: name.parts.get(parts..)?.to_vec(), id: None });
    (1..=MAX_PARTS_OF_TABLE).filter_map(rest).find(|rest| columns.iter().any(|column| matches(column, rest, folded)))
}

#[cfg(test)]
mod tests {
    use prunus_statistics::{FieldId, PrimitiveType};

    use super::*;

    #[test]
    fn a_column_that_is_called_as_an_id_is_written_is_not_the_one_of_that_id() {
        let column = |id: i32, name: &str| Column {
            id: FieldId(id),
            path: vec![name.to_owned()],
            column_type: Some(PrimitiveType::Int32),
            items: Vec::new(),
        };
        let columns = [column(1, "a"), column(2, "#1")];
        let found = |name: &ColumnName| find(&columns, name).unwrap().id.0;
        assert_eq!((found(&ColumnName::exact(["#1"])), found(&ColumnName::of_id(FieldId(1)))), (2, 1));
        assert_eq!((found(&ColumnName::exact(["#2"])), found(&ColumnName::of_id(FieldId(2)))), (2, 2));
        assert!(find(&columns, &ColumnName::of_id(FieldId(3))).is_err());
    }
}
