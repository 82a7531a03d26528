//! The command line: arguments become plain structs, and each subcommand is one call.
//!
//! All subcommands but `serve`, `demo`, `check`, `backup` and `restore` are clients of the public HTTP API.

mod audit;
mod backup;
mod changes;
mod check;
mod commit;
mod completions;
mod connection;
mod demo;
mod error;
mod expire;
mod explain;
mod files;
mod format;
mod health;
mod help;
mod import;
mod inspect;
mod json_file;
mod manifests;
mod namespace;
mod orphans;
mod output;
mod pages;
mod plan;
mod progress;
mod properties;
mod prose;
#[cfg(test)]
mod reference;
mod regroup;
mod restore;
mod rollback;
mod scan;
mod serve;
mod snapshots;
mod statistics;
mod table;
mod tag;
mod transaction;

use clap::{FromArgMatches, Parser, Subcommand};

pub use error::{CliError, Exit};
pub(crate) use format::{Side, bytes, count, counted, micros, table as text_table};
use help::command;

/// A lakehouse catalog: which Parquet files can hold a row that a filter matches.
#[derive(Debug, Parser)]
#[command(name = "prunus", version, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Serve(serve::ServeArgs),
    Import(import::ImportArgs),
    Plan(plan::PlanArgs),
    Namespace(namespace::NamespaceArgs),
    Table(table::TableArgs),
    Commit(commit::CommitArgs),
    Transaction(transaction::TransactionArgs),
    Inspect(inspect::InspectArgs),
    Explain(explain::ExplainArgs),
    Files(files::FilesArgs),
    Manifests(manifests::ManifestsArgs),
    Snapshots(snapshots::SnapshotsArgs),
    Changes(changes::ChangesArgs),
    Tag(tag::TagArgs),
    Rollback(rollback::RollbackArgs),
    Expire(expire::ExpireArgs),
    Audit(audit::AuditArgs),
    Regroup(regroup::RegroupArgs),
    Orphans(orphans::OrphansArgs),
    Health(health::HealthArgs),
    Check(check::CheckArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Completions(completions::CompletionsArgs),
}

impl Cli {
    /// The arguments of this process. Where they ask for help, or are none, this prints so and ends the process.
    pub fn from_arguments() -> Self {
        let mut command = help::command();
        let read = Self::from_arg_matches(&command.get_matches_mut());
        read.unwrap_or_else(|error| error.format(&mut command).exit())
    }
}

/// Does what was asked for.
///
/// # Errors
/// [`CliError`], which knows the exit code that it stands for.
pub fn run(cli: Cli) -> Result<Exit, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::Runtime)?;
    let done = runtime.block_on(cli.command.run_until_interrupted());
    // What an interrupt has left behind is not waited for: it ends with the process.
    runtime.shutdown_background();
    match done {
        // Whoever reads the output has seen enough, as in `prunus plan ... | head`.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        done => done,
    }
}

impl Command {
    /// Runs it, or drops it where it stands when the user has had enough: a drop clears the screen and temporary folders.
    async fn run_until_interrupted(self) -> Result<Exit, CliError> {
        if matches!(self, Self::Serve(_)) {
            // It takes interrupts itself, to answer the requests that have begun.
            return self.run().await;
        }
        tokio::select! {
            done = self.run() => done,
            Ok(()) = tokio::signal::ctrl_c() => Err(CliError::Interrupted),
        }
    }

    async fn run(self) -> Result<Exit, CliError> {
        match self {
            Self::Demo(args) => demo::run(args).await,
            Self::Serve(args) => serve::run(args).await,
            Self::Import(args) => import::run(args).await,
            Self::Plan(args) => plan::run(args).await,
            Self::Namespace(args) => namespace::run(args).await,
            Self::Table(args) => table::run(args).await,
            Self::Commit(args) => commit::run(args).await,
            Self::Transaction(args) => transaction::run(args).await,
            Self::Inspect(args) => inspect::run(args).await,
            Self::Explain(args) => explain::run(args).await,
            Self::Manifests(args) => manifests::run(args).await,
            Self::Files(args) => files::run(args).await,
            Self::Snapshots(args) => snapshots::run(args).await,
            Self::Changes(args) => changes::run(args).await,
            Self::Tag(args) => tag::run(args).await,
            Self::Rollback(args) => rollback::run(args).await,
            Self::Expire(args) => expire::run(args).await,
            Self::Audit(args) => audit::run(args).await,
            Self::Regroup(args) => regroup::run(args).await,
            Self::Orphans(args) => orphans::run(args).await,
            Self::Health(args) => health::run(args).await,
            Self::Check(args) => check::run(args).await,
            Self::Backup(args) => backup::run(args).await,
            Self::Restore(args) => restore::run(args).await,
            Self::Completions(args) => completions::run(&args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_fit_together() {
        command().debug_assert();
    }

    #[test]
    fn commands_are_read() {
        for line in [
            "prunus serve --data-dir /data",
            "prunus serve --data-dir /data --listen [::1]:0 --log json",
            "prunus table create a.b --schema-from /x.parquet --property k=v --property l=a=b --cluster-by day",
            "prunus table create a.b --schema s.json --location s3://bucket/x --json",
            "prunus table list",
            "prunus table list a.b --url https://host/prefix",
            "prunus table show a.b",
            "prunus table drop a.b",
            "prunus table columns a.b --snapshot 3 --json",
            "prunus table columns a.b --as-of 2026-01-01T00:00:00Z",
            "prunus import a.b x.parquet y/ --batch 10",
            "prunus import a.b x/ --create --schema-from x/1.parquet",
            "prunus plan a.b --where x>1 --snapshot 3 --nan-order ieee --time-zone +01:00 --json",
            "prunus plan a.b --as-of 2026-01-01T00:00:00Z --limit 5",
            "prunus plan a.b --quiet",
            "prunus snapshots a.b",
            "prunus audit a.b",
            "prunus audit a.b --mode scan --sample 0.1 --repair --json",
            "prunus audit a.b --detach",
            "prunus serve --data-dir /data --audit-bytes-per-second 0",
            "prunus serve --data-dir /data --power-loss-may-lose-commits",
            "prunus check --data-dir /data --json",
            "prunus backup --data-dir /data --to /b.db",
            "prunus restore --data-dir /data --from /b.db --replace",
            "prunus demo",
            "prunus demo --scale 0.01",
        ] {
            if let Err(error) = Cli::try_parse_from(line.split(' ')) {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn senseless_commands_are_refused() {
        for line in [
            "prunus",
            "prunus serve",
            "prunus serve --data-dir /data --listen here",
            "prunus table create a.b",
            "prunus table create a.b --schema s.json --schema-from x.parquet",
            "prunus table create a.b --schema s.json --property k",
            "prunus table show b",
            "prunus table columns a.b --snapshot 3 --as-of 2026-01-01T00:00:00Z",
            "prunus table show a.b --url localhost:8181",
            "prunus import a.b",
            "prunus import a.b x --batch 0",
            "prunus import a.b x --batch 100001",
            "prunus import a.b x --schema-from y.parquet",
            "prunus plan a.b --snapshot 3 --as-of 2026-01-01T00:00:00Z",
            "prunus plan a.b --snapshot x",
            "prunus plan a.b --nan-order least",
            "prunus plan a.b --quiet --json",
            "prunus check",
            "prunus backup --data-dir /data",
            "prunus restore --data-dir /data",
            "prunus demo --scale 0",
            "prunus demo --scale 1000",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
