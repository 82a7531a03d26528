//! `prunus serve`

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use clap::Args;
use prunus_catalog::{Catalog, DEFAULT_AUDIT_BYTES_PER_SECOND, DEFAULT_PLAN_CACHE_BYTES};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::output::print;
use super::{CliError, Exit};
use crate::settings::{LogFormat, Settings};

const EXAMPLES: &str = "\
Example:
  prunus serve --data-dir ./catalog --listen 127.0.0.1:8181";

/// Run the server
///
/// It stops on an interrupt (ctrl-c) or SIGTERM once the requests that have begun are answered; on a second one, at once. The
/// keys and endpoints of object stores come from the environment, such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL. RUST_LOG
/// says what is logged.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    /// The folder that the catalog is kept in; it is made where it is missing
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,

    /// The address to listen on, as HOST:PORT; with port 0 a free port is taken, and printed
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8181", value_parser = address)]
    listen: SocketAddr,

    /// How many bytes of what plans have read are kept in memory, so that others need not read it again
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_PLAN_CACHE_BYTES)]
    plan_cache_bytes: u64,

    /// Answer commits before they have reached the disk: faster, but a loss of power or a crash of the machine may lose the
    /// last ones. Nothing is damaged by it, and nothing is lost when only the server ends
    #[arg(long)]
    power_loss_may_lose_commits: bool,

    /// How many bytes of data files are read a second to improve their statistics in the background: to count NaNs, to make
    /// bounds exact, to look at what was declared. Each file is read once; 0 reads nothing
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_AUDIT_BYTES_PER_SECOND)]
    audit_bytes_per_second: u64,

    /// How the log on standard error is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log: LogFormat,
}

pub(super) async fn run(args: ServeArgs) -> Result<Exit, CliError> {
    let settings = args.settings();
    let telemetry = crate::telemetry::start(&settings.log, &settings.traces)?;
    let unusable = |source| CliError::DataFolder { path: args.data_dir.display().to_string(), source };
    std::fs::create_dir_all(&args.data_dir).map_err(unusable)?;
    let catalog = Catalog::open(&args.data_dir, settings.catalog_options()).await?;
    let no_port = |source| CliError::Listen { address: args.listen, source };
    let listener = TcpListener::bind(args.listen).await.map_err(no_port)?;
    let address = listener.local_addr().map_err(no_port)?;
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    print(&format!("listening on http://{address}\n"))?;

    let (stop, stopped) = oneshot::channel();
    let impatience = async move {
        signals.next().await;
        tracing::info!("stopping, once the requests that have begun are answered");
        let _ = stop.send(());
        signals.next().await;
        tracing::warn!("stopping at once");
    };
    let served = crate::serve(catalog, listener, settings, async {
        let _ = stopped.await;
    });
    tokio::select! {
        served = served => served.map_err(no_port)?,
        () = impatience => {}
    }
    telemetry.stop().await;
    Ok(Exit::Done)
}

impl ServeArgs {
    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.server.listen = self.listen;
        settings.store.data_dir = Some(self.data_dir.clone());
        settings.store.plan_cache_bytes = self.plan_cache_bytes;
        settings.store.power_loss_may_lose_commits = self.power_loss_may_lose_commits;
        settings.store.audit_bytes_per_second = self.audit_bytes_per_second;
        settings.log.format = self.log;
        settings
    }
}

/// The address that a text names. Of a name with several it is the first of IPv4: that is where clients look by default.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    if host.is_empty() {
        let port = port.parse().unwrap_or(8181_u16);
        return Err(format!(
            "say which host, such as 127.0.0.1:{port} for this machine alone, or 0.0.0.0:{port} for all"
        ));
    }
    let named =
        text.to_socket_addrs().map_err(|error| format!("an address is HOST:PORT, such as 127.0.0.1:8181: {error}"))?;
    let named: Vec<SocketAddr> = named.collect();
    let first = named.iter().find(|address| address.is_ipv4()).or(named.first());
    first.copied().ok_or_else(|| "the host has no address".to_owned())
}

/// The signals that ask a server to stop.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_hosts_resolved() {
        assert_eq!(address("[::1]:0").unwrap().to_string(), "[::1]:0");
        assert_eq!(address("localhost:8181").unwrap().port(), 8181);
        for text in ["8181", ":8181"] {
            assert!(address(text).unwrap_err().contains("127.0.0.1:8181 for this machine"), "{text}");
        }
        assert!(address("here").is_err());
    }
}
