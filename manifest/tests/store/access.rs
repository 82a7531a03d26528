//! Tokens as they are stored, and namespaces as a token may see them.

use std::collections::BTreeMap;

use prunus_manifest::{Error, GrantRow, MAX_TOKENS, NewTokenRow, Role, TokenRow, WriteTransaction};

use crate::fixture::Fixture;

fn new(name: &str) -> NewTokenRow {
    let mut token_hash = [0; 32];
    token_hash[..name.len()].copy_from_slice(name.as_bytes());
    let grant = |namespace: &str, role| GrantRow { namespace: namespace.to_owned(), role };
    NewTokenRow {
        name: name.to_owned(),
        token_hash,
        created_at_ms: 100,
        created_by: "root".to_owned(),
        expires_at_ms: Some(200),
        grants: vec![grant("", Role::Reader), grant("a.b", Role::Admin)],
    }
}

fn create(fixture: &Fixture, new: &NewTokenRow) -> Result<TokenRow, Error> {
    let new = new.clone();
    fixture.store().write(move |tx| tx.create_token(&new))
}

fn revoke(fixture: &Fixture, name: &'static str, now_ms: i64) -> Result<TokenRow, Error> {
    fixture.store().write(move |tx| tx.revoke_token(name, now_ms))
}

#[test]
fn a_token_is_read_as_it_was_created() {
    let mut fixture = Fixture::new();
    let created = create(&fixture, &new("one")).unwrap();
    assert_eq!((&created.created, created.revoked_at_ms), (&new("one"), None));
    create(&fixture, &NewTokenRow { expires_at_ms: None, ..new("other") }).unwrap();
    fixture.reopen();
    let listed = fixture.store().read(|tx| tx.list_tokens("", 10)).unwrap();
    assert_eq!(listed[0], created);
    assert_eq!(listed[1].created.expires_at_ms, None);
    assert_eq!(fixture.store().read(|tx| tx.list_tokens("one", 10)).unwrap(), listed[1..]);
}

#[test]
fn a_revoked_token_keeps_its_name_and_its_time() {
    let fixture = Fixture::new();
    create(&fixture, &new("one")).unwrap();
    assert_eq!(revoke(&fixture, "one", 150).unwrap().revoked_at_ms, Some(150));
    assert_eq!(revoke(&fixture, "one", 160).unwrap().revoked_at_ms, Some(150));
    assert!(matches!(create(&fixture, &new("one")), Err(Error::TokenExists(name)) if name == "one"));
    assert!(matches!(revoke(&fixture, "none", 150), Err(Error::TokenNotFound(name)) if name == "none"));
}

#[test]
fn only_tokens_that_hold_count_against_the_limit() {
    fn token(number: u32) -> NewTokenRow {
        NewTokenRow { expires_at_ms: None, ..new(&format!("t{number}")) }
    }
    let fixture = Fixture::new();
    // Two that hold no more: one is expired by the time of the others, one is revoked.
    create(&fixture, &NewTokenRow { created_at_ms: 50, expires_at_ms: Some(100), ..token(MAX_TOKENS) }).unwrap();
    create(&fixture, &new("revoked")).unwrap();
    revoke(&fixture, "revoked", 100).unwrap();
    let fill =
        |tx: &WriteTransaction<'_>| (0..MAX_TOKENS).try_for_each(|number| tx.create_token(&token(number)).map(drop));
    fixture.store().write(fill).unwrap();
    assert!(matches!(create(&fixture, &token(MAX_TOKENS + 1)), Err(Error::TooManyTokens)));
    revoke(&fixture, "t0", 100).unwrap();
    create(&fixture, &token(MAX_TOKENS + 1)).unwrap();
}

#[test]
fn namespaces_below_one_are_listed_in_pages() {
    let fixture = Fixture::new();
    for name in ["a", "a!", "a-b", "a.b", "a.b.c", "a.c", "a0", "ab", "b"] {
        fixture.store().write(move |tx| tx.create_namespace(name, &BTreeMap::new(), 1)).unwrap();
    }
    let check = |within: &str, after: &str, limit: u32, expected: &[&str]| {
        let listed = fixture.store().read(|tx| tx.list_namespaces_within(within, after, limit)).unwrap();
        let names: Vec<String> = listed.into_iter().map(|row| row.name).collect();
        assert_eq!(names, expected, "{within} after `{after}`");
    };
    check("a", "", 10, &["a", "a.b", "a.b.c", "a.c"]);
    check("a", "", 2, &["a", "a.b"]);
    check("a", "", 1, &["a"]);
    check("a", "a", 10, &["a.b", "a.b.c", "a.c"]);
    check("a", "a!", 10, &["a.b", "a.b.c", "a.c"]);
    check("a", "a.b.c", 10, &["a.c"]);
    check("a", "a.c", 10, &[]);
    check("a", "b", 10, &[]);
    check("a.b", "a", 10, &["a.b", "a.b.c"]);
    check("none", "", 10, &[]);
}
