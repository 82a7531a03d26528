//! Plans of more than a page, kept until their later pages are asked for, so that these need not plan again.
//!
//! They are apart from what else plans have read: a plan of a million files takes as much room as many parts, and must be let go at
//! once where another takes its place, which a cache for many readers puts off.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use prunus_manifest::{SchemaId, SnapshotId, TableId};

use super::PlanRequest;
use super::filter::Filter;
use super::passes::{Passed, Survivor};

/// The most plans that are kept, however little room they take.
const MAX_KEPT_PLANS: usize = 1_000;

/// What a plan is of. Repairs and late columns change what is known of files, though not the snapshot: the generations tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanOrigin {
    pub(crate) table_id: TableId,
    pub(crate) snapshot_id: SnapshotId,
    pub(crate) schema_id: SchemaId,
    pub(crate) layout_generation: u64,
    pub(crate) statistics_generation: u64,
}

/// What the passes found, for which request, of what.
pub(crate) struct KeptPlan {
    origin: PlanOrigin,
    request: PlanRequest,
    pub(super) passed: Passed,
}

impl KeptPlan {
    pub(super) fn new(origin: PlanOrigin, request: &PlanRequest, passed: Passed) -> Self {
        Self { origin, request: PlanRequest { select: Vec::new(), ..request.clone() }, passed }
    }

    /// Whether a request asks for a page of it.
    fn is_of(&self, origin: PlanOrigin, request: &PlanRequest) -> bool {
        // Columns that are selected decide nothing of which files may match.
        let PlanRequest { filter, snapshot: _, since, select: _, nan_order, time_zone, pruning, page: _, faults: _ } =
            &self.request;
        self.origin == origin
            && (*nan_order, *pruning, *since) == (request.nan_order, request.pruning, request.since)
            && (time_zone, filter) == (&request.time_zone, &request.filter)
    }

    /// About how much memory it takes.
    fn size_bytes(&self) -> usize {
        let filter_bytes = self.request.filter.as_ref().map_or(0, Filter::written_bytes);
        let survivors_bytes = self.passed.survivors.capacity() * size_of::<Survivor>();
        size_of::<Self>() + filter_bytes + survivors_bytes + self.passed.residuals.size_bytes()
    }
}

/// The plans that are kept. What was not asked for longest is dropped when it gets too much.
pub(crate) struct KeptPlans {
    max_bytes: usize,
    /// With the size of each, the one that was asked for last at the end.
    plans: Mutex<VecDeque<(Arc<KeptPlan>, usize)>>,
}

impl KeptPlans {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, plans: Mutex::default() }
    }

    /// How many are kept, and how many bytes they take.
    pub(crate) fn size(&self) -> (usize, usize) {
        let plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        (plans.len(), plans.iter().map(|(_, size_bytes)| size_bytes).sum())
    }

    /// The plan that a request asks for a page of.
    pub(crate) fn get(&self, origin: PlanOrigin, request: &PlanRequest) -> Option<Arc<KeptPlan>> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let index = plans.iter().position(|(plan, _)| plan.is_of(origin, request))?;
        let (plan, size_bytes) = plans.remove(index)?;
        plans.push_back((Arc::clone(&plan), size_bytes));
        Some(plan)
    }

    /// Keeps a plan, in the place of one of the same request. One that is larger than all may be is not kept.
    pub(crate) fn insert(&self, plan: &Arc<KeptPlan>) {
        let size_bytes = plan.size_bytes();
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.retain(|(known, _)| !known.is_of(plan.origin, &plan.request));
        if size_bytes > self.max_bytes {
            return;
        }
        plans.push_back((Arc::clone(plan), size_bytes));
        let mut sum: usize = plans.iter().map(|(_, size_bytes)| size_bytes).sum();
        while sum > self.max_bytes || plans.len() > MAX_KEPT_PLANS {
            let Some((_, dropped)) = plans.pop_front() else { return };
            sum -= dropped;
        }
    }
}

#[cfg(test)]
mod tests {
    use prunus_manifest::FileId;
    use prunus_pruner::{BoundPredicate, NanOrder, PruningProgram, Verdict};

    use super::*;
    use crate::plan::filter::ResidualTable;
    use crate::plan::{PlanMetrics, PlanPage, Pruning, SnapshotRef};

    const ORIGIN: PlanOrigin = PlanOrigin {
        table_id: TableId(1),
        snapshot_id: SnapshotId(2),
        schema_id: SchemaId(3),
        layout_generation: 4,
        statistics_generation: 5,
    };

    fn request(filter: &str) -> PlanRequest {
        PlanRequest { filter: Some(Filter::Sql(filter.to_owned())), ..PlanRequest::default() }
    }

    fn plan(filter: &str, files: usize) -> Arc<KeptPlan> {
        let program = PruningProgram::compile(BoundPredicate::always());
        let mut residuals = ResidualTable::default();
        let kept = prunus_pruner::Mask::all(1);
        let residual = residuals.of_containers(None, &kept)[0];
        let survivor = Survivor::new(FileId(1), Verdict::Some, residual);
        let passed = Passed { survivors: vec![survivor; files], residuals, metrics: PlanMetrics::new(&program) };
        Arc::new(KeptPlan::new(ORIGIN, &request(filter), passed))
    }

    #[test]
    fn a_plan_is_of_its_request_whatever_the_page() {
        let plan = plan("a = 1", 1);
        let check = |other: PlanRequest, expected: bool| assert_eq!(plan.is_of(ORIGIN, &other), expected, "{other:?}");
        let same = || request("a = 1");
        check(PlanRequest { page: PlanPage::MetricsOnly, snapshot: SnapshotRef::AsOf(5), ..same() }, true);
        check(PlanRequest { filter: None, ..same() }, false);
        check(request("a = 2"), false);
        check(PlanRequest { nan_order: NanOrder::Ieee, ..same() }, false);
        check(PlanRequest { time_zone: Some("UTC".to_owned()), ..same() }, false);
        check(PlanRequest { pruning: Pruning::Off, ..same() }, false);
        check(PlanRequest { since: Some(SnapshotId(1)), ..same() }, false);
        check(PlanRequest { select: vec!["a".to_owned()], ..same() }, true);
    }

    #[test]
    fn a_plan_is_of_one_state_of_one_table() {
        let plan = plan("a = 1", 1);
        for other in [
            PlanOrigin { table_id: TableId(9), ..ORIGIN },
            PlanOrigin { snapshot_id: SnapshotId(9), ..ORIGIN },
            PlanOrigin { schema_id: SchemaId(9), ..ORIGIN },
            PlanOrigin { layout_generation: 9, ..ORIGIN },
            PlanOrigin { statistics_generation: 9, ..ORIGIN },
        ] {
            assert!(!plan.is_of(other, &request("a = 1")), "{other:?}");
        }
    }

    #[test]
    fn what_was_not_asked_for_longest_goes_first() {
        let size_bytes = plan("a", 1_000).size_bytes();
        let plans = KeptPlans::new(2 * size_bytes);
        let is_kept = |filter: &str| plans.get(ORIGIN, &request(filter)).is_some();
        plans.insert(&plan("a", 1_000));
        plans.insert(&plan("b", 1_000));
        assert!(is_kept("b") && is_kept("a"));
        plans.insert(&plan("c", 1_000));
        assert!(is_kept("a") && !is_kept("b") && is_kept("c"));
        plans.insert(&plan("a", 2_100));
        assert!(!is_kept("a") && is_kept("c"));
    }

    #[test]
    fn plans_are_kept_up_to_the_limit() {
        let plans = KeptPlans::new(usize::MAX);
        for number in 0..=MAX_KEPT_PLANS {
            plans.insert(&plan(&number.to_string(), 1));
        }
        assert!(plans.get(ORIGIN, &request("0")).is_none());
        assert!(plans.get(ORIGIN, &request("1")).is_some());
    }
}
