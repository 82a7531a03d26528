//! Listing files and looking at one.

use parquet::file::properties::EnabledStatistics;
use serde_json::json;

use crate::rows;
use crate::server::{Server, append, names};

#[tokio::test]
async fn files_are_listed_in_pages_that_stay_while_the_table_changes() {
    let server = Server::start(4).await;
    let paths: Vec<String> = (0..10)
        .map(|file| {
            let path = server.path(format!("f{file}.parquet"));
            rows::write(path.as_ref(), &rows::batch(file, 5), EnabledStatistics::Chunk);
            path
        })
        .collect();
    server.create_table("t", json!({"schema_from": paths[0]})).await;
    server.commit("t", append(&paths[..9])).await;
    let (status, first) = server.get("/v1/namespaces/n/tables/t/files?page_size=4").await;
    assert_eq!(
        (status, names(&first)),
        (200, ["f0.parquet", "f1.parquet", "f2.parquet", "f3.parquet"].map(str::to_owned).to_vec())
    );
    let (_, plan) = server.post("/v1/namespaces/n/tables/t/plan", &json!({"page_size": 4})).await;
    server.commit("t", json!({"operation": "overwrite", "add": [{"path": paths[9]}], "remove": [paths[5]]})).await;
    let token = first["next_page_token"].as_str().unwrap();
    let (_, second) = server.get(&format!("/v1/namespaces/n/tables/t/files?page_size=100&page_token={token}")).await;
    let rest = ["f4.parquet", "f5.parquet", "f6.parquet", "f7.parquet", "f8.parquet"].map(str::to_owned).to_vec();
    assert_eq!(names(&second), rest);
    let next = json!({"page_size": 100, "page_token": plan["next_page_token"]});
    let (_, second) = server.post("/v1/namespaces/n/tables/t/plan", &next).await;
    assert_eq!((names(&second), &second["snapshot_id"]), (rest, &json!(1)));
    let other = json!({"filter": "id > 3", "page_token": plan["next_page_token"]});
    assert_eq!(server.post("/v1/namespaces/n/tables/t/plan", &other).await.0, 400);
}

#[tokio::test]
async fn one_file_shows_its_statistics_before_and_after_it_is_sealed() {
    let server = Server::start(2).await;
    let path = server.path("f.parquet");
    rows::write(path.as_ref(), &rows::batch(0, 100), EnabledStatistics::Chunk);
    server.create_table("t", json!({"schema_from": path})).await;
    server.commit("t", append([&path])).await;
    let route = format!("/v1/namespaces/n/tables/t/files?path={path}");
    let (_, tail) = server.get(&route).await;
    let name = &tail["columns"]["name"];
    assert_eq!((&name["min_precision"], &name["provenance"]["min"]), (&json!("bound"), &json!("footer")));
    assert_eq!(name["null_count"], 0);
    assert!(tail["columns"]["f64"]["nan_count"].is_null());
    assert!(tail["manifest_id"].is_null());
    rows::write(server.path("g.parquet").as_ref(), &rows::batch(1, 10), EnabledStatistics::Chunk);
    server.commit("t", append([server.path("g.parquet")])).await;
    let (_, sealed) = server.get(&route).await;
    assert!(!sealed["manifest_id"].is_null());
    assert_eq!(sealed["columns"], tail["columns"]);
    assert_eq!(server.get("/v1/namespaces/n/tables/t/files?path=/nowhere").await.0, 404);
}
