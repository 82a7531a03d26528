//! A sign of life on standard error for whatever takes longer than a second, where that is a terminal.

use std::borrow::Cow;
use std::pin::pin;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long nothing is shown: most commands are done by then.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is drawn anew.
const TICK: Duration = Duration::from_millis(200);

/// What is waited for. It is gone from the screen when it is dropped.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Something is waited for whose length is not known.
    pub(super) fn of(what: impl Into<Cow<'static, str>>) -> Self {
        Self::start(None, "{spinner} {msg}, {elapsed}", what)
    }

    /// So many files are looked at.
    pub(super) fn of_files(files: u64) -> Self {
        Self::start(Some(files), "{bar:20} {pos}/{len} files, {per_sec}, {eta} left; {wide_msg}", "")
    }

    fn start(length: Option<u64>, template: &str, message: impl Into<Cow<'static, str>>) -> Self {
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(message);
        Self(bar)
    }

    /// Says what is done by now.
    pub(super) fn say(&self, message: impl Into<Cow<'static, str>>) {
        self.0.set_message(message);
    }

    /// So many are done by now.
    pub(super) fn reached(&self, position: u64) {
        self.0.set_position(position);
    }

    /// Does something that writes to the screen itself.
    pub(super) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.suspend(work)
    }

    /// Awaits the work, and shows itself once that has taken a second.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(PATIENCE) => {}
        }
        self.0.set_draw_target(ProgressDrawTarget::stderr());
        self.0.enable_steady_tick(TICK);
        work.await
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
