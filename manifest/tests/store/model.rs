//! The store against a plain model: the live paths of every snapshot, under random commits, reopenings, and changes
//! of the layout.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use prunus_manifest::{Error, Operation, ReadTransaction, SnapshotId, Totals};

use crate::fixture::{Fixture, file};

const PATHS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

#[derive(Clone, Debug)]
enum Step {
    Commit { add: Vec<usize>, remove: Vec<usize>, is_replace: bool },
    Reopen { target: u32 },
    Regroup,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let some = || vec(0..PATHS.len(), 0..4);
    let commit =
        (some(), some(), any::<bool>()).prop_map(|(add, remove, is_replace)| Step::Commit { add, remove, is_replace });
    let reopen = (1_u32..6).prop_map(|target| Step::Reopen { target });
    vec(prop_oneof![8 => commit, 1 => reopen, 1 => Just(Step::Regroup)], 1..25)
}

/// The live paths of each snapshot, the empty one first.
struct Model {
    snapshots: Vec<BTreeSet<&'static str>>,
}

enum Expected {
    Taken,
    Conflict,
    RowSumsDiffer,
}

impl Model {
    fn commit(&mut self, add: &[&'static str], remove: &[&'static str], is_replace: bool) -> Expected {
        let live = self.snapshots.last().unwrap();
        let named: BTreeSet<_> = add.iter().chain(remove).collect();
        let is_sound = named.len() == add.len() + remove.len()
            && add.iter().all(|path| !live.contains(path))
            && remove.iter().all(|path| live.contains(path));
        if !is_sound {
            return Expected::Conflict;
        }
        // Every file of the fixture has the same number of rows.
        if is_replace && add.len() != remove.len() {
            return Expected::RowSumsDiffer;
        }
        let mut next = live.clone();
        next.extend(add);
        next.retain(|path| !remove.contains(path));
        self.snapshots.push(next);
        Expected::Taken
    }
}

fn apply(fixture: &Fixture, model: &mut Model, (add, remove): (&[usize], &[usize]), is_replace: bool) {
    let named = |indexes: &[usize]| indexes.iter().map(|index| PATHS[*index]).collect::<Vec<_>>();
    let (add, remove) = (named(add), named(remove));
    let operation = if is_replace { Operation::Replace } else { Operation::Overwrite };
    let commit = fixture.change(operation, add.iter().map(|path| file(path)).collect(), &remove);
    let answer = fixture.commit(commit);
    match (model.commit(&add, &remove, is_replace), answer) {
        (Expected::Taken, Ok(committed)) => {
            assert_eq!(usize::try_from(committed.snapshot_id.0).unwrap(), model.snapshots.len() - 1);
            let live = model.snapshots.last().unwrap().len() as u64;
            assert_eq!(committed.totals, totals_of(live));
        }
        (Expected::Conflict, Err(Error::Conflict { .. })) => {}
        (Expected::RowSumsDiffer, Err(Error::RowSumsDiffer { .. })) => {}
        (_, answer) => panic!("{answer:?}"),
    }
}

/// The live files of a snapshot as a plan finds them: through manifests, their entries and removals, and the tail.
fn planned(tx: &ReadTransaction<'_>, fixture: &Fixture, snapshot: SnapshotId) -> Result<BTreeSet<i64>, Error> {
    let mut live = BTreeSet::new();
    for manifest in tx.list_manifests(fixture.table_id())? {
        let removals = tx.list_removals(manifest.manifest_id)?;
        let removed: BTreeMap<i64, SnapshotId> =
            removals.iter().map(|removal| (removal.file_id.0, removal.removed_snapshot)).collect();
        // Every file of the fixture holds the same.
        assert_eq!(manifest.removed, totals_of(removed.len() as u64));
        let entries = tx.load_entry_block(&manifest)?;
        let added = entries.file_ids().values().iter().zip(entries.added_snapshots().values());
        live.extend(added.filter_map(|(id, added)| {
            let is_live = *added <= snapshot.0 && removed.get(id).is_none_or(|removed| *removed > snapshot);
            is_live.then_some(*id)
        }));
    }
    for entry in tx.list_tail(fixture.table_id())? {
        if entry.added_snapshot <= snapshot && entry.removed_snapshot.is_none_or(|removed| removed > snapshot) {
            live.insert(entry.file_id.0);
        }
    }
    Ok(live)
}

fn totals_of(files: u64) -> Totals {
    Totals { files, rows: 10 * files, files_of_unknown_rows: 0, bytes: 100 * files }
}

fn compare(fixture: &Fixture, model: &Model) {
    for (id, expected) in (0..).zip(&model.snapshots) {
        let snapshot = SnapshotId(id);
        let files = fixture.live_files(snapshot);
        let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((files.len(), &paths), (expected.len(), expected));
        let ids: BTreeSet<i64> = files.iter().map(|file| file.file_id.0).collect();
        assert_eq!(fixture.store().read(|tx| planned(tx, fixture, snapshot)).unwrap(), ids);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_snapshot_is_what_the_model_says(steps in steps(), target in 1_u32..6) {
        let mut fixture = Fixture::with_target(target);
        let mut model = Model { snapshots: vec![BTreeSet::new()] };
        for step in steps {
            match step {
                Step::Commit { add, remove, is_replace } => apply(&fixture, &mut model, (&add, &remove), is_replace),
                Step::Reopen { target } => fixture.reopen_with_target(target),
                Step::Regroup => drop(fixture.store().regroup(fixture.table_id()).unwrap()),
            }
        }
        compare(&fixture, &model);
        fixture.store().wait_for_maintenance().unwrap();
        compare(&fixture, &model);
    }
}
