//! What a statistic is.
//!
//! A column of a data file has a lower and an upper bound, a null count and a NaN count. Each may be unknown; each says
//! where it came from, and a bound says how tight it is. This crate holds the values and their order, the statistics as
//! they are stored, the steps that turn a claim into something that may be trusted, and the zone map that pruning reads.
//!
//! Everything here only ever weakens knowledge: an absent, impossible or estimated statistic becomes "unknown", and
//! unknown never proves anything.

mod bound;
mod column_statistics;
mod field_id;
mod instant;
mod literal;
mod literal_convert;
mod normalise;
mod number;
mod primitive_type;
mod truncate;
mod value;
mod value_text;
mod widening;
mod zone_map;

pub use bound::{Bound, Count, Precision, Provenance, UnknownCode};
pub use column_statistics::{CodecError, ColumnStatistics, FileColumn, FileStatistics};
pub use field_id::FieldId;
pub use instant::{SessionZone, civil_from_days, days_from_civil};
pub use literal::{Literal, LiteralError, LiteralZone};
pub use literal_convert::Converted;
pub use normalise::{Defect, normalise};
pub use number::Number;
pub use primitive_type::{PhysicalType, PrimitiveType, TimeUnit, UnknownType};
pub use truncate::{cut_lower, cut_to_limit, cut_upper};
pub use value::Value;
pub use value_text::{parse_hex, parse_value};
pub use widening::Reading;
pub use zone_map::ZoneMap;
