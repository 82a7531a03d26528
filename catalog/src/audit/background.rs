//! The task that works on audits, and what it does when none is asked for: files whose NaNs nobody has counted are read for
//! that, then files whose statistics are loose or their writer's word, each file once, and no more bytes than a budget allows.

use std::collections::HashMap;
use std::error::Error as _;
use std::time::{Duration, Instant};

use prunus_manifest::{AuditEnd, AuditId, AuditRow, CursorKind, DueForAudit, FileId};

use super::examine::Reading;
use crate::catalog::Catalog;
use crate::properties::{NanCounts, StatisticsProperties, Verification};
use crate::{Error, Result};

/// How many bytes of data files are read a second where nobody waits for it, unless it is said otherwise.
pub const DEFAULT_AUDIT_BYTES_PER_SECOND: u64 = 16 << 20;

/// How long nothing is looked for after nothing was found.
const IDLE: Duration = Duration::from_secs(10);
/// How long is waited after the first failure; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// After how many failures in a row an audit fails.
const MAX_FAILURES: u32 = 6;

/// What may be read of data files where nobody waits for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditBudget {
    /// Nothing.
    #[default]
    Nothing,
    /// So many bytes a second, over time; above 0.
    BytesPerSecond(u64),
}

impl AuditBudget {
    /// So many bytes a second; 0 is nothing.
    pub fn of_bytes_per_second(bytes: u64) -> Self {
        if bytes == 0 { Self::Nothing } else { Self::BytesPerSecond(bytes) }
    }
}

/// The task's memory. What matters stands in the store.
struct Worker<'c> {
    catalog: &'c Catalog,
    /// Audits that failed in their last step, how often in a row, and until when they rest.
    resting: HashMap<AuditId, (u32, Instant)>,
    /// How often in a row the background failed.
    failures: u32,
}

impl Catalog {
    /// Works on all audits, also on those that an earlier server has begun, and in the background; for as long as it is polled.
    /// A server runs it once beside answering.
    pub async fn run_audits(&self) {
        let mut worker = Worker { catalog: self, resting: HashMap::new(), failures: 0 };
        loop {
            let pause = worker.work().await;
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.audits_begun.notified() => {}
            }
        }
    }
}

impl Worker<'_> {
    /// Does what there is to do for a moment; says how long to wait then.
    async fn work(&mut self) -> Duration {
        let running = match self.catalog.read(|tx| Ok(tx.list_running_audits()?)).await {
            Ok(running) => running,
            Err(error) => {
                log("audits cannot be listed", &error);
                return IDLE;
            }
        };
        self.resting.retain(|audit_id, _| running.iter().any(|audit| audit.audit_id == *audit_id));
        let now = Instant::now();
        let mut next = None;
        for audit in &running {
            match self.resting.get(&audit.audit_id) {
                Some((_, until)) if *until > now => {
                    let left = *until - now;
                    next = Some(next.map_or(left, |next: Duration| next.min(left)));
                }
                _ => {
                    self.step(audit).await;
                    next = Some(Duration::ZERO);
                }
            }
        }
        match next {
            Some(pause) => pause,
            None => self.in_background().await,
        }
    }

    /// Takes an audit a step further. If its store does not answer it rests, and in the end it fails.
    async fn step(&mut self, audit: &AuditRow) {
        let Err(error) = self.catalog.step(audit).await else {
            self.resting.remove(&audit.audit_id);
            return;
        };
        let failures = self.resting.get(&audit.audit_id).map_or(0, |(failures, _)| *failures) + 1;
        log("an audit cannot go on", &error);
        self.resting.insert(audit.audit_id, (failures, Instant::now() + pause_after(failures)));
        if failures < MAX_FAILURES && matches!(error, Error::StorageUnavailable { .. }) {
            return;
        }
        let (table_id, audit_id, now_ms) = (audit.begun.table_id, audit.audit_id, self.catalog.clock.now_ms());
        let message = error.to_string();
        let end = move |tx: &prunus_manifest::WriteTransaction<'_>| {
            tx.end_audit(table_id, audit_id, AuditEnd::Failed { message: message.clone() }, now_ms)?;
            Ok(())
        };
        if let Err(error) = self.catalog.write(end).await {
            log("an audit cannot be ended", &error);
        }
    }

    async fn in_background(&mut self) -> Duration {
        let AuditBudget::BytesPerSecond(rate) = self.catalog.audit_budget else { return IDLE };
        match self.improve().await {
            Ok(None) => {
                self.failures = 0;
                IDLE
            }
            Ok(Some(bytes)) => {
                self.failures = 0;
                time_of(bytes, rate)
            }
            Err(error) => {
                self.failures += 1;
                log("statistics cannot be improved", &error);
                pause_after(self.failures)
            }
        }
    }

    /// Improves the statistics of some files: of the first table that has some left. Says how many bytes were read; `None` if
    /// there was nothing left.
    async fn improve(&self) -> Result<Option<u64>> {
        for (kind, reading) in [(CursorKind::NanCounts, Reading::NanCounts), (CursorKind::Loose, Reading::Loose)] {
            let due = self.catalog.read(move |tx| Ok(tx.list_due_for_audit(kind)?)).await?;
            if let Some(due) = due.first() {
                return self.improve_table(*due, kind, reading).await.map(Some);
            }
        }
        Ok(None)
    }

    async fn improve_table(&self, due: DueForAudit, kind: CursorKind, reading: Reading) -> Result<u64> {
        let DueForAudit { table_id, snapshot_id, from, last } = due;
        let batch = self.catalog.files_to_audit(table_id, snapshot_id, from, reading).await?;
        // Files that come after the last one are due again.
        let to = batch.next.unwrap_or(FileId(last.0.saturating_add(1)));
        let bytes_read = if is_wanted(&batch.target.properties, kind) {
            let outcome = self.catalog.examine_all(&batch, reading).await?;
            outcome.log();
            let bytes_read = outcome.bytes_read;
            self.catalog.repair(table_id, outcome).await?;
            bytes_read
        } else {
            0
        };
        self.catalog.write(move |tx| Ok(tx.advance_audit_cursor(table_id, kind, from, to)?)).await?;
        Ok(bytes_read)
    }
}

/// Whether a table wants that of its files. Where its writers' word is taken, nothing is read.
fn is_wanted(properties: &StatisticsProperties, kind: CursorKind) -> bool {
    properties.verification != Verification::Declared
        && (kind != CursorKind::NanCounts || properties.nan_counts == NanCounts::Background)
}

/// How long so many bytes take at a rate.
fn time_of(bytes: u64, bytes_per_second: u64) -> Duration {
    let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_second.max(1));
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

fn pause_after(failures: u32) -> Duration {
    FIRST_PAUSE * 2_u32.pow(failures.min(MAX_FAILURES))
}

fn log(what: &'static str, error: &Error) {
    tracing::warn!(error = error as &dyn std::error::Error, cause = ?error.source().map(ToString::to_string), "{what}");
}
