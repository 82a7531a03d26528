//! TLS: a certificate and its key from files, which are read again when they change.

mod error;
mod files;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::version::{TLS12, TLS13};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::socket::Socket;
use crate::settings::ServerSettings;
use files::{Files, Stamps};

pub use error::TlsError;

/// How often it is looked whether the files are still the same.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How handshakes are made at present. Cheap to clone; all clones change together.
#[derive(Clone)]
pub(super) struct Tls {
    files: Arc<Files>,
    /// What the files were when they were read.
    stamps: Stamps,
    current: Arc<watch::Sender<Arc<ServerConfig>>>,
}

impl Tls {
    /// As is set; `None` if neither a certificate nor a key is.
    pub(super) fn of(settings: &ServerSettings) -> Result<Option<Self>, TlsError> {
        let Some(files) = Files::of(settings)? else { return Ok(None) };
        // Before they are read, so that a change meanwhile is seen as one.
        let stamps = files.stamps();
        let current = Arc::new(watch::Sender::new(Arc::new(read(&files)?)));
        Ok(Some(Self { files: Arc::new(files), stamps, current }))
    }

    /// A handshake with a client.
    pub(super) async fn accept(&self, socket: Socket) -> io::Result<TlsStream<Socket>> {
        let config = Arc::clone(&self.current.borrow());
        TlsAcceptor::from(config).accept(socket).await
    }

    /// Reads the files again whenever they have changed. Handshakes from then on are made with what they hold; what is no good is
    /// logged, and the one before stays.
    pub(super) async fn follow_files(mut self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let files = Arc::clone(&self.files);
            let before = self.stamps.clone();
            let looked = tokio::task::spawn_blocking(move || {
                let stamps = files.stamps();
                (stamps != before).then(|| (stamps, read(&files)))
            });
            let Ok(Some((stamps, read))) = looked.await else { continue };
            self.stamps = stamps;
            match read {
                Ok(config) => {
                    self.current.send_replace(Arc::new(config));
                    tracing::info!("the TLS certificate was read again");
                }
                Err(error) => tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the TLS certificate has changed and is no good: the one before stays"
                ),
            }
        }
    }
}

/// How handshakes are made with what the files hold.
fn read(files: &Files) -> Result<ServerConfig, TlsError> {
    let unfitting = |source| TlsError::Unfitting { certificate: files.certificate(), key: files.key(), source };
    let provider = Arc::new(ring::default_provider());
    let versions = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13, &TLS12]);
    let (chain, key) = (files.read_chain()?, files.read_key()?);
    let certified = versions.and_then(|versions| versions.with_no_client_auth().with_single_cert(chain, key));
    let mut config = certified.map_err(unfitting)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
