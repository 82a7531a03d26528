//! That value expressions prune: the expected verdicts are those of the rules.

use Verdict::{All, None as Skip, Some as Keep};
use prunus_pruner::{BindOptions, BoundPredicate, Column, Predicate, PruningProgram, Verdict};
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FieldId, FileColumn, Precision, Provenance, ZoneMap, parse_value,
};

use super::zones;

/// A column without nulls or NaNs, its type, and its bounds.
type Known = (&'static str, &'static str, &'static str, &'static str);

#[track_caller]
fn check(filter: &str, known: &[Known], expected: Verdict) {
    let column = |(id, known): (i32, &Known)| Column {
        id: FieldId(id),
        path: vec![known.0.to_owned()],
        column_type: Some(known.1.parse().unwrap()),
        items: Vec::new(),
    };
    let columns: Vec<Column> = (1..).zip(known).map(column).collect();
    let zone = |known: &Known| {
        let column_type = known.1.parse().unwrap();
        let bound = |text: &str| {
            let value = parse_value(text, column_type).unwrap();
            Some(Bound { value, precision: Precision::Bound, provenance: Provenance::Footer })
        };
        let none = Some(Count { value: 0, provenance: Provenance::Footer });
        let statistics =
            ColumnStatistics { min: bound(known.2), max: bound(known.3), null_count: none, nan_count: none };
        vec![ZoneMap::of_file(Some(&FileColumn::Present(statistics)), column_type, Some(10))]
    };
    let zone_maps: Vec<Vec<ZoneMap>> = known.iter().map(zone).collect();
    let predicate = Predicate::parse_sql(filter).unwrap();
    let bound = BoundPredicate::bind(&predicate, &columns, &BindOptions::default())
        .unwrap_or_else(|faults| panic!("{filter}: {faults:?}"));
    let maps = zones::zone_maps(&columns, &[Some(10)], &zone_maps);
    assert_eq!(PruningProgram::compile(bound).evaluate(&maps).verdict(0), expected, "{filter} on {known:?}");
}

#[test]
fn columns_are_held_against_each_other() {
    let known = [("x", "int32", "1", "5"), ("y", "int32", "5", "9"), ("d", "decimal(9,2)", "6.00", "9.50")];
    for (filter, expected) in [
        ("x > y", Skip),
        ("x <= y", All),
        ("x = y", Keep),
        ("x < d", All),
        ("x = d", Skip),
        ("x <> d", All),
        ("x = x", All),
        ("x <> x", Skip),
        ("x IS DISTINCT FROM d", All),
    ] {
        check(filter, &known, expected);
    }
}

#[test]
fn some_engines_make_decimals_of_floats_beside_decimals() {
    let known = [
        ("f", "float64", "0.00000000000000000001", "0.00000000000000000001"),
        ("g", "float32", "0.00000001", "0.00000001"),
        ("d", "decimal(9,2)", "0.00", "0.00"),
        ("m", "decimal(9,2)", "9999999.99", "9999999.99"),
        ("c", "int64", "16777217", "16777217"),
    ];
    for (filter, expected) in [
        ("f > d", Keep),
        ("f = d", Keep),
        ("g = d", Keep),
        ("f < m", All),
        ("f NOT IN (0.5, d)", Keep),
        ("f IN (0, d)", Keep),
        ("c NOT IN (16777216, g)", Keep),
        ("c BETWEEN 16777216 AND g", Skip),
        ("c IN (16777221, g)", Skip),
        ("m + 0 >= 9999999.99", Keep),
        ("m + 0 >= 9999999.5", All),
        ("CAST(c AS DECIMAL(20,6)) = ceil(c)", Keep),
        ("ceil(c) > 16777219", Skip),
        ("greatest(f, d) > 0", Keep),
    ] {
        check(filter, &known, expected);
    }
}

#[test]
fn some_engines_tell_the_zeros_of_computed_floats_apart_in_equality() {
    let known = [("o", "float64", "0.0", "0.0")];
    for (filter, expected) in
        [("-o IN (0, 8)", Keep), ("-o NOT IN (0, 8)", Keep), ("-o <> 0", Keep), ("-o >= 0", All), ("-o < 0", Skip)]
    {
        check(filter, &known, expected);
    }
}

#[test]
fn arithmetic_maps_bounds() {
    let known = [("x", "int32", "17", "22"), ("y", "int32", "-3", "4"), ("f", "float64", "0.5", "2.0")];
    for (filter, expected) in [
        ("x + 10 > 500", Skip),
        ("x + 10 > 20", All),
        ("-x < -22", Skip),
        ("-x <= -17", All),
        ("x * 2 >= 46", Skip),
        ("x * 2 >= 34", All),
        ("x / 2 > 11", Skip),
        ("x / 2 >= 8", All),
        ("x / 2 = 8.5", Keep),
        ("x % 8 = 0", Skip),
        ("x % 8 >= 1", All),
        ("y % 8 = 5", Skip),
        ("x - y > 25", Skip),
        ("x - y >= 13", All),
        ("f * 2 > 4", Skip),
        ("f + f >= 1", All),
        ("x + 0.5 > 23", Skip),
        ("x * y > 88", Skip),
        ("x + 2147483647 > 0", Keep),
    ] {
        check(filter, &known, expected);
    }
}

#[test]
fn casts_map_bounds() {
    let known = [
        ("x", "int32", "3", "300"),
        ("d", "decimal(9,2)", "1.50", "2.50"),
        ("f", "float64", "3.5", "4.5"),
        ("t", "timestamp(us)", "2024-02-01T10:00:00", "2024-02-01T12:00:00"),
        ("s", "string", "7", "7"),
        ("h", "int32", "200", "300"),
        ("today", "date", "2023-12-31", "2024-01-01"),
        ("never", "date", "9999-12-31", "9999-12-31"),
    ];
    for (filter, expected) in [
        ("CAST(x AS BIGINT) > 300", Skip),
        ("CAST(x AS BOOLEAN)", All),
        ("CAST(d AS INTEGER) > 3", Skip),
        ("CAST(d AS INTEGER) BETWEEN 1 AND 3", All),
        ("CAST(f AS INTEGER) = 2", Skip),
        ("CAST(x AS TINYINT) = 200", Keep),
        ("TRY_CAST(h AS TINYINT) = 1", Skip),
        ("TRY_CAST(h AS TINYINT) IS NULL", All),
        ("TRY_CAST(x AS TINYINT) < 3", Skip),
        ("CAST(t AS DATE) = DATE '2024-02-02'", Skip),
        ("CAST(t AS DATE) = DATE '2024-02-01'", All),
        ("CAST(t AS TIME) > TIME '12:00:01'", Skip),
        ("CAST(t AS TIME) >= TIME '10:00:00'", All),
        ("CAST(d AS DECIMAL(9,1)) > 2.6", Skip),
        ("CAST(x AS DECIMAL(9,2)) < 3.00", Skip),
        ("CAST(s AS INTEGER) > 50", Skip),
        ("CAST(today AS TIMESTAMP) > TIMESTAMP '2024-01-01 00:00:00'", Skip),
        ("CAST(never AS TIMESTAMP) > TIMESTAMP '2024-01-01 00:00:00'", Keep),
        ("TRY_CAST(never AS TIMESTAMP) < TIMESTAMP '2024-01-01 00:00:00'", Keep),
        ("TRY_CAST(never AS TIMESTAMP) IS NULL", Keep),
    ] {
        check(filter, &known, expected);
    }
}

#[test]
fn times_are_cut_and_taken_apart() {
    let known = [("t", "timestamp(us)", "2024-02-10T03:00:00", "2024-02-29T05:00:00")];
    for (filter, expected) in [
        ("date_trunc('month', t) = DATE '2024-02-01'", All),
        ("date_trunc('day', t) < TIMESTAMP '2024-02-10 00:00:00'", Skip),
        ("EXTRACT(YEAR FROM t) = 2024", All),
        ("year(t) = 2023", Skip),
        ("month(t) = 2", All),
        ("EXTRACT(DAY FROM t) < 10", Skip),
        ("EXTRACT(HOUR FROM t) > 23", Skip),
        ("EXTRACT(DOW FROM t) > 7", Skip),
    ] {
        check(filter, &known, expected);
    }
}

#[test]
fn intervals_move_bounds() {
    let known = [
        ("t", "timestamp(us)", "2024-02-10T03:00:00", "2024-02-29T05:00:00"),
        ("z", "timestamptz(us)", "2024-02-10T03:00:00Z", "2024-02-29T05:00:00Z"),
        ("u", "date", "2024-01-30", "2024-01-31"),
    ];
    for (filter, expected) in [
        ("t >= TIMESTAMP '2024-03-08 05:00:00' - INTERVAL '7' DAY", Skip),
        ("t > TIMESTAMP '2024-02-01' + INTERVAL '1 week'", All),
        ("t IN (DATE '2024-03-01' + INTERVAL '1' DAY, DATE '2024-01-31' - INTERVAL '1' YEAR)", Skip),
        ("t BETWEEN DATE '2024-03-31' - INTERVAL '1' MONTH AND DATE '2024-03-31'", Keep),
        ("t + INTERVAL '1 hour' > TIMESTAMP '2024-02-29T06:00:00'", Skip),
        ("INTERVAL '1' MONTH + t >= TIMESTAMP '2024-03-10T03:00:00'", All),
        ("t - INTERVAL '1' YEAR < TIMESTAMP '2023-03-01'", All),
        ("u + INTERVAL '1' MONTH = DATE '2024-02-29'", All),
        ("u + INTERVAL '1' HOUR < DATE '2024-01-28'", Skip),
        ("u + INTERVAL '1' HOUR > DATE '2024-01-31'", Keep),
        ("z + INTERVAL '1' HOUR > TIMESTAMP WITH TIME ZONE '2024-02-29T06:00:00Z'", Skip),
        ("z + INTERVAL '1' DAY > TIMESTAMP WITH TIME ZONE '2024-03-01T06:00:00Z'", Keep),
        ("z + INTERVAL '1' DAY > TIMESTAMP WITH TIME ZONE '2024-03-03T06:00:00Z'", Skip),
        ("t > TIMESTAMP '2024-02-01' + INTERVAL '12' HOUR", All),
        ("t > TIMESTAMP '2024-02-29 00:00:00' + INTERVAL '12' HOUR", Keep),
        ("z >= TIMESTAMP WITH TIME ZONE '2024-02-29T00:00:00Z' + INTERVAL '6' HOUR", Skip),
    ] {
        check(filter, &known, expected);
    }
}

#[test]
fn conditional_values_are_hulls() {
    let known = [("x", "int32", "1", "5"), ("y", "int32", "8", "9"), ("f", "float64", "-2.5", "1.5")];
    for (filter, expected) in [
        ("COALESCE(x, y) = 8", Skip),
        ("COALESCE(x, y) <= 5", All),
        ("CASE WHEN x > 9 THEN 100 ELSE y END > 50", Skip),
        ("CASE WHEN x > 3 THEN 100 ELSE y END > 50", Keep),
        ("CASE WHEN x > 0 THEN 1 ELSE 2 END = 1", All),
        ("NULLIF(x, 3) > 5", Skip),
        ("NULLIF(x, 3) > 0", Keep),
        ("greatest(x, y) >= 8", All),
        ("least(x, y) > 5", Skip),
        ("abs(f) > 2.5", Skip),
        ("abs(f) >= 0", All),
        ("floor(f) < -3", Skip),
        ("ceil(f) > 2", Skip),
        ("floor(f) <= 1", All),
    ] {
        check(filter, &known, expected);
    }
}

#[test]
fn patterns_prune_by_their_prefix() {
    let known = [("s", "string", "foo_a", "foo_z"), ("p", "string", "foobar", "foobar")];
    for (filter, expected) in [
        ("s LIKE 'foo%'", All),
        ("s LIKE 'fop%'", Skip),
        ("s LIKE 'foo'", Skip),
        ("s LIKE 'fo%x'", Keep),
        ("s LIKE 'a%x'", Skip),
        ("s LIKE 'foo!_%' ESCAPE '!'", All),
        ("s LIKE 'foo!a%' ESCAPE '!'", Keep),
        ("s LIKE 'foo\\_%'", Keep),
        ("s LIKE 'g\\_%'", Skip),
        ("p LIKE 'foo%bar'", All),
        ("p NOT LIKE 'foo%bar'", Skip),
        ("p LIKE 'foo_bar'", Skip),
        ("starts_with(s, 'foo_')", All),
        ("starts_with(s, 'bar')", Skip),
        ("COALESCE(p, 'x') LIKE 'foo%'", All),
    ] {
        check(filter, &known, expected);
    }
}
