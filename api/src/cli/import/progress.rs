//! A progress bar on standard error, where that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::summary::Summary;

/// How far an import is. It is gone when it is dropped.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(files: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} files, {eta} left; {msg}") {
            bar.set_style(style);
        }
        bar.set_message("reading footers");
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        Self(bar)
    }

    /// So many files more are dealt with.
    pub(super) fn advance(&self, files: usize, summary: &Summary) {
        self.0.inc(files as u64);
        self.0.set_message(format!("{} imported, {} refused", summary.imported, summary.refused.len()));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
