//! Random changes of a table's columns, between appends of real files: no plan of any snapshot loses a row.
//!
//! What a row is, is read through the plan that does not prune: its schema, and what it says each file calls its columns. That
//! these are the columns that the file was registered with is held against what the test itself remembers.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array, TimestampMicrosecondArray,
};
use serde_json::{Value, json};

use crate::evolution::{FileColumn, write};
use crate::rows::Numbers;
use crate::server::{Server, append};

const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "A"];
const ROUNDS: u64 = 10;
const STEPS: usize = 24;
const MICROSECONDS_PER_DAY: i64 = 86_400_000_000;

/// The values of one column of a file, in whole units or days; null where there is none.
type Values = Vec<Option<f64>>;

/// A file, by the names of its columns; and the column of the table that each was when it was registered.
struct File {
    values: BTreeMap<String, Values>,
    was: BTreeMap<String, i64>,
    rows: usize,
}

struct Run {
    server: Server,
    numbers: Numbers,
    files: BTreeMap<String, File>,
    /// How many changes were made and refused, how many appends.
    counts: [usize; 4],
}

fn array(type_name: &str, values: &Values) -> ArrayRef {
    let whole = |value: &Option<f64>| value.map(|value| value as i64);
    match type_name {
        "int32" => Arc::new(values.iter().map(|value| whole(value).map(|value| value as i32)).collect::<Int32Array>()),
        "int64" => Arc::new(values.iter().map(whole).collect::<Int64Array>()),
        "float32" => Arc::new(values.iter().map(|value| value.map(|value| value as f32)).collect::<Float32Array>()),
        "float64" => Arc::new(values.iter().copied().collect::<Float64Array>()),
        "date" => Arc::new(values.iter().map(|value| whole(value).map(|value| value as i32)).collect::<Date32Array>()),
        _ => {
            let micros = |value: f64| (value * MICROSECONDS_PER_DAY as f64) as i64;
            Arc::new(values.iter().map(|value| value.map(micros)).collect::<TimestampMicrosecondArray>())
        }
    }
}

/// A number as a literal of a type; days count from 1970-01-01.
fn literal(type_name: &str, number: i64) -> String {
    match type_name {
        "date" => format!("DATE '1970-01-{:02}'", number + 1),
        "timestamp(us)" => format!("TIMESTAMP '1970-01-{:02} 00:00:00'", number + 1),
        _ => number.to_string(),
    }
}

fn wider(type_name: &str) -> Option<&'static str> {
    match type_name {
        "int32" => Some("int64"),
        "float32" => Some("float64"),
        "date" => Some("timestamp(us)"),
        _ => None,
    }
}

/// What a filter tests of a column.
#[derive(Clone, Copy, Debug)]
enum Test {
    Equal(i64),
    Above(i64),
    Below(i64),
    Null,
    NotNull,
}

impl Test {
    fn sql(self, name: &str, type_name: &str) -> String {
        match self {
            Self::Equal(number) => format!("\"{name}\" = {}", literal(type_name, number)),
            Self::Above(number) => format!("\"{name}\" > {}", literal(type_name, number)),
            Self::Below(number) => format!("\"{name}\" < {}", literal(type_name, number)),
            Self::Null => format!("\"{name}\" IS NULL"),
            Self::NotNull => format!("\"{name}\" IS NOT NULL"),
        }
    }

    fn holds(self, value: Option<f64>) -> bool {
        match self {
            Self::Equal(number) => value == Some(number as f64),
            Self::Above(number) => value.is_some_and(|value| value > number as f64),
            Self::Below(number) => value.is_some_and(|value| value < number as f64),
            Self::Null => value.is_none(),
            Self::NotNull => value.is_some(),
        }
    }
}

impl Run {
    async fn start(round: u64) -> Self {
        let server = Server::start(3).await;
        let fields =
            json!([{"name": "a", "type": "int32"}, {"name": "b", "type": "float32"}, {"name": "c", "type": "date"}]);
        server.create_table("t", json!({"schema": {"fields": fields}})).await;
        Self { server, numbers: Numbers(round), files: BTreeMap::new(), counts: [0; 4] }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.numbers.below(bound as u64) as usize
    }

    async fn table(&self) -> Value {
        self.server.get("/v1/namespaces/n/tables/t").await.1
    }

    async fn step(&mut self) {
        match self.below(10) {
            0..4 => self.append().await,
            4..9 => self.alter().await,
            _ => self.roll_back().await,
        }
    }

    fn values(&mut self, type_name: &str, rows: usize) -> Values {
        let (base, spread) = (self.below(20) as f64, 1 + self.below(4));
        let half = if matches!(type_name, "int32" | "int64" | "date") { 0.0 } else { 0.5 };
        let all_null = self.below(8) == 0;
        let mut value = |_| {
            let value = base + self.below(spread) as f64 + half * self.below(2) as f64;
            (!all_null && self.below(6) > 0).then_some(value)
        };
        (0..rows).map(&mut value).collect()
    }

    /// A file of some of the table's columns, by name or with ids, and perhaps one that the table does not have.
    async fn append(&mut self) {
        let table = self.table().await;
        let (rows, with_ids) = (1 + self.below(4), self.below(2) == 0);
        let name = format!("{}.parquet", self.files.len());
        let mut file = File { values: BTreeMap::new(), was: BTreeMap::new(), rows };
        let mut columns: Vec<(String, i32, ArrayRef)> = Vec::new();
        for field in table["schema"]["fields"].as_array().unwrap() {
            let (column, type_name) = (field["name"].as_str().unwrap(), field["type"].as_str().unwrap());
            if self.below(4) == 0 {
                continue;
            }
            let narrow = [("int64", "int32"), ("float64", "float32"), ("timestamp(us)", "date")];
            let narrower = narrow.into_iter().find(|(wide, _)| *wide == type_name && self.below(2) == 0);
            let type_name = narrower.map_or(type_name, |(_, narrow)| narrow);
            let values = self.values(type_name, rows);
            let id = if with_ids { field["id"].as_i64().unwrap() } else { 0 };
            columns.push((column.to_owned(), id as i32, array(type_name, &values)));
            file.was.insert(column.to_owned(), field["id"].as_i64().unwrap());
            file.values.insert(column.to_owned(), values);
        }
        let extra = NAMES[self.below(NAMES.len())];
        if self.below(2) == 0 && !file.values.contains_key(extra) {
            let values = self.values("int32", rows);
            columns.push((extra.to_owned(), 0, array("int32", &values)));
            file.values.insert(extra.to_owned(), values);
        }
        if file.was.is_empty() {
            return;
        }
        let columns: Vec<FileColumn<'_>> =
            columns.iter().map(|(name, id, array)| (name.as_str(), *id, Arc::clone(array))).collect();
        let path = write(&self.server, &name, columns);
        // An extra column may go by a name that makes the file ambiguous.
        if self.server.try_commit("t", &append([&path])).await.0 == 201 {
            self.counts[2] += 1;
            self.files.insert(name, file);
        } else {
            self.counts[3] += 1;
            self.files.insert(format!("refused {name}"), file);
        }
    }

    async fn alter(&mut self) {
        let table = self.table().await;
        let fields = table["schema"]["fields"].as_array().unwrap().clone();
        let field = &fields[self.below(fields.len())];
        let column = field["name"].clone();
        let name = NAMES[self.below(NAMES.len())];
        let change = match self.below(8) {
            0 | 1 => {
                let type_name = ["int32", "float32", "date"][self.below(3)];
                let mut add = json!({"op": "add", "name": name, "type": type_name});
                if self.below(2) == 0 {
                    let default = 3 + self.below(3);
                    add["default"] =
                        if type_name == "date" { json!(format!("1970-01-{:02}", default + 1)) } else { json!(default) };
                }
                add
            }
            2 | 3 => json!({"op": "rename", "column": column, "to": name}),
            4 => json!({"op": "drop", "column": column}),
            _ => match wider(field["type"].as_str().unwrap()) {
                Some(wider) => json!({"op": "widen", "column": column, "type": wider}),
                None => json!({"op": "move", "column": column, "after": null}),
            },
        };
        let (status, problem) = self.server.patch("/v1/namespaces/n/tables/t", &json!({"schema": [change]})).await;
        assert!(status == 200 || status == 422, "{change} {problem}");
        self.counts[usize::from(status != 200)] += 1;
    }

    async fn roll_back(&mut self) {
        let current = self.table().await["current_snapshot"].as_u64().unwrap();
        let to = self.numbers.below(current + 1);
        let (status, answer) =
            self.server.post("/v1/namespaces/n/tables/t/rollback", &json!({"snapshot_id": to})).await;
        assert_eq!(status, 201, "{answer}");
    }

    /// Plans by every column of a snapshot.
    async fn check(&mut self, snapshot_id: Option<u64>) -> u64 {
        let mut body = json!({"prune": false});
        if let Some(snapshot_id) = snapshot_id {
            body["snapshot_id"] = snapshot_id.into();
        }
        let whole = self.server.plan("t", &body).await;
        let mut pruned = 0;
        for field in whole["schema"]["fields"].as_array().unwrap() {
            for _ in 0..2 {
                let number = self.numbers.below(24) as i64;
                let tests = [Test::Equal(number), Test::Above(number), Test::Below(number), Test::Null, Test::NotNull];
                let test = tests[self.below(tests.len())];
                let filter = test.sql(field["name"].as_str().unwrap(), field["type"].as_str().unwrap());
                (body["filter"], body["prune"]) = (json!(filter), json!(true));
                let plan = self.server.plan("t", &body).await;
                pruned += self.check_plan(&whole, &plan, field, test);
            }
        }
        pruned
    }

    /// Holds a plan against the rows of all files; says how many it pruned.
    fn check_plan(&self, whole: &Value, plan: &Value, field: &Value, test: Test) -> u64 {
        let mut pruned = 0;
        for file in whole["files"].as_array().unwrap() {
            let values = self.read(file, field);
            let kept = plan["files"].as_array().unwrap().iter().find(|kept| kept["file_id"] == file["file_id"]);
            let case = || format!("{test:?} {field} of {file}: {values:?}");
            match kept.map(|kept| kept["verdict"].as_str().unwrap()) {
                None => assert!(!values.iter().any(|value| test.holds(*value)), "{}", case()),
                Some("all") => assert!(values.iter().all(|value| test.holds(*value)), "{}", case()),
                Some(_) => {}
            }
            pruned += u64::from(kept.is_none());
        }
        pruned
    }

    /// The values that a reader finds of a column in a file.
    fn read(&self, file: &Value, field: &Value) -> Values {
        let name = file["path"].as_str().unwrap().rsplit('/').next().unwrap();
        let known = &self.files[name];
        let id = field["id"].as_i64().unwrap();
        let call = match file["columns"].get(format!("#{id}")) {
            Some(Value::Null) => None,
            Some(name) => Some(name.as_str().unwrap()),
            None => Some(field["name"].as_str().unwrap()),
        };
        let was = known.was.iter().find(|(_, was)| **was == id).map(|(name, _)| name.as_str());
        if was.is_some() {
            assert_eq!(call, was, "{file} {field}");
        } else if let Some(other) = call.and_then(|name| known.was.get(name)) {
            panic!("{file} would be read for {id} where it has {other}");
        }
        let default = match &field["default"] {
            Value::String(date) => Some(date[8..10].parse::<f64>().unwrap() - 1.0),
            default => default.as_f64(),
        };
        call.and_then(|name| known.values.get(name)).cloned().unwrap_or_else(|| vec![default; known.rows])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_plan_loses_a_row_whatever_becomes_of_the_columns() {
    let (mut pruned, mut counts) = (0, [0; 4]);
    for round in 0..ROUNDS {
        let mut run = Run::start(round).await;
        for step in 0..STEPS {
            run.step().await;
            // Sometimes before and sometimes after files were looked into.
            if step % 3 == 0 {
                run.server.alter("t", &json!({})).await;
            }
            pruned += run.check(None).await;
            let current = run.table().await["current_snapshot"].as_u64().unwrap();
            let earlier = run.numbers.below(current + 1);
            pruned += run.check(Some(earlier)).await;
        }
        run.server.alter("t", &json!({})).await;
        run.server.post("/v1/namespaces/n/tables/t/regroup", &json!({})).await;
        pruned += run.check(None).await + run.check(None).await;
        for snapshot_id in 0..=run.table().await["current_snapshot"].as_u64().unwrap() {
            pruned += run.check(Some(snapshot_id)).await;
        }
        run.server.assert_sound().await;
        counts.iter_mut().zip(run.counts).for_each(|(all, of_run)| *all += of_run);
    }
    // A table to which nothing happens, or a pruner that keeps all, would pass the rest of this test.
    let [changed, _, appended, _] = counts;
    assert!(changed > 30 && appended > 25 && pruned > 500, "{counts:?} {pruned}");
}
