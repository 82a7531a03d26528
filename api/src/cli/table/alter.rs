//! `prunus table alter`

mod change;
mod changes;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::column_names::columns;
use crate::cli::connection::{Connection, KeyChoice};
use crate::cli::json_file::read_json;
use crate::cli::progress::Progress;
use crate::cli::properties::property;
use crate::cli::{CliError, Exit};
use crate::wire::AlterTableJson;

use changes::ChangeArgs;

const EXAMPLES: &str = "\
Examples:
  prunus table alter shop.orders --add-column 'note string' --widen 'amount int64'
  prunus table alter shop.orders --rename-column city=town --move 'town after country'
  prunus table alter shop.orders --property verification=scan --unset owner
  prunus table alter shop.orders --changes changes.json   # [{\"op\": \"add\", \"name\": \"note\", \"type\": \"string\"}, ...]";

/// Change a table: its name, its properties, its columns
///
/// All of it happens at once or not at all. Changes of columns apply in the order in which they are given. Columns are named by their
/// name, by the dotted path to them (`address.city`), or by `#id`. Files are not touched: they read as they did.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AlterArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    what: What,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

/// What is to become of it.
#[derive(Debug, Args)]
struct What {
    /// Its new name, as NAMESPACE.TABLE
    #[arg(long, value_name = "TABLE")]
    rename: Option<TableIdent>,

    /// A property to be set; may be given more than once
    #[arg(long = "property", value_name = "KEY=VALUE", value_parser = property)]
    properties: Vec<(String, String)>,

    /// A property to be taken away; may be given more than once
    #[arg(long, value_name = "KEY")]
    unset: Vec<String>,

    /// A column that manifests are clustered by from now on; may be given more than once
    #[arg(long, value_name = "COLUMN")]
    cluster_by: Vec<String>,

    /// Cluster manifests by no column: in the order in which files come
    #[arg(long, conflicts_with = "cluster_by")]
    no_cluster_by: bool,

    #[command(flatten)]
    columns: ChangeArgs,

    /// Changes of columns as JSON, a list as `schema` of PATCH takes it, which apply after those of the other options; `-` is standard input
    #[arg(long, value_name = "FILE.json")]
    changes: Option<String>,
}

pub(super) async fn run(args: AlterArgs) -> Result<Exit, CliError> {
    let client = args.key.on(args.connection.client()?);
    let change = args.what.read().await?;
    if change == AlterTableJson::default() {
        return Err(CliError::NothingAsked("nothing is to be changed: `prunus table alter --help` says what can be"));
    }
    let altered = Progress::of("changing the table").during(client.alter_table(&args.table, &change)).await?;
    args.connection
        .answer(&altered, |altered| format!("changed table {}\n{}", args.table, super::show::render(altered)))?;
    Ok(Exit::Done)
}

impl What {
    async fn read(self) -> Result<AlterTableJson, CliError> {
        let mut schema = self.columns.in_order();
        if let Some(path) = &self.changes {
            schema.extend(read_json::<Vec<_>>(path, "a list of changes of columns").await?);
        }
        let set = self.properties.into_iter().map(|(key, value)| (key, Some(value)));
        Ok(AlterTableJson {
            rename: self.rename.map(|table| table.to_string()),
            properties: set.chain(self.unset.into_iter().map(|key| (key, None))).collect(),
            cluster_by: Some(columns(&self.cluster_by)).filter(|columns| self.no_cluster_by || !columns.is_empty()),
            schema,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        what: What,
    }

    async fn read(arguments: &[&str]) -> String {
        let line = Line::try_parse_from([&["alter"], arguments].concat()).unwrap();
        serde_json::to_string(&line.what.read().await.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn changes_of_columns_apply_in_the_order_given() {
        let changes = [
            "--widen",
            "id int64",
            "--add-column",
            "note string first",
            "--drop-column",
            "old",
            "--add-column",
            "n int32",
            "--rename-column",
            "a=b",
            "--make-nullable",
            "id",
            "--move",
            "n after b",
        ];
        insta::assert_snapshot!(read(&changes).await, @r#"{"schema":[{"op":"widen","column":"id","type":"int64"},{"op":"add","name":"note","type":"string","nullable":true,"after":null},{"op":"drop","column":"old"},{"op":"add","name":"n","type":"int32","nullable":true},{"op":"rename","column":"a","to":"b"},{"op":"make_nullable","column":"id"},{"op":"move","column":"n","after":"b"}]}"#);
    }

    #[tokio::test]
    async fn properties_are_set_and_taken_away() {
        insta::assert_snapshot!(read(&["--property", "a=1", "--unset", "b", "--rename", "x.y", "--cluster-by", "day"]).await, @r#"{"rename":"x.y","properties":{"a":"1","b":null},"cluster_by":["day"]}"#);
        insta::assert_snapshot!(read(&["--no-cluster-by"]).await, @r#"{"cluster_by":[]}"#);
    }

    #[tokio::test]
    async fn changes_in_a_file_come_after_the_others() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), r#"[{"op": "drop", "column": "b"}]"#).unwrap();
        let line = ["--changes", file.path().to_str().unwrap(), "--drop-column", "a"];
        insta::assert_snapshot!(read(&line).await, @r#"{"schema":[{"op":"drop","column":"a"},{"op":"drop","column":"b"}]}"#);
    }
}
