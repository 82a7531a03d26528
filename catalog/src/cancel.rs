//! Work stops when nobody waits for it any more.
//!
//! What is awaited is dropped when its client hangs up, or when the time of the request is over; a thread that may block knows
//! nothing of that. So it has a flag, which it looks at where it loops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

/// Whether work on another thread is for nobody any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancelled(Arc<AtomicBool>);

/// Cancels the work when it is dropped.
#[must_use = "work is cancelled as soon as this is dropped"]
pub(crate) struct CancelOnDrop(Cancelled);

impl Cancelled {
    /// What says so when it is dropped. Work that is done by then does not hear of it.
    pub(crate) fn on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }

    /// Ends the work if it is for nobody. Costs a read of a byte.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_cancelled_when_its_guard_is_dropped() {
        let cancelled = Cancelled::default();
        let seen_by_work = cancelled.clone();
        let guard = cancelled.on_drop();
        assert!(seen_by_work.check().is_ok());
        drop(guard);
        assert!(matches!(seen_by_work.check(), Err(Error::Cancelled)));
    }
}
