//! How a server stops: in phases, which all that it does can look at and wait for.

use std::sync::Arc;

use tokio::sync::watch;

/// How far a server is with stopping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Not at all.
    #[default]
    Serving,
    /// Nothing is accepted any more, and changes are refused.
    Refusing,
    /// Connections are closed when they idle.
    Closing,
    /// They are cut off.
    Cut,
}

/// The phase of a server, and how much it has begun that has not ended. Cheap to clone; all clones are of the same server.
#[derive(Clone, Default)]
pub(crate) struct Lifecycle(Arc<State>);

#[derive(Default)]
struct State {
    phase: watch::Sender<Phase>,
    begun: watch::Sender<usize>,
}

impl Lifecycle {
    /// Whether it has been told to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        *self.0.phase.borrow() != Phase::Serving
    }

    /// Goes on to this phase.
    pub(super) fn enter(&self, phase: Phase) {
        self.0.phase.send_replace(phase);
    }

    /// Returns when it is this phase or a later one.
    pub(super) async fn reached(&self, phase: Phase) {
        // The sender is held, so that waiting does not fail.
        let _ = self.0.phase.subscribe().wait_for(|now| *now >= phase).await;
    }

    /// Counts something that must end before the server does.
    pub(crate) fn begin(&self) -> Begun {
        self.0.begun.send_modify(|begun| *begun += 1);
        Begun(self.clone())
    }

    /// Returns when nothing has begun that has not ended.
    pub(crate) async fn ended(&self) {
        let _ = self.0.begun.subscribe().wait_for(|begun| *begun == 0).await;
    }
}

/// Something that the server waits for, as long as this lives.
pub(crate) struct Begun(Lifecycle);

impl Begun {
    /// Counts something that this leads to, which may go on for longer.
    pub(crate) fn another(&self) -> Self {
        self.0.begin()
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.0.begun.send_modify(|begun| *begun = begun.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn it_ends_when_all_that_has_begun_has() {
        let lifecycle = Lifecycle::default();
        let one = lifecycle.begin();
        let other = one.another();
        drop(one);
        assert!(lifecycle.ended().now_or_never().is_none());
        drop(other);
        assert!(lifecycle.ended().now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_later_phase_is_past_the_ones_before() {
        let lifecycle = Lifecycle::default();
        assert!(!lifecycle.is_stopping());
        lifecycle.enter(Phase::Closing);
        assert!(lifecycle.is_stopping());
        assert!(lifecycle.reached(Phase::Refusing).now_or_never().is_some());
        assert!(lifecycle.reached(Phase::Cut).now_or_never().is_none());
    }
}
