//! Plans and commits beside each other: as many as the server can do, and four times as many.
//!
//! With `PRUNUS_LOAD_SECONDS` each phase takes so long (2 otherwise), and with `--nocapture` the figures of docs/benchmarks.md come out:
//! `PRUNUS_LOAD_SECONDS=20 cargo test --release -p prunus --test load -- --nocapture`.
#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

#[path = "../support/binary.rs"]
mod binary;
mod driver;
mod server;

use std::time::Duration;

use driver::{Kind, Outcome, Pace};
use server::Server;

/// How many files are there before.
const FILES: usize = 20_000;
/// As many clients as keep the server busy, each of which waits for its answer.
const CONNECTIONS: usize = 16;
/// Over so many connections four times as many requests are sent as it can answer.
const OVERLOAD_CONNECTIONS: usize = 256;
/// What the server may keep waiting, so that it refuses under overload.
const WAITING: usize = 32;
/// How much more memory the server may take under overload than before it.
const MEMORY_BYTES: u64 = 64 << 20;

fn phase_time() -> Duration {
    let seconds = std::env::var("PRUNUS_LOAD_SECONDS").ok().map_or(2, |text| text.parse().unwrap());
    Duration::from_secs(seconds)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_asked_four_times_too_much_refuses_and_stays_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), WAITING);
    server.register(FILES).await;
    // Caches are warm then, and the memory is what it will be.
    server.drive(Pace::AsFastAsAnswered, CONNECTIONS, phase_time()).await;

    let saturated = server.drive(Pace::AsFastAsAnswered, CONNECTIONS, phase_time()).await;
    let rate = saturated.rate();
    let before_bytes = server.memory_max_bytes();
    let overloaded = server.drive(Pace::PerSecond(4.0 * rate), OVERLOAD_CONNECTIONS, phase_time()).await;
    let overload_bytes = server.memory_max_bytes();
    let after = server.drive(Pace::AsFastAsAnswered, CONNECTIONS, phase_time()).await;
    for (name, phase) in [("saturated", &saturated), ("four times", &overloaded), ("afterwards", &after)] {
        println!("{}", phase.lines(name));
    }
    println!("memory {} MB before, {} MB under overload", before_bytes >> 20, overload_bytes >> 20);

    for phase in [&saturated, &overloaded, &after] {
        let foreign: Vec<_> =
            phase.statuses().filter(|(_, status, _)| !matches!(status, 200 | 201 | 429 | 503)).collect();
        assert!(foreign.is_empty(), "{foreign:?}");
    }
    assert!(phase_answers(&overloaded) > 0, "under overload nothing was answered");
    assert!(phase_refusals(&overloaded) > 0, "under overload nothing was refused");
    assert!(phase_refusals(&saturated) == 0 && phase_refusals(&after) == 0, "what can be done was refused");
    assert!(after.rate() > rate / 10.0, "{} a second after the overload, {rate} before", after.rate());
    assert!(overload_bytes < before_bytes + MEMORY_BYTES, "{overload_bytes} bytes, {before_bytes} before");
    let committed = server.committed();
    assert_eq!(server.live_files().await, FILES + committed);
    drop(server);
    server::assert_sound(folder.path());
}

fn phase_answers(outcome: &Outcome) -> usize {
    outcome.count(|status| status < 300)
}

fn phase_refusals(outcome: &Outcome) -> usize {
    outcome.count(|status| status >= 400)
}

#[test]
fn the_mix_has_plans_and_commits() {
    let kinds: Vec<Kind> = (0..20).map(Kind::of).collect();
    for kind in [Kind::PlanOne, Kind::PlanMany, Kind::Commit] {
        assert!(kinds.contains(&kind));
    }
}
