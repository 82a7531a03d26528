//! What all clients of the API have in common.

use clap::Args;
use reqwest::Url;

use crate::client::Client;

use super::CliError;

/// Where the server is, and how to answer.
#[derive(Debug, Args)]
pub(super) struct Connection {
    /// The server
    #[arg(long, env = "PRUNUS_URL", value_name = "URL", default_value = "http://127.0.0.1:8181", value_parser = server_url)]
    url: Url,

    /// Print the answer of the API as JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Connection {
    pub(super) fn client(&self) -> Result<Client, CliError> {
        Ok(Client::new(self.url.clone())?)
    }
}

fn server_url(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err("a server's URL begins with http:// or https://".to_owned()),
    }
}
