//! Answers on standard output.

use std::io::Write;

use serde::Serialize;

use super::CliError;

/// Prints lines of text.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CliError::Output)
}

/// Prints lines of text on standard error: what is beside the answer.
pub(super) fn note(text: &str) {
    // Whoever does not read it has the answer all the same.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Prints an answer as JSON.
pub(super) fn print_json(answer: &impl Serialize) -> Result<(), CliError> {
    let mut text = serde_json::to_string_pretty(answer).map_err(|error| CliError::Output(error.into()))?;
    text.push('\n');
    print(&text)
}

/// Each text on a line of its own.
pub(super) fn lines<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.flat_map(|text| [text, "\n"]).collect()
}
