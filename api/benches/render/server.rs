//! A server in a process of its own, and a client that looks at nothing but the ends of answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use prunus_catalog::{Catalog, CatalogOptions};
use serde_json::Value;

/// The first argument of the process that serves.
pub(crate) const SERVE: &str = "serve-until-killed";

const CONNECTIONS: usize = 16;

/// Serves the catalog in a folder at an address, until it is killed.
pub(crate) fn serve(folder: &str, address: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let catalog = Catalog::open(Path::new(folder), CatalogOptions::default()).await.unwrap();
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        prunus::serve(catalog, listener, prunus::settings::Settings::default(), std::future::pending()).await.unwrap();
    });
}

pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Server {
    /// Starts a server of the catalog in a folder, and waits until it answers.
    pub(crate) fn start(folder: &Path) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let folder = folder.to_str().unwrap();
        let mut command = match std::env::var_os("PRUNUS_RENDER_SERVER") {
            None => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args([SERVE, folder, &address]);
                command
            }
            Some(other) => {
                let mut command = Command::new(other);
                command.args(["serve", "--data-dir", folder, "--listen", &address]);
                command
            }
        };
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Self { child, address };
        while TcpStream::connect(&server.address).is_err() {
            std::thread::sleep(Duration::from_millis(5));
        }
        server
    }

    /// How many plans it answers in a second.
    pub(crate) fn rate(&self, body: &Value, plans: usize) -> f64 {
        let sent = AtomicUsize::new(0);
        let started = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| {
                    let mut connection = Connection::open(&self.address);
                    while sent.fetch_add(1, Ordering::Relaxed) < plans {
                        connection.send(body, super::JSON, "identity");
                        connection.discard();
                    }
                });
            }
        });
        plans as f64 / started.elapsed().as_secs_f64()
    }

    /// The most memory that the process has had at a time.
    pub(crate) fn memory_max_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }
}

pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::with_capacity(256 << 10, stream))
    }

    /// Asks for a plan.
    pub(crate) fn send(&mut self, body: &Value, accept: &str, encoding: &str) {
        let body = body.to_string();
        let head =
            "POST /v1/namespaces/bench/tables/t/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json";
        let length = body.len();
        let request = format!(
            "{head}\r\nAccept: {accept}\r\nAccept-Encoding: {encoding}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
    }

    /// Reads an answer and throws it away; says how long it was.
    pub(crate) fn discard(&mut self) -> usize {
        self.receive(|reader, length| {
            let mut left = length;
            while left > 0 {
                let part = reader.fill_buf().unwrap().len().min(left);
                assert_ne!(part, 0, "the server has gone");
                reader.consume(part);
                left -= part;
            }
        })
    }

    /// Reads an answer.
    pub(crate) fn read(&mut self) -> Vec<u8> {
        let mut answer = Vec::new();
        self.receive(|reader, length| {
            let start = answer.len();
            answer.resize(start + length, 0);
            reader.read_exact(&mut answer[start..]).unwrap();
        });
        answer
    }

    fn receive(&mut self, mut take: impl FnMut(&mut BufReader<TcpStream>, usize)) -> usize {
        let status = self.line();
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        let mut length = None;
        loop {
            let line = self.line().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = Some(text.parse().unwrap());
            }
        }
        if let Some(length) = length {
            take(&mut self.0, length);
            return length;
        }
        let mut total = 0;
        loop {
            let length = usize::from_str_radix(&self.line(), 16).unwrap();
            take(&mut self.0, length);
            assert_eq!(self.line(), "");
            total += length;
            if length == 0 {
                return total;
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the server has gone");
        line.trim_end().to_owned()
    }
}
