//! Tokens as they are stored, and namespaces as a token may see them.

use std::collections::BTreeMap;

use prunus_manifest::{Error, GrantRow, MAX_TOKENS, NewTokenRow, Role, TokenRow};

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
    fixture.store().write(|tx| tx.create_token(new))
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
    let revoke = |name: &str, now_ms| fixture.store().write(|tx| tx.revoke_token(name, now_ms));
    assert_eq!(revoke("one", 150).unwrap().revoked_at_ms, Some(150));
    assert_eq!(revoke("one", 160).unwrap().revoked_at_ms, Some(150));
    assert!(matches!(create(&fixture, &new("one")), Err(Error::TokenExists(name)) if name == "one"));
    assert!(matches!(revoke("none", 150), Err(Error::TokenNotFound(name)) if name == "none"));
}

#[test]
fn only_tokens_that_hold_count_against_the_limit() {
    let fixture = Fixture::new();
    let token = |number: u32, expires_at_ms| NewTokenRow { expires_at_ms, ..new(&format!("t{number}")) };
    let fill = |tx: &prunus_manifest::WriteTransaction<'_>| {
        for number in 0..MAX_TOKENS {
            tx.create_token(&token(number, None))?;
        }
        Ok(())
    };
    // Two that hold no more: one expired, one revoked.
    create(&fixture, &NewTokenRow { created_at_ms: 50, ..token(MAX_TOKENS, Some(100)) }).unwrap();
    create(&fixture, &token(MAX_TOKENS + 1, None)).unwrap();
    fixture.store().write(|tx| tx.revoke_token(&format!("t{}", MAX_TOKENS + 1), 100)).unwrap();
    fixture.store().write(fill).unwrap();
    assert!(matches!(create(&fixture, &token(MAX_TOKENS + 2, None)), Err(Error::TooManyTokens)));
    fixture.store().write(|tx| tx.revoke_token("t0", 100)).unwrap();
    create(&fixture, &token(MAX_TOKENS + 2, None)).unwrap();
}

#[test]
fn namespaces_below_one_are_listed_in_pages() {
    let fixture = Fixture::new();
    for name in ["a", "a!", "a-b", "a.b", "a.b.c", "a.c", "a0", "ab", "b"] {
        fixture.store().write(|tx| tx.create_namespace(name, &BTreeMap::new(), 1)).unwrap();
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
