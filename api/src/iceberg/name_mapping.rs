//! Which column a name in a file means, where the file has no field ids.
//!
//! A table has one mapping for all its files, so each name is one column's: the column's that has it now, or else the one's that had it,
//! if only one ever did. Columns that are gone are there, too, for snapshots that have them. What files call otherwise clients cannot
//! find, and plans of such files are refused.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use prunus_catalog::schema::{Field, Schema, Type};
use prunus_catalog::{SchemaId, TableHistory};
use prunus_statistics::FieldId;
use serde::Serialize;

use super::scan_names::fields_of;

/// The property of a table that holds it, as JSON.
pub(super) const PROPERTY: &str = "schema.name-mapping.default";

/// What the ids of names begin behind that are nobody's: far behind those that the catalog gives, but a table that was made of a file
/// has the ids of that.
const NOBODY: i32 = 2_000_000_000;

/// The levels that files have inside a list or map, where they are written as usual, with what these are in the mapping.
const LEVELS_OF_ITEMS: [(&str, &str, &str); 11] = [
    ("list", "element", "element"),
    ("list", "item", "element"),
    ("bag", "array_element", "element"),
    ("key_value", "key", "key"),
    ("key_value", "value", "value"),
    ("map", "key", "key"),
    ("map", "value", "value"),
    ("entries", "key", "key"),
    ("entries", "value", "value"),
    ("entries", "keys", "key"),
    ("entries", "values", "value"),
];

/// The names of fields beside each other, and of those below them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct NameMapping {
    fields: Vec<MappedField>,
    /// Where in `fields` each name is.
    #[serde(skip)]
    by_name: HashMap<String, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
struct MappedField {
    field_id: i32,
    names: Vec<String>,
    #[serde(skip_serializing_if = "NameMapping::is_empty")]
    fields: NameMapping,
    /// Whether what is inside is called by the file, and not by the kind of the field.
    #[serde(skip)]
    is_open: bool,
}

/// The names that each field has and had, oldest first.
type Names = BTreeMap<FieldId, Vec<String>>;

impl NameMapping {
    /// That of a table.
    pub(super) fn of(history: &TableHistory) -> Self {
        Self::of_parts(&history.schemas, &history.leaves)
    }

    /// That of a table whose schemas these are, the newest last, and whose files have these leaves.
    pub(super) fn of_parts(schemas: &[(SchemaId, Schema)], leaves: &BTreeSet<Vec<String>>) -> Self {
        let mut names = Names::new();
        for (_, schema) in schemas {
            add_names(schema.fields(), &mut names);
        }
        let newest_first: Vec<&[Field]> = schemas.iter().rev().map(|(_, schema)| schema.fields()).collect();
        let mut owners = BTreeMap::new();
        for name in names.values().flatten() {
            *owners.entry(name.clone()).or_default() += 1;
        }
        let ids = schemas.iter().flat_map(|(_, schema)| fields_of(schema).into_values()).map(|id| id.0);
        let taken = ids.filter(|id| *id > NOBODY).collect();
        let mut mapper = Mapper { names, owners, taken, last_nobody: NOBODY };
        let mut mapping = mapper.fields(&newest_first);
        for leaf in leaves {
            mapper.add_leaf(leaf.iter().map(String::as_str), &mut mapping);
            // What is in a list or map is called as that has it, whatever levels files have in between.
            mapper.add_leaf(without_levels_of_items(leaf), &mut mapping);
        }
        mapping
    }

    /// Whether it takes a name in a file for a column, from the top down.
    pub(super) fn finds<'n>(&self, column: FieldId, name: impl IntoIterator<Item = &'n str>) -> bool {
        let (mut mapping, mut found) = (self, None);
        for part in name {
            let Some(field) = mapping.get(part) else { return false };
            (mapping, found) = (&field.fields, Some(field.field_id));
        }
        found == Some(column.0)
    }

    fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    fn get(&self, name: &str) -> Option<&MappedField> {
        self.fields.get(*self.by_name.get(name)?)
    }

    fn push(&mut self, field: MappedField) {
        let place = self.fields.len();
        self.by_name.extend(field.names.iter().cloned().map(|name| (name, place)));
        self.fields.push(field);
    }
}

/// The names of a leaf without those that only say that there is a list or map.
fn without_levels_of_items(path: &[String]) -> Vec<&str> {
    let (mut names, mut rest) = (Vec::new(), path);
    while let Some((name, below)) = rest.split_first() {
        let next = below.first();
        let is_it = |(level, item, _): &&(&str, &str, &str)| name == level && next.is_some_and(|next| next == item);
        // A list or map has a name first.
        if let Some((.., item)) = LEVELS_OF_ITEMS.iter().find(is_it).filter(|_| !names.is_empty()) {
            names.push(*item);
            rest = below.get(1..).unwrap_or_default();
        } else {
            names.push(name);
            rest = below;
        }
    }
    names
}

fn add_names(fields: &[Field], names: &mut Names) {
    for field in fields {
        let known = names.entry(field.id).or_default();
        if !known.contains(&field.name) {
            known.push(field.name.clone());
        }
        add_below(&field.field_type, names);
    }
}

fn add_below(of: &Type, names: &mut Names) {
    match of {
        Type::Primitive(_) => {}
        Type::Struct(fields) => add_names(fields, names),
        Type::List { element, .. } => add_below(element, names),
        Type::Map { key, value, .. } => {
            add_below(key, names);
            add_below(value, names);
        }
    }
}

/// Maps fields by the names that all fields have and had.
struct Mapper {
    names: Names,
    /// How many fields have or had a name.
    owners: BTreeMap<String, usize>,
    /// The ids of fields behind [`NOBODY`].
    taken: BTreeSet<i32>,
    /// The last id that was nobody's.
    last_nobody: i32,
}

impl Mapper {
    /// The fields that stand beside each other in any of the schemas, newest first; those that are gone have the names alone that
    /// only they ever had. A name that is nobody's has an id that no column has: some clients fail at one that is not there.
    fn fields(&mut self, newest_first: &[&[Field]]) -> NameMapping {
        let current: BTreeSet<FieldId> =
            newest_first.first().copied().unwrap_or_default().iter().map(|field| field.id).collect();
        // Each field as it was last, with all types that it had.
        let (mut order, mut by_id): (Vec<FieldId>, BTreeMap<FieldId, Vec<&Field>>) = Default::default();
        for field in newest_first.iter().copied().flatten() {
            let same = by_id.entry(field.id).or_default();
            if same.is_empty() {
                order.push(field.id);
            }
            same.push(field);
        }
        let mut mapped = NameMapping::default();
        for id in order {
            let same = by_id.get(&id).map(Vec::as_slice).unwrap_or_default();
            let Some(newest) = same.first() else { continue };
            let names = self.names_of(newest, current.contains(&id));
            let fields = self.below(&same.iter().map(|field| &field.field_type).collect::<Vec<_>>());
            if !names.is_empty() {
                let is_open = matches!(newest.field_type, Type::Struct(_));
                mapped.push(MappedField { field_id: id.0, names, fields, is_open });
            }
        }
        for field in newest_first.iter().copied().flatten() {
            if mapped.get(&field.name).is_none() {
                mapped.push(self.nobodys_field(&field.name));
            }
        }
        mapped
    }

    /// Gives a leaf of files that is no column, and what is around it, ids that no column has.
    fn add_leaf<'n>(&mut self, path: impl IntoIterator<Item = &'n str>, mapping: &mut NameMapping) {
        let (mut mapping, mut is_open) = (mapping, true);
        for name in path {
            if mapping.get(name).is_none() {
                // What a list or map holds is there already.
                if !is_open {
                    return;
                }
                let field = self.nobodys_field(name);
                mapping.push(field);
            }
            let place = mapping.by_name.get(name).copied().unwrap_or_default();
            let Some(field) = mapping.fields.get_mut(place) else { return };
            (mapping, is_open) = (&mut field.fields, field.is_open);
        }
    }

    fn nobodys_field(&mut self, name: &str) -> MappedField {
        let free = (self.last_nobody.saturating_add(1)..=i32::MAX).find(|id| !self.taken.contains(id));
        self.last_nobody = free.unwrap_or(i32::MAX);
        let (names, fields) = (vec![name.to_owned()], NameMapping::default());
        MappedField { field_id: self.last_nobody, names, fields, is_open: true }
    }

    /// The names by which a field is found, the one that it has first. Of those that it had, they are those that no other field has or
    /// had; fields of other structs count, too, since which struct a field was in is not asked.
    fn names_of(&self, field: &Field, is_current: bool) -> Vec<String> {
        let is_of_one = |name: &String| self.owners.get(name) == Some(&1);
        let is_its = |name: &&String| (is_current && **name == field.name) || is_of_one(name);
        let mut names: Vec<String> = self.names.get(&field.id).into_iter().flatten().filter(is_its).cloned().collect();
        names.sort_by_key(|name| *name != field.name);
        names
    }

    /// What is mapped inside a field, which had these types, newest first. Only structs change what they hold.
    fn below(&mut self, newest_first: &[&Type]) -> NameMapping {
        match newest_first.first() {
            None | Some(Type::Primitive(_)) => NameMapping::default(),
            Some(Type::Struct(_)) => {
                let fields = |of: &&'_ Type| if let Type::Struct(fields) = of { Some(fields.clone()) } else { None };
                let structs: Vec<Vec<Field>> = newest_first.iter().filter_map(fields).collect();
                self.fields(&structs.iter().map(Vec::as_slice).collect::<Vec<_>>())
            }
            Some(Type::List { element_id, .. }) => {
                let element =
                    |of: &&Type| if let Type::List { element, .. } = of { Some((**element).clone()) } else { None };
                let elements: Vec<Type> = newest_first.iter().filter_map(element).collect();
                self.items([(*element_id, "element", elements)])
            }
            Some(Type::Map { key_id, value_id, .. }) => {
                let both = |of: &&Type| {
                    if let Type::Map { key, value, .. } = of {
                        Some(((**key).clone(), (**value).clone()))
                    } else {
                        None
                    }
                };
                let (keys, values): (Vec<Type>, Vec<Type>) = newest_first.iter().filter_map(both).unzip();
                self.items([(*key_id, "key", keys), (*value_id, "value", values)])
            }
        }
    }

    /// What a list or map holds, each with the types that it had.
    fn items<const N: usize>(&mut self, items: [(FieldId, &str, Vec<Type>); N]) -> NameMapping {
        let mut mapped = NameMapping::default();
        for (id, name, newest_first) in items {
            let fields = self.below(&newest_first.iter().collect::<Vec<_>>());
            let is_open = matches!(newest_first.first(), Some(Type::Struct(_)));
            mapped.push(MappedField { field_id: id.0, names: vec![name.to_owned()], fields, is_open });
        }
        mapped
    }
}

#[cfg(test)]
mod tests {
    use prunus_statistics::PrimitiveType;
    use serde_json::json;

    use super::*;

    fn field(id: i32, name: &str) -> Field {
        let field_type = Type::Primitive(PrimitiveType::Int32);
        Field { id: FieldId(id), name: name.to_owned(), field_type, nullable: true, default: None, doc: None }
    }

    fn mapping(schemas: &[&[(i32, &str)]]) -> NameMapping {
        let schema =
            |fields: &&[(i32, &str)]| Schema::new(fields.iter().map(|(id, name)| field(*id, name)).collect()).unwrap();
        let schemas = (1..).map(SchemaId).zip(schemas.iter().map(schema)).collect::<Vec<_>>();
        NameMapping::of_parts(&schemas, &BTreeSet::new())
    }

    #[test]
    fn every_field_has_its_name() {
        let list = Type::List { element_id: FieldId(3), element: Box::new(Type::Struct(vec![field(4, "x")])) };
        let schema = Schema::new(vec![field(1, "id"), Field { field_type: list, ..field(2, "l") }]).unwrap();
        let mapping = serde_json::to_value(NameMapping::of_parts(&[(SchemaId(1), schema)], &BTreeSet::new())).unwrap();
        let x = json!({"field-id": 4, "names": ["x"]});
        let element = json!({"field-id": 3, "names": ["element"], "fields": [x]});
        let expected = json!([{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["l"], "fields": [element]}]);
        assert_eq!(mapping, expected);
    }

    #[test]
    fn a_former_name_is_found() {
        let mapping = mapping(&[&[(1, "a")], &[(1, "b")], &[(1, "c"), (2, "d")]]);
        for (column, name, expected) in
            [(1, "a", true), (1, "b", true), (1, "c", true), (1, "d", false), (2, "a", false), (2, "d", true)]
        {
            assert_eq!(mapping.finds(FieldId(column), [name]), expected, "{column} {name}");
        }
    }

    #[test]
    fn a_name_that_two_had_is_of_the_one_that_has_it() {
        let mapping = mapping(&[&[(1, "a"), (2, "b")], &[(1, "b"), (2, "a")]]);
        assert!(mapping.finds(FieldId(1), ["b"]) && mapping.finds(FieldId(2), ["a"]));
        assert!(!mapping.finds(FieldId(1), ["a"]) && !mapping.finds(FieldId(2), ["b"]));
    }

    #[test]
    fn a_column_that_is_gone_has_what_nobody_else_had() {
        let mapping = mapping(&[&[(1, "a"), (2, "b"), (3, "x")], &[(2, "b")], &[(2, "a")], &[(2, "c")]]);
        assert!(!mapping.finds(FieldId(2), ["a"]) && mapping.finds(FieldId(2), ["b"]));
        assert!(!mapping.finds(FieldId(1), ["a"]) && mapping.finds(FieldId(3), ["x"]));
        // Files that call a column so can be read, without it.
        let json = serde_json::to_value(&mapping).unwrap();
        let nobody = json.as_array().unwrap().iter().find(|field| field["names"] == json!(["a"])).unwrap();
        assert_eq!(nobody["field-id"], NOBODY + 1);
    }

    #[test]
    fn what_files_hold_beside_columns_has_ids_that_no_column_has() {
        let path = |text: &str| text.split('.').map(str::to_owned).collect();
        let inside = Field { field_type: Type::Struct(vec![field(3, "key")]), ..field(2, "s") };
        let schema = Schema::new(vec![field(1, "id"), inside]).unwrap();
        let leaves = ["id", "more", "s.key", "s.more", "other.a", "other.b"].map(path).into();
        let mapping = serde_json::to_value(NameMapping::of_parts(&[(SchemaId(1), schema)], &leaves)).unwrap();
        let named = |id: i32, name: &str| json!({"field-id": id, "names": [name]});
        let expected = json!([
            named(1, "id"),
            {"field-id": 2, "names": ["s"], "fields": [named(3, "key"), named(NOBODY + 5, "more")]},
            named(NOBODY + 1, "more"),
            {"field-id": NOBODY + 2, "names": ["other"], "fields": [named(NOBODY + 3, "a"), named(NOBODY + 4, "b")]},
        ]);
        assert_eq!(mapping, expected);
    }

    #[test]
    fn what_files_hold_in_lists_and_maps_is_called_as_these_have_it() {
        let path = |text: &str| text.split('.').map(str::to_owned).collect();
        let list = Type::List { element_id: FieldId(2), element: Box::new(Type::Struct(vec![field(3, "x")])) };
        let schema = Schema::new(vec![Field { field_type: list, ..field(1, "l") }]).unwrap();
        let leaves = ["l.list.element.x", "l.list.element.y", "m.list.element", "n.key_value.key"].map(path).into();
        let mapping = NameMapping::of_parts(&[(SchemaId(1), schema)], &leaves);
        assert!(mapping.finds(FieldId(3), ["l", "element", "x"]));
        for name in [&["l", "element", "y"][..], &["m", "element"], &["m", "list", "element"], &["n", "key"]] {
            assert!((NOBODY + 1..NOBODY + 20).any(|id| mapping.finds(FieldId(id), name.iter().copied())), "{name:?}");
        }
        assert!(mapping.get("l").unwrap().fields.get("list").is_none());
    }

    #[test]
    fn ids_of_nobody_are_no_columns() {
        let schema = Schema::new(vec![field(NOBODY + 1, "a"), field(NOBODY + 3, "b")]).unwrap();
        let leaves = ["x", "y"].map(|name| vec![name.to_owned()]).into();
        let mapping = NameMapping::of_parts(&[(SchemaId(1), schema)], &leaves);
        assert!(mapping.finds(FieldId(NOBODY + 2), ["x"]) && mapping.finds(FieldId(NOBODY + 4), ["y"]));
    }
}
