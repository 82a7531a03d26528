//! The store from outside: what its callers rely on.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

mod fixture;

mod access;
mod audits;
mod backup;
mod check;
mod changes;
mod commits;
mod damage;
mod declared;
mod expire;
mod late_columns;
mod listings;
mod model;
mod opening;
mod queries;
mod regrouping;
mod repairs;
mod rollback;
mod replies;
mod sealing;
mod tables;
mod tags;
