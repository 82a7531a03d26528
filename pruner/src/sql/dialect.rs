//! The dialect in which filters are parsed: sqlparser's generic one, but for what that reads wrongly.

use std::any::TypeId;
use std::cell::Cell;

use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, GenericDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

/// The generic dialect with `IS [NOT] DISTINCT FROM` an operator like others: sqlparser takes all that follows it for its
/// right side, so that `a IS DISTINCT FROM 1 AND b` would test `a` against `1 AND b`.
///
/// It also ends what would not end: where sqlparser cannot read a part one way it tries another, and does the same in all that
/// is nested in it, so that a hundred bytes may take it hours.
#[derive(Debug)]
pub(super) struct FilterDialect {
    attempts_left: Cell<usize>,
}

impl FilterDialect {
    /// The dialect for a filter of which at most so many operands are tried.
    pub(super) fn with_attempts(attempts_max: usize) -> Self {
        Self { attempts_left: Cell::new(attempts_max) }
    }

    /// Whether it ended the parsing of a filter.
    pub(super) fn is_exhausted(&self) -> bool {
        self.attempts_left.get() == 0
    }
}

/// Answers as the generic dialect does.
macro_rules! as_generic {
    ($($method:ident),* $(,)?) => {$(
        fn $method(&self) -> bool {
            GenericDialect.$method()
        }
    )*};
}

impl Dialect for FilterDialect {
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn is_identifier_start(&self, character: char) -> bool {
        GenericDialect.is_identifier_start(character)
    }

    fn is_identifier_part(&self, character: char) -> bool {
        GenericDialect.is_identifier_part(character)
    }

    fn is_delimited_identifier_start(&self, character: char) -> bool {
        GenericDialect.is_delimited_identifier_start(character)
    }

    // What concerns expressions; a filter has no statements.
    as_generic! {
        allow_extract_custom,
        allow_extract_single_quotes,
        support_map_literal_syntax,
        supports_array_typedef_with_brackets,
        supports_bitwise_shift_operators,
        supports_comma_separated_trim,
        supports_data_type_signed_suffix,
        supports_dictionary_syntax,
        supports_extract_comma_syntax,
        supports_filter_during_aggregation,
        supports_interval_options,
        supports_match_against,
        supports_named_fn_args_with_assignment_operator,
        supports_struct_literal,
        supports_try_convert,
        supports_window_function_null_treatment_arg,
        supports_xml_expressions,
    }

    fn parse_prefix(&self, _: &mut Parser) -> Option<Result<Expr, ParserError>> {
        let left = self.attempts_left.get().saturating_sub(1);
        self.attempts_left.set(left);
        // The one error after which sqlparser does not try another way.
        (left == 0).then_some(Err(ParserError::RecursionLimitExceeded))
    }

    fn parse_infix(&self, parser: &mut Parser, left: &Expr, _precedence: u8) -> Option<Result<Expr, ParserError>> {
        let form = if parser.parse_keywords(&[Keyword::IS, Keyword::DISTINCT, Keyword::FROM]) {
            Expr::IsDistinctFrom
        } else if parser.parse_keywords(&[Keyword::IS, Keyword::NOT, Keyword::DISTINCT, Keyword::FROM]) {
            Expr::IsNotDistinctFrom
        } else {
            return None;
        };
        let right = parser.parse_subexpr(self.prec_value(Precedence::Is));
        Some(right.map(|right| form(Box::new(left.clone()), Box::new(right))))
    }
}
