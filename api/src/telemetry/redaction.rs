//! What is taken out of lines of the log before they are written: control characters, with which a client could write lines of its
//! own, and what may be a secret in URLs.
//!
//! What the log says is chosen where it is said, and no secret is among it. But errors have causes of many makes, and some say what
//! they asked for: a URL may have a signature in its query, or a password before its host.

use std::borrow::Cow;
use std::fmt::Write;

use prunus_catalog::HIDDEN;

use crate::cli::prose::Paint;

/// A line as it may be written. The line break at its end stays.
pub(super) fn cleaned(line: &[u8], paint: Paint) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    let (text, end) = text.strip_suffix('\n').map_or((&*text, ""), |text| (text, "\n"));
    let mut cleaned = without_controls(&without_secrets(text), paint).into_owned();
    cleaned.push_str(end);
    cleaned.into_bytes()
}

/// Each control character as its escape. The one that colours begin with stays where there are colours: what comes from outside has
/// had it escaped before.
fn without_controls(text: &str, paint: Paint) -> Cow<'_, str> {
    let is_bad = |character: char| {
        let breaks_lines = matches!(character, '\u{2028}' | '\u{2029}');
        (character.is_control() || breaks_lines) && !(character == '\u{1b}' && paint == Paint::Ansi)
    };
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_bad(character) { push_escaped(&mut cleaned, character) } else { cleaned.push(character) }
    }
    Cow::Owned(cleaned)
}

/// As JSON has it, so that a line of JSON stays one.
fn push_escaped(to: &mut String, character: char) {
    match character {
        '\n' => to.push_str("\\n"),
        '\r' => to.push_str("\\r"),
        '\t' => to.push_str("\\t"),
        // Text in memory takes what is written.
        other => drop(write!(to, "\\u{:04x}", u32::from(other))),
    }
}

/// URLs without the query and without user and password.
fn without_secrets(text: &str) -> Cow<'_, str> {
    const AUTHORITY: &str = "://";
    let Some(first) = text.find(AUTHORITY) else { return Cow::Borrowed(text) };
    let (before, mut rest) = text.split_at(first);
    let mut cleaned = before.to_owned();
    while let Some(after) = rest.strip_prefix(AUTHORITY) {
        // What stands before the host there is a container.
        let has_container = cleaned.ends_with("abfs") || cleaned.ends_with("abfss");
        let (url, behind) = after.split_at(after.find(ends_url).unwrap_or(after.len()));
        cleaned.push_str(AUTHORITY);
        push_url(&mut cleaned, url, if has_container { User::Container } else { User::Secret });
        let next = behind.find(AUTHORITY).unwrap_or(behind.len());
        let (between, following) = behind.split_at(next);
        cleaned.push_str(between);
        rest = following;
    }
    Cow::Owned(cleaned)
}

/// What stands before the host of a URL.
#[derive(Clone, Copy, PartialEq)]
enum User {
    Secret,
    Container,
}

/// What of a URL stands behind the scheme.
fn push_url(to: &mut String, url: &str, user: User) {
    let (shown, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let (authority, path) = shown.split_at(shown.find('/').unwrap_or(shown.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) if user == User::Secret => to.extend([HIDDEN, "@", host]),
        _ => to.push_str(authority),
    }
    to.push_str(path);
    if !query.is_empty() {
        to.extend(["?", HIDDEN]);
    }
}

/// Whether a URL in prose has ended.
fn ends_url(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | '`' | '<' | '>' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        assert_eq!(String::from_utf8(cleaned(line.as_bytes(), Paint::Plain)).unwrap(), expected, "{line:?}");
    }

    #[test]
    fn a_line_is_one_line() {
        check("a\n", "a\n");
        check("a\nb\r\nc\n", "a\\nb\\r\\nc\n");
        check("\u{1b}[31mred \u{7f}\u{85}\u{2028}\n", "\\u001b[31mred \\u007f\\u0085\\u2028\n");
        check("tab\there é\n", "tab\\there é\n");
    }

    #[test]
    fn colours_stay_where_there_are_some() {
        let coloured = "\u{1b}[32m INFO\u{1b}[0m a\rb\n";
        assert_eq!(cleaned(coloured.as_bytes(), Paint::Ansi), "\u{1b}[32m INFO\u{1b}[0m a\\rb\n".as_bytes());
    }

    #[test]
    fn what_may_be_a_secret_in_a_url_is_removed() {
        check("no url? a@b\n", "no url? a@b\n");
        check("GET https://h/p?X-Amz-Signature=s%20t in 3s\n", "GET https://h/p?*** in 3s\n");
        check("(`http://u:p@h:1/a`) and s3://b/k?q", "(`http://***@h:1/a`) and s3://b/k?***");
        check(r#"{"url":"http://h/?sig=1","b":2}"#, r#"{"url":"http://h/?***","b":2}"#);
        check("abfss://c@a.dfs.core.windows.net/k?s", "abfss://c@a.dfs.core.windows.net/k?***");
        check("https://h?a=1://x?b=2", "https://h?***");
    }

    #[test]
    fn bytes_that_are_no_text_are_no_failure() {
        assert_eq!(cleaned(b"a\xffb\n", Paint::Plain), "a\u{fffd}b\n".as_bytes());
    }
}
