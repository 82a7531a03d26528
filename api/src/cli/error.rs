//! What can go wrong on the command line, how it is told, and the exit code that it stands for.

use std::error::Error as _;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use prunus_catalog::StorageError;

use crate::client::ClientError;
use crate::demo::DemoError;
use crate::wire::{ConflictJson, FaultJson, ProblemJson};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked for.
    Done,
    /// The server refused, or the command itself failed.
    Refused,
    /// The arguments, or a local file that they name, cannot be used.
    Usage,
    /// The server cannot be reached or failed.
    NoAnswer,
    /// An import is done, but for files that were refused or have changed.
    Incomplete,
    /// A check or an audit is done, and something is wrong.
    Unsound,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::NoAnswer => 3,
            Exit::Incomplete => 4,
            Exit::Unsound => 5,
        })
    }
}

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The server refused or did not answer.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// An argument that is no path.
    #[error("`{path}` cannot be used as a path: {reason}")]
    Path {
        /// The argument.
        path: String,
        /// Why.
        reason: String,
    },
    /// A folder or prefix that cannot be listed.
    #[error("`{folder}` cannot be listed")]
    Listing {
        /// The folder or prefix.
        folder: String,
        /// Why.
        source: StorageError,
    },
    /// There is no file to take the schema of a new table from.
    #[error("there is no Parquet file to take the schema of the table from; name one with --schema-from")]
    NoSchema,
    /// A file with a schema that cannot be read.
    #[error("the schema file `{path}` cannot be read")]
    SchemaFile {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file with a schema that is none.
    #[error("the schema file `{path}` holds no schema: expected {{\"fields\": [{{\"name\", \"type\"}}, ...]}}")]
    Schema {
        /// The file.
        path: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The data folder cannot be made.
    #[error("the data folder `{path}` cannot be made")]
    DataFolder {
        /// The folder.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The catalog cannot be opened.
    #[error("the catalog cannot be opened")]
    Catalog(#[from] prunus_catalog::Error),
    /// The catalog cannot be checked, backed up or restored.
    #[error("the catalog cannot be {done}")]
    Operation {
        /// What was to be done.
        done: &'static str,
        /// Why.
        source: Box<prunus_catalog::Error>,
    },
    /// The server cannot listen.
    #[error("the server cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The demo failed.
    #[error("the demo failed")]
    Demo(#[from] DemoError),
    /// The output cannot be written.
    #[error("the output cannot be written")]
    Output(#[source] std::io::Error),
    /// The threads of the program cannot be started.
    #[error("the program's threads cannot be started")]
    Runtime(#[source] std::io::Error),
}

impl CliError {
    /// For `map_err`: the catalog cannot be checked, backed up or restored.
    pub(super) fn operation(done: &'static str) -> impl FnOnce(prunus_catalog::Error) -> Self {
        move |error| Self::Operation { done, source: Box::new(error) }
    }

    /// The exit code's meaning.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Client(error) => match error.status() {
                None | Some(500..) => Exit::NoAnswer,
                Some(_) => Exit::Refused,
            },
            Self::Listing { source, .. } if source.is_retryable() => Exit::NoAnswer,
            Self::Path { .. }
            | Self::Listing { .. }
            | Self::NoSchema
            | Self::SchemaFile { .. }
            | Self::Schema { .. }
            | Self::DataFolder { .. } => Exit::Usage,
            Self::Catalog(_)
            | Self::Operation { .. }
            | Self::Listen { .. }
            | Self::Demo(_)
            | Self::Output(_)
            | Self::Runtime(_) => Exit::Refused,
        }
    }

    /// The error with its causes, and with all that the server said, for people.
    pub fn report(&self) -> String {
        let mut text = format!("error: {self}");
        if let Self::Client(ClientError::Problem(problem)) = self {
            text.push_str(&problem_details(problem));
        }
        let mut cause = self.source();
        while let Some(error) = cause {
            // Errors of object stores repeat their causes.
            let said = error.to_string();
            if !text.contains(&said) {
                let _ = write!(text, ": {said}");
            }
            cause = error.source();
        }
        text.push('\n');
        text
    }
}

fn problem_details(problem: &ProblemJson) -> String {
    let mut text = String::new();
    // One fault is its request's detail, so that the two would say the same.
    if !matches!(problem.faults.as_slice(), [only] if only.message == problem.detail) {
        let _ = write!(text, "\n  {}", problem.detail);
    }
    for fault in &problem.faults {
        let _ = write!(text, "\n  {}", fault_line(fault));
    }
    for ConflictJson { path, message, .. } in problem.conflicts.iter().flatten() {
        let _ = write!(text, "\n  {path}: {message}");
    }
    if let Some(count) = problem.fault_count {
        let _ = write!(text, "\n  ... {count} faults in all");
    }
    if problem.status >= 500 {
        let _ = write!(text, "\n  request {} in the server's log", problem.request_id);
    }
    text
}

/// `PATH: column C: MESSAGE`, and what was claimed and what speaks against it.
fn fault_line(fault: &FaultJson) -> String {
    match (&fault.path, &fault.at) {
        (Some(place), _) | (None, Some(place)) => format!("{place}: {}", fault_of_file(fault, "      ")),
        (None, None) => fault_of_file(fault, "      "),
    }
}

/// The fault without the path that it is about; what was claimed and found are lines of their own, so far indented.
pub(super) fn fault_of_file(fault: &FaultJson, indent: &str) -> String {
    let mut text = String::new();
    // Many messages name their column themselves.
    if let Some(column) = fault.column.as_ref().filter(|column| !fault.message.contains(&format!("`{column}`"))) {
        let _ = write!(text, "column {column}: ");
    }
    text.push_str(&fault.message);
    for (title, said) in [("claimed", &fault.claim), ("found", &fault.evidence)] {
        if let Some(said) = said {
            let _ = write!(text, "\n{indent}{title}: {said}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ConflictReasonJson;

    fn problem(status: u16, faults: Vec<FaultJson>) -> ProblemJson {
        ProblemJson {
            problem_type: "/problems/x".to_owned(),
            title: "Not possible".to_owned(),
            status,
            detail: "the request has 2 faults".to_owned(),
            request_id: "r-1".to_owned(),
            retryable: false,
            faults,
            fault_count: None,
            table: None,
            current_snapshot: None,
            conflicts: None,
        }
    }

    fn error_of(problem: ProblemJson) -> CliError {
        ClientError::Problem(Box::new(problem)).into()
    }

    #[test]
    fn every_fault_is_told_with_its_place() {
        let faults = vec![
            FaultJson { message: "is no Parquet file".to_owned(), path: Some("/a".to_owned()), ..FaultJson::default() },
            FaultJson {
                message: "the types differ".to_owned(),
                path: Some("/b".to_owned()),
                column: Some("x".to_owned()),
                claim: Some("int32".to_owned()),
                evidence: Some("string".to_owned()),
                at: None,
            },
            FaultJson { message: "it is too long".to_owned(), at: Some("filter".to_owned()), ..FaultJson::default() },
        ];
        insta::assert_snapshot!(error_of(problem(422, faults)).report(), @r"
        error: Not possible (422)
          the request has 2 faults
          /a: is no Parquet file
          /b: column x: the types differ
              claimed: int32
              found: string
          filter: it is too long
        ");
    }

    #[test]
    fn conflicts_are_told_by_path() {
        let conflict = ConflictJson {
            path: "/a".to_owned(),
            reason: ConflictReasonJson::AlreadyLive,
            message: "the path is live already".to_owned(),
        };
        let problem = ProblemJson { conflicts: Some(vec![conflict]), ..problem(409, Vec::new()) };
        assert!(error_of(problem).report().ends_with("\n  /a: the path is live already\n"));
    }

    #[test]
    fn a_cause_that_is_told_already_is_not_repeated() {
        let source = std::io::Error::other("outer: inner");
        let error = CliError::DataFolder { path: "d".to_owned(), source };
        assert_eq!(error.report(), "error: the data folder `d` cannot be made: outer: inner\n");
        let generic = object_store::Error::Generic { store: "s3", source: "inner".into() };
        let error = CliError::Listing { folder: "s3://b/".to_owned(), source: StorageError::Unavailable(generic) };
        assert_eq!(error.report().matches("inner").count(), 1);
    }

    #[test]
    fn exit_codes_follow_the_answer() {
        for (status, expected) in [(400, 1), (404, 1), (409, 1), (422, 1), (500, 3), (503, 3)] {
            let exit = error_of(problem(status, Vec::new())).exit();
            assert_eq!(ExitCode::from(exit), ExitCode::from(expected), "{status}");
        }
    }
}
