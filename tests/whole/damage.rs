//! A store in which any byte is flipped: it is refused, or an answer is an error, or the answer is right. A plan is never wrong: it
//! accounts for every file. Where a listing is, since neither rows' liveness nor SQLite's indexes carry checksums, a check finds
//! the damage.

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

/// What readers get of a file.
fn shown(row: &DataFileRow) -> impl PartialEq {
    (row.path.clone(), row.size_bytes, row.row_count, row.etag.clone(), row.partition.clone(), row.added_snapshot)
}

/// Whether an answer leads nobody astray. A plan may keep more files than it must, where a zone was lost; each of them is live.
fn is_right(question: Question, answer: &Answer, sound: &BTreeMap<Question, Result<Answer, Error>>) -> bool {
    let expected = sound[&question].as_ref().unwrap();
    let Question::Plan(snapshot, _) = question else { return answer == expected };
    let live = sound[&Question::Files(snapshot)].as_ref().unwrap();
    let all = |answer: &Answer| -> BTreeSet<i64> {
        answer.iter().filter(|(_, (_, verdict))| *verdict == Verdict::All).map(|(id, _)| *id).collect()
    };
    expected.keys().all(|id| answer.contains_key(id))
        && answer.iter().all(|(id, (row, _))| live.get(id).is_some_and(|(live, _)| shown(live) == shown(row)))
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

/// A store, and the place where damaged copies of it are opened.
struct Damaged {
    folder: tempfile::TempDir,
    sound: Vec<u8>,
    answers: BTreeMap<Question, Result<Answer, Error>>,
}

impl Damaged {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sound = std::fs::read(store(folder.path()).await).unwrap();
        std::fs::write(folder.path().join("prunus.db"), &sound).unwrap();
        let answers = answers(folder.path()).await.unwrap();
        Self { folder, sound, answers }
    }

    fn put(&self, position: usize, flip: u8) {
        let mut bytes = self.sound.clone();
        bytes[position] ^= flip;
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(self.folder.path().join(format!("prunus.db{ending}")));
        }
        std::fs::write(self.folder.path().join("prunus.db"), bytes).unwrap();
    }

    /// What comes of a flipped byte.
    async fn outcome(&self, position: usize, flip: u8) -> Outcome {
        self.put(position, flip);
        // First, since a store that is opened may be written.
        let (wrong, checked) = match prunus_catalog::check(self.folder.path(), |_| ()).await {
            Ok(report) if report.findings.is_empty() => (Outcome::WrongUnnoticed, Outcome::Right),
            Ok(_) => (Outcome::WrongButFound, Outcome::Right),
            Err(error) => (Outcome::WrongButFound, Outcome::of_error(&error)),
        };
        let answers = match answers(self.folder.path()).await {
            Ok(answers) => answers,
            Err(error) => return checked.max(Outcome::of_error(&error)),
        };
        let of_answer = |(question, answer): (Question, Result<Answer, Error>)| match answer {
            Ok(answer) if is_right(question, &answer, &self.answers) => Outcome::Right,
            Ok(_) if matches!(question, Question::Plan(..)) => Outcome::WrongPlan,
            Ok(_) => wrong,
            Err(error) => Outcome::of_error(&error),
        };
        answers.into_iter().map(of_answer).fold(checked, Outcome::max)
    }
}

/// What came of a flipped byte, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    Error,
    WrongButFound,
    WrongUnnoticed,
    WrongPlan,
    Panic,
}

impl Outcome {
    fn of_error(error: &Error) -> Self {
        if matches!(error, Error::Background) { Self::Panic } else { Self::Error }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flipped_byte_is_an_error_or_changes_no_answer_or_is_found_by_a_check() {
    let damaged = Damaged::new().await;
    let mut numbers = drawn(variable("PRUNUS_SEED").unwrap_or(1) as u64);
    // Every other one where there is something: much of a small database is room that nothing uses yet.
    let used: Vec<usize> = (0..damaged.sound.len()).filter(|position| damaged.sound[*position] != 0).collect();
    let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
    for round in 0..variable("PRUNUS_FLIPS").unwrap_or(FLIPS) {
        let number = numbers.next().unwrap();
        let position = if round % 2 == 0 { used[number % used.len()] } else { number % damaged.sound.len() };
        let flip = (numbers.next().unwrap() % 255 + 1) as u8;
        let outcome = damaged.outcome(position, flip).await;
        assert!(outcome < Outcome::WrongUnnoticed, "byte {position} ^ {flip}: {outcome:?}");
        *outcomes.entry(outcome).or_default() += 1;
    }
    eprintln!("{outcomes:?}");
    assert!(outcomes.contains_key(&Outcome::Right) && outcomes.contains_key(&Outcome::Error), "{outcomes:?}");
}

#[tokio::test]
async fn a_lost_row_of_a_live_file_is_a_failure_and_no_expiry() {
    let damaged = Damaged::new().await;
    let store = rusqlite::Connection::open(damaged.folder.path().join("prunus.db")).unwrap();
    let (file_id, (row, _)) = damaged.answers[&Question::Files(SNAPSHOTS)].as_ref().unwrap().first_key_value().unwrap();
    assert!(row.manifest_id.is_some());
    assert_eq!(store.execute("DELETE FROM data_file WHERE file_id = ?1", [file_id]).unwrap(), 1);
    drop(store);
    let catalog = Catalog::open(damaged.folder.path(), CatalogOptions::default()).await.unwrap();
    let answer = answer(&catalog, Question::Plan(SNAPSHOTS, None)).await;
    let Err(Error::Store(cause)) = answer else { panic!("{answer:?}") };
    assert_eq!(cause.to_string(), format!("data file {file_id} does not exist"));
}

#[tokio::test]
async fn the_filters_of_these_tests_prune() {
    let damaged = Damaged::new().await;
    for filter in FILTERS {
        let kept = damaged.answers[&Question::Plan(SNAPSHOTS, Some(filter))].as_ref().unwrap().len();
        let all = damaged.answers[&Question::Plan(SNAPSHOTS, None)].as_ref().unwrap().len();
        assert!(0 < kept && kept < all, "{filter}: {kept} of {all}");
    }
}
