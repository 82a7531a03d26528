//! Clients that do not read what they are answered.

use std::net::SocketAddr;
use std::time::Duration;

use prunus::settings::LimitSettings;
use serde_json::json;
use tokio::net::TcpSocket;
use tokio::time::Instant;

use crate::client::{Client, SOON};
use crate::server::{COMMITS, PLAN, Server, append};

/// A client that has next to no room for what it does not read.
async fn narrow_client(address: SocketAddr) -> Client {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    Client::over(socket.connect(address).await.unwrap())
}

/// Makes the table so large that a plan of it fits into no buffer between the two.
pub(crate) async fn fill(server: &Server) {
    for commit in 0..4 {
        let names: Vec<String> = (0..5_000).map(|number| format!("{commit}-{number:0900}")).collect();
        assert_eq!(server.post(COMMITS, &append(&names)).await.status, 201);
    }
}

/// Begins a plan of the whole table.
pub(crate) async fn begin_plan(address: SocketAddr) -> Client {
    let mut client = narrow_client(address).await;
    client.post(PLAN, "", json!({"page_size": 100_000}).to_string()).await;
    client
}

/// How many requests are being answered, this one not counted.
async fn in_flight(server: &Server) -> u64 {
    let metrics = String::from_utf8(server.get("/metrics").await.body).unwrap();
    let line = metrics.lines().find_map(|line| line.strip_prefix("prunus_requests_in_flight ")).unwrap();
    line.parse::<u64>().unwrap() - 1
}

#[tokio::test]
async fn what_a_client_does_not_read_is_let_go() {
    let server = Server::start(LimitSettings { write_seconds: 2, ..LimitSettings::default() }).await;
    fill(&server).await;
    let mut stalled = Vec::new();
    for _ in 0..8 {
        stalled.push(begin_plan(server.address).await);
    }
    let started = Instant::now();
    while in_flight(&server).await < 8 {
        assert!(started.elapsed() < SOON);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.check_alive().await;
    while in_flight(&server).await > 0 {
        assert!(started.elapsed() < SOON);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for mut client in stalled {
        client.ended().await;
    }
    server.check_alive().await;
}
