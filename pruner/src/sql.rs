//! Filters as SQL text, read into predicates. (Their way back is the `Display` of [`Predicate`].)

mod convert;
mod dialect;
mod guard;
mod logic;
mod value;
mod written;

use sqlparser::ast::Expr;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use self::dialect::FilterDialect;
use crate::{FilterError, FilterLimits, MAX_FILTER_VALUES, Predicate};

/// How often, for each of its tokens, the parser may try to read an operand: it does so once or twice, but for nested calls and
/// brackets that can be read in several ways.
const ATTEMPTS_PER_TOKEN: usize = 50;
const MIN_ATTEMPTS: usize = 1_000;
/// The most words that are parsed on the caller's stack: a chain of that many operators needs some 100 KiB of it.
const MAX_WORDS_ON_THIS_STACK: usize = 100;
/// Enough for a chain of [`crate::MAX_FILTER_WORDS`] operators, which the parser builds as deep as it is long.
const LARGE_STACK_BYTES: usize = 128 << 20;

impl Predicate {
    /// Reads a SQL boolean expression. What is no SQL, or cannot stand in a filter on rows, is an error; what pruning has no
    /// rule for becomes a [`Predicate::Other`].
    ///
    /// ```
    /// use prunus_pruner::Predicate;
    /// let predicate = Predicate::parse_sql("price > 10 and name in ('a', 'b')")?;
    /// assert_eq!(predicate.to_string(), "price > 10 AND name IN ('a', 'b')");
    /// # Ok::<(), prunus_pruner::FilterError>(())
    /// ```
    ///
    /// # Errors
    /// [`FilterError`], with the place in the text where there is one.
    pub fn parse_sql(text: &str) -> Result<Self, FilterError> {
        Self::parse_sql_within(text, &FilterLimits::default())
    }

    /// The same of a filter that is no larger than this. What is beyond the largest limits is refused all the same.
    ///
    /// # Errors
    /// As [`Predicate::parse_sql`].
    pub fn parse_sql_within(text: &str, limits: &FilterLimits) -> Result<Self, FilterError> {
        let limits = limits.in_range();
        if text.len() > limits.bytes {
            return Err(FilterError::TooLong { bytes: text.len(), max: limits.bytes });
        }
        let (tokens, words) = tokens(text, &limits)?;
        let parse = || parse(tokens, &limits);
        if words <= MAX_WORDS_ON_THIS_STACK { parse() } else { on_large_stack(parse) }
    }
}

/// The tokens of a text, and how many of them are words.
fn tokens(text: &str, limits: &FilterLimits) -> Result<(Vec<TokenWithSpan>, usize), FilterError> {
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, text)
        .tokenize_with_location()
        .map_err(|error| FilterError::Syntax { message: error.to_string() })?;
    let words = tokens.iter().filter(|token| is_word(&token.token)).count();
    if words > limits.words {
        return Err(FilterError::TooComplex { what: "words and operators", max: limits.words });
    }
    let values = tokens.iter().filter(|token| is_value(&token.token)).count();
    if values > MAX_FILTER_VALUES {
        return Err(FilterError::TooComplex { what: "values", max: MAX_FILTER_VALUES });
    }
    Ok((tokens, words))
}

fn parse(tokens: Vec<TokenWithSpan>, limits: &FilterLimits) -> Result<Predicate, FilterError> {
    let predicate = parse_tokens(tokens, limits)?;
    written::check(&predicate, parse_again)?;
    Ok(predicate)
}

/// Reads what was written of a predicate, which may be longer than that which it was read from, with more parentheses.
fn parse_again(text: &str) -> Result<Predicate, FilterError> {
    let limits = FilterLimits::default();
    parse_tokens(tokens(text, &limits)?.0, &limits)
}

fn is_word(token: &Token) -> bool {
    !is_value(token) && !matches!(token, Token::Comma | Token::Whitespace(_) | Token::EOF)
}

fn is_value(token: &Token) -> bool {
    matches!(token, Token::Number(..) | Token::SingleQuotedString(_) | Token::HexStringLiteral(_))
}

fn parse_tokens(tokens: Vec<TokenWithSpan>, limits: &FilterLimits) -> Result<Predicate, FilterError> {
    let attempts_max = MIN_ATTEMPTS + tokens.len().saturating_mul(ATTEMPTS_PER_TOKEN);
    let dialect = FilterDialect::with_attempts(attempts_max);
    let mut parser = Parser::new(&dialect).with_recursion_limit(limits.depth).with_tokens_with_locations(tokens);
    let expression = parser.parse_expr().map_err(|error| match error {
        ParserError::RecursionLimitExceeded if dialect.is_exhausted() => {
            FilterError::TooComplex { what: "attempts to read its operands", max: attempts_max }
        }
        error => parser_error(error, limits),
    })?;
    let rest = parser.peek_token();
    if rest.token != Token::EOF {
        let hint = if is_bare_name(&rest.token) && ends_with_name(&expression) {
            "; a name with spaces stands in double quotes"
        } else {
            ""
        };
        let message = format!("expected the end, found {}{}{hint}", rest.token, rest.span.start);
        return Err(FilterError::Syntax { message });
    }
    guard::check(&expression)?;
    convert::predicate(unnested(&expression), 0)
}

fn is_bare_name(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none())
}

/// Whether the last operand of an expression is a name.
fn ends_with_name(mut expression: &Expr) -> bool {
    loop {
        expression = match expression {
            Expr::BinaryOp { right, .. } => right,
            Expr::UnaryOp { expr, .. } => expr,
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => return true,
            _ => return false,
        };
    }
}

fn parser_error(error: ParserError, limits: &FilterLimits) -> FilterError {
    match error {
        ParserError::RecursionLimitExceeded => FilterError::TooComplex { what: "levels of nesting", max: limits.depth },
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => FilterError::Syntax { message },
    }
}

/// The expression without the parentheses around it.
fn unnested(mut expression: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expression {
        expression = inner;
    }
    expression
}

/// Runs `work` on a thread of its own with room for a deep recursion.
fn on_large_stack(work: impl FnOnce() -> Result<Predicate, FilterError> + Send) -> Result<Predicate, FilterError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(LARGE_STACK_BYTES).spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            // No thread could be had, or the parser panicked: the filter was not understood either way.
            Ok(Err(_)) | Err(_) => Err(FilterError::Syntax { message: "the filter could not be parsed".to_owned() }),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_FILTER_WORDS, MIN_FILTER_DEPTH};

    #[test]
    fn parse_after_print_is_the_identity() {
        for text in [
            "a = 1",
            "a <> -1.5 AND b < 'x''y'",
            "NOT (a >= X'00ff' OR a <= DATE '2024-01-31')",
            "a IN (1, 2, NULL) AND b NOT IN ('x')",
            "a NOT BETWEEN 1 AND 2 OR a BETWEEN b AND 3",
            "(a = 1 OR a = 2) AND (b IS NULL OR c IS NOT NULL)",
            "(a > 1) IS NOT TRUE",
            "flag AND NOT (other)",
            "a.\"b.c\" = TIMESTAMP '2024-01-31T10:00:00.500Z'",
            "a IS NOT DISTINCT FROM NULL",
            "TRUE",
            "lower(a) = 'x' AND a LIKE 'p%'",
            "t = TIME '10:00:00'",
            "((a IS DISTINCT FROM 1) AND (b IS NOT DISTINCT FROM 'x')) OR c",
            "(a = 1) IS NOT UNKNOWN",
        ] {
            let predicate = Predicate::parse_sql(text).unwrap();
            assert_eq!(predicate.to_string(), text);
            assert_eq!(Predicate::parse_sql(&predicate.to_string()), Ok(predicate));
        }
    }

    #[test]
    fn distinct_ends_before_the_next_connective() {
        let alone = |text: &str| Predicate::parse_sql(text).unwrap();
        let expected = Predicate::And(vec![alone("a IS DISTINCT FROM 1 + 2"), alone("b")]);
        assert_eq!(alone("a IS DISTINCT FROM 1 + 2 AND b"), expected);
        let expected = Predicate::Or(vec![alone("NOT a IS NOT DISTINCT FROM NULL"), alone("b")]);
        assert_eq!(alone("NOT a IS NOT DISTINCT FROM NULL OR b"), expected);
    }

    #[test]
    fn a_condition_compared_with_a_truth_value_is_the_condition_or_its_negation() {
        for (text, expected) in [
            ("(a OR b) = TRUE", "a OR b"),
            ("(a > 1) <> TRUE", "NOT (a > 1)"),
            ("FALSE = (a > 1 AND b)", "NOT (a > 1 AND b)"),
            ("(a LIKE 'x%') <> FALSE AND b", "a LIKE 'x%' AND b"),
            ("(a > 1) IS DISTINCT FROM TRUE", "(a > 1) IS NOT TRUE"),
            ("FALSE IS NOT DISTINCT FROM (a > 1)", "(a > 1) IS FALSE"),
            ("((a AND b) = TRUE) AND c", "a AND b AND c"),
            ("(a > 1) = b", "(a > 1) = b"),
            ("a = TRUE", "a = TRUE"),
        ] {
            let read = Predicate::parse_sql(text).unwrap();
            assert_eq!(read.to_string(), expected);
            assert_eq!(Predicate::parse_sql(expected), Ok(read));
        }
    }

    #[test]
    fn is_null_of_a_condition_is_is_unknown() {
        for (text, expected) in [
            ("(a > 1) IS NULL", "(a > 1) IS UNKNOWN"),
            ("(a > 1 OR b) IS NOT NULL", "(a > 1 OR b) IS NOT UNKNOWN"),
            ("a IS NULL", "a IS NULL"),
            ("(a + 1) IS NULL", "a + 1 IS NULL"),
            ("(a LIKE 'x') IS NULL", "(a LIKE 'x') IS NULL"),
        ] {
            assert_eq!(Predicate::parse_sql(text).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_is_not_one_condition_is_refused() {
        for (text, expected) in [
            ("", "the filter is not a SQL expression: Expected: an expression, found: EOF"),
            ("a = 1; drop", "the filter is not a SQL expression: expected the end, found ; at Line: 1, Column: 6"),
            ("a = 'x", "the filter is not a SQL expression: Unterminated string literal at Line: 1, Column: 5"),
            ("a + 1", "`a + 1` is not a condition"),
            ("a = ?", "a filter cannot hold a parameter: `?`"),
            ("a = $1", "a filter cannot hold a parameter: `$1`"),
            ("a IN (SELECT 1)", "a filter cannot hold a subquery: `a IN (SELECT 1)`"),
            ("sum(a) OVER () > 1", "a filter cannot hold a window function: `sum(a) OVER ()`"),
            ("a = DATE '2024-02-30'", "`2024-02-30` is not a date"),
        ] {
            assert_eq!(Predicate::parse_sql(text).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn limits_hold_at_the_limit_and_one_beyond() {
        let nested = |depth: usize| format!("{}a = 1{}", "(".repeat(depth), ")".repeat(depth));
        assert!(Predicate::parse_sql(&nested(25)).is_ok());
        assert!(matches!(Predicate::parse_sql(&nested(70)), Err(FilterError::TooComplex { .. })));
        // Each term but the last has a column, an operator and an AND.
        let chain = |terms: usize| vec!["a = 1"; terms].join(" AND ");
        assert!(matches!(Predicate::parse_sql(&chain(3333)), Ok(Predicate::And(parts)) if parts.len() == 3333));
        let beyond = FilterError::TooComplex { what: "words and operators", max: MAX_FILTER_WORDS };
        assert_eq!(Predicate::parse_sql(&chain(3334)), Err(beyond));
        let tests = format!("a = 1{}", " IS TRUE".repeat(4000));
        assert!(matches!(Predicate::parse_sql(&tests), Err(FilterError::TooComplex { .. })));
        let sum = format!("a{} = 1", " + a".repeat(4990));
        assert!(matches!(Predicate::parse_sql(&sum), Ok(Predicate::Compare { .. })));
    }

    #[test]
    fn what_can_be_read_in_many_ways_ends() {
        for (part, rest) in [("s.s[$d.", "x"), ("position(", "x y"), ("cast(", "x"), ("substring(", "x y")] {
            let text = format!("{}{rest} = 1", part.repeat(24));
            assert!(Predicate::parse_sql(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_can_be_lower() {
        let read = |text: &str, limits: FilterLimits| Predicate::parse_sql_within(text, &limits).map(drop);
        let too_complex = |what, max| Err(FilterError::TooComplex { what, max });
        let bytes = FilterLimits { bytes: 5, ..FilterLimits::default() };
        assert_eq!(read("a = 1", bytes), Ok(()));
        assert_eq!(read("a = 12", bytes), Err(FilterError::TooLong { bytes: 6, max: 5 }));
        let words = FilterLimits { words: 5, ..FilterLimits::default() };
        assert_eq!(read("a = 1 AND b = 2", words), Ok(()));
        assert_eq!(read("a = 1 AND NOT b = 2", words), too_complex("words and operators", 5));
        let depth = FilterLimits { depth: MIN_FILTER_DEPTH, ..FilterLimits::default() };
        assert_eq!(read("NOT (a = 1 OR lower(b) LIKE 'x%') AND c IN (1, 2)", depth), Ok(()));
        assert_eq!(read(&format!("{}a{}", "(".repeat(9), ")".repeat(9)), depth), too_complex("levels of nesting", 8));
        let nothing = FilterLimits { bytes: usize::MAX, words: usize::MAX, depth: 0 };
        assert_eq!(read("NOT (a = 1 AND b)", nothing), Ok(()));
    }

    #[test]
    fn values_are_taken_up_to_the_limit() {
        let list =
            |count: usize| tokens(&format!("a IN (1{})", ",1".repeat(count - 1)), &FilterLimits::default()).map(drop);
        assert_eq!(list(MAX_FILTER_VALUES), Ok(()));
        let beyond = FilterError::TooComplex { what: "values", max: MAX_FILTER_VALUES };
        assert_eq!(list(MAX_FILTER_VALUES + 1), Err(beyond));
    }

    #[test]
    fn a_long_list_is_no_complex_filter() {
        let values: Vec<String> = (0..100_000).map(|value| value.to_string()).collect();
        let text = format!("a IN ({})", values.join(","));
        assert!(matches!(Predicate::parse_sql(&text), Ok(Predicate::In { list, .. }) if list.len() == 100_000));
    }
}
