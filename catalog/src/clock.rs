//! The time and new identities: the one place that reads the system's.

use std::fmt::Debug;
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

/// Where the catalog takes the time and new identities from, so that tests can say what they are.
pub trait Clock: Debug + Send + Sync {
    /// Milliseconds since 1970-01-01T00:00Z.
    fn now_ms(&self) -> i64;
    /// An identity that was never given before.
    fn new_uuid(&self) -> Uuid;
}

/// A time in milliseconds since 1970-01-01T00:00Z as people read it.
pub(crate) fn time_text(time_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(time_ms).map_or_else(|_| time_ms.to_string(), |time| time.to_string())
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system's clock")]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that makes identities")]
    fn new_uuid(&self) -> Uuid {
        Uuid::now_v7()
    }
}
