//! What commits need to know of their tables, kept in memory.
//!
//! None of it changes by a commit. What does change it, altering a table above all, is done by this process, since one process
//! has the store open, and forgets it here. A commit that has taken its head just before that is one that came just before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prunus_manifest::{SchemaId, TableId};

use crate::name::TableIdent;
use crate::registration::Target;

/// How many tables are kept.
const MAX_HEADS: usize = 4_096;

/// A table as a commit finds it.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) table_id: TableId,
    pub(crate) schema_id: SchemaId,
    pub(crate) target: Target,
}

/// The heads of tables that were committed to.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    heads: HashMap<TableIdent, Arc<Head>>,
    /// Counts what was forgotten: a head that was read before that may be of a table that is gone.
    forgotten: u64,
}

/// How much had been forgotten when a head was looked for.
#[derive(Clone, Copy)]
pub(crate) struct Epoch(u64);

impl Heads {
    /// The head of a table; if it is not known, what [`Heads::insert`] wants with the one that is then read.
    pub(crate) fn get(&self, table: &TableIdent) -> Result<Arc<Head>, Epoch> {
        let state = self.lock();
        state.heads.get(table).cloned().ok_or(Epoch(state.forgotten))
    }

    /// Keeps a head, unless something was forgotten since it was looked for.
    pub(crate) fn insert(&self, table: TableIdent, head: &Arc<Head>, Epoch(epoch): Epoch) {
        let mut state = self.lock();
        if state.forgotten != epoch {
            return;
        }
        if state.heads.len() >= MAX_HEADS {
            state.heads.clear();
        }
        state.heads.insert(table, Arc::clone(head));
    }

    /// How many tables are known.
    pub(crate) fn len(&self) -> usize {
        self.lock().heads.len()
    }

    /// Forgets a table that has become another, or is gone; to be called once that is durable.
    pub(crate) fn forget(&self, table: &TableIdent) {
        let mut state = self.lock();
        state.forgotten += 1;
        state.heads.remove(table);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::StatisticsProperties;
    use crate::storage::Allowed;

    fn head() -> Arc<Head> {
        let properties = StatisticsProperties::parse(&[].into()).unwrap();
        let (columns, wanted, kept) = (vec![], vec![], [].into());
        let (items, holders) = (vec![], vec![]);
        let (location, allowed) = (None, Allowed::Anything);
        let target = Target { location, allowed, columns, wanted, items, holders, has_nested: false, properties, kept };
        Arc::new(Head { table_id: TableId(1), schema_id: SchemaId(1), target })
    }

    #[test]
    fn a_head_is_kept_until_it_is_forgotten() {
        let (heads, table): (_, TableIdent) = (Heads::default(), "n.t".parse().unwrap());
        let epoch = heads.get(&table).unwrap_err();
        heads.insert(table.clone(), &head(), epoch);
        assert!(heads.get(&table).is_ok());
        heads.forget(&table);
        assert!(heads.get(&table).is_err());
    }

    #[test]
    fn a_head_that_was_read_before_something_was_forgotten_is_not_kept() {
        let (heads, table): (_, TableIdent) = (Heads::default(), "n.t".parse().unwrap());
        let epoch = heads.get(&table).unwrap_err();
        heads.forget(&table);
        heads.insert(table.clone(), &head(), epoch);
        assert!(heads.get(&table).is_err());
    }

    #[test]
    fn only_so_many_are_kept() {
        let heads = Heads::default();
        for number in 0..=MAX_HEADS {
            let table: TableIdent = format!("n.t{number}").parse().unwrap();
            let epoch = heads.get(&table).unwrap_err();
            heads.insert(table, &head(), epoch);
        }
        assert_eq!(heads.lock().heads.len(), 1);
    }
}
