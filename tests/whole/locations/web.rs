//! A web server of files that trusts its clients: it decodes a path, lets the file system make of it what it will, and sends away
//! to other addresses as it is told.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A running server; it ends with the test.
pub(crate) struct Web {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone)]
struct Site {
    root: PathBuf,
    /// Where those are sent who ask for a file of this name.
    moved: Vec<(String, String)>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Web {
    pub(crate) async fn start(root: PathBuf, moved: &[(&str, String)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let moved = moved.iter().map(|(name, to)| ((*name).to_owned(), to.clone())).collect();
        let site = Site { root, moved, seen: Arc::clone(&seen) };
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(site.clone().serve(stream));
            }
        });
        Self { url, seen }
    }

    /// The paths that were asked for so far, as they were sent.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl Site {
    async fn serve(self, mut stream: TcpStream) {
        let mut received = Vec::new();
        loop {
            while !received.windows(4).any(|window| window == b"\r\n\r\n") {
                match stream.read_buf(&mut received).await {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
            }
            let answer = self.answer(&String::from_utf8(std::mem::take(&mut received)).unwrap());
            if stream.write_all(&answer).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &str) -> Vec<u8> {
        let mut words = request.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        self.seen.lock().unwrap().push(path.to_owned());
        if let Some((_, to)) = self.moved.iter().find(|(name, _)| path.ends_with(name)) {
            return format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes();
        }
        let Ok(content) = std::fs::read(self.root.join(decoded(path).trim_start_matches('/'))) else {
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec();
        };
        let size = content.len();
        let range =
            request.lines().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        let range = range.map(|range| match range.split_once('-').unwrap() {
            ("", last) => size.saturating_sub(last.parse().unwrap())..size,
            (from, to) => from.parse().unwrap()..(to.parse::<usize>().unwrap() + 1).min(size),
        });
        let (status, of_range, range) = match range {
            Some(range) => (206, format!("Content-Range: bytes {}-{}/{size}\r\n", range.start, range.end - 1), range),
            None => (200, String::new(), 0..size),
        };
        let dates = "ETag: \"1\"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
        let head = format!("HTTP/1.1 {status} Fine\r\nContent-Length: {}\r\n{dates}{of_range}\r\n", range.len());
        [head.as_bytes(), if method == "HEAD" { &[] } else { &content[range] }].concat()
    }
}

/// A path, percent-decoded once.
fn decoded(path: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((first, others)) = rest.split_first() {
        let digits = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
