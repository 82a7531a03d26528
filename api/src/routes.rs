//! The handlers: each parses, calls the catalog and renders.

pub(crate) mod audits;
pub(crate) mod changes;
pub(crate) mod columns;
pub(crate) mod commits;
pub(crate) mod config;
pub(crate) mod docs;
pub(crate) mod expire;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod journal;
pub(crate) mod manifests;
pub(crate) mod namespaces;
pub(crate) mod openapi;
pub(crate) mod orphans;
pub(crate) mod plan;
pub(crate) mod problems;
pub(crate) mod regroup;
pub(crate) mod snapshots;
pub(crate) mod tables;
pub(crate) mod tags;
pub(crate) mod tokens;
pub(crate) mod transactions;
