//! What can be wrong with a filter.

use std::fmt;

use prunus_statistics::{LiteralError, PrimitiveType};

/// A filter that cannot be planned. After binding nothing can fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The text is not one SQL expression.
    #[error("the filter is not a SQL expression: {message}")]
    Syntax {
        /// What the parser said, with line and column.
        message: String,
    },
    /// The JSON is not built as an Iceberg expression.
    #[error("the filter is not an Iceberg expression{}: {message}", if at.is_empty() { String::new() } else { format!(" at {at}") })]
    Json {
        /// The place, as a JSON pointer; empty for the whole.
        at: String,
        /// What is wrong there.
        message: String,
    },
    /// The text is too long.
    #[error("the filter has {bytes} bytes, more than {max}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// Too many operators, or parentheses inside each other too deeply.
    #[error("the filter is too complex: more than {max} {what}")]
    TooComplex {
        /// What there are too many of.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// Something that a filter on rows cannot hold.
    #[error("a filter cannot hold {what}: `{expression}`")]
    NotAllowed {
        /// What it is.
        what: &'static str,
        /// The expression.
        expression: String,
    },
    /// A value stands where a condition is needed.
    #[error("`{expression}` is not a condition")]
    NotACondition {
        /// The expression.
        expression: String,
    },
    /// Text after DATE, TIME or TIMESTAMP that is none.
    #[error("`{text}` is not a {type_name}")]
    MalformedLiteral {
        /// The text.
        text: String,
        /// What it should be.
        type_name: &'static str,
    },
    /// A column that the schema does not have.
    #[error("unknown column `{name}`{}", suggestion.as_ref().map(ToString::to_string).unwrap_or_default())]
    UnknownColumn {
        /// The name as written.
        name: String,
        /// What was probably meant.
        suggestion: Option<ColumnSuggestion>,
    },
    /// A name without quotes that more than one column has but for its case.
    #[error(
        "column `{name}` is ambiguous: several columns have that name but for upper and lower case; write it in double quotes"
    )]
    AmbiguousColumn {
        /// The name as written.
        name: String,
    },
    /// A literal that does not go with its column.
    #[error("column `{column}`: {error}{}", as_text(error))]
    Literal {
        /// The column.
        column: String,
        /// What is wrong.
        error: LiteralError,
    },
    /// A column that is not boolean stands where a condition is needed.
    #[error("column `{column}` is of type {column_type}, not boolean")]
    NotBoolean {
        /// The column.
        column: String,
        /// Its type.
        column_type: String,
    },
}

/// What was probably meant by a name that no column has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnSuggestion {
    /// A column with nearly that name.
    Column(String),
    /// The column of that name without what stands before it.
    WithoutTable(String),
    /// In SQL, a text.
    Text(String),
}

/// The end of a sentence about the name.
impl fmt::Display for ColumnSuggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => write!(f, ", did you mean `{name}`?"),
            Self::WithoutTable(name) => write!(f, ": columns are named without their table, `{name}`"),
            Self::Text(text) => {
                write!(f, ": double quotes are for names, a text takes single ones, '{}'", text.replace('\'', "''"))
            }
        }
    }
}

/// What to write instead of a number where texts are.
fn as_text(error: &LiteralError) -> String {
    match error {
        LiteralError::Mismatch { literal, column_type: PrimitiveType::String }
            if literal.starts_with(|first: char| first.is_ascii_digit() || first == '-') =>
        {
            format!("; write '{literal}'")
        }
        _ => String::new(),
    }
}

impl FilterError {
    /// The same fault of a filter that is SQL, in which what stands in double quotes may have been meant as a text.
    #[must_use]
    pub fn in_sql(self) -> Self {
        let text = |name: &str| Some(name.strip_prefix('"')?.strip_suffix('"')?.to_owned());
        match self {
            Self::UnknownColumn { name, suggestion: None } => {
                let suggestion = text(&name).filter(|text| !text.contains('"')).map(ColumnSuggestion::Text);
                Self::UnknownColumn { name, suggestion }
            }
            other => other,
        }
    }

    /// The column at fault, if there is one.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::UnknownColumn { name: column, .. }
            | Self::AmbiguousColumn { name: column }
            | Self::Literal { column, .. }
            | Self::NotBoolean { column, .. } => Some(column),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use prunus_statistics::FieldId;
    use serde_json::json;

    use super::*;
    use crate::{BindOptions, BoundPredicate, Column, Predicate};

    /// What is said of a predicate over some columns: why it is none, or of which part there is no rule.
    fn said(predicate: Result<Predicate, FilterError>) -> String {
        let columns = [("country", "string"), ("day", "date"), ("Weird Name", "boolean"), ("at", "timestamp(us)")];
        let columns: Vec<Column> = columns
            .into_iter()
            .zip(1..)
            .map(|((name, column_type), id)| Column {
                id: FieldId(id),
                path: vec![name.to_owned()],
                column_type: Some(column_type.parse().unwrap()),
                items: Vec::new(),
            })
            .collect();
        let bound = predicate
            .map_err(|error| vec![error])
            .and_then(|predicate| BoundPredicate::bind(&predicate, &columns, &BindOptions::default()));
        match bound {
            Ok(bound) => bound.to_string(),
            Err(errors) => errors.into_iter().map(|error| error.in_sql().to_string()).collect::<Vec<_>>().join("; "),
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(said(Predicate::parse_sql(text)), expected, "{text}");
    }

    #[test]
    fn a_fault_says_what_to_write_instead() {
        check(
            "country = \"US\"",
            "unknown column `\"US\"`: double quotes are for names, a text takes single ones, 'US'",
        );
        check("dya = DATE '2024-01-31'", "unknown column `dya`, did you mean `day`?");
        check("dy IS NULL", "unknown column `dy`, did you mean `day`?");
        check("\"Day\" IS NULL", "unknown column `\"Day\"`, did you mean `day`?");
        check(
            "orders.country = 'x'",
            "unknown column `orders.country`: columns are named without their table, `country`",
        );
        check(
            "n.orders.country = 'x'",
            "unknown column `n.orders.country`: columns are named without their table, `country`",
        );
        check("orders.contry = 'x'", "unknown column `orders.contry`");
        check("country = 2024", "column `country`: 2024 cannot be compared with a column of type string; write '2024'");
        check(
            "Weird Name = true",
            "the filter is not a SQL expression: expected the end, found Name at Line: 1, Column: 7; a name with spaces stands in \
             double quotes",
        );
        check("\"Weird Name\"", "#3 boolean in [true, true]");
    }

    #[test]
    fn what_has_no_rule_says_why_where_more_can_be_said() {
        let time = "what time it is, the engine says: write it as a literal, as TIMESTAMP '2024-01-31 12:00:00'";
        check("at > now()", &format!("unknown(there is no rule for `now()`: {time})"));
        check("day = current_date", &format!("unknown(there is no rule for `current_date`: {time})"));
        let json = |json| said(Predicate::parse_iceberg_json(&json));
        assert_eq!(
            json(json!({"type": "equal", "term": "country", "value": "x"})),
            "unknown(there is no rule for `{\"term\":\"country\",\"type\":\"equal\",\"value\":\"x\"}`: unknown expression type \
             `equal`; did you mean `eq`?)"
        );
        assert!(
            json(json!({"type": "st-intersects", "term": "country"}))
                .ends_with("unknown expression type `st-intersects`)")
        );
        let applied = json!({"type": "eq", "left": {"type": "apply", "name": "f"}, "right": "country"});
        assert!(!json(applied).contains("unknown expression"));
    }
}
