//! Partition values written into paths: `.../year=2024/country=de/part-0.parquet`.

use percent_encoding::percent_decode_str;

/// What Hive writes for null.
const NULL_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// The `key=value` segments of the folders of a path below its table's location, in order; a value of `None` is null. Keys
/// and values are percent-decoded. What decodes to no UTF-8 is passed over: it cannot be the name of a column.
pub(crate) fn partition_segments(below_location: &str) -> Vec<(String, Option<String>)> {
    let Some((folders, _file)) = below_location.rsplit_once('/') else { return Vec::new() };
    folders
        .split('/')
        .filter_map(|segment| {
            let (key, value) = segment.split_once('=')?;
            let decode = |text: &str| percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned);
            let value = if value == NULL_VALUE { None } else { Some(decode(value)?) };
            Some((decode(key)?, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_folders_are_read() {
        let owned = |key: &str, value: Option<&str>| (key.to_owned(), value.map(str::to_owned));
        assert_eq!(
            partition_segments("year=2024/plain/c=a%2Fb=c/d=__HIVE_DEFAULT_PARTITION__/e=/f=1.parquet"),
            [owned("year", Some("2024")), owned("c", Some("a/b=c")), owned("d", None), owned("e", Some(""))]
        );
        assert_eq!(partition_segments("year=2024.parquet"), []);
        assert_eq!(partition_segments("x=%ff/a.parquet"), []);
    }
}
