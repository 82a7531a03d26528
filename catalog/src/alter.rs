//! A table becomes another: renamed, with other properties, in another order, with another schema. All or nothing, in one job of the
//! writer that reads what is there, works out what follows, and writes it: nothing comes in between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use prunus_manifest::{CursorKind, FileLeaf, NewSchema, SnapshotId, TableChange, TableId, TableRow, WriteTransaction};
use prunus_statistics::{FieldId, PrimitiveType, Reading};

use crate::catalog::Catalog;
use crate::commit::MAX_COMMIT_ATTEMPTS;
use crate::evolution::{Evolved, SchemaChange, evolve};
use crate::history::{History, Reached, reached};
use crate::journal::{Change, Made, RENAMED_FROM, RENAMED_TO};
use crate::limits::check_notes;
use crate::name::TableIdent;
use crate::once::{Done, Once};
use crate::properties::StatisticsProperties;
use crate::schema::{LeafColumn, Schema, Type};
use crate::schema_json::schema_to_text;
use crate::tables::{self, Table, cluster_by_ids, stored_columns};
use crate::{Error, Fault, Result, blocking, column_ref, file_columns};

/// The most paths that a column has and had: each of its names in each of those of the structs around it.
pub const MAX_COLUMN_PATHS: usize = 256;

/// The most schemas that a table has and had.
pub const MAX_SCHEMAS: usize = 1_024;

/// The most fields that all schemas of a table, present and past, have together.
pub const MAX_FIELDS_OF_ALL_SCHEMAS: usize = 200_000;

/// What is to become of a table. What is not named stays as it is.
#[derive(Clone, Debug, Default)]
pub struct AlterRequest {
    /// Its new name, in whichever namespace.
    pub rename: Option<TableIdent>,
    /// Properties by key: their new value, or `None` for one that goes.
    pub properties: BTreeMap<String, Option<String>>,
    /// The columns of the new schema that its manifests are to be clustered by. Without, they stay; one that is dropped is none of
    /// them any more.
    pub cluster_by: Option<Vec<String>>,
    /// Changes of its schema, in their order.
    pub schema: Vec<SchemaChange>,
    /// What was found wrong with the request when it was read. With any, it is looked at as far as can be and refused.
    pub faults: Vec<Fault>,
}

/// The fields of which files of a table have partition values, up to a snapshot.
struct SeenPartitions {
    table_id: TableId,
    snapshot_id: SnapshotId,
    fields: BTreeSet<FieldId>,
}

impl Catalog {
    /// Changes a table.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every fault found, [`Error::NotFound`] for the table or the new namespace,
    /// [`Error::AlreadyExists`] if the new name is taken, [`Error::HeadMoved`], [`Error::Store`].
    pub async fn alter_table(&self, ident: TableIdent, request: AlterRequest) -> Result<Table> {
        self.alter_table_once(ident, request, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::alter_table`], and [`Error::KeyReused`].
    pub async fn alter_table_once(
        &self,
        ident: TableIdent,
        request: AlterRequest,
        once: Once<Table>,
    ) -> Result<Done<Table>> {
        let catalog = self.clone();
        // The heads are forgotten also where nobody waits for the answer any more.
        let alter = async move {
            let renamed = request.rename.clone();
            let done = catalog.alter_to_the_end(&ident, request, once).await;
            for ident in std::iter::once(&ident).chain(&renamed) {
                catalog.heads.forget(ident);
            }
            catalog.files_came.notify_one();
            done
        };
        blocking::to_the_end(alter).await
    }

    async fn alter_to_the_end(
        &self,
        ident: &TableIdent,
        request: AlterRequest,
        once: Once<Table>,
    ) -> Result<Done<Table>> {
        let (place, request) = (Arc::new(self.admission.change()?), Arc::new(request));
        for _ in 0..MAX_COMMIT_ATTEMPTS {
            let seen = if request.may_move_values() { Some(self.see_partitions(ident).await?) } else { None };
            let (ident, request) = (ident.clone(), Arc::clone(&request));
            let alter = move |tx: &WriteTransaction<'_>| alter(tx, &ident, &request, seen.as_ref());
            match self.write_once_at(&place, once.clone(), alter).await.0 {
                Err(Error::HeadMoved) => {}
                done => return done,
            }
        }
        Err(Error::HeadMoved)
    }

    /// Looks at every file of the table, which no commit is to wait for.
    async fn see_partitions(&self, ident: &TableIdent) -> Result<SeenPartitions> {
        let ident = ident.clone();
        self.read_for_change(move |tx, _| {
            let row = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let fields = tx.list_partition_fields(row.table_id)?;
            Ok(SeenPartitions { table_id: row.table_id, snapshot_id: row.current_snapshot, fields })
        })
        .await
    }
}

impl AlterRequest {
    /// Whether a column may become of a type that stores the same values as other ones, or reads other ones from paths.
    fn may_move_values(&self) -> bool {
        let moves = |to: PrimitiveType| to.is_float() || matches!(to, PrimitiveType::Timestamp(_));
        self.schema.iter().any(|change| matches!(change, SchemaChange::Widen { to, .. } if moves(*to)))
    }

    /// What the journal is told of it; `None` where it makes no difference. Of properties it is told the keys: what stands there is
    /// their owner's.
    fn told(&self, ident: &TableIdent, row: &TableRow, change: &TableChange) -> Option<Change> {
        let mut told = Change::of_table("alter_table", ident);
        let renamed = self.rename.as_ref().filter(|to| *to != ident);
        if let Some(to) = renamed {
            told = told.with(RENAMED_TO, to.to_string());
        }
        if change.schema.is_some() {
            let changes: Vec<String> = self.schema.iter().map(SchemaChange::to_string).collect();
            told = told.with_list("schema", &changes);
        }
        let is_reordered = change.cluster_by.as_ref().is_some_and(|ids| *ids != row.cluster_by);
        if let Some(keys) = self.cluster_by.as_ref().filter(|_| is_reordered) {
            told = told.with_list("cluster_by", keys);
        }
        if change.properties.is_some() {
            told = told.with_list("properties", &self.properties.keys().cloned().collect::<Vec<_>>());
        }
        let is_changed = renamed.is_some() || change.schema.is_some() || is_reordered || change.properties.is_some();
        is_changed.then_some(told)
    }

    /// What the journal is told of a table that comes from another namespace: who sees this one alone would not hear of it.
    fn told_of_new_namespace(&self, ident: &TableIdent) -> Option<Change> {
        let to = self.rename.as_ref().filter(|to| to.namespace != ident.namespace)?;
        Some(Change::of_table("alter_table", to).with(RENAMED_FROM, ident.to_string()))
    }

    /// The name of a change in the request, the last that is meant; of all of them where none can be told.
    fn place_of(&self, is_meant: impl Fn(&SchemaChange) -> bool) -> String {
        let index = self.schema.iter().rposition(is_meant);
        index.map_or_else(|| "schema".to_owned(), |index| format!("schema[{index}]"))
    }
}

fn alter(
    tx: &WriteTransaction<'_>,
    ident: &TableIdent,
    request: &AlterRequest,
    seen: Option<&SeenPartitions>,
) -> Result<Made<Table>> {
    let row = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
    let history = History::load(tx, &row)?;
    let mut faults = request.faults.clone();
    let evolved = or_faults(evolve(history.current(), row.last_field_id, &request.schema), &mut faults)?;
    let evolved = evolved.filter(|evolved| evolved.schema != *history.current());
    let schema = evolved.as_ref().map_or(history.current(), |evolved| &evolved.schema);
    if let Some(Evolved { schema, .. }) = &evolved {
        let check = Check { tx, row: &row, request, before: &history, after: &history.followed_by(schema.clone()) };
        faults.extend(check.run(seen)?);
    }
    // Of a schema that cannot be made nobody knows the columns.
    let is_schema_made = !faults.iter().any(is_of_schema);
    let cluster_by = match cluster_by(request, &row, schema) {
        _ if !is_schema_made => None,
        Ok(cluster_by) => cluster_by,
        Err(of_keys) => {
            faults.extend(of_keys);
            None
        }
    };
    let properties = properties(request, &row.properties);
    let is_schema_new = evolved.is_some();
    if let Some(properties) = &properties {
        faults.extend(faults_of_properties(request, properties, is_schema_made.then_some(schema)));
    }
    if !faults.is_empty() {
        return Err(Error::Invalid(faults));
    }
    // Files may be worth to be looked at again: other columns, or another policy. Other notes of the owner are no reason.
    let policy = |properties| StatisticsProperties::parse(properties).ok();
    if is_schema_new || policy(properties.as_ref().unwrap_or(&row.properties)) != policy(&row.properties) {
        for kind in [CursorKind::NanCounts, CursorKind::Loose] {
            tx.reset_audit_cursor(row.table_id, kind)?;
        }
    }
    let change = TableChange {
        table_id: row.table_id,
        name: request.rename.as_ref().map(|to| (to.namespace.as_str().to_owned(), to.name.as_str().to_owned())),
        schema: evolved.map(new_schema).transpose()?,
        cluster_by,
        properties,
    };
    let told = request.told(ident, &row, &change);
    let altered = tables::load(tx, tx.alter_table(&change)?)?;
    Ok(Made::changes(altered, told.into_iter().chain(request.told_of_new_namespace(ident)).collect()))
}

/// Whether it is a change of the schema that is at fault.
fn is_of_schema(fault: &Fault) -> bool {
    fault.at.as_deref().is_some_and(|at| at == "schema" || at.starts_with("schema["))
}

/// What came of it, or `None` with its faults added.
fn or_faults<T>(result: Result<T>, faults: &mut Vec<Fault>) -> Result<Option<T>> {
    match result {
        Err(Error::Invalid(found)) => {
            faults.extend(found);
            Ok(None)
        }
        result => result.map(Some),
    }
}

/// The new order of the table; `None` if it stays.
fn cluster_by(request: &AlterRequest, row: &TableRow, schema: &Schema) -> Result<Option<Vec<FieldId>>, Vec<Fault>> {
    let leaves = schema.leaf_columns();
    if let Some(keys) = &request.cluster_by {
        return cluster_by_ids(keys, &leaves, &schema.item_columns()).map(Some);
    }
    let is_left = |id: &&FieldId| leaves.iter().any(|leaf| leaf.id == **id);
    let left: Vec<FieldId> = row.cluster_by.iter().filter(is_left).copied().collect();
    Ok((left != row.cluster_by).then_some(left))
}

fn properties(request: &AlterRequest, before: &BTreeMap<String, String>) -> Option<BTreeMap<String, String>> {
    let mut properties = before.clone();
    for (key, value) in &request.properties {
        match value {
            Some(value) => properties.insert(key.clone(), value.clone()),
            None => properties.remove(key),
        };
    }
    (properties != *before).then_some(properties)
}

/// What is wrong with the properties that a table would have, and with those that are set; the columns that these name are looked
/// for where the schema is known.
fn faults_of_properties(
    request: &AlterRequest,
    properties: &BTreeMap<String, String>,
    schema: Option<&Schema>,
) -> Vec<Fault> {
    let mut faults = StatisticsProperties::parse(properties).err().unwrap_or_default();
    // What is taken away can only be less.
    if request.properties.values().any(Option::is_some) {
        faults.extend(check_notes("properties", properties));
    }
    let Some(schema) = schema else { return faults };
    // Of keys that were set before, the column may be gone.
    let set = request.properties.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect();
    for fault in StatisticsProperties::parse_for(&set, schema).err().unwrap_or_default() {
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    faults
}

fn new_schema(Evolved { schema, last_field_id }: Evolved) -> Result<NewSchema> {
    Ok(NewSchema {
        text: schema_to_text(&schema).map_err(|_| Error::StoredSchema)?,
        columns: stored_columns(&schema),
        last_field_id,
    })
}

/// A new schema, held against what the table has and had.
struct Check<'a> {
    tx: &'a WriteTransaction<'a>,
    row: &'a TableRow,
    request: &'a AlterRequest,
    before: &'a History,
    after: &'a History,
}

impl Check<'_> {
    fn run(&self, seen: Option<&SeenPartitions>) -> Result<Vec<Fault>> {
        let mut faults = Vec::new();
        if self.after.len() > MAX_SCHEMAS {
            faults.push(Fault::at("schema", format!("a table has and had at most {MAX_SCHEMAS} schemas")));
        }
        if self.after.count_fields() > MAX_FIELDS_OF_ALL_SCHEMAS {
            let message = format!(
                "the schemas that a table has and had have at most {MAX_FIELDS_OF_ALL_SCHEMAS} fields together"
            );
            faults.push(Fault::at("schema", message));
        }
        faults.extend(self.check_partitions(seen)?);
        let too_many: Vec<Fault> = reached(self.schema())
            .iter()
            .filter(|column| self.after.count_paths(column) > MAX_COLUMN_PATHS)
            .map(|column| self.fault_of_name(column, format!("a column has and had at most {MAX_COLUMN_PATHS} paths")))
            .collect();
        // These are not to be put together.
        if too_many.is_empty() {
            faults.extend(self.check_names()?);
        }
        faults.extend(too_many);
        Ok(faults)
    }

    fn schema(&self) -> &Schema {
        self.after.current()
    }

    /// A partition value does not say which type it was stored as. Engines read it as one of the new type from the text of a
    /// path: `0.1` is another number among wider floats.
    fn check_partitions(&self, seen: Option<&SeenPartitions>) -> Result<Vec<Fault>> {
        let before = self.before.newest_types();
        let changes_values = |from: PrimitiveType, to: PrimitiveType| {
            !Reading::of(from, to).keeps_values() || (from.is_float() && from != to)
        };
        let is_moved =
            |leaf: &LeafColumn| before.get(&leaf.id).is_some_and(|from| changes_values(*from, leaf.column_type));
        let moved: Vec<LeafColumn> = self.schema().leaf_columns().into_iter().filter(is_moved).collect();
        if moved.is_empty() {
            return Ok(Vec::new());
        }
        let is_of_head = |seen: &&SeenPartitions| {
            (seen.table_id, seen.snapshot_id) == (self.row.table_id, self.row.current_snapshot)
        };
        let seen = seen.filter(is_of_head).ok_or(Error::HeadMoved)?;
        let used = moved.into_iter().filter(|leaf| seen.fields.contains(&leaf.id));
        let fault = |leaf: LeafColumn| {
            let key = column_ref::key(&leaf.path);
            let is_meant = |change: &SchemaChange| matches!(change, SchemaChange::Widen { column, .. } if *column == key || *column == leaf.id.to_string());
            let become_what = if leaf.column_type.is_float() { "wider floats" } else { "timestamps" };
            let message = format!(
                "files of the table have partition values of the column, and those cannot become {become_what}"
            );
            Fault::at(self.request.place_of(is_meant), message).in_column(key)
        };
        Ok(used.map(fault).collect())
    }

    /// A file that is known not to hold a column must not seem to hold it by a name that the column is given.
    fn check_names(&self) -> Result<Vec<Fault>> {
        let former: BTreeMap<FieldId, Vec<Vec<String>>> =
            reached(self.before.current()).iter().map(|column| (column.field.id, self.before.paths(column))).collect();
        let columns = reached(self.schema());
        let is_column = |column: &&Reached<'_>| !matches!(column.field.field_type, Type::Struct(_));
        let mut renamed: Vec<(&Reached<'_>, Vec<Vec<String>>)> = Vec::new();
        for column in columns.iter().filter(is_column) {
            // One that is new is looked for in the files by its names.
            let Some(former) = former.get(&column.field.id) else { continue };
            let paths = self.after.paths(column).into_iter().filter(|path| !former.contains(path)).collect();
            renamed.push((column, paths));
        }
        renamed.retain(|(_, paths)| !paths.is_empty());
        if renamed.is_empty() {
            return Ok(Vec::new());
        }
        let first = self.before.first_leaves();
        let sets = self.tx.list_leaf_sets(self.row.table_id)?;
        let mistaken = |(column, paths): &(&Reached<'_>, Vec<Vec<String>>)| {
            let leaf = sets.iter().find_map(|set| file_columns::mistaken_for(set, &first, column.field.id, paths))?;
            Some(self.mistaken(column, leaf))
        };
        Ok(renamed.iter().filter_map(mistaken).collect())
    }

    fn mistaken(&self, column: &Reached<'_>, leaf: &FileLeaf) -> Fault {
        let message =
            "files of the table do not hold the column, but another one of that name, which they would be read for";
        let evidence = format!("a file has `{}`", column_ref::key(&leaf.path));
        self.fault_of_name(column, message.to_owned()).with_evidence(column_ref::key(&column.path), evidence)
    }

    fn fault_of_name(&self, column: &Reached<'_>, message: String) -> Fault {
        let is_meant =
            |change: &SchemaChange| matches!(change, SchemaChange::Rename { to, .. } if column.path.contains(to));
        Fault::at(self.request.place_of(is_meant), message).in_column(column_ref::key(&column.path))
    }
}

#[cfg(test)]
mod tests {
    use prunus_manifest::SchemaColumn;

    use super::*;
    use crate::{CatalogOptions, FieldJson, NewTable, SchemaSource};

    /// A catalog with a table of one column `a`, that had so many schemas before, in which it was called by so many names.
    async fn catalog_with_schemas(schemas: usize, names: usize) -> (Catalog, TableIdent, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let ident: TableIdent = "n.t".parse().unwrap();
        catalog.create_namespace(ident.namespace.clone(), BTreeMap::new()).await.unwrap();
        let field: FieldJson = serde_json::from_str(r#"{"name": "n0", "type": "int64"}"#).unwrap();
        let table = NewTable {
            ident: ident.clone(),
            schema: SchemaSource::Fields(vec![field.to_new_field().unwrap()]),
            location: None,
            cluster_by: None,
            properties: BTreeMap::new(),
        };
        catalog.create_table(table).await.unwrap();
        let of = ident.clone();
        let rename = move |tx: &WriteTransaction<'_>| {
            let TableRow { table_id, .. } = tx.load_table(of.namespace.as_str(), of.name.as_str())?;
            let others = (1..schemas).map(|number| format!("n{}", number % names));
            for name in others.chain(["a".to_owned()]) {
                let text = format!(r#"[{{"id":1,"name":"{name}","type":"int64"}}]"#);
                let column = SchemaColumn { field_id: FieldId(1), column_type: PrimitiveType::Int64 };
                let schema = NewSchema { text, columns: vec![column], last_field_id: FieldId(1) };
                let change =
                    TableChange { table_id, name: None, schema: Some(schema), cluster_by: None, properties: None };
                tx.alter_table(&change)?;
            }
            Ok(())
        };
        catalog.write(rename).await.unwrap();
        (catalog, ident, folder)
    }

    fn request(change: SchemaChange) -> AlterRequest {
        AlterRequest { schema: vec![change], ..AlterRequest::default() }
    }

    fn refusal(result: Result<Table>) -> Option<(String, String)> {
        match result {
            Ok(_) => None,
            Err(Error::Invalid(faults)) => {
                faults.into_iter().next().map(|fault| (fault.at.unwrap_or_default(), fault.message))
            }
            Err(other) => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_column_has_only_so_many_names() {
        let rename = || request(SchemaChange::Rename { column: "a".to_owned(), to: "b".to_owned() });
        let (catalog, ident, _folder) = catalog_with_schemas(MAX_COLUMN_PATHS - 2, MAX_COLUMN_PATHS).await;
        assert_eq!(refusal(catalog.alter_table(ident, rename()).await), None);
        let (catalog, ident, _folder) = catalog_with_schemas(MAX_COLUMN_PATHS - 1, MAX_COLUMN_PATHS).await;
        let message = format!("a column has and had at most {MAX_COLUMN_PATHS} paths");
        assert_eq!(refusal(catalog.alter_table(ident, rename()).await), Some(("schema[0]".to_owned(), message)));
    }

    #[tokio::test]
    async fn a_table_has_only_so_many_schemas() {
        let add = |name: &str| {
            let field: FieldJson = serde_json::from_value(serde_json::json!({"name": name, "type": "date"})).unwrap();
            request(SchemaChange::Add { field: field.to_new_field().unwrap(), place: crate::FieldPlace::Last })
        };
        let (catalog, ident, _folder) = catalog_with_schemas(MAX_SCHEMAS - 2, 2).await;
        assert_eq!(refusal(catalog.alter_table(ident.clone(), add("x")).await), None);
        let message = format!("a table has and had at most {MAX_SCHEMAS} schemas");
        assert_eq!(refusal(catalog.alter_table(ident, add("y")).await), Some(("schema".to_owned(), message)));
    }
}
