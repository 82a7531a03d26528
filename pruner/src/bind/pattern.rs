//! LIKE: the literal prefix of a pattern is a range of texts.

use prunus_statistics::Literal;

use super::{Binder, BoundNode};
use crate::predicate::{CompareOp, Expression};

/// A pattern as far as it can be judged by bounds.
#[derive(Debug, PartialEq, Eq)]
enum Pattern {
    /// This text and no other.
    Exactly(String),
    /// Every text with this prefix.
    Prefix(String),
    /// Some texts with this prefix.
    Within(String),
}

impl Binder<'_> {
    pub(super) fn like(&mut self, expression: &Expression, pattern: &str, escape: Option<char>) -> BoundNode {
        if expression.is_computed() {
            return self.value_is_like(expression, Wildcards::parse(pattern, escape));
        }
        // Texts of other types look otherwise in different engines; this says why there is no rule for them.
        let prefix_of_text = |binder: &mut Self, prefix: &str| binder.starts_with(expression, prefix);
        match Pattern::parse(pattern, escape) {
            Pattern::Exactly(text) => match prefix_of_text(self, &text) {
                BoundNode::Leaf(_) => {
                    self.compare(expression, CompareOp::Eq, &Expression::Literal(Literal::Text(text)))
                }
                other => other,
            },
            Pattern::Prefix(prefix) => prefix_of_text(self, &prefix),
            Pattern::Within(prefix) => match prefix_of_text(self, &prefix) {
                BoundNode::Leaf(leaf) => {
                    let whole = self.value_is_like(expression, Wildcards::parse(pattern, escape));
                    BoundNode::All(vec![BoundNode::Leaf(leaf), whole])
                }
                other => other,
            },
        }
    }
}

/// A pattern in full, to be held against one text; `None` if engines read it differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wildcards(Option<Vec<Wildcard>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wildcard {
    AnyText,
    AnyCharacter,
    Character(char),
}

impl Wildcards {
    fn parse(pattern: &str, escape: Option<char>) -> Self {
        let mut characters = pattern.chars();
        let mut wildcards = Vec::new();
        while let Some(character) = characters.next() {
            wildcards.push(match character {
                character if Some(character) == escape => match characters.next() {
                    Some(escaped) if is_special(escaped, escape) => Wildcard::Character(escaped),
                    _ => return Self(None),
                },
                '%' => Wildcard::AnyText,
                '_' => Wildcard::AnyCharacter,
                '\\' if escape.is_none() => return Self(None),
                other => Wildcard::Character(other),
            });
        }
        Self(Some(wildcards))
    }

    /// Whether a text matches, if engines agree on it: they count characters of texts beyond ASCII differently.
    pub(crate) fn matches(&self, text: &[u8]) -> Option<bool> {
        let wildcards = self.0.as_ref()?;
        let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii())?;
        // Whether what was read of the pattern matches the first characters of the text, for each number of them.
        let mut matched = vec![false; text.len() + 1];
        *matched.first_mut()? = true;
        for wildcard in wildcards {
            let mut before = false;
            let mut any_before = false;
            for (matched, character) in matched.iter_mut().zip(std::iter::once(None).chain(text.chars().map(Some))) {
                any_before |= *matched;
                let next = match wildcard {
                    Wildcard::AnyText => any_before,
                    Wildcard::AnyCharacter => before,
                    Wildcard::Character(wanted) => before && character == Some(*wanted),
                };
                before = std::mem::replace(matched, next);
            }
        }
        matched.last().copied()
    }
}

/// What an escape character may stand before; before anything else engines fail or read it differently.
fn is_special(character: char, escape: Option<char>) -> bool {
    character == '%' || character == '_' || Some(character) == escape
}

impl Pattern {
    /// Without ESCAPE some engines take a backslash for one and some do not: then the prefix ends before it.
    fn parse(pattern: &str, escape: Option<char>) -> Self {
        let mut prefix = String::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            if Some(character) == escape {
                match characters.next() {
                    Some(escaped) if is_special(escaped, escape) => prefix.push(escaped),
                    _ => return Self::Within(prefix),
                }
            } else if character == '%' {
                return if characters.all(|rest| rest == '%') { Self::Prefix(prefix) } else { Self::Within(prefix) };
            } else if character == '_' || (escape.is_none() && character == '\\') {
                return Self::Within(prefix);
            } else {
                prefix.push(character);
            }
        }
        Self::Exactly(prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_text_a_prefix_or_more() {
        let owned = str::to_owned;
        for (pattern, escape, expected) in [
            ("abc", None, Pattern::Exactly(owned("abc"))),
            ("abc%", None, Pattern::Prefix(owned("abc"))),
            ("%%", None, Pattern::Prefix(owned(""))),
            ("abc%d", None, Pattern::Within(owned("abc"))),
            ("a_c%", None, Pattern::Within(owned("a"))),
            ("a\\%b", None, Pattern::Within(owned("a"))),
            ("a\\%b", Some('\\'), Pattern::Exactly(owned("a%b"))),
            ("foo!_%", Some('!'), Pattern::Prefix(owned("foo_"))),
            ("foo!", Some('!'), Pattern::Within(owned("foo"))),
            ("a%b", Some('%'), Pattern::Within(owned("a"))),
        ] {
            assert_eq!(Pattern::parse(pattern, escape), expected, "{pattern}");
        }
    }

    #[test]
    fn a_text_is_held_against_the_whole_pattern() {
        let matches = |pattern: &str, text: &str| Wildcards::parse(pattern, Some('!')).matches(text.as_bytes());
        assert_eq!(matches("foo%bar", "foobar"), Some(true));
        assert_eq!(matches("foo%bar", "foodbarn"), Some(false));
        assert_eq!(matches("a_!_%", "ab_"), Some(true));
        assert_eq!(matches("a_!_%", "ab"), Some(false));
        assert_eq!(matches("_", "\u{e4}"), None);
        assert_eq!(matches("a!b", "ab"), None);
        assert_eq!(Wildcards::parse("a\\%", None).matches(b"a"), None);
    }
}
