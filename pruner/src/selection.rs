//! What pruning says of each container.

use crate::mask::Mask;

/// What is proven of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No row can match: skip it.
    None,
    /// Rows may match: read it and filter.
    Some,
    /// Every row matches: read it without filtering.
    All,
}

/// The verdicts of a program over containers, and which conjunct pruned which.
#[derive(Clone, Debug)]
pub struct Selection {
    pub(crate) kept: Mask,
    pub(crate) all: Mask,
    /// For each conjunct, in the order of the filter, the containers that it was the first to prune.
    pub(crate) pruned_by: Vec<Mask>,
}

impl Selection {
    /// The selection that keeps every one of `containers`, as a program of `conjuncts` conjuncts that proves nothing would.
    pub fn keep_all(containers: usize, conjuncts: usize) -> Self {
        Self {
            kept: Mask::all(containers),
            all: Mask::none(containers),
            pruned_by: vec![Mask::none(containers); conjuncts],
        }
    }

    /// The verdict of the container at `index`.
    pub fn verdict(&self, index: usize) -> Verdict {
        match (self.kept.contains(index), self.all.contains(index)) {
            (false, _) => Verdict::None,
            (true, false) => Verdict::Some,
            (true, true) => Verdict::All,
        }
    }

    /// The containers that may hold a matching row.
    pub fn kept(&self) -> &Mask {
        &self.kept
    }

    /// The containers that this conjunct was the first to prune; conjuncts count in the order of the filter, those that are
    /// cheap run first. Containers known to be empty were pruned by none.
    pub fn pruned_by(&self, conjunct: usize) -> Option<&Mask> {
        self.pruned_by.get(conjunct)
    }
}
