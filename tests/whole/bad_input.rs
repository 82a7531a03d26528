//! What is wrong with a request is said, with what and where; nothing of it happens, and the server lives on.

use arrow::array::{Int64Array, RecordBatch, StringArray};
use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::rows;
use crate::server::{Server, append, faults};

fn batch(first: i64) -> RecordBatch {
    let ids = Arc::new(Int64Array::from_iter_values(first..first + 10)) as _;
    let names = Arc::new(StringArray::from_iter_values((0..10).map(|row| format!("row {row}")))) as _;
    RecordBatch::try_from_iter([("id", ids), ("name", names)]).unwrap()
}

/// A server with the table `n.t` of two good files.
async fn server() -> Server {
    let server = Server::start(8).await;
    for (name, first) in [("a", 0), ("b", 100), ("c", 200)] {
        rows::write(server.path(format!("{name}.parquet")).as_ref(), &batch(first), EnabledStatistics::Chunk);
    }
    server.create_table("t", json!({"schema_from": server.path("a.parquet")})).await;
    server.commit("t", append([server.path("a.parquet"), server.path("b.parquet")])).await;
    server
}

/// The table is as `server` left it, and takes a good commit.
async fn unharmed(server: &Server) {
    let (_, table) = server.get("/v1/namespaces/n/tables/t").await;
    assert_eq!((&table["files"], &table["current_snapshot"]), (&json!(2), &json!(1)));
    server.commit("t", append([server.path("c.parquet")])).await;
}

#[tokio::test]
async fn all_faults_of_a_commit_are_reported_together() {
    let server = server().await;
    let good = std::fs::read(server.path("a.parquet")).unwrap();
    let other = RecordBatch::try_from_iter([("id", Arc::new(StringArray::from(vec!["x"])) as _)]).unwrap();
    std::fs::write(server.path("csv.parquet"), "id,name\n1,x\n").unwrap();
    std::fs::write(server.path("cut.parquet"), &good[..good.len() - 1]).unwrap();
    std::fs::write(server.path("empty.parquet"), "").unwrap();
    std::fs::write(server.path("encrypted.parquet"), [&good[..good.len() - 4], b"PARE"].concat()).unwrap();
    rows::write(server.path("other.parquet").as_ref(), &other, EnabledStatistics::Chunk);
    let names = ["c", "gone", "csv", "cut", "empty", "encrypted", "other"];
    let paths = names.map(|name| server.path(format!("{name}.parquet")));
    let (status, problem) = server.try_commit("t", &append(paths)).await;
    assert_eq!(status, 422);
    let faults = faults(&problem);
    for (file, part) in [
        ("gone", "no such file"),
        ("csv", "Parquet"),
        ("cut", "Parquet"),
        ("empty", "0 bytes"),
        ("encrypted", "encrypted"),
        ("other", "int64"),
    ] {
        let fault = faults.iter().find(|fault| fault.starts_with(&format!("{file}.parquet: ")));
        assert!(fault.is_some_and(|fault| fault.contains(part)), "{file}: {faults:#?}");
    }
    assert_eq!(faults.len(), 6, "{faults:#?}");
    unharmed(&server).await;
}

#[tokio::test]
async fn faults_of_removed_and_of_added_files_come_together() {
    let server = server().await;
    let add = json!([{"path": server.path("gone.parquet")}]);
    let (status, problem) =
        server.try_commit("t", &json!({"operation": "overwrite", "add": add, "remove": ["../up.parquet"]})).await;
    assert_eq!(status, 422);
    assert_eq!(faults(&problem).len(), 2, "{problem}");
    unharmed(&server).await;
}

#[tokio::test]
async fn a_path_that_is_live_conflicts() {
    let server = server().await;
    let again = format!("file://{}", server.path("./a.parquet"));
    let (status, problem) = server.try_commit("t", &append([&again, &server.path("c.parquet")])).await;
    assert_eq!(status, 409, "{problem}");
    assert_eq!(problem["current_snapshot"], 1);
    let conflicts = problem["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0]["path"], format!("file://{}", server.path("a.parquet")));
    assert_eq!(conflicts[0]["reason"], "already_live");
    unharmed(&server).await;
}

#[tokio::test]
async fn a_path_twice_in_one_commit_is_refused() {
    let server = server().await;
    let (status, problem) = server.try_commit("t", &append([server.path("c.parquet"), server.path("c.parquet")])).await;
    assert_eq!(
        (status, faults(&problem)),
        (422, vec!["c.parquet: the commit adds the file more than once".to_owned()])
    );
    unharmed(&server).await;
}

#[tokio::test]
async fn a_file_overwritten_after_it_was_registered_is_not_added_again() {
    let server = server().await;
    server.commit("t", json!({"operation": "delete", "remove": [server.path("b.parquet")]})).await;
    rows::write(server.path("b.parquet").as_ref(), &batch(7000), EnabledStatistics::Chunk);
    let (status, problem) = server.try_commit("t", &append([server.path("b.parquet")])).await;
    assert_eq!(status, 409);
    assert_eq!(problem["conflicts"][0]["reason"], "object_changed");
}

#[tokio::test]
async fn a_filter_that_cannot_be_planned_names_its_faults() {
    let server = server().await;
    for (filter, expected) in [
        ("idd = 1", vec!["idd: unknown column `idd`, did you mean `id`?"]),
        (
            "id = 'x' AND nme = 1",
            vec![
                "id: column `id`: `x` is not a value of type int64",
                "nme: unknown column `nme`, did you mean `name`?",
            ],
        ),
        ("name > 5", vec!["name: column `name`: 5 cannot be compared with a column of type string; write '5'"]),
        ("name", vec!["name: column `name` is of type string, not boolean"]),
        ("id = ", vec!["the filter is not a SQL expression: Expected: an expression, found: EOF"]),
        ("lower(nme) = 'x'", vec!["nme: unknown column `nme`, did you mean `name`?"]),
        ("id = ?", vec!["a filter cannot hold a parameter: `?`"]),
    ] {
        let (status, problem) = server.post("/v1/namespaces/n/tables/t/plan", &json!({"filter": filter})).await;
        assert_eq!((status, faults(&problem)), (422, expected.into_iter().map(str::to_owned).collect()), "{filter}");
    }
    unharmed(&server).await;
}

#[tokio::test]
async fn malformed_requests_name_the_field() {
    let server = server().await;
    let plan = "/v1/namespaces/n/tables/t/plan";
    for (body, part) in [
        ("{\"filter\": ", "line 1"),
        ("{\"filtr\": \"id = 1\"}", "filtr"),
        ("{\"page_size\": \"many\"}", "page_size"),
        ("[]", "expected"),
        ("{\"nan_order\": \"odd\"}", "odd"),
    ] {
        let (status, problem) = server.post_text(plan, "application/json", body.to_owned()).await;
        assert_eq!(status, 400, "{body}");
        assert!(problem.to_string().contains(part), "{body}: {problem}");
    }
    assert_eq!(server.post_text(plan, "text/plain", "{}".to_owned()).await.0, 415);
    assert_eq!(server.post(plan, &json!({"page_size": 0})).await.0, 422);
    assert_eq!(server.post(plan, &json!({"page_size": 100_001})).await.0, 422);
    assert_eq!(server.post(plan, &json!({"page_token": "nonsense"})).await.0, 400);
    assert_eq!(server.post(plan, &json!({"snapshot_id": 1, "as_of": "2024-01-01T00:00:00Z"})).await.0, 422);
    assert_eq!(server.post(plan, &json!({"time_zone": "Mars/Olympus"})).await.0, 422);
    assert_eq!(server.post(plan, &json!({"select": ["id", "nothing"]})).await.0, 422);
    unharmed(&server).await;
}

#[tokio::test]
async fn what_is_not_there_is_404() {
    let server = &server().await;
    let plan = |body: Value| async move { server.post("/v1/namespaces/n/tables/t/plan", &body).await };
    assert_eq!(plan(json!({"snapshot_id": 99})).await.0, 404);
    assert_eq!(server.post("/v1/namespaces/n/tables/x/plan", &json!({})).await.0, 404);
    assert_eq!(server.post("/v1/namespaces/x/tables/t/plan", &json!({})).await.0, 404);
    assert_eq!(server.get("/v1/namespaces/n/tables/t/snapshots/99").await.0, 404);
    assert_eq!(server.get("/v1/nothing").await.0, 404);
    assert_eq!(server.delete("/v1/namespaces/n/tables/x").await.0, 404);
    assert_eq!(server.delete("/healthz").await.0, 405);
    unharmed(server).await;
}

#[tokio::test]
async fn a_namespace_is_deleted_only_when_it_is_empty() {
    let server = server().await;
    assert_eq!(server.post("/v1/namespaces", &json!({"name": "n"})).await.0, 409);
    assert_eq!(server.delete("/v1/namespaces/n").await.0, 409);
    assert_eq!(server.delete("/v1/namespaces/n/tables/t").await.0, 204);
    assert!(std::fs::exists(server.path("a.parquet")).unwrap());
    assert_eq!(server.delete("/v1/namespaces/n").await.0, 204);
    assert_eq!(server.get("/v1/namespaces/n").await.0, 404);
    for name in ["", "a..b", "a/b", "a.b.c.d.e"] {
        let (status, _) = server.post("/v1/namespaces", &json!({"name": name})).await;
        assert_eq!(status, 422, "{name}");
    }
}

#[tokio::test]
async fn tables_that_cannot_be_are_refused() {
    let server = &server().await;
    let create = |body: Value| async move { server.post("/v1/namespaces/n/tables", &body).await };
    let fields = |fields: Value| json!({"name": "u", "schema": {"fields": fields}});
    for body in [
        fields(json!([{"name": "a", "type": "int"}])),
        fields(json!([{"name": "a", "type": "int32"}, {"name": "a", "type": "int32"}])),
        fields(json!([{"name": "a", "type": "int32", "default": "x"}])),
        json!({"name": "u", "schema_from": server.path("gone.parquet")}),
        json!({"name": "u"}),
        json!({"name": "u", "schema_from": server.path("a.parquet"), "cluster_by": ["x"]}),
        json!({"name": "u", "schema_from": server.path("a.parquet"), "properties": {"verification": "read"}}),
        json!({"name": "u", "schema_from": server.path("a.parquet"), "location": "relative"}),
    ] {
        let (status, problem) = create(body.clone()).await;
        assert_eq!(status, 422, "{body} {problem}");
    }
    assert_eq!(create(json!({"name": "t", "schema_from": server.path("a.parquet")})).await.0, 409);
    unharmed(server).await;
}
