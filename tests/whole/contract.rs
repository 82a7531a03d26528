//! What the contract of the HTTP API says, row by row. What other tests of this package hold in more depth is not held again:
//! filters of overwrites (`commits.rs`), keys (`idempotency.rs`), leases of plans (`leases.rs`) and of changes (`changes.rs`).

mod commit_table;
mod faults;
mod pages;
mod problems;
mod replays;
mod suggestions;

use serde_json::Value;

/// A body as it is sent; null is none.
fn written(body: &Value) -> String {
    if body.is_null() { String::new() } else { body.to_string() }
}
