//! The store against a plain model: the live paths of every snapshot, and what is known of their files, under random commits,
//! rollbacks, tags, expiries, repairs, reopenings, and changes of the layout.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use prunus_manifest::{
    ChangeKind, Committed, Error, Expiry, FileId, InspectedFile, NewCommit, Operation, ReadTransaction, RepairOutcome,
    SnapshotId, Totals,
};
use prunus_statistics::{FileColumn, FileStatistics, Value};

use crate::fixture::{Expired, Fixture, NUMBER, file, repaired_statistics};

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
    /// The files of a snapshot, by its place among all that were made, that have these paths.
    Repair {
        place: usize,
        paths: BTreeSet<usize>,
        times: u8,
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
    let repair = (0..PLACES, btree_set(0..PATHS.len(), 0..PATHS.len()), 1_u8..5)
        .prop_map(|(place, paths, times)| Step::Repair { place, paths, times });
    let step = prop_oneof![
        3 => commit,
        8 => btree_set(0..PATHS.len(), 0..4).prop_map(Step::Toggle),
        2 => (0..PLACES).prop_map(Step::RollBack),
        2 => (0..TAGS.len(), 0..PLACES).prop_map(|(name, snapshot)| Step::Tag(name, snapshot)),
        1 => (0..TAGS.len()).prop_map(Step::Untag),
        3 => expire,
        4 => repair,
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
    /// Which statistics it has.
    repaired: u8,
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
        self.change(add.iter().map(|path| (*path, 0)), remove);
        Expected::Taken
    }

    /// Adds files with the statistics that they have after so many repairs, and removes others.
    fn change(&mut self, add: impl Iterator<Item = (&'static str, u8)>, remove: &[&'static str]) {
        let next = self.newest + 1;
        for file in self.files.iter_mut().filter(|file| file.removed.is_none() && remove.contains(&file.path)) {
            file.removed = Some(next);
        }
        self.files.extend(add.map(|(path, repaired)| ModelFile { path, added: next, removed: None, repaired }));
        self.newest = next;
        self.retained.insert(next);
    }

    fn roll_back(&mut self, snapshot: usize) {
        let (now, then) = (self.live(self.newest), self.live(snapshot));
        let repaired = self.repaired(snapshot);
        let add: Vec<_> = then.difference(&now).map(|path| (*path, repaired[path])).collect();
        let remove: Vec<_> = now.difference(&then).copied().collect();
        self.change(add.into_iter(), &remove);
    }

    /// Which statistics the live files of a snapshot have.
    fn repaired(&self, snapshot: usize) -> BTreeMap<&'static str, u8> {
        self.files.iter().filter(|file| file.is_live(snapshot)).map(|file| (file.path, file.repaired)).collect()
    }

    fn repair(&mut self, snapshot: usize, paths: &BTreeSet<&str>, times: u8) {
        let is_meant = |file: &&mut ModelFile| file.is_live(snapshot) && paths.contains(file.path);
        self.files.iter_mut().filter(is_meant).for_each(|file| file.repaired = times);
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
        Step::Repair { place, paths, times } => {
            let paths: BTreeSet<&str> = paths.iter().map(|index| PATHS[*index]).collect();
            repair(fixture, model, &paths, (model.place(*place), *times));
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

fn repair(fixture: &Fixture, model: &mut Model, paths: &BTreeSet<&str>, (snapshot, times): (usize, u8)) {
    // What is left of the files of any other one is for nobody to say.
    if !model.is_retained(snapshot) {
        return;
    }
    let files = fixture.inspect(SnapshotId(i64::try_from(snapshot).unwrap()));
    let meant: Vec<InspectedFile> = files.into_iter().filter(|file| paths.contains(file.row.path.as_str())).collect();
    for (file, outcome) in meant.iter().zip(fixture.repair(&meant, times).into_values()) {
        let was_so = file.statistics == repaired_statistics(&file.row.path, times);
        let expected = if was_so { RepairOutcome::Unchanged } else { RepairOutcome::Repaired };
        assert_eq!(outcome, expected);
    }
    model.repair(snapshot, paths, times);
}

fn check_committed(committed: &Committed, model: &Model) {
    assert_eq!(usize::try_from(committed.snapshot_id.0).unwrap(), model.newest);
    assert_eq!(committed.totals, totals_of(model.live(model.newest).len() as u64));
}

/// The live files of a snapshot as a plan finds them, with the lower bound of their numbers: through manifests, their entries,
/// blocks and removals, and the tail.
fn planned(
    tx: &ReadTransaction<'_>,
    fixture: &Fixture,
    snapshot: SnapshotId,
) -> Result<BTreeMap<i64, Option<i128>>, Error> {
    let mut live = BTreeMap::new();
    for manifest in tx.list_manifests(fixture.table_id())? {
        let removals = tx.list_removals(manifest.manifest_id)?;
        let removed: BTreeMap<i64, SnapshotId> =
            removals.iter().map(|removal| (removal.file_id.0, removal.removed_snapshot)).collect();
        // Every file of the fixture holds the same.
        assert_eq!(manifest.removed, totals_of(removed.len() as u64));
        let entries = tx.load_entry_block(&manifest)?;
        let zones = tx.load_column_block(&manifest, NUMBER)?;
        let lower = zones.min().as_primitive::<Int64Type>().iter().map(|lower| lower.map(i128::from));
        let added = entries.file_ids().values().iter().zip(entries.added_snapshots().values());
        live.extend(added.zip(lower).filter_map(|((id, added), lower)| {
            let is_live = *added <= snapshot.0 && removed.get(id).is_none_or(|removed| *removed > snapshot);
            is_live.then_some((*id, lower))
        }));
    }
    for entry in tx.list_tail(fixture.table_id())? {
        if entry.added_snapshot <= snapshot && entry.removed_snapshot.is_none_or(|removed| removed > snapshot) {
            live.insert(entry.file_id.0, lower_bound(&entry.statistics));
        }
    }
    Ok(live)
}

fn lower_bound(statistics: &FileStatistics) -> Option<i128> {
    let Some(FileColumn::Present(number)) = statistics.columns.get(&NUMBER.field_id) else { return None };
    match number.min.as_ref()?.value {
        Value::Integer(lower) => Some(lower),
        _ => None,
    }
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
        let known = compare_statistics(fixture, model, snapshot);
        assert_eq!(fixture.store().read(|tx| planned(tx, fixture, id)).unwrap(), known);
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

/// What is known of the files of a snapshot, read in pages; says the lower bounds of their numbers.
fn compare_statistics(fixture: &Fixture, model: &Model, snapshot: usize) -> BTreeMap<i64, Option<i128>> {
    const PAGE: u32 = 3;
    let (table_id, id) = (fixture.table_id(), SnapshotId(i64::try_from(snapshot).unwrap()));
    let (mut known, mut repaired) = (BTreeMap::new(), BTreeMap::new());
    let mut from = FileId(0);
    loop {
        let page = fixture.store().read(|tx| tx.list_inspected_files(table_id, id, from, PAGE)).unwrap();
        for InspectedFile { row, statistics } in &page {
            assert!(row.file_id >= from);
            from = FileId(row.file_id.0 + 1);
            let path = *PATHS.iter().find(|path| **path == row.path).unwrap();
            let times = (0..5).find(|times| *statistics == repaired_statistics(path, *times));
            repaired.insert(path, times.unwrap());
            known.insert(row.file_id.0, lower_bound(statistics));
        }
        if page.len() < usize::try_from(PAGE).unwrap() {
            break;
        }
    }
    assert_eq!(repaired, model.repaired(snapshot));
    known
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
