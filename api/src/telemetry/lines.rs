//! The log's way to where it is written: a queue of lines, and a thread that writes them.
//!
//! Written directly, a line waits for whoever reads standard error, and with it the request that it tells of: a pipe that is not
//! emptied, or a disk that hangs, would stop the server. So lines are queued, and where the queue is full they are lost, which is
//! counted and told of as soon as there is room again. The last lines are waited for when the server ends.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

use super::TelemetryError;
use super::redaction::cleaned;
use crate::cli::prose::Paint;

/// How many lines wait to be written.
const MAX_LINES: usize = 8_192;
/// How many bytes are written at once, if so many are there.
const BYTES_AT_ONCE: usize = 64 * 1024;
/// How long is waited before it is looked for room in the queue again, when the log ends.
const PAUSE: Duration = Duration::from_millis(5);

/// What is put into the queue.
enum Entry {
    Line(Vec<u8>),
    /// Whoever waits for all lines before it.
    Flush(SyncSender<()>),
}

/// The way to the thread, which ends when all ways to it are gone.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    queue: SyncSender<Entry>,
    paint: Paint,
    /// How many lines were lost.
    dropped: &'static AtomicU64,
}

impl Lines {
    /// Starts to write lines to a place, and counts those that are lost.
    pub(super) fn start(
        to: impl Write + Send + 'static,
        paint: Paint,
        dropped: &'static AtomicU64,
    ) -> Result<Self, TelemetryError> {
        let (queue, entries) = sync_channel(MAX_LINES);
        let thread = std::thread::Builder::new().name("prunus-log".to_owned());
        thread.spawn(move || write_all(to, &entries, dropped)).map_err(TelemetryError::Thread)?;
        Ok(Self { queue, paint, dropped })
    }

    /// What a log writes to.
    pub(super) fn writer(&self) -> Self {
        self.clone()
    }

    /// Waits until all lines are written, and no longer than so.
    pub(super) fn flush(&self, wait: Duration) {
        let (end, (sender, flushed)) = (Instant::now() + wait, sync_channel(1));
        let mut entry = Entry::Flush(sender);
        while let Err(TrySendError::Full(again)) = self.queue.try_send(entry) {
            if Instant::now() >= end {
                return;
            }
            std::thread::sleep(PAUSE);
            entry = again;
        }
        // Whether it was in time makes no difference.
        let _ = flushed.recv_timeout(end.saturating_duration_since(Instant::now()));
    }
}

/// Takes a line as a whole, as the log hands it over.
impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.queue.try_send(Entry::Line(cleaned(line, self.paint))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Lines {
    type Writer = &'w Self;

    fn make_writer(&'w self) -> &'w Self {
        self
    }
}

fn write_all(mut to: impl Write, entries: &Receiver<Entry>, all_dropped: &AtomicU64) {
    let (mut bytes, mut told) = (Vec::new(), 0);
    while let Ok(entry) = entries.recv() {
        let (mut lines, mut waiting) = (0, None);
        let mut next = Some(entry);
        while let Some(entry) = next {
            match entry {
                Entry::Line(line) => {
                    bytes.extend_from_slice(&line);
                    lines += 1;
                }
                Entry::Flush(sender) => {
                    waiting = Some(sender);
                    break;
                }
            }
            next = if bytes.len() < BYTES_AT_ONCE { entries.try_recv().ok() } else { None };
        }
        let dropped = all_dropped.load(Ordering::Relaxed);
        if dropped > told {
            let _ = writeln!(bytes, "{} lines of the log were not written", dropped - told);
        }
        match to.write_all(&bytes).and_then(|()| to.flush()) {
            Ok(()) => told = dropped,
            // There is nobody to tell. What comes later may find a place again.
            Err(_) => drop(all_dropped.fetch_add(lines, Ordering::Relaxed)),
        }
        bytes.clear();
        // Who has stopped waiting needs no answer.
        if let Some(waiting) = waiting {
            let _ = waiting.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A place that fails, or takes nothing until it is told to.
    struct Place {
        written: Arc<Mutex<Vec<u8>>>,
        held: Option<Receiver<()>>,
        fails: bool,
    }

    impl Write for Place {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(held) = self.held.take() {
                held.recv().unwrap();
            }
            if self.fails {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    type Started = (Lines, Arc<Mutex<Vec<u8>>>, Sender<()>);

    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Open,
        Held,
        Gone,
    }

    fn start(kind: Kind) -> Started {
        let (written, (release, released)) = (Arc::default(), channel());
        let place = Place {
            written: Arc::clone(&written),
            held: (kind == Kind::Held).then_some(released),
            fails: kind == Kind::Gone,
        };
        let dropped = Box::leak(Box::default());
        (Lines::start(place, Paint::Plain, dropped).unwrap(), written, release)
    }

    #[test]
    fn lines_are_there_once_they_are_flushed() {
        let (lines, written, _release) = start(Kind::Open);
        for number in 0..3 {
            (&lines).write_all(format!("{number}\n").as_bytes()).unwrap();
        }
        lines.flush(LONG);
        assert_eq!(*written.lock().unwrap(), b"0\n1\n2\n");
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn a_place_that_takes_nothing_holds_up_nobody_and_what_is_lost_is_told() {
        let (lines, written, release) = start(Kind::Held);
        // More than may wait, and than the thread may have taken before it was held.
        for _ in 0..2 * MAX_LINES + BYTES_AT_ONCE {
            (&lines).write_all(b"x\n").unwrap();
        }
        assert!(lines.dropped.load(Ordering::Relaxed) > 0);
        let began = Instant::now();
        lines.flush(Duration::from_millis(20));
        assert!(began.elapsed() < LONG);
        release.send(()).unwrap();
        lines.flush(LONG);
        assert!(
            String::from_utf8(written.lock().unwrap().clone()).unwrap().contains(" lines of the log were not written")
        );
    }

    #[test]
    fn a_place_that_is_gone_is_no_failure() {
        let (lines, written, _release) = start(Kind::Gone);
        (&lines).write_all(b"x\n").unwrap();
        lines.flush(LONG);
        (&lines).write_all(b"y\n").unwrap();
        lines.flush(LONG);
        assert!(written.lock().unwrap().is_empty());
        assert_eq!(lines.dropped.load(Ordering::Relaxed), 2);
    }
}
