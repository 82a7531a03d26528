//! A store in which any byte is flipped: it is refused, or an answer is an error, or the answer is right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use prunus_catalog::{
    Catalog, CatalogOptions, DataFileRow, Error, Filter, PageSize, PlanRequest, SnapshotId, SnapshotRef, TableIdent,
    Verdict,
};
use serde_json::{Value, json};

use crate::server::Server;

/// How many bytes are flipped, unless `PRUNUS_FLIPS` says otherwise. `PRUNUS_SEED` says which.
const FLIPS: usize = 300;

const SNAPSHOTS: i64 = 6;

const FILTERS: [&str; 4] = ["id < 1200", "day = DATE '2024-01-05' AND id > 700", "name >= 'n-15'", "price > 20.0"];

/// Three manifests of eight files and a tail of five, removed files in all of them.
async fn store(folder: &Path) -> PathBuf {
    let server = Server::start(8).await;
    let fields = [("day", "date"), ("id", "int64"), ("name", "string"), ("price", "float64")];
    let fields: Vec<Value> = fields.map(|(name, kind)| json!({"name": name, "type": kind})).to_vec();
    let properties = json!({"verification": "declared"});
    server
        .create_table("t", json!({"schema": {"fields": fields}, "properties": properties, "location": "s3://b/t/"}))
        .await;
    let append =
        |numbers: std::ops::Range<u32>| json!({"operation": "append", "add": numbers.map(file).collect::<Vec<_>>()});
    let delete = |numbers: &[u32]| json!({"operation": "delete", "remove": numbers.iter().map(|number| path(*number)).collect::<Vec<_>>()});
    for commit in [append(0..11), delete(&[2, 9]), append(11..24), append(24..29), delete(&[14, 25]), delete(&[1])] {
        server.commit("t", commit).await;
    }
    let to = folder.join("sound.db");
    prunus_catalog::backup(&server.store(), &to).await.unwrap();
    to
}

fn path(number: u32) -> String {
    format!("s3://b/t/day=2024-01-{:02}/part-{number:05}.parquet", number % 7 + 1)
}

fn file(number: u32) -> Value {
    json!({
        "path": path(number), "size_bytes": 1000 + number, "row_count": if number == 4 { Value::Null } else { json!(10 + number) },
        "columns": {
            "id": {"min": number * 100, "max": number * 100 + 99, "null_count": 0},
            "name": {"min": format!("n-{number:02}"), "max": format!("n-{number:02}~")},
            "price": {"min": f64::from(number), "max": f64::from(number) * 2.0, "null_count": 1, "nan_count": 0},
        },
    })
}

/// What is asked of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    Files(i64),
    Plan(i64, Option<&'static str>),
}

/// Files by their id, and whether every row of them matches.
type Answer = BTreeMap<i64, (DataFileRow, Verdict)>;

fn questions() -> Vec<Question> {
    let filters = || FILTERS.into_iter().map(Some).chain([None]);
    let of_snapshot = |snapshot| filters().map(move |filter| Question::Plan(snapshot, filter));
    (1..=SNAPSHOTS).flat_map(|snapshot| of_snapshot(snapshot).chain([Question::Files(snapshot)])).collect()
}

async fn answer(catalog: &Catalog, question: Question) -> Result<Answer, Error> {
    let table: TableIdent = "n.t".parse().unwrap();
    match question {
        Question::Files(snapshot) => {
            let snapshot = SnapshotRef::Id(SnapshotId(snapshot));
            let (_, files, _) = catalog.list_files(table, snapshot, None, PageSize::default()).await?;
            Ok(files.into_iter().map(|file| (file.row.file_id.0, (file.row, Verdict::All))).collect())
        }
        Question::Plan(snapshot, filter) => {
            let request = PlanRequest {
                filter: filter.map(|filter| Filter::Sql(filter.to_owned())),
                snapshot: SnapshotRef::Id(SnapshotId(snapshot)),
                ..PlanRequest::default()
            };
            let plan = catalog.plan(table, request).await?;
            Ok(plan.files.into_iter().map(|file| (file.entry.row.file_id.0, (file.entry.row, file.verdict))).collect())
        }
    }
}

/// Every answer of the store in a folder, or why there is none.
async fn answers(folder: &Path) -> Result<BTreeMap<Question, Result<Answer, Error>>, Error> {
    let options = CatalogOptions { manifest_target_files: 8, ..CatalogOptions::default() };
    let catalog = Catalog::open(folder, options).await?;
    let mut answers = BTreeMap::new();
    for question in questions() {
        answers.insert(question, answer(&catalog, question).await);
    }
    Ok(answers)
}

/// Whether an answer leads nobody astray. A plan may keep more files than it must, where a zone was lost; each of them is live.
fn is_right(question: Question, answer: &Answer, sound: &BTreeMap<Question, Result<Answer, Error>>) -> bool {
    let expected = sound[&question].as_ref().unwrap();
    let Question::Plan(snapshot, _) = question else { return answer == expected };
    let live = sound[&Question::Files(snapshot)].as_ref().unwrap();
    let row = |answer: &Answer, id: &i64| answer.get(id).map(|(row, _)| row.clone());
    let all = |answer: &Answer| -> BTreeSet<i64> {
        answer.iter().filter(|(_, (_, verdict))| *verdict == Verdict::All).map(|(id, _)| *id).collect()
    };
    expected.keys().all(|id| answer.contains_key(id))
        && answer.keys().all(|id| row(answer, id) == row(live, id))
        && all(answer).is_subset(&all(expected))
}

/// Numbers as good as drawn, the same for the same seed.
fn drawn(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize
    })
}

fn variable(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|number| number.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flipped_byte_is_an_error_or_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path()).await;
    let database = folder.path().join("prunus.db");
    std::fs::copy(&store, &database).unwrap();
    let sound = answers(folder.path()).await.unwrap();
    let bytes = std::fs::read(&store).unwrap();
    let seed = variable("PRUNUS_SEED").unwrap_or(1);
    let mut numbers = drawn(seed as u64);
    let (mut refused, mut errors, mut wrong) = (0, 0, Vec::new());
    // Every other one where there is something: much of a small database is room that nothing uses yet.
    let used: Vec<usize> = (0..bytes.len()).filter(|position| bytes[*position] != 0).collect();
    for round in 0..variable("PRUNUS_FLIPS").unwrap_or(FLIPS) {
        let number = numbers.next().unwrap();
        let position = if round % 2 == 0 { used[number % used.len()] } else { number % bytes.len() };
        let flip = numbers.next().unwrap() % 255 + 1;
        let mut damaged = bytes.clone();
        damaged[position] ^= flip as u8;
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("prunus.db{ending}")));
        }
        std::fs::write(&database, damaged).unwrap();
        let answers = match answers(folder.path()).await {
            Ok(answers) => answers,
            Err(Error::Background) => panic!("byte {position} ^ {flip}: a panic"),
            Err(_) => {
                refused += 1;
                continue;
            }
        };
        for (question, answer) in answers {
            match answer {
                Ok(answer) if is_right(question, &answer, &sound) => {}
                Ok(_) => wrong.push((position, flip, question)),
                Err(Error::Background) => panic!("byte {position} ^ {flip}: a panic at {question:?}"),
                Err(_) => errors += 1,
            }
        }
    }
    eprintln!("{refused} refused, {errors} errors, {} wrong", wrong.len());
    for w in &wrong {
        eprintln!("WRONG {w:?}");
    }
    assert!(refused > 0 && errors > 0);
}
