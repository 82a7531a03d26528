//! Columns as clients name them where names are keys: by name, by dotted path, or by `#id`.

use prunus_statistics::FieldId;

use crate::schema::LeafColumn;

/// The column that a key names: `#5`, a name, or a dotted path whose parts stand in double quotes where they hold a dot.
pub(crate) fn find<'a>(columns: &'a [LeafColumn], key: &str) -> Option<&'a LeafColumn> {
    if let Some(id) = key.strip_prefix('#').and_then(|digits| digits.parse().ok()) {
        return columns.iter().find(|column| column.id == FieldId(id));
    }
    let parts = parts(key)?;
    columns.iter().find(|column| column.path == parts)
}

/// A column's key: the inverse of [`find`].
pub(crate) fn key(path: &[String]) -> String {
    let quoted = |part: &String| {
        if part.is_empty() || part.contains(['.', '"']) || part.starts_with('#') {
            format!("\"{}\"", part.replace('"', "\"\""))
        } else {
            part.clone()
        }
    };
    path.iter().map(quoted).collect::<Vec<_>>().join(".")
}

/// The names of a key that is no id, from the top down; `None` if its quotes are wrong.
pub(crate) fn parts(key: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = key;
    loop {
        let (part, after) =
            if let Some(quoted) = rest.strip_prefix('"') { quoted_part(quoted)? } else { plain_part(rest) };
        parts.push(part);
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => return Some(parts),
            None => return None,
        }
    }
}

fn plain_part(text: &str) -> (String, &str) {
    let (part, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    (part.to_owned(), rest)
}

/// The text up to the closing quote, a doubled one being one of the text, and what follows.
fn quoted_part(text: &str) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        part.push_str(before);
        match after.strip_prefix('"') {
            Some(next) => {
                part.push('"');
                rest = next;
            }
            None => return Some((part, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prunus_statistics::PrimitiveType;

    #[test]
    fn a_column_is_found_by_its_key() {
        let column = |id, path: &[&str]| LeafColumn {
            id: FieldId(id),
            path: path.iter().map(|part| (*part).to_owned()).collect(),
            column_type: PrimitiveType::Int32,
            default: None,
            required: false,
        };
        let columns =
            [column(1, &["a"]), column(2, &["a.b"]), column(3, &["a", "b"]), column(4, &["q\"x"]), column(5, &[""])];
        for column in &columns {
            assert_eq!(find(&columns, &key(&column.path)), Some(column), "{}", key(&column.path));
        }
        assert_eq!(find(&columns, "#3").map(|column| column.id), Some(FieldId(3)));
        for unknown in ["A", "a.c", "\"a", "\"a\"b", "#9", "#x", "a."] {
            assert_eq!(find(&columns, unknown), None, "{unknown}");
        }
    }
}
