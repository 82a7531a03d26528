//! That both formats say the same.

use arrow::array::{Array, AsArray, StringArray};
use arrow::datatypes::{Int8Type, Int32Type, Int64Type, UInt64Type};
use arrow::ipc::reader::StreamReader;
use serde_json::Value;

use super::server::{Connection, Server};
use super::{ARROW, JSON, body};

/// The pages of a plan.
pub(crate) struct Pages {
    /// What asks for each.
    pub(crate) tokens: Vec<Option<String>>,
    pub(crate) files: usize,
}

/// What each file is said to be: its id, path, size, rows, verdict and residual.
type File = (i64, String, u64, Option<u64>, String, Option<String>);

/// Reads a plan in one format.
pub(crate) fn pages(server: &Server, filter: &str, page_size: usize, accept: &str) -> Pages {
    let (mut tokens, mut files) = (vec![None], 0);
    loop {
        let (page, next) = page(server, &body(filter, page_size, tokens.last().unwrap().as_deref()), accept);
        files += page.len();
        match next {
            Some(next) => tokens.push(Some(next)),
            None => return Pages { tokens, files },
        }
    }
}

/// Reads it in both, page by page.
pub(crate) fn pages_of_both(server: &Server, filter: &str, page_size: usize) -> Pages {
    let pages = pages(server, filter, page_size, JSON);
    let next = pages.tokens.iter().skip(1).cloned().chain([None]);
    for (token, next) in pages.tokens.iter().zip(next) {
        let body = body(filter, page_size, token.as_deref());
        let (json, of_json) = page(server, &body, JSON);
        let (arrow, of_arrow) = page(server, &body, ARROW);
        assert!(json == arrow, "the formats do not agree");
        assert!(json.iter().all(|file| file.4 == "some" && file.5.is_some()), "a file needs no filter");
        assert_eq!((&of_json, &of_arrow), (&next, &next));
    }
    pages
}

fn page(server: &Server, body: &Value, accept: &str) -> (Vec<File>, Option<String>) {
    let mut connection = Connection::open(&server.address);
    connection.send(body, accept, "identity");
    let bytes = connection.read();
    if accept == ARROW { of_arrow(&bytes) } else { of_json(&bytes) }
}

fn of_json(bytes: &[u8]) -> (Vec<File>, Option<String>) {
    let page: prunus::wire::PlannedJson = serde_json::from_slice(bytes).unwrap();
    let text = |value: Value| value.as_str().map(str::to_owned);
    let file = |file: prunus::wire::PlannedFileJson| {
        let verdict = text(serde_json::to_value(file.verdict).unwrap()).unwrap();
        let residual = text(serde_json::to_value(file.residual).unwrap());
        (file.file_id, file.path, file.size_bytes, file.row_count, verdict, residual)
    };
    (page.files.into_iter().map(file).collect(), page.next_page_token)
}

fn of_arrow(bytes: &[u8]) -> (Vec<File>, Option<String>) {
    let reader = StreamReader::try_new(bytes, None).unwrap();
    let token = reader.schema().metadata().get("next_page_token").cloned();
    let mut files = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let (ids, sizes) =
            (column("file_id").as_primitive::<Int64Type>(), column("size_bytes").as_primitive::<UInt64Type>());
        let (paths, rows) = (column("path").as_string::<i32>(), column("row_count").as_primitive::<UInt64Type>());
        let verdicts = column("verdict").as_dictionary::<Int8Type>();
        let verdicts = verdicts.downcast_dict::<StringArray>().unwrap();
        let residuals = column("residual").as_dictionary::<Int32Type>();
        let residuals = residuals.downcast_dict::<StringArray>().unwrap();
        let (verdicts, residuals): (Vec<_>, Vec<_>) = (verdicts.into_iter().collect(), residuals.into_iter().collect());
        for index in 0..batch.num_rows() {
            files.push((
                ids.value(index),
                paths.value(index).to_owned(),
                sizes.value(index),
                rows.is_valid(index).then(|| rows.value(index)),
                verdicts[index].unwrap().to_owned(),
                residuals[index].map(str::to_owned),
            ));
        }
    }
    (files, token)
}
