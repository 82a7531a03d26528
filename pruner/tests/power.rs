//! That pruning prunes: what the rules say can be proven is proven. The expected verdicts are those of the rules.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

use prunus_pruner::{BindOptions, BoundPredicate, Column, NanOrder, Predicate, PruningProgram, Verdict};
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FieldId, FileColumn, Precision, Provenance, SessionZone, ZoneMap, parse_value,
};

#[path = "support/zones.rs"]
mod zones;

use Verdict::{All, None as Skip, Some as Keep};

/// What is known of the column `x`.
#[derive(Clone, Copy, Debug)]
struct Known {
    column_type: &'static str,
    rows: Option<u64>,
    nulls: Option<u64>,
    nans: Option<u64>,
    min: Option<&'static str>,
    max: Option<&'static str>,
    absent: bool,
}

/// A column of which nothing is known but its type, in a file of ten rows.
fn of(column_type: &'static str) -> Known {
    Known { column_type, rows: Some(10), nulls: None, nans: None, min: None, max: None, absent: false }
}

/// An int32 column without nulls.
fn int(min: &'static str, max: &'static str) -> Known {
    of("int32").between(min, max).nulls(0)
}

/// A float64 column without nulls, whose NaNs were not counted.
fn float(min: &'static str, max: &'static str) -> Known {
    of("float64").between(min, max).nulls(0)
}

impl Known {
    fn between(self, min: &'static str, max: &'static str) -> Self {
        Self { min: Some(min), max: Some(max), ..self }
    }
    fn from(self, min: &'static str) -> Self {
        Self { min: Some(min), ..self }
    }
    fn to(self, max: &'static str) -> Self {
        Self { max: Some(max), ..self }
    }
    fn nulls(self, nulls: u64) -> Self {
        Self { nulls: Some(nulls), ..self }
    }
    fn nans(self, nans: u64) -> Self {
        Self { nans: Some(nans), ..self }
    }
    fn rows(self, rows: Option<u64>) -> Self {
        Self { rows, ..self }
    }
    fn nulls_unknown(self) -> Self {
        Self { nulls: None, ..self }
    }
    fn absent(self) -> Self {
        Self { absent: true, ..self }
    }

    fn zone(self) -> ZoneMap {
        let column_type = self.column_type.parse().unwrap();
        let provenance = Provenance::Footer;
        let bound = |text: &str| Bound {
            value: parse_value(text, column_type).unwrap(),
            precision: Precision::Bound,
            provenance,
        };
        let count = |value| Count { value, provenance };
        let column = FileColumn::Present(ColumnStatistics {
            min: self.min.map(bound),
            max: self.max.map(bound),
            null_count: self.nulls.map(count),
            nan_count: self.nans.map(count),
        });
        ZoneMap::of_file(Some(if self.absent { &FileColumn::Absent } else { &column }), column_type, self.rows)
    }
}

fn verdict(filter: &str, known: Known, nan_order: NanOrder) -> Verdict {
    let columns = [Column {
        id: FieldId(1),
        path: vec!["x".to_owned()],
        column_type: Some(known.column_type.parse().unwrap()),
        items: Vec::new(),
    }];
    let predicate = Predicate::parse_sql(filter).unwrap();
    let options = BindOptions { nan_order, zone: SessionZone::Unknown };
    let bound =
        BoundPredicate::bind(&predicate, &columns, &options).unwrap_or_else(|faults| panic!("{filter}: {faults:?}"));
    let maps = zones::zone_maps(&columns, &[known.rows], &[vec![known.zone()]]);
    PruningProgram::compile(bound).evaluate(&maps).verdict(0)
}

#[track_caller]
fn check(filter: &str, known: Known, expected: Verdict) {
    check_in(NanOrder::Any, filter, known, expected);
}

#[track_caller]
fn check_in(nan_order: NanOrder, filter: &str, known: Known, expected: Verdict) {
    assert_eq!(verdict(filter, known, nan_order), expected, "{filter} on {known:?} under {nan_order:?}");
}

#[test]
fn comparisons_go_by_the_bounds() {
    for (filter, verdicts) in [
        // On 1..2, 2..5, 5..5, 5..9, 7..9.
        ("x = 5", [Skip, Keep, All, Keep, Skip]),
        ("x <> 5", [All, Keep, Skip, Keep, All]),
        ("x < 5", [All, Keep, Skip, Skip, Skip]),
        ("x <= 5", [All, All, All, Keep, Skip]),
        ("x > 5", [Skip, Skip, Skip, Keep, All]),
        ("x >= 5", [Skip, Keep, All, All, All]),
        ("5 > x", [All, Keep, Skip, Skip, Skip]),
        ("5 = x", [Skip, Keep, All, Keep, Skip]),
        ("5 <= x", [Skip, Keep, All, All, All]),
        ("NOT x < 5", [Skip, Keep, All, All, All]),
        ("NOT (x = 5)", [All, Keep, Skip, Keep, All]),
    ] {
        for (bounds, expected) in [("1", "2"), ("2", "5"), ("5", "5"), ("5", "9"), ("7", "9")].into_iter().zip(verdicts)
        {
            check(filter, int(bounds.0, bounds.1), expected);
        }
    }
}

#[test]
fn one_known_bound_is_enough() {
    check("x < 5", of("int32").from("5"), Skip);
    check("x = 5", of("int32").from("6"), Skip);
    check("x > 5", of("int32").to("5"), Skip);
    check("x > 5", of("int32").from("6").nulls(0), All);
    check("x IN (1, 2)", of("int32").from("3"), Skip);
    check("x = 5", of("int32"), Keep);
}

#[test]
fn the_decision_table_of_nulls_and_bounds() {
    let (ten, unknown) = (Some(10), None);
    let no_bounds = of("int32");
    let low = no_bounds.between("1", "4");
    for (known, equals, null, not_null, strict) in [
        (no_bounds.rows(ten).nulls(10), Skip, All, Skip, Skip),
        (low.rows(ten).nulls(0), Skip, Skip, All, All),
        (low.rows(ten).nulls(3), Skip, Keep, Keep, Keep),
        (no_bounds.rows(ten).nulls(3), Keep, Keep, Keep, Keep),
        (no_bounds.rows(ten).nulls(0), Keep, Skip, All, Keep),
        (low.rows(ten), Skip, Keep, Keep, Keep),
        (low.rows(unknown).nulls(0), Skip, Skip, All, All),
        (no_bounds.rows(unknown).nulls(5), Keep, Keep, Keep, Keep),
        (low.rows(Some(0)), Skip, Skip, Skip, Skip),
        (no_bounds.absent(), Skip, All, Skip, Skip),
        (no_bounds.rows(unknown).absent(), Skip, All, Skip, Skip),
    ] {
        check("x = 5", known, equals);
        check("x IS NULL", known, null);
        check("x IS NOT NULL", known, not_null);
        check("x < 5", known, strict);
    }
}

#[test]
fn lists_are_probed_in_their_gaps() {
    let gap = int("3", "8");
    check("x IN (1, 2, 9)", gap, Skip);
    check("x IN (1, 8)", gap, Keep);
    check("x NOT IN (1, 2, 9)", gap, All);
    check("x IN (1, 2, 3)", int("1", "3"), All);
    check("x NOT IN (1, 2, 3)", int("1", "3"), Skip);
    check("x NOT IN (1, 3)", int("1", "3"), Keep);
    check("x IN (1, 7)", int("7", "7"), All);
    check("x NOT IN (1, 7)", int("7", "7"), Skip);
    check("x NOT IN (1, 7)", int("7", "7").nulls_unknown(), Skip);
    check("x IN ('a', 'c')", of("string").between("b", "bz"), Skip);
    let many: Vec<String> = (0..5000).map(|value| (2 * value).to_string()).collect();
    check(&format!("x IN ({})", many.join(", ")), int("4001", "4001"), Skip);
    check(&format!("x NOT IN ({})", many.join(", ")), int("4002", "4002"), Skip);
}

#[test]
fn a_null_in_a_list_never_matches_and_leaves_no_false() {
    check("x IN (5, NULL)", int("6", "9"), Skip);
    check("x IN (5, NULL)", int("5", "5"), All);
    check("x IN (NULL)", int("5", "5"), Skip);
    check("x NOT IN (5, NULL)", int("6", "9"), Skip);
    check("x NOT IN (NULL)", int("6", "9"), Skip);
    check("NOT (x IN (5, NULL))", int("6", "9"), Skip);
    check("(x IN (5, NULL)) IS UNKNOWN", int("6", "9"), All);
}

#[test]
fn null_tests_go_by_counts() {
    check("x IS NULL", int("1", "2"), Skip);
    check("x IS NULL", of("int32").nulls(10), All);
    check("x IS NULL", of("int32").nulls(3), Keep);
    check("x IS NOT NULL", of("int32").nulls(10), Skip);
    check("x IS NOT NULL", of("float64").nulls(0), All);
    check("(x > 5) IS NULL", int("1", "9"), Skip);
    check("(x > 5) IS NOT NULL", int("1", "9"), All);
    check("(x > 5) IS NULL", of("int32").nulls(10), All);
    check("NULL IS NULL", int("1", "9"), All);
}

#[test]
fn truth_tests_go_by_sets_of_outcomes() {
    let nulls = int("1", "9").nulls(3);
    check("(x > 10) IS TRUE", nulls, Skip);
    check("(x > 10) IS NOT TRUE", nulls, All);
    check("(x < 10) IS NOT TRUE", int("1", "9"), Skip);
    check("(x < 10) IS NOT TRUE", nulls, Keep);
    check("(x < 10) IS FALSE", nulls, Skip);
    check("(x < 10) IS NOT FALSE", nulls, All);
    check("(x > 10) IS FALSE", nulls, Keep);
    check("(x > 10) IS FALSE", int("1", "9"), All);
    check("(x > 10) IS UNKNOWN", int("1", "9"), Skip);
    check("(x > 10) IS UNKNOWN", nulls, Keep);
    check("(x > 10) IS NOT UNKNOWN", of("int32").nulls(10), Skip);
    check("NOT ((x > 10) IS NOT TRUE)", nulls, Skip);
}

#[test]
fn distinctness_sees_nulls() {
    check("x IS DISTINCT FROM 5", int("5", "5"), Skip);
    check("x IS DISTINCT FROM 5", int("5", "5").nulls_unknown(), Keep);
    check("x IS DISTINCT FROM 5", int("6", "9").nulls(3), All);
    check("x IS NOT DISTINCT FROM 5", int("6", "9").nulls(3), Skip);
    check("x IS NOT DISTINCT FROM 5", int("5", "5"), All);
    check("x IS NOT DISTINCT FROM NULL", int("5", "5"), Skip);
    check("x IS NOT DISTINCT FROM NULL", of("int32").nulls(10), All);
    check("x IS DISTINCT FROM NULL", of("int32").nulls(10), Skip);
    check("NULL IS DISTINCT FROM x", int("5", "5"), All);
    check("x IS DISTINCT FROM 5 AND x < 5", int("6", "9"), Skip);
}

#[test]
fn connectives_combine_what_is_proven() {
    check("x > 9 OR x < 1", int("1", "9"), Skip);
    check("x > 8 OR x < 1", int("1", "9"), Keep);
    check("x > 5 OR x > 0", int("1", "9"), All);
    check("NOT (x > 0 AND x < 10)", int("1", "9"), Skip);
    check("NOT (x > 9 OR x < 1)", int("1", "9"), All);
    check("x > 9 AND lower(x) = 'a'", int("1", "9"), Skip);
    check("x > 0 AND lower(x) = 'a'", int("1", "9"), Keep);
    check("x > 0 OR lower(x) = 'a'", int("1", "9"), All);
    check("NOT (x > 0 OR lower(x) = 'a')", int("1", "9"), Skip);
    check("x > 9 OR lower(x) = 'a'", int("1", "9"), Keep);
}

#[test]
fn ranges_that_exclude_each_other_never_hold() {
    check("x > 5 AND x < 3", int("1", "9"), Skip);
    check("x = 5 AND x = 6", int("1", "9"), Skip);
    check("x BETWEEN 5 AND 3", int("1", "9"), Skip);
    check("x > 5 AND x <= 5", int("1", "9"), Skip);
    check("(x > 5 AND x < 3) OR x = 10", int("1", "9"), Skip);
    check("NOT (x > 5 AND x < 3)", int("1", "9"), All);
    check("NOT (x > 5 AND x < 3)", int("1", "9").nulls_unknown(), Keep);
    check("NOT (x > 5 AND x < 3)", of("int32").nulls(10), Skip);
    check("x NOT BETWEEN 5 AND 3", of("float64").nulls(0), All);
}

#[test]
fn between_is_both_its_ends() {
    check("x BETWEEN 3 AND 5", int("6", "9"), Skip);
    check("x BETWEEN 3 AND 5", int("3", "5"), All);
    check("x BETWEEN 3 AND 5", int("1", "4"), Keep);
    check("x NOT BETWEEN 3 AND 5", int("3", "5"), Skip);
    check("x NOT BETWEEN 3 AND 5", int("6", "9"), All);
    check("x BETWEEN NULL AND 5", int("1", "9"), Skip);
    check("x NOT BETWEEN NULL AND 5", int("6", "9"), All);
    check("5 BETWEEN x AND 9", int("6", "9"), Skip);
}

#[test]
fn booleans_alone_are_conditions() {
    let (no, yes) = (of("boolean").between("false", "false"), of("boolean").between("true", "true"));
    check("x", no, Skip);
    check("NOT x", yes, Skip);
    check("x", yes.nulls(0), All);
    check("x", yes.nulls(1), Keep);
    check("x", of("boolean").nulls(10), Skip);
    check("NOT x", of("boolean").nulls(10), Skip);
    check("x = FALSE", yes, Skip);
    check("x IS NOT TRUE", yes.nulls(0), Skip);
    check("x IN (TRUE, FALSE)", of("boolean").between("false", "true").nulls(0), All);
}

#[test]
fn a_nan_keeps_what_it_could_match() {
    let uncounted = float("1.0", "4.0");
    let (clean, some) = (uncounted.nans(0), uncounted.nans(2));
    for known in [uncounted, some] {
        check("x > 5", known, Keep);
        check("x >= 5", known, Keep);
        check("x < 0", known, Keep);
        check("x <> 5", known, All);
        check("x < 5", known, Keep);
        check("NOT (x <= 5)", known, Keep);
        check("x = 5", known, Skip);
        check("x IN (5, 6)", known, Skip);
        check("x NOT IN (5, 6)", known, All);
    }
    check("x > 5", clean, Skip);
    check("x < 0", clean, Skip);
    check("x < 5", clean, All);
    check("x <> 1", float("1.0", "1.0").nans(0), Skip);
    check("x <> 1", float("1.0", "1.0"), Keep);
    check("x = 1", float("1.0", "1.0"), Keep);
    check("x = 1", float("1.0", "1.0").nans(0), All);
    check("x NOT IN (1, 2)", float("1.0", "1.0").nans(0), Skip);
    check("x NOT IN (1, 2)", float("1.0", "1.0"), Keep);
    check("x = 1", of("float64").nulls(4).nans(6), Skip);
    check("x = 'NaN'", clean, Skip);
}

#[test]
fn a_known_order_of_nan_proves_more() {
    let uncounted = float("1.0", "4.0");
    check_in(NanOrder::Greatest, "x < 0", uncounted, Skip);
    check_in(NanOrder::Greatest, "x > 5", uncounted, Keep);
    check_in(NanOrder::Greatest, "x > 0", uncounted, All);
    check_in(NanOrder::Greatest, "x < 5", uncounted, Keep);
    check_in(NanOrder::Ieee, "x > 5", uncounted, Skip);
    check_in(NanOrder::Ieee, "x < 0", uncounted, Skip);
    check_in(NanOrder::Ieee, "x > 0", uncounted, Keep);
    check_in(NanOrder::Ieee, "NOT (x > 5)", uncounted, All);
}

#[test]
fn no_nan_lies_on_both_sides_of_a_range() {
    let uncounted = float("1.0", "4.0");
    check("x BETWEEN 5 AND 9", uncounted, Skip);
    check("x >= 5 AND x <= 9", uncounted, Skip);
    check("x > 5 AND 9 > x", uncounted, Skip);
    check("x BETWEEN -2 AND 0", uncounted, Skip);
    check("x NOT BETWEEN 0 AND 5", uncounted, Keep);
    check("x NOT BETWEEN 5 AND 9", uncounted, All);
    check("x BETWEEN 0 AND 5", uncounted, Keep);
    check("(x >= 5 AND x <= 9) OR (x >= -9 AND x <= 0)", uncounted, Skip);
}

#[test]
fn zeros_of_either_sign_are_one() {
    let zero = float("0.0", "0.0").nans(0);
    let negative_zero = float("-0.0", "-0.0").nans(0);
    for known in [zero, negative_zero] {
        check("x >= 0.0", known, All);
        check("x <= -0.0", known, All);
        check("x < 0", known, Skip);
        check("x > 0", known, Skip);
        check("x = 0", known, Keep);
        check("x <> 0", known, Keep);
        check("x NOT IN (0, 1)", known, Keep);
    }
    check("x = -0.0", float("1.0", "2.0"), Skip);
    check("x <> 0", float("1.0", "2.0"), All);
    check("x NOT IN (0, 5)", float("5.0", "5.0").nans(0), Skip);
    check("x IN (0, 5)", float("5.0", "5.0").nans(0), All);
}

#[test]
fn inexact_literals_take_the_looser_neighbour() {
    let tenth = of("float32").between("0.1", "0.1").nulls(0).nans(0);
    check("x = 0.1", tenth, Keep);
    check("x <> 0.1", tenth, Keep);
    check("x < 0.1", tenth, Skip);
    check("x > 0.1", tenth, Keep);
    check("x = 0.1", of("float32").between("0.2", "0.3"), Skip);
    let money = of("decimal(9,2)").nulls(0);
    check("x = 1.005", money.between("1.00", "1.00"), Keep);
    check("x = 1.005", money.between("1.02", "9.00"), Skip);
    check("x > 1.005", money.between("0.10", "1.00"), Skip);
    check("x > 1.005", money.between("1.02", "9.00"), All);
    check("x < 1.005", money.between("1.01", "9.00"), Skip);
    check("x <= 1.005", money.between("0.10", "0.99"), All);
}

#[test]
fn integers_and_fractions_compare_exactly() {
    check("x = 1.5", int("1", "2"), Skip);
    check("x <> 1.5", int("1", "2"), All);
    check("x > 1.5", int("0", "1"), Skip);
    check("x < 1.5", int("0", "1"), All);
    check("x >= 1.5", int("2", "9"), All);
    check("x <= 1.5", int("2", "9"), Skip);
    check("x IN (1.5, 7)", int("1", "2"), Skip);
}

#[test]
fn literals_beyond_the_type_fold() {
    check("x > 3000000000", of("int32"), Skip);
    check("x < 3000000000", of("int32").nulls(0), All);
    check("x < 3000000000", of("int32"), Keep);
    check("x = -1", of("uint64"), Skip);
    check("x >= -1", of("uint64").nulls(0), All);
    check("x IN (-1, 256)", of("uint8"), Skip);
    check("x > 100000000", of("decimal(9,2)"), Skip);
    check("x > 100000000", of("int32").nulls(10), Skip);
}

#[test]
fn values_compare_in_their_own_order() {
    check("x = 5.0", of("decimal(30,4)").between("5.0001", "9.0000"), Skip);
    check("x = 5", of("decimal(9,2)").between("5.00", "5.00").nulls(0), All);
    check("x > 2999999999", of("uint32").between("0", "2999999999"), Skip);
    check("x > 9223372036854775807", of("uint64").between("9223372036854775808", "18446744073709551615").nulls(0), All);
    check("x > 'z'", of("string").between("a", "é"), Keep);
    check("x > 'é'", of("string").between("a", "z"), Skip);
    check("x < X'80'", of("binary").between("80", "ff"), Skip);
    let uuids = of("uuid").between("80000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff");
    check("x < '7fffffff-ffff-ffff-ffff-ffffffffffff'", uuids, Skip);
}

#[test]
fn moments_compare_as_instants() {
    let day = of("date").between("2024-01-02", "2024-01-02").nulls(0);
    check("x < TIMESTAMP '2024-01-02 12:00:00'", day, Keep);
    check("x < TIMESTAMP '2024-01-02 00:00:00'", day, Skip);
    check("x > TIMESTAMP '2024-01-02 12:00:00'", day, Skip);
    check("x >= TIMESTAMP '2024-01-02 12:00:00'", day, Keep);
    check("x >= DATE '2024-01-02'", day, All);
    let milliseconds = of("timestamp(ms)").between("2024-01-01T00:00:00.000", "2024-01-01T00:00:00.004").nulls(0);
    check("x > TIMESTAMP '2024-01-01 00:00:00.0041'", milliseconds, Skip);
    check("x >= TIMESTAMP '2024-01-01 00:00:00.0039'", milliseconds, Keep);
    check("x < DATE '2024-01-02'", milliseconds, All);
    let zoned = of("timestamptz(us)").between("2024-01-01T00:00:00.000000Z", "2024-01-01T01:00:00.000000Z").nulls(0);
    check("x > TIMESTAMPTZ '2024-01-01 09:00:00+08:00'", zoned, Skip);
    check("x >= TIMESTAMPTZ '2024-01-01 08:00:00+08:00'", zoned, All);
    check("x > TIMESTAMP '2024-01-01 09:00:00'", zoned, Keep);
    check("x > TIMESTAMP '2024-01-02 09:00:00'", zoned, Skip);
}

#[test]
fn constants_fold() {
    let known = of("int32");
    check("TRUE", known, All);
    check("FALSE", known, Skip);
    check("NULL", known, Skip);
    check("NOT NULL", known, Skip);
    check("x = NULL", known, Skip);
    check("x <> NULL", known, Skip);
    check("NOT (x = NULL)", known, Skip);
    check("(x = NULL) IS UNKNOWN", known, All);
    check("x > 1 AND NULL", known, Skip);
    check("1 = 1", known, All);
    check("1 > 2", known, Skip);
    check("x > 1 OR 2 > 1", known, All);
    check("1 IN (2, 3)", known, Skip);
    check("1 BETWEEN 0 AND 3", known, All);
}

#[test]
fn empty_files_are_skipped() {
    for filter in ["TRUE", "x = 5", "x IS NULL", "(x = 5) IS NOT TRUE", "lower(x) = 'a'"] {
        check(filter, of("int32").rows(Some(0)), Skip);
    }
}

#[test]
fn a_pinned_value_needs_no_exact_bound() {
    check("x <> 'a'", of("string").between("a", "a"), Skip);
    check("x NOT IN ('a', 'b')", of("string").between("a", "a"), Skip);
    check("x IN ('a', 'b')", of("string").between("a", "a").nulls(0), All);
}

#[test]
fn bounds_that_contradict_prove_nothing() {
    check("x = 5", int("9", "1"), Keep);
    check("x < 7", of("float64").between("NaN", "NaN").nulls(0), Keep);
    check("x = 5", of("int32").between("6", "9").nulls(10), Skip);
    check("x IS NULL", of("int32").between("6", "9").nulls(10), Keep);
    check("x = 5", of("int32").between("0", "0").nulls(10), Skip);
}
