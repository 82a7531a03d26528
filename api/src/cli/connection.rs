//! What all clients of the API have in common.

use clap::Args;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::Serialize;

use crate::client::Client;

use super::CliError;
use super::output::{print, print_json};

/// The longest key that a server takes.
const MAX_KEY_BYTES: usize = 255;

/// Where the server is, and how to answer.
#[derive(Debug, Args)]
pub(super) struct Connection {
    /// The server's URL, such as http://127.0.0.1:8181
    #[arg(long, env = "PRUNUS_URL", value_name = "URL", default_value = "http://127.0.0.1:8181", value_parser = server_url)]
    url: Url,

    /// Print the answer of the API as JSON, for scripts; the pages of a listing are joined
    #[arg(long)]
    pub(super) json: bool,
}

impl Connection {
    pub(super) fn client(&self) -> Result<Client, CliError> {
        Ok(Client::new(self.url.clone())?)
    }

    /// Prints an answer: as JSON where that is asked for, else as `render` has it.
    pub(super) fn answer<T: Serialize>(&self, answer: &T, render: impl FnOnce(&T) -> String) -> Result<(), CliError> {
        if self.json { print_json(answer) } else { print(&render(answer)) }
    }
}

/// A key under which a change is carried out once.
#[derive(Debug, Args)]
pub(super) struct KeyChoice {
    /// Carry this out once, however often it is sent under this key within 24 hours: a UUID, or any text of at most 255 bytes
    #[arg(long, value_name = "KEY", value_parser = key)]
    idempotency_key: Option<HeaderValue>,
}

impl KeyChoice {
    /// The client, whose change carries the key if there is one.
    pub(super) fn on(self, client: Client) -> Client {
        match self.idempotency_key {
            Some(key) => client.under_key(key),
            None => client,
        }
    }
}

fn key(text: &str) -> Result<HeaderValue, String> {
    match HeaderValue::from_str(text) {
        Ok(key) if (1..=MAX_KEY_BYTES).contains(&text.len()) => Ok(key),
        _ => Err(format!("a key is 1 to {MAX_KEY_BYTES} bytes of printable ASCII")),
    }
}

fn server_url(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err("a server's URL begins with http:// or https://".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_printable_text() {
        assert!(key(&"k".repeat(MAX_KEY_BYTES)).is_ok());
        for text in [String::new(), "k".repeat(MAX_KEY_BYTES + 1), "a\nb".to_owned()] {
            assert!(key(&text).is_err(), "{text:?}");
        }
    }
}
