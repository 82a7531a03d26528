//! What files that were registered before a column hold of it. A file is known not to hold it only if the catalog has read its
//! schema and nothing there goes by one of the column's names or by its id; whatever else it is, it is unknown.

use prunus_manifest::{DataFileRow, LateColumn, SchemaColumn};
use prunus_statistics::{ColumnStatistics, FileColumn};

use crate::collect::{TableColumn, same_when_folded};
use crate::history::History;
use crate::location::Location;
use crate::{file_columns, hive};

/// The columns of the newest schema that the first did not have. Of schemas that do not read there are none: whoever uses the
/// table is told.
pub(crate) fn read(schemas: &[String]) -> Vec<LateColumn> {
    let Some(history) = History::of_texts(schemas) else { return Vec::new() };
    let late = history.late_leaves();
    let wanted = history.wanted().into_iter().filter(|column| late.iter().any(|leaf| leaf.id == column.id));
    wanted
        .map(|column| LateColumn {
            column: SchemaColumn { field_id: column.id, column_type: column.column_type },
            of_file: Box::new(move |file| of_file(&column, file)),
        })
        .collect()
}

fn of_file(column: &TableColumn, file: &DataFileRow) -> FileColumn {
    if is_absent(column, file) {
        column.absent(file.row_count)
    } else {
        FileColumn::Present(ColumnStatistics::default())
    }
}

/// Whether a file, whose schema the catalog has read, is known not to hold a column.
pub(crate) fn is_absent(column: &TableColumn, file: &DataFileRow) -> bool {
    let is_named = |paths: &[Vec<String>]| {
        file.leaves.iter().any(|leaf| paths.iter().any(|path| file_columns::may_be_called(&leaf.path, path)))
    };
    // A group of the file may have the id, too: a reader finds no value there either.
    let has_id = file.leaves.iter().any(|leaf| leaf.field_id == Some(column.id.0));
    // Of a file that nobody has read the leaves are what the writer was to call its columns.
    let was_read = !file.leaves.is_empty() && file.last_modified_ms.is_some();
    was_read
        && !has_id
        && !is_named(std::slice::from_ref(&column.path))
        && !is_named(&column.former_paths)
        && !file.partition.contains_key(&column.id)
        && !has_folder(column, &file.path)
}

/// Whether a `key=value` folder goes by one of the column's names: engines take it for the column's value.
pub(crate) fn has_folder(column: &TableColumn, path: &str) -> bool {
    let Ok(location) = Location::parse_registered(path, None) else { return true };
    let folders = hive::partition_segments(location.key());
    let is_named = |path: &Vec<String>| {
        path.len() == 1 && path.iter().any(|name| folders.iter().any(|(key, _)| same_when_folded(key, name)))
    };
    std::iter::once(&column.path).chain(&column.former_paths).any(is_named)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use prunus_manifest::{FileId, FileLeaf, SnapshotId};
    use prunus_statistics::{FieldId, Value};

    use super::*;

    const FIRST: &str = r#"[{"id":1,"name":"a","type":"int32"}]"#;

    fn file(path: &str, leaves: &[(&str, Option<i32>)]) -> DataFileRow {
        let leaf = |(name, field_id): &(&str, Option<i32>)| FileLeaf {
            path: name.split('.').map(str::to_owned).collect(),
            field_id: *field_id,
            column: None,
            file_type: None,
            group_ids: Vec::new(),
        };
        DataFileRow {
            file_id: FileId(1),
            path: path.to_owned(),
            size_bytes: 1,
            row_count: Some(3),
            etag: None,
            last_modified_ms: Some(1),
            leaves: leaves.iter().map(leaf).collect::<Arc<[_]>>(),
            partition: [].into(),
            added_snapshot: SnapshotId(1),
            removed_snapshot: None,
            manifest_id: None,
        }
    }

    fn late(newer: &[&str]) -> LateColumn {
        let texts: Vec<String> = std::iter::once(&FIRST).chain(newer).map(|text| (*text).to_owned()).collect();
        read(&texts).pop().unwrap()
    }

    const ADDED: &str = r#"[{"id":1,"name":"a","type":"int32"},{"id":2,"name":"b","type":"int32"}]"#;
    const RENAMED: &str = r#"[{"id":1,"name":"a","type":"int32"},{"id":2,"name":"c","type":"int32"}]"#;

    fn check(newer: &[&str], path: &str, leaves: &[(&str, Option<i32>)], absent: bool) {
        let found = (late(newer).of_file)(&file(path, leaves));
        assert_eq!(found == FileColumn::Absent, absent, "{newer:?} {path} {leaves:?}");
    }

    #[test]
    fn a_file_without_a_trace_of_the_column_does_not_hold_it() {
        check(&[ADDED], "/d/f", &[("a", None)], true);
        check(&[ADDED], "/d/f", &[("a", Some(1)), ("z", Some(9))], true);
    }

    #[test]
    fn a_file_that_may_hold_the_column_is_unknown() {
        for leaves in [
            &[("a", None), ("b", None)][..],
            &[("a", None), ("B", None)],
            &[("a", None), ("b.x", None)],
            &[("a", None), ("b", Some(9))],
            &[("a", None), ("z", Some(2))],
        ] {
            check(&[ADDED], "/d/f", leaves, false);
        }
    }

    #[test]
    fn a_file_that_was_not_read_is_unknown() {
        check(&[ADDED], "/d/f", &[], false);
    }

    #[test]
    fn former_names_count() {
        check(&[ADDED, RENAMED], "/d/f", &[("a", None), ("b", None)], false);
        check(&[ADDED, RENAMED], "/d/f", &[("a", None), ("c", None)], false);
        check(&[ADDED, RENAMED], "/d/f", &[("a", None)], true);
    }

    #[test]
    fn a_folder_of_the_name_may_be_its_value() {
        check(&[ADDED], "/d/b=1/f", &[("a", None)], false);
        check(&[ADDED], "/d/B=1/f", &[("a", None)], false);
        check(&[ADDED], "/d/x=1/f", &[("a", None)], true);
    }

    #[test]
    fn what_a_file_does_not_hold_is_the_default() {
        let added = r#"[{"id":1,"name":"a","type":"int32"},{"id":2,"name":"b","type":"int32","default":7}]"#;
        let FileColumn::Present(found) = (late(&[added]).of_file)(&file("/d/f", &[("a", None)])) else { panic!() };
        assert_eq!(
            found,
            ColumnStatistics { nan_count: None, ..ColumnStatistics::constant(Some(Value::Integer(7)), Some(3)) }
        );
    }

    #[test]
    fn a_struct_that_may_be_null_hides_the_default_of_what_is_in_it() {
        let added = r#"[{"id":1,"name":"a","type":"int32"},{"id":2,"name":"s","type":{"type":"struct","fields":[{"id":3,"name":"b","type":"int32","default":7}]}}]"#;
        let late = late(&[added]);
        assert_eq!(late.column.field_id, FieldId(3));
        let FileColumn::Present(found) = (late.of_file)(&file("/d/f", &[("a", None)])) else { panic!() };
        assert_eq!((found.min.map(|min| min.value), found.null_count), (Some(Value::Integer(7)), None));
    }
}
