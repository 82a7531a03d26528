//! A link that is swapped all the while.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::lake::{Lake, ROWS};
use super::{OUTSIDE, table};
use crate::server::{Server, append};

/// Swaps a link until the flag is set.
fn swap(lake: &Lake, targets: [String; 3], is_over: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    let (next, swapped) = (lake.path("lake/next"), lake.path("lake/swapped"));
    symlink(&targets[0], &swapped).unwrap();
    std::thread::spawn(move || {
        for target in targets.iter().cycle() {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            symlink(target, &next).unwrap();
            std::fs::rename(&next, &swapped).unwrap();
        }
    })
}

async fn check(verification: &str) {
    let lake = Lake::new();
    lake.write("lake/sub/secret.parquet", ROWS);
    let server = Server::start_with(lake.options(&[])).await;
    server.create_table("t", table("t", verification)).await;
    let is_over = Arc::<AtomicBool>::default();
    let targets = [lake.path("lake/sub"), lake.path("outside"), "../outside".to_owned()];
    let swapping = swap(&lake, targets, Arc::clone(&is_over));
    let path = lake.path("lake/swapped/secret.parquet");
    let (mut read, mut refused) = (0, 0);
    while (read < 20 || refused < 20) && read + refused < 5_000 {
        let (status, answer) = server.try_commit("t", &append([&path])).await;
        if status == 201 {
            read += 1;
            assert_eq!(answer["rows"], ROWS, "{answer}");
            server.commit("t", json!({"operation": "delete", "remove": [path]})).await;
        } else {
            refused += 1;
            // Nor does a refusal tell of what is there.
            assert_eq!((status, &answer["faults"][0]["message"]), (422, &json!(OUTSIDE)), "{answer}");
        }
    }
    is_over.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(read > 0 && refused > 0, "{read} {refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_footer_from_outside_is_read() {
    check("footer").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_data_from_outside_is_read() {
    check("scan").await;
}
