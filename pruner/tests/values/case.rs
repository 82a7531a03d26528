//! A case: containers of rows, and what is told of them.

use prunus_pruner::Column;
use prunus_statistics::{Value, ZoneMap};

use super::generate::{self, Random};

pub(crate) struct Case {
    pub(crate) columns: Vec<Column>,
    pub(crate) containers: Vec<Vec<Vec<Option<Value>>>>,
    pub(crate) row_counts: Vec<Option<u64>>,
    /// By column, then by container.
    pub(crate) zones: Vec<Vec<ZoneMap>>,
}

impl Case {
    pub(crate) fn new(random: &mut Random, containers: usize) -> Self {
        let columns = generate::columns();
        let containers: Vec<_> = (0..containers).map(|_| generate::rows(random)).collect();
        let row_counts: Vec<Option<u64>> =
            containers.iter().map(|rows| (random.below(6) > 0).then_some(rows.len() as u64)).collect();
        let of_column = |(column, described): (usize, &Column)| -> Vec<ZoneMap> {
            let column_type = described.column_type.unwrap();
            let containers = containers.iter().zip(&row_counts);
            containers.map(|(rows, count)| generate::zone(random, column, column_type, rows, *count)).collect()
        };
        let zones = columns.iter().enumerate().map(of_column).collect();
        Self { columns, containers, row_counts, zones }
    }
}
