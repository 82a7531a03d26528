//! Predicates of every form over the columns of a case.

use prunus_pruner::{
    Column, ColumnName, CompareOp, Expression, FilterLanguage, NamePart, Predicate, TruthValue, Unsupported,
};
use prunus_statistics::{Literal, Number, PrimitiveType};

use super::choices::Choices;
use super::rows::literal;

const OPS: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::NotEq, CompareOp::Lt, CompareOp::LtEq, CompareOp::Gt, CompareOp::GtEq];
const TRUTHS: [TruthValue; 3] = [TruthValue::True, TruthValue::False, TruthValue::Unknown];

/// A predicate nested at most `depth` deep.
pub(crate) fn predicate(choices: &mut Choices, columns: &[Column], depth: usize) -> Predicate {
    if depth == 0 || choices.below(5) < 2 {
        return leaf(choices, columns);
    }
    let inner = |choices: &mut Choices| predicate(choices, columns, depth - 1);
    match choices.below(6) {
        0 => Predicate::Not(Box::new(inner(choices))),
        1 => Predicate::And((0..2 + choices.below(2)).map(|_| inner(choices)).collect()),
        2 => Predicate::Or((0..2 + choices.below(2)).map(|_| inner(choices)).collect()),
        3 => {
            let (value, negated) = (*choices.of(&TRUTHS), choices.once_in(2));
            Predicate::Is { predicate: Box::new(inner(choices)), value, negated }
        }
        // Ranges and lists of one column, which are merged, under NOT as well.
        _ => {
            let column = choices.of(columns);
            let parts = (0..2 + choices.below(2)).map(|_| merged(choices, column)).collect();
            if choices.once_in(4) { Predicate::Not(Box::new(Predicate::Or(parts))) } else { Predicate::And(parts) }
        }
    }
}

fn merged(choices: &mut Choices, column: &Column) -> Predicate {
    match choices.below(4) {
        0 => Predicate::Not(Box::new(comparison(choices, column))),
        1 => {
            let list = (0..=choices.below(4)).map(|_| item(choices, column.column_type.unwrap())).collect();
            Predicate::In { expression: named(choices, column), list, negated: false }
        }
        _ => comparison(choices, column),
    }
}

fn leaf(choices: &mut Choices, columns: &[Column]) -> Predicate {
    let column = choices.of(columns);
    let column_type = column.column_type.unwrap();
    match choices.below(17) {
        0..=3 => comparison(choices, column),
        4 | 5 => {
            let list = (0..=choices.below(4)).map(|_| item(choices, column_type)).collect();
            Predicate::In { expression: named(choices, column), list, negated: choices.once_in(2) }
        }
        6 | 7 => Predicate::Between {
            expression: named(choices, column),
            low: item(choices, column_type),
            high: item(choices, column_type),
            negated: choices.once_in(2),
        },
        8 | 9 => Predicate::IsNull { expression: named(choices, column), negated: choices.once_in(2) },
        10 | 11 => {
            let (mut left, mut right) = (named(choices, column), item(choices, column_type));
            if choices.once_in(3) {
                std::mem::swap(&mut left, &mut right);
            }
            Predicate::Distinct { left, right, negated: choices.once_in(2) }
        }
        12 => match columns.iter().find(|column| column.column_type == Some(PrimitiveType::Boolean)) {
            Some(column) => Predicate::Column(name(choices, column)),
            None => Predicate::Constant([Some(true), Some(false), None][choices.below(3)]),
        },
        13 => two_columns(choices, columns),
        14 => two_literals(choices),
        15 => test_by_function(choices, column),
        _ => with_unsupported(choices, column),
    }
}

fn test_by_function(choices: &mut Choices, column: &Column) -> Predicate {
    let tested = named(choices, column);
    if column.column_type.is_some_and(PrimitiveType::is_float) {
        return Predicate::IsNan(tested);
    }
    let prefix = choices.text(&["a", "", "ab", "zz", "\u{10ffff}", "é"]).to_owned();
    Predicate::StartsWith { expression: tested, prefix }
}

fn comparison(choices: &mut Choices, column: &Column) -> Predicate {
    let (left, op, right) =
        (named(choices, column), *choices.of(&OPS), Expression::Literal(literal(choices, column.column_type.unwrap())));
    if choices.once_in(4) {
        Predicate::Compare { left: right, op: op.flipped(), right: left }
    } else {
        Predicate::Compare { left, op, right }
    }
}

fn item(choices: &mut Choices, column_type: PrimitiveType) -> Expression {
    if choices.once_in(10) { Expression::Null } else { Expression::Literal(literal(choices, column_type)) }
}

fn two_columns(choices: &mut Choices, columns: &[Column]) -> Predicate {
    let left = choices.of(columns);
    let alike: Vec<Column> = columns.iter().filter(|column| column.column_type == left.column_type).cloned().collect();
    let right = choices.of(&alike);
    let (left, right) = (named(choices, left), named(choices, right));
    if choices.once_in(3) {
        Predicate::Distinct { left, right, negated: choices.once_in(2) }
    } else {
        Predicate::Compare { left, op: *choices.of(&OPS), right }
    }
}

fn two_literals(choices: &mut Choices) -> Predicate {
    let numbers =
        ["1", "1.0", "0.1", "0.10000000000000000001", "-2", "9007199254740993", "9007199254740992", "1e400", "2e400"];
    let side = |choices: &mut Choices| match choices.below(6) {
        0..=3 => Expression::Literal(Literal::Number(Number::parse(choices.text(&numbers)).unwrap())),
        4 => Expression::Literal(Literal::Text(choices.text(&["a", "b"]).to_owned())),
        _ => Expression::Null,
    };
    let (left, right) = (side(choices), side(choices));
    match choices.below(3) {
        0 => Predicate::In { expression: left, list: vec![right, side(choices)], negated: choices.once_in(2) },
        1 => Predicate::Distinct { left, right, negated: choices.once_in(2) },
        _ => Predicate::Compare { left, op: *choices.of(&OPS), right },
    }
}

/// Something that pruning has no rule for, alone or as an operand.
fn with_unsupported(choices: &mut Choices, column: &Column) -> Predicate {
    let name = ColumnName::exact([column.path[0].clone()]);
    let (expression, language) = (format!("f({name})"), FilterLanguage::Sql);
    let unsupported = Unsupported { expression, language, columns: vec![name], reason: None };
    let operand = Expression::Other(unsupported.clone());
    let item = item(choices, column.column_type.unwrap());
    match choices.below(5) {
        0 => Predicate::Other(unsupported),
        1 => Predicate::IsNull { expression: operand, negated: choices.once_in(2) },
        2 => Predicate::Distinct { left: operand, right: item, negated: choices.once_in(2) },
        3 => Predicate::In { expression: item, list: vec![operand], negated: choices.once_in(2) },
        _ => Predicate::Compare { left: operand, op: *choices.of(&OPS), right: item },
    }
}

fn named(choices: &mut Choices, column: &Column) -> Expression {
    Expression::Column(name(choices, column))
}

fn name(choices: &mut Choices, column: &Column) -> ColumnName {
    let text = column.path[0].clone();
    if choices.once_in(3) {
        ColumnName::exact([text])
    } else {
        ColumnName { parts: vec![NamePart { text, quoted: false }], id: None }
    }
}
