//! The store against a plain model: the live paths of every snapshot, under random commits, rollbacks, tags, expiries,
//! reopenings, and changes of the layout.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use prunus_manifest::{
    ChangeKind, Committed, Error, Expiry, NewCommit, Operation, ReadTransaction, SnapshotId, Totals,
};

use crate::fixture::{Expired, Fixture, file};

const PATHS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

#[derive(Clone, Debug)]
enum Step {
    Commit {
        add: Vec<usize>,
        remove: Vec<usize>,
        is_replace: bool,
    },
    /// Removes those of these that are live, and adds the others.
    Toggle(BTreeSet<usize>),
    /// To a snapshot by its place among all that were made.
    RollBack(usize),
    /// A name and a snapshot by its place among all that were made.
    Tag(usize, usize),
    Untag(usize),
    Expire {
        keep_last: u32,
        /// So many snapshots before the newest, if age counts.
        older_than: Option<i64>,
    },
    Reopen {
        target: u32,
    },
    Regroup,
}

const TAGS: [&str; 2] = ["release", "audit"];

/// More than a run makes snapshots.
const PLACES: usize = 1000;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let some = || vec(0..PATHS.len(), 0..4);
    let commit =
        (some(), some(), any::<bool>()).prop_map(|(add, remove, is_replace)| Step::Commit { add, remove, is_replace });
    let expire = (1_u32..5, proptest::option::of(0_i64..6))
        .prop_map(|(keep_last, older_than)| Step::Expire { keep_last, older_than });
    let step = prop_oneof![
        3 => commit,
        8 => btree_set(0..PATHS.len(), 0..4).prop_map(Step::Toggle),
        2 => (0..PLACES).prop_map(Step::RollBack),
        2 => (0..TAGS.len(), 0..PLACES).prop_map(|(name, snapshot)| Step::Tag(name, snapshot)),
        1 => (0..TAGS.len()).prop_map(Step::Untag),
        3 => expire,
        1 => (1_u32..6).prop_map(|target| Step::Reopen { target }),
        1 => Just(Step::Regroup),
    ];
    vec(step, 1..30)
}

/// A file as it was added once, and when it was removed.
#[derive(Clone, Copy, Debug)]
struct ModelFile {
    path: &'static str,
    added: usize,
    removed: Option<usize>,
}

impl ModelFile {
    fn is_live(self, snapshot: usize) -> bool {
        self.added <= snapshot && self.removed.is_none_or(|removed| snapshot < removed)
    }
}

/// A plain table.
#[derive(Default)]
struct Model {
    newest: usize,
    retained: BTreeSet<usize>,
    tags: BTreeMap<&'static str, usize>,
    files: Vec<ModelFile>,
}

enum Expected {
    Taken,
    Conflict,
    RowSumsDiffer,
}

impl Model {
    fn live(&self, snapshot: usize) -> BTreeSet<&'static str> {
        self.files.iter().filter(|file| file.is_live(snapshot)).map(|file| file.path).collect()
    }

    fn is_retained(&self, snapshot: usize) -> bool {
        snapshot == 0 || self.retained.contains(&snapshot)
    }

    /// One of the snapshots that were made, the empty table, or the one that comes next.
    fn place(&self, place: usize) -> usize {
        place % (self.newest + 2)
    }

    fn commit(&mut self, add: &[&'static str], remove: &[&'static str], is_replace: bool) -> Expected {
        let live = self.live(self.newest);
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
        self.change(add, remove);
        Expected::Taken
    }

    fn change(&mut self, add: &[&'static str], remove: &[&'static str]) {
        let next = self.newest + 1;
        for file in self.files.iter_mut().filter(|file| file.removed.is_none() && remove.contains(&file.path)) {
            file.removed = Some(next);
        }
        self.files.extend(add.iter().map(|path| ModelFile { path, added: next, removed: None }));
        self.newest = next;
        self.retained.insert(next);
    }

    fn roll_back(&mut self, snapshot: usize) {
        let (now, then) = (self.live(self.newest), self.live(snapshot));
        let add: Vec<_> = then.difference(&now).copied().collect();
        let remove: Vec<_> = now.difference(&then).copied().collect();
        self.change(&add, &remove);
    }

    fn expire(&mut self, keep_last: usize, older_than: Option<usize>) -> Expired {
        let kept: BTreeSet<usize> =
            self.retained.iter().rev().take(keep_last).chain(self.tags.values()).copied().collect();
        let goes = |snapshot: &usize| !kept.contains(snapshot) && older_than.is_none_or(|limit| *snapshot < limit);
        let expired: Vec<usize> = self.retained.iter().copied().filter(goes).collect();
        self.retained.retain(|snapshot| !expired.contains(snapshot));
        let is_needed =
            |file: &ModelFile| file.removed.is_none() || self.retained.iter().any(|snapshot| file.is_live(*snapshot));
        let (needed, forgotten): (Vec<_>, Vec<_>) = self.files.iter().copied().partition(is_needed);
        let named: BTreeSet<&str> = needed.iter().map(|file| file.path).collect();
        let gone: BTreeSet<&str> = forgotten.iter().map(|file| file.path).collect();
        self.files = needed;
        Expired {
            snapshots: expired.into_iter().map(|snapshot| i64::try_from(snapshot).unwrap()).collect(),
            files: forgotten.len() as u64,
            removable: gone.difference(&named).map(ToString::to_string).collect(),
        }
    }
}

fn apply(fixture: &mut Fixture, model: &mut Model, step: &Step) {
    match step {
        Step::Commit { add, remove, is_replace } => commit(fixture, model, (add, remove), *is_replace),
        Step::Toggle(paths) => {
            let live = model.live(model.newest);
            let (remove, add): (Vec<_>, Vec<_>) = paths.iter().partition(|path| live.contains(PATHS[**path]));
            commit(fixture, model, (&add, &remove), false);
        }
        Step::RollBack(place) => {
            let target = model.place(*place);
            let is_retained = model.is_retained(target);
            match fixture.roll_back(i64::try_from(target).unwrap()) {
                Ok(committed) if is_retained => {
                    model.roll_back(target);
                    check_committed(&committed, model);
                }
                Err(Error::SnapshotNotFound { .. }) if !is_retained => {}
                answer => panic!("{answer:?}"),
            }
        }
        Step::Tag(name, place) => {
            let target = model.place(*place);
            match fixture.set_tag(TAGS[*name], i64::try_from(target).unwrap()) {
                Ok(_) if model.retained.contains(&target) => drop(model.tags.insert(TAGS[*name], target)),
                Err(Error::SnapshotNotFound { .. }) if !model.retained.contains(&target) => {}
                answer => panic!("{answer:?}"),
            }
        }
        Step::Untag(name) => {
            let (table_id, name) = (fixture.table_id(), TAGS[*name]);
            let answer = fixture.store().write(move |tx| tx.delete_tag(table_id, name));
            assert_eq!(answer.is_ok(), model.tags.remove(name).is_some());
        }
        Step::Expire { keep_last, older_than } => {
            let older_than = older_than.map(|back| i64::try_from(model.newest).unwrap() - back);
            // The time of snapshot n is 1000 + n.
            let older_than_ms = older_than.map(|snapshot| 1000 + snapshot);
            let expired = fixture.expire(&Expiry { older_than_ms, ..fixture.expiry(*keep_last) });
            let older_than = older_than.map(|snapshot| usize::try_from(snapshot.max(0)).unwrap());
            assert_eq!(expired, model.expire(usize::try_from(*keep_last).unwrap(), older_than));
        }
        Step::Reopen { target } => fixture.reopen_with_target(*target),
        Step::Regroup => drop(fixture.store().regroup(fixture.table_id()).unwrap()),
    }
}

fn commit(fixture: &Fixture, model: &mut Model, (add, remove): (&[usize], &[usize]), is_replace: bool) {
    let named = |indexes: &[usize]| indexes.iter().map(|index| PATHS[*index]).collect::<Vec<_>>();
    let (add, remove) = (named(add), named(remove));
    let operation = if is_replace { Operation::Replace } else { Operation::Overwrite };
    let change = fixture.change(operation, add.iter().map(|path| file(path)).collect(), &remove);
    let committed_at_ms = 1001 + i64::try_from(model.newest).unwrap();
    let answer = fixture.commit(NewCommit { committed_at_ms, ..change });
    match (model.commit(&add, &remove, is_replace), answer) {
        (Expected::Taken, Ok(committed)) => check_committed(&committed, model),
        (Expected::Conflict, Err(Error::Conflict { .. })) => {}
        (Expected::RowSumsDiffer, Err(Error::RowSumsDiffer { .. })) => {}
        (_, answer) => panic!("{answer:?}"),
    }
}

fn check_committed(committed: &Committed, model: &Model) {
    assert_eq!(usize::try_from(committed.snapshot_id.0).unwrap(), model.newest);
    assert_eq!(committed.totals, totals_of(model.live(model.newest).len() as u64));
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
    for snapshot in 0..=model.newest {
        let id = SnapshotId(i64::try_from(snapshot).unwrap());
        compare_time(fixture, model, snapshot);
        if !model.is_retained(snapshot) {
            let load = fixture.store().read(|tx| tx.load_snapshot(fixture.table_id(), id));
            assert!(matches!(load, Err(Error::SnapshotNotFound { .. })));
            continue;
        }
        let expected = model.live(snapshot);
        let files = fixture.live_files(id);
        let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((files.len(), &paths), (expected.len(), &expected));
        let ids: BTreeSet<i64> = files.iter().map(|file| file.file_id.0).collect();
        assert_eq!(fixture.store().read(|tx| planned(tx, fixture, id)).unwrap(), ids);
        compare_changes(fixture, model, id);
    }
    // In one read: a tail may be sealed at any time.
    let counted_and_listed = fixture.store().read(|tx| {
        let table = tx.load_table_by_id(fixture.table_id())?;
        Ok::<_, Error>((table.tail_files, tx.list_tail(fixture.table_id())?.len() as u64))
    });
    let (counted, listed) = counted_and_listed.unwrap();
    assert_eq!(counted, listed);
    assert_eq!(fixture.forget(u32::MAX).files, 0);
}

/// At the time of a snapshot that and no other is found, if it and the one after it are there.
fn compare_time(fixture: &Fixture, model: &Model, snapshot: usize) {
    let time_ms = 1000 + i64::try_from(snapshot).unwrap();
    let answer = fixture.store().read(|tx| tx.get_snapshot_at(fixture.table_id(), time_ms));
    let is_known = model.is_retained(snapshot) && (snapshot == model.newest || model.is_retained(snapshot + 1));
    match answer {
        Ok(found) if is_known => {
            let found = found.map_or(0, |row| row.snapshot_id.0);
            assert_eq!(usize::try_from(found).unwrap(), snapshot);
        }
        Err(Error::SnapshotAtExpired { .. }) if !is_known => {}
        answer => panic!("{snapshot}: {answer:?}"),
    }
}

/// Between a snapshot and every other one, both ways.
fn compare_changes(fixture: &Fixture, model: &Model, from: SnapshotId) {
    let ids_of = |id: SnapshotId| fixture.live_files(id).into_iter().map(|file| file.file_id).collect::<BTreeSet<_>>();
    let before = ids_of(from);
    for to in std::iter::once(&0).chain(&model.retained) {
        let to = SnapshotId(i64::try_from(*to).unwrap());
        let after = ids_of(to);
        let changes = fixture.store().read(|tx| tx.list_changes(fixture.table_id(), from, to)).unwrap();
        let of = |kind| changes.iter().filter(move |change| change.kind == kind).map(|change| change.file_id);
        assert_eq!(of(ChangeKind::Added).collect::<Vec<_>>(), after.difference(&before).copied().collect::<Vec<_>>());
        assert_eq!(of(ChangeKind::Removed).collect::<Vec<_>>(), before.difference(&after).copied().collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_snapshot_is_what_the_model_says(steps in steps(), target in prop_oneof![3 => 1_u32..6, 1 => Just(100)]) {
        let mut fixture = Fixture::with_target(target);
        let mut model = Model::default();
        for step in steps {
            apply(&mut fixture, &mut model, &step);
        }
        compare(&fixture, &model);
        fixture.store().wait_for_maintenance().unwrap();
        compare(&fixture, &model);
        fixture.close();
        let report = prunus_manifest::check(&fixture.path(), &mut |_| ()).unwrap();
        prop_assert!(report.findings.is_empty(), "{:?}", report.findings);
    }
}
