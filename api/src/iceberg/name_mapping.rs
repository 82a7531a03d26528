//! Which column a name in a file means, where the file has no field ids.
//!
//! A table has one mapping for all its files, so each name is one column's: the column's that has it now, or else the one's that had it,
//! if only one ever did. Columns that are gone are there, too, for snapshots that have them. What files call otherwise clients cannot
//! find, and plans of such files are refused.

use std::collections::{BTreeMap, BTreeSet};

use prunus_catalog::SchemaId;
use prunus_catalog::schema::{Field, Schema, Type};
use prunus_statistics::FieldId;
use serde::Serialize;

/// The property of a table that holds it, as JSON.
pub(super) const PROPERTY: &str = "schema.name-mapping.default";

/// What the ids of names begin behind that are nobody's. Columns get theirs from 1 on.
const NOBODY: i32 = 2_000_000_000;

/// The names of fields beside each other, and of those below them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct NameMapping {
    fields: Vec<MappedField>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
struct MappedField {
    field_id: i32,
    names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<MappedField>,
    /// Whether what is inside is called by the file, and not by the kind of the field.
    #[serde(skip)]
    is_open: bool,
}

/// The names that each field has and had, oldest first.
type Names = BTreeMap<FieldId, Vec<String>>;

impl NameMapping {
    /// That of a table whose schemas these are, the newest last, and whose files have these leaves.
    pub(super) fn of(schemas: &[(SchemaId, Schema)], leaves: &BTreeSet<Vec<String>>) -> Self {
        let mut names = Names::new();
        for (_, schema) in schemas {
            add_names(schema.fields(), &mut names);
        }
        let newest_first: Vec<&[Field]> = schemas.iter().rev().map(|(_, schema)| schema.fields()).collect();
        let mut owners = BTreeMap::new();
        for name in names.values().flatten() {
            *owners.entry(name.clone()).or_default() += 1;
        }
        let mut mapper = Mapper { names, owners, nobodys: 0 };
        let mut fields = mapper.fields(&newest_first);
        for leaf in leaves {
            mapper.add_leaf(leaf, &mut fields);
        }
        Self { fields }
    }

    /// Whether it takes a name in a file for a column, both dotted paths; without a name, never: then it would take some other
    /// name for it.
    pub(super) fn finds(&self, column: FieldId, name: Option<&str>) -> bool {
        let Some(name) = name else { return false };
        let (mut fields, mut found) = (&self.fields, None);
        for part in name.split('.') {
            let Some(field) = fields.iter().find(|field| field.names.iter().any(|known| known == part)) else {
                return false;
            };
            (fields, found) = (&field.fields, Some(field.field_id));
        }
        found == Some(column.0)
    }
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
    /// How many names were nobody's so far.
    nobodys: i32,
}

impl Mapper {
    /// The fields that stand beside each other in any of the schemas, newest first; those that are gone have the names alone that
    /// only they ever had. A name that is nobody's has an id that no column has: some clients fail at one that is not there.
    fn fields(&mut self, newest_first: &[&[Field]]) -> Vec<MappedField> {
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
        let (mut mapped, mut taken): (Vec<MappedField>, BTreeSet<String>) = Default::default();
        for id in order {
            let same = by_id.get(&id).map(Vec::as_slice).unwrap_or_default();
            let Some(newest) = same.first() else { continue };
            let names = self.names_of(newest, current.contains(&id));
            let fields = self.below(&same.iter().map(|field| &field.field_type).collect::<Vec<_>>());
            taken.extend(names.iter().cloned());
            if !names.is_empty() {
                let is_open = matches!(newest.field_type, Type::Struct(_));
                mapped.push(MappedField { field_id: id.0, names, fields, is_open });
            }
        }
        for field in newest_first.iter().copied().flatten() {
            if taken.insert(field.name.clone()) {
                mapped.push(self.nobodys_field(&field.name));
            }
        }
        mapped
    }

    /// Gives a leaf of files that is no column, and what is around it, ids that no column has.
    fn add_leaf(&mut self, path: &[String], fields: &mut Vec<MappedField>) {
        let Some((name, rest)) = path.split_first() else { return };
        let known = fields.iter().position(|field| field.names.contains(name));
        let index = known.unwrap_or_else(|| {
            fields.push(self.nobodys_field(name));
            fields.len() - 1
        });
        // What lists and maps hold is called as it is meant to be, whatever files call the levels in between.
        if let Some(field) = fields.get_mut(index).filter(|field| field.is_open) {
            self.add_leaf(rest, &mut field.fields);
        }
    }

    fn nobodys_field(&mut self, name: &str) -> MappedField {
        self.nobodys += 1;
        MappedField { field_id: NOBODY + self.nobodys, names: vec![name.to_owned()], fields: Vec::new(), is_open: true }
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
    fn below(&mut self, newest_first: &[&Type]) -> Vec<MappedField> {
        match newest_first.first() {
            None | Some(Type::Primitive(_)) => Vec::new(),
            Some(Type::Struct(_)) => {
                let fields = |of: &&'_ Type| if let Type::Struct(fields) = of { Some(fields.clone()) } else { None };
                let structs: Vec<Vec<Field>> = newest_first.iter().filter_map(fields).collect();
                self.fields(&structs.iter().map(Vec::as_slice).collect::<Vec<_>>())
            }
            Some(Type::List { element_id, .. }) => {
                let element =
                    |of: &&Type| if let Type::List { element, .. } = of { Some((**element).clone()) } else { None };
                let elements: Vec<Type> = newest_first.iter().filter_map(element).collect();
                vec![self.item(*element_id, "element", &elements)]
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
                vec![self.item(*key_id, "key", &keys), self.item(*value_id, "value", &values)]
            }
        }
    }

    fn item(&mut self, id: FieldId, name: &str, newest_first: &[Type]) -> MappedField {
        let fields = self.below(&newest_first.iter().collect::<Vec<_>>());
        MappedField { field_id: id.0, names: vec![name.to_owned()], fields, is_open: false }
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
        NameMapping::of(&schemas, &BTreeSet::new())
    }

    #[test]
    fn every_field_has_its_name() {
        let list = Type::List { element_id: FieldId(3), element: Box::new(Type::Struct(vec![field(4, "x")])) };
        let schema = Schema::new(vec![field(1, "id"), Field { field_type: list, ..field(2, "l") }]).unwrap();
        let mapping = serde_json::to_value(NameMapping::of(&[(SchemaId(1), schema)], &BTreeSet::new())).unwrap();
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
            assert_eq!(mapping.finds(FieldId(column), Some(name)), expected, "{column} {name}");
        }
        assert!(!mapping.finds(FieldId(1), None));
    }

    #[test]
    fn a_name_that_two_had_is_of_the_one_that_has_it() {
        let mapping = mapping(&[&[(1, "a"), (2, "b")], &[(1, "b"), (2, "a")]]);
        assert!(mapping.finds(FieldId(1), Some("b")) && mapping.finds(FieldId(2), Some("a")));
        assert!(!mapping.finds(FieldId(1), Some("a")) && !mapping.finds(FieldId(2), Some("b")));
    }

    #[test]
    fn a_column_that_is_gone_has_what_nobody_else_had() {
        let mapping = mapping(&[&[(1, "a"), (2, "b"), (3, "x")], &[(2, "b")], &[(2, "a")], &[(2, "c")]]);
        assert!(!mapping.finds(FieldId(2), Some("a")) && mapping.finds(FieldId(2), Some("b")));
        assert!(!mapping.finds(FieldId(1), Some("a")) && mapping.finds(FieldId(3), Some("x")));
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
        let mapping = serde_json::to_value(NameMapping::of(&[(SchemaId(1), schema)], &leaves)).unwrap();
        let named = |id: i32, name: &str| json!({"field-id": id, "names": [name]});
        let expected = json!([
            named(1, "id"),
            {"field-id": 2, "names": ["s"], "fields": [named(3, "key"), named(NOBODY + 5, "more")]},
            named(NOBODY + 1, "more"),
            {"field-id": NOBODY + 2, "names": ["other"], "fields": [named(NOBODY + 3, "a"), named(NOBODY + 4, "b")]},
        ]);
        assert_eq!(mapping, expected);
    }
}
