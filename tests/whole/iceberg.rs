//! The Iceberg REST API, as its clients ask for it.

mod errors;
mod filters;
mod metadata;
mod names;
mod past_names;
mod plans;
mod ranges;
mod statistics;
mod tokens;

use serde_json::{Value, json};

use crate::server::Server;

/// The table `n.t` of most tests.
const TABLE: &str = "/iceberg/v1/namespaces/n/tables/t";

/// The answer of a plan that is made.
async fn plan(server: &Server, body: Value) -> Value {
    let (status, answer) = server.post(&format!("{TABLE}/plan"), &body).await;
    assert_eq!((status, &answer["status"]), (200, &json!("completed")), "{body} {answer}");
    answer
}

/// The names of the files of an answer, without their folders, in its order.
fn names(answer: &Value) -> Vec<&str> {
    let tasks = answer["file-scan-tasks"].as_array().unwrap();
    tasks.iter().map(|task| task["data-file"]["file-path"].as_str().unwrap().rsplit('/').next().unwrap()).collect()
}

/// That an answer says no, so.
#[track_caller]
fn check_refused((status, answer): &(u16, Value), expected: u16, exception: &str) {
    let error = &answer["error"];
    assert_eq!((*status, &error["code"], &error["type"]), (expected, &json!(expected), &json!(exception)), "{answer}");
    assert!(!error["message"].as_str().unwrap().is_empty());
    assert_eq!(answer.as_object().unwrap().len(), 1);
}
