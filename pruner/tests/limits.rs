//! Filters as large as they may be, and what no filter may hold.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]

use std::fmt::Write;

use arrow::array::UInt64Array;
use prunus_pruner::{BindOptions, BoundPredicate, Column, Predicate, PruningProgram, Verdict, ZoneMaps};
use prunus_statistics::{FieldId, PrimitiveType};

fn plan(predicate: &Predicate) -> Verdict {
    let columns = [Column {
        id: FieldId(1),
        path: vec!["a".to_owned()],
        column_type: Some(PrimitiveType::Int64),
        items: Vec::new(),
    }];
    let bound = BoundPredicate::bind(predicate, &columns, &BindOptions::default()).unwrap();
    PruningProgram::compile(bound).evaluate(&ZoneMaps::new(&UInt64Array::from(vec![10]))).verdict(0)
}

#[test]
fn a_million_values_are_planned_in_either_language() {
    let mut list = String::new();
    (0..1_000_000).for_each(|value| write!(list, ",{}", value * 3).unwrap());
    let list = list.trim_start_matches(',');
    let sql = Predicate::parse_sql(&format!("a IN ({list}) AND a > 5")).unwrap();
    assert_eq!(plan(&sql), Verdict::Some);
    let json = serde_json::from_str(&format!(r#"{{"type": "in", "term": "a", "values": [{list}]}}"#)).unwrap();
    assert_eq!(plan(&Predicate::parse_iceberg_json(&json).unwrap()), Verdict::Some);
}

#[test]
fn what_is_nested_to_the_limit_is_read_bound_printed_and_dropped_on_a_small_stack() {
    let texts = [
        format!("a{} = 1", " + a".repeat(4_990)),
        format!("{}a = 1", "NOT ".repeat(40)),
        format!("{}a{} = 1", "abs(".repeat(20), ")".repeat(20)),
        vec!["a = 1"; 3_333].join(" OR "),
    ];
    let work = move || {
        for text in texts {
            let predicate = Predicate::parse_sql(&text).unwrap();
            assert!(predicate.to_string().len() >= text.len() / 2);
            assert_eq!(plan(&predicate), Verdict::Some);
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn parameters_are_refused_by_name() {
    for parameter in ["?", "$1", ":x", "$name"] {
        let expected = format!("a filter cannot hold a parameter: `{parameter}`");
        for text in [format!("a = {parameter}"), format!("a IN (1, {parameter})"), format!("f({parameter}) > 1")] {
            assert_eq!(Predicate::parse_sql(&text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
