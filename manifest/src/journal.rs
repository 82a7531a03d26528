//! The journal: who changed what, when, and from which snapshot to which.
//!
//! An entry is written in the transaction of its change, so that neither is there without the other. A change that takes many
//! transactions has one entry, too: the first of them makes it, and each further one brings it up to date ([`GrowingEntry`]).

use std::borrow::Cow;

use rusqlite::{Row, params};
use serde_json::{Map, Value};

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{JournalId, Result, SnapshotId, json};

/// The most entries that are looked at for one page: with a filter that few of them fit, a page may be short of its size, or
/// empty, and still not be the last.
pub const MAX_ENTRIES_PER_READ: u32 = 50_000;

/// About how many bytes the details of a page have: it ends with the entry that reaches this.
pub const MAX_PAGE_DETAIL_BYTES: usize = 4 << 20;

/// The longest detail that an entry has, in bytes. Of a longer one only its length is kept.
pub const MAX_DETAIL_BYTES: usize = 8 << 10;

/// What stands in the place of a detail that is too long.
const OMITTED: &str = "omitted_bytes";

/// What is called the detail of an entry where it does not read.
pub(crate) const DETAIL: &str = "detail of a journal entry";

/// What else there is to say of a change, by names.
pub type JournalDetail = Map<String, Value>;

/// A change, as it is to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalEntry {
    /// When it was made, in milliseconds since 1970-01-01T00:00Z. Of a clock that went back it may be before that of the entry
    /// before.
    pub at_ms: i64,
    /// Who asked for it; empty: nobody had to say.
    pub principal: String,
    /// The id of the request; empty outside of requests.
    pub request_id: String,
    /// What was asked for, as the API names it.
    pub operation: Cow<'static, str>,
    /// The namespace; `None` where it is of none.
    pub namespace: Option<String>,
    /// The table in it; `None` where it is of none.
    pub table: Option<String>,
    /// The snapshot before; `None` where there is none to be named.
    pub from_snapshot: Option<SnapshotId>,
    /// The snapshot after; `None` where there is none to be named.
    pub to_snapshot: Option<SnapshotId>,
    /// What else there is to say.
    pub detail: JournalDetail,
}

/// An entry that is written.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalRow {
    /// Its id. Ids count up in the order in which changes became durable.
    pub entry_id: JournalId,
    /// The change.
    pub entry: JournalEntry,
}

/// Which entries are asked for: those that all of it fits. What is `None` fits any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalFilter {
    /// Of this namespace, and of those below it.
    pub namespace: Option<String>,
    /// Of this table, named by its namespace and its name there.
    pub table: Option<(String, String)>,
    /// Of this principal.
    pub principal: Option<String>,
    /// Of this operation.
    pub operation: Option<String>,
    /// At or after this time, in milliseconds since 1970-01-01T00:00Z.
    pub since_ms: Option<i64>,
    /// Before this time, in milliseconds since 1970-01-01T00:00Z.
    pub until_ms: Option<i64>,
    /// Of one of these namespaces, or of those below them. What is of no namespace is of none of them.
    pub visible: Option<Vec<String>>,
}

/// Some of the entries, newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalPage {
    /// The entries.
    pub rows: Vec<JournalRow>,
    /// The next page begins before this one; `None` at the end.
    pub next_before: Option<JournalId>,
}

/// Where a page ends.
struct PageMost {
    rows: u32,
    /// How many entries are looked at.
    read: u32,
    detail_bytes: usize,
}

/// The one entry of a change that takes several transactions. It is there as soon as the first of them is durable, and says what
/// is done so far.
#[derive(Clone, Debug)]
pub struct GrowingEntry {
    entry: JournalEntry,
    entry_id: Option<JournalId>,
}

const INSERT_ENTRY: &str = "
    INSERT INTO journal (at_ms, principal, request_id, operation, namespace, table_name, from_snapshot, to_snapshot, detail)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

const UPDATE_DETAIL: &str = "
    UPDATE journal
    SET detail = ?2
    WHERE entry_id = ?1";

const LIST_ENTRIES: &str = "
    SELECT entry_id, at_ms, principal, request_id, operation, namespace, table_name, from_snapshot, to_snapshot, detail
    FROM journal
    WHERE entry_id < ?1
    ORDER BY entry_id DESC
    LIMIT ?2";

// The newest entry stays, so that its id is not given again.
const DELETE_OLD_ENTRIES: &str = "
    DELETE FROM journal
    WHERE at_ms < ?1 AND entry_id < (SELECT max(entry_id) FROM journal)
        AND entry_id IN (SELECT entry_id FROM journal ORDER BY entry_id LIMIT ?2)";

impl ReadTransaction<'_> {
    /// Up to `limit` entries that fit the filter, newest first, from the first one before `before`. No more than
    /// [`MAX_ENTRIES_PER_READ`] are looked at, and their details are no more than about [`MAX_PAGE_DETAIL_BYTES`].
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite), [`Error::DamagedRow`](crate::Error::DamagedRow).
    pub fn list_journal(&self, filter: &JournalFilter, before: Option<JournalId>, limit: u32) -> Result<JournalPage> {
        let most = PageMost { rows: limit, read: MAX_ENTRIES_PER_READ, detail_bytes: MAX_PAGE_DETAIL_BYTES };
        self.list_journal_within(filter, before, &most)
    }

    fn list_journal_within(
        &self,
        filter: &JournalFilter,
        before: Option<JournalId>,
        most: &PageMost,
    ) -> Result<JournalPage> {
        let limit = usize::try_from(most.rows).unwrap_or(usize::MAX);
        let mut statement = self.connection().prepare_cached(LIST_ENTRIES)?;
        let mut entries = statement.query(params![before.unwrap_or(JournalId(i64::MAX)), i64::from(most.read) + 1])?;
        let (mut rows, mut last, mut read, mut bytes) = (Vec::new(), None, 0, 0);
        while let Some(row) = entries.next()? {
            let fits = filter.fits(row)?;
            // There is more where another one fits, and where nobody has looked.
            if read == most.read || (fits && (rows.len() == limit || bytes >= most.detail_bytes)) {
                return Ok(JournalPage { rows, next_before: last });
            }
            if fits {
                bytes += text(row, 9)?.map_or(0, str::len);
                rows.push(journal_row(row)?);
            }
            last = Some(row.get(0)?);
            read += 1;
        }
        Ok(JournalPage { rows, next_before: None })
    }
}

impl WriteTransaction<'_> {
    /// Tells of a change that is made in this transaction.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn append_journal(&self, entry: &JournalEntry) -> Result<JournalId> {
        let values = params![
            entry.at_ms,
            entry.principal,
            entry.request_id,
            entry.operation,
            entry.namespace,
            entry.table,
            entry.from_snapshot,
            entry.to_snapshot,
            detail_text(&entry.detail)?,
        ];
        Ok(JournalId(self.insert(INSERT_ENTRY, values)?))
    }

    /// Deletes those of the `limit` oldest entries that are from before this time, in milliseconds since 1970-01-01T00:00Z, but
    /// never the newest of all; says how many. So entries of a clock that was ahead keep those behind them from going only while
    /// they are many.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn forget_journal(&self, before_ms: i64, limit: u32) -> Result<u64> {
        Ok(self.execute(DELETE_OLD_ENTRIES, params![before_ms, limit])? as u64)
    }
}

impl GrowingEntry {
    /// An entry that is not written yet.
    pub fn new(entry: JournalEntry) -> Self {
        Self { entry, entry_id: None }
    }

    /// The same entry, of this time in milliseconds since 1970-01-01T00:00Z if it is not written yet.
    #[must_use]
    pub fn at(mut self, at_ms: i64) -> Self {
        if self.entry_id.is_none() {
            self.entry.at_ms = at_ms;
        }
        self
    }

    /// The entry with these added to the counts of its detail, written in this transaction, which must have made a change. The
    /// outcome takes the place of this one once the transaction is durable.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn grow(&self, tx: &WriteTransaction<'_>, counts: &[(&str, u64)]) -> Result<Self> {
        let mut grown = self.clone();
        for (name, count) in counts {
            add(&mut grown.entry.detail, name, *count);
        }
        match grown.entry_id {
            None => grown.entry_id = Some(tx.append_journal(&grown.entry)?),
            // One that is too old to be kept meanwhile does not come back.
            Some(entry_id) => {
                tx.execute(UPDATE_DETAIL, params![entry_id, detail_text(&grown.entry.detail)?])?;
            }
        }
        Ok(grown)
    }
}

impl JournalFilter {
    /// Whether an entry is asked for. Of most nothing is copied.
    fn fits(&self, row: &Row<'_>) -> Result<bool> {
        let at_ms: i64 = row.get(1)?;
        let [principal, operation, namespace, table] = [text(row, 2)?, text(row, 4)?, text(row, 5)?, text(row, 6)?];
        let is_below = |above: &String| namespace.is_some_and(|namespace| is_within(namespace, above));
        let of_table = |(of, name): &(String, String)| namespace == Some(of.as_str()) && table == Some(name.as_str());
        Ok(self.since_ms.is_none_or(|since_ms| at_ms >= since_ms)
            && self.until_ms.is_none_or(|until_ms| at_ms < until_ms)
            && self.principal.as_deref().is_none_or(|asked| principal == Some(asked))
            && self.operation.as_deref().is_none_or(|asked| operation == Some(asked))
            && self.namespace.as_ref().is_none_or(is_below)
            && self.table.as_ref().is_none_or(of_table)
            && self.visible.as_ref().is_none_or(|visible| visible.iter().any(is_below)))
    }
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<Option<&'r str>> {
    Ok(row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?)
}

/// Adds to a count of a detail, which is 0 where it does not stand there yet.
fn add(detail: &mut JournalDetail, name: &str, count: u64) {
    let before = detail.get(name).and_then(Value::as_u64).unwrap_or(0);
    detail.insert(name.to_owned(), Value::from(before.saturating_add(count)));
}

/// Whether a namespace is this one, or below it.
fn is_within(namespace: &str, above: &str) -> bool {
    namespace.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A detail as it is stored; `None` where there is nothing to say.
fn detail_text(detail: &JournalDetail) -> Result<Option<String>> {
    if detail.is_empty() {
        return Ok(None);
    }
    let text = json::write(detail)?;
    if text.len() <= MAX_DETAIL_BYTES {
        return Ok(Some(text));
    }
    json::write(&Map::from_iter([(OMITTED.to_owned(), Value::from(text.len()))])).map(Some)
}

pub(crate) fn journal_row(row: &Row<'_>) -> Result<JournalRow> {
    let entry_id: JournalId = row.get(0)?;
    let detail: Option<String> = row.get(9)?;
    let detail = detail.map(|text| json::read(&text, DETAIL, entry_id.0)).transpose()?.unwrap_or_default();
    let operation: String = row.get(4)?;
    let entry = JournalEntry {
        at_ms: row.get(1)?,
        principal: row.get(2)?,
        request_id: row.get(3)?,
        operation: operation.into(),
        namespace: row.get(5)?,
        table: row.get(6)?,
        from_snapshot: row.get(7)?,
        to_snapshot: row.get(8)?,
        detail,
    };
    Ok(JournalRow { entry_id, entry })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    fn open() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store.db")).unwrap();
        (folder, store)
    }

    fn entry(at_ms: i64, namespace: Option<&str>, table: Option<&str>) -> JournalEntry {
        JournalEntry {
            at_ms,
            principal: "ann".to_owned(),
            request_id: "r-1".to_owned(),
            operation: "commit".into(),
            namespace: namespace.map(str::to_owned),
            table: table.map(str::to_owned),
            from_snapshot: Some(SnapshotId(1)),
            to_snapshot: Some(SnapshotId(2)),
            detail: Map::from_iter([("added_files".to_owned(), Value::from(3))]),
        }
    }

    fn append(store: &Store, entries: impl IntoIterator<Item = JournalEntry>) {
        for entry in entries {
            store.write(move |tx| tx.append_journal(&entry)).unwrap();
        }
    }

    fn listed(store: &Store, filter: &JournalFilter) -> Vec<i64> {
        let page = store.read(|tx| tx.list_journal(filter, None, 100)).unwrap();
        assert_eq!(page.next_before, None);
        page.rows.iter().map(|row| row.entry_id.0).collect()
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let (_folder, store) = open();
        let plain = JournalEntry {
            principal: String::new(),
            from_snapshot: None,
            to_snapshot: None,
            detail: Map::new(),
            ..entry(8, None, None)
        };
        append(&store, [entry(7, Some("a.b"), Some("t")), plain.clone()]);
        let page = store.read(|tx| tx.list_journal(&JournalFilter::default(), None, 10)).unwrap();
        let expected = [(2, plain), (1, entry(7, Some("a.b"), Some("t")))];
        let expected = expected.map(|(id, entry)| JournalRow { entry_id: JournalId(id), entry });
        assert_eq!(page.rows, expected);
    }

    #[test]
    fn entries_are_found_by_each_part_of_a_filter() {
        let (_folder, store) = open();
        let other = JournalEntry { principal: "bo".to_owned(), operation: "set_tag".into(), ..entry(30, None, None) };
        append(
            &store,
            [entry(10, Some("a"), Some("t")), entry(20, Some("a.b"), Some("t")), other, entry(40, Some("ab"), None)],
        );
        let any = JournalFilter::default;
        let text = |text: &str| Some(text.to_owned());
        let table = |namespace: &str| Some((namespace.to_owned(), "t".to_owned()));
        for (filter, expected) in [
            (any(), &[4, 3, 2, 1][..]),
            (JournalFilter { namespace: text("a"), ..any() }, &[2, 1]),
            (JournalFilter { namespace: text("a.b"), ..any() }, &[2]),
            (JournalFilter { table: table("a"), ..any() }, &[1]),
            (JournalFilter { table: table("b"), ..any() }, &[]),
            (JournalFilter { principal: text("bo"), ..any() }, &[3]),
            (JournalFilter { operation: text("set_tag"), ..any() }, &[3]),
            (JournalFilter { since_ms: Some(20), until_ms: Some(40), ..any() }, &[3, 2]),
            (JournalFilter { visible: Some(vec!["ab".to_owned(), "a.b".to_owned()]), ..any() }, &[4, 2]),
            (JournalFilter { visible: Some(Vec::new()), ..any() }, &[]),
        ] {
            assert_eq!(listed(&store, &filter), expected, "{filter:?}");
        }
    }

    #[test]
    fn pages_join_to_the_whole() {
        let (_folder, store) = open();
        append(&store, (0..7).map(|at_ms| entry(at_ms, Some(if at_ms % 2 == 0 { "a" } else { "b" }), None)));
        let filter = JournalFilter { namespace: Some("a".to_owned()), ..JournalFilter::default() };
        let pages_within = |most: PageMost| {
            let (mut pages, mut before) = (Vec::new(), None);
            loop {
                let page = store.read(|tx| tx.list_journal_within(&filter, before, &most)).unwrap();
                pages.push(page.rows.iter().map(|row| row.entry_id.0).collect::<Vec<_>>());
                before = page.next_before;
                if before.is_none() {
                    return pages;
                }
            }
        };
        let pages = |rows, read| pages_within(PageMost { rows, read, detail_bytes: usize::MAX });
        assert_eq!(pages(4, 100), [vec![7, 5, 3, 1]]);
        assert_eq!(pages(3, 100), [vec![7, 5, 3], vec![1]]);
        assert_eq!(pages(10, 7), [vec![7, 5, 3, 1]]);
        assert_eq!(pages(10, 2), [vec![7], vec![5], vec![3], vec![1]]);
        assert_eq!(pages(10, 1), [vec![7], vec![], vec![5], vec![], vec![3], vec![], vec![1]]);
        let of_bytes = |detail_bytes| pages_within(PageMost { rows: 10, read: 100, detail_bytes });
        let detail = r#"{"added_files":3}"#.len();
        assert_eq!(of_bytes(2 * detail), [vec![7, 5], vec![3, 1]]);
        assert_eq!(of_bytes(2 * detail + 1), [vec![7, 5, 3], vec![1]]);
    }

    #[test]
    fn old_entries_go_and_the_newest_stays() {
        let (_folder, store) = open();
        append(&store, (1..=5).map(|at_ms| entry(at_ms, None, None)));
        let forget = |before_ms, limit| store.write(move |tx| tx.forget_journal(before_ms, limit)).unwrap();
        assert_eq!((forget(4, 2), forget(4, 2), forget(4, 2)), (2, 1, 0));
        assert_eq!(listed(&store, &JournalFilter::default()), [5, 4]);
        assert_eq!(forget(100, 10), 1);
        append(&store, [entry(6, None, None)]);
        assert_eq!(listed(&store, &JournalFilter::default()), [6, 5]);
    }

    #[test]
    fn a_detail_is_kept_up_to_the_limit() {
        let (_folder, store) = open();
        let of_bytes = |bytes: usize| {
            let text = "x".repeat(bytes - r#"{"k":""}"#.len());
            JournalEntry { detail: Map::from_iter([("k".to_owned(), Value::from(text))]), ..entry(1, None, None) }
        };
        append(&store, [of_bytes(MAX_DETAIL_BYTES), of_bytes(MAX_DETAIL_BYTES + 1)]);
        let page = store.read(|tx| tx.list_journal(&JournalFilter::default(), None, 2)).unwrap();
        let omitted = Map::from_iter([(OMITTED.to_owned(), Value::from(MAX_DETAIL_BYTES + 1))]);
        assert_eq!(page.rows[0].entry.detail, omitted);
        assert_eq!(page.rows[1].entry, of_bytes(MAX_DETAIL_BYTES));
    }

    #[test]
    fn a_growing_entry_is_one() {
        let (_folder, store) = open();
        let mut growing = GrowingEntry::new(JournalEntry { detail: Map::new(), ..entry(1, None, None) });
        for done in 1..=3 {
            let told = growing.clone();
            growing = store.write(move |tx| told.grow(tx, &[("done", done)])).unwrap();
        }
        let page = store.read(|tx| tx.list_journal(&JournalFilter::default(), None, 10)).unwrap();
        let details: Vec<_> = page.rows.iter().map(|row| &row.entry.detail["done"]).collect();
        assert_eq!(details, [6]);
    }
}
