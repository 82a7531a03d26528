//! Replies that are kept for requests that are sent again.

use prunus_manifest::{Error, REPLY_KEPT_MS, RequestKey, StoredReply};

use crate::fixture::Fixture;

fn request(scope: &str, key: &str) -> RequestKey {
    RequestKey { scope: scope.to_owned(), key: key.to_owned(), content_hash: u128::MAX - 7 }
}

fn reply(body: &str) -> StoredReply {
    StoredReply { status: 201, body: body.into() }
}

fn store_at(fixture: &Fixture, request: RequestKey, body: &str, now_ms: i64) {
    let reply = reply(body);
    fixture.store().write(move |tx| tx.insert_reply(&request, &reply, now_ms)).unwrap();
}

fn get_at(fixture: &Fixture, request: &RequestKey, now_ms: i64) -> Option<StoredReply> {
    fixture.store().read(|tx| tx.get_reply(request, now_ms)).unwrap()
}

#[test]
fn a_reply_is_given_again_after_the_store_was_closed() {
    let mut fixture = Fixture::new();
    store_at(&fixture, request("s", "k"), "body", 5);
    fixture.reopen();
    assert_eq!(get_at(&fixture, &request("s", "k"), 6), Some(reply("body")));
}

#[test]
fn keys_of_other_scopes_are_other_keys() {
    let fixture = Fixture::new();
    store_at(&fixture, request("s", "k"), "body", 5);
    assert_eq!(get_at(&fixture, &request("t", "k"), 6), None);
    assert_eq!(get_at(&fixture, &request("s", "l"), 6), None);
}

#[test]
fn a_key_stands_for_one_content() {
    let fixture = Fixture::new();
    store_at(&fixture, request("s", "k"), "body", 5);
    let other = RequestKey { content_hash: 1, ..request("s", "k") };
    assert!(matches!(fixture.store().read(|tx| tx.get_reply(&other, 6)), Err(Error::KeyReused)));
}

#[test]
fn a_reply_is_given_for_a_day() {
    let fixture = Fixture::new();
    store_at(&fixture, request("s", "k"), "old", 5);
    let end = 5 + REPLY_KEPT_MS;
    assert_eq!(get_at(&fixture, &request("s", "k"), end - 1), Some(reply("old")));
    assert_eq!(get_at(&fixture, &request("s", "k"), end), None);
    let other = RequestKey { content_hash: 1, ..request("s", "k") };
    store_at(&fixture, other.clone(), "new", end);
    assert_eq!(get_at(&fixture, &other, end), Some(reply("new")));
}

#[test]
fn old_replies_are_dropped_a_few_at_a_time_when_new_ones_are_stored() {
    let fixture = Fixture::new();
    for number in 0..20 {
        store_at(&fixture, request("s", &number.to_string()), "old", number);
    }
    // A clock that went back finds what is still there.
    let left = || (0..20).filter(|number| get_at(&fixture, &request("s", &number.to_string()), 20).is_some()).count();
    assert_eq!(left(), 20);
    store_at(&fixture, request("s", "new"), "new", 2 * REPLY_KEPT_MS);
    assert_eq!(left(), 12);
    store_at(&fixture, request("s", "newer"), "new", 2 * REPLY_KEPT_MS);
    store_at(&fixture, request("s", "newest"), "new", 2 * REPLY_KEPT_MS);
    assert_eq!(left(), 0);
    assert!(get_at(&fixture, &request("s", "new"), 2 * REPLY_KEPT_MS).is_some());
}

#[test]
fn a_reply_falls_with_the_job_that_stored_it() {
    let fixture = Fixture::new();
    let refused = fixture.store().write(|tx| {
        tx.insert_reply(&request("s", "k"), &reply("body"), 5)?;
        tx.drop_table("sales", "none")
    });
    assert!(matches!(refused, Err(Error::TableNotFound { .. })));
    assert_eq!(get_at(&fixture, &request("s", "k"), 6), None);
}

#[test]
fn a_damaged_reply_is_not_given() {
    let fixture = Fixture::new();
    store_at(&fixture, request("s", "k"), "body", 5);
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    let changed =
        connection.execute("UPDATE stored_reply SET body = CAST(substr(body, 1, 11) || x'00' AS BLOB)", []).unwrap();
    assert_eq!(changed, 1);
    let answer = fixture.store().read(|tx| tx.get_reply(&request("s", "k"), 6));
    assert!(matches!(answer, Err(Error::DamagedRow { what: "body of a reply", .. })), "{answer:?}");
}
