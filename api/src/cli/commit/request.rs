//! A commit, from arguments or from a file.

use clap::{Args, ValueEnum};

use crate::cli::CliError;
use crate::cli::json_file::read_json;
use crate::cli::properties::property;
use crate::cli::scan::{NanOrder, number};
use crate::wire::{CommitJson, FilterJson, NewFileJson, OperationJson};

/// What is to be committed.
#[derive(Debug, Args)]
pub(super) struct RequestArgs {
    /// What the commit means
    #[arg(long, value_name = "OPERATION", required_unless_present = "file")]
    operation: Option<Operation>,

    /// Files to be added: URLs, absolute paths of the server's machine, or paths below the table's location
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "file")]
    add: Vec<String>,

    /// Files to be removed, as `prunus files list` prints them
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "file")]
    remove: Vec<String>,

    /// The number of the snapshot that the change was worked out from: what is removed must have been live there
    #[arg(long, value_name = "N", conflicts_with = "file", value_parser = number)]
    base_snapshot: Option<i64>,

    /// The rows that an overwrite was worked out from, as a SQL condition: it conflicts with files that came since the base snapshot
    /// and may hold such a row
    #[arg(long, value_name = "CONDITION", requires = "base_snapshot", conflicts_with = "file")]
    filter: Option<String>,

    /// How the writing engine orders NaN in the filter [default: any]
    #[arg(long, value_name = "ORDER", requires = "filter", conflicts_with = "file")]
    nan_order: Option<NanOrder>,

    /// A note that the snapshot keeps; may be given more than once
    #[arg(long, value_name = "KEY=VALUE", value_parser = property, conflicts_with = "file")]
    summary: Vec<(String, String)>,

    /// The whole commit as JSON, as POST .../commits takes it; `-` is standard input
    #[arg(long, value_name = "COMMIT.json", conflicts_with = "operation")]
    file: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Operation {
    /// New rows: files are added
    Append,
    /// Rows go: files are removed
    Delete,
    /// The same rows in other files
    Replace,
    /// Rows change
    Overwrite,
}

impl From<Operation> for OperationJson {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Append => Self::Append,
            Operation::Delete => Self::Delete,
            Operation::Replace => Self::Replace,
            Operation::Overwrite => Self::Overwrite,
        }
    }
}

impl RequestArgs {
    /// The commit.
    ///
    /// # Errors
    /// [`CliError`] if the file cannot be read.
    pub(super) async fn read(self) -> Result<CommitJson, CliError> {
        let operation = match (&self.file, self.operation) {
            (Some(path), _) => return read_json(path, "a commit").await,
            (None, Some(operation)) => operation,
            (None, None) => return Err(CliError::NothingAsked("a commit needs --operation or --file")),
        };
        Ok(CommitJson {
            operation: operation.into(),
            base_snapshot: self.base_snapshot,
            add: self.add.into_iter().map(|path| NewFileJson { path, ..NewFileJson::default() }).collect(),
            remove: self.remove,
            filter: self.filter.map(FilterJson::Sql),
            nan_order: self.nan_order.map(Into::into),
            summary: self.summary.into_iter().collect(),
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
        args: RequestArgs,
    }

    #[tokio::test]
    async fn arguments_are_a_commit() {
        let line = [
            "commit",
            "--operation",
            "overwrite",
            "--add",
            "a",
            "b",
            "--remove",
            "c",
            "--base-snapshot",
            "3",
            "--filter",
            "x = 1",
            "--nan-order",
            "ieee",
            "--summary",
            "by=me",
        ];
        let commit = Line::try_parse_from(line).unwrap().args.read().await.unwrap();
        insta::assert_snapshot!(serde_json::to_string(&commit).unwrap(), @r#"{"operation":"overwrite","base_snapshot":3,"add":[{"path":"a"},{"path":"b"}],"remove":["c"],"filter":"x = 1","nan_order":"ieee","summary":{"by":"me"}}"#);
    }

    #[tokio::test]
    async fn a_file_is_a_commit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = r#"{"operation":"append","add":[{"path":"a","row_count":3}]}"#;
        std::fs::write(file.path(), text).unwrap();
        let args = Line::try_parse_from(["commit", "--file", file.path().to_str().unwrap()]).unwrap().args;
        assert_eq!(serde_json::to_string(&args.read().await.unwrap()).unwrap(), text);
    }
}
