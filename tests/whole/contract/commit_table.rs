//! The table of operations: what each takes, refuses and conflicts with.

use serde_json::{Value, json};

use crate::server::Server;

/// What comes of a commit.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Made,
    /// 422, with faults at these places.
    Refused(&'static [&'static str]),
    /// 409, with these reasons.
    Conflicts(&'static [&'static str]),
    /// 404: there is no such snapshot.
    NoSnapshot,
}

use Expected::{Conflicts, Made, NoSnapshot, Refused};

/// A file of so many rows, whose only value of `id` is the number that stands for its name's first letter.
fn file(name: &str, rows: u64) -> Value {
    let id = name.as_bytes()[0];
    json!({"path": name, "size_bytes": 7, "row_count": rows, "columns": {"id": {"min": id, "max": id, "null_count": 0}}})
}

/// Snapshot 1 has `a` and `b`, snapshot 2 also `c`, and in snapshot 3 `b` is gone; all of ten rows.
async fn create(server: &Server, table: &str) {
    server.create_declared(table).await;
    for body in [
        json!({"operation": "append", "add": [file("a", 10), file("b", 10)]}),
        json!({"operation": "append", "add": [file("c", 10)]}),
        json!({"operation": "delete", "remove": ["b"]}),
    ] {
        assert_eq!(server.try_commit(table, &body).await.0, 201);
    }
}

/// Holds each commit against a table of its own.
async fn check(operation: &str, cases: &[(Value, Expected)]) {
    let server = Server::start(8).await;
    for (index, (body, expected)) in cases.iter().enumerate() {
        let table = format!("{operation}{index}");
        create(&server, &table).await;
        let mut body = body.clone();
        body["operation"] = operation.into();
        let (status, answer) = server.try_commit(&table, &body).await;
        let values = |list: &str, key: &str| -> Vec<String> {
            let list = answer[list].as_array().unwrap_or_else(|| panic!("{body} {answer}"));
            list.iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
        };
        let head = match expected {
            Made => {
                assert_eq!(status, 201, "{body} {answer}");
                4
            }
            Refused(places) => {
                assert_eq!(
                    (status, values("faults", "at")),
                    (422, places.iter().map(ToString::to_string).collect()),
                    "{body}"
                );
                3
            }
            Conflicts(reasons) => {
                let reasons = reasons.iter().map(ToString::to_string).collect();
                assert_eq!((status, values("conflicts", "reason")), (409, reasons), "{body}");
                assert_eq!(answer["current_snapshot"], 3, "{body}");
                3
            }
            NoSnapshot => {
                assert_eq!((status, &answer["detail"]), (404, &json!("snapshot `9` does not exist")), "{body}");
                3
            }
        };
        let (_, table) = server.get(&format!("/v1/namespaces/n/tables/{table}")).await;
        assert_eq!(table["current_snapshot"], head, "{body}");
    }
}

#[tokio::test]
async fn an_append_adds_and_conflicts_with_what_is_live() {
    let changed = json!({"path": "b", "size_bytes": 8});
    check(
        "append",
        &[
            (json!({"add": [file("d", 1)]}), Made),
            (json!({"add": [file("d", 1), {"path": "e", "size_bytes": 1}], "summary": {"by": "test"}}), Made),
            (json!({"add": [file("b", 10)]}), Made),
            (json!({"add": [file("d", 1)], "base_snapshot": 1}), Made),
            (json!({}), Refused(&["add"])),
            (json!({"add": [file("d", 1)], "remove": ["a"]}), Refused(&["remove"])),
            (json!({"remove": ["a"]}), Refused(&["add", "remove"])),
            (json!({"add": [file("d", 1)], "filter": "id = 1", "base_snapshot": 1}), Refused(&["filter"])),
            (json!({"add": [file("d", 1), file("d", 1)]}), Refused(&["add[1]"])),
            (
                json!({"add": [file("a", 10), file("c", 10), file("d", 1)]}),
                Conflicts(&["already_live", "already_live"]),
            ),
            (json!({"add": [changed]}), Conflicts(&["object_changed"])),
            (json!({"add": [file("d", 1)], "base_snapshot": 9}), NoSnapshot),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_delete_removes_what_is_live() {
    check(
        "delete",
        &[
            (json!({"remove": ["a"]}), Made),
            (json!({"remove": ["a", "c"], "base_snapshot": 2}), Made),
            (json!({}), Refused(&["remove"])),
            (json!({"add": [file("d", 1)], "remove": ["a"]}), Refused(&["add"])),
            (json!({"add": [file("d", 1)]}), Refused(&["add", "remove"])),
            (json!({"remove": ["a"], "filter": "id = 1", "base_snapshot": 1}), Refused(&["filter"])),
            (json!({"remove": ["b", "z"]}), Conflicts(&["not_live", "not_live"])),
            (json!({"remove": ["a", "./a"]}), Conflicts(&["named_twice"])),
            (json!({"remove": ["c"], "base_snapshot": 1}), Conflicts(&["not_live_at_base"])),
            (json!({"remove": ["a"], "base_snapshot": 9}), NoSnapshot),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_replace_keeps_the_rows() {
    let unknown = json!({"path": "e", "size_bytes": 1});
    check(
        "replace",
        &[
            (json!({"add": [file("d", 20)], "remove": ["a", "c"]}), Made),
            (json!({"add": [file("d", 4), file("e", 6)], "remove": ["a"]}), Made),
            (json!({"add": [unknown], "remove": ["a"]}), Made),
            (json!({"add": [file("d", 10)], "remove": ["a"], "base_snapshot": 1}), Made),
            (json!({"add": [file("d", 9)], "remove": ["a"]}), Refused(&["add"])),
            (json!({"add": [file("d", 10)]}), Refused(&["remove"])),
            (json!({"remove": ["a"]}), Refused(&["add"])),
            (json!({}), Refused(&["add", "remove"])),
            (json!({"add": [file("d", 10)], "remove": ["a"], "filter": "id = 1"}), Refused(&["filter"])),
            (json!({"add": [file("d", 10)], "remove": ["b"]}), Conflicts(&["not_live"])),
            (json!({"add": [file("d", 10)], "remove": ["c"], "base_snapshot": 1}), Conflicts(&["not_live_at_base"])),
            (json!({"add": [file("c", 10)], "remove": ["a"]}), Conflicts(&["already_live"])),
        ],
    )
    .await;
}

#[tokio::test]
async fn an_overwrite_changes_anything_and_may_say_what_it_read() {
    check(
        "overwrite",
        &[
            (json!({"add": [file("d", 1)]}), Made),
            (json!({"remove": ["a"]}), Made),
            (json!({"add": [file("d", 99)], "remove": ["a"], "base_snapshot": 1}), Made),
            (json!({"add": [file("d", 1)], "filter": "id < 90", "base_snapshot": 1}), Made),
            (json!({"remove": ["a"], "filter": "id = 97", "base_snapshot": 3}), Made),
            (json!({}), Refused(&["add"])),
            (json!({"add": [file("d", 1)], "filter": "id = 99"}), Refused(&["base_snapshot"])),
            (json!({"filter": "idd = 99"}), Refused(&["add", "base_snapshot", "filter"])),
            (json!({"remove": ["b"]}), Conflicts(&["not_live"])),
            (json!({"remove": ["c"], "base_snapshot": 1}), Conflicts(&["not_live_at_base"])),
            (json!({"add": [file("d", 1)], "filter": "id = 99", "base_snapshot": 1}), Conflicts(&["may_match"])),
            (json!({"add": [file("a", 10)]}), Conflicts(&["already_live"])),
            (json!({"add": [file("d", 1)], "filter": "id = 99", "base_snapshot": 9}), NoSnapshot),
        ],
    )
    .await;
}
