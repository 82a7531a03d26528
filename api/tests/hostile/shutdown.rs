//! A server that is told to stop.

use std::time::Duration;

use prunus::settings::{ServerSettings, Settings};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::answers::{begin_plan, fill};
use crate::client::{Client, post_head};
use crate::server::{COMMITS, PLAN, Server, append};

const SECOND: Duration = Duration::from_secs(1);

async fn server(shutdown_seconds: u64) -> Server {
    let server = ServerSettings { shutdown_seconds, ..ServerSettings::default() };
    Server::start_with(Settings { server, ..Settings::default() }).await
}

/// A client whose connection is kept.
async fn kept(server: &Server) -> Client {
    let mut client = server.client().await;
    assert_eq!(client.get("/healthz").await.status, 200);
    client
}

#[tokio::test]
async fn a_commit_that_has_begun_is_answered() {
    let server = server(20).await;
    let mut client = server.client().await;
    let body = append(&["a".to_owned()]).to_string();
    let (one, other) = body.split_at(10);
    client.send(post_head(COMMITS, &format!("content-length: {}\r\n", body.len())) + one).await;
    tokio::time::sleep(SECOND / 5).await;
    let stopping = server.stop();
    tokio::time::sleep(SECOND).await;
    client.send(other).await;
    let answer = client.answer().await.unwrap();
    assert_eq!((answer.status, answer.header("connection")), (201, Some("close")));
    stopping.stopped().await;
}

#[tokio::test]
async fn changes_are_refused_and_the_server_is_not_ready_while_plans_are_made() {
    let server = server(20).await;
    let [mut change, mut readiness, mut plan] = [kept(&server).await, kept(&server).await, kept(&server).await];
    let stopping = server.stop();
    tokio::time::sleep(SECOND / 10).await;
    change.post(COMMITS, "", append(&["a".to_owned()]).to_string()).await;
    plan.post(PLAN, "", json!({}).to_string()).await;
    let refused = change.answer().await.unwrap();
    assert_eq!(refused.problem(), (503, "shutting-down".to_owned()));
    assert_eq!((refused.header("retry-after"), refused.header("connection")), (Some("1"), Some("close")));
    assert_eq!(readiness.get("/readyz").await.status, 503);
    let planned = plan.answer().await.unwrap();
    assert_eq!((planned.status, planned.header("connection")), (200, Some("close")));
    for mut client in [change, readiness, plan] {
        client.ended().await;
    }
    stopping.stopped().await;
}

#[tokio::test]
async fn nothing_is_accepted_any_more_and_what_idles_is_closed() {
    let server = server(20).await;
    let (address, mut idle, mut silent) = (server.address, kept(&server).await, server.client().await);
    let started = Instant::now();
    let stopping = server.stop();
    tokio::time::sleep(SECOND / 10).await;
    assert!(TcpStream::connect(address).await.is_err());
    idle.ended().await;
    silent.ended().await;
    drop((idle, silent));
    stopping.stopped().await;
    assert!(started.elapsed() < 3 * SECOND, "{:?}", started.elapsed());
}

// On threads as the server has them: on one alone the making of the plan holds up the clock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_its_answer_holds_nothing_up_beyond_the_bound() {
    let server = server(2).await;
    fill(&server).await;
    let _stalled = begin_plan(server.address).await;
    let mut slow = server.client().await;
    slow.send(post_head(COMMITS, "content-length: 1000\r\n") + "{").await;
    tokio::time::sleep(SECOND).await;
    let started = Instant::now();
    server.stop().stopped().await;
    assert!((2 * SECOND..3 * SECOND).contains(&started.elapsed()), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_server_that_does_nothing_stops_at_once() {
    let server = server(20).await;
    // The connections that made the table are gone by then.
    tokio::time::sleep(SECOND / 5).await;
    let started = Instant::now();
    server.stop().stopped().await;
    assert!(started.elapsed() < SECOND, "{:?}", started.elapsed());
}
