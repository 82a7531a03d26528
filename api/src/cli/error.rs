//! What can go wrong on the command line, how it is told, and the exit code that it stands for.

use std::error::Error as _;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use prunus_catalog::{StorageError, StoreError, StoreFailure, TokenFormError};
use serde_json::json;

use crate::EntranceError;
use crate::client::ClientError;
use crate::demo::DemoError;
use crate::settings::SettingsError;
use crate::telemetry::TelemetryError;
use crate::wire::{ConflictJson, FaultJson, ProblemJson};

use super::invocation::Invocation;
use super::legible;
use super::prose::{Paint, Role};

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
    /// The user ended it by an interrupt.
    Interrupted,
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
            // As a shell tells of a program that SIGINT ended.
            Exit::Interrupted => 130,
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
    /// A variable of the environment, or a flag, that cannot be used.
    #[error("{variable} is `{value}`: {reason}")]
    Environment {
        /// Its name.
        variable: &'static str,
        /// What it is.
        value: String,
        /// Why that will not do.
        reason: String,
    },
    /// What is to be a token and is none. It is not repeated.
    #[error("{place} holds no token")]
    Token {
        /// Where it was looked for.
        place: String,
        /// Why it is none.
        source: TokenFormError,
    },
    /// The server cannot be entered as it is set up.
    #[error(transparent)]
    Entrance(#[from] EntranceError),
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
    /// No file gives a new table its schema.
    #[error(
        "no schema for the table: of its files the first {tried} were tried, and this is said of the first; name one that has all columns \
         with --schema-from"
    )]
    NoSchemaAmong {
        /// How many were tried.
        tried: usize,
        /// What the server said of the first.
        source: ClientError,
    },
    /// There is nothing to import.
    #[error("there is no Parquet file in `{paths}`: {passed_over} were passed over, as their names are none of data")]
    NoFiles {
        /// What was to be imported.
        paths: String,
        /// How many other files there are.
        passed_over: usize,
    },
    /// The folders of a new table name its partition columns in different ways.
    #[error(
        "the `key=value` folders of the files differ, so that they give the table no partition columns: `{one}`, but `{other}`"
    )]
    UnevenPartitions {
        /// The path of a file.
        one: String,
        /// That of another.
        other: String,
    },
    /// A file that cannot be read.
    #[error("the file `{path}` cannot be read")]
    File {
        /// The file, or `-` for standard input.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is to be made and cannot be written.
    #[error("the file `{path}` cannot be written")]
    NewFile {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file of certificates that holds none.
    #[error("the file `{path}` holds no certificate as PEM")]
    NoCertificate {
        /// The file.
        path: String,
    },
    /// A file with a request that is none.
    #[error("{at}`{path}` is not as {what} has it")]
    Json {
        /// The file, or `-` for standard input.
        path: String,
        /// What it should hold.
        what: &'static str,
        /// The place in it, with the words that join the two; empty where it is the whole of it.
        at: String,
        /// Why.
        source: serde_json::Error,
    },
    /// Settings that cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A command that asks for nothing.
    #[error("{0}")]
    NothingAsked(&'static str),
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
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
    /// The log or the traces are not set as they could be.
    #[error("the server cannot tell of itself as it is set to")]
    Telemetry(#[from] TelemetryError),
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
            // What is no Prunus server has not refused anything, whatever its status.
            Self::Client(error) => match error.status() {
                None | Some(429 | 500..) => Exit::NoAnswer,
                Some(_) => Exit::Refused,
            },
            Self::Listing { source, .. } if source.is_retryable() => Exit::NoAnswer,
            Self::Path { .. }
            | Self::Environment { .. }
            | Self::Token { .. }
            | Self::Entrance(_)
            | Self::Listing { .. }
            | Self::NoSchema
            | Self::NoFiles { .. }
            | Self::UnevenPartitions { .. }
            | Self::File { .. }
            | Self::NewFile { .. }
            | Self::NoCertificate { .. }
            | Self::Json { .. }
            | Self::NothingAsked(_)
            | Self::Settings(_)
            | Self::DataFolder { .. } => Exit::Usage,
            Self::Interrupted => Exit::Interrupted,
            Self::Operation { source, .. } if is_about_a_path(source) => Exit::Usage,
            Self::Catalog(_)
            | Self::NoSchemaAmong { .. }
            | Self::Operation { .. }
            | Self::Listen { .. }
            | Self::Demo(_)
            | Self::Output(_)
            | Self::Telemetry(_)
            | Self::Runtime(_) => Exit::Refused,
        }
    }

    /// The error with its causes, all that the server said and what to do next, for people; or as a problem document (RFC 9457),
    /// where the answer was to be JSON.
    pub fn report(&self, called: &Invocation) -> String {
        if called.json { self.document() } else { self.report_in(Paint::of_stderr(), called) }
    }

    /// What the server answered, or the same form for what went wrong here.
    fn document(&self) -> String {
        let document = if let Some(problem) = self.problem() {
            serde_json::to_string_pretty(problem)
        } else {
            let mut detail = self.to_string();
            self.add_causes(&mut detail);
            serde_json::to_string_pretty(&json!({"type": "about:blank", "title": self.to_string(), "detail": detail}))
        };
        document.unwrap_or_default() + "\n"
    }

    pub(super) fn report_in(&self, paint: Paint, called: &Invocation) -> String {
        let said = match self {
            // It has a line for each fault, which is legible by itself.
            Self::Settings(error @ SettingsError::Faults(_)) => error.to_string(),
            error => legible(&error.to_string()).into_owned(),
        };
        let mut text = format!("{} {said}", paint.mark(Role::Error, "error:"));
        if let Some(problem) = self.problem() {
            text.push_str(&problem_details(problem));
        }
        self.add_causes(&mut text);
        text.push('\n');
        let advice = match self {
            Self::Client(error) => match grant_advice(error) {
                None => advice(error, called),
                Some(advice) => {
                    let _ = writeln!(text, "  {advice}");
                    None
                }
            },
            Self::Catalog(error) => store_advice(error, called),
            Self::Listen { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse => {
                Some("another process listens there: stop that, or name another address with --listen")
            }
            Self::Operation { source, .. } => store_advice(source, called),
            Self::Entrance(EntranceError::NoAdmin(_)) => Some(
                "make one with `prunus token create NAME --grant admin --data-dir DIR`; with --insecure-no-auth none is needed, and \
                 whoever reaches the server may do everything",
            ),
            _ => None,
        };
        if let Some(advice) = advice {
            let _ = writeln!(text, "  {}", called.fill_in(advice));
        }
        text
    }

    /// What the server said against it.
    fn problem(&self) -> Option<&ProblemJson> {
        match self {
            Self::Client(ClientError::Problem(problem) | ClientError::GaveUp { problem, .. })
            | Self::NoSchemaAmong { source: ClientError::Problem(problem), .. } => Some(problem),
            _ => None,
        }
    }

    fn add_causes(&self, text: &mut String) {
        let mut cause = self.source();
        while let Some(error) = cause {
            let boxed = error.downcast_ref::<Box<prunus_catalog::Error>>().map(AsRef::as_ref);
            let of_catalog = error.downcast_ref().or(boxed);
            // Whoever runs a command has given the keys himself.
            let own_words = error.downcast_ref().map(StoreFailure::own_words);
            let said = own_words.unwrap_or_else(|| error.to_string());
            // Errors of object stores repeat their causes, and that a store failed says less than its cause.
            if !text.contains(&said) && !matches!(of_catalog, Some(prunus_catalog::Error::Store(_))) {
                let _ = write!(text, ": {}", legible(&said));
            }
            cause = error.source();
        }
    }
}

/// Whether the arguments named a catalog that there is not, or a file that cannot be read or made.
fn is_about_a_path(error: &prunus_catalog::Error) -> bool {
    use prunus_catalog::Error::Store;
    matches!(error, Store(StoreError::NoStore { .. } | StoreError::FileExists { .. } | StoreError::File { .. }))
}

/// What to do next about a catalog that cannot be opened.
fn store_advice(error: &prunus_catalog::Error, called: &Invocation) -> Option<&'static str> {
    let error = match error {
        prunus_catalog::Error::Store(error) => error,
        prunus_catalog::Error::AlreadyExists { what: "token", .. } => return Some(TOKEN_NAME_IS_TAKEN),
        _ => return None,
    };
    match error {
        StoreError::Locked { .. } if called.command.starts_with("token") => Some(
            "a server has it open: ask that instead, without --data-dir and with an admin's token in --token-file or PRUNUS_TOKEN",
        ),
        StoreError::Locked { .. } => {
            Some("stop that first; `prunus backup` works beside a server, and checks the copy that it makes")
        }
        StoreError::LockFile { .. } => Some("the data folder, in which it lies, has to be writable, for this as well"),
        StoreError::Unwritable { .. } => Some(
            "the user that this runs as has to be able to write the catalog's folder and all files in it: `chown` gives them to that user",
        ),
        StoreError::NotADatabase { .. } | StoreError::ForeignDatabase { .. } if called.command == "restore" => {
            Some("that is no backup: --from names a file that `prunus backup` has made")
        }
        StoreError::NoStore { .. } => {
            Some("--data-dir names the folder that `prunus serve` was given, --from a backup")
        }
        _ => None,
    }
}

/// What to do about a name of a token that is taken, perhaps by one that holds no more.
const TOKEN_NAME_IS_TAKEN: &str = "the name of a token is never given twice: choose another";

/// Which grant was missing. The server's sentence has its parts: the role, and the namespace if it is about one.
fn grant_advice(error: &ClientError) -> Option<String> {
    let ClientError::Problem(problem) = error else { return None };
    if problem.problem_type != "/problems/forbidden" {
        return None;
    }
    let (_, needed) = problem.detail.split_once("the role `")?;
    let (role, place) = needed.split_once('`')?;
    let of_namespace = place.strip_prefix(" on namespace `").and_then(|place| place.split_once('`'));
    let grant = match of_namespace {
        Some((namespace, _)) => format!("{role}:{namespace}"),
        None if place.starts_with(" everywhere") => role.to_owned(),
        None => return None,
    };
    Some(format!("an admin gives tokens that may: `prunus token create NAME --grant {}`", legible(&grant)))
}

/// What to do next, where that is not plain from the error.
fn advice(error: &ClientError, called: &Invocation) -> Option<&'static str> {
    let problem = match error {
        ClientError::Unreachable { .. } => {
            return Some("start one with `prunus serve --data-dir DIR`, or name another with --url or PRUNUS_URL");
        }
        ClientError::Foreign { .. } => {
            return Some("name the server with --url or PRUNUS_URL; `prunus --version` is this one");
        }
        ClientError::Problem(problem) | ClientError::GaveUp { problem, .. } => problem,
        ClientError::Tls { fault, .. } => return Some(fault.advice()),
        ClientError::SetUp(_) => return None,
    };
    match problem.problem_type.strip_prefix("/problems/")? {
        "not-found" => missing_advice(&problem.detail, called),
        "already-exists" if problem.detail.starts_with("token ") => Some(TOKEN_NAME_IS_TAKEN),
        "unauthorized" => Some("show a token that holds with --token-file or in PRUNUS_TOKEN"),
        "forbidden" => Some("an admin gives tokens: `prunus token create NAME --grant ROLE:NAMESPACE`"),
        "expired" => Some("`prunus snapshots list TABLE` says which snapshots there are"),
        "stale-page-token" => Some("the snapshot expired while it was listed: run the command again"),
        "too-many-requests" | "overloaded" => Some("the server has too much to do: run the command again later"),
        "schema-moved" | "table-moved" => Some("someone else changed the table meanwhile: run the command again"),
        "namespace-not-empty" => Some("drop its tables first: `prunus table list NAMESPACE` names them"),
        "conflict" => Some("`prunus snapshots list TABLE` says what was committed meanwhile"),
        _ => None,
    }
}

/// Where to look for what does not exist. The server's sentence begins with what it is.
fn missing_advice(detail: &str, called: &Invocation) -> Option<&'static str> {
    if called.command == "import" {
        return Some("`prunus import --create TABLE PATH...` makes it with the schema of its first file");
    }
    Some(match detail.split_whitespace().next()? {
        "table" => "`prunus table list` says which tables there are, `prunus table create` makes one",
        "namespace" => "`prunus namespace list` says which namespaces there are, `prunus namespace create` makes one",
        "snapshot" => "`prunus snapshots list TABLE` says which snapshots there are",
        "tag" => "`prunus tag list TABLE` says which tags there are",
        "file" => "`prunus files list TABLE` says which files there are; a path is that of the listing",
        "manifest" => {
            "`prunus manifests list TABLE` says which manifests there are; grouping anew makes others of them"
        }
        "token" => "`prunus token list` says which tokens there are",
        "audit" => "`prunus audit list TABLE` says which audits there are",
        _ => return None,
    })
}

fn problem_details(problem: &ProblemJson) -> String {
    let mut text = String::new();
    // One fault is its request's detail, so that the two would say the same.
    if !matches!(problem.faults.as_slice(), [only] if only.message == problem.detail) {
        let _ = write!(text, "\n  {}", legible(&problem.detail));
    }
    for fault in &problem.faults {
        let _ = write!(text, "\n  {}", fault_line(fault));
    }
    for ConflictJson { path, message, .. } in problem.conflicts.iter().flatten() {
        let _ = write!(text, "\n  {}: {}", legible(path), legible(message));
    }
    if let Some(count) = problem.fault_count {
        let _ = write!(text, "\n  ... {count} faults in all");
    }
    // Why a token is refused is told to the log alone.
    if problem.status >= 500 || problem.status == 401 {
        let _ = write!(text, "\n  request {} in the server's log", problem.request_id);
    }
    text
}

/// `PATH: column C: MESSAGE`, and what was claimed and what speaks against it.
pub(super) fn fault_line(fault: &FaultJson) -> String {
    match (&fault.path, &fault.at) {
        (Some(place), _) | (None, Some(place)) => format!("{}: {}", legible(place), fault_of_file(fault, "      ")),
        (None, None) => fault_of_file(fault, "      "),
    }
}

/// The fault without the path that it is about; what was claimed and found are lines of their own, so far indented.
pub(super) fn fault_of_file(fault: &FaultJson, indent: &str) -> String {
    let mut text = String::new();
    // Many messages name their column themselves.
    if let Some(column) = fault.column.as_ref().filter(|column| !fault.message.contains(&format!("`{column}`"))) {
        let _ = write!(text, "column {}: ", legible(column));
    }
    text.push_str(&legible(&fault.message));
    for (title, said) in [("claimed", &fault.claim), ("found", &fault.evidence)] {
        if let Some(said) = said {
            let _ = write!(text, "\n{indent}{title}: {}", legible(said));
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
        insta::assert_snapshot!(error_of(problem(422, faults)).report_in(Paint::Plain, &Invocation::default()), @r"
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
    fn the_grant_that_was_missing_is_named() {
        for (needed, expected) in [
            ("`admin` everywhere", Some("--grant admin`")),
            ("`writer` on namespace `shop.eu`", Some("--grant writer:shop.eu`")),
            ("`reader` on some namespace", None),
        ] {
            let detail = format!("the role {needed} is needed");
            let problem_type = "/problems/forbidden".to_owned();
            let error =
                ClientError::Problem(Box::new(ProblemJson { problem_type, detail, ..problem(403, Vec::new()) }));
            let advice = grant_advice(&error);
            assert_eq!(advice.is_some(), expected.is_some(), "{needed}");
            assert!(advice.unwrap_or_default().ends_with(expected.unwrap_or_default()), "{needed}");
        }
    }

    #[test]
    fn conflicts_are_told_by_path() {
        let conflict = ConflictJson {
            path: "/a".to_owned(),
            reason: ConflictReasonJson::AlreadyLive,
            message: "the path is live already".to_owned(),
        };
        let problem = ProblemJson { conflicts: Some(vec![conflict]), ..problem(409, Vec::new()) };
        assert!(
            error_of(problem)
                .report_in(Paint::Plain, &Invocation::default())
                .ends_with("\n  /a: the path is live already\n")
        );
    }

    #[test]
    fn a_cause_that_is_told_already_is_not_repeated() {
        let source = std::io::Error::other("outer: inner");
        let error = CliError::DataFolder { path: "d".to_owned(), source };
        assert_eq!(
            error.report_in(Paint::Plain, &Invocation::default()),
            "error: the data folder `d` cannot be made: outer: inner\n"
        );
        let generic = object_store::Error::Generic { store: "s3", source: "inner".into() };
        let error =
            CliError::Listing { folder: "s3://b/".to_owned(), source: StorageError::Unavailable(generic.into()) };
        assert_eq!(error.report_in(Paint::Plain, &Invocation::default()).matches("inner").count(), 1);
    }

    #[test]
    fn what_is_missing_is_told_with_where_to_look() {
        let missing = |detail: &str| {
            let problem = problem(404, Vec::new());
            let problem_type = "/problems/not-found".to_owned();
            error_of(ProblemJson { problem_type, detail: detail.to_owned(), ..problem })
                .report_in(Paint::Plain, &Invocation::default())
        };
        insta::assert_snapshot!(missing("table `a.b` does not exist"), @r"
        error: Not possible (404)
          table `a.b` does not exist
          `prunus table list` says which tables there are, `prunus table create` makes one
        ");
        assert!(missing("snapshot 7 does not exist").ends_with("says which snapshots there are\n"));
        assert!(missing("something else").ends_with("something else\n"));
    }

    #[test]
    fn a_server_that_is_not_there_is_told_with_how_to_start_it() {
        let url = "http://h/".to_owned();
        let report =
            CliError::from(ClientError::Foreign { url, status: 200 }).report_in(Paint::Plain, &Invocation::default());
        assert!(
            report.ends_with("\n  name the server with --url or PRUNUS_URL; `prunus --version` is this one\n"),
            "{report}"
        );
    }

    #[test]
    fn advice_names_what_was_called_and_can_be_copied() {
        let missing = |detail: &str| {
            let problem_type = "/problems/not-found".to_owned();
            error_of(ProblemJson { problem_type, detail: detail.to_owned(), ..problem(404, Vec::new()) })
        };
        let mut called = Invocation { table: Some("a.b".parse().unwrap()), ..Invocation::default() };
        let report = missing("snapshot 7 does not exist").report_in(Paint::Plain, &called);
        assert!(report.ends_with("\n  `prunus snapshots list a.b` says which snapshots there are\n"), "{report}");
        called.command = "import".to_owned();
        let report = missing("table `a.b` does not exist").report_in(Paint::Plain, &called);
        assert!(report.contains("`prunus import --create a.b PATH...`"), "{report}");
    }

    #[test]
    fn where_json_is_asked_for_errors_are_problem_documents() {
        let called = Invocation { json: true, ..Invocation::default() };
        let read = |error: CliError| serde_json::from_str::<serde_json::Value>(&error.report(&called)).unwrap();
        let document = read(error_of(problem(409, Vec::new())));
        assert_eq!((&document["status"], &document["type"]), (&json!(409), &json!("/problems/x")));
        let source = std::io::Error::other("inner");
        let document = read(CliError::DataFolder { path: "d".to_owned(), source });
        let detail = "the data folder `d` cannot be made: inner";
        assert_eq!(
            document,
            json!({"type": "about:blank", "title": "the data folder `d` cannot be made", "detail": detail})
        );
    }

    #[test]
    fn what_a_server_says_has_no_power_over_the_terminal() {
        let fault =
            FaultJson { message: "a\u{1b}[2J".to_owned(), column: Some("x\ny".to_owned()), ..FaultJson::default() };
        let report = error_of(problem(422, vec![fault])).report_in(Paint::Plain, &Invocation::default());
        assert!(report.ends_with("\n  column x\\ny: a\\u{1b}[2J\n"), "{report}");
    }

    #[test]
    fn that_a_store_failed_is_not_said_beside_why() {
        let locked = StoreError::Locked { path: "/d/catalog.db".into() };
        let error = CliError::operation("checked")(prunus_catalog::Error::Store(locked));
        insta::assert_snapshot!(error.report_in(Paint::Plain, &Invocation::default()), @r"
        error: the catalog cannot be checked: the store /d/catalog.db is in use by another process
          stop that first; `prunus backup` works beside a server, and checks the copy that it makes
        ");
    }

    #[test]
    fn what_is_no_server_of_ours_gives_no_answer_whatever_its_status() {
        for status in [200, 404, 500] {
            let error = CliError::from(ClientError::Foreign { url: "http://h/".to_owned(), status });
            assert_eq!(error.exit(), Exit::NoAnswer, "{status}");
        }
    }

    #[test]
    fn an_interrupt_has_the_exit_code_of_shells() {
        assert_eq!(ExitCode::from(CliError::Interrupted.exit()), ExitCode::from(130));
    }

    #[test]
    fn exit_codes_follow_the_answer() {
        for (status, expected) in [(400, 1), (404, 1), (409, 1), (422, 1), (500, 3), (503, 3)] {
            let exit = error_of(problem(status, Vec::new())).exit();
            assert_eq!(ExitCode::from(exit), ExitCode::from(expected), "{status}");
        }
    }
}
