//! Work that goes on when its client hangs up. Whoever waits for an answer is dropped then, and with it all that it was to do next.

use prunus_catalog::Error;
use tokio::task::JoinError;
use tracing::Instrument;

use crate::problem::Problem;
use crate::server::lifecycle::Begun;

tokio::task_local! {
    /// What has the server wait for the change that is being made, before it stops.
    pub(crate) static UNDER_WAY: Begun;
}

/// Does the work on a task of its own, to its end. A panic of it is one of the caller.
pub(crate) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    let work = work.in_current_span();
    let task = match UNDER_WAY.try_with(Begun::another) {
        Ok(under_way) => tokio::spawn(UNDER_WAY.scope(under_way, work)),
        Err(_) => tokio::spawn(work),
    };
    match task.await.map_err(JoinError::try_into_panic) {
        Ok(outcome) => outcome,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => Err(Error::Background.into()),
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tokio::sync::oneshot;

    use super::*;
    use crate::server::lifecycle::Lifecycle;

    #[tokio::test]
    async fn the_server_does_not_end_before_work_whose_client_hangs_up() {
        let lifecycle = Lifecycle::default();
        let (finish, finished) = oneshot::channel::<()>();
        let nested = to_the_end(to_the_end(async move {
            let _ = finished.await;
            Ok(())
        }));
        let request = UNDER_WAY.scope(lifecycle.begin(), nested);
        assert!(tokio::time::timeout(std::time::Duration::from_millis(50), request).await.is_err());
        assert!(lifecycle.ended().now_or_never().is_none());
        finish.send(()).unwrap();
        lifecycle.ended().await;
    }
}
