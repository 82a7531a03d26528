//! Repairs: other statistics, and the same snapshots and files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use prunus_manifest::{
    ColumnRepair, EncodedStatistics, Error, FileId, InspectedFile, ManifestId, ManifestRow, NewCommit, NewDataFile,
    Operation, RepairOutcome, SnapshotId,
};
use prunus_statistics::{
    Bound, ColumnStatistics, FileColumn, FileStatistics, Precision, PrimitiveType, Provenance, Value,
};

use crate::fixture::{Fixture, NAME, NUMBER, file, new_table, repaired_statistics, statistics_of};

/// Three manifests of two files, `ab`, `cd` and `ef`, and a tail of one, `g`.
fn fixture() -> Fixture {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a", "b", "c", "d", "e", "f", "g"]);
    fixture.store().wait_for_maintenance().unwrap();
    fixture
}

const FIRST: SnapshotId = SnapshotId(1);

fn manifests(fixture: &Fixture) -> Vec<ManifestRow> {
    fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap()
}

/// Those of the live files that have one of these letters.
fn named(fixture: &Fixture, letters: &str) -> Vec<InspectedFile> {
    fixture.inspect(FIRST).into_iter().filter(|file| letters.contains(&file.row.path)).collect()
}

fn outcomes(outcomes: &BTreeMap<FileId, RepairOutcome>) -> Vec<RepairOutcome> {
    outcomes.values().copied().collect()
}

fn generations(fixture: &Fixture) -> (u64, u64) {
    let table = fixture.load_table();
    (table.statistics_generation, table.layout_generation)
}

#[test]
fn a_file_of_the_tail_is_repaired_where_it_is() {
    let fixture = fixture();
    let (before, generation) = (fixture.load_table(), generations(&fixture));
    let files = named(&fixture, "g");
    assert_eq!(outcomes(&fixture.repair(&files, 1)), [RepairOutcome::Repaired]);
    let after = named(&fixture, "g");
    assert_eq!(after[0].statistics, repaired_statistics("g", 1));
    assert_eq!(after[0].row, files[0].row);
    assert_eq!(generations(&fixture), (generation.0 + 1, generation.1));
    assert_eq!((before.current_snapshot, before.totals), (FIRST, fixture.load_table().totals));
}

#[test]
fn a_sealed_file_is_repaired_in_another_manifest_of_the_same_entries() {
    let fixture = fixture();
    let (before, generation) = (manifests(&fixture), generations(&fixture));
    assert_eq!(outcomes(&fixture.repair(&named(&fixture, "c"), 3)), [RepairOutcome::Repaired]);
    for (path, times) in [("a", 0), ("b", 0), ("c", 3), ("d", 0), ("e", 0), ("f", 0), ("g", 0)] {
        assert_eq!(named(&fixture, path)[0].statistics, repaired_statistics(path, times), "{path}");
    }
    let after = manifests(&fixture);
    let ids = |rows: &[ManifestRow]| rows.iter().map(|row| row.manifest_id).collect::<BTreeSet<ManifestId>>();
    assert_eq!(ids(&before).intersection(&ids(&after)).count(), 2);
    let rebuilt = after.last().unwrap();
    let replaced = &before[1];
    assert_eq!(ManifestRow { manifest_id: replaced.manifest_id, ..rebuilt.clone() }, *replaced);
    assert_eq!(generations(&fixture), (generation.0 + 1, generation.1 + 1));
}

#[test]
fn blocks_and_zones_say_what_was_repaired() {
    let fixture = fixture();
    fixture.repair(&named(&fixture, "cd"), 3);
    let rebuilt = manifests(&fixture).pop().unwrap();
    let read = fixture.store().read(|tx| {
        let zones = tx.load_zones(fixture.table_id(), std::slice::from_ref(&rebuilt), NUMBER)?;
        Ok::<_, Error>((tx.load_column_block(&rebuilt, NUMBER)?, zones.zones))
    });
    let (block, zones) = read.unwrap();
    let lower = |array: &dyn Array| array.as_primitive::<Int64Type>().values().to_vec();
    assert_eq!(lower(block.min()), [i64::from(b'c') + 3, i64::from(b'd') + 3]);
    assert_eq!(lower(zones.min()), [i64::from(b'c') + 3]);
}

#[test]
fn repairs_are_gathered_by_manifest() {
    let fixture = fixture();
    let (statistics, layout) = generations(&fixture);
    let all = fixture.repair(&fixture.inspect(FIRST), 1);
    assert_eq!(outcomes(&all), [RepairOutcome::Repaired; 7]);
    // Three manifests and a tail.
    assert_eq!(generations(&fixture), (statistics + 4, layout + 3));
}

#[test]
fn a_long_tail_is_repaired_in_several_jobs() {
    let fixture = Fixture::new();
    let paths: Vec<String> = (0..600).map(|number| format!("{number:04}")).collect();
    fixture.append(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    let repaired = fixture.repair(&fixture.inspect(FIRST), 1);
    assert!(repaired.len() == 600 && outcomes(&repaired).iter().all(|outcome| *outcome == RepairOutcome::Repaired));
    assert_eq!(generations(&fixture).0, 3);
    let files = fixture.inspect(FIRST);
    assert!(files.iter().all(|file| file.statistics == repaired_statistics(&file.row.path, 1)));
}

#[test]
fn what_is_so_already_is_let_be() {
    let fixture = fixture();
    let files = named(&fixture, "ag");
    fixture.repair(&files, 1);
    let before = (generations(&fixture), manifests(&fixture));
    assert_eq!(outcomes(&fixture.repair(&files, 1)), [RepairOutcome::Unchanged; 2]);
    assert_eq!((generations(&fixture), manifests(&fixture)), before);
}

#[test]
fn what_was_worked_out_from_older_statistics_is_superseded() {
    let fixture = fixture();
    let older = named(&fixture, "ag");
    fixture.repair(&older, 2);
    assert_eq!(outcomes(&fixture.repair(&older, 1)), [RepairOutcome::Superseded; 2]);
    assert_eq!(named(&fixture, "a")[0].statistics, repaired_statistics("a", 2));
    assert_eq!(named(&fixture, "g")[0].statistics, repaired_statistics("g", 2));
}

#[test]
fn what_was_worked_out_in_another_type_is_superseded() {
    let fixture = fixture();
    let after = FileColumn::Present(ColumnStatistics::default());
    for path in ["a", "g"] {
        let file = named(&fixture, path).remove(0);
        let before = file.statistics.columns.get(&NUMBER.field_id).cloned();
        let column = ColumnRepair { column_type: PrimitiveType::Int32, before, after: after.clone() };
        let repairs = [(file.row.file_id, [(NUMBER.field_id, column)].into())].into();
        let done = fixture.store().repair(fixture.table_id(), &repairs).unwrap();
        assert_eq!(outcomes(&done), [RepairOutcome::Superseded], "{path}");
        assert_eq!(named(&fixture, path)[0].statistics, file.statistics);
    }
}

#[test]
fn of_a_file_all_columns_are_repaired_or_none() {
    let fixture = fixture();
    let after = FileColumn::Present(ColumnStatistics::default());
    for (path, files) in [("a", named(&fixture, "a")), ("g", named(&fixture, "g"))] {
        let before = |column| files[0].statistics.columns.get(&column).cloned();
        let number =
            ColumnRepair { column_type: NUMBER.column_type, before: before(NUMBER.field_id), after: after.clone() };
        // Nobody ever read this of the file.
        let name = ColumnRepair { column_type: NAME.column_type, before: None, after: after.clone() };
        let repair = [(NUMBER.field_id, number), (NAME.field_id, name)].into();
        let done = fixture.store().repair(fixture.table_id(), &[(files[0].row.file_id, repair)].into()).unwrap();
        assert_eq!(outcomes(&done), [RepairOutcome::Superseded]);
        assert_eq!(named(&fixture, path)[0].statistics, statistics_of(path));
    }
}

#[test]
fn a_column_that_nobody_spoke_of_is_repaired() {
    let fixture = Fixture::with_target(2);
    let unsaid =
        |path| NewDataFile { statistics: EncodedStatistics::new(&FileStatistics::default()).unwrap(), ..file(path) };
    let files = ["a", "b", "c"].map(unsaid).into();
    fixture.commit(fixture.change(Operation::Append, files, &[])).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
    fixture.repair(&fixture.inspect(FIRST), 1);
    for file in fixture.inspect(FIRST) {
        let FileStatistics { columns } = repaired_statistics(&file.row.path, 1);
        let number = columns.get(&NUMBER.field_id);
        assert_eq!((file.statistics.columns.get(&NUMBER.field_id), file.statistics.columns.len()), (number, 1));
    }
}

#[test]
fn a_bound_that_is_nan_is_repaired() {
    let nan = Bound { value: Value::Float(f64::NAN), precision: Precision::Exact, provenance: Provenance::Declared };
    let statistics = ColumnStatistics { min: Some(nan), ..ColumnStatistics::default() };
    let number = FileColumn::Present(statistics);
    let statistics = FileStatistics { columns: [(NUMBER.field_id, number)].into() };
    let fixture = Fixture::with_target(2);
    let add = ["a", "b", "c"]
        .map(|path| NewDataFile { statistics: EncodedStatistics::new(&statistics).unwrap(), ..file(path) });
    fixture.commit(fixture.change(Operation::Append, add.into(), &[])).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
    assert_eq!(outcomes(&fixture.repair(&fixture.inspect(FIRST), 1)), [RepairOutcome::Repaired; 3]);
}

#[test]
fn what_is_not_the_tables_is_gone() {
    let fixture = fixture();
    let other = fixture.store().write(|tx| tx.create_table(&new_table("others"))).unwrap();
    let change = NewCommit { table_id: other.table_id, ..fixture.change(Operation::Append, vec![file("x")], &[]) };
    fixture.commit(change).unwrap();
    let of_other = fixture.store().read(|tx| tx.list_inspected_files(other.table_id, FIRST, FileId(0), 10)).unwrap();
    assert_eq!(outcomes(&fixture.repair(&of_other, 1)), [RepairOutcome::Gone]);
    let files = named(&fixture, "ag");
    fixture.delete(&["a", "g"]);
    fixture.expire(&fixture.expiry(1));
    assert_eq!(outcomes(&fixture.repair(&files, 1)), [RepairOutcome::Gone; 2]);
    fixture.store().write(|tx| tx.drop_table("sales", "orders")).unwrap();
    assert!(matches!(
        fixture.store().repair(fixture.table_id(), &BTreeMap::from([(FileId(1), [].into())])),
        Err(Error::TableGone(_))
    ));
}

#[test]
fn removals_and_forgotten_entries_go_along() {
    let mut fixture = Fixture::with_target(4);
    fixture.append(&["a", "b", "c", "d"]);
    fixture.store().wait_for_maintenance().unwrap();
    let files = fixture.inspect(FIRST);
    fixture.delete(&["a"]);
    fixture.expire(&fixture.expiry(1));
    fixture.delete(&["b"]);
    let done = fixture.repair(&files, 1);
    let repaired = RepairOutcome::Repaired;
    assert_eq!(outcomes(&done), [RepairOutcome::Gone, repaired, repaired, repaired]);
    let manifest = manifests(&fixture).remove(0);
    assert_eq!((manifest.totals.files, manifest.removed.files), (3, 1));
    assert_eq!((fixture.live_paths(SnapshotId(2)).len(), fixture.live_paths(SnapshotId(3)).len()), (3, 2));
    let statistics: Vec<_> = fixture.inspect(SnapshotId(2)).into_iter().map(|file| file.statistics).collect();
    assert_eq!(statistics, ["b", "c", "d"].map(|path| repaired_statistics(path, 1)));
    fixture.close();
    let report = prunus_manifest::check(&fixture.path(), &mut |_| ()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn repaired_statistics_are_sealed_and_grouped_anew() {
    let mut fixture = Fixture::with_target(100);
    fixture.append(&["a", "b", "c", "d"]);
    fixture.repair(&named(&fixture, "ac"), 1);
    fixture.reopen_with_target(2);
    fixture.store().wait_for_maintenance().unwrap();
    fixture.repair(&named(&fixture, "a"), 2);
    fixture.reopen_with_target(5);
    fixture.store().regroup(fixture.table_id()).unwrap();
    assert_eq!(manifests(&fixture).len(), 1);
    let statistics: Vec<_> = fixture.inspect(FIRST).into_iter().map(|file| file.statistics).collect();
    let expected = [("a", 2), ("b", 0), ("c", 1), ("d", 0)].map(|(path, times)| repaired_statistics(path, times));
    assert_eq!(statistics, expected);
}

#[test]
fn a_rollback_does_not_bring_back_what_was_repaired_meanwhile() {
    for repaired in ["c", "g"] {
        let fixture = fixture();
        fixture.delete(&[repaired]);
        let prepared = fixture.prepare_rollback(1).unwrap();
        fixture.repair(&named(&fixture, repaired), 1);
        let answer = fixture.store().write(move |tx| tx.roll_back(&prepared));
        assert!(matches!(answer, Err(Error::StatisticsMoved(_))), "{answer:?}");
        let committed = fixture.roll_back(1).unwrap();
        let back = fixture.inspect(committed.snapshot_id).pop().unwrap();
        assert_eq!((back.row.path.as_str(), back.statistics), (repaired, repaired_statistics(repaired, 1)));
    }
}

#[test]
fn a_rollback_goes_on_where_other_manifests_were_repaired() {
    let fixture = fixture();
    fixture.delete(&["c"]);
    let prepared = fixture.prepare_rollback(1).unwrap();
    fixture.repair(&named(&fixture, "ag"), 1);
    assert!(fixture.store().write(move |tx| tx.roll_back(&prepared)).is_ok());
}

#[test]
fn a_bound_of_another_type_is_repaired_and_unknown_to_plans() {
    let fixture = fixture();
    let files = named(&fixture, "a");
    let value = Bound { value: Value::Boolean(true), precision: Precision::Bound, provenance: Provenance::Declared };
    let after = FileColumn::Present(ColumnStatistics { min: Some(value), ..ColumnStatistics::default() });
    let before = files[0].statistics.columns.get(&NUMBER.field_id).cloned();
    let column = ColumnRepair { column_type: NUMBER.column_type, before, after: after.clone() };
    let repair = [(NUMBER.field_id, column)].into();
    fixture.store().repair(fixture.table_id(), &[(files[0].row.file_id, repair)].into()).unwrap();
    assert_eq!(named(&fixture, "a")[0].statistics.columns.get(&NUMBER.field_id), Some(&after));
    let rebuilt = manifests(&fixture).pop().unwrap();
    let block = fixture.store().read(|tx| tx.load_column_block(&rebuilt, NUMBER)).unwrap();
    assert_eq!((block.physical_type(), block.min().is_null(0)), (PrimitiveType::Int64.physical_type(), true));
}

/// One thread commits, one groups anew, one expires, and meanwhile files are repaired as they are found.
#[test]
fn a_repair_beside_all_else_is_not_lost_and_loses_nothing() {
    const COMMITS: i64 = 60;
    let mut fixture = Fixture::with_target(4);
    let is_over = AtomicBool::new(false);
    let mut repaired: BTreeMap<FileId, u8> = BTreeMap::new();
    std::thread::scope(|scope| {
        let (fixture, is_over) = (&fixture, &is_over);
        scope.spawn(|| {
            for number in 0..COMMITS {
                let add: Vec<String> = (0..3).map(|file| format!("{number:03}/{file}")).collect();
                let remove = (number > 0).then(|| format!("{:03}/0", number - 1));
                let remove: Vec<&str> = remove.iter().map(String::as_str).collect();
                let files = add.iter().map(|path| file(path)).collect();
                fixture.commit(fixture.change(Operation::Overwrite, files, &remove)).unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fixture.store().regroup(fixture.table_id()).unwrap();
            }
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let expiry = fixture.expiry(3);
                fixture.store().write(move |tx| tx.expire_snapshots(&expiry, 10)).unwrap();
                fixture.forget(3);
            }
        });
        let mut times = 0;
        while !is_over.load(Ordering::Relaxed) {
            times = times % 9 + 1;
            let files = fixture.inspect(fixture.load_table().current_snapshot);
            for (file_id, outcome) in fixture.repair(&files, times) {
                match outcome {
                    RepairOutcome::Repaired => drop(repaired.insert(file_id, times)),
                    RepairOutcome::Gone | RepairOutcome::Unchanged => {}
                    RepairOutcome::Superseded | RepairOutcome::Moved => panic!("{file_id}: {outcome:?}"),
                }
            }
        }
    });
    assert!(!repaired.is_empty());
    fixture.store().wait_for_maintenance().unwrap();
    let live = fixture.inspect(SnapshotId(COMMITS));
    assert_eq!(live.len(), usize::try_from(2 * COMMITS + 1).unwrap());
    for file in live {
        let times = repaired.get(&file.row.file_id).copied().unwrap_or(0);
        assert_eq!(file.statistics, repaired_statistics(&file.row.path, times), "{}", file.row.path);
    }
    fixture.close();
    let report = prunus_manifest::check(&fixture.path(), &mut |_| ()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}
