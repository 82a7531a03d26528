//! The forms of filters, each with a filter of random literals.

use super::super::computed::generate::Random;
use super::data::DOMAIN;

/// A form of filters.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    /// Whether it speaks of `i`, `j` and `n` alone: what their statistics prove can be found by trying all their values.
    pub(crate) of_integers: bool,
    /// Whether engines differ on it, so that less is proven for all of them than for DataFusion.
    pub(crate) engines_differ: bool,
    pub(crate) filter: fn(&mut Random) -> String,
}

fn place(random: &mut Random) -> usize {
    random.below(DOMAIN + 4)
}

fn op(random: &mut Random) -> &'static str {
    ["=", "<", "<=", ">", ">="][random.below(5)]
}

fn list(random: &mut Random, count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(|_| item(place(random))).collect();
    items.join(", ")
}

/// Values beside each other, as NOT IN needs them to exclude a container.
fn run(random: &mut Random, count: usize) -> String {
    let first = place(random);
    let items: Vec<String> = (first..first + count).map(|value| value.to_string()).collect();
    items.join(", ")
}

fn range(random: &mut Random, column: &str) -> String {
    let low = place(random);
    format!("{column} >= {low} AND {column} < {}", low + 1 + random.below(20))
}

fn either(random: &mut Random, column: &str) -> String {
    format!("({}) OR ({})", range(random, column), range(random, column))
}

/// A day of the columns `t` and `u`.
fn day(random: &mut Random) -> String {
    let place = place(random) * 3;
    let months = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut rest, mut month) = (place, 0);
    while rest >= months[month] {
        rest -= months[month];
        month += 1;
    }
    format!("2024-{:02}-{:02}", month + 1, rest + 1)
}

fn month(random: &mut Random) -> String {
    format!("2024-{:02}-01", 1 + random.below(11))
}

const fn of_integers(name: &'static str, filter: fn(&mut Random) -> String) -> Form {
    Form { name, of_integers: true, engines_differ: false, filter }
}

const fn of_others(name: &'static str, filter: fn(&mut Random) -> String) -> Form {
    Form { name, of_integers: false, engines_differ: false, filter }
}

const fn of_differing(name: &'static str, filter: fn(&mut Random) -> String) -> Form {
    Form { name, of_integers: false, engines_differ: true, filter }
}

pub(crate) const PLAIN: &[Form] = &[
    of_integers("comparison of an integer", |r| format!("i {} {}", op(r), place(r))),
    of_others("comparison of a float", |r| format!("f {} {}.5", op(r), place(r))),
    of_others("comparison of a decimal", |r| format!("d {} {}.25", op(r), place(r))),
    of_others("comparison of a text", |r| format!("s {} 'k{:03}'", op(r), place(r))),
    of_others("comparison of a timestamp", |r| format!("t {} TIMESTAMP '{} 06:00:00'", op(r), day(r))),
    of_integers("`<>`", |r| format!("i <> {}", place(r))),
    of_integers("BETWEEN", |r| {
        let low = place(r);
        format!("i BETWEEN {low} AND {}", low + r.below(10))
    }),
    of_integers("NOT BETWEEN", |r| {
        let low = place(r);
        format!("i NOT BETWEEN {low} AND {}", low + r.below(30))
    }),
    of_integers("BETWEEN with its ends swapped", |r| format!("i BETWEEN {} AND {}", 50 + r.below(50), r.below(50))),
    of_integers("IN (5)", |r| format!("i IN ({})", list(r, 5, |value| value.to_string()))),
    of_integers("IN (40)", |r| format!("i IN ({})", list(r, 40, |value| (value * 3).to_string()))),
    of_others("IN (40) of texts", |r| format!("s IN ({})", list(r, 40, |value| format!("'k{value:03}'")))),
    of_integers("IN with NULL", |r| format!("i IN (NULL, {})", list(r, 3, |value| value.to_string()))),
    of_integers("NOT IN (1)", |r| format!("i NOT IN ({})", place(r))),
    of_integers("NOT IN, values in a row", |r| format!("i NOT IN ({})", run(r, 8))),
    of_integers("NOT IN with NULL", |r| format!("i NOT IN (NULL, {})", place(r))),
    of_others("LIKE 'prefix%'", |r| format!("s LIKE 'k{:02}%'", r.below(11))),
    of_others("LIKE 'prefix%suffix'", |r| format!("s LIKE 'k{:02}%b'", r.below(11))),
    of_others("LIKE without wildcard", |r| format!("s LIKE 'k{:03}a'", place(r))),
    of_others("NOT LIKE 'prefix%'", |r| format!("s NOT LIKE 'k{:02}%'", r.below(11))),
    of_others("starts_with", |r| format!("starts_with(s, 'k{:03}')", place(r))),
    of_integers("IS NULL", |_| "n IS NULL".to_owned()),
    of_integers("IS NOT NULL", |_| "n IS NOT NULL".to_owned()),
    of_integers("IS DISTINCT FROM", |r| format!("i IS DISTINCT FROM {}", place(r))),
    of_integers("IS NOT DISTINCT FROM", |r| format!("n IS NOT DISTINCT FROM {}", place(r))),
    of_others("boolean column", |_| "b".to_owned()),
    of_others("NOT of a boolean column", |_| "NOT b".to_owned()),
    of_others("boolean IS NOT TRUE", |_| "b IS NOT TRUE".to_owned()),
    of_differing("comparison beside NaNs", |r| format!("h {} {}.5", op(r), place(r))),
    of_differing("`<>` beside NaNs", |r| format!("h <> {}.5", place(r))),
    of_differing("BETWEEN beside NaNs", |r| {
        let low = place(r);
        format!("h BETWEEN {low} AND {}", low + r.below(10))
    }),
    of_differing("NOT BETWEEN beside NaNs", |r| {
        let low = place(r);
        format!("h NOT BETWEEN {low} AND {}", low + r.below(30))
    }),
];

pub(crate) const NESTED: &[Form] = &[
    of_integers("range (AND)", |r| range(r, "i")),
    of_integers("ranges of two columns", |r| format!("{} AND {}", range(r, "i"), range(r, "n"))),
    of_integers("ranges that exclude each other", |r| format!("i < {} AND i > {}", r.below(50), 50 + r.below(50))),
    of_integers("OR of two ranges", |r| either(r, "i")),
    of_integers("OR of two columns", |r| format!("{} OR {}", range(r, "i"), range(r, "n"))),
    of_integers("OR of ANDs", |r| format!("({}) OR ({} AND j <> 3)", range(r, "i"), range(r, "j"))),
    of_integers("NOT of OR", |r| format!("NOT (i < {} OR i > {})", place(r), place(r))),
    of_integers("NOT of AND", |r| format!("NOT (i >= {} AND j >= {})", place(r) / 2, place(r) / 2)),
    of_integers("NOT of IN", |r| format!("NOT (i IN ({}))", run(r, 8))),
    of_integers("NOT of NOT of OR", |r| format!("NOT (NOT ({}) AND NOT (n = {}))", range(r, "i"), place(r))),
    of_integers("condition IS TRUE", |r| format!("(i > {}) IS TRUE", place(r))),
    of_integers("condition IS NOT TRUE", |r| format!("(i > {}) IS NOT TRUE", place(r))),
    of_integers("condition IS NOT FALSE", |r| format!("(n > {}) IS NOT FALSE", place(r))),
    of_integers("condition IS UNKNOWN", |r| format!("(n > {}) IS UNKNOWN", place(r))),
    of_others("AND with what has no rule", |r| format!("{} AND lower(s) = 'k001'", range(r, "i"))),
    of_others("OR with what has no rule", |r| format!("{} OR lower(s) = 'none'", range(r, "i"))),
];

pub(crate) const COMPUTED: &[Form] = &[
    of_integers("two columns, `<`", |r| format!("i < j - {}", r.below(12))),
    of_integers("two columns, `=`", |_| "i = j".to_owned()),
    of_integers("two columns, `<>`", |_| "i <> n".to_owned()),
    of_integers("two columns, `>`", |_| "j > n".to_owned()),
    of_integers("CAST to BIGINT", |r| format!("CAST(i AS BIGINT) {} {}", op(r), place(r))),
    of_differing("CAST of a float to INTEGER", |r| format!("CAST(f AS INTEGER) = {}", place(r))),
    of_differing("CAST of a decimal to INTEGER", |r| format!("CAST(d AS INTEGER) >= {}", place(r))),
    of_integers("CAST to BOOLEAN", |_| "NOT CAST(i AS BOOLEAN)".to_owned()),
    of_integers("TRY_CAST to TINYINT", |r| format!("TRY_CAST(i AS TINYINT) > {}", place(r))),
    of_others("CAST of a timestamp to DATE", |r| format!("CAST(t AS DATE) = DATE '{}'", day(r))),
    of_integers("`+`", |r| format!("i + 10 {} {}", op(r), 10 + place(r))),
    of_integers("`-` with the literal before it", |r| format!("100 - i {} {}", op(r), place(r))),
    of_integers("`*`", |r| format!("i * 2 {} {}", op(r), 2 * place(r))),
    of_integers("`/`", |r| format!("i / 4 > {}", place(r) / 4)),
    of_integers("`%`", |r| format!("i % 10 = {}", r.below(10))),
    of_differing("negation", |r| format!("-i {} -{}", op(r), place(r))),
    of_integers("difference of columns", |r| format!("i - j > {}", r.below(10))),
    of_integers("sum of columns", |r| format!("i + n < {}", 2 * place(r))),
    of_integers("abs", |r| format!("abs(i - 50) < {}", r.below(50))),
    of_others("floor", |r| format!("floor(f) = {}", place(r))),
    of_others("date_trunc", |r| format!("date_trunc('month', t) = DATE '{}'", month(r))),
    of_others("EXTRACT(YEAR)", |r| format!("EXTRACT(YEAR FROM t) = {}", 2023 + r.below(3))),
    of_others("EXTRACT(MONTH)", |r| format!("EXTRACT(MONTH FROM u) = {}", 1 + r.below(12))),
    of_integers("COALESCE", |r| format!("COALESCE(n, i) {} {}", op(r), place(r))),
    of_integers("CASE", |r| format!("CASE WHEN i > {} THEN j ELSE 0 END > {}", place(r), place(r))),
    of_integers("NULLIF", |r| format!("NULLIF(i, {}) > {}", place(r), place(r))),
    of_integers("greatest", |r| format!("greatest(i, j) < {}", place(r))),
];
