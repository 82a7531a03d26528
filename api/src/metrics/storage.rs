//! What object stores were asked for. There is a series for what has happened alone: most servers use one or two kinds of stores.

use std::fmt;

use prunus_catalog::{FindingKind, StorageActivity, StoreOperation, StoreOutcome, StoreScheme, TryOutcome};

use super::exposition::{Families, Labels, Unit};

/// Writes what stores were asked for.
pub(super) fn encode(families: &mut Families<'_>, activity: &StorageActivity) -> fmt::Result {
    requests(families, activity)?;
    let help = "Requests to object stores that run, or wait for their turn";
    families.gauge("object_store_requests_in_flight", help, activity.in_flight.get())?;
    tries(families, activity)?;
    let schemes = StoreScheme::ALL.map(|scheme| ([("scheme", scheme.name())], activity.of(scheme).bytes_read.get()));
    let series = schemes.iter().filter(|(_, bytes)| *bytes > 0).map(|(labels, bytes)| (labels as Labels<'_>, *bytes));
    families.counters("object_store_read_bytes", "Bytes of objects that were read", series)
}

fn requests(families: &mut Families<'_>, activity: &StorageActivity) -> fmt::Result {
    let operations = || StoreScheme::ALL.into_iter().flat_map(|scheme| StoreOperation::ALL.map(|of| (scheme, of)));
    let mut ended = Vec::new();
    for (scheme, operation) in operations() {
        let of_operation = activity.of(scheme).of(operation);
        for outcome in StoreOutcome::ALL {
            let labels = [("scheme", scheme.name()), ("operation", operation.name()), ("outcome", outcome.name())];
            ended.push((labels, of_operation.ended(outcome).get()));
        }
    }
    let series = ended.iter().filter(|(_, count)| *count > 0).map(|(labels, count)| (labels as Labels<'_>, *count));
    let help = "Requests to object stores, and reads of files of this machine, by what came of them in the end";
    families.counters("object_store_requests", help, series)?;

    let durations = operations().map(|(scheme, operation)| {
        let labels = [("scheme", scheme.name()), ("operation", operation.name())];
        (labels, &activity.of(scheme).of(operation).duration_ns)
    });
    let durations: Vec<_> = durations.filter(|(_, histogram)| histogram.read().count > 0).collect();
    let series = durations.iter().map(|(labels, histogram)| (labels as Labels<'_>, *histogram));
    let help = "How long these took until all had arrived, with all tries and pauses, in seconds";
    families.histograms("object_store_request_duration_seconds", help, Unit::Nanoseconds, series)
}

fn tries(families: &mut Families<'_>, activity: &StorageActivity) -> fmt::Result {
    let mut tries = Vec::new();
    for scheme in StoreScheme::ALL {
        for outcome in TryOutcome::ALL {
            let labels = [("scheme", scheme.name()), ("outcome", outcome.name())];
            tries.push((labels, activity.of(scheme).tries(outcome).get()));
        }
    }
    let series = tries.iter().filter(|(_, count)| *count > 0).map(|(labels, count)| (labels as Labels<'_>, *count));
    let help = "Tries over HTTP by their outcome: those that failed or had no answer are made again";
    families.counters("object_store_tries", help, series)
}

/// What a kind of finding is called in a label.
pub(super) const fn name_of_finding(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Missing => "missing",
        FindingKind::Changed => "changed",
        FindingKind::Unreadable => "unreadable",
        FindingKind::Refuted => "refuted",
        FindingKind::Schema => "schema",
    }
}
