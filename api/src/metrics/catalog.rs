//! What the catalog has counted: plans, commits, audits, what it has in memory.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prunus_catalog::{Activity, Catalog, CatalogState, Outcomes};

use super::exposition::{Families, Labels, Unit};
use super::{storage, store};

/// Asks a catalog when it is asked.
pub(super) struct OfCatalog(pub(super) Catalog);

impl fmt::Debug for OfCatalog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OfCatalog")
    }
}

impl Collector for OfCatalog {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (mut families, activity, state) = (Families(encoder), self.0.activity(), self.0.state());
        plans(&mut families, activity)?;
        pruning(&mut families, activity)?;
        memory(&mut families, activity, &state)?;
        commits(&mut families, activity)?;
        audits(&mut families, activity)?;
        storage::encode(&mut families, &activity.storage)?;
        store::encode(&mut families, self.0.store_activity(), &state)
    }
}

fn outcomes(outcomes: &Outcomes) -> [(Labels<'static>, u64); 4] {
    [
        (&[("outcome", "done")], outcomes.done.get()),
        (&[("outcome", "refused")], outcomes.refused.get()),
        (&[("outcome", "conflict")], outcomes.conflicting.get()),
        (&[("outcome", "failed")], outcomes.failed.get()),
    ]
}

fn plans(families: &mut Families<'_>, activity: &Activity) -> fmt::Result {
    let plans = &activity.plans;
    let help = "Plans by what came of them; later pages of one are of the same";
    families.counters("plans", help, outcomes(&plans.outcomes))?;
    let help = "How long plans took, in seconds";
    families.histogram("plan_duration_seconds", help, Unit::Nanoseconds, &plans.total_ns)?;
    let help = "How long the stages of plans took, in seconds: binding, manifests, files, entries of the first page";
    families.histograms(
        "plan_stage_duration_seconds",
        help,
        Unit::Nanoseconds,
        [
            (&[("stage", "bind")] as Labels<'_>, &plans.bind_ns),
            (&[("stage", "manifests")], &plans.manifests_ns),
            (&[("stage", "files")], &plans.files_ns),
            (&[("stage", "entries")], &plans.entries_ns),
        ],
    )
}

fn pruning(families: &mut Families<'_>, activity: &Activity) -> fmt::Result {
    let plans = &activity.plans;
    for (name, help, number) in [
        ("plan_manifests_considered", "Manifests of the snapshots that were planned", &plans.manifests_considered),
        ("plan_manifests_pruned", "Of these, manifests that plans left out as a whole", &plans.manifests_pruned),
        ("plan_files_considered", "Live files of the snapshots that were planned", &plans.files_considered),
        ("plan_files_pruned", "Of these, files that plans left out", &plans.files_pruned),
        ("plan_files_kept", "Of these, files that plans kept", &plans.files_kept),
        ("plan_rows_pruned", "Rows of the files that plans left out, where they are known", &plans.rows_pruned),
        ("plan_rows_kept", "Rows of the files that plans kept, where they are known", &plans.rows_kept),
        ("plan_pruned_bytes", "Bytes of the files that plans left out", &plans.bytes_pruned),
        ("plan_kept_bytes", "Bytes of the files that plans kept", &plans.bytes_kept),
    ] {
        families.counter(name, help, number)?;
    }
    Ok(())
}

fn memory(families: &mut Families<'_>, activity: &Activity, state: &CatalogState) -> fmt::Result {
    let cache = &activity.plan_cache;
    families.counter("plan_cache_hits", "Parts of tables that plans found in memory", &cache.hits)?;
    families.counter("plan_cache_misses", "Parts of tables that plans read from the store", &cache.misses)?;
    families.counter("plan_cache_evictions", "Parts that were dropped for want of room", &cache.evictions)?;
    families.gauge("plan_cache_bytes", "Bytes of memory that the parts take", state.plan_cache_bytes)?;
    families.gauge("plan_cache_entries", "Parts that are in memory", state.plan_cache_entries)?;
    families.gauge("kept_plans", "Plans that are kept for their later pages", state.kept_plans as u64)?;
    families.gauge("kept_plans_bytes", "Bytes of memory that these take", state.kept_plans_bytes as u64)?;
    families.gauge("table_heads", "Tables that commits have in memory", state.heads as u64)?;
    families.counter("table_heads_hits", "Commits that found their table in memory", &activity.heads_found)?;
    families.counter("table_heads_misses", "Commits that read their table from the store", &activity.heads_missed)?;
    let help = "Snapshots that are held for answers that are read page by page";
    families.gauge("leases", help, state.leases as u64)
}

fn commits(families: &mut Families<'_>, activity: &Activity) -> fmt::Result {
    let commits = &activity.commits;
    families.counter("commits", "Snapshots that were committed", &commits.snapshots)?;
    let help = "Commits, transactions and rollbacks by what came of them";
    families.counters("commit_requests", help, outcomes(&commits.outcomes))?;
    families.counter("commit_files_added", "Files that commits added", &commits.files_added)?;
    families.counter("commit_files_removed", "Files that commits removed", &commits.files_removed)?;
    let help = "How long commits were in each phase, in seconds: reading files, waiting for the writer, being written";
    families.histograms(
        "commit_phase_duration_seconds",
        help,
        Unit::Nanoseconds,
        [
            (&[("phase", "read")] as Labels<'_>, &commits.reading_ns),
            (&[("phase", "wait")], &commits.waiting_ns),
            (&[("phase", "write")], &commits.writing_ns),
        ],
    )?;
    families.counter("replies_stored", "Replies that were stored under idempotency keys", &activity.replies_stored)?;
    families.counter("replies_replayed", "Requests that were answered as before", &activity.replies_replayed)
}

fn audits(families: &mut Families<'_>, activity: &Activity) -> fmt::Result {
    let audits = &activity.audits;
    families.gauge("audits_running", "Audits that run", audits.running.get())?;
    families.gauge("audit_files_left", "Files that these have still to look at", audits.files_left.get())?;
    let help = "Tables with files that are still to be read in the background";
    families.gauge("audit_tables_due", help, audits.tables_due.get())?;
    families.counter("audit_files_read", "Files that were looked at again", &audits.files_read)?;
    families.counter("audit_read_bytes", "Bytes that were read of these", &audits.bytes_read)?;
    let findings: Vec<_> =
        audits.findings().map(|(kind, found)| ([("kind", storage::name_of_finding(kind))], found)).collect();
    let series = findings.iter().map(|(labels, found)| (labels as Labels<'_>, *found));
    families.counters("audit_findings", "What was found wrong with files, by kind", series)
}
