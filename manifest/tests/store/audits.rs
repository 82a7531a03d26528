//! Audits go on where they stood, and how far others have come is remembered.

use prunus_manifest::{
    AuditChange, AuditCounts, AuditEnd, AuditFinding, AuditId, AuditMode, AuditRow, AuditState, AuditStep, CursorKind,
    Error, FileId, FindingKind, MAX_AUDITS_PER_TABLE, MAX_FINDING_TEXT_BYTES, MAX_FINDINGS_PER_AUDIT, NewAudit,
    ReadTransaction, Sample, SnapshotId, TableId,
};
use prunus_statistics::FieldId;

use crate::fixture::{Fixture, new_table};

fn new_audit(table_id: TableId) -> NewAudit {
    NewAudit {
        table_id,
        snapshot_id: SnapshotId(1),
        mode: AuditMode::Scan,
        sample: Sample::new(0.5, u64::MAX).unwrap(),
        repair: true,
        files_total: 2,
        created_at_ms: 1000,
    }
}

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.append(&["a", "b", "c"]);
    fixture
}

fn create(fixture: &Fixture) -> AuditRow {
    let new = new_audit(fixture.table_id());
    fixture.store().write(move |tx| tx.create_audit(&new)).unwrap()
}

fn load(fixture: &Fixture, audit_id: AuditId) -> Result<AuditRow, Error> {
    fixture.store().read(|tx| tx.load_audit(fixture.table_id(), audit_id))
}

fn running(fixture: &Fixture) -> Vec<AuditRow> {
    let list = |tx: &ReadTransaction<'_>| tx.list_running_audits();
    fixture.store().read(list).unwrap()
}

fn finding(number: i64) -> AuditFinding {
    AuditFinding {
        file_id: FileId(number),
        path: format!("s3://bucket/{number}"),
        field_id: Some(FieldId(1)),
        kind: FindingKind::Refuted,
        statistic: Some("max".to_owned()),
        claim: Some("7".to_owned()),
        evidence: None,
    }
}

fn step(audit: &AuditRow, from: i64, to: i64, findings: Vec<AuditFinding>) -> AuditStep {
    let counts = AuditCounts {
        files_checked: 6,
        files_missing: 1,
        files_changed: 2,
        files_unreadable: 3,
        statistics_refuted: 4,
        statistics_repaired: 5,
    };
    let table_id = audit.begun.table_id;
    AuditStep { table_id, audit_id: audit.audit_id, from: FileId(from), to: FileId(to), counts, findings }
}

fn advance(fixture: &Fixture, step: AuditStep) -> AuditChange {
    fixture.store().write(move |tx| tx.advance_audit(&step)).unwrap()
}

fn made(change: AuditChange) -> AuditRow {
    match change {
        AuditChange::Made(audit) => audit,
        AuditChange::Refused(audit) => panic!("{audit:?}"),
    }
}

fn end(fixture: &Fixture, audit_id: AuditId, end: AuditEnd) -> AuditChange {
    let table_id = fixture.table_id();
    fixture.store().write(move |tx| tx.end_audit(table_id, audit_id, end.clone(), 2000)).unwrap()
}

#[test]
fn an_audit_begins_before_all_files() {
    let fixture = fixture();
    let audit = create(&fixture);
    let expected = AuditRow {
        audit_id: AuditId(1),
        begun: new_audit(fixture.table_id()),
        state: AuditState::Running,
        next_file_id: FileId(0),
        counts: AuditCounts::default(),
        findings: 0,
        findings_left_out: 0,
        finished_at_ms: None,
    };
    assert_eq!(audit, expected);
    assert_eq!(load(&fixture, audit.audit_id).unwrap(), expected);
}

#[test]
fn an_audit_goes_on_after_a_restart_where_it_stood() {
    let mut fixture = fixture();
    let audit = create(&fixture);
    let audit = made(advance(&fixture, step(&audit, 0, 2, vec![finding(1)])));
    let audit = made(advance(&fixture, step(&audit, 2, 3, vec![finding(2), finding(2)])));
    assert_eq!((audit.next_file_id, audit.findings, audit.counts.files_checked), (FileId(3), 3, 12));
    fixture.reopen();
    assert_eq!(running(&fixture), [audit]);
}

#[test]
fn a_step_is_counted_once() {
    let fixture = fixture();
    let audit = create(&fixture);
    let after = made(advance(&fixture, step(&audit, 0, 2, vec![finding(1)])));
    let refused = advance(&fixture, step(&audit, 0, 2, vec![finding(1)]));
    assert_eq!(refused, AuditChange::Refused(after.clone()));
    assert_eq!(load(&fixture, audit.audit_id).unwrap(), after);
}

fn note(fixture: &Fixture, step: AuditStep) -> AuditChange {
    fixture.store().write(move |tx| tx.note_audit_findings(&step)).unwrap()
}

fn noted(fixture: &Fixture, audit: &AuditRow) -> Vec<AuditFinding> {
    fixture.store().read(|tx| tx.list_noted_findings(audit)).unwrap()
}

fn listed(fixture: &Fixture, audit: &AuditRow) -> Vec<AuditFinding> {
    let rows = fixture.store().read(|tx| tx.list_audit_findings(audit.audit_id, 0, 100)).unwrap();
    rows.into_iter().map(|row| row.finding).collect()
}

#[test]
fn what_is_noted_survives_a_restart_and_is_no_finding_yet() {
    let mut fixture = fixture();
    let audit = create(&fixture);
    let audit = made(advance(&fixture, step(&audit, 0, 2, vec![finding(1)])));
    assert_eq!(made(note(&fixture, step(&audit, 2, 3, vec![finding(2), finding(3)]))), audit);
    fixture.reopen();
    assert_eq!(load(&fixture, audit.audit_id).unwrap(), audit);
    assert_eq!(listed(&fixture, &audit), [finding(1)]);
    assert_eq!(noted(&fixture, &audit), [finding(2), finding(3)]);
}

#[test]
fn what_is_found_takes_the_place_of_what_was_noted() {
    let fixture = fixture();
    let audit = create(&fixture);
    note(&fixture, step(&audit, 0, 2, vec![finding(1), finding(2), finding(3)]));
    note(&fixture, step(&audit, 0, 2, vec![finding(4), finding(5)]));
    assert_eq!(noted(&fixture, &audit), [finding(4), finding(5)]);
    let audit = made(advance(&fixture, step(&audit, 0, 2, vec![finding(4)])));
    assert_eq!((listed(&fixture, &audit), audit.findings), (vec![finding(4)], 1));
    assert_eq!(noted(&fixture, &audit), []);
}

#[test]
fn nothing_is_noted_elsewhere_than_where_an_audit_stands() {
    let fixture = fixture();
    let audit = create(&fixture);
    let elsewhere = note(&fixture, step(&audit, 2, 3, vec![finding(1)]));
    assert_eq!(elsewhere, AuditChange::Refused(audit.clone()));
    let over = made(end(&fixture, audit.audit_id, AuditEnd::Cancelled));
    assert_eq!(note(&fixture, step(&over, 0, 2, vec![finding(1)])), AuditChange::Refused(over.clone()));
    assert_eq!(noted(&fixture, &over), []);
}

#[test]
fn findings_are_listed_in_pages() {
    let fixture = fixture();
    let audit = create(&fixture);
    let whole = AuditFinding { field_id: None, kind: FindingKind::Missing, statistic: None, claim: None, ..finding(9) };
    let found = vec![finding(1), whole, finding(3)];
    advance(&fixture, step(&audit, 0, 4, found.clone()));
    let list = |after, limit| fixture.store().read(|tx| tx.list_audit_findings(audit.audit_id, after, limit)).unwrap();
    let (first, second) = (list(0, 2), list(2, 2));
    assert_eq!(first.iter().map(|row| row.ordinal).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(second.iter().map(|row| row.ordinal).collect::<Vec<_>>(), [3]);
    let listed: Vec<_> = first.into_iter().chain(second).map(|row| row.finding).collect();
    assert_eq!(listed, found);
}

#[test]
fn findings_beyond_the_limit_are_counted() {
    let fixture = fixture();
    let audit = create(&fixture);
    let most = i64::try_from(MAX_FINDINGS_PER_AUDIT).unwrap();
    let at_limit = made(advance(&fixture, step(&audit, 0, 1, (0..most).map(finding).collect())));
    assert_eq!((at_limit.findings, at_limit.findings_left_out), (MAX_FINDINGS_PER_AUDIT, 0));
    let beyond = made(advance(&fixture, step(&audit, 1, 2, vec![finding(1)])));
    assert_eq!((beyond.findings, beyond.findings_left_out), (MAX_FINDINGS_PER_AUDIT, 1));
    let last =
        fixture.store().read(|tx| tx.list_audit_findings(audit.audit_id, MAX_FINDINGS_PER_AUDIT - 1, 10)).unwrap();
    assert_eq!(last.len(), 1);
}

#[test]
fn a_long_text_is_cut_in_whole_characters() {
    let fixture = fixture();
    let audit = create(&fixture);
    let text = |bytes: usize| Some("x".repeat(bytes - 2) + "é");
    let found =
        AuditFinding { claim: text(MAX_FINDING_TEXT_BYTES), evidence: text(MAX_FINDING_TEXT_BYTES + 1), ..finding(1) };
    advance(&fixture, step(&audit, 0, 1, vec![found.clone()]));
    let listed = fixture.store().read(|tx| tx.list_audit_findings(audit.audit_id, 0, 1)).unwrap();
    assert_eq!(listed[0].finding.claim, found.claim);
    assert_eq!(listed[0].finding.evidence.as_ref().unwrap().len(), MAX_FINDING_TEXT_BYTES - 1);
}

#[test]
fn what_is_over_stays_as_it_is() {
    let fixture = fixture();
    for (ending, state) in [
        (AuditEnd::Done, AuditState::Done),
        (AuditEnd::Cancelled, AuditState::Cancelled),
        (AuditEnd::Failed { message: "no".to_owned() }, AuditState::Failed { message: "no".to_owned() }),
    ] {
        let audit = create(&fixture);
        let over = made(end(&fixture, audit.audit_id, ending));
        assert_eq!((&over.state, over.finished_at_ms), (&state, Some(2000)));
        assert_eq!(load(&fixture, audit.audit_id).unwrap(), over);
        let refused = AuditChange::Refused(over);
        assert_eq!(advance(&fixture, step(&audit, 0, 1, Vec::new())), refused);
        assert_eq!(end(&fixture, audit.audit_id, AuditEnd::Done), refused);
    }
    assert_eq!(running(&fixture), []);
}

#[test]
fn the_oldest_audit_that_is_over_makes_room() {
    let fixture = fixture();
    let audits: Vec<AuditId> = (0..MAX_AUDITS_PER_TABLE).map(|_| create(&fixture).audit_id).collect();
    let new = new_audit(fixture.table_id());
    let refused = fixture.store().write(move |tx| tx.create_audit(&new));
    assert!(matches!(refused, Err(Error::TooManyAudits(_))), "{refused:?}");
    end(&fixture, audits[3], AuditEnd::Done);
    end(&fixture, audits[7], AuditEnd::Done);
    let next = create(&fixture).audit_id;
    assert!(next > audits[audits.len() - 1]);
    assert!(matches!(load(&fixture, audits[3]), Err(Error::AuditNotFound { .. })));
    assert!(load(&fixture, audits[7]).is_ok());
}

#[test]
fn an_audit_needs_a_snapshot_to_begin_and_none_to_go_on() {
    let fixture = fixture();
    for (snapshot_id, is_there) in [(SnapshotId(1), true), (SnapshotId(2), false), (SnapshotId::EMPTY, true)] {
        let new = NewAudit { snapshot_id, ..new_audit(fixture.table_id()) };
        assert_eq!(fixture.store().write(move |tx| tx.create_audit(&new)).is_ok(), is_there, "{snapshot_id}");
    }
    let audit = create(&fixture);
    fixture.delete(&["b"]);
    fixture.expire(&fixture.expiry(1));
    let files = fixture.store().read(|tx| tx.list_live_files(fixture.table_id(), SnapshotId(1), None, 10)).unwrap();
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    made(advance(&fixture, step(&audit, 0, 4, Vec::new())));
}

#[test]
fn an_audit_is_one_of_its_table() {
    let fixture = fixture();
    let audit = create(&fixture);
    let other = fixture.store().write(|tx| tx.create_table(&new_table("others"))).unwrap();
    let answer = fixture.store().read(|tx| tx.load_audit(other.table_id, audit.audit_id));
    assert!(matches!(answer, Err(Error::AuditNotFound { .. })));
}

fn cursor(fixture: &Fixture, kind: CursorKind) -> i64 {
    fixture.store().read(|tx| tx.load_audit_cursor(fixture.table_id(), kind)).unwrap().0
}

fn advance_cursor(fixture: &Fixture, kind: CursorKind, from: i64, to: i64) -> i64 {
    let table_id = fixture.table_id();
    fixture.store().write(move |tx| tx.advance_audit_cursor(table_id, kind, FileId(from), FileId(to))).unwrap().0
}

#[test]
fn a_cursor_stays_where_it_was_put() {
    let mut fixture = fixture();
    assert_eq!(cursor(&fixture, CursorKind::NanCounts), 0);
    assert_eq!(advance_cursor(&fixture, CursorKind::NanCounts, 0, 3), 3);
    assert_eq!(advance_cursor(&fixture, CursorKind::NanCounts, 3, 5), 5);
    fixture.reopen();
    assert_eq!((cursor(&fixture, CursorKind::NanCounts), cursor(&fixture, CursorKind::Loose)), (5, 0));
}

#[test]
fn who_does_not_know_where_a_cursor_stands_does_not_move_it() {
    let fixture = fixture();
    let table_id = fixture.table_id();
    advance_cursor(&fixture, CursorKind::Loose, 0, 3);
    fixture.store().write(move |tx| tx.reset_audit_cursor(table_id, CursorKind::Loose)).unwrap();
    assert_eq!(advance_cursor(&fixture, CursorKind::Loose, 3, 5), 0);
    assert_eq!(cursor(&fixture, CursorKind::Loose), 0);
}

#[test]
fn a_reset_at_the_beginning_is_seen_by_who_began_before() {
    let fixture = fixture();
    let table_id = fixture.table_id();
    fixture.store().write(move |tx| tx.reset_audit_cursor(table_id, CursorKind::Loose)).unwrap();
    let beginning = cursor(&fixture, CursorKind::Loose);
    assert_eq!(advance_cursor(&fixture, CursorKind::Loose, 0, 3), beginning);
    assert_eq!(advance_cursor(&fixture, CursorKind::Loose, beginning, 3), 3);
}

#[test]
fn audits_and_cursors_go_with_their_table() {
    let mut fixture = fixture();
    let audit = create(&fixture);
    advance(&fixture, step(&audit, 0, 1, vec![finding(1)]));
    advance_cursor(&fixture, CursorKind::Loose, 0, 3);
    fixture.store().write(|tx| tx.drop_table("sales", "orders")).unwrap();
    let table_id = fixture.table_id();
    let kind = CursorKind::Loose;
    let answer = fixture.store().write(move |tx| tx.advance_audit_cursor(table_id, kind, FileId(0), FileId(1)));
    assert!(matches!(answer, Err(Error::TableGone(_))));
    fixture.close();
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    for table in ["audit", "audit_finding", "audit_cursor"] {
        let count: i64 = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0, "{table}");
    }
}
