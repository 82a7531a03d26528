//! What the columns of a snapshot were called when it was made, where that is not what they are called today.

use std::collections::{BTreeMap, BTreeSet};

use prunus_catalog::{Catalog, SnapshotId, SnapshotRef, Snapshots, TableIdent};
use prunus_statistics::FieldId;

use super::name_mapping::NameMapping;
use super::scan_names::{ColumnRef, Fields, fields_of};
use crate::problem::Problem;

/// The columns of a snapshot by the names of its own schema, and those of the table by the names of today.
#[derive(Debug)]
pub(super) struct Past {
    own: BTreeMap<String, FieldId>,
    today: BTreeMap<String, FieldId>,
    mapping: NameMapping,
}

impl Past {
    /// Of a snapshot; `None` if its schema is that of the table.
    pub(super) async fn load(
        catalog: &Catalog,
        ident: &TableIdent,
        snapshot_id: SnapshotId,
    ) -> Result<Option<Self>, Problem> {
        let own = catalog.load_scan_schema(ident.clone(), SnapshotRef::Id(snapshot_id)).await?;
        let today = catalog.load_scan_schema(ident.clone(), SnapshotRef::Current).await?;
        if own.schema_id == today.schema_id {
            return Ok(None);
        }
        let mapping = catalog.load_table_history(ident.clone(), Snapshots::None, NameMapping::of).await?;
        Ok(Some(Self { own: fields_of(&own.schema), today: fields_of(&today.schema), mapping }))
    }

    /// Whether a name meant another column than it does, in some case or other.
    pub(super) fn is_ambiguous(&self, column: &ColumnRef) -> bool {
        let ColumnRef::Name(name) = column else { return false };
        let folded = name.to_lowercase();
        let of = |fields: &BTreeMap<String, FieldId>| -> BTreeSet<FieldId> {
            fields.iter().filter(|(path, _)| path.to_lowercase() == folded).map(|(_, id)| *id).collect()
        };
        let (own, today) = (of(&self.own), of(&self.today));
        !own.is_empty() && !today.is_empty() && own != today
    }

    /// The fields of the snapshot among these columns, or among all, that the table has no more.
    pub(super) fn gone(&self, columns: Option<&[ColumnRef]>) -> Vec<i32> {
        let today: BTreeSet<FieldId> = self.today.values().copied().collect();
        self.wanted(columns).difference(&today).map(|id| id.0).collect()
    }

    /// A column of the snapshot among these, or among all, that its files call so and the mapping of the table does not find by
    /// that.
    pub(super) fn lost(&self, columns: Option<&[ColumnRef]>) -> Option<String> {
        let wanted = self.wanted(columns);
        let is_lost =
            |(path, id): &(&String, &FieldId)| wanted.contains(id) && !self.mapping.finds(**id, path.split('.'));
        self.own.iter().find(is_lost).map(|(path, _)| path.clone())
    }

    fn wanted(&self, columns: Option<&[ColumnRef]>) -> BTreeSet<FieldId> {
        let own = Fields::from(self.own.clone());
        columns.map_or_else(|| own.all(), |columns| own.named(columns))
    }

    /// What columns are called today that may be selected by the names of the snapshot. One that is gone is left out; what is no name
    /// at all is left in.
    pub(super) fn names_of_today(&self, selected: &[String]) -> Vec<String> {
        let today: BTreeMap<FieldId, &String> = self.today.iter().map(|(path, id)| (*id, path)).collect();
        let mut names = Vec::new();
        for name in selected {
            let own = self.own.get(name);
            if own.is_none() || self.today.contains_key(name) {
                names.push(name.clone());
            }
            names.extend(own.and_then(|id| today.get(id)).filter(|path| **path != name).map(|path| (*path).clone()));
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use prunus_catalog::SchemaId;
    use prunus_catalog::schema::{Field, Schema, Type};
    use prunus_statistics::PrimitiveType;

    use super::*;

    fn schema(fields: &[(i32, &str)]) -> Schema {
        let field = |(id, name): &(i32, &str)| Field {
            id: FieldId(*id),
            name: (*name).to_owned(),
            field_type: Type::Primitive(PrimitiveType::Int32),
            nullable: true,
            default: None,
            doc: None,
        };
        Schema::new(fields.iter().map(field).collect()).unwrap()
    }

    fn past(own: &[(i32, &str)], today: &[(i32, &str)]) -> Past {
        let (own, today) = (schema(own), schema(today));
        let (own_fields, today_fields) = (fields_of(&own), fields_of(&today));
        let mapping = NameMapping::of_parts(&[(SchemaId(1), own), (SchemaId(2), today)], &BTreeSet::new());
        Past { own: own_fields, today: today_fields, mapping }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn lost(past: &Past, among: &[&str]) -> Option<String> {
        past.lost(Some(&ColumnRef::of_names(&names(among))))
    }

    #[test]
    fn a_name_that_another_column_got_is_ambiguous() {
        let past = past(&[(1, "a"), (2, "b")], &[(1, "c"), (2, "b"), (3, "a")]);
        assert_eq!(
            ["a", "b", "c", "none"].map(|name| past.is_ambiguous(&ColumnRef::Name(name.to_owned()))),
            [true, false, false, false]
        );
        assert!(!past.is_ambiguous(&ColumnRef::Id(1)));
    }

    #[test]
    fn a_name_of_another_case_may_be_ambiguous_too() {
        assert!(past(&[(1, "a")], &[(1, "c"), (2, "A")]).is_ambiguous(&ColumnRef::Name("A".to_owned())));
    }

    #[test]
    fn what_the_table_has_no_more_is_gone_if_it_is_wanted() {
        let past = past(&[(1, "a"), (2, "b")], &[(2, "b")]);
        let gone = |among: &[&str]| past.gone(Some(&ColumnRef::of_names(&names(among))));
        assert_eq!((past.gone(None), gone(&["a"]), gone(&["b"]), gone(&[])), (vec![1], vec![1], vec![], vec![]));
    }

    #[test]
    fn a_column_that_the_mapping_does_not_know_is_lost() {
        let renamed = past(&[(1, "a"), (2, "b")], &[(1, "c"), (2, "b")]);
        assert_eq!(renamed.lost(None), None);
        let reused = past(&[(1, "a"), (2, "b")], &[(1, "c"), (2, "b"), (3, "a")]);
        assert_eq!(reused.lost(None).as_deref(), Some("a"));
        assert_eq!(lost(&reused, &["b"]), None);
        let gone = past(&[(1, "a"), (2, "b")], &[(2, "b")]);
        assert_eq!(gone.lost(None), None);
        let named_anew = past(&[(1, "a"), (2, "b")], &[(2, "b"), (3, "a")]);
        assert_eq!(lost(&named_anew, &["b", "a"]).as_deref(), Some("a"));
    }

    #[test]
    fn columns_are_selected_by_the_names_that_they_had() {
        let past = past(&[(1, "a"), (2, "b"), (4, "d")], &[(1, "c"), (2, "b"), (3, "a")]);
        assert_eq!(past.names_of_today(&names(&["b"])), ["b"]);
        assert_eq!(past.names_of_today(&names(&["a"])), ["a", "c"]);
        assert_eq!(past.names_of_today(&names(&["d"])), Vec::<String>::new());
        assert_eq!(past.names_of_today(&names(&["none"])), ["none"]);
    }
}
