//! `prunus table show`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::{CliError, Exit, Fields, Side, bytes, count, counted, text_table};
use crate::wire::{FieldJson, NestedJson, TableJson, TypeJson};

const EXAMPLES: &str = "\
Example:
  prunus table show shop.orders";

/// Show a table: its schema, its properties, and how much is in it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// The table, as NAMESPACE.TABLE
    // By this group it is told whether they are there at all, in `prunus table TABLE`; of arguments with others below clap fills in none.
    #[arg(value_name = "TABLE", group = "ShowArgs")]
    table: TableIdent,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ShowArgs) -> Result<Exit, CliError> {
    let table = args.connection.client()?.load_table(&args.table).await?;
    args.connection.answer(&table, render)?;
    Ok(Exit::Done)
}

pub(in crate::cli) fn render(table: &TableJson) -> String {
    let mut fields = Fields::default();
    fields.line("table", format!("{}.{}", table.namespace, table.name));
    fields.line("location", table.location.as_deref().unwrap_or("none: files may lie anywhere"));
    fields.line("snapshot", table.current_snapshot.to_string());
    fields.line("files", count(table.files));
    let rows = count(table.rows);
    fields.line(
        "rows",
        match table.files_of_unknown_rows {
            0 => rows,
            unknown => format!("{rows}, and those of {} that are not known", counted(unknown, "file", "files")),
        },
    );
    fields.line("size", bytes(table.bytes));
    let arrival = table.cluster_by.is_empty();
    fields.line("cluster by", if arrival { "arrival".to_owned() } else { table.cluster_by.join(", ") });
    fields.line("created", &table.created_at);
    fields.pairs("property", &table.properties);
    let mut columns =
        text_table([("id", Side::Right), ("column", Side::Left), ("type", Side::Left), ("nullable", Side::Left)]);
    for field in &table.schema.fields {
        columns.add_row(row(field));
    }
    format!("{}\n{}\n", fields.into_text(), columns.trim_fmt())
}

fn row(field: &FieldJson) -> [String; 4] {
    let id = field.id.map(|id| id.to_string()).unwrap_or_default();
    [id, field.name.clone(), type_text(&field.field_type), if field.nullable { "yes" } else { "no" }.to_owned()]
}

/// A type on one line: `struct<a: int32, b: list<string>>`.
fn type_text(column_type: &TypeJson) -> String {
    match column_type {
        TypeJson::Primitive(name) => name.clone(),
        TypeJson::Nested(NestedJson::Struct { fields }) => {
            let fields: Vec<String> =
                fields.iter().map(|field| format!("{}: {}", field.name, type_text(&field.field_type))).collect();
            format!("struct<{}>", fields.join(", "))
        }
        TypeJson::Nested(NestedJson::List { element, .. }) => format!("list<{}>", type_text(element)),
        TypeJson::Nested(NestedJson::Map { key, value, .. }) => {
            format!("map<{}, {}>", type_text(key), type_text(value))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TableJson {
        serde_json::from_value(serde_json::json!({
            "namespace": "a.b", "name": "t", "table_id": "x", "location": null, "current_snapshot": 3,
            "schema": {"schema_id": 1, "fields": [
                {"id": 1, "name": "day", "type": "date", "nullable": false},
                {"id": 2, "name": "tags", "type": {"type": "list", "element": {"type": "struct", "fields": [
                    {"id": 4, "name": "k", "type": "string"}
                ]}}},
            ]},
            "files": 60, "rows": 600_572, "files_of_unknown_rows": 1, "bytes": 20_000_000, "cluster_by": ["day"],
            "properties": {"owner": "me"}, "created_at": "2026-01-01T00:00:00.000Z", "something_newer": 1
        }))
        .unwrap()
    }

    #[test]
    fn a_table_is_shown_with_its_columns() {
        insta::assert_snapshot!(render(&table()), @r#"
        table        a.b.t
        location     none: files may lie anywhere
        snapshot     3
        files        60
        rows         600,572, and those of 1 file that are not known
        size         19.0 MiB
        cluster by   day
        created      2026-01-01T00:00:00.000Z
        property     owner=me

        id   column   type                      nullable
        ─────────────────────────────────────────────────
         1   day      date                      no
         2   tags     list<struct<k: string>>   yes
        "#);
    }
}
