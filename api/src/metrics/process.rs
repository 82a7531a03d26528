//! What the operating system says of the process, under the names that every exporter gives it; where `/proc` does not tell there is
//! no series. And what the process could not tell of itself.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::exposition::{Families, Labels};
use crate::telemetry::Told;

/// In which parts of a second Linux tells times to programs, whatever its own clock is.
const TICKS_PER_SECOND: f64 = 100.0;

/// Asks the operating system when it is asked.
#[derive(Debug)]
pub(super) struct OfProcess;

impl Collector for OfProcess {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = Families(encoder);
        let help = "Seconds of processor time that the process has used";
        families.real_counter("process_cpu_seconds", help, seconds(clock_gettime(ClockId::ProcessCPUTime)))?;
        if let Some(bytes) = resident_bytes() {
            families.gauge("process_resident_memory_bytes", "Bytes of memory that the process has", bytes)?;
        }
        if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
            families.gauge("process_open_fds", "File descriptors that are open", open.count() as u64)?;
        }
        if let Some(limit) = max_fds() {
            families.gauge("process_max_fds", "File descriptors that may be open", limit)?;
        }
        if let Some(started) = started_at() {
            let help = "When the process was started, in seconds since 1970-01-01T00:00Z";
            families.real_gauge("process_start_time_seconds", help, started)?;
        }
        Ok(())
    }
}

/// Asks what was told and lost.
#[derive(Debug)]
pub(super) struct OfTelemetry;

impl Collector for OfTelemetry {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (mut families, Told { lines_dropped, spans_sent, spans_dropped }) = (Families(encoder), Told::so_far());
        for (name, help, count) in [
            ("log_lines_dropped", "Lines of the log that were not written: nobody took them", lines_dropped),
            ("trace_spans_sent", "Spans that were sent to the collector of traces", spans_sent),
            ("trace_spans_dropped", "Spans that were not sent: the collector was away or slow", spans_dropped),
        ] {
            families.counters(name, help, [(&[] as Labels<'_>, count)])?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a process of two hundred million years is shown near enough")]
fn seconds(time: Timespec) -> f64 {
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// What stands in a file of the process behind the beginning of a line, up to the next white space.
fn word(path: &str, line: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let rest = text.lines().find_map(|each| each.strip_prefix(line))?;
    rest.split_whitespace().next().map(str::to_owned)
}

fn resident_bytes() -> Option<u64> {
    let kib: u64 = word("/proc/self/status", "VmRSS:")?.parse().ok()?;
    Some(kib * 1024)
}

fn max_fds() -> Option<u64> {
    word("/proc/self/limits", "Max open files")?.parse().ok()
}

/// The time at which the system was started, and how long after that the process was.
fn started_at() -> Option<f64> {
    let booted: f64 = word("/proc/stat", "btime")?.parse().ok()?;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program stands in brackets before these, and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: f64 = fields.split_whitespace().nth(19)?.parse().ok()?;
    Some(booted + ticks / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_is_known() {
        assert!(resident_bytes().unwrap() > 1 << 20);
        assert!(max_fds().unwrap() > 3);
        assert!(seconds(clock_gettime(ClockId::ProcessCPUTime)) > 0.0);
    }

    #[test]
    fn the_process_was_started_a_moment_ago() {
        let now = jiff::Timestamp::now().as_duration().as_secs_f64();
        let age = now - started_at().unwrap();
        assert!((-2.0..3600.0).contains(&age), "{age}");
    }
}
