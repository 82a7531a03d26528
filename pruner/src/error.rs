//! What can be wrong with a filter.

use prunus_statistics::LiteralError;

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
    #[error("unknown column `{name}`{}", suggestion.as_ref().map(|name| format!(", did you mean `{name}`?")).unwrap_or_default())]
    UnknownColumn {
        /// The name as written.
        name: String,
        /// A column with nearly that name.
        suggestion: Option<String>,
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
    #[error("column `{column}`: {error}")]
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

impl FilterError {
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
