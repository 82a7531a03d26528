//! The files of one answer, and how the plan goes on behind them.

use std::collections::BTreeSet;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Catalog, Error, FileId, Filter, PlannedChunk, PlannedPage, Snapshots, TableIdent, Verdict};

use super::error::Refusal;
use super::file_task;
use super::name_mapping::NameMapping;
use super::readable::{OtherName, Wanted, obstacle, other_names};
use super::scan::Scan;
use super::scan_names::fields_of;
use super::scan_token::ScanToken;
use crate::problem::Problem;

/// The most files of an answer, unless the operator has pages smaller.
const FILES_PER_ENVELOPE: u32 = 4_096;
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
    check_names(catalog, ident, &rendered.other_names).await?;
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
    check_names(catalog, ident, &rendered.other_names).await?;
    Ok(Some(rendered.into_envelope(token, catalog)))
}

async fn fetch(catalog: &Catalog, ident: &TableIdent, begin: Begin<'_>) -> Result<(PlannedPage, Rendered), Problem> {
    let size = catalog.limits().page_size(Some(FILES_PER_ENVELOPE)).or_else(|_| catalog.limits().page_size(None))?;
    let request = begin.scan.request(begin.after, size);
    let (columns, min_rows, before) = (begin.scan.columns.clone(), begin.scan.min_rows, begin.matching_rows);
    let lost = begin.scan.lost.clone();
    let render = move |page: &PlannedPage, chunk: &PlannedChunk| {
        check_columns(page, &columns)?;
        render(page, chunk, &Wanted::of(&columns, lost.as_deref()), (before, min_rows))
    };
    let (page, rendered) = catalog.plan_page(ident.clone(), request, render).await?;
    Ok((page, rendered?))
}

/// That the columns that are wanted exist.
fn check_columns(page: &PlannedPage, columns: &[String]) -> Result<(), Problem> {
    if columns.is_empty() {
        return Ok(());
    }
    let known = fields_of(page.schema());
    let fault = |name: &String| prunus_catalog::Fault::at("select", format!("there is no column `{name}`"));
    let faults: Vec<_> = columns.iter().filter(|name| !known.contains_key(*name)).map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
}

fn render(
    page: &PlannedPage,
    chunk: &PlannedChunk,
    wanted: &Wanted,
    (before, min_rows): (u64, Option<u64>),
) -> Result<Rendered, Problem> {
    let residuals = page.residuals().iter().map(|filter| written(filter)).collect::<Result<Vec<_>, _>>()?;
    let last = chunk.files.rows.file_id.values().last().map(|id| FileId(*id));
    let more_after = if page.chunks() > 1 { last } else { page.next_after() };
    let mut rendered = Rendered { tasks: Vec::new(), more_after, matching_rows: before, other_names: BTreeSet::new() };
    for (index, (verdict, residual)) in chunk.verdicts.iter().zip(&chunk.residuals).enumerate() {
        if min_rows.is_some_and(|enough| rendered.matching_rows >= enough) {
            rendered.more_after = None;
            break;
        }
        if let Some(obstacle) = obstacle(chunk, index, wanted) {
            return Err(Refusal::NotOfIceberg(obstacle).into());
        }
        other_names(chunk, index, &mut rendered.other_names);
        if *verdict == Verdict::All {
            rendered.matching_rows += chunk.files.rows.row_count.value(index);
        }
        if !rendered.tasks.is_empty() {
            rendered.tasks.push(b',');
        }
        let residual = residual.and_then(|place| residuals.get(place)).map_or(ALL_ROWS, Vec::as_slice);
        file_task::write(&mut rendered.tasks, chunk, index, residual).map_err(unwritten)?;
    }
    Ok(rendered)
}

fn written(filter: &Filter) -> Result<Vec<u8>, Problem> {
    match filter {
        Filter::Iceberg(expression) => serde_json::to_vec(expression).map_err(unwritten),
        Filter::Sql(text) => serde_json::to_vec(text).map_err(unwritten),
    }
}

fn unwritten(error: serde_json::Error) -> Problem {
    Problem::Unwritten(error.into())
}

/// That clients find the columns which files call otherwise, by the names that the mapping of the table has of them.
async fn check_names(catalog: &Catalog, ident: TableIdent, others: &BTreeSet<OtherName>) -> Result<(), Problem> {
    if others.is_empty() {
        return Ok(());
    }
    let history = catalog.load_table_history(ident, Snapshots::None).await?;
    let mapping = NameMapping::of(&history.schemas);
    match others.iter().find(|other| !mapping.finds(other.column, other.name.as_deref())) {
        None => Ok(()),
        Some(OtherName { column, name: Some(name), path }) => Err(Refusal::NotOfIceberg(format!(
            "file `{path}` cannot be planned for Iceberg: it has no field ids and calls the column {column} `{name}`, a name that is \
             or was another column's, too"
        ))
        .into()),
        Some(OtherName { column, name: None, path }) => Err(Refusal::NotOfIceberg(format!(
            "file `{path}` cannot be planned for Iceberg: it has no field ids, and a column that clients would take for the column \
             {column}, which it does not hold"
        ))
        .into()),
    }
}

impl Rendered {
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
