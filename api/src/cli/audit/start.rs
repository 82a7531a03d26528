//! `prunus audit` and `prunus audit start`

use std::time::Duration;

use clap::{Args, ValueEnum};
use prunus_catalog::TableIdent;

use crate::cli::connection::{Connection, KeyChoice};
use crate::cli::counted;
use crate::cli::pages::join;
use crate::cli::progress::Progress;
use crate::cli::{CliError, Exit};
use crate::client::{Client, ClientError, Page};
use crate::wire::{AuditJson, AuditModeJson, AuditPageJson, AuditStateJson, NewAuditJson};

use super::render::{exit, page_text};

/// How long is waited before an audit is asked about again: at first, and at most.
const POLLS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

const EXAMPLES: &str = "\
Examples:
  prunus audit start shop.orders
  prunus audit start shop.orders --mode scan --sample 0.01";

/// Begin an audit, and wait until it is over
///
/// The server works on it; an interrupt (ctrl-c) leaves it to that, and `prunus audit list` says how far it is.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct StartArgs {
    /// The table, as NAMESPACE.TABLE
    // By this group it is told whether they are there at all, in `prunus audit TABLE`; of arguments with others below clap fills in none.
    #[arg(value_name = "TABLE", group = "StartArgs")]
    table: TableIdent,

    /// What is read of each file
    #[arg(long, value_name = "MODE", default_value = "footer")]
    mode: Mode,

    /// Which share of the files is looked at: above 0, at most 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    sample: f64,

    /// Replace statistics by better ones, and false ones by true ones; no snapshot changes by it
    #[arg(long)]
    repair: bool,

    /// Do not wait for the end: print the audit as it begins
    #[arg(long)]
    detach: bool,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// The footer
    Footer,
    /// And all data of which statistics are kept
    Scan,
}

pub(super) async fn run(args: StartArgs) -> Result<Exit, CliError> {
    let client = args.key.on(args.connection.client()?);
    let mode = match args.mode {
        Mode::Footer => AuditModeJson::Footer,
        Mode::Scan => AuditModeJson::Scan,
    };
    let request = NewAuditJson { mode, sample: args.sample, repair: args.repair };
    let begun = client.start_audit(&args.table, &request).await?;
    let audit = if args.detach {
        AuditPageJson { audit: begun, found: Vec::new(), next_page_token: None }
    } else {
        let ended = wait(&client, &args.table, begun).await?;
        page(&client, &args.table, ended.audit_id, None).await?
    };
    args.connection.answer(&audit, page_text)?;
    Ok(exit(&audit.audit))
}

/// Asks until an audit is over.
async fn wait(client: &Client, table: &TableIdent, mut audit: AuditJson) -> Result<AuditJson, ClientError> {
    let progress = Progress::of_files(audit.files);
    let (mut pause, longest) = POLLS;
    progress
        .during(async {
            while audit.state == AuditStateJson::Running {
                progress.reached(audit.files_checked);
                progress.say(counted(audit.findings + audit.findings_left_out, "finding", "findings"));
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(longest);
                let page = Page { page_size: Some(1), page_token: None };
                audit = client.load_audit(table, audit.audit_id, &page).await?.audit;
            }
            Ok(audit)
        })
        .await
}

/// An audit with what it has found, up to a limit.
pub(super) async fn page(
    client: &Client,
    table: &TableIdent,
    audit_id: i64,
    limit: Option<u64>,
) -> Result<AuditPageJson, ClientError> {
    join("findings", limit, async |page: Page| client.load_audit(table, audit_id, &page).await).await
}
