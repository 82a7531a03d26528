//! Ids and tasks of plans that are none.

use serde_json::json;

use super::{TABLE, check_refused, plan};
use crate::server::Server;

#[tokio::test]
async fn what_is_no_task_and_no_id_is_not_found() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a"], &[]).await;
    let id = plan(&server, json!({})).await["plan-id"].as_str().unwrap().to_owned();
    let altered = format!("{}{}", if id.starts_with('5') { '6' } else { '5' }, &id[1..]);
    for token in ["", "x", "00", "018f", &id[..id.len() - 2], &altered, &format!("{id}00"), &"5b".repeat(100)] {
        let tasks = server.post(&format!("{TABLE}/tasks"), &json!({"plan-task": token})).await;
        check_refused(&tasks, 404, "NoSuchPlanTaskException");
        if !token.is_empty() {
            check_refused(&server.get(&format!("{TABLE}/plan/{token}")).await, 404, "NoSuchPlanIdException");
            check_refused(&server.delete(&format!("{TABLE}/plan/{token}")).await, 404, "NoSuchPlanIdException");
        }
    }
    check_refused(&server.post(&format!("{TABLE}/tasks"), &json!({})).await, 400, "BadRequestException");
}

#[tokio::test]
async fn every_digit_of_a_task_counts() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a"], &[]).await;
    let id = plan(&server, json!({})).await["plan-id"].as_str().unwrap().to_owned();
    for place in 0..id.len() {
        let mut digits: Vec<char> = id.chars().collect();
        digits[place] = if digits[place] == '1' { '2' } else { '1' };
        let altered: String = digits.into_iter().collect();
        let answer = server.get(&format!("{TABLE}/plan/{altered}")).await;
        assert_eq!(answer.0, 404, "{place}");
    }
}

#[tokio::test]
async fn a_plan_is_of_its_table() {
    let server = Server::start(2).await;
    for name in ["t", "u"] {
        server.create_declared(name).await;
        server.change(name, &["a"], &[]).await;
    }
    let id = plan(&server, json!({})).await["plan-id"].as_str().unwrap().to_owned();
    let of_other = format!("/iceberg/v1/namespaces/n/tables/u/plan/{id}");
    check_refused(&server.get(&of_other).await, 404, "NoSuchPlanIdException");
    check_refused(&server.delete(&of_other).await, 404, "NoSuchPlanIdException");
    check_refused(
        &server.get(&format!("/iceberg/v1/namespaces/n/tables/none/plan/{id}")).await,
        404,
        "NoSuchTableException",
    );
    // Nor of one that has its name later.
    server.delete("/v1/namespaces/n/tables/t").await;
    server.create_declared("t").await;
    server.change("t", &["a"], &[]).await;
    check_refused(&server.get(&format!("{TABLE}/plan/{id}")).await, 404, "NoSuchPlanIdException");
}

#[tokio::test]
async fn a_plan_that_is_cancelled_is_not_there_any_more() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a"], &[]).await;
    let ids = [plan(&server, json!({})).await, plan(&server, json!({})).await]
        .map(|answer| answer["plan-id"].as_str().unwrap().to_owned());
    assert_ne!(ids[0], ids[1]);
    assert_eq!(server.delete(&format!("{TABLE}/plan/{}", ids[0])).await.0, 204);
    check_refused(&server.get(&format!("{TABLE}/plan/{}", ids[0])).await, 404, "NoSuchPlanIdException");
    check_refused(&server.delete(&format!("{TABLE}/plan/{}", ids[0])).await, 404, "NoSuchPlanIdException");
    assert_eq!(server.get(&format!("{TABLE}/plan/{}", ids[1])).await.0, 200);
}

#[tokio::test]
async fn the_id_of_a_long_plan_is_of_its_table_too() {
    let server = Server::start(2).await;
    for name in ["t", "u"] {
        server.create_declared(name).await;
        server.change(name, &["a"], &[]).await;
    }
    let filter = json!({"type": "in", "term": "id", "values": (0..2_000).collect::<Vec<i32>>()});
    let id = plan(&server, json!({"filter": filter})).await["plan-id"].as_str().unwrap().to_owned();
    assert!(id.len() < 500, "{}", id.len());
    let of_other = format!("/iceberg/v1/namespaces/n/tables/u/plan/{id}");
    check_refused(&server.delete(&of_other).await, 404, "NoSuchPlanIdException");
    let invented = format!("{TABLE}/plan/018f4b3c-0000-7000-8000-000000000000");
    check_refused(&server.delete(&invented).await, 404, "NoSuchPlanIdException");
    assert_eq!(server.delete(&format!("{TABLE}/plan/{id}")).await.0, 204);
}
