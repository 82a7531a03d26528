//! The command line: arguments become plain structs, and each subcommand is one call.
//!
//! All subcommands but `serve`, `demo`, `check`, `backup` and `restore`, and `token` where it is told so, are clients of the public HTTP API.

mod audit;
mod backup;
mod changes;
mod check;
mod column_names;
mod commit;
mod completions;
mod config;
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
mod invocation;
mod journal;
mod json_file;
mod manifests;
mod namespace;
mod orphans;
mod output;
mod pages;
mod plan;
mod progress;
mod properties;
pub(crate) mod prose;
#[cfg(test)]
mod reference;
mod regroup;
mod restore;
mod rollback;
mod scan;
mod serve;
mod setting_flags;
mod snapshots;
mod statistics;
mod table;
mod tag;
mod time;
mod token;
mod transaction;

use clap::{FromArgMatches, Parser, Subcommand};

pub use error::{CliError, Exit};
use format::Fields;
pub(crate) use format::legible;
pub(crate) use format::{Side, bytes, count, counted, micros, table as text_table};
use help::command;
pub use invocation::Invocation;

/// A lakehouse catalog: which Parquet files can hold a row that a filter matches.
#[derive(Debug, Parser)]
#[command(name = "prunus", version, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    /// What was called; clap leaves it to us.
    #[arg(skip)]
    called: Invocation,
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
    Journal(journal::JournalArgs),
    Health(health::HealthArgs),
    Config(config::ConfigArgs),
    Token(token::TokenArgs),
    Check(check::CheckArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Completions(completions::CompletionsArgs),
}

impl Cli {
    /// The arguments of this process. Where they ask for help, or are none, this prints so and ends the process.
    pub fn from_arguments() -> Self {
        let mut command = help::command();
        let matches = command.get_matches_mut();
        let called = Invocation::of(&matches);
        match Self::from_arg_matches(&matches) {
            Ok(cli) => Self { called, ..cli },
            Err(error) => error.format(&mut command).exit(),
        }
    }

    /// What was called, for the report of an error.
    pub fn called(&self) -> &Invocation {
        &self.called
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
        // They take interrupts themselves: to answer the requests that have begun, and to hear what is forgotten by then.
        let takes_interrupts = matches!(self, Self::Serve(_) | Self::Expire(_));
        // One future for all commands is as large as the largest of them.
        let run = Box::pin(self.run());
        if takes_interrupts {
            return run.await;
        }
        tokio::select! {
            done = run => done,
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
            Self::Journal(args) => journal::run(args).await,
            Self::Config(args) => config::run(args).await,
            Self::Health(args) => health::run(args).await,
            Self::Token(args) => token::run(args).await,
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

    const COMMANDS: &[&str] = &[
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
        "prunus namespace create a.b --property k=v --json",
        "prunus namespace list --limit 5",
        "prunus namespace show a.b",
        "prunus namespace drop a.b",
        "prunus table list a.b --limit 5",
        "prunus table alter a.b --rename a.c --property k=v --unset l --cluster-by day",
        "prunus table alter a.b --drop-column x --make-nullable y --rename-column a=b --no-cluster-by",
        "prunus table alter a.b --changes - --idempotency-key k",
        "prunus commit a.b --operation append --add x.parquet y.parquet",
        "prunus commit a.b --operation replace --add x --remove y z --base-snapshot 3 --summary k=v",
        "prunus commit a.b --operation overwrite --remove y --base-snapshot 3 --filter x>1 --nan-order ieee",
        "prunus commit a.b --file - --idempotency-key k",
        "prunus transaction t.json",
        "prunus plan a.b --select x --select y --no-prune --filter-json f.json",
        "prunus plan a.b --where x>1 --dry-run",
        "prunus explain a.b x.parquet --where x>1 --snapshot 3",
        "prunus inspect a.b",
        "prunus inspect a.b --where x>1 --explain 5 --json",
        "prunus files list a.b --snapshot 3 --limit 5 --quiet",
        "prunus files show a.b x.parquet --as-of 2026-01-01T00:00:00Z",
        "prunus manifests list a.b --snapshot 3",
        "prunus manifests show a.b 7 --limit 5",
        "prunus snapshots a.b --limit 5 --json",
        "prunus snapshots list a.b",
        "prunus snapshots show a.b 3",
        "prunus changes a.b --from 0 --to 3",
        "prunus tag set a.b t 3",
        "prunus tag show a.b t",
        "prunus tag list a.b",
        "prunus tag delete a.b t",
        "prunus rollback a.b 3",
        "prunus expire a.b --keep-last 5 --older-than 2026-01-01T00:00:00Z --forget",
        "prunus orphans a.b --older-than 2026-01-01T00:00:00Z --limit 5",
        "prunus regroup a.b --cluster-by x --dry-run",
        "prunus audit start a.b --mode scan",
        "prunus audit list a.b",
        "prunus audit show a.b 3 --limit 5",
        "prunus audit cancel a.b 3",
        "prunus journal",
        "prunus journal a.b --since 3d --until 2026-01-01 --limit 5 --json",
        "prunus journal --namespace a --principal p --operation commit",
        "prunus health --url http://h:1",
        "prunus config show --config c.toml --require-tokens --json",
        "prunus config server --json",
        "prunus serve",
        "prunus serve --data-dir /data --listen 0.0.0.0:1 --insecure-no-auth --tls-cert c --tls-key k",
        "prunus serve --data-dir /data --allow-location s3://b/ --allow-location /data",
        "prunus completions bash",
        "prunus token create ana --grant admin --data-dir /data",
        "prunus token create ana --grant reader:a.b --grant writer:c --expires-in 90d --json",
        "prunus token create ana --grant reader --expires-at 2027-01-31 --url https://host --token-file t",
        "prunus token list --limit 5",
        "prunus token list --data-dir /data --json",
        "prunus token revoke ana",
        "prunus plan a.b --token-file t",
    ];

    const SENSELESS: &[&str] = &[
        "prunus",
        "prunus serve --data-dir /data --listen here",
        "prunus serve --require-tokens --insecure-no-auth",
        "prunus config",
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
        "prunus plan a.b --nan-order least",
        "prunus plan a.b --quiet --json",
        "prunus check",
        "prunus namespace",
        "prunus namespace create a..b",
        "prunus table alter a.b --add-column x",
        "prunus table alter a.b --cluster-by x --no-cluster-by",
        "prunus commit a.b",
        "prunus commit a.b --operation upsert --add x",
        "prunus commit a.b --operation append --file c.json",
        "prunus commit a.b --file c.json --nan-order ieee",
        "prunus commit a.b --operation overwrite --filter x>1",
        "prunus commit a.b --operation append --add x --idempotency-key ",
        "prunus plan a.b --where x>1 --filter-json f.json",
        "prunus plan a.b --dry-run --limit 5",
        "prunus explain a.b",
        "prunus files list a.b --limit 0",
        "prunus manifests show a.b x",
        "prunus snapshots a.b show a.b 3",
        "prunus changes a.b",
        "prunus tag set a.b t/u 3",
        "prunus rollback a.b",
        "prunus journal b",
        "prunus journal a.b --since yesterday",
        "prunus expire a.b",
        "prunus audit cancel a.b",
        "prunus completions tcsh",
        "prunus backup --data-dir /data",
        "prunus restore --data-dir /data",
        "prunus demo --scale 0",
        "prunus demo --scale 1000",
        "prunus token",
        "prunus token create ana",
        "prunus token create ana --grant owner",
        "prunus token create ana --grant reader:",
        "prunus token create a/b --grant reader",
        "prunus token create ana --grant reader --expires-in 90d --expires-at 2027-01-31",
        "prunus token create ana --grant reader --expires-in -1d",
        "prunus token create ana --grant reader --data-dir /data --url http://h",
        "prunus token list --data-dir /data --token-file t",
        "prunus plan a.b --token prunus_x",
    ];

    #[test]
    fn the_arguments_fit_together() {
        command().debug_assert();
    }

    #[test]
    fn commands_are_read() {
        for line in COMMANDS {
            if let Err(error) = Cli::try_parse_from(line.split(' ')) {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn senseless_commands_are_refused() {
        for line in SENSELESS {
            assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
