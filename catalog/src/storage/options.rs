//! The options of object stores: keys, regions, endpoints. Secrets, so nothing shows their values.

use std::collections::BTreeMap;
use std::fmt;

use object_store::ClientConfigKey;
use object_store::aws::AmazonS3ConfigKey;
use object_store::azure::AzureConfigKey;
use object_store::gcp::GoogleConfigKey;

/// How the names of options begin that are those of one kind of store.
const STORES: [&str; 3] = ["aws_", "google_", "azure_"];

/// Options of object stores by their names, which are those of environment variables in lower case. A store takes those that it
/// has.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ObjectStoreOptions(BTreeMap<String, String>);

/// A name that no object store has an option of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no object store has the option `{0}`; options are called as their environment variables in lower case, such as aws_region, \
     google_service_account or azure_storage_account_name"
)]
pub struct UnknownOption(pub String);

impl ObjectStoreOptions {
    /// What the environment says in variables that begin with `AWS_`, `GOOGLE_` or `AZURE_`. Those that are no options are left
    /// out: other programs have such variables, too.
    pub fn from_environment() -> Self {
        let texts =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::of_variables(texts)
    }

    fn of_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let lower = variables.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
        let is_option = |name: &str| STORES.iter().any(|store| name.starts_with(store)) && is_known(name);
        Self(lower.filter(|(name, _)| is_option(name)).collect())
    }

    /// The same with these, which come before what the environment says.
    ///
    /// # Errors
    /// [`UnknownOption`] with the first name that is none.
    pub fn with(mut self, options: &BTreeMap<String, String>) -> Result<Self, UnknownOption> {
        for (name, value) in options {
            let name = name.to_ascii_lowercase();
            if !is_known(&name) {
                return Err(UnknownOption(name));
            }
            // An option has several names, of which only the one that is given counts.
            self.0.retain(|other, _| !is_same(other, &name));
            self.0.insert(name, value.clone());
        }
        Ok(self)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Names alone.
impl fmt::Debug for ObjectStoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.keys().map(|name| (name, "***"))).finish()
    }
}

fn is_known(name: &str) -> bool {
    if name.starts_with("aws_") {
        return name.parse().is_ok_and(|key| !matches!(key, AmazonS3ConfigKey::Client(key) if !is_carried(key)));
    }
    if name.starts_with("google_") {
        return name.parse().is_ok_and(|key| !matches!(key, GoogleConfigKey::Client(key) if !is_carried(key)));
    }
    if name.starts_with("azure_") {
        return name.parse().is_ok_and(|key| !matches!(key, AzureConfigKey::Client(key) if !is_carried(key)));
    }
    name.parse().is_ok_and(is_carried)
}

/// Options of connections that hold however they are made. How long is waited is not up to options.
fn is_carried(key: ClientConfigKey) -> bool {
    matches!(
        key,
        ClientConfigKey::AllowHttp
            | ClientConfigKey::AllowInvalidCertificates
            | ClientConfigKey::ProxyUrl
            | ClientConfigKey::ProxyCaCertificate
            | ClientConfigKey::ProxyExcludes
            | ClientConfigKey::UserAgent
    )
}

fn is_same(one: &str, other: &str) -> bool {
    fn same<K: std::str::FromStr + PartialEq>(one: &str, other: &str) -> bool {
        matches!((one.parse::<K>(), other.parse::<K>()), (Ok(one), Ok(other)) if one == other)
    }
    one == other
        || same::<AmazonS3ConfigKey>(one, other)
        || same::<GoogleConfigKey>(one, other)
        || same::<AzureConfigKey>(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn only_variables_of_object_stores_are_options() {
        let variables = texts(&[
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_PROFILE", "x"),
            ("AWS_TIMEOUT", "1s"),
            ("TIMEOUT", "1s"),
            ("PROXY_URL", "http://x"),
            ("GOOGLE_SERVICE_ACCOUNT", "b"),
            ("AZURE_STORAGE_ACCOUNT_NAME", "c"),
            ("ENDPOINT", "x"),
        ]);
        let options = ObjectStoreOptions::of_variables(variables);
        let names: Vec<&str> = options.iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            ["aws_access_key_id", "aws_allow_http", "azure_storage_account_name", "google_service_account"]
        );
    }

    #[test]
    fn what_is_set_comes_before_the_environment_under_any_of_its_names() {
        let environment = ObjectStoreOptions::of_variables(texts(&[("AWS_ENDPOINT_URL", "old"), ("AWS_REGION", "r")]));
        let options = environment.with(&texts(&[("aws_endpoint", "new"), ("proxy_url", "p")])).unwrap();
        let all: Vec<_> = options.iter().collect();
        assert_eq!(all, [("aws_endpoint", "new"), ("aws_region", "r"), ("proxy_url", "p")]);
    }

    #[test]
    fn a_name_that_is_no_option_is_an_error() {
        for name in ["aws_regoin", "timeout", "aws_http2_only", "endpoint", ""] {
            let error = ObjectStoreOptions::default().with(&texts(&[(name, "secret")])).unwrap_err();
            assert_eq!(error, UnknownOption(name.to_owned()));
        }
    }

    #[test]
    fn values_are_not_shown() {
        let options = ObjectStoreOptions::default().with(&texts(&[("aws_secret_access_key", "secret")])).unwrap();
        assert_eq!(format!("{options:?}"), r#"{"aws_secret_access_key": "***"}"#);
    }
}
