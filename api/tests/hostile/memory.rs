//! What hostile clients take of the memory of the binary, with its usual limits.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tokio::time::Instant;

use crate::client::{Client, SOON, post_head};
use crate::encodings::{gzip, zstd};
use crate::server::{COMMITS, PLAN, append, create_table, post};

/// What may be taken beyond what the server has when it begins: room for two of the largest bodies and those of one more, as it is
/// sent and as it is decompressed, with what copying a growing one takes.
const BOUND_BYTES: u64 = 600 << 20;

/// The binary, which is killed when this is dropped.
struct Prunus {
    child: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Drop for Prunus {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Prunus {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut serve = Command::new(env!("CARGO_BIN_EXE_prunus"));
        serve.args(["serve", "--listen", "127.0.0.1:0", "--power-loss-may-lose-commits"]);
        serve.arg("--data-dir").arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = serve.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().parse().unwrap();
        create_table(address).await;
        Self { child, address, _folder: folder }
    }

    /// A figure of memory in bytes, by its name in `/proc`.
    fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
    }

    /// Runs clients, many at once, while others are answered; says how much more memory the server had at most.
    async fn growth_under<F: Future<Output = ()> + Send + 'static>(&self, clients: impl Iterator<Item = F>) -> u64 {
        let before = self.memory("VmRSS");
        let clients: Vec<_> = clients.map(tokio::spawn).collect();
        while clients.iter().any(|client| !client.is_finished()) {
            let started = Instant::now();
            assert_eq!(Client::connect(self.address).await.get("/healthz").await.status, 200);
            assert_eq!(post(self.address, PLAN, &json!({"filter": "id = 1"})).await.status, 200);
            assert!(started.elapsed() < SOON / 4, "{:?}", started.elapsed());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        for client in clients {
            client.await.unwrap();
        }
        self.memory("VmHWM").saturating_sub(before)
    }
}

#[tokio::test]
async fn bombs_take_no_more_than_the_room_for_bodies() {
    let prunus = Prunus::start().await;
    let (address, content) = (prunus.address, vec![b' '; 96 << 20]);
    let bombs = [("gzip", gzip(&content)), ("zstd", zstd(&content))];
    drop(content);
    let clients = bombs.into_iter().cycle().take(12).map(|(encoding, bomb)| async move {
        let mut client = Client::connect(address).await;
        client.post(PLAN, &format!("content-encoding: {encoding}\r\n"), bomb).await;
        let (status, name) = client.answer().await.unwrap().problem();
        // On a slow machine the last ones wait for longer than a body may take.
        assert!(name == "body-too-large" || name == "too-many-large-bodies", "{status} {name}");
    });
    let growth = prunus.growth_under(clients).await;
    assert!(growth < BOUND_BYTES, "{} MiB", growth >> 20);
}

#[tokio::test]
async fn large_bodies_that_never_end_take_no_more_than_the_room_for_bodies() {
    let prunus = Prunus::start().await;
    let address = prunus.address;
    let clients = (0..24).map(|_| async move {
        let mut client = Client::connect(address).await;
        client.send(post_head(COMMITS, "transfer-encoding: chunked\r\n")).await;
        let chunk = [b"100000\r\n", vec![b' '; 1 << 20].as_slice(), b"\r\n"].concat();
        // What finds no room is not read on.
        let _ = tokio::time::timeout(Duration::from_secs(8), async {
            for _ in 0..60 {
                client.send(&chunk).await;
            }
        })
        .await;
    });
    let growth = prunus.growth_under(clients).await;
    assert!(growth < BOUND_BYTES, "{} MiB", growth >> 20);
}

#[tokio::test]
async fn answers_that_are_not_read_take_three_pieces_each() {
    let prunus = Prunus::start().await;
    let address = prunus.address;
    for commit in 0..4 {
        let names: Vec<String> = (0..5_000).map(|number| format!("{commit}-{number:0900}")).collect();
        assert_eq!(post(address, COMMITS, &append(&names)).await.status, 201);
    }
    let clients = (0..40).map(|_| async move {
        let _stalled = crate::answers::begin_plan(address).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
    });
    let growth = prunus.growth_under(clients).await;
    // Of each answer one piece of 4,096 files is being sent and two wait, of about 1,100 bytes a file.
    let bound = 40 * 3 * 4_096 * 1_100 + (64 << 20);
    assert!(growth < bound, "{} MiB", growth >> 20);
}

#[tokio::test]
async fn connections_that_idle_take_little() {
    let prunus = Prunus::start().await;
    let address = prunus.address;
    let clients = (0..400).map(|_| async move {
        let mut client = Client::connect(address).await;
        client.send("GET /healthz HTTP/1.1\r\nx: y").await;
        tokio::time::sleep(Duration::from_secs(3)).await;
    });
    let growth = prunus.growth_under(clients).await;
    assert!(growth < 400 * (64 << 10), "{} KiB", growth >> 10);
}
