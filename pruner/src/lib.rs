//! Predicate and zone maps in, selection out.
//!
//! **Contract.** Pruning may keep too much; it never skips a container that holds a matching row, and never calls a container
//! wholly matching that holds another. What is not known proves nothing.
//!
//! A filter goes through four stages, each made from the one before and none in another way:
//! [`Predicate`] (what was asked), [`BoundPredicate`] (names are field ids, literals are typed values), [`PruningProgram`]
//! (what to compute over which columns of zone maps), [`Selection`] (a verdict per container). After binding nothing can
//! fail.
//!
//! [`ResidualProgram`] finds out what of a filter still has to run on the containers that are kept, and
//! [`PruningProgram::explain`] says of one container why it was kept or skipped.
//!
//! For every node of a filter and every container the program knows a set of outcomes, of {true, false, null}, that holds at
//! least those the node has on the container's rows. A container is skipped when true is not among them, and matches as a
//! whole when nothing else is.

mod bind;
mod contains;
mod error;
mod evaluate;
mod explain;
mod iceberg_json;
mod json_literal;
mod kernels;
mod mask;
mod obstacles;
mod outcome;
mod predicate;
mod function;
mod program;
mod residual;
mod selection;
mod simplify;
mod domain;
mod interval;
mod interval_literal;
mod operation;
mod value;
mod filter_limits;
mod sql;
mod suggestion;
mod tile;
mod zone_maps;

pub use bind::{BindOptions, BoundPredicate, Column, ItemColumn, NanOrder};
pub use contains::{ContainsTest, ItemKind};
pub use error::{ColumnSuggestion, FilterError};
pub use explain::{ColumnFacts, ConjunctExplanation, Explanation, Outcome, Presence};
pub use filter_limits::{
    FilterLimits, MAX_FILTER_BYTES, MAX_FILTER_DEPTH, MAX_FILTER_VALUES, MAX_FILTER_WORDS, MIN_FILTER_DEPTH,
};
pub use function::{CastKind, DatePart, DateUnit, Function};
pub use iceberg_json::IcebergForm;
pub use interval_literal::{IntervalLength, IntervalLiteral};
pub use json_literal::{JsonLiteral, JsonScalar};
pub use mask::Mask;
pub use obstacles::{Obstacle, Obstacles};
pub use predicate::{ColumnName, CompareOp, Expression, FilterLanguage, NamePart, Predicate, TruthValue, Unsupported};
pub use program::{Conjunct, PruningProgram};
pub use residual::{MAX_RESIDUALS, Residual, ResidualProgram, Residuals};
pub use selection::{Selection, Verdict};
pub use suggestion::nearest;
pub use zone_maps::{ColumnZones, ZoneColumns, ZoneMaps, ZoneMapsError};
