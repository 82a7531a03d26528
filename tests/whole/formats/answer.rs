//! Answers of either format, in one form.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;
use arrow::datatypes::{DataType, Int8Type, Int32Type, Int64Type, TimestampMillisecondType, UInt64Type};
use arrow::ipc::reader::StreamReader;
use serde_json::{Map, Value, json};

use crate::server::Server;

pub(super) const ARROW: &str = "application/vnd.apache.arrow.stream";

pub(super) const PLAN: &str = "/v1/namespaces/n/tables/t/plan";

/// A page: what is said of it as a whole, and its files as JSON, in which partition values and residuals are texts and times are
/// milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page {
    pub(super) head: Value,
    pub(super) files: Vec<Value>,
}

impl Page {
    pub(super) fn names(&self) -> Vec<String> {
        crate::server::names_in(&self.files.clone().into())
    }

    /// What two plans of the same have in common.
    pub(super) fn without_timings(&self) -> Self {
        let mut page = self.clone();
        for key in ["timings_us", "parts_read", "parts_cached"] {
            page.head["metrics"][key].take();
        }
        page
    }

    fn of_json(bytes: &[u8]) -> Self {
        let mut head: Value = serde_json::from_slice(bytes).unwrap();
        let Value::Array(mut files) = head["files"].take() else { panic!("{head}") };
        head.as_object_mut().unwrap().remove("files");
        for file in &mut files {
            for value in file.get_mut("partition").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
            {
                *value = text(value);
            }
            if let Some(residual) = file.get_mut("residual") {
                *residual = text(residual);
            }
            if let Some(time) = file.get_mut("last_modified") {
                *time = (string_to_timestamp_nanos(time.as_str().unwrap()).unwrap() / 1_000_000).into();
            }
        }
        Self { head, files }
    }

    fn of_arrow(bytes: &[u8]) -> Self {
        let reader = StreamReader::try_new(bytes, None).unwrap();
        let schema = reader.schema();
        let head = schema.metadata().iter().map(|(key, text)| {
            let value =
                if key == "next_page_token" { text.as_str().into() } else { serde_json::from_str(text).unwrap() };
            (key.clone(), value)
        });
        let head = Value::Object(head.collect());
        let files = reader.flat_map(|batch| files_of(&batch.unwrap())).collect();
        Self { head, files }
    }
}

/// A value as its text; null stays what it is.
fn text(value: &Value) -> Value {
    match value {
        Value::Null | Value::String(_) => value.clone(),
        other => other.to_string().into(),
    }
}

fn files_of(batch: &RecordBatch) -> Vec<Value> {
    (0..batch.num_rows()).map(|row| file_of(batch, row)).collect()
}

/// A file without the fields that JSON leaves out where there is nothing to say.
fn file_of(batch: &RecordBatch, row: usize) -> Value {
    const KEPT_NULLS: [&str; 2] = ["row_count", "residual"];
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(batch.columns()).filter_map(|(field, column)| {
        let value = value_of(column, row);
        let is_said = !value.is_null() || KEPT_NULLS.contains(&field.name().as_str());
        (is_said && value != json!({})).then(|| (field.name().clone(), value))
    });
    Value::Object(fields.collect())
}

fn value_of(column: &dyn Array, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Timestamp(..) => {
            let time_ms = column.as_primitive::<TimestampMillisecondType>().value(row);
            json!(time_ms)
        }
        DataType::Dictionary(places, _) => {
            let (texts, place) = match **places {
                DataType::Int8 => {
                    let column = column.as_dictionary::<Int8Type>();
                    (column.values(), column.key(row).unwrap())
                }
                _ => {
                    let column = column.as_dictionary::<Int32Type>();
                    (column.values(), column.key(row).unwrap())
                }
            };
            texts.as_string::<i32>().value(place).into()
        }
        DataType::Map(..) => {
            let entries = column.as_map().value(row);
            let (keys, values) = (entries.column(0).as_string::<i32>(), entries.column(1).as_string::<i32>());
            let pairs = keys.iter().zip(values).map(|(key, value)| (key.unwrap().to_owned(), value.into()));
            Value::Object(pairs.collect())
        }
        other => panic!("{other}"),
    }
}

/// A plan of `n.t` in a format.
pub(super) async fn plan(server: &Server, body: &Value, accept: &str) -> Page {
    read(post(server, body).header("accept", accept), accept).await
}

/// A page of a listing in a format.
pub(super) async fn get(server: &Server, route: &str, accept: &str) -> Page {
    read(reqwest::Client::new().get(server.url(route)).header("accept", accept), accept).await
}

/// The request for a plan of `n.t`.
pub(super) fn post(server: &Server, body: &Value) -> reqwest::RequestBuilder {
    reqwest::Client::new().post(server.url(PLAN)).json(body)
}

async fn read(request: reqwest::RequestBuilder, accept: &str) -> Page {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.bytes().await.unwrap();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    assert_eq!(headers["content-type"], accept);
    assert!(headers.get_all("vary").iter().any(|vary| vary == "accept"));
    parse(&bytes, accept)
}

/// An answer in a format.
pub(super) fn parse(bytes: &[u8], accept: &str) -> Page {
    if accept == ARROW { Page::of_arrow(bytes) } else { Page::of_json(bytes) }
}

/// Whether what has arrived of an answer reads as a whole one.
pub(super) fn parses(bytes: &[u8], accept: &str) -> bool {
    if accept == ARROW {
        StreamReader::try_new(bytes, None).is_ok_and(|mut batches| batches.all(|batch| batch.is_ok()))
    } else {
        serde_json::from_slice::<Value>(bytes).is_ok()
    }
}
