//! From predicates to JSON.

use serde_json::{Map, Value, json};

use super::IcebergForm;
use crate::{ColumnName, CompareOp, Expression, FilterLanguage, JsonLiteral, JsonScalar, Predicate, Unsupported};

pub(super) fn predicate(predicate: &Predicate, form: IcebergForm) -> Option<Value> {
    Writer { form }.predicate(predicate, false)
}

struct Writer {
    form: IcebergForm,
}

impl Writer {
    /// `negated` says whether an odd number of NOTs is around the predicate.
    fn predicate(&self, predicate: &Predicate, negated: bool) -> Option<Value> {
        match predicate {
            Predicate::Constant(value) => value.map(Value::Bool),
            Predicate::And(parts) => self.chain("and", parts, negated),
            Predicate::Or(parts) => self.chain("or", parts, negated),
            Predicate::Not(inner) => Some(json!({"type": "not", "child": self.predicate(inner, !negated)?})),
            Predicate::IsNull { expression, negated } => {
                self.of_one(if *negated { "not-null" } else { "is-null" }, expression)
            }
            Predicate::IsNan(expression) => self.of_one("is-nan", expression),
            Predicate::TwoValued { predicate, negated: true } => self.test(predicate, true),
            Predicate::TwoValued { predicate, negated: false } if negated => self.test(predicate, false),
            Predicate::Other(other) => of_unsupported(other),
            // Under a NOT a comparison without `TwoValued` is null where a value is: Iceberg cannot say that.
            _ if negated => None,
            test => self.test(test, false),
        }
    }

    /// Connectives take two operands; halves of halves keep the expression as flat as can be.
    fn chain(&self, connective: &str, parts: &[Predicate], negated: bool) -> Option<Value> {
        match parts {
            [] => None,
            [single] => self.predicate(single, negated),
            parts => {
                let (left, right) = parts.split_at(parts.len().div_ceil(2));
                let left = self.chain(connective, left, negated)?;
                let right = self.chain(connective, right, negated)?;
                Some(json!({"type": connective, "left": left, "right": right}))
            }
        }
    }

    fn test(&self, test: &Predicate, negated: bool) -> Option<Value> {
        match test {
            Predicate::Compare { left, op, right } => {
                let name = match (op, negated) {
                    (CompareOp::Eq, false) => "eq",
                    (CompareOp::Eq, true) => "not-eq",
                    (CompareOp::Lt, false) => "lt",
                    (CompareOp::LtEq, false) => "lt-eq",
                    (CompareOp::Gt, false) => "gt",
                    (CompareOp::GtEq, false) => "gt-eq",
                    _ => return None,
                };
                self.of_two(name, left, right)
            }
            Predicate::In { expression, list, negated: false } => {
                let mut object = self.of_one(if negated { "not-in" } else { "in" }, expression)?;
                let values = list.iter().map(|item| match item {
                    Expression::Json(literal) => self.literal(literal),
                    _ => None,
                });
                let values = values.collect::<Option<Vec<_>>>()?;
                object.as_object_mut()?.insert("values".to_owned(), Value::Array(values));
                Some(object)
            }
            Predicate::IsNan(expression) if negated => self.of_one("not-nan", expression),
            Predicate::StartsWith { expression, prefix } => {
                let literal = JsonLiteral { scalar: JsonScalar::Text(prefix.clone()), data_type: None };
                let name = if negated { "not-starts-with" } else { "starts-with" };
                self.of_two(name, expression, &Expression::Json(literal))
            }
            _ => None,
        }
    }

    fn of_one(&self, name: &str, operand: &Expression) -> Option<Value> {
        let (key, operand) = match self.form {
            IcebergForm::Term => ("term", self.term(operand)?),
            IcebergForm::Reference => ("child", self.operand(operand)?),
        };
        Some(json!({"type": name, key: operand}))
    }

    fn of_two(&self, name: &str, left: &Expression, right: &Expression) -> Option<Value> {
        match (self.form, right) {
            (IcebergForm::Term, Expression::Json(literal)) => {
                Some(json!({"type": name, "term": self.term(left)?, "value": self.literal(literal)?}))
            }
            (IcebergForm::Term, _) => None,
            (IcebergForm::Reference, _) => {
                Some(json!({"type": name, "left": self.operand(left)?, "right": self.operand(right)?}))
            }
        }
    }

    /// The operand of the older form: never a literal.
    fn term(&self, operand: &Expression) -> Option<Value> {
        match operand {
            Expression::Json(_) => None,
            operand => self.operand(operand),
        }
    }

    fn operand(&self, operand: &Expression) -> Option<Value> {
        match operand {
            Expression::Column(name) => self.reference(name),
            Expression::Json(literal) => self.literal(literal),
            Expression::Other(other) => of_unsupported(other),
            _ => None,
        }
    }

    fn reference(&self, name: &ColumnName) -> Option<Value> {
        if !name.parts.iter().all(|part| part.quoted) {
            return None;
        }
        if let Some(id) = name.id {
            return Some(json!({"type": "reference", "id": id.0}));
        }
        let path = name.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".");
        Some(match self.form {
            IcebergForm::Term => Value::String(path),
            IcebergForm::Reference => json!({"type": "reference", "name": path}),
        })
    }

    fn literal(&self, literal: &JsonLiteral) -> Option<Value> {
        let value = match &literal.scalar {
            JsonScalar::Boolean(value) => Value::Bool(*value),
            JsonScalar::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(signed), _) => signed.into(),
                (_, Ok(unsigned)) => unsigned.into(),
                _ => return None,
            },
            JsonScalar::Float(value) => Value::Number(serde_json::Number::from_f64(*value)?),
            JsonScalar::Text(text) => Value::String(text.clone()),
        };
        if self.form == IcebergForm::Term && literal.data_type.is_none() {
            return Some(value);
        }
        let mut object = Map::new();
        object.insert("type".to_owned(), "literal".into());
        object.insert("value".to_owned(), value);
        if let Some(data_type) = &literal.data_type {
            object.insert("data-type".to_owned(), data_type.as_str().into());
        }
        Some(Value::Object(object))
    }
}

fn of_unsupported(other: &Unsupported) -> Option<Value> {
    match other.language {
        FilterLanguage::IcebergJson => serde_json::from_str(&other.expression).ok(),
        FilterLanguage::Sql => None,
    }
}
