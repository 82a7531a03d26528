//! Which bounds of which writer are false although the footer looks right.
//!
//! A second net: these faults were found in files of released writers, and such a list can only grow. It is read leniently,
//! and a version that cannot be read is taken as older than every fix. Writers whose faults cannot reach a bound here are
//! not listed: deprecated fields and exactness flags are never used, and a bound that is NaN is dropped whoever wrote it.

use prunus_statistics::PrimitiveType;

use super::file_schema::FileLeaf;
use super::leaf_type::StoredType;

/// The program that wrote a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'a> {
    created_by: Option<&'a str>,
    name: &'a str,
    version: Option<Version>,
}

/// Three numbers, and whether this is the release and not something before it. The order of the fields is their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    numbers: [u32; 3],
    is_release: bool,
}

/// Bounds of a writer that are not to be used.
struct Rule {
    writer: &'static str,
    /// The first version that gets them right, if one is known.
    fixed_in: Option<[u32; 3]>,
    distrusted: fn(&FileLeaf) -> bool,
}

const RULES: [Rule; 12] = [
    // Every order was the signed one, and before 1.8 byte strings went wrong altogether (PARQUET-251, PARQUET-297).
    rule("parquet-mr", Some([1, 10, 0]), is_not_signed),
    rule("parquet-cpp", Some([1, 3, 0]), is_not_signed),
    // It searched minimum and maximum pairwise: a value beside a NaN was lost, and no bound shows it (PARQUET-1225, which
    // only cured NaNs at either end). Its successor, parquet-cpp-arrow, does not.
    rule("parquet-cpp", None, is_float),
    // Unsigned integers compared as signed (0.20), decimals as bytes (1.12 to 1.33). Polars does not write its version.
    rule("Polars", Some([2, 1, 0]), |leaf| is_unsigned(leaf) || is_fixed_decimal(leaf)),
    rule("ClickHouse", Some([25, 8, 0]), is_fixed_decimal),
    rule("parquet-rs", Some([5, 2, 0]), is_not_signed),
    rule("parquet-rs", Some([60, 1, 0]), is_byte_array_decimal),
    // Shifted by the writer's zone.
    rule("Parquet.Net", None, is_temporal),
    // A UUID's text for its bytes, truncated upper bounds that were not rounded up, decimals in a wrong representation.
    rule("hyparquet", Some([0, 17, 0]), |leaf| is_bytes(leaf) || is_decimal(leaf)),
    rule("hyparquet-writer", Some([0, 17, 0]), |leaf| is_bytes(leaf) || is_decimal(leaf)),
    // Two writers go by this name.
    rule("parquet-go", None, is_unsigned),
    // No name at all.
    rule("", None, is_not_signed),
];

const fn rule(writer: &'static str, fixed_in: Option<[u32; 3]>, distrusted: fn(&FileLeaf) -> bool) -> Rule {
    Rule { writer, fixed_in, distrusted }
}

impl<'a> Writer<'a> {
    /// Reads what a program calls itself: `name version 1.2.3 (build x)`, `name v1.2.3` or just a name.
    pub(super) fn parse(created_by: Option<&'a str>) -> Self {
        let text = created_by.unwrap_or_default();
        let (name, version) = match text.split_once(" version") {
            Some((name, version)) => (name, Version::parse(version)),
            None => match text.rsplit_once(' ').map(|(name, last)| (name, Version::parse(last))) {
                Some((name, version @ Some(_))) => (name, version),
                _ => (text, None),
            },
        };
        Self { created_by, name: name.trim(), version }
    }

    pub(super) fn created_by(&self) -> Option<&'a str> {
        self.created_by
    }

    /// Whether no rule speaks against this writer's bounds of such a leaf.
    pub(super) fn is_trusted_with(&self, leaf: &FileLeaf) -> bool {
        !RULES.iter().any(|rule| {
            rule.writer.eq_ignore_ascii_case(self.name) && !self.is_fixed(rule.fixed_in) && (rule.distrusted)(leaf)
        })
    }

    fn is_fixed(&self, fixed_in: Option<[u32; 3]>) -> bool {
        match (self.version, fixed_in) {
            (Some(version), Some(numbers)) => version >= Version { numbers, is_release: true },
            _ => false,
        }
    }
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start();
        let mut rest = text.strip_prefix('v').unwrap_or(text);
        let mut numbers = [0; 3];
        for (index, number) in numbers.iter_mut().enumerate() {
            let after_point = if index == 0 { Some(rest) } else { rest.strip_prefix('.') };
            let Some((digits, after)) = after_point.and_then(split_digits) else {
                if index == 0 {
                    return None;
                }
                break;
            };
            *number = digits.parse().ok()?;
            rest = after;
        }
        Some(Self { numbers, is_release: rest.is_empty() || rest.starts_with(['.', ' ', '(']) })
    }
}

fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())
}

fn is_bytes(leaf: &FileLeaf) -> bool {
    matches!(leaf.stored, StoredType::ByteArray | StoredType::Fixed(_))
}

fn is_float(leaf: &FileLeaf) -> bool {
    leaf.column_type.is_some_and(PrimitiveType::is_float)
}

fn is_unsigned(leaf: &FileLeaf) -> bool {
    use PrimitiveType as T;
    matches!(leaf.column_type, Some(T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64))
}

fn is_not_signed(leaf: &FileLeaf) -> bool {
    is_bytes(leaf) || is_unsigned(leaf)
}

fn is_decimal(leaf: &FileLeaf) -> bool {
    matches!(leaf.column_type, Some(PrimitiveType::Decimal { .. }))
}

fn is_fixed_decimal(leaf: &FileLeaf) -> bool {
    is_decimal(leaf) && matches!(leaf.stored, StoredType::Fixed(_))
}

fn is_byte_array_decimal(leaf: &FileLeaf) -> bool {
    is_decimal(leaf) && leaf.stored == StoredType::ByteArray
}

fn is_temporal(leaf: &FileLeaf) -> bool {
    use PrimitiveType as T;
    matches!(leaf.column_type, Some(T::Date | T::Time(_) | T::Timestamp(_) | T::Timestamptz(_)))
}

#[cfg(test)]
mod tests {
    use super::super::annotation::Annotation;
    use super::super::test_footer::test_leaf;
    use super::*;

    fn check(created_by: &str, leaf: &FileLeaf, trusted: bool) {
        assert_eq!(Writer::parse(Some(created_by)).is_trusted_with(leaf), trusted, "{created_by}");
    }

    #[test]
    fn a_writer_is_read_leniently() {
        let parsed = |text| {
            let writer = Writer::parse(Some(text));
            (writer.name, writer.version.map(|version| (version.numbers, version.is_release)))
        };
        assert_eq!(parsed("parquet-mr version 1.13.1 (build db418)"), ("parquet-mr", Some(([1, 13, 1], true))));
        assert_eq!(parsed("parquet-mr version 1.8.0-SNAPSHOT"), ("parquet-mr", Some(([1, 8, 0], false))));
        assert_eq!(parsed("parquet-mr-trino version 481 (build n/a)"), ("parquet-mr-trino", Some(([481, 0, 0], true))));
        assert_eq!(parsed("DuckDB version v2.0.1 (build 8d)"), ("DuckDB", Some(([2, 0, 1], true))));
        assert_eq!(parsed("ClickHouse v24.8.4.1-lts"), ("ClickHouse", Some(([24, 8, 4], true))));
        assert_eq!(parsed("parquet-cpp version(..151-SNAPSHOT"), ("parquet-cpp", None));
        assert_eq!(parsed("Polars"), ("Polars", None));
        assert_eq!(parsed("parquet-mr"), ("parquet-mr", None));
        assert_eq!(parsed("parquet-mr version 99999999999.1"), ("parquet-mr", None));
        assert_eq!(parsed(""), ("", None));
    }

    #[test]
    fn strings_of_old_parquet_mr_are_not_trusted() {
        let string = test_leaf(StoredType::ByteArray, Annotation::String);
        check("parquet-mr version 1.7.0 (build 1.7.0)", &string, false);
        check("parquet-mr version 1.10.0-SNAPSHOT", &string, false);
        check("parquet-mr", &string, false);
        check("parquet-mr version 1.10.0 (build a89)", &string, true);
        check("parquet-mr-trino version 481 (build n/a)", &string, true);
        check("parquet-mr version 1.7.0", &test_leaf(StoredType::Int64, Annotation::Plain), true);
    }

    #[test]
    fn what_no_one_signed_is_trusted_with_signed_orders_only() {
        let no_one = Writer::parse(None);
        assert!(!no_one.is_trusted_with(&test_leaf(StoredType::ByteArray, Annotation::Plain)));
        assert!(
            !no_one.is_trusted_with(&test_leaf(StoredType::Int32, Annotation::Integer { bits: 32, signed: false }))
        );
        assert!(no_one.is_trusted_with(&test_leaf(StoredType::Double, Annotation::Plain)));
    }

    #[test]
    fn decimals_of_some_writers_are_not_trusted() {
        let decimal = Annotation::Decimal { precision: 9, scale: 2 };
        let fixed = test_leaf(StoredType::Fixed(4), decimal);
        check("Polars", &fixed, false);
        check("ClickHouse v24.8.4.1-lts", &fixed, false);
        check("ClickHouse v25.8.1.1-lts", &fixed, true);
        check("Polars", &test_leaf(StoredType::Int32, decimal), true);
        let byte_array = test_leaf(StoredType::ByteArray, decimal);
        check("parquet-rs version 58.4.1", &byte_array, false);
        check("parquet-rs version 60.1.0", &byte_array, true);
        check("parquet-rs version 58.4.1", &fixed, true);
    }

    #[test]
    fn unsigned_integers_of_some_writers_are_not_trusted() {
        let unsigned = test_leaf(StoredType::Int64, Annotation::Integer { bits: 64, signed: false });
        check("Polars", &unsigned, false);
        check("parquet-go version latest", &unsigned, false);
        check("parquet-cpp version(..151-SNAPSHOT", &unsigned, false);
        check("parquet-cpp-arrow version 26.0.1", &unsigned, true);
    }

    #[test]
    fn floats_of_parquet_cpp_are_not_trusted() {
        let float = test_leaf(StoredType::Double, Annotation::Plain);
        check("parquet-cpp version 1.3.2-SNAPSHOT", &float, false);
        check("parquet-cpp version 1.5.1-SNAPSHOT", &float, false);
        check("parquet-cpp-arrow version 3.0.0", &float, true);
        check("parquet-cpp version 1.5.1-SNAPSHOT", &test_leaf(StoredType::Int64, Annotation::Plain), true);
    }

    #[test]
    fn timestamps_of_parquet_net_are_not_trusted() {
        let unit = prunus_statistics::TimeUnit::Millisecond;
        check(
            "Parquet.Net version 6.0.3",
            &test_leaf(StoredType::Int64, Annotation::Timestamp { unit, utc: false }),
            false,
        );
        check("Parquet.Net version 6.0.3", &test_leaf(StoredType::Int64, Annotation::Plain), true);
    }
}
