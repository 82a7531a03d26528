//! What to compute over zone maps, and which of their columns that needs.

use std::collections::BTreeSet;
use std::fmt;

use prunus_statistics::{FieldId, PhysicalType, PrimitiveType, Value};

use crate::bind::{BoundColumn, BoundLeaf, BoundNode, BoundPredicate, BoundTest, Endpoint};
use crate::kernels::{Item, SortedList};
use crate::outcome::OutcomeSet;
use crate::value;

/// A compiled filter. The same program prunes containers of every level: manifests, files, row groups.
#[derive(Clone, Debug)]
pub struct PruningProgram {
    conjuncts: Vec<Conjunct>,
    /// The conjuncts, cheapest first.
    order: Vec<usize>,
}

/// One of the conditions that must all hold.
#[derive(Clone, Debug)]
pub struct Conjunct {
    pub(crate) node: Node,
    /// Its text, as the filter has it; cut where it is very long.
    pub expression: String,
    /// Why it cannot prune, where that is already plain from the filter.
    pub unsupported: Option<String>,
    /// The columns that it names.
    pub(crate) names: BTreeSet<FieldId>,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Constant(OutcomeSet),
    Leaf(Leaf),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Is(Box<Node>, OutcomeSet),
    TwoValued(Box<Node>),
    /// A test of value expressions, with the conditions of their CASEs.
    Value(Box<value::ValueTest>, Vec<Node>),
    Unknown,
}

/// A test of one column's zone maps.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) column: BoundColumn,
    pub(crate) test: Test,
    pub(crate) on_nan: OutcomeSet,
}

#[derive(Clone, Debug)]
pub(crate) enum Test {
    Int32(ValueTest<i32>),
    Int64(ValueTest<i64>),
    UInt64(ValueTest<u64>),
    Float64(ValueTest<f64>),
    Int128(ValueTest<i128>),
    Bytes(ValueTest<Vec<u8>>),
    IsNull,
    Always(bool),
    Nan { equality: bool },
}

/// A test of values in their physical type.
#[derive(Clone, Debug)]
pub(crate) enum ValueTest<T> {
    Range { lower: Option<End<T>>, upper: Option<End<T>> },
    In(SortedList<T>),
}

/// An end of a range; `low` and `high` differ where engines take the literal for different values.
#[derive(Clone, Debug)]
pub(crate) struct End<T> {
    pub(crate) low: T,
    pub(crate) high: T,
    pub(crate) inclusive: bool,
}

impl PruningProgram {
    /// Compiles a bound predicate. Nothing can fail: what has no rule keeps every container.
    pub fn compile(predicate: BoundPredicate) -> Self {
        let conjuncts: Vec<Conjunct> = predicate
            .into_conjuncts()
            .into_iter()
            .map(|bound| {
                let mut unsupported = None;
                let node = compile_node(bound.node, &mut unsupported);
                Conjunct { node, expression: bound.expression, unsupported, names: bound.names }
            })
            .collect();
        let mut order: Vec<usize> = (0..conjuncts.len()).collect();
        order.sort_by_key(|index| conjuncts.get(*index).map_or(0, |conjunct| cost(&conjunct.node)));
        Self { conjuncts, order }
    }

    /// The conjuncts in the order of the filter.
    pub fn conjuncts(&self) -> &[Conjunct] {
        &self.conjuncts
    }

    /// The conjuncts with their places in the filter, cheapest first.
    pub(crate) fn cheapest_first(&self) -> impl Iterator<Item = (usize, &Conjunct)> {
        self.order.iter().filter_map(|index| Some((*index, self.conjuncts.get(*index)?)))
    }

    /// The columns whose zone maps the program reads, each once.
    pub fn columns(&self) -> Vec<(FieldId, PrimitiveType)> {
        let mut columns = Vec::new();
        for conjunct in &self.conjuncts {
            for column in conjunct.node.columns() {
                let column = (column.id, column.column_type);
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
        }
        columns
    }
}

impl Node {
    /// The columns that it reads.
    pub(crate) fn columns(&self) -> Vec<&BoundColumn> {
        let mut columns: Vec<&BoundColumn> = self.leaves().into_iter().map(|leaf| &leaf.column).collect();
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            match node {
                Self::Value(test, conditions) => {
                    columns.extend(test.columns());
                    open.extend(conditions);
                }
                Self::Not(inner) | Self::Is(inner, _) | Self::TwoValued(inner) => open.push(inner),
                Self::All(parts) | Self::Any(parts) => open.extend(parts),
                Self::Leaf(_) | Self::Constant(_) | Self::Unknown => {}
            }
        }
        columns
    }

    /// The tests of columns in it.
    pub(crate) fn leaves(&self) -> Vec<&Leaf> {
        let mut leaves = Vec::new();
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            match node {
                Self::Leaf(leaf) => leaves.push(leaf),
                Self::Not(inner) | Self::Is(inner, _) | Self::TwoValued(inner) => open.push(inner),
                Self::All(parts) | Self::Any(parts) => open.extend(parts),
                Self::Value(_, conditions) => open.extend(conditions),
                Self::Constant(_) | Self::Unknown => {}
            }
        }
        leaves
    }
}

pub(crate) fn compile_node(node: BoundNode, unsupported: &mut Option<String>) -> Node {
    match node {
        BoundNode::Constant(outcomes) => Node::Constant(outcomes),
        BoundNode::Leaf(leaf) => compile_leaf(leaf),
        BoundNode::Not(inner) => Node::Not(Box::new(compile_node(*inner, unsupported))),
        BoundNode::All(parts) => Node::All(parts.into_iter().map(|part| compile_node(part, unsupported)).collect()),
        BoundNode::Any(parts) => Node::Any(parts.into_iter().map(|part| compile_node(part, unsupported)).collect()),
        BoundNode::Is(inner, matching) => Node::Is(Box::new(compile_node(*inner, unsupported)), matching),
        BoundNode::TwoValued(inner) => Node::TwoValued(Box::new(compile_node(*inner, unsupported))),
        BoundNode::Value(test, conditions) => {
            let conditions = conditions.into_iter().map(|condition| compile_node(condition, unsupported)).collect();
            Node::Value(test, conditions)
        }
        BoundNode::Unknown(reason) => {
            unsupported.get_or_insert(reason);
            Node::Unknown
        }
    }
}

fn compile_leaf(leaf: BoundLeaf) -> Node {
    let BoundLeaf { column, test, on_nan } = leaf;
    let test = match test {
        BoundTest::IsNull => Some(Test::IsNull),
        BoundTest::Always(value) => Some(Test::Always(value)),
        BoundTest::Nan { equality } => Some(Test::Nan { equality }),
        values => match column.column_type.physical_type() {
            PhysicalType::Int32 => value_test(values, narrow).map(Test::Int32),
            PhysicalType::Int64 => value_test(values, narrow).map(Test::Int64),
            PhysicalType::UInt64 => value_test(values, narrow).map(Test::UInt64),
            PhysicalType::Int128 => value_test(values, narrow).map(Test::Int128),
            PhysicalType::Float64 => value_test(values, as_float).map(Test::Float64),
            PhysicalType::Bytes => value_test(values, as_bytes).map(Test::Bytes),
        },
    };
    // A value that its column's physical type cannot hold does not come out of binding; were there one, it would keep all.
    test.map_or(Node::Unknown, |test| Node::Leaf(Leaf { column, test, on_nan }))
}

fn value_test<T: Item>(test: BoundTest, convert: impl Fn(&Value) -> Option<T>) -> Option<ValueTest<T>> {
    let end = |end: Option<Endpoint>| match end {
        None => Some(None),
        Some(Endpoint { low, high, inclusive }) => {
            Some(Some(End { low: convert(&low)?, high: convert(&high)?, inclusive }))
        }
    };
    match test {
        BoundTest::Range { lower, upper } => Some(ValueTest::Range { lower: end(lower)?, upper: end(upper)? }),
        BoundTest::In(values) => {
            let values: Option<Vec<T>> = values.iter().map(convert).collect();
            Some(ValueTest::In(SortedList::new(values?)))
        }
        BoundTest::IsNull | BoundTest::Always(_) | BoundTest::Nan { .. } => None,
    }
}

fn narrow<T: TryFrom<i128>>(value: &Value) -> Option<T> {
    match value {
        Value::Integer(value) => T::try_from(*value).ok(),
        Value::Boolean(value) => T::try_from(i128::from(*value)).ok(),
        Value::Float(_) | Value::Bytes(_) => None,
    }
}

fn as_float(value: &Value) -> Option<f64> {
    if let Value::Float(value) = value { Some(*value) } else { None }
}

fn as_bytes(value: &Value) -> Option<Vec<u8>> {
    if let Value::Bytes(bytes) = value { Some(bytes.clone()) } else { None }
}

/// A rough price per container, to run what is cheap first.
fn cost(node: &Node) -> u32 {
    match node {
        Node::Constant(_) | Node::Unknown => 0,
        Node::Value(..) => 1_000,
        Node::Leaf(leaf) => match &leaf.test {
            Test::IsNull | Test::Always(_) | Test::Nan { .. } => 1,
            Test::Int32(test) => 2 * test.steps(),
            Test::Int64(test) => 3 * test.steps(),
            Test::UInt64(test) => 3 * test.steps(),
            Test::Float64(test) => 3 * test.steps(),
            Test::Int128(test) => 5 * test.steps(),
            Test::Bytes(test) => 40 * test.steps(),
        },
        Node::Not(inner) | Node::Is(inner, _) | Node::TwoValued(inner) => cost(inner),
        Node::All(parts) | Node::Any(parts) => parts.iter().map(cost).fold(0, u32::saturating_add),
    }
}

impl<T: Item> ValueTest<T> {
    fn steps(&self) -> u32 {
        match self {
            Self::Range { .. } => 1,
            Self::In(values) => 4 * (values.len() + 1).ilog2().max(1),
        }
    }
}

impl fmt::Display for PruningProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, conjunct) in self.cheapest_first() {
            write!(f, "{index}: {}", conjunct.node)?;
            match &conjunct.unsupported {
                Some(reason) => writeln!(f, " ({reason})")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Node {
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
            Self::Leaf(leaf) => write!(f, "{} {}", leaf.column.id, leaf.test),
            Self::Not(inner) => write!(f, "not({inner})"),
            Self::All(parts) => list(f, "all", parts),
            Self::Any(parts) => list(f, "any", parts),
            Self::Is(inner, matching) => write!(f, "is {matching}({inner})"),
            Self::TwoValued(inner) => write!(f, "two-valued({inner})"),
            Self::Value(test, _) => write!(f, "{test}"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int32(test) => test.write(f, "int32"),
            Self::Int64(test) => test.write(f, "int64"),
            Self::UInt64(test) => test.write(f, "uint64"),
            Self::Float64(test) => test.write(f, "float64"),
            Self::Int128(test) => test.write(f, "int128"),
            Self::Bytes(test) => test.write(f, "bytes"),
            Self::IsNull => f.write_str("is null"),
            Self::Always(value) => write!(f, "always {value}"),
            Self::Nan { equality } => write!(f, "against NaN (equality: {equality})"),
        }
    }
}

impl<T: Item + fmt::Debug> ValueTest<T> {
    fn write(&self, f: &mut fmt::Formatter<'_>, physical_type: &str) -> fmt::Result {
        match self {
            Self::Range { lower, upper } => {
                let op = |end: &End<T>, inclusive, exclusive| if end.inclusive { inclusive } else { exclusive };
                if let Some(end) = lower {
                    write!(f, "{physical_type} max {} {:?}", op(end, ">=", ">"), end.low)?;
                }
                if let (Some(_), Some(_)) = (lower, upper) {
                    f.write_str(", ")?;
                }
                if let Some(end) = upper {
                    write!(f, "{physical_type} min {} {:?}", op(end, "<=", "<"), end.high)?;
                }
                Ok(())
            }
            Self::In(values) => write!(f, "{physical_type} one of {} values", values.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BindOptions, Column, Predicate};

    fn compile(text: &str) -> PruningProgram {
        let types = ["int32", "int64", "uint64", "float64", "decimal(30,4)", "string", "boolean"];
        let columns: Vec<Column> = (1..)
            .zip(types)
            .map(|(id, column_type)| Column {
                id: FieldId(id),
                path: vec![format!("c{id}")],
                column_type: Some(column_type.parse().unwrap()),
                items: Vec::new(),
            })
            .collect();
        let predicate = Predicate::parse_sql(text).unwrap();
        PruningProgram::compile(BoundPredicate::bind(&predicate, &columns, &BindOptions::default()).unwrap())
    }

    #[test]
    fn a_program_prints_cheapest_first() {
        let program = compile(
            "c6 = 'x' AND c1 IN (1, 2, 3) AND (c2 > 5 OR c5 <= 1) AND c4 BETWEEN 0 AND 2 AND c6 IS NOT NULL AND c3 < 7",
        );
        assert_eq!(
            program.to_string(),
            "\
4: not(#6 is null)
3: all(#4 float64 max >= 0.0, float64 min <= 2.0)
5: #3 uint64 min < 7
2: any(#2 int64 max > 5, #5 int128 min <= 10000)
1: #1 int32 one of 3 values
0: #6 bytes max >= [120], bytes min <= [120]
"
        );
    }

    #[test]
    fn what_cannot_prune_says_why() {
        let program = compile("lower(c6) = 'x' AND (c1 = 1 OR c1 = c2)");
        let reasons: Vec<Option<&str>> =
            program.conjuncts().iter().map(|conjunct| conjunct.unsupported.as_deref()).collect();
        assert_eq!(reasons, [Some("there is no rule for `lower(c6)`"), None]);
        assert_eq!(
            program.to_string(),
            "\
0: unknown (there is no rule for `lower(c6)`)
1: any(#1 int32 max >= 1, int32 min <= 1, #1 = #2)
"
        );
    }

    #[test]
    fn a_program_names_each_column_once() {
        let program = compile("c1 = 1 AND (c1 IN (2) OR NOT c7) AND lower(c6) = 'x'");
        let columns: Vec<i32> = program.columns().into_iter().map(|(id, _)| id.0).collect();
        assert_eq!(columns, [1, 7]);
    }

    #[test]
    fn a_literal_that_the_physical_type_cannot_hold_keeps_all() {
        let lower = Some(Endpoint { low: Value::Integer(0), high: Value::Integer(1 << 40), inclusive: true });
        let test = BoundTest::Range { lower, upper: None };
        assert!(value_test::<i32>(test, narrow).is_none());
    }
}
