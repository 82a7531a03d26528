//! Plans that their clients wanted no more of.

use std::time::Duration;

use moka::sync::Cache;
use prunus_catalog::LEASE_MS;
use uuid::Uuid;

/// The most that are remembered. What is beyond is forgotten, and can be asked for again: it costs no more than a new plan.
const MAX_CANCELLED: u64 = 100_000;

/// The plans that were cancelled, for as long as their ids and tasks would live.
pub(crate) struct CancelledPlans(Cache<Uuid, ()>);

impl Default for CancelledPlans {
    fn default() -> Self {
        let lifetime = Duration::from_millis(LEASE_MS.unsigned_abs());
        Self(Cache::builder().max_capacity(MAX_CANCELLED).time_to_live(lifetime).build())
    }
}

impl CancelledPlans {
    pub(super) fn insert(&self, plan: Uuid) {
        self.0.insert(plan, ());
    }

    pub(super) fn contains(&self, plan: Uuid) -> bool {
        self.0.contains_key(&plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_remembered_as_may_be() {
        let plans = CancelledPlans::default();
        let ids = |numbers: std::ops::Range<u64>| numbers.map(|number| Uuid::from_u128(number.into()));
        ids(0..MAX_CANCELLED).for_each(|plan| plans.insert(plan));
        plans.0.run_pending_tasks();
        assert!(ids(0..MAX_CANCELLED).all(|plan| plans.contains(plan)));
        ids(MAX_CANCELLED..MAX_CANCELLED + 1_000).for_each(|plan| plans.insert(plan));
        plans.0.run_pending_tasks();
        assert_eq!(plans.0.entry_count(), MAX_CANCELLED);
    }
}
