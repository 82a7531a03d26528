//! A progress bar on standard error, where that is a terminal.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::summary::Summary;

/// How often it is drawn anew, so that its times go on while nothing else does.
const TICK: Duration = Duration::from_millis(200);

/// How far an import is. It is gone when it is dropped.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Files are looked for; how many there will be is not known.
    pub(super) fn listing() -> Self {
        Self::start(None, "{spinner} looking for files, {elapsed}")
    }

    /// So many files are to be dealt with.
    pub(super) fn registering(files: usize) -> Self {
        Self::start(Some(files as u64), "{bar:20} {pos}/{len} files, {rate}, {left}; {wide_msg}")
    }

    fn start(length: Option<u64>, template: &str) -> Self {
        // A bar of nothing would be full before anything is done.
        let target = if length == Some(0) { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(length, target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("rate", rate).with_key("left", left));
        }
        bar.set_message("none imported yet");
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// So many files more are dealt with.
    pub(super) fn advance(&self, files: usize, summary: &Summary) {
        self.0.inc(files as u64);
        self.0.set_message(format!("{} imported, {} refused", summary.imported, summary.refused.len()));
    }
}

fn rate(state: &ProgressState, text: &mut dyn Write) {
    let _ = write!(text, "{:.0} a second", state.per_sec());
}

fn left(state: &ProgressState, text: &mut dyn Write) {
    let _ = match state.pos() {
        0 => write!(text, "how long is not known yet"),
        _ => write!(text, "{:#} left", HumanDuration(state.eta())),
    };
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
