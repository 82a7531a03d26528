//! What the store has counted: its writer, its readers, its maintenance, its files.

use std::fmt;

use prunus_catalog::{CatalogState, StoreActivity};

use super::exposition::{Families, Labels, Unit};

/// Writes what the store has done.
pub(super) fn encode(families: &mut Families<'_>, activity: &StoreActivity, state: &CatalogState) -> fmt::Result {
    writer(families, activity)?;
    families.gauge("store_readers", "Read transactions that run", activity.readers.get())?;
    let help = "Read transactions that wait for another to end";
    families.gauge("store_readers_waiting", help, activity.readers_waiting.get())?;
    families.counter("store_reads", "Read transactions that were begun", &activity.reads)?;
    let help = "How often a connection found the database locked by another program, and waited";
    families.counter("store_busy_waits", help, &activity.busy_waits)?;
    families.gauge("store_database_bytes", "Bytes of the database", state.store.database_bytes)?;
    families.gauge("store_wal_bytes", "Bytes of its write-ahead log", state.store.log_bytes)?;
    if let Some(bytes) = state.disk_free_bytes {
        families.gauge("store_disk_free_bytes", "Bytes that are free on the disk of the store", bytes)?;
    }
    maintenance(families, activity, state)
}

fn writer(families: &mut Families<'_>, activity: &StoreActivity) -> fmt::Result {
    let help = "Jobs that wait for the writer";
    families.gauge("writer_jobs_waiting", help, activity.jobs_waiting.get())?;
    let help = "How many jobs shared each transaction of the writer";
    families.histogram("writer_batch_jobs", help, Unit::Count, &activity.batch_jobs)?;
    let help = "How long transactions of the writer took until they were durable, in seconds";
    families.histogram("writer_transaction_duration_seconds", help, Unit::Nanoseconds, &activity.transaction_ns)?;
    let help = "Of that, how long it took to make them durable, in seconds: mostly the fsync";
    families.histogram("writer_commit_duration_seconds", help, Unit::Nanoseconds, &activity.commit_ns)?;
    let help = "Transactions of the writer that were lost, with all of their jobs";
    families.counter("writer_transactions_failed", help, &activity.transactions_failed)?;
    let help = "Transactions that were run again because a job was refused after it had written";
    families.counter("writer_transactions_rerun", help, &activity.transactions_rerun)
}

fn maintenance(families: &mut Families<'_>, activity: &StoreActivity, state: &CatalogState) -> fmt::Result {
    let help = "Tables that the maintenance has to look at";
    families.gauge("maintenance_tables_due", help, state.store.due_tables as u64)?;
    let help = "Tables whose maintenance failed when it was last tried";
    families.gauge("maintenance_tables_failed", help, activity.tables_failed.get())?;
    families.counters(
        "maintenance_steps",
        "Steps of the maintenance that changed something, by kind",
        [
            (&[("kind", "seal")] as Labels<'_>, activity.seals.get()),
            (&[("kind", "regroup")], activity.regroups.get()),
            (&[("kind", "late_column")], activity.fills.get()),
        ],
    )?;
    let help = "Steps of the maintenance that failed";
    families.counter("maintenance_failures", help, &activity.maintenance_failures)?;
    let help = "How long steps of the maintenance took, in seconds";
    families.histogram("maintenance_step_duration_seconds", help, Unit::Nanoseconds, &activity.maintenance_ns)
}
