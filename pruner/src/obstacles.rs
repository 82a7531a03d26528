//! Why a conjunct could not prune more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use prunus_statistics::FieldId;

use crate::evaluate::may_be;
use crate::mask::Mask;
use crate::outcome::OutcomeSet;
use crate::program::{Conjunct, Leaf, Node, Test};
use crate::zone_maps::ZoneMaps;

/// A kind of thing that stands in a conjunct's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obstacle {
    /// The conjunct, or a part of it, has no rule.
    Unsupported,
    /// A column lacks a bound or a null count that a test reads.
    WithoutStatistics,
    /// The NaN count of a column is not known, and its rows could pass if they were NaN.
    NanCountUnknown,
    /// Rows of a column are NaN, and nothing but these could pass, in some engines' order of NaN and not in others'.
    NansAlone,
}

/// What stood in a conjunct's way in the containers that were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obstacles {
    /// The conjunct, or a part of it, has no rule, for this reason.
    pub unsupported: Option<String>,
    /// In how many containers a column of the conjunct lacks a bound or a null count that its tests read.
    pub without_statistics: u64,
    /// In how many containers the NaN count of a column is not known and its rows could pass if they were NaN.
    pub nan_count_unknown: u64,
    /// In how many containers nothing could pass but rows that are NaN, in some engines' order of NaN and not in others'.
    pub nans_alone: u64,
    /// The columns that each of these comes from: where there is no rule, all that the conjunct names.
    pub columns: BTreeSet<(FieldId, Obstacle)>,
}

impl Obstacles {
    /// What stood in the conjunct's way in the containers of `kept`.
    pub fn of(conjunct: &Conjunct, zones: &ZoneMaps, kept: &Mask) -> Self {
        let mut without_statistics = Mask::none(kept.len());
        let mut nan_count_unknown = Mask::none(kept.len());
        let mut columns = BTreeSet::new();
        if conjunct.unsupported.is_some() && !kept.is_none() {
            columns.extend(conjunct.names.iter().map(|id| (*id, Obstacle::Unsupported)));
        }
        let mut note = |obstacle, leaf: &Leaf, lacking: &Mask| {
            if lacking.intersects(kept) {
                columns.insert((leaf.column.id, obstacle));
            }
        };
        for (leaf, asked) in leaves(&conjunct.node) {
            let Some(column) = zones.column(leaf.column.id) else {
                without_statistics = Mask::all(kept.len());
                note(Obstacle::WithoutStatistics, leaf, &without_statistics);
                continue;
            };
            let lacking = match leaf.test {
                Test::IsNull => column.null_count_known.clone().complement(),
                Test::Always(_) | Test::Nan { .. } => Mask::none(kept.len()),
                _ => column.bounds.both_known().complement().and(&column.may_have_value),
            };
            note(Obstacle::WithoutStatistics, leaf, &lacking);
            without_statistics = without_statistics.or(&lacking);
            if leaf.on_nan.intersects(asked) {
                let lacking = column.nan_count_known.clone().complement();
                note(Obstacle::NanCountUnknown, leaf, &lacking);
                nan_count_unknown = nan_count_unknown.or(&lacking);
            }
        }
        let nans_alone = nans_alone(conjunct, zones, kept, &mut columns);
        Self {
            unsupported: conjunct.unsupported.clone(),
            without_statistics: without_statistics.and(kept).count() as u64,
            nan_count_unknown: nan_count_unknown.and(kept).count() as u64,
            nans_alone,
            columns,
        }
    }

    /// These and others of the same conjunct.
    #[must_use]
    pub fn plus(mut self, mut other: Self) -> Self {
        self.columns.append(&mut other.columns);
        Self {
            unsupported: self.unsupported.or(other.unsupported),
            without_statistics: self.without_statistics + other.without_statistics,
            nan_count_unknown: self.nan_count_unknown + other.nan_count_unknown,
            nans_alone: self.nans_alone + other.nans_alone,
            columns: self.columns,
        }
    }

    /// Whether nothing stood in the way.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// In how many of the containers that were kept nothing could pass but rows that are known to be NaN, and whether these do depends on
/// the engine. Adds the columns in which they are.
fn nans_alone(conjunct: &Conjunct, zones: &ZoneMaps, kept: &Mask, columns: &mut BTreeSet<(FieldId, Obstacle)>) -> u64 {
    let depends_on_engine =
        |leaf: &Leaf, asked: OutcomeSet| leaf.on_nan.intersects(asked) && leaf.on_nan.intersects(asked.complement());
    let mut with_nans = BTreeMap::new();
    for (leaf, asked) in leaves(&conjunct.node) {
        let Some(column) = zones.column(leaf.column.id) else { continue };
        let known = column.may_be_nan.clone().and(&column.nan_count_known);
        if depends_on_engine(leaf, asked) && known.intersects(kept) {
            with_nans.insert(leaf.column.id, known);
        }
    }
    // Few filters get here, so that judging the conjunct once more costs little.
    if with_nans.is_empty() {
        return 0;
    }
    let by_others = may_be(&conjunct.node, OutcomeSet::TRUE, &zones.without_nans(&with_nans), kept);
    let by_nans = kept.clone().and_not(&by_others);
    let met = with_nans.iter().filter(|(_, known)| known.intersects(&by_nans));
    columns.extend(met.map(|(id, _)| (*id, Obstacle::NansAlone)));
    by_nans.count() as u64
}

/// The tests of a conjunct, each with the outcomes that could make the conjunct true.
fn leaves(node: &Node) -> Vec<(&Leaf, OutcomeSet)> {
    let mut leaves = Vec::new();
    let mut open = vec![(node, OutcomeSet::TRUE)];
    while let Some((node, asked)) = open.pop() {
        match node {
            Node::Leaf(leaf) => leaves.push((leaf, asked)),
            Node::Not(inner) => open.push((inner, asked.negated())),
            Node::Is(inner, matching) => open.push((inner, asked.before_is(*matching))),
            Node::TwoValued(inner) => open.push((inner, asked.before_two_valued())),
            // Null is null in one part, and any outcome in another that does not settle the whole.
            Node::All(parts) | Node::Any(parts) => {
                let asked = if asked.intersects(OutcomeSet::NULL) { OutcomeSet::ANY } else { asked };
                open.extend(parts.iter().map(|part| (part, asked)));
            }
            Node::Value(..) | Node::Constant(_) | Node::Unknown => {}
        }
    }
    leaves
}

/// A sentence for people, whose containers are files.
impl fmt::Display for Obstacles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = |count: u64| format!("{count} {}", if count == 1 { "file" } else { "files" });
        let mut reasons = Vec::new();
        reasons.extend(self.unsupported.clone());
        if self.without_statistics > 0 {
            reasons.push(format!("no bounds or counts in {}", files(self.without_statistics)));
        }
        if self.nan_count_unknown > 0 {
            reasons.push(format!("NaN count unknown in {}", files(self.nan_count_unknown)));
        }
        if self.nans_alone > 0 {
            reasons.push(format!("NaNs alone may match in {} files", self.nans_alone));
        }
        f.write_str(&reasons.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BooleanArray, Float64Array, UInt64Array};
    use prunus_statistics::{FieldId, PhysicalType};

    use super::*;
    use crate::{BindOptions, BoundPredicate, Column, ColumnZones, NanOrder, Predicate, PruningProgram, ZoneColumns};

    /// A float column `x` in five files: all is known, no max, no NaN count, no null count, all rows are null.
    fn zones() -> ZoneMaps {
        let min: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), Some(1.0), Some(1.0), Some(1.0), None]));
        let max: ArrayRef = Arc::new(Float64Array::from(vec![Some(9.0), None, Some(9.0), Some(9.0), None]));
        let columns = ZoneColumns {
            min: &min,
            max: &max,
            null_count: &UInt64Array::from(vec![Some(0), Some(0), Some(0), None, Some(10)]),
            nan_count: &UInt64Array::from(vec![Some(0), Some(0), None, Some(0), Some(0)]),
            valueless: &BooleanArray::from(vec![false, false, false, false, true]),
        };
        let mut zones = ZoneMaps::new(&UInt64Array::from(vec![10; 5]));
        zones.insert(FieldId(1), ColumnZones::new(PhysicalType::Float64, &columns).unwrap()).unwrap();
        zones
    }

    fn float(id: i32, name: &str) -> Column {
        let column_type = Some(prunus_statistics::PrimitiveType::Float64);
        Column { id: FieldId(id), path: vec![name.to_owned()], column_type, items: Vec::new() }
    }

    fn obstacles(text: &str, kept: &Mask) -> Obstacles {
        let predicate = Predicate::parse_sql(text).unwrap();
        let columns = [float(1, "x"), float(2, "without_zones")];
        let bound = BoundPredicate::bind(&predicate, &columns, &BindOptions::default()).unwrap();
        let program = PruningProgram::compile(bound);
        let none = Obstacles::default();
        program.conjuncts().iter().fold(none, |sum, conjunct| sum.plus(Obstacles::of(conjunct, &zones(), kept)))
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(obstacles(text, &Mask::all(5)).to_string(), expected, "{text}");
    }

    #[test]
    fn what_a_test_reads_and_does_not_find_is_counted() {
        check("x > 5", "no bounds or counts in 1 file; NaN count unknown in 1 file");
        check("x IN (5)", "no bounds or counts in 1 file");
        check("x IS NULL", "no bounds or counts in 1 file");
        check("without_zones IS NULL", "no bounds or counts in 5 files");
        check("TRUE", "");
    }

    #[test]
    fn a_nan_count_is_missed_only_where_a_nan_could_pass() {
        check("x BETWEEN 1 AND 5", "no bounds or counts in 1 file");
        check("x = 5", "no bounds or counts in 1 file");
        check("x = 'NaN'", "NaN count unknown in 1 file");
        check("x <> 5", "no bounds or counts in 1 file; NaN count unknown in 1 file");
        check("x NOT IN (5)", "no bounds or counts in 1 file; NaN count unknown in 1 file");
        check("NOT (x <> 5)", "no bounds or counts in 1 file");
        check("(x = 5) IS NOT TRUE", "no bounds or counts in 1 file; NaN count unknown in 1 file");
    }

    #[test]
    fn files_that_are_kept_for_their_nans_are_counted_where_engines_differ() {
        let bound: ArrayRef = Arc::new(Float64Array::from(vec![1.0; 4]));
        let columns = ZoneColumns {
            min: &bound,
            max: &bound,
            null_count: &UInt64Array::from(vec![0; 4]),
            nan_count: &UInt64Array::from(vec![Some(0), Some(3), Some(3), None]),
            valueless: &BooleanArray::from(vec![false; 4]),
        };
        let mut zones = ZoneMaps::new(&UInt64Array::from(vec![10; 4]));
        zones.insert(FieldId(1), ColumnZones::new(PhysicalType::Float64, &columns).unwrap()).unwrap();
        let check = |text: &str, nan_order: NanOrder, expected: &str| {
            let options = BindOptions { nan_order, ..BindOptions::default() };
            let program = PruningProgram::compile(
                BoundPredicate::bind(&Predicate::parse_sql(text).unwrap(), &[float(1, "x")], &options).unwrap(),
            );
            let kept = program.evaluate(&zones).kept().clone();
            assert_eq!(Obstacles::of(&program.conjuncts()[0], &zones, &kept).to_string(), expected, "{text}");
        };
        check("x > 5", NanOrder::Any, "NaN count unknown in 1 file; NaNs alone may match in 2 files");
        check("NOT (x < 5)", NanOrder::Any, "NaN count unknown in 1 file; NaNs alone may match in 2 files");
        check("x >= 1", NanOrder::Any, "NaN count unknown in 1 file");
        check("x > 5", NanOrder::Ieee, "");
        // Here they do match.
        check("x > 5", NanOrder::Greatest, "NaN count unknown in 1 file");
        check("isnan(x)", NanOrder::Any, "NaN count unknown in 1 file");
    }

    #[test]
    fn only_files_that_were_kept_count() {
        let kept = Mask::from_fn(5, |index| index != 2);
        assert_eq!(obstacles("x > 5", &kept).to_string(), "no bounds or counts in 1 file");
        assert!(obstacles("x > 5", &Mask::none(5)).is_none());
    }

    #[test]
    fn each_obstacle_names_the_columns_that_it_comes_from() {
        use Obstacle::{NanCountUnknown, Unsupported, WithoutStatistics};
        let check = |text: &str, kept: &Mask, expected: &[(i32, Obstacle)]| {
            let columns = expected.iter().map(|(id, obstacle)| (FieldId(*id), *obstacle)).collect();
            assert_eq!(obstacles(text, kept).columns, columns, "{text}");
        };
        let all = Mask::all(5);
        check(
            "x > 5 OR without_zones = 1",
            &all,
            &[(1, WithoutStatistics), (1, NanCountUnknown), (2, WithoutStatistics)],
        );
        check("abs(x) + without_zones > lower(without_zones)", &all, &[(1, Unsupported), (2, Unsupported)]);
        check("x > 5", &Mask::from_fn(5, |index| index == 2), &[(1, NanCountUnknown)]);
        check("x > 5 AND lower(x) = 'a'", &Mask::none(5), &[]);
    }

    #[test]
    fn what_has_no_rule_is_named() {
        let expected = "there is no rule for `lower(x)`; no bounds or counts in 1 file; NaN count unknown in 1 file";
        check("lower(x) = 'a' OR x > 5", expected);
    }
}
