//! What is done where nobody has asked for it: files whose NaNs nobody has counted are read for that, then files whose
//! statistics are loose or their writer's word, each file once, and no more bytes than a budget allows.
//!
//! Tables come in turn, so that a large one does not keep the others waiting; one whose store fails rests.

use std::time::Duration;

use prunus_manifest::{CursorKind, DueForAudit, FileId, ReadTransaction, TableId};
use tokio::time::{Instant, sleep, sleep_until};

use super::reading::Reading;
use super::worker::{IDLE, Resting, chain, guarded, log};
use crate::catalog::Catalog;
use crate::properties::{NanCounts, StatisticsProperties, Verification};
use crate::{Error, Result};

/// How many bytes of data files are read a second where nobody waits for it, unless it is said otherwise.
pub const DEFAULT_AUDIT_BYTES_PER_SECOND: u64 = 16 << 20;

/// How long is waited for further commits after one came: statistics of many files are stored at once for less.
const GATHERING: Duration = Duration::from_secs(1);
/// How many tables that want nothing of their files are passed over at once.
const MAX_PASSED_OVER: usize = 1_000;

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
pub(super) struct Background<'c> {
    catalog: &'c Catalog,
    resting: Resting<TableId>,
    /// The table whose turn was last.
    last: TableId,
    /// How many tables are due, of NaN counts and of loose statistics, as far as was looked.
    due: [u64; 2],
}

/// What was done of what is due.
enum Turn {
    /// So many bytes were read.
    Read(u64),
    /// It was tried in vain, or there is more to look for at once.
    Passed,
    NothingDue,
}

/// What is due of one kind.
#[derive(Default)]
struct Due {
    /// The table whose turn it is.
    next: Option<DueForAudit>,
    /// Tables that want nothing of it, up to that one.
    unwanted: Vec<DueForAudit>,
}

impl<'c> Background<'c> {
    pub(super) fn new(catalog: &'c Catalog) -> Self {
        Self { catalog, resting: Resting::default(), last: TableId(0), due: [0; 2] }
    }

    pub(super) async fn run(mut self) {
        let AuditBudget::BytesPerSecond(rate) = self.catalog.audit_budget else { return };
        loop {
            let begun = Instant::now();
            match self.turn().await {
                Ok(Turn::Read(bytes)) => sleep_until(begun + time_of(bytes, rate)).await,
                Ok(Turn::Passed) => {}
                Ok(Turn::NothingDue) => self.wait().await,
                Err(error) => {
                    log("statistics cannot be improved", &error);
                    sleep(IDLE).await;
                }
            }
        }
    }

    /// Waits for something to do.
    async fn wait(&self) {
        let pause = self.resting.first_end().map_or(IDLE, |left| left.min(IDLE));
        tokio::select! {
            () = sleep(pause) => {}
            () = self.catalog.files_came.notified() => sleep(GATHERING).await,
        }
    }

    /// Improves the statistics of some files of one table. NaNs are counted first, in all tables.
    async fn turn(&mut self) -> Result<Turn> {
        for (kind, reading) in [(CursorKind::NanCounts, Reading::NanCounts), (CursorKind::Loose, Reading::Loose)] {
            let Due { next, unwanted } = self.list_due(kind).await?;
            let is_any_passed = !unwanted.is_empty();
            self.pass_over(unwanted, kind).await?;
            if let Some(due) = next {
                return Ok(self.improve(due, kind, reading).await);
            }
            if is_any_passed {
                return Ok(Turn::Passed);
            }
        }
        Ok(Turn::NothingDue)
    }

    /// Looks for the next table whose turn it is.
    async fn list_due(&mut self, kind: CursorKind) -> Result<Due> {
        let last = self.last;
        let all = self.catalog.read(move |tx| Ok(tx.list_due_for_audit(kind)?)).await?;
        self.note_due(kind, all.len());
        let (before, after): (Vec<_>, Vec<_>) = all.into_iter().partition(|due| due.table_id <= last);
        let in_turn = after.into_iter().chain(before).filter(|due| self.resting.time_left(due.table_id).is_none());
        let in_turn: Vec<DueForAudit> = in_turn.collect();
        self.catalog.read(move |tx| first_wanted(tx, in_turn, kind)).await
    }

    /// Tells how many tables are due of all kinds, a table once of each; those that rest after a failure are among them.
    fn note_due(&mut self, kind: CursorKind, count: usize) {
        let [nan_counts, loose] = &mut self.due;
        *match kind {
            CursorKind::NanCounts => nan_counts,
            CursorKind::Loose => loose,
        } = count as u64;
        self.catalog.activity.audits.tables_due.set(self.due.iter().sum());
    }

    /// Notes that nothing is to be done to files.
    async fn pass_over(&self, unwanted: Vec<DueForAudit>, kind: CursorKind) -> Result<()> {
        if unwanted.is_empty() {
            return Ok(());
        }
        let pass = move |tx: &prunus_manifest::WriteTransaction<'_>| {
            for due in &unwanted {
                match tx.advance_audit_cursor(due.table_id, kind, due.from, after(due.last)) {
                    Ok(_) | Err(prunus_manifest::Error::TableGone(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(())
        };
        self.catalog.write(pass).await
    }

    async fn improve(&mut self, due: DueForAudit, kind: CursorKind, reading: Reading) -> Turn {
        self.last = due.table_id;
        match guarded(self.improve_table(due, kind, reading)).await {
            Ok(bytes) => {
                self.resting.forget(due.table_id);
                Turn::Read(bytes)
            }
            Err(Error::NotFound { .. }) => Turn::Passed,
            Err(error) => {
                let table_id = due.table_id;
                tracing::warn!(%table_id, error = chain(&error), "statistics of a table cannot be improved for now");
                self.resting.add(table_id);
                Turn::Passed
            }
        }
    }

    /// Improves the statistics of the next files of a table; says how many bytes were read.
    async fn improve_table(&self, due: DueForAudit, kind: CursorKind, reading: Reading) -> Result<u64> {
        let DueForAudit { table_id, snapshot_id, from, last } = due;
        let batch = self.catalog.files_to_audit(table_id, snapshot_id, from, reading).await?;
        let attempt = self.resting.attempt(table_id);
        let mut outcome = self.catalog.examine_all(&batch, reading, attempt).await?;
        self.catalog.mend(&batch, reading, &mut outcome).await?;
        for finding in outcome.findings() {
            self.catalog.activity.audits.record_finding(&finding);
        }
        outcome.log(table_id);
        // Files that come after the last one are due again.
        let to = batch.next.unwrap_or(after(last));
        self.catalog.write(move |tx| Ok(tx.advance_audit_cursor(table_id, kind, from, to)?)).await?;
        Ok(outcome.bytes_read())
    }
}

/// The first table that wants it, and those before it that do not.
fn first_wanted(tx: &ReadTransaction<'_>, in_turn: Vec<DueForAudit>, kind: CursorKind) -> Result<Due> {
    let mut found = Due::default();
    for due in in_turn {
        let properties = match tx.load_table_by_id(due.table_id) {
            Ok(table) => StatisticsProperties::parse(&table.properties).map_err(Error::Invalid)?,
            Err(prunus_manifest::Error::TableGone(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        if is_wanted(&properties, kind) {
            found.next = Some(due);
            break;
        }
        found.unwanted.push(due);
        if found.unwanted.len() == MAX_PASSED_OVER {
            break;
        }
    }
    Ok(found)
}

/// Whether a table wants that of its files. Where its writers' word is taken, nothing is read.
fn is_wanted(properties: &StatisticsProperties, kind: CursorKind) -> bool {
    properties.verification != Verification::Declared
        && (kind != CursorKind::NanCounts || properties.nan_counts == NanCounts::Background)
}

const fn after(last: FileId) -> FileId {
    FileId(last.0.saturating_add(1))
}

/// How long so many bytes take at a rate.
fn time_of(bytes: u64, bytes_per_second: u64) -> Duration {
    /// Beyond it nobody waits.
    const MAX_TIME: Duration = Duration::from_hours(24 * 365);
    let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_second.max(1));
    u64::try_from(nanoseconds).map_or(MAX_TIME, Duration::from_nanos).min(MAX_TIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_the_time_that_their_rate_says() {
        assert_eq!(time_of(3 << 20, 2 << 20), Duration::from_millis(1500));
        assert_eq!(time_of(0, 1), Duration::ZERO);
        assert!(time_of(u64::MAX, 1) <= Duration::from_hours(24 * 365));
    }
}
