//! Tags, and what they hold on to.

use prunus_manifest::{Error, MAX_TAGS_PER_TABLE, SnapshotId, TagChange};

use crate::fixture::{Fixture, new_table};

fn names(fixture: &Fixture, after: &str, limit: u32) -> Vec<String> {
    let tags = fixture.store().read(|tx| tx.list_tags(fixture.table_id(), after, limit)).unwrap();
    tags.into_iter().map(|tag| tag.name).collect()
}

#[test]
fn a_tag_names_its_snapshot_until_it_is_moved() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.append(&["b"]);
    let (tag, change) = fixture.set_tag("release", 1).unwrap();
    assert_eq!((tag.snapshot_id, tag.created_at_ms, change), (SnapshotId(1), 77, TagChange::Created));
    assert_eq!(fixture.set_tag("release", 1).unwrap(), (tag, TagChange::Unchanged));
    assert_eq!(fixture.set_tag("release", 2).unwrap().1, TagChange::Moved { from: SnapshotId(1) });
    let tag = fixture.store().read(|tx| tx.load_tag(fixture.table_id(), "release")).unwrap();
    assert_eq!(tag.snapshot_id, SnapshotId(2));
}

#[test]
fn tags_are_listed_by_name_in_pages() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    for name in ["c", "a", "b"] {
        fixture.set_tag(name, 1).unwrap();
    }
    assert_eq!(names(&fixture, "", 2), ["a", "b"]);
    assert_eq!(names(&fixture, "b", 2), ["c"]);
}

#[test]
fn the_tags_of_a_snapshot_are_its_own() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.append(&["b"]);
    for (name, snapshot_id) in [("y", 1), ("x", 1), ("z", 2)] {
        fixture.set_tag(name, snapshot_id).unwrap();
    }
    let of = |id| fixture.store().read(|tx| tx.list_tags_of_snapshot(fixture.table_id(), SnapshotId(id))).unwrap();
    assert_eq!((of(1), of(2)), (vec!["x".to_owned(), "y".to_owned()], vec!["z".to_owned()]));
}

#[test]
fn what_is_no_snapshot_takes_no_tag() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    for snapshot_id in [0, 2, -1] {
        assert!(matches!(fixture.set_tag("t", snapshot_id), Err(Error::SnapshotNotFound { .. })), "{snapshot_id}");
    }
}

#[test]
fn a_tag_that_is_deleted_is_gone() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.set_tag("t", 1).unwrap();
    let table_id = fixture.table_id();
    let delete = || fixture.store().write(move |tx| tx.delete_tag(table_id, "t"));
    assert!(delete().is_ok());
    assert!(matches!(delete(), Err(Error::TagNotFound { .. })));
    let load = fixture.store().read(|tx| tx.load_tag(table_id, "t"));
    assert!(matches!(load, Err(Error::TagNotFound { .. })));
}

#[test]
fn a_table_has_tags_up_to_the_limit() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    let table_id = fixture.table_id();
    let fill = |numbers: std::ops::Range<u32>| {
        fixture.store().write(move |tx| {
            numbers.clone().try_for_each(|number| tx.set_tag(table_id, &number.to_string(), SnapshotId(1), 0).map(drop))
        })
    };
    fill(0..MAX_TAGS_PER_TABLE).unwrap();
    let beyond = MAX_TAGS_PER_TABLE..MAX_TAGS_PER_TABLE + 1;
    assert!(matches!(fill(beyond), Err(Error::TooManyTags(_))));
    // One that is there already may still be set.
    assert!(fill(0..1).is_ok());
}

#[test]
fn tags_fall_with_their_table() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.set_tag("t", 1).unwrap();
    fixture.store().write(|tx| tx.drop_table("sales", "orders")).unwrap();
    let table = fixture.store().write(|tx| tx.create_table(&new_table("orders"))).unwrap();
    assert_eq!(fixture.store().read(|tx| tx.list_tags(table.table_id, "", 10)).unwrap(), []);
}
