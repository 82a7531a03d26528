//! A server in this process.

use std::net::Ipv4Addr;
use std::path::Path;

use prunus_catalog::{Catalog, CatalogOptions};
use reqwest::Url;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::DemoError;
use crate::settings::Settings;

/// A server on a free port of this machine.
pub(crate) struct Server {
    url: Url,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    /// Starts a server with an empty catalog in a folder, which it makes.
    pub(crate) async fn start(folder: &Path) -> Result<Self, DemoError> {
        std::fs::create_dir(folder)?;
        let catalog = Catalog::open(folder, CatalogOptions::default()).await?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}", listener.local_addr()?).parse().map_err(|_| DemoError::Address)?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(crate::serve(catalog, listener, Settings::default(), async {
            let _ = stopped.await;
        }));
        Ok(Self { url, stop, task })
    }

    /// Where it is.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Stops it and waits until it has.
    pub(crate) async fn stop(self) -> Result<(), DemoError> {
        let _ = self.stop.send(());
        Ok(self.task.await??)
    }
}
