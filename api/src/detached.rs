//! Work that goes on when its client hangs up. Whoever waits for an answer is dropped then, and with it all that it was to do next.

use prunus_catalog::Error;
use tokio::task::JoinError;
use tracing::Instrument;

use crate::problem::Problem;

/// Does the work on a task of its own, to its end. A panic of it is one of the caller.
pub(crate) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::spawn(work.in_current_span()).await.map_err(JoinError::try_into_panic) {
        Ok(outcome) => outcome,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => Err(Error::Background.into()),
    }
}
