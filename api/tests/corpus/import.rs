//! A file on its way into a table made for it.

use prunus::wire::{FieldJson, FileJson, NestedJson, StatisticsJson, TableJson, TypeJson};
use prunus_statistics::PrimitiveType;
use serde_json::Value as Json;

use crate::case::{self, Case, Policy};
use crate::prunus_process::{Done, Prunus};
use crate::{judge, own_columns};

/// What became of a file.
pub(crate) enum Outcome {
    /// No table could be made from its schema: what was said of that.
    NoTable(String),
    /// The table did not take it: what was said of that.
    Refused(String),
    /// The table has it.
    Registered(Registered),
    /// Something that a command must not do.
    Broken(String),
}

/// What the server says of a file.
pub(crate) struct Registered {
    pub(crate) row_count: Option<u64>,
    pub(crate) columns: Vec<Column>,
}

/// What the server says of a column of a file.
pub(crate) struct Column {
    /// The leaf that it is, by its place in the file's schema.
    leaf: usize,
    pub(crate) column_type: PrimitiveType,
    pub(crate) statistics: StatisticsJson,
}

/// Makes a table from the file's schema, or where that cannot be a table's of the columns that can, and imports the file into it.
pub(crate) async fn import(prunus: &Prunus, case: &Case, policy: Policy, number: usize) -> Outcome {
    let table = format!("corpus.t{number}");
    let mut created = create(prunus, &table, case, policy).await;
    if let Err(done) = &created
        && done.exit == 1
        && case.why_no_table().is_some()
    {
        let schema = own_columns::schema(case);
        if schema["fields"].as_array().unwrap().is_empty() {
            return Outcome::NoTable(done.stderr.clone());
        }
        if let Some(fault) = judge::fault_of_refusal(case, &done.stderr) {
            return Outcome::Broken(fault);
        }
        created = create_of(prunus, &table, &schema, policy).await;
    }
    match created {
        Ok(created) => register(prunus, case, policy, &created).await,
        Err(done) if done.exit == 1 => Outcome::NoTable(done.stderr),
        Err(done) => Outcome::Broken(format!("creating the table ends with {}: {}", done.exit, done.stderr)),
    }
}

/// Imports the file into a table that was made for it.
async fn register(prunus: &Prunus, case: &Case, policy: Policy, created: &Json) -> Outcome {
    let table = format!("{}.{}", created["namespace"].as_str().unwrap(), created["name"].as_str().unwrap());
    let done = prunus.run(&["import", &table, case.path()]).await;
    match (done.exit, done.answer["imported"].as_u64()) {
        (0, Some(1)) => {}
        (4, Some(0)) if prunus.table(&table).await == *created => return Outcome::Refused(refusal(&done.answer)),
        (exit, _) => return Outcome::Broken(format!("the import ends with {exit}: {}{}", done.answer, done.stderr)),
    }
    let registered = Registered::new(case, created, prunus.file(&table, case.path()).await);
    match policy {
        Policy::Footer | Policy::Scan => Outcome::Registered(registered),
        Policy::Audit => audit(prunus, case, created, (&table, &registered)).await,
    }
}

/// Has all data read again. What is false of what is registered must be found, and nothing else.
async fn audit(prunus: &Prunus, case: &Case, created: &Json, (table, registered): (&str, &Registered)) -> Outcome {
    let lies = judge::lies(case, registered);
    let done = prunus.run(&["audit", table, "--mode", "scan", "--repair"]).await;
    let refutes = done.answer["statistics_refuted"].as_u64().unwrap_or_default() > 0;
    let is_told = match done.exit {
        0 | 5 if !case.has_sound_data() => true,
        0 => !refutes && lies.is_empty(),
        5 => refutes && !lies.is_empty(),
        _ => false,
    };
    if !is_told {
        return Outcome::Broken(format!("the audit ends with {}: {}; false is {lies:?}", done.exit, done.answer));
    }
    Outcome::Registered(Registered::new(case, created, prunus.file(table, case.path()).await))
}

/// Makes a table from the file's schema; or what the command said instead.
pub(crate) async fn create(prunus: &Prunus, table: &str, case: &Case, policy: Policy) -> Result<Json, Done> {
    create_with(prunus, table, policy, ["--schema-from", case.path()]).await
}

async fn create_of(prunus: &Prunus, table: &str, schema: &Json, policy: Policy) -> Result<Json, Done> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    serde_json::to_writer(&mut file, schema).unwrap();
    create_with(prunus, table, policy, ["--schema", file.path().to_str().unwrap()]).await
}

async fn create_with(prunus: &Prunus, table: &str, policy: Policy, schema: [&str; 2]) -> Result<Json, Done> {
    let verification = format!("verification={}", policy.name());
    let mut arguments = vec!["table", "create", table, "--property", &verification];
    arguments.extend(schema);
    if policy != Policy::Footer {
        // The longest that there is, so that few bounds are cut.
        arguments.extend(["--property", "string_bound_bytes=1024"]);
    }
    let done = prunus.run(&arguments).await;
    if done.exit == 0 { Ok(prunus.table(table).await) } else { Err(done) }
}

/// What an import said of the file that it did not register.
fn refusal(summary: &Json) -> String {
    let refused = summary["refused"].as_array().unwrap();
    let faults = refused.iter().flat_map(|refused| refused["faults"].as_array().unwrap());
    let said =
        faults.map(|fault| format!("{}: {}", fault["path"].as_str().unwrap(), fault["message"].as_str().unwrap()));
    said.collect::<Vec<_>>().join("\n")
}

impl Registered {
    /// The column of the table that a leaf of the file is.
    pub(crate) fn column(&self, leaf: &Json) -> Option<&Column> {
        let index = usize::try_from(leaf["index"].as_u64().unwrap()).unwrap();
        self.columns.iter().find(|column| column.leaf == index)
    }

    fn new(case: &Case, table: &Json, file: Json) -> Self {
        let table: TableJson = serde_json::from_value(table.clone()).unwrap();
        let file: FileJson = serde_json::from_value(file).unwrap();
        assert_eq!(file.absent_columns, Vec::<String>::new(), "a table made for a file has no other columns");
        let mut known = file.columns.unwrap();
        let mut leaves = Vec::new();
        add_leaves(&table.schema.fields, &[], &mut leaves);
        // A table made from the file has all its leaves in their order; one of some columns has top-level ones alone.
        let is_whole = leaves.len() == case.leaves().len();
        let leaf_at = |place: usize, path: &[String]| match is_whole {
            true => place,
            false => case.leaves().iter().position(|leaf| case::path(leaf) == path).unwrap(),
        };
        let columns = leaves
            .iter()
            .enumerate()
            .map(|(place, (path, column_type))| {
                let statistics = known.remove(&key(path)).unwrap_or_default();
                Column { leaf: leaf_at(place, path), column_type: *column_type, statistics }
            })
            .collect();
        assert!(known.is_empty(), "statistics of columns that the table does not have: {known:?}");
        Self { row_count: file.row_count, columns }
    }
}

/// The columns that statistics are kept of, in the order of the schema.
fn add_leaves(fields: &[FieldJson], above: &[String], leaves: &mut Vec<(Vec<String>, PrimitiveType)>) {
    for field in fields {
        add_leaves_of(&field.field_type, &below(above, &field.name), leaves);
    }
}

fn add_leaves_of(column_type: &TypeJson, path: &[String], leaves: &mut Vec<(Vec<String>, PrimitiveType)>) {
    match column_type {
        TypeJson::Primitive(name) => leaves.push((path.to_vec(), name.parse().unwrap())),
        TypeJson::Nested(NestedJson::Struct { fields }) => add_leaves(fields, path, leaves),
        TypeJson::Nested(NestedJson::List { element, .. }) => add_leaves_of(element, &below(path, "element"), leaves),
        TypeJson::Nested(NestedJson::Map { key, value, .. }) => {
            add_leaves_of(key, &below(path, "key"), leaves);
            add_leaves_of(value, &below(path, "value"), leaves);
        }
    }
}

fn below(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// How the API writes a column that it names by its path.
fn key(path: &[String]) -> String {
    let quoted = |part: &String| match part.as_str() {
        part if part.is_empty() || part.contains(['.', '"']) || part.starts_with('#') => {
            format!("\"{}\"", part.replace('"', "\"\""))
        }
        part => part.to_owned(),
    };
    path.iter().map(quoted).collect::<Vec<_>>().join(".")
}
