//! The command line: arguments become plain structs, and each subcommand is one call.
//!
//! All subcommands but `serve`, `demo`, `check`, `backup` and `restore` are clients of the public HTTP API.

mod audit;
mod backup;
mod check;
mod connection;
mod demo;
mod error;
mod format;
mod import;
mod output;
mod plan;
mod restore;
mod serve;
mod snapshots;
mod table;

use clap::{Parser, Subcommand};

pub use error::{CliError, Exit};
pub(crate) use format::{Side, bytes, count, counted, micros, table as text_table};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  refused: by the server (a 4xx answer), or the command itself failed
  2  usage: the arguments, or a local file that they name, cannot be used
  3  no answer: the server cannot be reached or failed (a 5xx answer); trying again may help
  4  an import is done, but some files were refused, or have changed since they were registered
  5  a check or an audit is done, and something is wrong";

/// A lakehouse catalog: which Parquet files can hold a row that a filter matches.
#[derive(Debug, Parser)]
#[command(name = "prunus", version, after_help = EXIT_CODES, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeArgs),
    Table(table::TableArgs),
    Import(import::ImportArgs),
    Plan(plan::PlanArgs),
    Snapshots(snapshots::SnapshotsArgs),
    Audit(audit::AuditArgs),
    Check(check::CheckArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Demo(demo::DemoArgs),
}

/// Does what was asked for.
///
/// # Errors
/// [`CliError`], which knows the exit code that it stands for.
pub fn run(cli: Cli) -> Result<Exit, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::Runtime)?;
    let done = runtime.block_on(async {
        match cli.command {
            Command::Serve(args) => serve::run(args).await,
            Command::Table(args) => table::run(args).await,
            Command::Import(args) => import::run(args).await,
            Command::Plan(args) => plan::run(args).await,
            Command::Snapshots(args) => snapshots::run(args).await,
            Command::Audit(args) => audit::run(args).await,
            Command::Check(args) => check::run(args).await,
            Command::Backup(args) => backup::run(args).await,
            Command::Restore(args) => restore::run(args).await,
            Command::Demo(args) => demo::run(args).await,
        }
    });
    match done {
        // Whoever reads the output has seen enough, as in `prunus plan ... | head`.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_fit_together() {
        Cli::command().debug_assert();
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
