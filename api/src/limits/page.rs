//! The page of all limits, `docs/limits.md`, made of what the code has.

use std::fmt::Write as _;

use prunus_catalog::schema::{MAX_DEPTH, MAX_FIELD_NAME_BYTES, MAX_FIELDS};
use prunus_catalog::{
    MAX_AUDITS_PER_TABLE, MAX_CLUSTER_BY_COLUMNS, MAX_COLUMNS_OF_FILE, MAX_COMMITS_BYTES, MAX_ENTRIES_PER_READ,
    MAX_EXPIRED_SNAPSHOTS, MAX_FILES_PER_ROLLBACK, MAX_FILTER_VALUES, MAX_FORGOTTEN_FILES, MAX_GRANTS,
    MAX_LOCATION_BYTES, MAX_NAME_BYTES, MAX_NAMESPACE_PARTS, MAX_NOTES, MAX_NOTES_BYTES, MAX_ORPHAN_LISTINGS_AT_ONCE,
    MAX_ORPHAN_LISTINGS_WAITING, MAX_REGROUPS_AT_ONCE, MAX_REGROUPS_WAITING, MAX_SCHEMA_CHANGES, MAX_SCHEMAS,
    MAX_SELECTED_COLUMNS, MAX_TABLES_PER_TRANSACTION, MAX_TAGS_PER_TABLE, MAX_TOKENS, MAX_WAITING_PLANS_BYTES,
};

use super::{RANGES, Range};
use crate::extract::MAX_BODY_DEPTH;
use crate::idempotency::MAX_KEY_BYTES;
use crate::settings::LimitSettings;

const OPENING: &str = "\
# Limits

What a server takes at most, and what happens beyond it. `GET /v1/config` tells what holds on a server. A request that is refused
for a limit has done nothing, and its problem names the limit and, where it can be counted, how much there was.
";

const OF_SETTINGS: &str = "
## Limits that an operator sets

In the section `[limits]` of `prunus.toml`. A value beyond its range is refused when the server starts.

| setting | what | default | range | beyond it |
|---|---|---|---|---|
";

const OF_CODE: &str = "
## Limits that are fixed

| what | limit | beyond it |
|---|---|---|
";

const CLOSING: &str = "
## What waits, and what is given up

Plans, explanations, and listings of files, columns, manifests and changes take turns: so many are worked on at once, the others wait
in the order of coming, and a further one is refused at once. Waiting takes no thread, and a client that hangs up leaves the queue. Looks
at namespaces, tables, snapshots and tags wait for no plan. Changes have a queue of their own; what the server does in the background
never has to wait for room in it.

Work that nobody waits for any more is given up: plans and listings of columns and manifests between two manifests, long answers
between two parts, listings of orphans between two pages of the object store. What a commit does before its transaction is given up, too,
and nothing was done, unless it has an Idempotency-Key: then its client can ask again, and is told. A change whose transaction has begun is
always finished.

A client that is answered with 429 or 503 should wait as long as `Retry-After` says and a random while more, and give up after a few
times; `prunus` does so for everything but changes without a key.

[http.md](http.md#at-the-limits) says what becomes of the connection. Large bodies that arrive at once have room for two of the largest and
one more; one that finds none in as long as a body may take is answered with 503 `too-many-large-bodies`.

Connections have one pool, and no client has a share of its own: one that opens as many as there are keeps all others out. Where clients
are not trusted so far, a proxy or a firewall in front of the server must bound the connections of each.
";

const LONG: &str = "422";
const PLANS: &str = "429 `too-many-requests`, `Retry-After`";
const CHANGES: &str = "503 `overloaded`, `Retry-After`";

/// The whole of it as Markdown.
fn page() -> String {
    let mut text = format!("{OPENING}{OF_SETTINGS}");
    let defaults = LimitSettings::default();
    for Range { name, min, max, of } in RANGES {
        let ((what, beyond), default) = (told_of(name), of(&defaults));
        let _ = writeln!(text, "| `{name}` | {what} | {default} | {min} to {max} | {beyond} |");
    }
    text.push_str(OF_CODE);
    for (what, limit, beyond) in of_code() {
        let _ = writeln!(text, "| {what} | {limit} | {beyond} |");
    }
    text + CLOSING
}

/// What is told of a setting beside its numbers: what it limits, and what happens beyond it.
fn told_of(setting: &str) -> (&'static str, &'static str) {
    match setting {
        "connections" => (
            "connections that are open at once, fewer where the system allows fewer open files",
            "503 `too-many-connections`; over TLS it is closed",
        ),
        "header_bytes" => ("bytes of the head of a request: its line and headers", "431"),
        "header_seconds" => (
            "seconds that a head or a TLS handshake takes to come, or that a connection stays without a request",
            "it is closed",
        ),
        "body_bytes" => ("bytes of a body, as it is sent and as it is once it is decompressed", "413 `body-too-large`"),
        "body_seconds" => ("seconds until a body has come", "408 `body-too-slow`"),
        "write_seconds" => ("seconds in which a client takes nothing of its answer", "it breaks off"),
        "request_seconds" => ("seconds until an answer begins", "503 `request-timeout`"),
        "files_per_commit" => ("files that a commit or transaction adds and removes", LONG),
        "filter_bytes" => ("bytes of a filter", LONG),
        "filter_words" => (
            "words and operators of a filter, values and commas not counted; of an Iceberg expression tests and connectives",
            LONG,
        ),
        "filter_depth" => ("levels that a filter is nested", LONG),
        "page_size" => ("items of a page", LONG),
        "plans_at_once" => ("plans, and other requests that may take long, that are worked on at once", "it waits"),
        "plans_waiting" => ("those that wait for their turn", PLANS),
        "changes_waiting" => {
            ("changes that are worked on or wait for the store; a quarter is left to those that read no files", CHANGES)
        }
        _ => panic!("nothing is told of {setting}"),
    }
}

/// Those that no setting changes.
fn of_code() -> Vec<(&'static str, String, &'static str)> {
    let of_request = [
        // That is the number of the parser of heads; `api/tests/hostile/heads.rs` holds it to it.
        ("headers of a request", 100, "431"),
        ("levels of objects and arrays of a body", MAX_BODY_DEPTH, "400"),
        ("bytes of an idempotency key", MAX_KEY_BYTES, "400"),
        ("bytes of a path", MAX_LOCATION_BYTES, LONG),
        (
            "bytes of the name of a table or tag, or of a part of a namespace's",
            MAX_NAME_BYTES,
            "400 in a path, else 422",
        ),
        ("parts of a namespace's name", MAX_NAMESPACE_PARTS, "400 in a path, else 422"),
        ("values of a filter", MAX_FILTER_VALUES, LONG),
        ("columns that a plan selects", MAX_SELECTED_COLUMNS, LONG),
        ("tables of a transaction", MAX_TABLES_PER_TRANSACTION, LONG),
        ("columns in each list that a commit has of a file", MAX_COLUMNS_OF_FILE, LONG),
        ("entries of a summary or of properties", MAX_NOTES, LONG),
        ("bytes of the keys and values of a summary or of properties", MAX_NOTES_BYTES, LONG),
        ("columns that a table is clustered by", MAX_CLUSTER_BY_COLUMNS, LONG),
        ("fields of a schema", MAX_FIELDS, LONG),
        ("levels of structs, lists and maps of a schema", MAX_DEPTH, LONG),
        ("bytes of a field's name", MAX_FIELD_NAME_BYTES, LONG),
        ("changes of a schema in a request", MAX_SCHEMA_CHANGES, LONG),
        ("schemas that a table has had", MAX_SCHEMAS, LONG),
        ("tags of a table", MAX_TAGS_PER_TABLE as usize, LONG),
        ("audits of a table that run", MAX_AUDITS_PER_TABLE as usize, LONG),
        ("files that a rollback changes", MAX_FILES_PER_ROLLBACK as usize, LONG),
        ("snapshots that one call expires", MAX_EXPIRED_SNAPSHOTS as usize, "the answer says that there are more"),
        ("files that one call forgets", MAX_FORGOTTEN_FILES as usize, "the answer says that there are more"),
        ("entries of the journal that a page looks at", MAX_ENTRIES_PER_READ as usize, "the page ends"),
        ("tokens that hold", MAX_TOKENS as usize, LONG),
        ("grants of a token", MAX_GRANTS, LONG),
    ];
    let at_once = [
        ("bytes of plans that wait, about", MAX_WAITING_PLANS_BYTES, PLANS),
        (
            "bytes of commits that are worked on or wait, about, a file counted as 1024 at least",
            MAX_COMMITS_BYTES,
            CHANGES,
        ),
        ("groupings of manifests anew at once", MAX_REGROUPS_AT_ONCE, "it waits"),
        ("those that wait", MAX_REGROUPS_WAITING, PLANS),
        ("listings of orphans at once", MAX_ORPHAN_LISTINGS_AT_ONCE, "it waits"),
        ("those that wait", MAX_ORPHAN_LISTINGS_WAITING, PLANS),
    ];
    of_request.into_iter().chain(at_once).map(|(what, limit, beyond)| (what, limit.to_string(), beyond)).collect()
}

/// With `PRUNUS_WRITE_LIMITS=1` in the environment the file is written, not compared.
#[test]
fn the_page_of_limits_is_that_of_the_code() {
    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/limits.md");
    let expected = page();
    if std::env::var_os("PRUNUS_WRITE_LIMITS").is_some() {
        std::fs::write(PATH, &expected).unwrap();
    }
    let written = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(
        written == expected,
        "docs/limits.md is out of date: PRUNUS_WRITE_LIMITS=1 cargo test -p prunus --lib the_page_of_limits"
    );
}
