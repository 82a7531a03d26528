//! A plan of more than a page, kept until its later pages are asked for, so that these need not plan again.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::PlanRequest;
use super::filter::Filter;
use super::passes::{Passed, Survivor};

/// What the passes found, and for which request.
pub(crate) struct KeptPlan {
    request: PlanRequest,
    pub(super) passed: Passed,
}

impl KeptPlan {
    pub(super) fn new(request: &PlanRequest, passed: Passed) -> Self {
        Self { request: PlanRequest { select: Vec::new(), ..request.clone() }, passed }
    }

    /// A number that is the same for all pages of a request.
    pub(crate) fn hash(request: &PlanRequest) -> u64 {
        let mut hasher = DefaultHasher::new();
        match &request.filter {
            None => {}
            Some(Filter::Sql(text)) => text.hash(&mut hasher),
            Some(Filter::Iceberg(json)) => json.hash(&mut hasher),
        }
        (&request.time_zone, request.nan_order, request.pruning).hash(&mut hasher);
        hasher.finish()
    }

    /// [`KeptPlan::hash`] of its own request.
    pub(crate) fn own_hash(&self) -> u64 {
        Self::hash(&self.request)
    }

    /// Whether a request asks for a page of it, if it is of the same snapshot.
    pub(crate) fn is_of(&self, request: &PlanRequest) -> bool {
        // Columns that are selected decide nothing of which files may match.
        let PlanRequest { filter, snapshot: _, select: _, nan_order, time_zone, pruning, page: _, faults: _ } =
            &self.request;
        (filter, time_zone) == (&request.filter, &request.time_zone)
            && (*nan_order, *pruning) == (request.nan_order, request.pruning)
    }

    /// About how much memory it takes.
    pub(crate) fn size_bytes(&self) -> usize {
        let filter_bytes = self.request.filter.as_ref().map_or(0, Filter::written_bytes);
        // A filter is kept as it was written and, by what is left of it, in parts.
        2 * filter_bytes + self.passed.survivors.capacity() * size_of::<Survivor>() + self.passed.residuals.size_bytes()
    }
}

#[cfg(test)]
mod tests {
    use prunus_pruner::{BoundPredicate, NanOrder, PruningProgram};

    use super::*;
    use crate::plan::filter::ResidualTable;
    use crate::plan::{PlanMetrics, PlanPage, Pruning, SnapshotRef};

    #[test]
    fn a_plan_is_of_the_request_whatever_its_page() {
        let request = PlanRequest { filter: Some(Filter::Sql("a = 1".to_owned())), ..PlanRequest::default() };
        let program = PruningProgram::compile(BoundPredicate::always());
        let passed =
            Passed { survivors: Vec::new(), residuals: ResidualTable::default(), metrics: PlanMetrics::new(&program) };
        let plan = KeptPlan::new(&request, passed);
        let check = |other: PlanRequest, expected: bool| {
            assert_eq!(plan.is_of(&other), expected, "{other:?}");
            // One that is not of it has a place of its own: two readers take turns, and neither puts out the other's plan.
            assert_eq!(KeptPlan::hash(&other) == plan.own_hash(), expected, "{other:?}");
        };
        check(PlanRequest { page: PlanPage::MetricsOnly, snapshot: SnapshotRef::AsOf(5), ..request.clone() }, true);
        check(PlanRequest { filter: None, ..request.clone() }, false);
        check(PlanRequest { filter: Some(Filter::Sql("a = 2".to_owned())), ..request.clone() }, false);
        check(PlanRequest { nan_order: NanOrder::Ieee, ..request.clone() }, false);
        check(PlanRequest { time_zone: Some("UTC".to_owned()), ..request.clone() }, false);
        check(PlanRequest { pruning: Pruning::Off, ..request.clone() }, false);
        check(PlanRequest { select: vec!["a".to_owned()], ..request }, true);
    }
}
