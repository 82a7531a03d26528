//! Clients that cost as little as they can, and what they met.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const TABLE: &str = "/v1/namespaces/n/tables/t";

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A plan that keeps one file.
    PlanOne,
    /// A plan that keeps a thousand.
    PlanMany,
    /// A commit of one file.
    Commit,
}

impl Kind {
    /// Of ten requests eight are small plans, one is a larger one and one a commit.
    pub(crate) fn of(number: u64) -> Self {
        match number % 10 {
            0 => Self::Commit,
            5 => Self::PlanMany,
            _ => Self::PlanOne,
        }
    }

    fn request(self, number: u64, files: u64) -> Vec<u8> {
        let first = number.wrapping_mul(0x9E37_79B9) % files;
        let (route, body) = match self {
            Self::PlanOne => ("plan", json!({"filter": format!("id = {}", first * 10)})),
            Self::PlanMany => {
                ("plan", json!({"filter": format!("id BETWEEN {} AND {}", first * 10, (first + 999) * 10)}))
            }
            Self::Commit => {
                // No plan keeps it, so that plans stay as large as they are.
                let id = json!({"min": -1, "max": -1, "null_count": 0});
                let file = json!({
                    "path": format!("load-{number}.parquet"), "size_bytes": 1, "row_count": 1, "columns": {"id": id},
                });
                ("commits", json!({"operation": "append", "add": [file]}))
            }
        };
        let body = body.to_string();
        let head = format!("POST {TABLE}/{route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }
}

/// When requests are sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    /// Each connection sends the next one when it has its answer.
    AsFastAsAnswered,
    /// So many a second over all connections, whatever is answered: as long as a connection is late, it sends at once.
    PerSecond(f64),
}

/// What came of a phase: how long each request took, in microseconds, by kind and status.
#[derive(Default)]
pub(crate) struct Outcome {
    latencies_us: BTreeMap<(Kind, u16), Vec<u64>>,
    elapsed: Duration,
}

/// Sends requests for some time. Numbers are drawn from `next`, so that none is sent twice.
pub(crate) async fn drive(
    address: &str,
    pace: Pace,
    connections: usize,
    time: Duration,
    (next, files): (&Arc<AtomicU64>, u64),
) -> Outcome {
    let started = Instant::now();
    let sent = Arc::new(AtomicU64::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..connections {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (next, sent) = (Arc::clone(next), Arc::clone(&sent));
        tasks.spawn(async move {
            let (mut met, mut answer) = (Vec::new(), Vec::new());
            loop {
                let due = match pace {
                    Pace::AsFastAsAnswered => Instant::now(),
                    Pace::PerSecond(rate) => {
                        let turn = sent.fetch_add(1, Ordering::Relaxed);
                        started + Duration::from_secs_f64(turn as f64 / rate)
                    }
                };
                if due.max(Instant::now()) > started + time {
                    return met;
                }
                tokio::time::sleep_until(due.into()).await;
                let number = next.fetch_add(1, Ordering::Relaxed);
                let (kind, began) = (Kind::of(number), Instant::now());
                stream.write_all(&kind.request(number, files)).await.unwrap();
                let status = read_answer(&mut stream, &mut answer).await;
                met.push(((kind, status), u64::try_from(began.elapsed().as_micros()).unwrap()));
            }
        });
    }
    let mut outcome = Outcome::default();
    while let Some(met) = tasks.join_next().await {
        for (key, latency_us) in met.unwrap() {
            outcome.latencies_us.entry(key).or_default().push(latency_us);
        }
    }
    outcome.elapsed = started.elapsed();
    outcome.latencies_us.values_mut().for_each(|latencies| latencies.sort_unstable());
    outcome
}

/// Reads one answer, whose length its head says; its status.
async fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) -> u16 {
    const END_OF_HEAD: &[u8] = b"\r\n\r\n";
    const END_OF_CHUNKS: &[u8] = b"\r\n0\r\n\r\n";
    answer.clear();
    loop {
        assert_ne!(stream.read_buf(answer).await.unwrap(), 0, "the server hung up");
        let Some(head) = answer.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD) else { continue };
        let text = std::str::from_utf8(&answer[..head]).unwrap().to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let is_whole = match length {
            Some(length) => answer.len() >= head + END_OF_HEAD.len() + length.parse::<usize>().unwrap(),
            None => answer.ends_with(END_OF_CHUNKS),
        };
        if is_whole {
            return text.split(' ').nth(1).unwrap().parse().unwrap();
        }
    }
}

impl Outcome {
    /// How many requests were carried out a second.
    pub(crate) fn rate(&self) -> f64 {
        self.count(|status| status < 300) as f64 / self.elapsed.as_secs_f64()
    }

    /// How many answers have such a status.
    pub(crate) fn count(&self, is_counted: impl Fn(u16) -> bool) -> usize {
        self.statuses().filter(|(_, status, _)| is_counted(*status)).map(|(.., count)| count).sum()
    }

    /// How many answers there are of each kind and status.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = (Kind, u16, usize)> {
        self.latencies_us.iter().map(|((kind, status), latencies)| (*kind, *status, latencies.len()))
    }

    /// How many commits were answered with a snapshot.
    pub(crate) fn committed(&self) -> usize {
        self.statuses()
            .filter(|(kind, status, _)| (*kind, *status) == (Kind::Commit, 201))
            .map(|(.., count)| count)
            .sum()
    }

    /// Rows of a table: phase, kind, status, answers a second, and percentiles of their latency in milliseconds.
    pub(crate) fn lines(&self, phase: &str) -> String {
        let mut text = String::new();
        for ((kind, status), latencies) in &self.latencies_us {
            let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
            let rate = latencies.len() as f64 / self.elapsed.as_secs_f64();
            let (p50, p90, p99, most) = (at(0.5), at(0.9), at(0.99), at(1.0));
            let _ = writeln!(
                text,
                "| {phase} | {kind:?} | {status} | {rate:.0} | {p50:.2} | {p90:.2} | {p99:.2} | {most:.2} |"
            );
        }
        text
    }
}
