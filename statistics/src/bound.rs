//! One statistic: a bound or a count, how tight it is and where it came from.

use serde::{Deserialize, Serialize};

use crate::Value;

/// How far a bound may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Precision {
    /// The value occurs in the file and none lies beyond it.
    Exact,
    /// No value lies beyond it; it may not occur.
    Bound,
    /// A guess: shown to people, never used to prune.
    Estimate,
}

/// Where a statistic came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Provenance {
    /// The writer's word.
    Declared,
    /// The file's footer.
    Footer,
    /// The data was read.
    Scanned,
    /// A partition constant of the file.
    Constant,
}

/// A lower or upper bound of the values that are neither null nor NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The bound itself, in the order of the column's type.
    pub value: Value,
    /// How tight it is.
    pub precision: Precision,
    /// Where it came from.
    pub provenance: Provenance,
}

/// A number of rows: nulls or NaNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How many rows.
    pub value: u64,
    /// Where it came from.
    pub provenance: Provenance,
}

/// A stored code that this version does not know.
#[derive(Debug, thiserror::Error)]
#[error("unknown code {0}")]
pub struct UnknownCode(u8);

impl From<Precision> for u8 {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::Exact => 0,
            Precision::Bound => 1,
            Precision::Estimate => 2,
        }
    }
}

impl TryFrom<u8> for Precision {
    type Error = UnknownCode;

    fn try_from(code: u8) -> Result<Self, UnknownCode> {
        [Self::Exact, Self::Bound, Self::Estimate]
            .into_iter()
            .find(|precision| u8::from(*precision) == code)
            .ok_or(UnknownCode(code))
    }
}

impl From<Provenance> for u8 {
    fn from(provenance: Provenance) -> Self {
        match provenance {
            Provenance::Declared => 0,
            Provenance::Footer => 1,
            Provenance::Scanned => 2,
            Provenance::Constant => 3,
        }
    }
}

impl TryFrom<u8> for Provenance {
    type Error = UnknownCode;

    fn try_from(code: u8) -> Result<Self, UnknownCode> {
        [Self::Declared, Self::Footer, Self::Scanned, Self::Constant]
            .into_iter()
            .find(|provenance| u8::from(*provenance) == code)
            .ok_or(UnknownCode(code))
    }
}
