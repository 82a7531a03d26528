//! One change of a column as it is written on a command line.

use serde_json::Value;

use crate::wire::{PlaceJson, SchemaChangeJson};

/// `NAME TYPE [not null] [default JSON] [first | after COLUMN]`
pub(super) fn add(text: &str) -> Result<SchemaChangeJson, String> {
    const FORM: &str = "a new column is 'NAME TYPE [not null] [default JSON] [first | after COLUMN]'";
    let mut words = Words(text);
    let name = words.next().ok_or(FORM)?.to_owned();
    let type_text = words.next().ok_or(FORM)?;
    let json = if type_text.starts_with('{') { type_text.to_owned() } else { Value::from(type_text).to_string() };
    let field_type = serde_json::from_str(&json).map_err(|error| format!("`{type_text}` is no type: {error}"))?;
    let (mut nullable, mut default, mut after) = (true, None, PlaceJson::Last);
    while let Some(word) = words.next() {
        match word.to_ascii_lowercase().as_str() {
            "not" if words.next().is_some_and(|word| word.eq_ignore_ascii_case("null")) => nullable = false,
            "default" => default = Some(literal(words.next().ok_or("a default is a JSON value")?)),
            "first" => after = PlaceJson::First,
            "after" => after = PlaceJson::After(words.next().ok_or("after which column?")?.to_owned()),
            _ => return Err(format!("`{word}` is not understood: {FORM}")),
        }
    }
    Ok(SchemaChangeJson::Add { id: None, name, field_type, nullable, default, doc: None, after })
}

/// `OLD=NEW`
pub(super) fn rename(text: &str) -> Result<SchemaChangeJson, String> {
    let mut quoted = false;
    let at = text.find(|character| {
        quoted ^= character == '"';
        character == '=' && !quoted
    });
    match at.and_then(|at| Some((text.get(..at)?, text.get(at + 1..)?))) {
        Some((column, to)) if !column.is_empty() && !to.is_empty() => {
            Ok(SchemaChangeJson::Rename { column: column.to_owned(), to: unquoted(to)? })
        }
        _ => Err("a rename is OLD=NEW".to_owned()),
    }
}

/// A name as the API takes it, which is no path: the quotes around one that a path would need them for are not of it, and a
/// doubled one within is one.
fn unquoted(name: &str) -> Result<String, String> {
    let Some(quoted) = name.strip_prefix('"') else { return Ok(name.to_owned()) };
    let inner = quoted.strip_suffix('"').map(|inner| inner.replace("\"\"", "\0"));
    match inner {
        Some(inner) if !inner.is_empty() && !inner.contains('"') => Ok(inner.replace('\0', "\"")),
        _ => Err(format!("the quotes of `{name}` are wrong")),
    }
}

/// `COLUMN`
#[expect(clippy::unnecessary_wraps, reason = "it is one of the readers, and others can fail")]
pub(super) fn drop(text: &str) -> Result<SchemaChangeJson, String> {
    Ok(SchemaChangeJson::Drop { column: text.to_owned() })
}

/// `COLUMN TYPE`
pub(super) fn widen(text: &str) -> Result<SchemaChangeJson, String> {
    let mut words = Words(text);
    match (words.next(), words.next(), words.next()) {
        (Some(column), Some(to), None) => Ok(SchemaChangeJson::Widen { column: column.to_owned(), to: to.to_owned() }),
        _ => Err("a wider type is given as 'COLUMN TYPE'".to_owned()),
    }
}

/// `COLUMN`
#[expect(clippy::unnecessary_wraps, reason = "it is one of the readers, and others can fail")]
pub(super) fn make_nullable(text: &str) -> Result<SchemaChangeJson, String> {
    Ok(SchemaChangeJson::MakeNullable { column: text.to_owned() })
}

/// `COLUMN after OTHER`, or `COLUMN first`
pub(super) fn move_column(text: &str) -> Result<SchemaChangeJson, String> {
    const FORM: &str = "a move is 'COLUMN after OTHER' or 'COLUMN first'";
    let mut words = Words(text);
    let column = words.next().ok_or(FORM)?.to_owned();
    let after = match (words.next(), words.next(), words.next()) {
        (Some("first"), None, None) => PlaceJson::First,
        (Some("after"), Some(other), None) => PlaceJson::After(other.to_owned()),
        _ => return Err(FORM.to_owned()),
    };
    Ok(SchemaChangeJson::Move { column, after })
}

/// JSON, or else text: a default of `x` need not be quoted once more in a shell.
fn literal(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// The words of a text; spaces in quotes and brackets do not end one.
struct Words<'t>(&'t str);

impl<'t> Words<'t> {
    fn next(&mut self) -> Option<&'t str> {
        let rest = self.0.trim_start();
        let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
        let end = rest.find(|character: char| {
            match character {
                '\\' if quoted && !escaped => {
                    escaped = true;
                    return false;
                }
                '"' if !escaped => quoted = !quoted,
                '(' | '[' | '{' if !quoted => depth += 1,
                ')' | ']' | '}' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            escaped = false;
            character.is_whitespace() && depth == 0 && !quoted
        });
        let (word, rest) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(change: Result<SchemaChangeJson, String>) -> String {
        change.map_or_else(|fault| fault, |change| serde_json::to_string(&change).unwrap())
    }

    #[test]
    fn a_new_column_has_type_default_and_place() {
        for (text, expected) in [
            ("a int32", r#"{"op":"add","name":"a","type":"int32","nullable":true}"#),
            (
                "\"a b\" decimal(9, 2) not null default 1.5 after x",
                r#"{"op":"add","name":"\"a b\"","type":"decimal(9, 2)","nullable":false,"default":1.5,"after":"x"}"#,
            ),
            (
                "s string default \"a b\" first",
                r#"{"op":"add","name":"s","type":"string","nullable":true,"default":"a b","after":null}"#,
            ),
            ("s string DEFAULT x", r#"{"op":"add","name":"s","type":"string","nullable":true,"default":"x"}"#),
            (
                "l {\"type\": \"list\", \"element\": \"int8\"} first",
                r#"{"op":"add","name":"l","type":{"type":"list","element":"int8"},"nullable":true,"after":null}"#,
            ),
        ] {
            assert_eq!(json(add(text)), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_new_column_is_told_with_its_form() {
        for text in ["", "a", "a int32 nullable", "a int32 not", "a int32 after", "a int32 default", "a {\"type\": 1}"]
        {
            assert!(add(text).is_err(), "{text}");
        }
        assert!(json(add("a int32 nullable")).starts_with("`nullable` is not understood: a new column is 'NAME TYPE"));
    }

    #[test]
    fn names_of_a_rename_may_hold_an_equals_sign_in_quotes() {
        assert_eq!(json(rename("a=b")), r#"{"op":"rename","column":"a","to":"b"}"#);
        assert_eq!(json(rename("\"x=y\"=z")), r#"{"op":"rename","column":"\"x=y\"","to":"z"}"#);
        assert_eq!(json(rename("id=\"x y\"")), r#"{"op":"rename","column":"id","to":"x y"}"#);
        assert_eq!(json(rename("id=\"a=\"\"b\"")), r#"{"op":"rename","column":"id","to":"a=\"b"}"#);
        for text in ["id=\"x", "id=\"\"", "id=\"x\"y\""] {
            assert!(json(rename(text)).ends_with("are wrong"), "{text}");
        }
        for text in ["a", "=b", "a=", ""] {
            assert_eq!(json(rename(text)), "a rename is OLD=NEW", "{text}");
        }
    }

    #[test]
    fn other_changes_are_read() {
        assert_eq!(json(widen("a.b decimal(12, 2)")), r#"{"op":"widen","column":"a.b","type":"decimal(12, 2)"}"#);
        assert_eq!(json(move_column("a first")), r#"{"op":"move","column":"a","after":null}"#);
        assert_eq!(json(move_column("a after b")), r#"{"op":"move","column":"a","after":"b"}"#);
        for text in ["a", "a before b", "a after", "a first b", ""] {
            assert_eq!(json(move_column(text)), "a move is 'COLUMN after OTHER' or 'COLUMN first'", "{text}");
        }
        for text in ["a", "a int64 x"] {
            assert_eq!(json(widen(text)), "a wider type is given as 'COLUMN TYPE'", "{text}");
        }
    }
}
