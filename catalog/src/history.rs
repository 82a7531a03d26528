//! All schemas that a table has and had: what its columns were called, and what type they came to.

use std::collections::BTreeMap;

use prunus_manifest::{ReadTransaction, TableRow};
use prunus_statistics::{FieldId, FileStatistics, PrimitiveType};

use crate::collect::{ItemHolder, TableColumn};
use crate::schema::{Field, LeafColumn, Schema, Type};
use crate::schema_json::schema_from_text;
use crate::{Error, Result};

/// The schemas of a table, oldest first; there is at least one.
#[derive(Clone, Debug)]
pub(crate) struct History {
    schemas: Vec<Schema>,
    /// Every name that each field has and had, by which it was reached through structs.
    names: BTreeMap<FieldId, Vec<String>>,
    newest_types: BTreeMap<FieldId, PrimitiveType>,
}

/// A field of a schema that is reached through structs alone.
#[derive(Debug)]
pub(crate) struct Reached<'s> {
    pub(crate) field: &'s Field,
    /// The names from the top down to it.
    pub(crate) path: Vec<String>,
    /// The ids of the same.
    ids: Vec<FieldId>,
}

impl History {
    /// Reads it.
    pub(crate) fn load(tx: &ReadTransaction<'_>, table: &TableRow) -> Result<Self> {
        Self::of_texts(&tx.list_schemas(table.table_id)?).ok_or(Error::StoredSchema)
    }

    /// Of schemas as they are stored, oldest first; `None` if one does not read, or there is none.
    pub(crate) fn of_texts(texts: &[String]) -> Option<Self> {
        let schemas: Vec<Schema> = texts.iter().map(|text| schema_from_text(text)).collect::<Option<_>>()?;
        (!schemas.is_empty()).then(|| Self::of(schemas))
    }

    fn of(schemas: Vec<Schema>) -> Self {
        let mut names: BTreeMap<FieldId, Vec<String>> = BTreeMap::new();
        for schema in &schemas {
            for Reached { field, .. } in reached(schema) {
                let names = names.entry(field.id).or_default();
                if !names.contains(&field.name) {
                    names.push(field.name.clone());
                }
            }
        }
        let leaves = schemas.iter().flat_map(Schema::leaf_columns);
        let newest_types = leaves.map(|leaf| (leaf.id, leaf.column_type)).collect();
        Self { schemas, names, newest_types }
    }

    /// The same with one schema more.
    pub(crate) fn followed_by(&self, schema: Schema) -> Self {
        Self::of(self.schemas.iter().cloned().chain([schema]).collect())
    }

    /// The schemas, oldest first.
    pub(crate) fn into_schemas(self) -> Vec<Schema> {
        self.schemas
    }

    /// How many schemas there are.
    pub(crate) fn len(&self) -> usize {
        self.schemas.len()
    }

    /// The newest.
    pub(crate) fn current(&self) -> &Schema {
        // It is one of at least one.
        self.schemas.last().unwrap_or_else(|| unreachable!("a table has a schema"))
    }

    /// The columns of the first, which files were registered by from before it was noted which leaf was taken for which column.
    pub(crate) fn first_leaves(&self) -> Vec<LeafColumn> {
        self.schemas.first().map(Schema::leaf_columns).unwrap_or_default()
    }

    /// The columns of the current schema that the first did not have.
    pub(crate) fn late_leaves(&self) -> Vec<LeafColumn> {
        let first = self.first_leaves();
        let is_late = |leaf: &LeafColumn| first.iter().all(|early| early.id != leaf.id);
        self.current().leaf_columns().into_iter().filter(is_late).collect()
    }

    /// The types that columns came to, also of those that are gone: what is stored of files is read in them.
    pub(crate) fn newest_types(&self) -> &BTreeMap<FieldId, PrimitiveType> {
        &self.newest_types
    }

    /// About how much memory it takes.
    pub(crate) fn size_bytes(&self) -> usize {
        const FIELD_BYTES: usize = 256;
        FIELD_BYTES * (self.count_fields() + self.names.len())
    }

    /// How many fields all schemas have together that are reached through structs.
    pub(crate) fn count_fields(&self) -> usize {
        self.schemas.iter().map(|schema| reached(schema).len()).sum()
    }

    /// Every path that a field may stand under in a file: each of the names that it has and had, in each of those of the structs
    /// around it. There are as many as [`History::count_paths`] says.
    pub(crate) fn paths(&self, reached: &Reached<'_>) -> Vec<Vec<String>> {
        let mut paths = vec![Vec::new()];
        for id in &reached.ids {
            let names = self.names.get(id).map(Vec::as_slice).unwrap_or_default();
            let longer = |path: &Vec<String>| {
                let path = path.clone();
                names.iter().map(move |name| path.iter().chain([name]).cloned().collect())
            };
            paths = paths.iter().flat_map(longer).collect();
        }
        paths
    }

    /// How many paths a field has and had.
    pub(crate) fn count_paths(&self, reached: &Reached<'_>) -> usize {
        let names = reached.ids.iter().map(|id| self.names.get(id).map_or(1, Vec::len));
        names.fold(1, usize::saturating_mul)
    }

    /// The columns of the current schema as the collector looks for them in files, with the paths that they had.
    pub(crate) fn wanted(&self) -> Vec<TableColumn> {
        let mut wanted: Vec<TableColumn> = self.current().leaf_columns().iter().map(Into::into).collect();
        let reached = reached(self.current());
        for column in &mut wanted {
            let Some(reached) = reached.iter().find(|reached| reached.field.id == column.id) else { continue };
            column.former_paths = self.paths(reached).into_iter().filter(|path| *path != column.path).collect();
        }
        wanted
    }

    /// The lists and maps of the current schema as the collector looks for them in files, with the paths that they had.
    pub(crate) fn item_holders(&self) -> Vec<ItemHolder> {
        let reached = reached(self.current());
        let holder = |reached: &Reached<'_>| {
            let (field, path) = (reached.field.clone(), reached.path.clone());
            let former_paths = self.paths(reached).into_iter().filter(|former| *former != path).collect();
            matches!(field.field_type, Type::List { .. } | Type::Map { .. }).then_some(ItemHolder {
                field,
                path,
                former_paths,
            })
        };
        reached.iter().filter_map(holder).collect()
    }

    /// Statistics as they are stored, in the types that a schema's columns have.
    pub(crate) fn read_as(&self, mut statistics: FileStatistics, leaves: &[LeafColumn]) -> FileStatistics {
        let newest = self.newest_types();
        for leaf in leaves {
            let Some(written_as) = newest.get(&leaf.id).filter(|written_as| **written_as != leaf.column_type) else {
                continue;
            };
            if let Some(column) = statistics.columns.remove(&leaf.id) {
                statistics.columns.insert(leaf.id, column.read_as(*written_as, leaf.column_type));
            }
        }
        statistics
    }
}

/// The fields of a schema that are reached through structs alone, these among them.
pub(crate) fn reached(schema: &Schema) -> Vec<Reached<'_>> {
    fn walk<'s>(fields: &'s [Field], path: &[String], ids: &[FieldId], all: &mut Vec<Reached<'s>>) {
        for field in fields {
            let path: Vec<String> = path.iter().chain([&field.name]).cloned().collect();
            let ids: Vec<FieldId> = ids.iter().copied().chain([field.id]).collect();
            all.push(Reached { field, path: path.clone(), ids: ids.clone() });
            if let Type::Struct(fields) = &field.field_type {
                walk(fields, &path, &ids, all);
            }
        }
    }
    let mut all = Vec::new();
    walk(schema.fields(), &[], &[], &mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(texts: &[&str]) -> History {
        History::of_texts(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    fn with_struct(outer: &str, inner: &str) -> String {
        format!(
            r#"[{{"id":1,"name":"{outer}","type":{{"type":"struct","fields":[{{"id":2,"name":"{inner}","type":"int32"}}]}}}}]"#
        )
    }

    #[test]
    fn a_column_had_every_name_in_every_name_of_its_structs() {
        let history = history(&[&with_struct("s", "x"), &with_struct("t", "x"), &with_struct("t", "y")]);
        let wanted = history.wanted();
        let former: Vec<String> = wanted[0].former_paths.iter().map(|path| path.join(".")).collect();
        assert_eq!(
            (wanted[0].path.join("."), former),
            ("t.y".to_owned(), ["s.x", "s.y", "t.x"].map(str::to_owned).into())
        );
        assert_eq!(history.count_paths(&reached(history.current())[1]), 4);
    }

    #[test]
    fn a_name_that_was_given_to_another_column_is_none_of_the_former() {
        let history = history(&[
            r#"[{"id":1,"name":"a","type":"int32"},{"id":2,"name":"b","type":"int32"}]"#,
            r#"[{"id":2,"name":"b","type":"int32"},{"id":3,"name":"a","type":"int32"}]"#,
        ]);
        assert!(history.wanted().iter().all(|column| column.former_paths.is_empty()));
        assert_eq!(history.late_leaves().iter().map(|leaf| leaf.id.0).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn a_column_that_is_gone_has_the_last_of_its_types() {
        let history = history(&[
            r#"[{"id":1,"name":"a","type":"int32"},{"id":2,"name":"b","type":"int32"}]"#,
            r#"[{"id":1,"name":"a","type":"int64"},{"id":2,"name":"b","type":"int32"}]"#,
            r#"[{"id":2,"name":"b","type":"int32"}]"#,
        ]);
        assert_eq!(history.newest_types().get(&FieldId(1)), Some(&PrimitiveType::Int64));
    }
}
