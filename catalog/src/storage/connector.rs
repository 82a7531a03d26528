//! Connections to object stores that stay where they are told to go: a store that answers with the address of another place
//! could have files read from there, from within the network that the server stands in.

use object_store::client::{HttpClient, HttpConnector};
use object_store::{ClientConfigKey, ClientOptions, Error, Result};
use reqwest::redirect::Policy;
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy};

use super::retry::{MAX_CONNECT_TIME, MAX_TRY_TIME};

/// What is done with an answer that names another address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redirects {
    /// It is asked there.
    Followed,
    /// It is an error.
    Refused,
}

/// Makes connections with the options that [`super::ObjectStoreOptions`] has, as `object_store` does but for redirects: that
/// cannot be told to it.
#[derive(Debug)]
pub(super) struct WithoutRedirects;

impl HttpConnector for WithoutRedirects {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let value = |key: ClientConfigKey| options.get_config_value(&key);
        let is_set = |key: ClientConfigKey| value(key).is_some_and(|value| is_true(&value));
        let user_agent = value(ClientConfigKey::UserAgent);
        let mut builder = ClientBuilder::new()
            .redirect(Policy::none())
            .user_agent(user_agent.as_deref().unwrap_or(concat!("prunus/", env!("CARGO_PKG_VERSION"))))
            .timeout(MAX_TRY_TIME)
            .connect_timeout(MAX_CONNECT_TIME)
            .http1_only()
            .https_only(!is_set(ClientConfigKey::AllowHttp))
            .danger_accept_invalid_certs(is_set(ClientConfigKey::AllowInvalidCertificates));
        if let Some(url) = value(ClientConfigKey::ProxyUrl) {
            let mut proxy = Proxy::all(url).map_err(unusable)?;
            if let Some(excludes) = value(ClientConfigKey::ProxyExcludes) {
                proxy = proxy.no_proxy(NoProxy::from_string(&excludes));
            }
            if let Some(pem) = value(ClientConfigKey::ProxyCaCertificate) {
                builder = builder.add_root_certificate(Certificate::from_pem(pem.as_bytes()).map_err(unusable)?);
            }
            builder = builder.proxy(proxy);
        }
        Ok(HttpClient::new(builder.build().map_err(unusable)?))
    }
}

/// Whether the library takes a value for true.
fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "on" | "yes" | "y")
}

fn unusable(error: reqwest::Error) -> Error {
    Error::Generic { store: "HTTP client", source: Box::new(error) }
}
