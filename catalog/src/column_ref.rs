//! Columns as clients name them where names are keys: by name, by dotted path, or by `#id`.

use prunus_pruner::nearest;
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

/// What is wrong with a key that [`find`] finds no column for, with the column that was probably meant. `items` are what lies in
/// lists and maps, where that is none of the columns.
pub(crate) fn unknown(key: &str, columns: &[LeafColumn], items: &[LeafColumn]) -> String {
    if find(items, key).is_some() {
        return format!("column `{key}` lies in a list or map and is not one value per row");
    }
    let parts = parts(key).unwrap_or_default();
    let is_in_it = |leaf: &&LeafColumn| leaf.path.len() > parts.len() && leaf.path.starts_with(&parts);
    if let Some(leaf) = columns.iter().chain(items).find(is_in_it).filter(|_| !parts.is_empty()) {
        return format!("column `{key}` is nested; what is in it is named like `{}`", self::key(&leaf.path));
    }
    let keys: Vec<String> = columns.iter().map(|leaf| self::key(&leaf.path)).collect();
    unknown_name(key, keys.iter().map(String::as_str))
}

/// That there is no column of this name, with the one that was probably meant.
pub(crate) fn unknown_name<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let suggestion = nearest(name, names).map(|name| format!(", did you mean `{name}`?"));
    format!("unknown column `{name}`{}", suggestion.unwrap_or_default())
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

/// The names of a column key that is no id, from the top down; `None` if its quotes are wrong.
pub fn parts(key: &str) -> Option<Vec<String>> {
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

    fn column(id: i32, path: &[&str]) -> LeafColumn {
        LeafColumn {
            id: FieldId(id),
            path: path.iter().map(|part| (*part).to_owned()).collect(),
            column_type: PrimitiveType::Int32,
            default: None,
            required: false,
        }
    }

    #[test]
    fn a_key_of_no_column_says_why() {
        let columns = [column(1, &["amount"]), column(2, &["place", "city"])];
        let items = [column(3, &["tags", "element"])];
        let check = |key: &str, expected: &str| assert_eq!(unknown(key, &columns, &items), expected);
        check("amont", "unknown column `amont`, did you mean `amount`?");
        check("place.citi", "unknown column `place.citi`, did you mean `place.city`?");
        check("place", "column `place` is nested; what is in it is named like `place.city`");
        check("tags", "column `tags` is nested; what is in it is named like `tags.element`");
        check("tags.element", "column `tags.element` lies in a list or map and is not one value per row");
        check("#9", "unknown column `#9`");
        check("\"a", "unknown column `\"a`");
    }

    #[test]
    fn a_column_is_found_by_its_key() {
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
