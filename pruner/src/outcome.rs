//! Sets of outcomes: what a predicate may be on the rows of a container.

use std::fmt;
use std::ops::BitOr;

/// A subset of {true, false, null}.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OutcomeSet(u8);

impl OutcomeSet {
    /// Nothing: only the set of a container without rows.
    pub(crate) const NONE: Self = Self(0);
    /// {true}.
    pub(crate) const TRUE: Self = Self(1);
    /// {false}.
    pub(crate) const FALSE: Self = Self(2);
    /// {null}.
    pub(crate) const NULL: Self = Self(4);
    /// {true, false, null}: nothing is known.
    pub(crate) const ANY: Self = Self(7);

    /// Whether the two sets share an outcome.
    pub(crate) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The outcomes of NOT p, given those of p.
    #[must_use]
    pub(crate) const fn negated(self) -> Self {
        Self(self.0 & 4 | (self.0 & 1) << 1 | (self.0 & 2) >> 1)
    }

    /// The outcomes of p that make `p IS one of matching` have an outcome in this set.
    #[must_use]
    pub(crate) fn before_is(self, matching: Self) -> Self {
        let mut before = Self::NONE;
        if self.intersects(Self::TRUE) {
            before = before | matching;
        }
        if self.intersects(Self::FALSE) {
            before = before | matching.complement();
        }
        before
    }

    /// The outcomes of p that may make p, in a logic in which null may be taken for false, have an outcome in this set.
    #[must_use]
    pub(crate) fn before_two_valued(self) -> Self {
        if self.intersects(Self::FALSE) { self | Self::NULL } else { self }
    }

    /// The outcomes that are not in the set.
    #[must_use]
    pub(crate) const fn complement(self) -> Self {
        Self(!self.0 & 7)
    }
}

impl BitOr for OutcomeSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for OutcomeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(Self::TRUE, "true"), (Self::FALSE, "false"), (Self::NULL, "null")];
        let held: Vec<&str> =
            names.into_iter().filter(|(set, _)| self.intersects(*set)).map(|(_, name)| name).collect();
        write!(f, "{{{}}}", held.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_swaps_true_and_false_and_leaves_null() {
        assert_eq!(OutcomeSet::TRUE.negated(), OutcomeSet::FALSE);
        assert_eq!((OutcomeSet::FALSE | OutcomeSet::NULL).negated(), OutcomeSet::TRUE | OutcomeSet::NULL);
        assert_eq!(OutcomeSet::ANY.negated(), OutcomeSet::ANY);
        assert_eq!(OutcomeSet::NULL.complement(), OutcomeSet::TRUE | OutcomeSet::FALSE);
        assert_eq!((OutcomeSet::TRUE | OutcomeSet::NULL).to_string(), "{true, null}");
    }

    #[test]
    fn is_asks_for_what_it_matches_or_for_the_rest() {
        let not_true = OutcomeSet::TRUE.complement();
        assert_eq!(OutcomeSet::TRUE.before_is(not_true), not_true);
        assert_eq!(OutcomeSet::FALSE.before_is(not_true), OutcomeSet::TRUE);
        assert_eq!(OutcomeSet::NULL.before_is(not_true), OutcomeSet::NONE);
        assert_eq!(OutcomeSet::ANY.before_is(not_true), OutcomeSet::ANY);
    }
}
