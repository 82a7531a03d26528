//! `prunus serve`

mod announcement;

use clap::Args;
use prunus_catalog::Catalog;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::output::print;
use super::setting_flags::SettingFlags;
use super::{CliError, Exit};
use crate::server::{Entrance, serve_at};
use crate::settings::SettingsError;
use announcement::Started;

const EXAMPLES: &str = "\
Examples:
  prunus serve --data-dir ./catalog --listen 127.0.0.1:8181
  prunus serve --config /etc/prunus/prunus.toml
  PRUNUS__LIMITS__PAGE_SIZE=1000 prunus serve --data-dir ./catalog";

/// Run the server
///
/// What it runs with comes from a file (prunus.toml), over it from the environment (PRUNUS__SECTION__KEY), and over that from these
/// flags; `prunus config show` prints it. It stops on an interrupt (ctrl-c) or SIGTERM once the requests that have begun are
/// answered; on a second one, at once. The keys and endpoints of object stores come from the environment, such as
/// AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL. RUST_LOG says what is logged.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    flags: SettingFlags,
}

pub(super) async fn run(args: ServeArgs) -> Result<Exit, CliError> {
    let settings = args.flags.sources()?.settings()?;
    let telemetry = crate::telemetry::start(&settings.log, &settings.traces)?;
    let no_folder =
        "say where the catalog is kept: --data-dir DIR, or `data_dir` in the section [store] of prunus.toml";
    let data_dir = settings.store.data_dir.clone().ok_or(CliError::NothingAsked(no_folder))?;
    let unusable = |source| CliError::DataFolder { path: data_dir.display().to_string(), source };
    prunus_catalog::ensure_data_folder(&data_dir).map_err(unusable)?;
    let options = settings.catalog_options().map_err(SettingsError::from)?;
    let catalog = Catalog::open(&data_dir, options).await?;
    let listen = settings.server.listen;
    let no_port = |source| CliError::Listen { address: listen, source };
    let listener = TcpListener::bind(listen).await.map_err(no_port)?;
    let address = listener.local_addr().map_err(no_port)?;
    let entrance = Entrance::of(&settings, address, &catalog)?;
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let config = args.flags.file().map(|(path, _)| path);
    let (access, scheme) = (entrance.access(), entrance.scheme());
    Started { settings: &settings, config: config.as_deref(), address, access, scheme, catalog: &catalog }.tell();
    print(&format!("listening on {}://{address}\n", entrance.scheme()))?;

    let (stop, stopped) = oneshot::channel();
    let impatience = async move {
        signals.next().await;
        tracing::info!("stopping, once the requests that have begun are answered");
        let _ = stop.send(());
        signals.next().await;
        tracing::warn!("stopping at once");
    };
    let served = serve_at(entrance, catalog, listener, settings, async {
        let _ = stopped.await;
    });
    tokio::select! {
        () = served => {}
        () = impatience => {}
    }
    telemetry.stop().await;
    Ok(Exit::Done)
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
