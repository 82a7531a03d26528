//! A predicate held against a schema: names become field ids, literals become values of their column's type.
//!
//! After this, nothing about a filter can be wrong any more. What pruning has no rule for is a node of its own that keeps
//! every container, with its reason.

mod comparison;
mod contains;
mod iceberg;
mod lookup;
mod pattern;
mod value;

use std::collections::BTreeSet;
use std::fmt::{self, Write};

pub(crate) use self::comparison::may_be_float;
pub(crate) use self::pattern::Wildcards;

use prunus_statistics::{FieldId, PrimitiveType, SessionZone, Value};

use crate::outcome::OutcomeSet;
use crate::simplify;
use crate::value::ValueTest;
use crate::{ColumnName, Expression, FilterError, ItemKind, Predicate, TruthValue, Unsupported};

/// A column that a filter may name.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its identity.
    pub id: FieldId,
    /// Its names from the top down.
    pub path: Vec<String>,
    /// Its type; `None` for a struct, list or map, of which no statistics are kept.
    pub column_type: Option<PrimitiveType>,
    /// Of a list or map, those of its items whose values have bounds.
    pub items: Vec<ItemColumn>,
}

/// The elements of a list, or the keys or values of a map, as a column of their own. A container's zone map of it speaks of
/// all items of all its rows, so that it can have bounds, but no counts: these are of items, not of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemColumn {
    /// Which items.
    pub kind: ItemKind,
    /// Their identity.
    pub id: FieldId,
    /// Their type.
    pub column_type: PrimitiveType,
}

/// How the reader's engine orders NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NanOrder {
    /// Not known: whatever any engine answers must come out right.
    #[default]
    Any,
    /// Above every number, equal to itself: PostgreSQL, Spark, DuckDB, Snowflake.
    Greatest,
    /// Unordered, as IEEE 754 compares: Trino, plain C.
    Ieee,
}

/// What a filter's meaning depends on besides its text.
#[derive(Clone, Debug, Default)]
pub struct BindOptions {
    /// How the reader's engine orders NaN.
    pub nan_order: NanOrder,
    /// The zone in which it reads local times.
    pub zone: SessionZone,
}

/// A predicate over field ids and typed values: conjuncts that must all hold.
#[derive(Clone, Debug)]
pub struct BoundPredicate {
    conjuncts: Vec<BoundConjunct>,
}

/// One conjunct with its text for people.
#[derive(Clone, Debug)]
pub(crate) struct BoundConjunct {
    pub(crate) node: BoundNode,
    pub(crate) expression: String,
    /// The columns that it names, those among them of which nothing can be proven.
    pub(crate) names: BTreeSet<FieldId>,
}

/// A bound boolean expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BoundNode {
    /// These outcomes on every row.
    Constant(OutcomeSet),
    Leaf(BoundLeaf),
    Not(Box<BoundNode>),
    All(Vec<BoundNode>),
    Any(Vec<BoundNode>),
    /// True where the inner outcome is one of these, else false; never null.
    Is(Box<BoundNode>, OutcomeSet),
    /// The inner outcome, but that null may also be false.
    TwoValued(Box<BoundNode>),
    /// A test of value expressions, with the conditions of their CASEs.
    Value(Box<ValueTest>, Vec<BoundNode>),
    /// Nothing can be proven about it, for this reason.
    Unknown(String),
}

/// A test of one column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoundLeaf {
    pub(crate) column: BoundColumn,
    pub(crate) test: BoundTest,
    /// What the test may be on a row that is NaN.
    pub(crate) on_nan: OutcomeSet,
}

/// A column of the schema that carries statistics.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoundColumn {
    pub(crate) id: FieldId,
    pub(crate) column_type: PrimitiveType,
    pub(crate) name: String,
}

/// What is tested; null on null rows but for `IsNull`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BoundTest {
    /// Between two ends, of which at least one is given.
    Range {
        lower: Option<Endpoint>,
        upper: Option<Endpoint>,
    },
    /// One of these values, sorted, each once.
    In(Vec<Value>),
    IsNull,
    /// The same on every row with a value.
    Always(bool),
    /// A comparison with the literal NaN: for equality (then no number is equal), or by an order that engines disagree on.
    Nan {
        equality: bool,
    },
}

/// An end of a range. A literal that the type cannot hold lies between `low` and `high`, and engines take it for either.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Endpoint {
    pub(crate) low: Value,
    pub(crate) high: Value,
    pub(crate) inclusive: bool,
}

impl BoundPredicate {
    /// Binds a predicate to the columns of a schema.
    ///
    /// # Errors
    /// Every fault found: unknown columns, literals that do not go with their column, columns that are no conditions.
    pub fn bind(predicate: &Predicate, columns: &[Column], options: &BindOptions) -> Result<Self, Vec<FilterError>> {
        let mut binder = Binder::new(columns, options);
        let conjuncts = conjuncts(predicate)
            .into_iter()
            .map(|(part, negated)| BoundConjunct {
                node: binder.node_or_not(part, negated),
                expression: shown(part, negated),
                names: std::mem::take(&mut binder.names),
            })
            .collect();
        if binder.faults.is_empty() {
            Ok(Self { conjuncts: simplify::intersect_conjuncts(conjuncts) })
        } else {
            Err(binder.faults)
        }
    }

    /// The predicate that every row meets.
    pub fn always() -> Self {
        Self { conjuncts: Vec::new() }
    }

    pub(crate) fn into_conjuncts(self) -> Vec<BoundConjunct> {
        self.conjuncts
    }
}

/// Binds one test alone, merged with no other.
pub(crate) fn bind_test(
    test: &Predicate,
    columns: &[Column],
    options: &BindOptions,
) -> Result<BoundNode, Vec<FilterError>> {
    let mut binder = Binder::new(columns, options);
    let node = binder.node(test);
    if binder.faults.is_empty() { Ok(node) } else { Err(binder.faults) }
}

/// The longest text of a conjunct that is kept for people.
const MAX_SHOWN_BYTES: usize = 1_000;

/// A predicate's text, or that of its negation, cut where it gets too long to be read.
fn shown(predicate: &Predicate, negated: bool) -> String {
    let mut text = ShortText(String::new());
    let written = if negated { write!(text, "NOT ({predicate})") } else { write!(text, "{predicate}") };
    if written.is_err() {
        text.0.push_str(" ...");
    }
    text.0
}

struct ShortText(String);

impl Write for ShortText {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > MAX_SHOWN_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

struct Binder<'a> {
    columns: &'a [Column],
    options: &'a BindOptions,
    faults: Vec<FilterError>,
    /// The columns that were found so far.
    names: BTreeSet<FieldId>,
}

/// A bound operand of a comparison.
enum Operand<'a> {
    Column(BoundColumn),
    Literal(&'a prunus_statistics::Literal),
    Null,
    /// Nothing is known of it, for this reason.
    Unknown(String),
}

/// The conditions that a predicate is the conjunction of, and whether NOT stands before each: NOT over a disjunction says that
/// none of its parts holds.
fn conjuncts(predicate: &Predicate) -> Vec<(&Predicate, bool)> {
    let mut conjuncts = Vec::new();
    let mut open = vec![(predicate, false)];
    while let Some((next, negated)) = open.pop() {
        match (next, negated) {
            (Predicate::And(parts), false) | (Predicate::Or(parts), true) => {
                open.extend(parts.iter().rev().map(|part| (part, negated)));
            }
            (Predicate::Not(inner), _) => open.push((inner, !negated)),
            _ => conjuncts.push((next, negated)),
        }
    }
    conjuncts
}

impl<'a> Binder<'a> {
    fn new(columns: &'a [Column], options: &'a BindOptions) -> Self {
        Self { columns, options, faults: Vec::new(), names: BTreeSet::new() }
    }

    /// The column of a name, which is noted as named.
    fn find(&mut self, name: &ColumnName) -> Result<&'a Column, FilterError> {
        let column = lookup::find(self.columns, name)?;
        self.names.insert(column.id);
        Ok(column)
    }
}

impl Binder<'_> {
    fn node_or_not(&mut self, predicate: &Predicate, negated: bool) -> BoundNode {
        let node = self.node(predicate);
        if negated { simplify::negation(node) } else { node }
    }

    fn node(&mut self, predicate: &Predicate) -> BoundNode {
        match predicate {
            Predicate::Constant(value) => BoundNode::Constant(outcome(*value)),
            Predicate::Column(name) => self.boolean_column(name),
            Predicate::Compare { left, op, right } => match self.typed_pair(left, right) {
                Ok((left, right)) => self.compare(&left, *op, &right),
                Err(reason) => BoundNode::Unknown(reason),
            },
            Predicate::Distinct { left, right, negated } => self.distinct(left, right, *negated),
            Predicate::In { expression, list, negated } => negate_if(*negated, self.in_typed_list(expression, list)),
            Predicate::Between { expression, low, high, negated } => {
                negate_if(*negated, self.between(expression, low, high))
            }
            Predicate::IsNull { expression, negated } => negate_if(*negated, self.is_null(expression)),
            Predicate::Like { expression, pattern, escape, negated } => {
                negate_if(*negated, self.like(expression, pattern, *escape))
            }
            Predicate::Holds(expression) => self.value_is_true(expression),
            Predicate::IsNan(expression) => self.is_nan(expression),
            Predicate::StartsWith { expression, prefix } => self.starts_with(expression, prefix),
            Predicate::Contains { column, test, value } => self.contains(column, test.item(), value),
            Predicate::TwoValued { predicate, negated } => {
                negate_if(*negated, BoundNode::TwoValued(Box::new(self.node(predicate))))
            }
            Predicate::Is { predicate, value, negated } => {
                let matching = match value {
                    TruthValue::True => OutcomeSet::TRUE,
                    TruthValue::False => OutcomeSet::FALSE,
                    TruthValue::Unknown => OutcomeSet::NULL,
                };
                let matching = if *negated { matching.complement() } else { matching };
                BoundNode::Is(Box::new(self.node(predicate)), matching)
            }
            Predicate::Not(inner) if !matches!(**inner, Predicate::Or(_) | Predicate::Not(_)) => {
                simplify::negation(self.node(inner))
            }
            Predicate::And(_) | Predicate::Not(_) => {
                let parts =
                    conjuncts(predicate).into_iter().map(|(part, negated)| self.node_or_not(part, negated)).collect();
                simplify::conjunction(parts)
            }
            Predicate::Or(parts) => BoundNode::Any(parts.iter().map(|part| self.node(part)).collect()),
            Predicate::Other(other) => BoundNode::Unknown(self.unsupported(other)),
        }
    }

    fn operand<'a>(&mut self, expression: &'a Expression) -> Operand<'a> {
        match expression {
            Expression::Column(name) => match self.column(name) {
                Ok(column) => Operand::Column(column),
                Err(reason) => Operand::Unknown(reason),
            },
            Expression::Literal(literal) => Operand::Literal(literal),
            Expression::Null => Operand::Null,
            Expression::Interval(interval) => Operand::Unknown(value::not_alone(interval)),
            Expression::Call { .. } | Expression::Cast { .. } | Expression::Case { .. } => {
                Operand::Unknown(format!("there is no rule for `{expression}` in this place"))
            }
            Expression::Json(literal) => Operand::Unknown(format!("{literal} meets no column")),
            Expression::Other(other) => Operand::Unknown(self.unsupported(other)),
        }
    }

    /// A column that carries statistics, or why this one does not. A name that is none is noted as a fault.
    fn column(&mut self, name: &ColumnName) -> Result<BoundColumn, String> {
        match self.find(name) {
            Ok(Column { id, path, column_type: Some(column_type), .. }) => {
                Ok(BoundColumn { id: *id, column_type: *column_type, name: path.join(".") })
            }
            Ok(Column { path, column_type: None, .. }) => Err(without_statistics(path)),
            Err(fault) => {
                self.faults.push(fault);
                Err(String::new())
            }
        }
    }

    /// Why an expression is not supported; the columns that it names must exist all the same.
    fn unsupported(&mut self, other: &Unsupported) -> String {
        let mut nested = String::new();
        for name in &other.columns {
            match self.find(name) {
                Ok(Column { path, column_type: None, .. }) => nested = format!(": {}", without_statistics(path)),
                Ok(_) => {}
                Err(fault) => self.faults.push(fault),
            }
        }
        let reason = other.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("there is no rule for `{}`{nested}{reason}", other.expression)
    }
}

/// Why nothing is known of a struct, list or map: statistics are of values, and these have none of their own.
fn without_statistics(path: &[String]) -> String {
    format!("no statistics are kept of the nested column `{}`", path.join("."))
}

fn outcome(value: Option<bool>) -> OutcomeSet {
    match value {
        Some(true) => OutcomeSet::TRUE,
        Some(false) => OutcomeSet::FALSE,
        None => OutcomeSet::NULL,
    }
}

fn negate_if(negated: bool, node: BoundNode) -> BoundNode {
    if negated { BoundNode::Not(Box::new(node)) } else { node }
}

impl fmt::Display for BoundPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, conjunct) in self.conjuncts.iter().enumerate() {
            if index > 0 {
                f.write_str("\nAND ")?;
            }
            write!(f, "{}", conjunct.node)?;
        }
        Ok(())
    }
}

impl fmt::Display for BoundNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, nodes: &[Self]| {
            write!(f, "{name}(")?;
            for (index, node) in nodes.iter().enumerate() {
                write!(f, "{}{node}", if index > 0 { ", " } else { "" })?;
            }
            f.write_str(")")
        };
        match self {
            Self::Constant(outcomes) => write!(f, "constant {outcomes}"),
            Self::Leaf(leaf) => write!(f, "{leaf}"),
            Self::Not(node) => write!(f, "not({node})"),
            Self::All(nodes) => list(f, "all", nodes),
            Self::Any(nodes) => list(f, "any", nodes),
            Self::Is(node, matching) => write!(f, "is {matching}({node})"),
            Self::TwoValued(node) => write!(f, "two-valued({node})"),
            Self::Value(test, _) => write!(f, "{test}"),
            Self::Unknown(reason) => write!(f, "unknown({reason})"),
        }
    }
}

impl fmt::Display for BoundLeaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BoundColumn { id, column_type, .. } = &self.column;
        write!(f, "{id} {column_type} ")?;
        match &self.test {
            BoundTest::Range { lower, upper } => {
                f.write_str("in ")?;
                match lower {
                    None => f.write_str("(..")?,
                    Some(end) => write!(f, "{}{}", if end.inclusive { "[" } else { "(" }, end.display(*column_type))?,
                }
                f.write_str(", ")?;
                match upper {
                    None => f.write_str("..)"),
                    Some(end) => write!(f, "{}{}", end.display(*column_type), if end.inclusive { "]" } else { ")" }),
                }
            }
            BoundTest::In(values) => write!(f, "in {} values", values.len()),
            BoundTest::IsNull => f.write_str("is null"),
            BoundTest::Always(value) => write!(f, "always {value}"),
            BoundTest::Nan { equality: true } => f.write_str("= NaN"),
            BoundTest::Nan { equality: false } => f.write_str("ordered against NaN"),
        }
    }
}

impl Endpoint {
    fn display(&self, column_type: PrimitiveType) -> String {
        if self.is_exact() {
            self.low.display(column_type).to_string()
        } else {
            format!("{}~{}", self.low.display(column_type), self.high.display(column_type))
        }
    }

    /// Whether every engine takes the literal for one and the same value.
    pub(crate) fn is_exact(&self) -> bool {
        self.low == self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let column = |id, path: &[&str], column_type: Option<&str>| Column {
            id: FieldId(id),
            path: path.iter().map(|part| (*part).to_owned()).collect(),
            column_type: column_type.map(|name| name.parse().unwrap()),
            items: Vec::new(),
        };
        let tags = ItemColumn { kind: ItemKind::Element, id: FieldId(21), column_type: PrimitiveType::String };
        vec![
            Column { items: vec![tags], ..column(20, &["tags"], None) },
            column(1, &["price"], Some("decimal(9,2)")),
            column(2, &["Name"], Some("string")),
            column(3, &["ID"], Some("int32")),
            column(4, &["id"], Some("int64")),
            column(5, &["address"], None),
            column(6, &["address", "city"], Some("string")),
            column(7, &["address.city"], Some("int8")),
            column(8, &["ratio"], Some("float32")),
            column(9, &["raw"], Some("binary")),
            column(10, &["flag"], Some("boolean")),
        ]
    }

    fn bind(text: &str) -> Result<String, Vec<String>> {
        let predicate = Predicate::parse_sql(text).unwrap();
        BoundPredicate::bind(&predicate, &columns(), &BindOptions::default())
            .map(|bound| bound.to_string())
            .map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(bind(text).as_deref(), Ok(expected), "{text}");
    }

    #[track_caller]
    fn check_faults(text: &str, expected: &[&str]) {
        assert_eq!(bind(text).map_err(|faults| faults.join("\n")), Err(expected.join("\n")), "{text}");
    }

    #[test]
    fn a_bound_predicate_prints() {
        check("price > 1.5 AND \"Name\" = 'x'", "#1 decimal(9,2) in (1.50, ..)\nAND #2 string in [x, x]");
        check("price <= 1.005", "#1 decimal(9,2) in (.., 1.00~1.01]");
        check("NOT (price IN (1, 2, 2.00, NULL))", "not(any(constant {null}, #1 decimal(9,2) in 2 values))");
        check("ratio = 'NaN' OR ratio < 'NaN'", "any(#8 float32 = NaN, #8 float32 ordered against NaN)");
        check("price > 1e9 OR flag", "any(#1 decimal(9,2) always false, #10 boolean in [true, true])");
        check("(price IS NULL) IS NOT TRUE", "is {false, null}(#1 decimal(9,2) is null)");
        check("lower(\"Name\") = 'x'", "unknown(there is no rule for `lower(\"Name\")`)");
    }

    #[test]
    fn one_float_among_operands_makes_floats_of_large_integers() {
        let exact = "#4 int64 in 1 values";
        check("\"id\" IN (9007199254740993)", exact);
        // Bounds that many integers lie between, since these are one and the same float.
        let loose = |text: &str| bind(text).unwrap().contains('~');
        assert!(loose("\"id\" IN (9007199254740993, 0.5)"));
        let single = |text: &str| bind(text).unwrap().matches("ToSingle").count();
        assert_eq!(single("\"id\" IN (9007199254740993, ratio)"), 2);
        assert_eq!(single("\"id\" BETWEEN 9007199254740993 AND ratio"), 2);
        assert!(loose("\"id\" IN (9007199254740993, 18446744073709551616)"));
        assert!(loose("\"id\" IN ('9007199254740993', 0.5)"));
        assert!(loose("\"id\" BETWEEN 9007199254740993 AND 1e30"));
        assert!(!loose("\"id\" BETWEEN 9007199254740993 AND 9007199254740995"));
        check("\"id\" IN (7, 0.5)", "any(#4 int64 always false, #4 int64 in 1 values)");
    }

    #[test]
    fn a_name_without_quotes_matches_whatever_its_case() {
        check("PRICE = 1", "#1 decimal(9,2) in [1.00, 1.00]");
        check("name = 'x'", "#2 string in [x, x]");
        check("Address.CITY = 'x'", "#6 string in [x, x]");
        check_faults("\"NAME\" = 'x'", &["unknown column `\"NAME\"`, did you mean `Name`?"]);
    }

    #[test]
    fn a_name_that_several_columns_have_but_for_case_needs_quotes() {
        check("\"id\" = 1", "#4 int64 in [1, 1]");
        check("\"ID\" = 1", "#3 int32 in [1, 1]");
        for name in ["id", "ID", "Id"] {
            let ambiguous =
                "is ambiguous: several columns have that name but for upper and lower case; write it in double quotes";
            check_faults(&format!("{name} = 1"), &[&format!("column `{name}` {ambiguous}")]);
        }
    }

    #[test]
    fn a_dot_between_parts_is_not_a_dot_in_a_name() {
        check("address.city = 'x'", "#6 string in [x, x]");
        check("\"address.city\" = 1", "#7 int8 in [1, 1]");
        check("address = 1", "unknown(no statistics are kept of the nested column `address`)");
        check_faults("city = 'x'", &["unknown column `city`"]);
    }

    #[test]
    fn what_a_list_or_map_holds_lies_between_the_bounds_of_its_items() {
        let equal = "any(all(#21 string in [x, x], constant {true, false, null}), constant {false, null})";
        check("array_has(tags, 'x')", equal);
        check("'x' = ANY(tags)", equal);
        check("map_contains_key(tags, 'x')", "unknown(no bounds are known of the keys of `tags`)");
        check("list_contains(tags, NULL)", "constant {true, false, null}");
        check_faults(
            "array_has(tags, 1)",
            &["column `tags.element`: 1 cannot be compared with a column of type string; write '1'"],
        );
        check_faults("array_has(tag, 'x')", &["unknown column `tag`, did you mean `tags`?"]);
    }

    #[test]
    fn two_elements_may_be_held_though_none_is_both() {
        let held = |value: &str| {
            format!(
                "any(all(#21 string in [{value}, {value}], constant {{true, false, null}}), constant {{false, null}})"
            )
        };
        check("array_has(tags, 'x') AND array_has(tags, 'y')", &format!("{}\nAND {}", held("x"), held("y")));
    }

    #[test]
    fn what_a_list_or_map_without_bounds_holds_is_not_known() {
        for (test, items) in [
            ("array_has(address, 1)", "elements"),
            ("list_contains(address, 'x')", "elements"),
            ("(3 = ANY(address))", "elements"),
            ("map_contains_key(address, 1)", "keys"),
            ("map_contains_value(address, 1)", "values"),
        ] {
            check(test, &format!("unknown(no bounds are known of the {items} of `address`)"));
        }
    }

    #[test]
    fn a_misspelt_column_is_guessed() {
        check_faults("prise > 1", &["unknown column `prise`, did you mean `price`?"]);
        check_faults("quantity > 1", &["unknown column `quantity`"]);
    }

    #[test]
    fn all_faults_are_reported_together() {
        check_faults(
            "prise > 1 AND price > 'x' AND name AND (f(zzz) = 1 OR flag = 1)",
            &[
                "unknown column `prise`, did you mean `price`?",
                "column `price`: `x` is not a value of type decimal(9,2)",
                "column `Name` is of type string, not boolean",
                "unknown column `zzz`",
                "column `flag`: 1 cannot be compared with a column of type boolean",
            ],
        );
    }

    #[test]
    fn a_text_against_binary_keeps_all() {
        let reason = "engines read the text 'ab' against the binary column `raw` differently; write X'...'";
        check("raw = 'ab'", &format!("unknown({reason})"));
        check("raw = X'6162'", "#9 binary in [6162, 6162]");
    }

    #[test]
    fn the_text_of_a_very_long_conjunct_is_cut() {
        let list: Vec<String> = (0..1000).map(|value| value.to_string()).collect();
        let predicate = Predicate::parse_sql(&format!("price IN ({})", list.join(", "))).unwrap();
        let bound = BoundPredicate::bind(&predicate, &columns(), &BindOptions::default()).unwrap();
        let [conjunct] = bound.conjuncts.as_slice() else { panic!("one conjunct") };
        assert!(conjunct.expression.ends_with(" ..."), "{}", conjunct.expression);
        assert!(conjunct.expression.len() <= MAX_SHOWN_BYTES + 4);
    }
}
