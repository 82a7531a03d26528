//! Partition values written into paths: `.../year=2024/country=de/part-0.parquet`.

use percent_encoding::percent_decode_str;

/// What Hive writes for null.
const NULL_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// A value of a partition folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FolderValue {
    /// What Hive writes for null.
    Null,
    /// The text, decoded.
    Text(String),
    /// What decodes to no UTF-8.
    Undecodable,
}

/// The `key=value` segments of the folders of a path, in order, percent-decoded. A key that decodes to no UTF-8 is passed over:
/// it cannot be the name of a column.
pub(crate) fn partition_segments(path: &str) -> Vec<(String, FolderValue)> {
    let Some((folders, _file)) = path.rsplit_once('/') else { return Vec::new() };
    let decode = |text: &str| percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned);
    folders
        .split('/')
        .filter_map(|segment| {
            let (key, value) = segment.split_once('=')?;
            let value = if value == NULL_VALUE {
                FolderValue::Null
            } else {
                decode(value).map_or(FolderValue::Undecodable, FolderValue::Text)
            };
            Some((decode(key)?, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_folders_are_read() {
        let owned = |key: &str, value: Option<&str>| {
            (key.to_owned(), value.map_or(FolderValue::Null, |value| FolderValue::Text(value.to_owned())))
        };
        assert_eq!(
            partition_segments("year=2024/plain/c=a%2Fb=c/d=__HIVE_DEFAULT_PARTITION__/e=/f=1.parquet"),
            [owned("year", Some("2024")), owned("c", Some("a/b=c")), owned("d", None), owned("e", Some(""))]
        );
        assert_eq!(partition_segments("year=2024.parquet"), []);
        assert_eq!(partition_segments("x=%ff/a.parquet"), [("x".to_owned(), FolderValue::Undecodable)]);
    }
}
