//! The JSON in rows: properties, summaries, lists of fields.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

pub(crate) fn write<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(Error::encode)
}

/// `what` and `id` name the place for the message.
pub(crate) fn read<T: DeserializeOwned>(text: &str, what: &'static str, id: i64) -> Result<T> {
    serde_json::from_str(text).map_err(Error::damaged_row(what, id))
}
