//! A server in a process of its own, and a client that costs as little as it can: requests are bytes made beforehand.

use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use prunus_catalog::{Catalog, CatalogOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The first argument of the process that serves.
pub(crate) const SERVE: &str = "serve-until-killed";

/// Serves the catalog in a folder at an address, until it is killed.
pub(crate) fn serve(folder: &str, address: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let catalog = Catalog::open(Path::new(folder), CatalogOptions::default()).await.unwrap();
        let listener = TcpListener::bind(address).await.unwrap();
        prunus::serve(catalog, listener, prunus::settings::Settings::default(), std::future::pending()).await.unwrap();
    });
}

pub(crate) struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Server {
    /// Starts a server of the catalog in a folder, and waits until it answers.
    pub(crate) async fn start(folder: &Path) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
        let arguments = [SERVE, folder.to_str().unwrap(), &address];
        let child = Command::new(std::env::current_exe().unwrap()).args(arguments).spawn().unwrap();
        let server = Self { child, address };
        while TcpStream::connect(&server.address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server
    }

    /// The bytes of a request.
    pub(crate) fn post(&self, route: &str, body: &serde_json::Value) -> Arc<[u8]> {
        let (address, body) = (&self.address, body.to_string());
        let head = format!("POST {route} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n");
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes().into()
    }

    /// Sends requests over so many connections, each of which waits for an answer, which must have this status, before it
    /// sends again. Says how long all took.
    pub(crate) async fn send_all(&self, requests: Vec<Arc<[u8]>>, connections: usize, status: u16) -> Duration {
        let (requests, next) = (Arc::new(requests), Arc::new(AtomicUsize::new(0)));
        let mut streams = Vec::new();
        for _ in 0..connections {
            let stream = TcpStream::connect(&self.address).await.unwrap();
            stream.set_nodelay(true).unwrap();
            streams.push(stream);
        }
        let started = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for mut stream in streams {
            let (requests, next) = (Arc::clone(&requests), Arc::clone(&next));
            tasks.spawn(async move {
                let mut answer = Vec::new();
                while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    stream.write_all(request).await.unwrap();
                    read_answer(&mut stream, &mut answer).await;
                    let expected = format!("HTTP/1.1 {status} ");
                    let shown = || String::from_utf8_lossy(&answer).into_owned();
                    assert!(answer.starts_with(expected.as_bytes()), "{}", shown());
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        started.elapsed()
    }

    /// The most memory that the process has had at a time.
    pub(crate) fn memory_max_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }
}

/// Reads one answer, whose length its head says.
async fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) {
    const END_OF_HEAD: &[u8] = b"\r\n\r\n";
    answer.clear();
    loop {
        assert_ne!(stream.read_buf(answer).await.unwrap(), 0, "the server has gone");
        let Some(head) = answer.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD) else { continue };
        let text = std::str::from_utf8(&answer[..head]).unwrap().to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if answer.len() >= head + END_OF_HEAD.len() + length.parse::<usize>().unwrap() {
            return;
        }
    }
}
