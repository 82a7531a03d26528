//! Partition values: in the commit, in the path, and beside the file's own column.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use parquet::file::properties::EnabledStatistics;
use serde_json::json;

use crate::rows;
use crate::server::{Server, append, faults, names};

fn write(server: &Server, name: &str, first: i64) -> String {
    let path = server.data().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let batch =
        RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from_iter_values(first..first + 10)) as _)]).unwrap();
    rows::write(&path, &batch, EnabledStatistics::Chunk);
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn hive_folders_below_the_location_are_constants() {
    let server = Server::start(4).await;
    let mut paths = Vec::new();
    for (index, (year, country)) in
        [("2023", "de"), ("2023", "a%2Fb"), ("2024", "de"), ("2024", "__HIVE_DEFAULT_PARTITION__")]
            .into_iter()
            .enumerate()
    {
        paths.push(write(&server, &format!("year={year}/country={country}/f{index}.parquet"), 10 * index as i64));
    }
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "year", "type": "int32"}, {"name": "country", "type": "string"}]);
    server.create_table("t", json!({"schema": {"fields": fields}, "location": server.data()})).await;
    server.commit("t", append(&paths)).await;
    for (filter, expected) in [
        ("year = 2024", vec!["f2.parquet", "f3.parquet"]),
        ("country = 'a/b'", vec!["f1.parquet"]),
        ("country IS NULL", vec!["f3.parquet"]),
        ("country <> 'de'", vec!["f1.parquet"]),
        ("year = 2023 AND country IS NOT NULL AND id >= 0", vec!["f0.parquet", "f1.parquet"]),
    ] {
        let plan = server.plan("t", &json!({"filter": filter})).await;
        assert_eq!(names(&plan), expected, "{filter}");
        assert!(plan["files"].as_array().unwrap().iter().all(|file| file["verdict"] == "all"), "{filter}");
    }
    let plan = server.plan("t", &json!({"filter": "id = 30"})).await;
    assert_eq!(plan["files"][0]["partition"], json!({"year": 2024, "country": null}));
    let bad = write(&server, "year=MMXXIV/country=de/f9.parquet", 0);
    let (status, problem) = server.try_commit("t", &append([&bad])).await;
    assert_eq!(
        (status, faults(&problem)),
        (422, vec!["f9.parquet: year: the partition value MMXXIV is not of type int32".to_owned()])
    );
}

#[tokio::test]
async fn all_pages_name_partitions_as_the_first_did() {
    let server = Server::start(2).await;
    let paths: Vec<String> =
        (0..2).map(|index| write(&server, &format!("year=2024/f{index}.parquet"), 10 * index)).collect();
    server.create_table("t", json!({"schema_from": paths[0], "location": server.data()})).await;
    server.commit("t", append(&paths)).await;
    let table = "/v1/namespaces/n/tables/t";
    let rename = |from: &str, to: &str| json!({"schema": [{"op": "rename", "column": from, "to": to}]});
    // So that the names of today are not those of the snapshot.
    server.alter("t", &rename("year", "jahr")).await;
    let manifests = loop {
        let (_, listed) = server.get(&format!("{table}/manifests")).await;
        match listed["manifests"][0]["manifest_id"].as_i64() {
            Some(manifest_id) => break format!("{table}/manifests/{manifest_id}"),
            None => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
        }
    };
    for (route, items) in [(format!("{table}/files"), "files"), (manifests, "live_files")] {
        let (_, first) = server.get(&format!("{route}?page_size=1")).await;
        server.alter("t", &rename("jahr", "annee")).await;
        let token = first["next_page_token"].as_str().unwrap();
        let (_, second) = server.get(&format!("{route}?page_size=1&page_token={token}")).await;
        for page in [&first, &second] {
            assert_eq!(page[items][0]["partition"], json!({"jahr": "2024"}), "{page}");
        }
        server.alter("t", &rename("annee", "jahr")).await;
    }
}

#[tokio::test]
async fn a_table_made_from_a_file_has_its_partition_folders_as_strings() {
    let server = Server::start(4).await;
    let path = write(&server, "year=2024/f.parquet", 0);
    let table = server.create_table("t", json!({"schema_from": path, "location": server.data()})).await;
    let fields = table["schema"]["fields"].as_array().unwrap();
    assert_eq!((&fields[1]["name"], &fields[1]["type"]), (&json!("year"), &json!("string")));
    server.commit("t", append([&path])).await;
    assert_eq!(names(&server.plan("t", &json!({"filter": "year = '2023'"})).await), Vec::<String>::new());
}

#[tokio::test]
async fn the_files_own_column_counts_and_a_constant_outside_it_is_refused() {
    let server = Server::start(4).await;
    let path = write(&server, "f.parquet", 10);
    server.create_table("t", json!({"schema_from": path})).await;
    let commit = |value: i64| json!({"operation": "append", "add": [{"path": path, "partition": {"id": value}}]});
    let (status, problem) = server.try_commit("t", &commit(25)).await;
    assert_eq!(status, 422);
    assert_eq!(faults(&problem), ["f.parquet: id: the partition value lies outside the file's values"]);
    assert_eq!(problem["faults"][0]["claim"], "25");
    assert_eq!(problem["faults"][0]["evidence"], "min 10, max 19, 0 nulls");
    server.commit("t", commit(15)).await;
    assert_eq!(names(&server.plan("t", &json!({"filter": "id = 19"})).await), ["f.parquet"]);
}

#[tokio::test]
async fn relative_paths_lie_below_the_tables_location() {
    let server = Server::start(4).await;
    write(&server, "sub/f.parquet", 0);
    server.create_table("t", json!({"schema_from": "sub/f.parquet", "location": server.data()})).await;
    server.commit("t", append(["sub/f.parquet"])).await;
    let (status, problem) = server.try_commit("t", &append(["sub/../f.parquet"])).await;
    assert_eq!((status, faults(&problem)), (422, vec!["f.parquet: the path holds `..`".to_owned()]));
}

#[tokio::test]
async fn a_partition_folder_outside_the_location_is_not_taken_for_null() {
    let server = Server::start(4).await;
    let path = write(&server, "year=2024/f.parquet", 0);
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "year", "type": "int32"}]);
    server.create_table("t", json!({"schema": {"fields": fields}})).await;
    let (status, problem) = server.try_commit("t", &append([&path])).await;
    assert_eq!(status, 422);
    assert!(faults(&problem)[0].starts_with("f.parquet: year: the path has a folder of that name"), "{problem}");
    server.commit("t", json!({"operation": "append", "add": [{"path": path, "partition": {"year": 2024}}]})).await;
    assert_eq!(names(&server.plan("t", &json!({"filter": "year = 2024"})).await), ["f.parquet"]);
}

#[tokio::test]
async fn a_folder_spelled_otherwise_or_unreadable_is_not_taken_for_null() {
    let server = Server::start(4).await;
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "year", "type": "int32"}]);
    server.create_table("t", json!({"schema": {"fields": fields}, "location": server.data()})).await;
    for (folder, expected) in [
        ("Year=2024", "the path has a folder of that name"),
        ("year=%ff", "the partition value in the path is not UTF-8"),
    ] {
        let path = write(&server, &format!("{folder}/f.parquet"), 0);
        let (status, problem) = server.try_commit("t", &append([&path])).await;
        assert_eq!(status, 422, "{folder}");
        assert!(faults(&problem)[0].starts_with(&format!("f.parquet: year: {expected}")), "{problem}");
    }
    let folder = format!("{}/", server.path("sub"));
    let (status, problem) = server.try_commit("t", &append([&folder])).await;
    assert_eq!((status, problem["faults"][0]["message"].as_str()), (422, Some("the path names a folder, not a file")));
}

#[tokio::test]
async fn folders_that_say_nothing_or_are_missing_are_warned_of() {
    let server = Server::start(4).await;
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "year", "type": "int32"}]);
    server.create_table("t", json!({"schema": {"fields": fields}, "location": server.data()})).await;
    let placed = write(&server, "year=2024/placed.parquet", 0);
    assert_eq!(server.commit("t", append([&placed])).await["warnings"], json!([]));
    let paths: Vec<String> = (0..5).map(|n| write(&server, &format!("yaer=2024/region=eu/f{n}.parquet"), 0)).collect();
    let other = write(&server, "year=2023/other.parquet", 0);
    let committed = server.commit("t", append(paths.iter().chain([&other]))).await;
    let named = format!("5 files: file://{} and 2 more", paths[..3].join(", file://"));
    let warnings = json!([
        {"column": "region", "message": format!("the partition folder `region=` names no column and is ignored, in {named}")},
        {"column": "yaer", "message": format!("the partition folder `yaer=` names no column (`year` is one) and is ignored, in {named}")},
        {"column": "year", "message":
            format!("there is no partition folder `year=` as other files have it, and the column reads as null, in {named}")},
    ]);
    assert_eq!(committed["warnings"], warnings);
}
