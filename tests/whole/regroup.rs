//! Grouping manifests anew changes what plans read, and nothing of what they answer.

use serde_json::{Value, json};

use crate::server::{Server, names};

const REGROUP: &str = "/v1/namespaces/n/tables/t/regroup";

/// A table clustered by `a` whose manifests of four files overlap in `a` and do not in `b`.
async fn server() -> Server {
    let server = Server::start(4).await;
    let fields = json!([{"name": "a", "type": "int64"}, {"name": "b", "type": "int64"}]);
    let table = json!({"schema": {"fields": fields}, "location": "/data/", "cluster_by": ["a"],
        "properties": {"verification": "declared"}});
    server.create_table("t", table).await;
    for commit in 0..4 {
        let file = |number: i64| {
            let column = |value: i64| json!({"min": value, "max": value, "null_count": 0});
            json!({"path": format!("{commit}-{number}"), "size_bytes": 10, "row_count": 5,
                "columns": {"a": column(10 * number + commit), "b": column(10 * commit + number)}})
        };
        server.commit("t", json!({"operation": "append", "add": (0..4).map(file).collect::<Vec<_>>()})).await;
    }
    server.commit("t", json!({"operation": "delete", "remove": ["1-2", "3-0"]})).await;
    server
}

async fn plans(server: &Server) -> Vec<Value> {
    let mut plans = Vec::new();
    for snapshot in 0..=5 {
        for filter in ["a >= 0", "a = 21", "b = 21", "a < 10 AND b > 5", "a > 100"] {
            let mut plan = server.plan("t", &json!({"snapshot_id": snapshot, "filter": filter})).await;
            // Which conjunct is the first to prune a file depends on what it is pruned with.
            let layout =
                |name: &str| name.starts_with("parts_") || name.starts_with("manifests_") || name == "conjuncts";
            plan["metrics"].as_object_mut().unwrap().retain(|name, _| !layout(name) && name != "timings_us");
            plans.push(plan);
        }
    }
    plans
}

#[tokio::test]
async fn no_plan_changes_and_fewer_manifests_are_looked_into() {
    let server = server().await;
    let before = plans(&server).await;
    let filter = json!({"filter": "a = 21"});
    assert_eq!(server.plan("t", &filter).await["metrics"]["manifests_pruned"], 0);

    let (status, looked) = server.post(REGROUP, &json!({"dry_run": true})).await;
    let layout = |overlap: u64| json!({"manifests": 4, "tail_files": 0, "overlap": overlap});
    assert_eq!(
        (status, looked),
        (200, json!({"dry_run": true, "cluster_by": ["a"], "before": layout(4), "after": null, "entries_moved": 0}))
    );
    let (_, by_b) = server.post(REGROUP, &json!({"dry_run": true, "cluster_by": ["b"]})).await;
    assert_eq!((&by_b["before"]["overlap"], &by_b["cluster_by"]), (&json!(1), &json!(["b"])));

    let (status, done) = server.post(REGROUP, &json!({})).await;
    assert_eq!((status, &done["after"]), (200, &layout(1)), "{done}");
    assert_eq!(server.plan("t", &filter).await["metrics"]["manifests_pruned"], 3);
    assert!(plans(&server).await == before);
    let plan = server.plan("t", &json!({"filter": "a = 21"})).await;
    assert_eq!(names(&plan), Vec::<&str>::new());
}

#[tokio::test]
async fn the_order_asked_for_is_that_of_the_table_from_then_on() {
    let server = server().await;
    let (_, done) = server.post(REGROUP, &json!({"cluster_by": ["b", "a"]})).await;
    assert_eq!(done["cluster_by"], json!(["b", "a"]));
    let (_, table) = server.get("/v1/namespaces/n/tables/t").await;
    assert_eq!(table["cluster_by"], json!(["b", "a"]));
    let (status, refused) = server.post(REGROUP, &json!({"cluster_by": ["c"]})).await;
    assert_eq!((status, &refused["faults"][0]["column"]), (422, &json!("c")));
}

#[tokio::test]
async fn files_in_no_manifest_are_counted_while_they_are_live() {
    let server = server().await;
    let file = |name: &str| json!({"path": name, "size_bytes": 10, "row_count": 5});
    server.commit("t", json!({"operation": "append", "add": [file("x"), file("y"), file("z")]})).await;
    server.commit("t", json!({"operation": "delete", "remove": ["y"]})).await;
    let (_, looked) = server.post(REGROUP, &json!({"dry_run": true})).await;
    assert_eq!(looked["before"]["tail_files"], 2);
}
