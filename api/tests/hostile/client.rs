//! A client that sends bytes, and reads answers off them.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a test waits for what must come, on a machine that has much else to do.
pub(crate) const SOON: Duration = Duration::from_secs(120);

/// A connection.
pub(crate) struct Client<S = TcpStream> {
    stream: S,
    /// What was read and belongs to the next answer.
    rest: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The head, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// What it says, if it is JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The status, and the name of the problem.
    pub(crate) fn problem(&self) -> (u16, String) {
        let json = self.json();
        let uri = json["type"].as_str().unwrap_or_default();
        (self.status, uri.strip_prefix("/problems/").unwrap_or_default().to_owned())
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(crate) fn over(stream: S) -> Self {
        Self { stream, rest: Vec::new() }
    }

    /// Sends bytes, of which the server may have read enough already.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = timeout(SOON, self.stream.write_all(bytes.as_ref())).await.expect("the server reads");
        let _ = self.stream.flush().await;
    }

    /// Sends a POST with a JSON body; `headers` are lines.
    pub(crate) async fn post(&mut self, route: &str, headers: &str, body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let length = format!("content-length: {}\r\n", body.len());
        self.send([post_head(route, &format!("{headers}{length}")).as_bytes(), body].concat()).await;
    }

    /// Sends a GET and reads the answer.
    pub(crate) async fn get(&mut self, route: &str) -> Answer {
        self.send(format!("GET {route} HTTP/1.1\r\nhost: localhost\r\n\r\n")).await;
        self.answer().await.expect("an answer")
    }

    /// The next answer; `None` if the connection ends before it begins.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        timeout(SOON, self.read_answer()).await.expect("an answer or the end of the connection")
    }

    async fn read_answer(&mut self) -> Option<Answer> {
        let head_end = loop {
            if let Some(at) = self.rest.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at + 4;
            }
            self.read_more().await?;
        };
        let rest = self.rest.split_off(head_end);
        let head = String::from_utf8(std::mem::replace(&mut self.rest, rest)).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: Vec::new() };
        if status != 100 {
            let length = answer.header("content-length").map(|length| length.parse().unwrap());
            let length: usize = length.unwrap_or(0);
            while self.rest.len() < length {
                self.read_more().await.expect("the whole answer");
            }
            answer.body = self.rest.drain(..length).collect();
        }
        Some(answer)
    }

    async fn read_more(&mut self) -> Option<()> {
        let mut bytes = vec![0; 16 << 10];
        let read = self.stream.read(&mut bytes).await.unwrap_or(0);
        self.rest.extend_from_slice(&bytes[..read]);
        (read > 0).then_some(())
    }

    /// Returns when the server has ended the connection; what it still sends is passed over.
    pub(crate) async fn ended(&mut self) {
        let ended = async { while self.read_more().await.is_some() {} };
        timeout(SOON, ended).await.expect("the end of the connection");
    }

    /// Whether the server has not ended the connection, nor sent anything more.
    pub(crate) async fn is_open(&mut self) -> bool {
        self.rest.is_empty() && timeout(Duration::from_millis(50), self.read_more()).await.is_err()
    }
}

/// The head of a POST with a JSON body; `headers` are lines.
pub(crate) fn post_head(route: &str, headers: &str) -> String {
    format!("POST {route} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}\r\n")
}
