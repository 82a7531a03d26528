//! TLS: handshakes, files that change, files that are no good.

use std::time::Duration;

use prunus::settings::{LimitSettings, Settings};
use prunus_catalog::{Catalog, CatalogOptions};
use rustls::version::{TLS12, TLS13};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::client::SOON;
use crate::server::Server;
use crate::tls_files::{Files, connect, pair};

#[tokio::test]
async fn both_versions_are_spoken() {
    let (files, certificate) = Files::with_certificate();
    let server = Server::start_empty(files.settings()).await;
    for version in [&TLS12, &TLS13] {
        let mut client = connect(&server, &certificate, version).await.unwrap();
        for _ in 0..3 {
            assert_eq!(client.get("/healthz").await.status, 200);
        }
    }
}

#[tokio::test]
async fn plain_text_just_ends() {
    let (files, certificate) = Files::with_certificate();
    let server = Server::start_empty(files.settings()).await;
    let mut client = server.client().await;
    client.send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    client.ended().await;
    assert_eq!(connect(&server, &certificate, &TLS13).await.unwrap().get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_given_up_and_counts_as_a_connection() {
    let (files, certificate) = Files::with_certificate();
    let limits = LimitSettings { header_seconds: 1, connections: 2, ..LimitSettings::default() };
    let server = Server::start_empty(Settings { limits, ..files.settings() }).await;
    let (mut one, mut other) = (server.client().await, server.client().await);
    assert!(connect(&server, &certificate, &TLS13).await.is_err());
    let started = Instant::now();
    one.ended().await;
    other.ended().await;
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_eq!(connect(&server, &certificate, &TLS13).await.unwrap().get("/healthz").await.status, 200);
}

/// Returns when new connections are made with this certificate.
async fn until_trusted(server: &Server, certificate: &rustls::pki_types::CertificateDer<'static>) {
    let started = Instant::now();
    while connect(server, certificate, &TLS13).await.is_err() {
        assert!(started.elapsed() < SOON);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn a_certificate_that_changes_is_taken_and_old_connections_live_on() {
    let (files, before) = Files::with_certificate();
    let server = Server::start_empty(files.settings()).await;
    let mut old = connect(&server, &before, &TLS13).await.unwrap();
    assert_eq!(old.get("/healthz").await.status, 200);
    let after = pair();
    files.write(&after);
    until_trusted(&server, after.cert.der()).await;
    assert!(connect(&server, &before, &TLS13).await.is_err());
    assert_eq!(old.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_certificate_that_changes_for_the_worse_is_not_taken() {
    let (files, before) = Files::with_certificate();
    let server = Server::start_empty(files.settings()).await;
    assert_eq!(connect(&server, &before, &TLS13).await.unwrap().get("/healthz").await.status, 200);
    let after = pair();
    // The key is still that of the one before.
    std::fs::write(files.certificate(), after.cert.pem()).unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(connect(&server, &before, &TLS13).await.unwrap().get("/healthz").await.status, 200);
    std::fs::remove_file(files.key()).unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(connect(&server, &before, &TLS13).await.unwrap().get("/healthz").await.status, 200);
    files.write(&after);
    until_trusted(&server, after.cert.der()).await;
}

/// What a server says that is started with these settings.
async fn refused(settings: Settings) -> String {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let served = prunus::serve(catalog, listener, settings, std::future::pending());
    tokio::time::timeout(SOON, served).await.unwrap().unwrap_err().to_string()
}

#[tokio::test]
async fn files_that_are_no_good_are_named_with_the_reason() {
    let (one, other) = (pair(), pair());
    let (certificate, key) = (one.cert.pem(), one.signing_key.serialize_pem());
    let check = async |certificate: Option<&str>, key: Option<&str>, expected: &str| {
        let files = Files::empty();
        for (path, text) in [(files.certificate(), certificate), (files.key(), key)] {
            if let Some(text) = text {
                std::fs::write(path, text).unwrap();
            }
        }
        let message = refused(files.settings()).await;
        let shown = |path: std::path::PathBuf| path.display().to_string();
        let message = message.replace(&shown(files.certificate()), "CERT").replace(&shown(files.key()), "KEY");
        assert_eq!(message, expected);
    };
    let absent = "No such file or directory (os error 2)";
    check(None, Some(&key), &format!("the TLS certificate file `CERT` cannot be read: {absent}")).await;
    check(Some(&certificate), None, &format!("the TLS key file `KEY` cannot be read: {absent}")).await;
    check(Some(""), Some(&key), "the TLS certificate file `CERT` holds no certificate as PEM").await;
    check(Some(&certificate), Some(&certificate), "the TLS key file `KEY` holds no key as PEM").await;
    check(
        Some("-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----\n"),
        Some(&key),
        "the TLS certificate file `CERT` is malformed PEM",
    )
    .await;
    check(
        Some(&certificate),
        Some(&other.signing_key.serialize_pem()),
        "the TLS certificate `CERT` and the key `KEY` cannot be used together: keys may not be consistent: KeyMismatch",
    )
    .await;
    let long = "x".repeat((1 << 20) + 1);
    check(Some(&long), Some(&key), "the TLS certificate file `CERT` is larger than 1048576 bytes").await;
}

#[tokio::test]
async fn a_certificate_without_a_key_is_refused_and_the_other_way_round() {
    let (files, _) = Files::with_certificate();
    let mut settings = files.settings();
    settings.server.tls_key = None;
    let expected = "a TLS certificate and its key are set together: server.tls_key is not set";
    assert_eq!(refused(settings).await, expected);
    let mut settings = files.settings();
    settings.server.tls_cert = None;
    let expected = "a TLS certificate and its key are set together: server.tls_cert is not set";
    assert_eq!(refused(settings).await, expected);
}
