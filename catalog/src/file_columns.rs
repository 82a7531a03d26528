//! Which leaf of a registered file is which column: as it was found when the file was registered, whatever the columns are called
//! since; and where that was before there was the column, what the file's names say.

use std::collections::BTreeSet;

use prunus_manifest::FileLeaf;
use prunus_statistics::FieldId;

use crate::collect::same_when_folded;
use crate::column_ref;
use crate::history::{History, Reached, reached};
use crate::schema::{LeafColumn, Schema, Type, items_of};

/// What a file calls a column that it does not call as the table does; `None` if it does not hold it, though it has a column
/// of that name.
pub(crate) type NameInFile = Option<String>;

/// The columns that the leaves of a file were taken for when it was registered.
pub(crate) fn taken_for(leaves: &[FileLeaf], first: &[LeafColumn]) -> Vec<Option<FieldId>> {
    if leaves.iter().any(|leaf| leaf.column.is_some()) {
        return leaves.iter().map(|leaf| leaf.column).collect();
    }
    // From before that was noted, and so from before columns could be renamed: id and name were those of the first schema.
    let is_it = |leaf: &FileLeaf, column: &LeafColumn| {
        leaf.path == column.path && leaf.field_id.is_none_or(|id| id <= 0 || FieldId(id) == column.id)
    };
    leaves.iter().map(|leaf| first.iter().find(|column| is_it(leaf, column)).map(|column| column.id)).collect()
}

/// Whether a leaf of a file may go by the path of a column, or stand in its way, when case and Unicode form are ignored: one of the
/// two paths begins with the other.
pub(crate) fn may_be_called(leaf: &[String], path: &[String]) -> bool {
    leaf.iter().zip(path).all(|(a, b)| same_when_folded(a, b))
}

/// Whether no id of its own tells what a leaf is.
fn goes_by_name(leaf: &FileLeaf) -> bool {
    leaf.field_id.is_none_or(|id| id <= 0)
}

/// A name of a file that would be taken for a column if that were called by its new path, though it is none of the table's: the
/// file, which does not hold the column, would seem to.
pub(crate) fn mistaken_for<'l>(
    leaves: &'l [FileLeaf],
    first: &[LeafColumn],
    column: FieldId,
    new_paths: &[Vec<String>],
) -> Option<&'l FileLeaf> {
    let taken = taken_for(leaves, first);
    if taken.contains(&Some(column)) {
        return None;
    }
    let is_called = |leaf: &FileLeaf| new_paths.iter().any(|path| may_be_called(&leaf.path, path));
    let mut unknown = leaves.iter().zip(taken).filter(|(_, taken)| taken.is_none());
    unknown.find(|(leaf, _)| goes_by_name(leaf) && is_called(leaf)).map(|(leaf, _)| leaf)
}

/// What the files of a table call the columns of one of its schemas.
pub(crate) struct FileNames<'s> {
    columns: Vec<Named<'s>>,
    structs: Vec<NamedStruct>,
    first: Vec<LeafColumn>,
}

struct NamedStruct {
    id: FieldId,
    path: Vec<String>,
    /// What lies in it, however deep.
    ids: BTreeSet<FieldId>,
}

struct Named<'s> {
    reached: Reached<'s>,
    /// What its leaves are taken for: for it, or, where it is a list or map, for what that holds.
    ids: Vec<FieldId>,
    /// The paths that it had and that no column of the schema has.
    former: Vec<Vec<String>>,
}

impl<'s> FileNames<'s> {
    /// Of a schema of a table.
    pub(crate) fn new(history: &History, schema: &'s Schema) -> Self {
        let reached = reached(schema);
        let current: BTreeSet<Vec<String>> = reached.iter().map(|reached| reached.path.clone()).collect();
        let named = |reached: Reached<'s>| {
            let former = history.paths(&reached).into_iter().filter(|path| !current.contains(path)).collect();
            let items = items_of(reached.field, &reached.path);
            let ids = std::iter::once(reached.field.id).chain(items.iter().map(|item| item.id)).collect();
            Named { reached, ids, former }
        };
        let is_struct = |reached: &Reached<'_>| matches!(reached.field.field_type, Type::Struct(_));
        let (structs, columns): (Vec<_>, Vec<_>) = reached.into_iter().partition(is_struct);
        let named_struct = |reached: Reached<'_>| NamedStruct {
            id: reached.field.id,
            ids: ids_below(&reached.field.field_type),
            path: reached.path,
        };
        Self {
            columns: columns.into_iter().map(named).collect(),
            structs: structs.into_iter().map(named_struct).collect(),
            first: history.first_leaves(),
        }
    }

    /// The columns that a file calls otherwise than the schema does, and the structs whose names it gives to others.
    pub(crate) fn of_file(&self, leaves: &[FileLeaf]) -> Vec<(FieldId, NameInFile)> {
        let taken = taken_for(leaves, &self.first);
        let leaves: Vec<(&FileLeaf, Option<FieldId>)> = leaves.iter().zip(taken).collect();
        let name = |column: &Named<'_>| Some((column.reached.field.id, column.name_in(&leaves)?));
        let names = self.columns.iter().filter_map(name);
        names.chain(self.structs.iter().filter(|of| of.is_another_in(&leaves)).map(|of| (of.id, None))).collect()
    }
}

fn ids_below(of: &Type) -> BTreeSet<FieldId> {
    match of {
        Type::Primitive(_) => BTreeSet::new(),
        Type::Struct(fields) => {
            fields.iter().flat_map(|field| ids_below(&field.field_type).into_iter().chain([field.id])).collect()
        }
        Type::List { element_id, element } => ids_below(element).into_iter().chain([*element_id]).collect(),
        Type::Map { key_id, key, value_id, value } => {
            ids_below(key).into_iter().chain(ids_below(value)).chain([*key_id, *value_id]).collect()
        }
    }
}

impl NamedStruct {
    /// Whether what a file calls so is known for something else: it holds what is in other columns, and nothing that is in this one.
    fn is_another_in(&self, leaves: &[(&FileLeaf, Option<FieldId>)]) -> bool {
        let is_called_so = |leaf: &FileLeaf| leaf.path.starts_with(&self.path) || self.path.starts_with(&leaf.path);
        let mut known = leaves.iter().filter(|(leaf, _)| is_called_so(leaf)).filter_map(|(_, taken)| *taken).peekable();
        known.peek().is_some() && !known.any(|id| self.ids.contains(&id))
    }
}

impl Named<'_> {
    /// `None` where the file calls it as the schema does, or knows no name of it.
    fn name_in(&self, leaves: &[(&FileLeaf, Option<FieldId>)]) -> Option<NameInFile> {
        let (id, path) = (self.reached.field.id, &self.reached.path);
        let is_its = |taken: &Option<FieldId>| taken.is_some_and(|taken| self.ids.contains(&taken));
        if let Some((leaf, _)) = leaves.iter().find(|(_, taken)| is_its(taken)) {
            // Below it are the levels of a list or map, which writers call as they like.
            let in_file = leaf.path.get(..path.len()).unwrap_or(&leaf.path);
            return (in_file != path.as_slice()).then(|| Some(column_ref::key(in_file)));
        }
        let is_free = |(leaf, taken): &&(&FileLeaf, Option<FieldId>)| {
            taken.is_none() && (goes_by_name(leaf) || leaf.field_id == Some(id.0))
        };
        // A leaf that is called as what the column lies in stands in its place, too.
        let is_called_so = |leaf: &FileLeaf| leaf.path.starts_with(path) || path.starts_with(&leaf.path);
        let mut called_so = leaves.iter().filter(|(leaf, _)| is_called_so(leaf)).peekable();
        if called_so.peek().is_some() {
            return (!called_so.any(|leaf| is_free(&leaf))).then_some(None);
        }
        let is_in_file =
            |former: &&Vec<String>| leaves.iter().filter(is_free).any(|(leaf, _)| leaf.path.starts_with(former));
        let mut found = self.former.iter().filter(is_in_file);
        match (found.next(), found.next()) {
            (Some(former), None) => Some(Some(column_ref::key(former))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = r#"[{"id":1,"name":"a","type":"int32"},{"id":2,"name":"b","type":"int32"}]"#;

    fn history(texts: &[&str]) -> History {
        History::of_texts(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    fn leaf(name: &str, field_id: Option<i32>, column: Option<i32>) -> FileLeaf {
        let path = name.split('.').map(str::to_owned).collect();
        FileLeaf { path, field_id, column: column.map(FieldId), file_type: None, group_ids: Vec::new() }
    }

    fn check(newer: &str, leaves: &[FileLeaf], expected: &[(i32, Option<&str>)]) {
        let history = history(&[FIRST, newer]);
        let names = FileNames::new(&history, history.current()).of_file(leaves);
        let expected: Vec<_> = expected.iter().map(|(id, name)| (FieldId(*id), name.map(str::to_owned))).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_renamed_column_is_called_as_when_the_file_was_registered() {
        let renamed = r#"[{"id":1,"name":"c","type":"int32"},{"id":2,"name":"b","type":"int32"}]"#;
        check(renamed, &[leaf("a", None, Some(1)), leaf("b", None, Some(2))], &[(1, Some("a"))]);
        // From before it was noted.
        check(renamed, &[leaf("a", Some(1), None), leaf("b", None, None)], &[(1, Some("a"))]);
        check(renamed, &[leaf("c", None, Some(1)), leaf("b", None, Some(2))], &[]);
    }

    #[test]
    fn names_that_were_swapped_stay_with_their_columns() {
        let swapped = r#"[{"id":1,"name":"b","type":"int32"},{"id":2,"name":"a","type":"int32"}]"#;
        let leaves = [leaf("a", None, Some(1)), leaf("b", None, Some(2))];
        check(swapped, &leaves, &[(1, Some("a")), (2, Some("b"))]);
    }

    #[test]
    fn a_column_that_was_dropped_is_not_the_one_of_its_name() {
        let again = r#"[{"id":2,"name":"b","type":"int32"},{"id":3,"name":"a","type":"int32"}]"#;
        check(again, &[leaf("a", None, Some(1)), leaf("b", None, Some(2))], &[(3, None)]);
        check(again, &[leaf("a", Some(3), None), leaf("b", None, Some(2))], &[]);
    }

    #[test]
    fn a_struct_that_got_the_name_of_a_column_is_not_in_files_of_that() {
        let newer = r#"[{"id":1,"name":"p","type":"int32"},
            {"id":3,"name":"a","type":{"type":"struct","fields":[{"id":4,"name":"y","type":"int32"}]}}]"#;
        check(newer, &[leaf("a", None, Some(1)), leaf("b", None, Some(2))], &[(1, Some("a")), (4, None), (3, None)]);
    }

    #[test]
    fn a_struct_that_got_the_name_of_another_is_not_in_files_of_that() {
        let of = |id: i32, name: &str| {
            format!(
                r#"{{"id":{id},"name":"{name}","type":{{"type":"struct","fields":[{{"id":{},"name":"y","type":"int32"}}]}}}}"#,
                id + 1
            )
        };
        let history = history(&[&format!("[{}]", of(5, "s")), &format!("[{},{}]", of(5, "t"), of(7, "s"))]);
        let names = |leaves: &[FileLeaf]| FileNames::new(&history, history.current()).of_file(leaves);
        let expected = [(FieldId(6), Some("s.y".to_owned())), (FieldId(8), None), (FieldId(7), None)];
        assert_eq!(names(&[leaf("s.y", None, Some(6))]), expected);
        let expected = [(FieldId(6), Some("s.z".to_owned())), (FieldId(7), None)];
        assert_eq!(names(&[leaf("s.z", None, Some(6))]), expected);
        assert_eq!(names(&[leaf("s.y", None, Some(8)), leaf("s.more", None, None)]), []);
        assert_eq!(names(&[leaf("s.more", None, None)]), []);
    }

    #[test]
    fn a_column_that_the_file_held_before_the_table_is_called_by_its_name() {
        let added = r#"[{"id":1,"name":"a","type":"int32"},{"id":3,"name":"c","type":"int32"}]"#;
        check(added, &[leaf("a", None, Some(1)), leaf("c", None, None)], &[]);
        let history =
            history(&[FIRST, added, r#"[{"id":1,"name":"a","type":"int32"},{"id":3,"name":"d","type":"int32"}]"#]);
        let names =
            FileNames::new(&history, history.current()).of_file(&[leaf("a", None, Some(1)), leaf("c", None, None)]);
        assert_eq!(names, [(FieldId(3), Some("c".to_owned()))]);
    }

    #[test]
    fn a_list_is_called_by_what_is_in_it() {
        let list = r#"{"type":"list","element_id":6,"element":"int32"}"#;
        let of =
            |name: &str| format!(r#"[{{"id":1,"name":"a","type":"int32"}},{{"id":5,"name":"{name}","type":{list}}}]"#);
        let history = history(&[&of("l"), &of("m")]);
        let leaves = [leaf("a", None, Some(1)), leaf("l.list.element", None, None)];
        assert_eq!(FileNames::new(&history, history.current()).of_file(&leaves), [(FieldId(5), Some("l".to_owned()))]);
    }

    #[test]
    fn a_list_whose_name_was_given_to_another_is_called_as_it_was() {
        let list = |id: i32| format!(r#"{{"type":"list","element_id":{},"element":"int32"}}"#, id + 1);
        let of = |id: i32, name: &str| format!(r#"{{"id":{id},"name":"{name}","type":{}}}"#, list(id));
        let history = history(&[&format!("[{}]", of(5, "l")), &format!("[{},{}]", of(5, "m"), of(7, "l"))]);
        let leaves = [leaf("l.list.element", None, Some(6))];
        let names = FileNames::new(&history, history.current()).of_file(&leaves);
        assert_eq!(names, [(FieldId(5), Some("l".to_owned())), (FieldId(7), None)]);
    }

    #[test]
    fn only_a_name_that_nothing_else_tells_about_is_mistaken() {
        let first = history(&[FIRST]).first_leaves();
        let check = |leaves: &[FileLeaf], expected: bool| {
            let found = mistaken_for(leaves, &first, FieldId(2), &[vec!["c".to_owned()]]);
            assert_eq!(found.is_some(), expected, "{leaves:?}");
        };
        check(&[leaf("a", None, Some(1)), leaf("c", None, None)], true);
        check(&[leaf("a", None, Some(1)), leaf("C", None, None)], true);
        check(&[leaf("a", None, Some(1)), leaf("c.x", None, None)], true);
        check(&[leaf("a", None, Some(1)), leaf("d", None, None)], false);
        check(&[leaf("a", None, Some(1)), leaf("c", Some(9), None)], false);
        check(&[leaf("b", None, Some(2)), leaf("c", None, None)], false);
        check(&[leaf("c", None, Some(1))], false);
    }

    #[test]
    fn a_struct_of_the_name_or_a_value_in_place_of_a_struct_is_in_the_way() {
        let path = |dotted: &str| -> Vec<String> { dotted.split('.').map(str::to_owned).collect() };
        let check = |leaf: &str, column: &str, expected: bool| {
            assert_eq!(may_be_called(&path(leaf), &path(column)), expected, "{leaf} {column}");
        };
        check("c", "C", true);
        check("c.list.element", "c", true);
        check("S", "s.x", true);
        check("s.y", "s.x", false);
        check("cc", "c", false);
    }
}
