//! What was asked: a filter as its author wrote it, not yet held against any schema.

use std::fmt;

use prunus_statistics::{FieldId, Literal, PrimitiveType};

use crate::function::{CastKind, Function, SqlType};
use crate::{ContainsTest, IntervalLiteral, JsonLiteral};

/// The name of a column: one part, or several for a field inside structs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// The parts from the top down; of one that is named by its id, `#id`.
    pub parts: Vec<NamePart>,
    /// The id that it is named by and nothing else: a column may be called `#1`.
    pub id: Option<FieldId>,
}

/// One part of a column's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamePart {
    /// The name.
    pub text: String,
    /// Whether it stood in quotes, and so must match to the letter.
    pub quoted: bool,
}

impl ColumnName {
    /// A name whose parts match to the letter.
    pub fn exact<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self { parts: parts.into_iter().map(|part| NamePart { text: part.into(), quoted: true }).collect(), id: None }
    }

    /// The column of this id, whatever it is called.
    pub fn of_id(id: FieldId) -> Self {
        Self { id: Some(id), ..Self::exact([id.to_string()]) }
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            if part.quoted {
                write!(f, "\"{}\"", part.text.replace('"', "\"\""))?;
            } else {
                f.write_str(&part.text)?;
            }
        }
        Ok(())
    }
}

/// A value that a predicate speaks of.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A column.
    Column(ColumnName),
    /// A literal.
    Literal(Literal),
    /// A literal of JSON, whose type is that of the column it meets.
    Json(JsonLiteral),
    /// NULL.
    Null,
    /// A length of time, to be added to a date or timestamp or taken from one.
    Interval(IntervalLiteral),
    /// A function or operator over other expressions.
    Call {
        /// The function.
        function: Function,
        /// What it is applied to.
        arguments: Vec<Expression>,
    },
    /// `CAST(expression AS target)` or `TRY_CAST(...)`.
    Cast {
        /// What is cast.
        expression: Box<Expression>,
        /// To what.
        target: PrimitiveType,
        /// What becomes of a value that the target cannot hold.
        kind: CastKind,
    },
    /// `CASE WHEN condition THEN value ... ELSE otherwise END`; null without ELSE.
    Case {
        /// Conditions with their values, in order.
        branches: Vec<(Predicate, Expression)>,
        /// The value where no condition is true.
        otherwise: Option<Box<Expression>>,
    },
    /// An expression that pruning has no rule for.
    Other(Unsupported),
}

impl Expression {
    /// Whether it is made of other expressions.
    pub(crate) fn is_computed(&self) -> bool {
        matches!(self, Self::Call { .. } | Self::Cast { .. } | Self::Case { .. })
    }
}

/// A part of a filter that pruning has no rule for: it keeps every file, and the plan's metrics name it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// The expression as it was written; one of SQL stands in parentheses unless it reads as the same without, wherever it
    /// stands.
    pub expression: String,
    /// The language that it is written in.
    pub language: FilterLanguage,
    /// The columns that it names; they must exist all the same.
    pub columns: Vec<ColumnName>,
    /// Why there is no rule for it, where more can be said than that there is none.
    pub reason: Option<String>,
}

/// The languages in which a filter may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilterLanguage {
    /// A SQL boolean expression.
    Sql,
    /// An expression as the Iceberg REST specification writes it.
    IcebergJson,
}

/// The six comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CompareOp {
    Eq,
    NotEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
}

impl CompareOp {
    /// The comparison with its sides swapped.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Self::Eq => Self::Eq,
            Self::NotEq => Self::NotEq,
            Self::Lt => Self::Gt,
            Self::LtEq => Self::GtEq,
            Self::Gt => Self::Lt,
            Self::GtEq => Self::LtEq,
        }
    }
}

impl fmt::Display for CompareOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eq => "=",
            Self::NotEq => "<>",
            Self::Lt => "<",
            Self::LtEq => "<=",
            Self::Gt => ">",
            Self::GtEq => ">=",
        })
    }
}

/// What `p IS ...` tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TruthValue {
    True,
    False,
    Unknown,
}

/// A boolean expression over columns. Its text form is SQL, and reads back as the same predicate.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// TRUE, FALSE or NULL.
    Constant(Option<bool>),
    /// A boolean column.
    Column(ColumnName),
    /// `left op right`.
    Compare {
        /// The left side.
        left: Expression,
        /// The comparison.
        op: CompareOp,
        /// The right side.
        right: Expression,
    },
    /// `left IS [NOT] DISTINCT FROM right`.
    Distinct {
        /// The left side.
        left: Expression,
        /// The right side.
        right: Expression,
        /// Whether NOT stood there.
        negated: bool,
    },
    /// `expression [NOT] IN (list)`.
    In {
        /// What is looked for.
        expression: Expression,
        /// Where.
        list: Vec<Expression>,
        /// Whether NOT stood there.
        negated: bool,
    },
    /// `expression [NOT] BETWEEN low AND high`.
    Between {
        /// What is compared.
        expression: Expression,
        /// The lower end, included.
        low: Expression,
        /// The upper end, included.
        high: Expression,
        /// Whether NOT stood there.
        negated: bool,
    },
    /// `expression IS [NOT] NULL`.
    IsNull {
        /// What is tested.
        expression: Expression,
        /// Whether NOT stood there.
        negated: bool,
    },
    /// `expression [NOT] LIKE 'pattern' [ESCAPE 'e']`.
    Like {
        /// What is tested.
        expression: Expression,
        /// The pattern.
        pattern: String,
        /// The character that takes a wildcard's meaning away; engines differ on what it is where none is given.
        escape: Option<char>,
        /// Whether NOT stood there.
        negated: bool,
    },
    /// A computed expression that is a condition.
    Holds(Expression),
    /// `isnan(expression)`. Of null some engines say false, others null.
    IsNan(Expression),
    /// `starts_with(expression, 'prefix')`.
    StartsWith {
        /// What is tested.
        expression: Expression,
        /// How it must begin.
        prefix: String,
    },
    /// Whether the list or map of a column holds a value: `array_has(column, value)`.
    Contains {
        /// The list or map.
        column: ColumnName,
        /// Which items are tested, and how the test was written.
        test: ContainsTest,
        /// What is sought.
        value: Expression,
    },
    /// A predicate of Iceberg's logic, which has no null: where the inner one is null, this one is false by Iceberg's
    /// definition (and true if negated), but null in the engines that read the files; so it may be either. As SQL text it is
    /// `(predicate) IS [NOT] TRUE`, which is the definition to the letter: it keeps every row that Iceberg says matches.
    TwoValued {
        /// What is tested.
        predicate: Box<Predicate>,
        /// Whether it must not hold.
        negated: bool,
    },
    /// `(predicate) IS [NOT] TRUE | FALSE | UNKNOWN`.
    Is {
        /// What is tested.
        predicate: Box<Predicate>,
        /// For what.
        value: TruthValue,
        /// Whether NOT stood there.
        negated: bool,
    },
    /// `NOT (predicate)`.
    Not(Box<Predicate>),
    /// All of these; at least two.
    And(Vec<Predicate>),
    /// Any of these; at least two.
    Or(Vec<Predicate>),
    /// A predicate that pruning has no rule for.
    Other(Unsupported),
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => write!(f, "{name}"),
            Self::Literal(literal) => write!(f, "{literal}"),
            Self::Json(literal) => write!(f, "{literal}"),
            Self::Null => f.write_str("NULL"),
            Self::Interval(interval) => write!(f, "{interval}"),
            Self::Call { function, arguments } => function.write(f, arguments),
            Self::Cast { expression, target, kind } => {
                let word = if *kind == CastKind::Cast { "CAST" } else { "TRY_CAST" };
                write!(f, "{word}({expression} AS {})", SqlType(*target))
            }
            Self::Case { branches, otherwise } => {
                f.write_str("CASE")?;
                branches.iter().try_for_each(|(condition, value)| write!(f, " WHEN {condition} THEN {value}"))?;
                if let Some(otherwise) = otherwise {
                    write!(f, " ELSE {otherwise}")?;
                }
                f.write_str(" END")
            }
            Self::Other(other) => write!(f, "{other}"),
        }
    }
}

/// What is JSON stands in a call of a function that SQL has not, so that the text is SQL and has no rule either.
impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.language {
            FilterLanguage::Sql => f.write_str(&self.expression),
            FilterLanguage::IcebergJson => write!(f, "iceberg_expression('{}')", self.expression.replace('\'', "''")),
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = |negated: bool| if negated { "NOT " } else { "" };
        match self {
            Self::Constant(None) => f.write_str("NULL"),
            Self::Constant(Some(value)) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Self::Column(name) => write!(f, "{name}"),
            Self::Compare { left, op, right } => write!(f, "{left} {op} {right}"),
            Self::Distinct { left, right, negated } => write!(f, "{left} IS {}DISTINCT FROM {right}", not(*negated)),
            Self::In { expression, list, negated } => {
                write!(f, "{expression} {}IN (", not(*negated))?;
                write_joined(f, list, ", ")?;
                f.write_str(")")
            }
            Self::Between { expression, low, high, negated } => {
                write!(f, "{expression} {}BETWEEN {low} AND {high}", not(*negated))
            }
            Self::IsNull { expression, negated } => write!(f, "{expression} IS {}NULL", not(*negated)),
            Self::Like { expression, pattern, escape, negated } => {
                write!(f, "{expression} {}LIKE {}", not(*negated), Literal::Text(pattern.clone()))?;
                escape.map_or(Ok(()), |escape| write!(f, " ESCAPE {}", Literal::Text(escape.to_string())))
            }
            Self::Holds(expression) => write!(f, "{expression}"),
            Self::IsNan(expression) => write!(f, "isnan({expression})"),
            Self::StartsWith { expression, prefix } => {
                write!(f, "starts_with({expression}, {})", Literal::Text(prefix.clone()))
            }
            Self::Contains { column, test, value } => test.write(f, column, value),
            Self::TwoValued { predicate, negated } => write!(f, "({predicate}) IS {}TRUE", not(*negated)),
            Self::Is { predicate, value, negated } => {
                let value = match value {
                    TruthValue::True => "TRUE",
                    TruthValue::False => "FALSE",
                    TruthValue::Unknown => "UNKNOWN",
                };
                write!(f, "({predicate}) IS {}{value}", not(*negated))
            }
            Self::Not(predicate) => write!(f, "NOT ({predicate})"),
            Self::And(parts) => write_joined(f, &parts.iter().map(Operand).collect::<Vec<_>>(), " AND "),
            Self::Or(parts) => write_joined(f, &parts.iter().map(Operand).collect::<Vec<_>>(), " OR "),
            Self::Other(other) => write!(f, "{other}"),
        }
    }
}

/// A part of a conjunction or disjunction, in parentheses where it would read otherwise without: DataFusion, for one, takes all
/// that follows `IS DISTINCT FROM` for its right side.
struct Operand<'a>(&'a Predicate);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Predicate::And(_) | Predicate::Or(_) | Predicate::Distinct { .. } | Predicate::Other(_) => {
                write!(f, "({})", self.0)
            }
            plain => write!(f, "{plain}"),
        }
    }
}

fn write_joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, parts: &[T], separator: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{part}")?;
    }
    Ok(())
}
