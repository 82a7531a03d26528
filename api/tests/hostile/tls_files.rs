//! Certificates in files, made for a test.

use std::path::PathBuf;
use std::sync::Arc;

use prunus::settings::{ServerSettings, Settings};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::client::Client;
use crate::server::Server;

/// The files of a certificate and its key.
pub(crate) struct Files {
    folder: TempDir,
}

impl Files {
    /// With what is in none of them yet.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With a certificate, and that.
    pub(crate) fn with_certificate() -> (Self, CertificateDer<'static>) {
        let (files, pair) = (Self::empty(), pair());
        files.write(&pair);
        (files, pair.cert.der().clone())
    }

    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    pub(crate) fn write(&self, pair: &CertifiedKey<KeyPair>) {
        std::fs::write(self.certificate(), pair.cert.pem()).unwrap();
        std::fs::write(self.key(), pair.signing_key.serialize_pem()).unwrap();
    }

    pub(crate) fn settings(&self) -> Settings {
        let (tls_cert, tls_key) = (Some(self.certificate()), Some(self.key()));
        Settings { server: ServerSettings { tls_cert, tls_key, ..ServerSettings::default() }, ..Settings::default() }
    }
}

/// A new certificate for `localhost`, and its key.
pub(crate) fn pair() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap()
}

/// A connection of a client that trusts this certificate alone.
pub(crate) async fn connect(
    server: &Server,
    trusted: &CertificateDer<'static>,
    version: &'static SupportedProtocolVersion,
) -> std::io::Result<Client<TlsStream<TcpStream>>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[version]).unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(server.address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    Ok(Client::over(TlsConnector::from(Arc::new(config)).connect(name, stream).await?))
}
