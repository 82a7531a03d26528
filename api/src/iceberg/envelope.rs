//! The files of one answer, and how the plan goes on behind them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use prunus_catalog::schema::LeafColumn;
use prunus_catalog::{
    Catalog, Error, FileId, Filter, PlannedChunk, PlannedPage, Snapshots, TableHistory, TableIdent, Verdict,
};
use prunus_statistics::FileStatistics;

use super::error::Refusal;
use super::file_statistics::{FileStatisticsJson, columns_of};
use super::file_task::{self, Beside};
use super::name_mapping::NameMapping;
use super::readable::{LeafSet, OtherName, Wanted, obstacle, other_names};
use super::scan::Scan;
use super::scan_names::Fields;
use super::scan_token::ScanToken;
use crate::problem::Problem;

/// The most files of an answer, unless the operator has pages smaller.
const FILES_PER_ENVELOPE: u32 = 4_096;
/// The most statistics of an answer, unless one file has more of those that are asked for.
const MAX_STATISTICS_PER_ENVELOPE: usize = 1 << 17;
/// What nothing is left to filter rows by.
const ALL_ROWS: &[u8] = b"true";

/// The files of an answer: as many as are read at a time.
pub(super) struct Envelope {
    /// Their tasks, as JSON, with commas between.
    tasks: Vec<u8>,
    /// The plan from here on; `None` at its end.
    rest: Option<ScanToken>,
}

/// What was rendered of a chunk of files.
#[derive(Default)]
struct Rendered {
    tasks: Vec<u8>,
    /// The last file, if the plan goes on behind it.
    more_after: Option<FileId>,
    /// How many rows were told of, from the beginning, that are known to match.
    matching_rows: u64,
    other_names: BTreeSet<OtherName>,
}

/// Where in a plan an answer begins.
struct Begin<'s> {
    scan: &'s Scan,
    after: Option<FileId>,
    matching_rows: u64,
}

/// Plans a scan, and gives its first files; with the token of the plan.
pub(super) async fn begin(catalog: &Catalog, ident: TableIdent, scan: Scan) -> Result<(ScanToken, Envelope), Problem> {
    let begin = Begin { scan: &scan, after: None, matching_rows: 0 };
    let (page, rendered) = fetch(catalog, &ident, begin).await?;
    check_names((catalog, ident), &page, &scan, &rendered.other_names).await?;
    let planned = (page.table_id().0, page.snapshot_id, page.schema_id);
    let token = ScanToken::begin(scan, planned, catalog);
    let envelope = rendered.into_envelope(&token, catalog);
    Ok((token, envelope))
}

/// Goes on with a plan. `None` if it is of another table.
pub(super) async fn go_on(
    catalog: &Catalog,
    ident: TableIdent,
    token: &ScanToken,
) -> Result<Option<Envelope>, Problem> {
    let (scan, after) = token.scan();
    let begin = Begin { scan: &scan, after, matching_rows: token.matching_rows };
    let (page, rendered) = match fetch(catalog, &ident, begin).await {
        Ok(found) => found,
        // The snapshot is gone, or the table is not the one that had the name.
        Err(Problem::Catalog(
            Error::Expired { .. } | Error::NotFound { what: "snapshot", .. } | Error::ForeignPageToken,
        )) => {
            return Ok(None);
        }
        Err(problem) => return Err(problem),
    };
    if page.table_id().0 != token.table_id {
        return Ok(None);
    }
    check_names((catalog, ident), &page, &scan, &rendered.other_names).await?;
    Ok(Some(rendered.into_envelope(token, catalog)))
}

async fn fetch(
    catalog: &Catalog,
    ident: &TableIdent,
    begin: Begin<'_>,
) -> Result<(Arc<PlannedPage>, Rendered), Problem> {
    let size = catalog.limits().page_size(Some(files_per_envelope(catalog, ident, begin.scan).await?))?;
    let request = begin.scan.request(begin.after, size);
    let asked = Asked { scan: begin.scan.clone(), matching_rows: begin.matching_rows };
    if asked.scan.stats_fields.is_empty() {
        let render = move |page: &PlannedPage, chunk: &PlannedChunk| asked.render(page, chunk, &Known::default());
        let (page, rendered) = catalog.plan_page(ident.clone(), request, render).await?;
        return Ok((Arc::new(page), rendered?));
    }
    let (page, chunk) = catalog.plan_page(ident.clone(), request, |_, chunk| chunk.clone()).await?;
    let leaves = columns_of(page.schema(), &asked.scan.stats_fields)?;
    let (page, ids) = (Arc::new(page), leaves.iter().map(|leaf| leaf.id).collect());
    let render = move |page: &PlannedPage, chunk: &PlannedChunk, known: &[FileStatistics]| {
        asked.render(page, chunk, &Known { leaves: &leaves, files: known })
    };
    let rendered = Arc::clone(&page).with_statistics(chunk, ids, render).await??;
    Ok((page, rendered))
}

/// How many files an answer has at most.
async fn files_per_envelope(catalog: &Catalog, ident: &TableIdent, scan: &Scan) -> Result<u32, Problem> {
    let most = FILES_PER_ENVELOPE.min(catalog.limits().page_size);
    if scan.stats_fields.is_empty() {
        return Ok(most);
    }
    let found = catalog.load_scan_schema(ident.clone(), scan.snapshot).await?;
    let columns = columns_of(&found.schema, &scan.stats_fields)?.len();
    Ok(files_with_statistics(columns).min(most))
}

/// How many files an answer has that tells of so many columns.
fn files_with_statistics(columns: usize) -> u32 {
    u32::try_from(MAX_STATISTICS_PER_ENVELOPE / columns.max(1)).unwrap_or(u32::MAX).max(1)
}

/// What is asked of an answer.
struct Asked {
    scan: Scan,
    /// How many rows were told of before that all match.
    matching_rows: u64,
}

/// What is known of columns of the files of a chunk; nothing where nothing was asked for.
#[derive(Default)]
struct Known<'k> {
    leaves: &'k [LeafColumn],
    files: &'k [FileStatistics],
}

impl Asked {
    fn render(&self, page: &PlannedPage, chunk: &PlannedChunk, known: &Known<'_>) -> Result<Rendered, Problem> {
        self.check_columns(page)?;
        let residuals = page.residuals().iter().map(|filter| written(filter)).collect::<Result<Vec<_>, _>>()?;
        let last = chunk.files.rows.file_id.values().last().map(|id| FileId(*id));
        let more_after = if page.chunks() > 1 { last } else { page.next_after() };
        let wanted = Wanted::of(&self.scan, page.schema());
        let sets = chunk.files.rows.leaves.map(|leaves| LeafSet::of(leaves, &wanted));
        // Files of one set of leaves call columns alike.
        let mut seen = BTreeSet::new();
        let mut rendered = Rendered { more_after, matching_rows: self.matching_rows, ..Rendered::default() };
        for (index, residual) in chunk.residuals.iter().enumerate() {
            if self.scan.min_rows.is_some_and(|enough| rendered.matching_rows >= enough) {
                rendered.more_after = None;
                break;
            }
            let set = sets.get(index);
            if let Some(obstacle) = obstacle(chunk, index, set, &wanted) {
                return Err(Refusal::NotOfIceberg(obstacle).into());
            }
            if set.is_some_and(LeafSet::may_go_by_names) && seen.insert(sets.indices().get(index)) {
                rendered.other_names.extend(other_names(chunk, index));
            }
            let residual = match residual {
                None => Cow::Borrowed(ALL_ROWS),
                Some(place) => match residuals.get(*place).and_then(Option::as_deref) {
                    Some(residual) => Cow::Borrowed(residual),
                    // The whole filter is right for every file.
                    None => Cow::Owned(serde_json::to_vec(&self.scan.filter()).map_err(unwritten)?),
                },
            };
            rendered.add(chunk, index, (&residual, known)).map_err(unwritten)?;
        }
        Ok(rendered)
    }

    /// That the columns that are selected exist.
    fn check_columns(&self, page: &PlannedPage) -> Result<(), Problem> {
        let selected = self.scan.selected.as_deref().unwrap_or_default();
        if selected.is_empty() {
            return Ok(());
        }
        let faults = Fields::of(page.schema()).unknown("select", selected);
        if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
    }
}

/// A residual; `None` for one that is no expression of Iceberg's.
fn written(filter: &Filter) -> Result<Option<Vec<u8>>, Problem> {
    let Filter::Iceberg(expression) = filter else { return Ok(None) };
    serde_json::to_vec(expression).map(Some).map_err(unwritten)
}

fn unwritten(error: serde_json::Error) -> Problem {
    Problem::Unwritten(error.into())
}

/// That clients find the columns which files call otherwise, by the names that the mapping of the table has of them.
async fn check_names(
    (catalog, ident): (&Catalog, TableIdent),
    page: &PlannedPage,
    scan: &Scan,
    others: &BTreeSet<OtherName>,
) -> Result<(), Problem> {
    if others.is_empty() {
        return Ok(());
    }
    let wanted = Wanted::of(scan, page.schema());
    let others: Vec<OtherName> = others.iter().filter(|other| wanted.has(other.column)).cloned().collect();
    let lost = |history: &TableHistory| {
        let mapping = NameMapping::of(history);
        others.into_iter().find(|other| !other.is_found(&mapping))
    };
    match catalog.load_table_history(ident, Snapshots::None, lost).await? {
        Some(lost) => Err(Refusal::NotOfIceberg(lost.to_string()).into()),
        None => Ok(()),
    }
}

impl Rendered {
    fn add(
        &mut self,
        chunk: &PlannedChunk,
        index: usize,
        (residual, known): (&[u8], &Known<'_>),
    ) -> serde_json::Result<()> {
        let row_count = chunk.files.rows.row_count.value(index);
        if chunk.verdicts.get(index) == Some(&Verdict::All) {
            self.matching_rows = self.matching_rows.saturating_add(row_count);
        }
        if !self.tasks.is_empty() {
            self.tasks.push(b',');
        }
        let statistics =
            known.files.get(index).map(|known_of| FileStatisticsJson::of(known.leaves, known_of, row_count));
        file_task::write(&mut self.tasks, chunk, index, Beside { residual, statistics: statistics.as_ref() })
    }

    /// `token` is of the plan as it was before.
    fn into_envelope(self, token: &ScanToken, catalog: &Catalog) -> Envelope {
        let rest = self.more_after.map(|last| token.after(last, self.matching_rows, catalog.now_ms()));
        Envelope { tasks: self.tasks, rest }
    }
}

impl Envelope {
    /// The answer to who asks for a plan. Its id is not told to who knows it.
    pub(super) fn into_plan(self, plan_id: Option<&str>) -> Response {
        let id = plan_id.map(|id| format!(r#","plan-id":"{id}""#)).unwrap_or_default();
        self.into_response(&format!(r#"{{"status":"completed"{id},"#))
    }

    /// The answer to who asks for a task of a plan.
    pub(super) fn into_tasks(self) -> Response {
        self.into_response("{")
    }

    fn into_response(self, opening: &str) -> Response {
        // Tokens are hexadecimal.
        let rest = self.rest.map(|rest| format!(r#","plan-tasks":["{}"]"#, rest.encode())).unwrap_or_default();
        let text = [opening.as_bytes(), br#""file-scan-tasks":["#, &self.tasks, b"]", rest.as_bytes(), b"}"].concat();
        ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_columns_make_short_answers() {
        let at_the_limit = MAX_STATISTICS_PER_ENVELOPE / FILES_PER_ENVELOPE as usize;
        assert_eq!(files_with_statistics(at_the_limit), FILES_PER_ENVELOPE);
        assert!(files_with_statistics(at_the_limit + 1) < FILES_PER_ENVELOPE);
        assert_eq!(files_with_statistics(MAX_STATISTICS_PER_ENVELOPE + 1), 1);
    }
}
