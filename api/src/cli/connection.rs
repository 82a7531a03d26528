//! What all clients of the API have in common.

use std::path::PathBuf;

use clap::Args;
use prunus_catalog::TokenSecret;
use reqwest::header::HeaderValue;
use reqwest::{Certificate, Url};
use serde::Serialize;

use crate::client::{Client, is_loopback};

use super::CliError;
use super::output::{note, print, print_json};

/// Where the server is looked for unless it is said otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:8181";
/// The variable of the environment that says otherwise.
const URL_VARIABLE: &str = "PRUNUS_URL";
/// The variable of the environment that holds a token.
const TOKEN_VARIABLE: &str = "PRUNUS_TOKEN";
/// The variable of the environment that names a file of authorities.
const CA_CERT_VARIABLE: &str = "PRUNUS_CA_CERT";
/// The longest key that a server takes.
const MAX_KEY_BYTES: usize = 255;

/// Where the server is, and how to answer.
#[derive(Debug, Args)]
pub(super) struct Connection {
    /// The server's URL [env: PRUNUS_URL] [default: http://127.0.0.1:8181]
    // Clap shows an option that the environment sets in the usage of every error, as if it were required: this is read here.
    #[arg(long, value_name = "URL", value_parser = url_text)]
    url: Option<String>,

    /// The file of the token to show the server [default: the token in PRUNUS_TOKEN, if it is set]
    // No option has the token itself: all users of a machine see what its processes were called with.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// A file of certificates as PEM whose authorities are trusted, too, for a server with a certificate of one's own [env:
    /// PRUNUS_CA_CERT]
    #[arg(long, value_name = "FILE")]
    ca_cert: Option<PathBuf>,

    /// Print the answer of the API as JSON, for scripts; the pages of a listing are joined
    #[arg(long)]
    pub(super) json: bool,
}

impl Connection {
    pub(super) fn client(&self) -> Result<Client, CliError> {
        let url = match &self.url {
            Some(text) => server_url("--url", text)?,
            None => url_of_environment(std::env::var(URL_VARIABLE).ok().as_deref())?,
        };
        let client = Client::trusting(url, self.authorities()?)?;
        let Some(token) = self.token()? else { return Ok(client) };
        if is_overheard(client.base()) {
            note(&format!("warning: the token is sent to {} without TLS, for all on the way to read\n", client.base()));
        }
        Ok(client.with_token(&token))
    }

    fn authorities(&self) -> Result<Vec<Certificate>, CliError> {
        let named = std::env::var_os(CA_CERT_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let Some(path) = self.ca_cert.clone().or(named) else { return Ok(Vec::new()) };
        let shown = path.display().to_string();
        let pem = std::fs::read(&path).map_err(|source| CliError::File { path: shown.clone(), source })?;
        match Certificate::from_pem_bundle(&pem) {
            Ok(authorities) if !authorities.is_empty() => Ok(authorities),
            _ => Err(CliError::NoCertificate { path: shown }),
        }
    }

    fn token(&self) -> Result<Option<TokenSecret>, CliError> {
        let (text, place) = match &self.token_file {
            None => (std::env::var(TOKEN_VARIABLE).unwrap_or_default(), TOKEN_VARIABLE.to_owned()),
            Some(path) => {
                let unreadable = |source| CliError::File { path: path.display().to_string(), source };
                (std::fs::read_to_string(path).map_err(unreadable)?, format!("`{}`", path.display()))
            }
        };
        // An empty variable is as none; an empty file is a mistake.
        if text.is_empty() && self.token_file.is_none() {
            return Ok(None);
        }
        text.trim().parse().map(Some).map_err(|source| CliError::Token { place, source })
    }

    /// Prints an answer: as JSON where that is asked for, else as `render` has it.
    pub(super) fn answer<T: Serialize>(&self, answer: &T, render: impl FnOnce(&T) -> String) -> Result<(), CliError> {
        if self.json { print_json(answer) } else { print(&render(answer)) }
    }
}

/// A key under which a change is carried out once.
#[derive(Debug, Default, Args)]
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

    /// The same for one of several calls, counted from 1, each of which is a change of its own.
    pub(super) fn on_call(&self, number: u64, client: Client) -> Result<Client, CliError> {
        let Some(first) = &self.idempotency_key else { return Ok(client) };
        if number == 1 {
            return Ok(client.under_key(first.clone()));
        }
        let numbered = [first.as_bytes(), format!("-{number}").as_bytes()].concat();
        let numbered = HeaderValue::from_bytes(&numbered).ok().filter(|key| key.len() <= MAX_KEY_BYTES);
        let too_long =
            "there are several calls to make, and the key leaves no room for their numbers: take a shorter one";
        numbered.map(|key| client.under_key(key)).ok_or(CliError::NothingAsked(too_long))
    }
}

fn key(text: &str) -> Result<HeaderValue, String> {
    match HeaderValue::from_bytes(text.as_bytes()) {
        Ok(key) if (1..=MAX_KEY_BYTES).contains(&text.len()) => Ok(key),
        _ => Err(format!("a key is 1 to {MAX_KEY_BYTES} bytes without control characters")),
    }
}

/// An empty variable is as none.
fn url_of_environment(variable: Option<&str>) -> Result<Url, CliError> {
    let text = variable.filter(|text| !text.is_empty()).unwrap_or(DEFAULT_URL);
    server_url(URL_VARIABLE, text)
}

/// A server's URL, as a flag or variable says. What may hold a password is not repeated.
fn server_url(place: &'static str, text: &str) -> Result<Url, CliError> {
    let value = if text.contains('@') { "***" } else { text };
    let unusable =
        |reason: &str| CliError::Environment { variable: place, value: value.to_owned(), reason: reason.to_owned() };
    parse_url(text).map_err(unusable)
}

fn parse_url(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or("a server's URL begins with http:// or https://")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a server is shown a token, not a name or password in its URL: see --token-file");
    }
    Ok(url)
}

/// For clap, which repeats a value that is none: what may hold a password is looked at later.
fn url_text(text: &str) -> Result<String, &'static str> {
    if text.contains('@') { Ok(text.to_owned()) } else { parse_url(text).map(|_| text.to_owned()) }
}

/// Whether others can read what is sent there.
fn is_overheard(url: &Url) -> bool {
    url.scheme() == "http" && !is_loopback(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_where_the_server_is() {
        let url = |variable| url_of_environment(variable).map(|url| url.to_string()).map_err(|error| error.to_string());
        assert_eq!(url(Some("http://h:1")).unwrap(), "http://h:1/");
        assert_eq!(url(None).unwrap(), "http://127.0.0.1:8181/");
        assert_eq!(url(Some("")).unwrap(), "http://127.0.0.1:8181/");
        assert!(url(Some("localhost:8181")).unwrap_err().starts_with("PRUNUS_URL is `localhost:8181`: "));
    }

    #[test]
    fn a_password_in_a_url_is_neither_taken_nor_repeated() {
        for text in ["http://user:hidden@h:1", "https://hidden@h", "user:hidden@h", "http://user:hidden@h:port"] {
            let told = server_url("--url", text).unwrap_err().to_string();
            assert!(told.starts_with("--url is `***`: ") && !told.contains("hidden"), "{told}");
        }
    }

    #[test]
    fn what_is_sent_beyond_this_machine_in_plain_text_is_overheard() {
        for (url, expected) in [
            ("http://127.0.0.1:8181", false),
            ("http://localhost", false),
            ("https://example.org", false),
            ("http://example.org", true),
        ] {
            assert_eq!(is_overheard(&url.parse().unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn a_key_is_short_printable_text() {
        assert!(key(&"k".repeat(MAX_KEY_BYTES)).is_ok() && key("schlüssel 1").is_ok());
        for text in [String::new(), "k".repeat(MAX_KEY_BYTES + 1), "a\nb".to_owned()] {
            assert!(key(&text).is_err(), "{text:?}");
        }
    }
}
