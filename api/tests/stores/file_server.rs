//! A web server of files that is as slow as it is told and fails as it is told, and counts.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What goes wrong with a request.
#[derive(Clone, Copy)]
pub(crate) enum Trouble {
    /// It is answered with this status.
    Status(u16),
    /// The connection ends before the answer.
    HangUp,
    /// The connection ends within the body.
    HangUpInBody,
}

/// A running server; it ends with the test.
pub(crate) struct FileServer {
    url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    files: HashMap<String, Vec<u8>>,
    /// What a file becomes once it was read.
    next: HashMap<String, Vec<u8>>,
    /// What goes wrong with the next requests, one each.
    troubles: VecDeque<Trouble>,
    /// What goes wrong with all others.
    always: Option<Trouble>,
    counts: Counts,
}

/// What was asked of a server so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Requests.
    pub(crate) requests: usize,
    in_flight: usize,
    /// The most that were in flight at a time.
    pub(crate) in_flight_max: usize,
    first_read: Option<Instant>,
    last_read: Option<Instant>,
}

impl Counts {
    /// From the first request for content to the last answer.
    pub(crate) fn reading_time(&self) -> Duration {
        self.last_read.unwrap() - self.first_read.unwrap()
    }
}

impl FileServer {
    /// Starts a server that lets each request wait so long.
    pub(crate) async fn start(delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<Mutex<State>>::default();
        let of_task = Arc::clone(&state);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, Arc::clone(&of_task), delay));
            }
        });
        Self { url, state }
    }

    /// Keeps a file, and says where.
    pub(crate) fn put(&self, name: &str, content: Vec<u8>) -> String {
        self.state.lock().unwrap().files.insert(name.to_owned(), content);
        format!("{}/{name}", self.url)
    }

    /// Makes this of a file once it was read.
    pub(crate) fn replace_when_read(&self, name: &str, content: Vec<u8>) {
        self.state.lock().unwrap().next.insert(name.to_owned(), content);
    }

    /// Has the next requests go wrong.
    pub(crate) fn fail(&self, troubles: impl IntoIterator<Item = Trouble>) {
        self.state.lock().unwrap().troubles.extend(troubles);
    }

    /// Has all requests go wrong, or none.
    pub(crate) fn fail_always(&self, trouble: Option<Trouble>) {
        self.state.lock().unwrap().always = trouble;
    }

    /// What was asked since this was last called.
    pub(crate) fn take_counts(&self) -> Counts {
        std::mem::take(&mut self.state.lock().unwrap().counts)
    }
}

/// Answers the requests of a connection until one of the two ends it.
async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>, delay: Duration) {
    let mut received = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut received).await {
        state.lock().unwrap().begin(&request);
        tokio::time::sleep(delay).await;
        let (answer, then) = state.lock().unwrap().answer(&request);
        // Before the answer, which may be followed by the next request at once.
        state.lock().unwrap().end();
        let written = stream.write_all(&answer).await;
        if written.is_err() || then == Then::HangUp {
            return;
        }
    }
}

/// What becomes of a connection after an answer.
#[derive(PartialEq)]
enum Then {
    GoOn,
    HangUp,
}

async fn read_request(stream: &mut TcpStream, received: &mut Vec<u8>) -> Option<String> {
    loop {
        if let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = received.split_off(end + 4);
            return Some(String::from_utf8(std::mem::replace(received, rest)).unwrap());
        }
        match stream.read_buf(received).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

impl State {
    fn begin(&mut self, request: &str) {
        let counts = &mut self.counts;
        counts.requests += 1;
        counts.in_flight += 1;
        counts.in_flight_max = counts.in_flight_max.max(counts.in_flight);
        if request.starts_with("GET ") {
            counts.first_read.get_or_insert_with(Instant::now);
        }
    }

    fn end(&mut self) {
        self.counts.in_flight = self.counts.in_flight.saturating_sub(1);
        self.counts.last_read = Some(Instant::now());
    }

    fn answer(&mut self, request: &str) -> (Vec<u8>, Then) {
        let trouble = self.troubles.pop_front().or(self.always);
        match trouble {
            Some(Trouble::Status(status)) => (plain(status), Then::GoOn),
            Some(Trouble::HangUp) => (Vec::new(), Then::HangUp),
            Some(Trouble::HangUpInBody) => {
                let mut answer = self.file(request);
                answer.truncate(answer.len() - 20);
                (answer, Then::HangUp)
            }
            None => (self.file(request), Then::GoOn),
        }
    }

    /// The file, or the range of it, that is asked for.
    fn file(&mut self, request: &str) -> Vec<u8> {
        let (method, rest) = request.split_once(" /").unwrap();
        let name = rest.split_once(' ').unwrap().0;
        let Some(content) = self.files.get(name).cloned() else { return plain(404) };
        let size = content.len();
        let etag =
            format!("\"{:x}\"", content.iter().fold(7_u64, |hash, byte| hash.wrapping_mul(31) + u64::from(*byte)));
        if header(request, "if-match").is_some_and(|wanted| wanted != etag) {
            return plain(412);
        }
        let range = header(request, "range").map(|range| {
            match range.strip_prefix("bytes=").unwrap().split_once('-').unwrap() {
                ("", last) => size.saturating_sub(last.parse().unwrap())..size,
                (from, to) => from.parse().unwrap()..to.parse::<usize>().unwrap() + 1,
            }
        });
        let (status, range_header, range) = match range {
            Some(range) => (206, format!("Content-Range: bytes {}-{}/{size}\r\n", range.start, range.end - 1), range),
            None => (200, String::new(), 0..size),
        };
        let head =
            format!("HTTP/1.1 {status} Fine\r\nContent-Length: {}\r\nETag: {etag}\r\n{range_header}\r\n", range.len());
        let body = if method == "HEAD" { &[] } else { &content[range] };
        if let Some(next) = self.next.remove(name) {
            self.files.insert(name.to_owned(), next);
        }
        [head.as_bytes(), body].concat()
    }
}

fn plain(status: u16) -> Vec<u8> {
    format!("HTTP/1.1 {status} Trouble\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}
