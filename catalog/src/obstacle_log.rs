//! What stood in the way of filters since the catalog was opened, column by column.
//!
//! It is kept in memory alone, and a plan takes the lock once. Whoever looks at a column learns from it which statistics would
//! have been of use.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use prunus_manifest::TableId;
use prunus_pruner::Obstacle;
use prunus_statistics::FieldId;

use crate::plan::PlanMetrics;

/// How many obstacles of columns are kept, over all tables. Beyond it the half is let go that was met longest ago.
pub const MAX_LOGGED_OBSTACLES: usize = 4_096;

/// How long the example of an expression may be, in bytes; what is longer is cut.
pub const MAX_EXAMPLE_BYTES: usize = 200;

/// What stood in the way of filters of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnObstacle {
    /// What it was.
    pub obstacle: Obstacle,
    /// How many plans met it in files that they kept.
    pub plans: u64,
    /// When the last of them did, in milliseconds since 1970-01-01T00:00Z.
    pub last_at_ms: i64,
    /// A condition of that one.
    pub example: String,
}

type Key = (TableId, FieldId, Obstacle);

/// The obstacles that plans met.
#[derive(Debug)]
pub(crate) struct ObstacleLog {
    since_ms: i64,
    met: Mutex<HashMap<Key, ColumnObstacle>>,
}

impl ObstacleLog {
    /// An empty one, which begins now.
    pub(crate) fn new(now_ms: i64) -> Self {
        Self { since_ms: now_ms, met: Mutex::default() }
    }

    /// Since when plans are recorded, in milliseconds since 1970-01-01T00:00Z.
    pub(crate) fn since_ms(&self) -> i64 {
        self.since_ms
    }

    /// Records what a plan met; once for each plan, whatever its pages. Where no file was kept, nothing was in the way.
    pub(crate) fn record(&self, table_id: TableId, metrics: &PlanMetrics, now_ms: i64) {
        if metrics.files_kept == 0 {
            return;
        }
        // Of several conditions the first is the example.
        let conjuncts = metrics.conjuncts.iter().rev();
        let met: BTreeMap<(FieldId, Obstacle), &str> = conjuncts
            .flat_map(|conjunct| conjunct.obstacles.columns.iter().map(|key| (*key, conjunct.expression.as_str())))
            .collect();
        if met.is_empty() {
            return;
        }
        let mut log = self.lock();
        for ((field_id, obstacle), expression) in met {
            let key = (table_id, field_id, obstacle);
            if log.len() >= MAX_LOGGED_OBSTACLES && !log.contains_key(&key) {
                forget_older_half(&mut log);
            }
            let new = ColumnObstacle { obstacle, plans: 0, last_at_ms: now_ms, example: String::new() };
            let known = log.entry(key).or_insert(new);
            known.plans += 1;
            known.last_at_ms = known.last_at_ms.max(now_ms);
            known.example = cut(expression);
        }
    }

    /// What was met in the columns of a table, by column and kind.
    pub(crate) fn of_table(&self, table_id: TableId) -> BTreeMap<FieldId, Vec<ColumnObstacle>> {
        let mut of_table: BTreeMap<FieldId, Vec<ColumnObstacle>> = BTreeMap::new();
        for ((_, field_id, _), met) in self.lock().iter().filter(|((of, ..), _)| *of == table_id) {
            of_table.entry(*field_id).or_default().push(met.clone());
        }
        for met in of_table.values_mut() {
            met.sort_by_key(|met| met.obstacle);
        }
        of_table
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, ColumnObstacle>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One by one would be a search through all of them for each.
fn forget_older_half(log: &mut HashMap<Key, ColumnObstacle>) {
    let mut by_age: Vec<(i64, Key)> = log.iter().map(|(key, met)| (met.last_at_ms, *key)).collect();
    by_age.sort_unstable();
    for (_, key) in by_age.iter().take(by_age.len() / 2) {
        log.remove(key);
    }
}

fn cut(expression: &str) -> String {
    const MARK: &str = " ...";
    if expression.len() <= MAX_EXAMPLE_BYTES {
        return expression.to_owned();
    }
    let end = expression.floor_char_boundary(MAX_EXAMPLE_BYTES - MARK.len());
    format!("{}{MARK}", expression.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use prunus_pruner::Obstacles;

    use super::*;
    use crate::plan::ConjunctMetrics;

    const TABLE: TableId = TableId(1);

    fn conjunct(expression: &str, columns: &[(i32, Obstacle)]) -> ConjunctMetrics {
        let columns = columns.iter().map(|(id, obstacle)| (FieldId(*id), *obstacle)).collect();
        let obstacles = Obstacles { columns, ..Obstacles::default() };
        ConjunctMetrics { expression: expression.to_owned(), files_pruned: 0, prunable: true, obstacles }
    }

    fn metrics(files_kept: u64, conjuncts: Vec<ConjunctMetrics>) -> PlanMetrics {
        PlanMetrics { files_kept, conjuncts, ..PlanMetrics::default() }
    }

    #[test]
    fn a_plan_counts_once_for_a_column_and_kind() {
        let log = ObstacleLog::new(5);
        let plan = metrics(
            1,
            vec![
                conjunct("a > 1", &[(1, Obstacle::WithoutStatistics), (1, Obstacle::NanCountUnknown)]),
                conjunct("a < 9 OR b = 2", &[(1, Obstacle::WithoutStatistics), (2, Obstacle::WithoutStatistics)]),
            ],
        );
        log.record(TABLE, &plan, 10);
        log.record(TABLE, &plan, 20);
        log.record(TableId(2), &plan, 30);
        let met = |obstacle, example: &str| ColumnObstacle {
            obstacle,
            plans: 2,
            last_at_ms: 20,
            example: example.to_owned(),
        };
        let of_a = vec![met(Obstacle::WithoutStatistics, "a > 1"), met(Obstacle::NanCountUnknown, "a > 1")];
        let of_b = vec![met(Obstacle::WithoutStatistics, "a < 9 OR b = 2")];
        assert_eq!(log.of_table(TABLE), BTreeMap::from([(FieldId(1), of_a), (FieldId(2), of_b)]));
    }

    #[test]
    fn nothing_was_in_the_way_where_no_file_was_kept() {
        let log = ObstacleLog::new(0);
        log.record(TABLE, &metrics(0, vec![conjunct("a > 1", &[(1, Obstacle::WithoutStatistics)])]), 1);
        assert!(log.of_table(TABLE).is_empty());
    }

    #[test]
    fn only_so_many_are_kept_and_the_oldest_go() {
        let log = ObstacleLog::new(0);
        let mut plan = |id| {
            let conjuncts = vec![conjunct("x", &[(id, Obstacle::Unsupported)])];
            log.record(TABLE, &metrics(1, conjuncts), id.into());
        };
        let limit = i32::try_from(MAX_LOGGED_OBSTACLES).unwrap();
        (1..=limit).for_each(&mut plan);
        assert_eq!(log.of_table(TABLE).len(), MAX_LOGGED_OBSTACLES);
        plan(limit + 1);
        let kept = log.of_table(TABLE);
        assert_eq!((kept.len(), kept.keys().next()), (MAX_LOGGED_OBSTACLES / 2 + 1, Some(&FieldId(limit / 2 + 1))));
    }

    #[test]
    fn a_long_expression_is_cut_between_characters() {
        assert_eq!(cut(&"é".repeat(100)), "é".repeat(100));
        assert_eq!(cut(&"é".repeat(101)), format!("{} ...", "é".repeat(98)));
        assert_eq!(cut(&format!("x{}", "é".repeat(100))), format!("x{} ...", "é".repeat(97)));
    }
}
