//! Text for the eyes: what is put on lines of a terminal's width, and what is made to stand out.

use std::io::IsTerminal;

use clap::builder::styling::{AnsiColor, Style};

use super::legible;

/// How wide lines of prose are: they fit a terminal of 80 columns.
const WIDTH: usize = 80;

/// Whether text is marked by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// It is not.
    Plain,
    /// By escape sequences.
    Ansi,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// The title of a part.
    Heading,
    /// What is good.
    Good,
    /// What is to be looked at.
    Notable,
    /// What went wrong.
    Error,
}

impl Paint {
    /// For standard output, as the environment has it.
    pub(super) fn of_stdout() -> Self {
        Self::of(std::io::stdout().is_terminal(), |name| std::env::var(name).ok())
    }

    /// For standard error, as the environment has it.
    pub(crate) fn of_stderr() -> Self {
        Self::of(std::io::stderr().is_terminal(), |name| std::env::var(name).ok())
    }

    /// `NO_COLOR` comes first, then `CLICOLOR_FORCE`, then `CLICOLOR` and whether there is a terminal that knows colours.
    fn of(terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let is = |name: &str, meant: fn(&str) -> bool| variable(name).is_some_and(|value| meant(&value));
        if is("NO_COLOR", |value| !value.is_empty()) {
            return Self::Plain;
        }
        let forced = is("CLICOLOR_FORCE", |value| !matches!(value, "" | "0"));
        let unwanted = is("CLICOLOR", |value| value == "0") || is("TERM", |value| value == "dumb");
        if forced || (terminal && !unwanted) { Self::Ansi } else { Self::Plain }
    }

    /// The text on one line, marked as what it is.
    pub(super) fn mark(self, role: Role, text: &str) -> String {
        let style = match role {
            Role::Heading => Style::new().bold(),
            Role::Good => AnsiColor::Green.on_default(),
            Role::Notable => AnsiColor::Yellow.on_default(),
            Role::Error => AnsiColor::Red.on_default().bold(),
        };
        let text = legible(text);
        match self {
            Self::Plain => text.into_owned(),
            Self::Ansi => format!("{style}{text}{style:#}"),
        }
    }
}

/// The words, [`legible`], on lines of at most 80 characters, each behind `indent` spaces; a longer word stands on a line of its own.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split_whitespace().map(legible) {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > WIDTH {
            lines.push('\n');
            used = 0;
        }
        if used == 0 {
            lines.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(&word);
        used += length;
    }
    lines.push('\n');
    lines
}

/// The text on one line, its end cut off where it is longer than so many characters.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    let text = legible(text);
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paint(terminal: bool, variables: &[(&str, &str)]) -> Paint {
        Paint::of(terminal, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn colour_is_for_terminals_and_can_be_refused_or_forced() {
        for (terminal, variables, expected) in [
            (true, &[][..], Paint::Ansi),
            (false, &[], Paint::Plain),
            (true, &[("NO_COLOR", "1")], Paint::Plain),
            (true, &[("NO_COLOR", "")], Paint::Ansi),
            (true, &[("CLICOLOR", "0")], Paint::Plain),
            (true, &[("TERM", "dumb")], Paint::Plain),
            (false, &[("CLICOLOR", "1")], Paint::Plain),
            (false, &[("CLICOLOR_FORCE", "1")], Paint::Ansi),
            (false, &[("CLICOLOR_FORCE", "0")], Paint::Plain),
            (true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], Paint::Plain),
        ] {
            assert_eq!(paint(terminal, variables), expected, "{terminal} {variables:?}");
        }
    }

    #[test]
    fn plain_text_has_no_escapes() {
        assert_eq!(Paint::Plain.mark(Role::Heading, "x"), "x");
        assert_eq!(Paint::Ansi.mark(Role::Heading, "x"), "\u{1b}[1mx\u{1b}[0m");
    }

    #[test]
    fn prose_stays_within_its_width() {
        let text = wrapped(&"word ".repeat(40), 5);
        assert!(text.lines().all(|line| line.starts_with("     word") && line.chars().count() <= WIDTH), "{text}");
        let long = "x".repeat(WIDTH + 20);
        assert_eq!(wrapped(&format!("a {long} b"), 2), format!("  a\n  {long}\n  b\n"));
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(shortened("üüü", 3), "üüü");
        assert_eq!(shortened("üüüü", 3), "üüü…");
    }
}
