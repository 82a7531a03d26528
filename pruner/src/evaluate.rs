//! A program over zone maps: which containers may hold a row for which the filter is true, and which hold no other.
//!
//! A node is asked for a set of outcomes and leaves, of the containers at hand, those on whose rows it may have one of them.
//! The root is asked "may it be true?", and for the survivors "may it be anything else?". Containers go through all of it a
//! tile at a time, and what no longer matters of a tile is not looked at again.

mod leaf;

use crate::mask::Mask;
use crate::outcome::OutcomeSet;
use crate::program::{Node, PruningProgram};
use crate::selection::Selection;
use crate::tile::Tile;
use crate::value::{Condition, Container};
use crate::zone_maps::ZoneMaps;

impl PruningProgram {
    /// Runs the program. A container is skipped only on proof: whatever is unknown keeps it.
    pub fn evaluate(&self, zones: &ZoneMaps) -> Selection {
        let none = || Mask::none(zones.containers());
        let (mut kept, mut all) = (none(), none());
        let mut pruned_by: Vec<Mask> = self.conjuncts().iter().map(|_| none()).collect();
        for mut live in Tile::over(zones.with_rows()) {
            for (index, conjunct) in self.cheapest_first() {
                if live.is_none() {
                    break;
                }
                let mut pruned = live;
                narrow(&conjunct.node, OutcomeSet::TRUE, zones, &mut live);
                pruned.and_not(&live);
                if let Some(mask) = pruned_by.get_mut(index) {
                    pruned.store(mask);
                }
            }
            live.store(&mut kept);
            for conjunct in self.conjuncts() {
                if live.is_none() {
                    break;
                }
                let mut others = live;
                narrow(&conjunct.node, OutcomeSet::TRUE.complement(), zones, &mut others);
                live.and_not(&others);
            }
            live.store(&mut all);
        }
        Selection { kept, all, pruned_by }
    }
}

/// The containers on whose rows `node` may have an outcome in `asked`; no others than those of `among`.
pub(crate) fn may_be(node: &Node, asked: OutcomeSet, zones: &ZoneMaps, among: &Mask) -> Mask {
    let mut mask = Mask::none(among.len());
    for mut live in Tile::over(among) {
        if !live.is_none() {
            narrow(node, asked, zones, &mut live);
            live.store(&mut mask);
        }
    }
    mask
}

/// Leaves the containers on whose rows `node` may have an outcome in `asked`. Those without rows may be left or not.
fn narrow(node: &Node, asked: OutcomeSet, zones: &ZoneMaps, live: &mut Tile) {
    match node {
        Node::Constant(outcomes) => {
            if !outcomes.intersects(asked) {
                live.clear();
            }
        }
        Node::Unknown => {}
        Node::Not(inner) => narrow(inner, asked.negated(), zones, live),
        Node::All(parts) => conjunction(parts, asked, live, |part, asked, live| narrow(part, asked, zones, live)),
        // De Morgan: some part is true unless all are not.
        Node::Any(parts) => {
            let negated = |part: &Node, asked: OutcomeSet, live: &mut Tile| narrow(part, asked.negated(), zones, live);
            conjunction(parts, asked.negated(), live, negated);
        }
        Node::Is(inner, matching) => match asked.before_is(*matching) {
            OutcomeSet::NONE => live.clear(),
            asked => narrow(inner, asked, zones, live),
        },
        Node::TwoValued(inner) => narrow(inner, asked.before_two_valued(), zones, live),
        Node::Value(test, conditions) => {
            let may_be = |condition: &Node, asked: OutcomeSet| {
                let mut among = *live;
                narrow(condition, asked, zones, &mut among);
                among
            };
            let conditions: Vec<Condition> = conditions
                .iter()
                .map(|condition| Condition {
                    may_be_true: may_be(condition, OutcomeSet::TRUE),
                    may_be_other: may_be(condition, OutcomeSet::TRUE.complement()),
                })
                .collect();
            live.retain(|index| test.outcomes(Container { zones, conditions: &conditions, index }).intersects(asked));
        }
        Node::Leaf(leaf) => {
            if let Some(column) = zones.column(leaf.column.id) {
                leaf::narrow(leaf, asked, column, live);
            }
        }
    }
}

/// Leaves the containers on whose rows a conjunction of the parts may have an outcome in `asked`; `narrow` asks one of them.
/// It is true where all parts are, false where one is, and null where one is null and none false.
fn conjunction(parts: &[Node], asked: OutcomeSet, live: &mut Tile, narrow: impl Fn(&Node, OutcomeSet, &mut Tile)) {
    let every = |asked: OutcomeSet, live: &mut Tile| {
        for part in parts {
            if live.is_none() {
                break;
            }
            narrow(part, asked, live);
        }
    };
    let one = |asked: OutcomeSet, live: &mut Tile| {
        let mut open = *live;
        for part in parts {
            if open.is_none() {
                break;
            }
            let mut found = open;
            narrow(part, asked, &mut found);
            open.and_not(&found);
        }
        live.and_not(&open);
    };
    let not_false = OutcomeSet::TRUE | OutcomeSet::NULL;
    let not_true = OutcomeSet::FALSE | OutcomeSet::NULL;
    match asked {
        OutcomeSet::NONE => live.clear(),
        OutcomeSet::TRUE => every(OutcomeSet::TRUE, live),
        OutcomeSet::FALSE => one(OutcomeSet::FALSE, live),
        OutcomeSet::NULL => {
            every(not_false, live);
            one(OutcomeSet::NULL, live);
        }
        set if set == not_false => every(not_false, live),
        set if set == not_true => one(not_true, live),
        OutcomeSet::ANY => {}
        _ => {
            let mut rest = *live;
            every(OutcomeSet::TRUE, live);
            rest.and_not(live);
            one(OutcomeSet::FALSE, &mut rest);
            live.or(&rest);
        }
    }
}
