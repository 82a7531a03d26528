//! A clock that a test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use prunus_catalog::{Clock, SystemClock};

/// Stands still until it is moved.
#[derive(Debug)]
pub(crate) struct SetClock(AtomicI64);

impl SetClock {
    /// 2024-01-31T12:00:00Z.
    pub(crate) const START_MS: i64 = 1_706_702_400_000;

    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(Self::START_MS)))
    }

    pub(crate) fn pass_ms(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for SetClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn new_uuid(&self) -> uuid::Uuid {
        SystemClock.new_uuid()
    }
}
