//! What is wrong with the form of what was sent, in words for whoever sent it: no type of this program is named.

use std::fmt;

use prunus_catalog::nearest;
use serde::de::{Error, Expected, Unexpected};

/// The longest text that a message repeats, in characters.
const MAX_SHOWN_CHARS: usize = 100;

/// What a request calls its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormPart {
    /// Those of a body.
    Field,
    /// Those of a query string.
    Parameter,
    /// Those of a configuration.
    Key,
}

/// A fault of form.
#[derive(Debug)]
pub(super) enum FormError {
    UnknownField { field: String, expected: &'static [&'static str] },
    UnknownValue { value: String, expected: &'static [&'static str] },
    MissingField(&'static str),
    FieldGivenTwice(&'static str),
    Other(String),
}

impl FormError {
    /// What is wrong, as a sentence; with what was probably meant, where that can be told.
    pub(super) fn message(&self, part: FormPart) -> String {
        let part = match part {
            FormPart::Field => "field",
            FormPart::Parameter => "parameter",
            FormPart::Key => "key",
        };
        match self {
            Self::UnknownField { field, expected } => unknown(part, field, expected),
            Self::UnknownValue { value, expected } => unknown("value", value, expected),
            Self::MissingField(field) => format!("missing {part} `{field}`"),
            Self::FieldGivenTwice(field) => format!("the {part} `{field}` stands twice"),
            Self::Other(message) => message.clone(),
        }
    }
}

fn unknown(what: &str, found: &str, expected: &[&str]) -> String {
    let list = match expected {
        [] => "and none is expected".to_owned(),
        [only] => format!("expected `{only}`"),
        [one, other] => format!("expected `{one}` or `{other}`"),
        many => format!("expected one of `{}`", many.join("`, `")),
    };
    let suggestion = nearest(found, expected.iter().copied());
    let suggestion = suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("unknown {what} `{}`, {list}{suggestion}", cut(found))
}

/// A text that was sent, cut to what a message can hold.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// What serde expected, without the names of its types.
pub(super) fn for_people(expected: &str) -> String {
    let range = |min: &dyn fmt::Display, max: &dyn fmt::Display| format!("a whole number from {min} to {max}");
    match expected {
        "i8" => range(&i8::MIN, &i8::MAX),
        "i16" => range(&i16::MIN, &i16::MAX),
        "i32" => range(&i32::MIN, &i32::MAX),
        "i64" => range(&i64::MIN, &i64::MAX),
        "u8" => range(&u8::MIN, &u8::MAX),
        "u16" => range(&u16::MIN, &u16::MAX),
        "u32" => range(&u32::MIN, &u32::MAX),
        "u64" => range(&u64::MIN, &u64::MAX),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "an object".to_owned(),
        name if name.starts_with("struct ") => "an object".to_owned(),
        name if name.starts_with("enum ") || name == "variant identifier" => "a string".to_owned(),
        other => other.to_owned(),
    }
}

fn found(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Float(number) => number.to_string(),
        Unexpected::Str(text) => format!("the string `{}`", cut(text)),
        Unexpected::Unit => "null".to_owned(),
        Unexpected::Seq => "an array".to_owned(),
        Unexpected::Map => "an object".to_owned(),
        other => other.to_string(),
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(FormPart::Field))
    }
}

impl std::error::Error for FormError {}

impl Error for FormError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Other(format!("expected {}, found {}", for_people(&expected.to_string()), found(unexpected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::UnknownValue { value: variant.to_owned(), expected }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::UnknownField { field: field.to_owned(), expected }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::MissingField(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::FieldGivenTwice(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_repeated_up_to_the_limit() {
        assert_eq!(cut(&"é".repeat(MAX_SHOWN_CHARS)), "é".repeat(MAX_SHOWN_CHARS));
        assert_eq!(cut(&"é".repeat(MAX_SHOWN_CHARS + 1)), format!("{}...", "é".repeat(MAX_SHOWN_CHARS)));
    }
}
