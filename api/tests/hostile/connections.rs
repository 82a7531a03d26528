//! Connections up to the limit, and beyond.

use std::time::Duration;

use prunus::settings::{LimitSettings, Settings};

use crate::client::Client;
use crate::server::Server;

const LIMIT: usize = 5;

/// A server that takes so many connections, for `header_seconds` if they idle.
async fn server(header_seconds: u64) -> Server {
    let limits = LimitSettings { connections: LIMIT, header_seconds, ..LimitSettings::default() };
    Server::start_empty(Settings { limits, ..Settings::default() }).await
}

/// As many as there may be, all of which are attended to.
async fn connected(server: &Server) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..LIMIT {
        let mut client = server.client().await;
        assert_eq!(client.get("/healthz").await.status, 200);
        clients.push(client);
    }
    clients
}

#[tokio::test]
async fn one_connection_too_many_is_told_so_and_the_others_go_on() {
    let server = server(60).await;
    let mut clients = connected(&server).await;
    for _ in 0..20 {
        let mut refused = server.client().await;
        let answer = refused.get("/healthz").await;
        assert_eq!(answer.problem(), (503, "too-many-connections".to_owned()));
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        assert_eq!(answer.json()["request_id"].as_str().unwrap().len(), 36);
        refused.ended().await;
    }
    for client in &mut clients {
        assert_eq!(client.get("/healthz").await.status, 200);
    }
}

#[tokio::test]
async fn a_place_that_is_left_is_given_to_the_next() {
    let server = server(60).await;
    let mut clients = connected(&server).await;
    clients.pop();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn connections_on_which_nothing_comes_hold_no_place_for_long() {
    let server = server(1).await;
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(server.client().await);
    }
    assert_eq!(server.get("/healthz").await.status, 503);
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(server.get("/healthz").await.status, 200);
}
