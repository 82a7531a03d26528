//! Why a conjunct could not prune more.

use std::fmt;

use crate::evaluate::nan_matters;
use crate::mask::Mask;
use crate::program::{Conjunct, Test};
use crate::zone_maps::ZoneMaps;

/// What stood in a conjunct's way in the containers that were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obstacles {
    /// The conjunct, or a part of it, has no rule, for this reason.
    pub unsupported: Option<String>,
    /// In how many containers a column of the conjunct lacks a bound or a null count that its tests read.
    pub without_statistics: u64,
    /// In how many containers the NaN count of a column is not known and its rows could pass if they were NaN.
    pub nan_count_unknown: u64,
}

impl Obstacles {
    /// What stood in the conjunct's way in the containers of `kept`.
    pub fn of(conjunct: &Conjunct, zones: &ZoneMaps, kept: &Mask) -> Self {
        let mut without_statistics = Mask::none(kept.len());
        let mut nan_count_unknown = Mask::none(kept.len());
        for leaf in conjunct.node.leaves() {
            let Some(column) = zones.column(leaf.column.id) else {
                without_statistics = Mask::all(kept.len());
                continue;
            };
            let lacking = match leaf.test {
                Test::IsNull => column.null_count_known.clone().complement(),
                Test::Always(_) | Test::Nan { .. } => Mask::none(kept.len()),
                _ => column.min_known.clone().and(&column.max_known).complement().and(&column.may_have_value),
            };
            without_statistics = without_statistics.or(&lacking);
            if nan_matters(leaf) {
                nan_count_unknown = nan_count_unknown.or(&column.nan_count_known.clone().complement());
            }
        }
        Self {
            unsupported: conjunct.unsupported.clone(),
            without_statistics: without_statistics.and(kept).count() as u64,
            nan_count_unknown: nan_count_unknown.and(kept).count() as u64,
        }
    }

    /// These and others of the same conjunct.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            unsupported: self.unsupported.or(other.unsupported),
            without_statistics: self.without_statistics + other.without_statistics,
            nan_count_unknown: self.nan_count_unknown + other.nan_count_unknown,
        }
    }

    /// Whether nothing stood in the way.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// A sentence for people, whose containers are files.
impl fmt::Display for Obstacles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons = Vec::new();
        reasons.extend(self.unsupported.clone());
        if self.without_statistics > 0 {
            reasons.push(format!("no bounds or counts in {} files", self.without_statistics));
        }
        if self.nan_count_unknown > 0 {
            reasons.push(format!("NaN count unknown in {} files", self.nan_count_unknown));
        }
        f.write_str(&reasons.join("; "))
    }
}
