//! Filters as Iceberg expressions in JSON, read into predicates and written back.
//!
//! Two forms are in use. Clients send the older one, `{"type": "gt-eq", "term": "id", "value": 1}`; the specification now
//! prefers `left`, `right` and `child` with references, literals and applied functions. Both are read, wherever they stand.
//!
//! Literals have no type here: they take that of the column they meet when the predicate is bound. A term, a literal or an
//! operator that pruning has no rule for keeps every file; what is not built as an expression is an error that names the
//! place.
//!
//! Iceberg's logic has no null. Of a comparison with null it says false, so it says true of its negation, while the engines
//! that read the files evaluate both to null. A comparison that is negated, by its own name or by a NOT around it, is
//! therefore a [`Predicate::TwoValued`]; where it is not negated the two come to the same.

mod read;
mod write;

use serde_json::Value;

use crate::{FilterError, FilterLimits, Predicate};

/// Which of the two forms an expression is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IcebergForm {
    /// With `term` and `value`: what every shipping client sends and reads.
    #[default]
    Term,
    /// With `left`, `right`, `child` and objects for references.
    Reference,
}

impl IcebergForm {
    /// The form of an expression: that of the first test in it, the older one if there is none.
    pub fn of(expression: &Value) -> Self {
        let mut open = vec![expression];
        while let Some(next) = open.pop() {
            match next.get("type").and_then(Value::as_str) {
                Some("and" | "or" | "not") => {
                    open.extend(["right", "left", "child"].into_iter().filter_map(|key| next.get(key)));
                }
                Some(_) if next.get("term").is_some() => return Self::Term,
                Some(_) if next.get("left").is_some() || next.get("child").is_some() => return Self::Reference,
                _ => {}
            }
        }
        Self::Term
    }
}

impl Predicate {
    /// Reads an Iceberg expression.
    ///
    /// ```
    /// use prunus_pruner::{IcebergForm, Predicate};
    /// let json = serde_json::json!({"type": "gt-eq", "term": "id", "value": 1});
    /// let predicate = Predicate::parse_iceberg_json(&json)?;
    /// assert_eq!(predicate.to_iceberg_json(IcebergForm::Term), Some(json));
    /// # Ok::<(), prunus_pruner::FilterError>(())
    /// ```
    ///
    /// # Errors
    /// [`FilterError::Json`] with the place, [`FilterError::TooComplex`].
    pub fn parse_iceberg_json(expression: &Value) -> Result<Self, FilterError> {
        Self::parse_iceberg_json_within(expression, &FilterLimits::default())
    }

    /// The same of an expression that is no larger than this; of its bytes nothing is known here.
    ///
    /// # Errors
    /// As [`Predicate::parse_iceberg_json`].
    pub fn parse_iceberg_json_within(expression: &Value, limits: &FilterLimits) -> Result<Self, FilterError> {
        read::predicate(expression, limits.in_range())
    }

    /// The predicate as an Iceberg expression, which reads back as the same predicate. `None` if it says what such an
    /// expression cannot: SQL's logic of null, typed literals, functions.
    pub fn to_iceberg_json(&self, form: IcebergForm) -> Option<Value> {
        write::predicate(self, form)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{MAX_FILTER_DEPTH, MAX_FILTER_VALUES, MAX_FILTER_WORDS, MIN_FILTER_DEPTH};

    fn read(json: &Value) -> Result<Predicate, String> {
        Predicate::parse_iceberg_json(json).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(json: Value, expected: &str) {
        let predicate = read(&json).unwrap();
        assert_eq!(predicate.to_string(), expected, "{json}");
        assert_eq!(predicate.to_iceberg_json(IcebergForm::of(&json)), Some(json));
        for form in [IcebergForm::Term, IcebergForm::Reference] {
            if let Some(written) = predicate.to_iceberg_json(form) {
                assert_eq!(read(&written).as_ref(), Ok(&predicate), "{written}");
            }
        }
    }

    #[track_caller]
    fn check_fault(json: &Value, expected: &str) {
        assert_eq!(read(json), Err(expected.to_owned()), "{json}");
    }

    #[test]
    fn the_older_form_reads_and_writes_back() {
        check(json!(true), "TRUE");
        check(json!(false), "FALSE");
        check(json!({"type": "eq", "term": "x", "value": 5}), r#""x" = 5"#);
        check(json!({"type": "lt", "term": "a.b", "value": "2024-01-01"}), r#""a"."b" < '2024-01-01'"#);
        check(json!({"type": "lt-eq", "term": "x", "value": 1.5}), r#""x" <= 1.5"#);
        check(json!({"type": "gt", "term": "x", "value": true}), r#""x" > TRUE"#);
        check(json!({"type": "gt-eq", "term": "x", "value": -5}), r#""x" >= -5"#);
        check(json!({"type": "not-eq", "term": "x", "value": 5.0}), r#"("x" = 5.0) IS NOT TRUE"#);
        check(json!({"type": "in", "term": "x", "values": [1, 2]}), r#""x" IN (1, 2)"#);
        check(json!({"type": "not-in", "term": "x", "values": ["a"]}), r#"("x" IN ('a')) IS NOT TRUE"#);
        check(json!({"type": "is-null", "term": "x"}), r#""x" IS NULL"#);
        check(json!({"type": "not-null", "term": "x"}), r#""x" IS NOT NULL"#);
        check(json!({"type": "is-nan", "term": "x"}), r#"isnan("x")"#);
        check(json!({"type": "not-nan", "term": "x"}), r#"(isnan("x")) IS NOT TRUE"#);
        check(json!({"type": "starts-with", "term": "x", "value": "a'b"}), r#"starts_with("x", 'a''b')"#);
        check(json!({"type": "not-starts-with", "term": "x", "value": "a"}), r#"(starts_with("x", 'a')) IS NOT TRUE"#);
    }

    #[test]
    fn the_newer_form_reads_and_writes_back() {
        let x = json!({"type": "reference", "name": "x"});
        let literal = |value: Value| json!({"type": "literal", "value": value});
        check(json!({"type": "eq", "left": x, "right": literal(json!(5))}), r#""x" = 5"#);
        check(json!({"type": "lt", "left": literal(json!(5)), "right": x}), r#"5 < "x""#);
        check(json!({"type": "not-eq", "left": x, "right": x}), r#"("x" = "x") IS NOT TRUE"#);
        check(json!({"type": "is-null", "child": x}), r#""x" IS NULL"#);
        check(json!({"type": "not-nan", "child": {"type": "reference", "id": 7}}), r##"(isnan("#7")) IS NOT TRUE"##);
        check(json!({"type": "in", "child": x, "values": [literal(json!(1)), literal(json!(2))]}), r#""x" IN (1, 2)"#);
        check(json!({"type": "starts-with", "left": x, "right": literal(json!("a"))}), r#"starts_with("x", 'a')"#);
        check(json!({"type": "is-null", "term": {"type": "reference", "id": 7}}), r##""#7" IS NULL"##);
        check(json!({"type": "is-null", "child": {"type": "reference", "name": "#7"}}), r##""#7" IS NULL"##);
        let typed = json!({"type": "literal", "value": "2024-01-01", "data-type": "date"});
        check(json!({"type": "gt", "left": x, "right": typed}), r#""x" > '2024-01-01'"#);
        let one_type = json!({"type": "literals", "values": [1, 2], "data-type": "long"});
        let predicate = read(&json!({"type": "in", "child": x, "values": one_type})).unwrap();
        assert_eq!(predicate.to_string(), r#""x" IN (1, 2)"#);
        let written = predicate.to_iceberg_json(IcebergForm::Reference).unwrap();
        assert_eq!(read(&written), Ok(predicate));
    }

    #[test]
    fn connectives_read_and_write_back() {
        let test = |name: &str| json!({"type": "is-null", "term": name});
        let and = |left: Value, right: Value| json!({"type": "and", "left": left, "right": right});
        let or = |left: Value, right: Value| json!({"type": "or", "left": left, "right": right});
        check(and(test("a"), or(test("b"), test("c"))), r#""a" IS NULL AND ("b" IS NULL OR "c" IS NULL)"#);
        check(json!({"type": "not", "child": test("a")}), r#"NOT ("a" IS NULL)"#);
        let chain = and(and(and(test("a"), test("b")), test("c")), test("d"));
        let balanced = and(and(test("a"), test("b")), and(test("c"), test("d")));
        assert_eq!(read(&chain).unwrap().to_iceberg_json(IcebergForm::Term), Some(balanced));
    }

    #[test]
    fn a_comparison_under_not_may_be_true_of_null() {
        let less = json!({"type": "lt", "term": "x", "value": 5});
        let not = |child: &Value| json!({"type": "not", "child": child});
        check(not(&less), r#"NOT (("x" < 5) IS TRUE)"#);
        check(not(&not(&less)), r#"NOT (NOT ("x" < 5))"#);
        check(not(&json!({"type": "not-eq", "term": "x", "value": 5})), r#"NOT (("x" = 5) IS NOT TRUE)"#);
    }

    #[test]
    fn what_has_no_rule_is_kept_as_it_was() {
        let bucket = json!({"type": "transform", "transform": "bucket[16]", "term": "id"});
        check(
            json!({"type": "eq", "term": bucket, "value": 3}),
            r#"iceberg_expression('{"term":"id","transform":"bucket[16]","type":"transform"}') = 3"#,
        );
        let apply = json!({"type": "apply", "function": "f", "arguments": [{"type": "reference", "name": "x"}]});
        let predicate = read(&json!({"type": "is-null", "child": apply})).unwrap();
        let Predicate::IsNull { expression: crate::Expression::Other(other), .. } = &predicate else {
            panic!("{predicate}")
        };
        assert_eq!(other.columns, [crate::ColumnName::exact(["x"])]);
        check(
            json!({"type": "st-intersects", "term": "x", "value": "POINT(1 1)"}),
            r#"iceberg_expression('{"term":"x","type":"st-intersects","value":"POINT(1 1)"}')"#,
        );
        check(
            json!({"type": "eq", "term": "x", "value": [1]}),
            r#"iceberg_expression('{"term":"x","type":"eq","value":[1]}')"#,
        );
    }

    #[test]
    fn other_spellings_of_the_same_are_read() {
        for (json, expected) in [
            (json!({"type": "true"}), "TRUE"),
            (json!({"type": "FALSE"}), "FALSE"),
            (json!({"type": "literal", "value": true}), "TRUE"),
            (json!({"type": "NOT_EQ", "term": "x", "value": 1}), r#"("x" = 1) IS NOT TRUE"#),
            (json!({"type": "eq", "term": {"type": "reference", "term": "x"}, "value": 1}), r#""x" = 1"#),
            (json!({"type": "eq", "term": "x", "value": {"type": "literal", "value": 1}}), r#""x" = 1"#),
        ] {
            assert_eq!(read(&json).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn a_fault_names_its_place() {
        check_fault(&json!(5), "the filter is not an Iceberg expression: an object or a boolean is expected");
        check_fault(&json!({"term": "x"}), "the filter is not an Iceberg expression: `type` is missing");
        check_fault(
            &json!({"type": "and", "left": true, "right": {"type": "eq", "term": "x"}}),
            "the filter is not an Iceberg expression at /right: `value` is missing",
        );
        check_fault(
            &json!({"type": "and", "left": true}),
            "the filter is not an Iceberg expression: `right` is missing",
        );
        check_fault(
            &json!({"type": "not", "child": {"type": "or", "left": true, "right": {"type": "in", "term": "x", "values": 5}}}),
            "the filter is not an Iceberg expression at /child/right/values: a list of literals is expected",
        );
        check_fault(
            &json!({"type": "in", "term": "x", "values": [1, null]}),
            "the filter is not an Iceberg expression at /values/1: a literal cannot be null: `is-null` tests for it",
        );
        check_fault(
            &json!({"type": "is-null", "term": 5}),
            "the filter is not an Iceberg expression at /term: a name or an object is expected",
        );
        check_fault(
            &json!({"type": "is-null", "term": {"type": "reference"}}),
            "the filter is not an Iceberg expression at /term: `name` is missing",
        );
    }

    /// `{"type": "and", "left": left, "right": true}`, without copying what is deep.
    fn and_true(left: Value) -> Value {
        let members = [("type", json!("and")), ("left", left), ("right", json!(true))];
        Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Only building and dropping a value that is deep takes a large stack.
    fn on_large_stack(work: impl FnOnce() + Send + 'static) {
        std::thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn limits_hold_at_the_limit_and_one_beyond() {
        let test = json!({"type": "is-null", "term": "x"});
        let nested = |depth: usize| (0..depth).fold(test.clone(), |child, _| json!({"type": "not", "child": child}));
        assert!(read(&nested(MAX_FILTER_DEPTH)).is_ok());
        let too_deep = "the filter is too complex: more than 64 levels of nesting";
        check_fault(&nested(MAX_FILTER_DEPTH + 1), too_deep);
        on_large_stack(move || {
            // A chain of n tests has n - 1 connectives.
            let chain = |tests: usize| (1..tests).fold(test.clone(), |left, _| and_true(left));
            let most = MAX_FILTER_WORDS / 2;
            assert!(matches!(read(&chain(most)), Ok(Predicate::And(parts)) if parts.len() == most));
            let too_long = "the filter is too complex: more than 10000 tests and connectives";
            assert_eq!(read(&chain(most + 1)).unwrap_err(), too_long);
        });
    }

    #[test]
    fn limits_can_be_lower() {
        let limits = FilterLimits { words: 3, depth: MIN_FILTER_DEPTH, ..FilterLimits::default() };
        let read = |json: &Value| Predicate::parse_iceberg_json_within(json, &limits).map(drop);
        let too_complex = |what, max| Err(FilterError::TooComplex { what, max });
        let chain = |tests: usize| (1..tests).fold(json!({"type": "is-null", "term": "x"}), |left, _| and_true(left));
        assert_eq!(read(&chain(2)), Ok(()));
        assert_eq!(read(&chain(3)), too_complex("tests and connectives", 3));
        let limits = FilterLimits { words: 100, ..limits };
        let read = |depth: usize| {
            let nested = (0..depth).fold(json!(true), |child, _| json!({"type": "not", "child": child}));
            Predicate::parse_iceberg_json_within(&nested, &limits).map(drop)
        };
        assert_eq!(read(MIN_FILTER_DEPTH), Ok(()));
        assert_eq!(read(MIN_FILTER_DEPTH + 1), too_complex("levels of nesting", MIN_FILTER_DEPTH));
    }

    #[test]
    fn values_are_taken_up_to_the_limit() {
        let list = |count| read(&json!({"type": "in", "term": "x", "values": vec![1; count]})).map(drop);
        assert_eq!(list(MAX_FILTER_VALUES), Ok(()));
        let expected = "the filter is too complex: more than 1048576 values";
        assert_eq!(list(MAX_FILTER_VALUES + 1), Err(expected.to_owned()));
    }

    #[test]
    fn what_is_deep_is_read_on_a_small_stack() {
        on_large_stack(|| {
            let deep = (0..4_900).fold(json!(true), |left, _| and_true(left));
            let lists = (0..20_000).fold(json!("x"), |inner, _| Value::Array(vec![inner]));
            let members = [("type".to_owned(), json!("apply")), ("arguments".to_owned(), lists)];
            let apply = Value::Object(members.into_iter().collect());
            std::thread::scope(|scope| {
                let small = || std::thread::Builder::new().stack_size(256 << 10);
                let reader = small().spawn_scoped(scope, || read(&deep).map(|_| ()));
                assert_eq!(reader.unwrap().join().unwrap(), Ok(()));
                let reader = small().spawn_scoped(scope, || read(&apply).map(|_| ()));
                let too_deep = "the filter is too complex: more than 64 levels of nesting";
                assert_eq!(reader.unwrap().join().unwrap(), Err(too_deep.to_owned()));
            });
        });
    }

    #[test]
    fn a_long_list_is_no_complex_filter() {
        let values: Vec<i64> = (0..1_000_000).collect();
        let predicate = read(&json!({"type": "in", "term": "x", "values": values})).unwrap();
        assert!(matches!(predicate, Predicate::In { list, .. } if list.len() == 1_000_000));
    }

    #[test]
    fn what_is_sql_has_no_iceberg_form() {
        for text in ["x = 5", "NOT (x IS NULL AND x = 'a')", "(x IS NULL) IS TRUE", "x BETWEEN 1 AND 2", "f(x)"] {
            let predicate = Predicate::parse_sql(text).unwrap();
            assert_eq!(predicate.to_iceberg_json(IcebergForm::Term), None, "{text}");
        }
    }
}
