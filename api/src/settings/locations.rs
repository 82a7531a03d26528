//! What the section `[storage]` of the settings comes to: where tables and files may lie, and what object stores are given.

use std::fmt;

use prunus_catalog::{
    AllowedLocations, HIDDEN, Location, LocationError, NameError, NamespaceName, ObjectStoreOptions, UnknownOption,
    without_credentials,
};

use super::StorageSettings;

/// Who reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This machine alone, without a token: whoever sends a request has the files of the machine already.
    ThisMachine,
    /// Other machines, or nobody without a token.
    Others,
}

/// A value of the section that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageSettingsError {
    /// A prefix that is no folder or prefix of a store.
    #[error("`{prefix}` in {list} is no location: {source}")]
    Prefix {
        /// The list that it stands in, by its key.
        list: String,
        /// The prefix, without credentials.
        prefix: String,
        /// Why it is none.
        source: LocationError,
    },
    /// A name that no namespace can have.
    #[error("`{0}` in storage.namespaces is no namespace: {1}")]
    Namespace(String, NameError),
    /// An option that no object store has.
    #[error("storage.options: {0}")]
    Option(#[from] UnknownOption),
}

impl StorageSettings {
    /// Where tables and files may lie. Without a list for all that is anywhere for who has this machine already, and nowhere for
    /// others.
    ///
    /// # Errors
    /// [`StorageSettingsError`] for the first prefix that is no location, and the first name that is none of a namespace.
    pub fn of_access(&self, reach: Reach) -> Result<AllowedLocations, StorageSettingsError> {
        let all = match (&self.allow, reach) {
            (Some(prefixes), _) => AllowedLocations::below(locations("storage.allow", prefixes)?),
            (None, Reach::ThisMachine) => AllowedLocations::anything(),
            (None, Reach::Others) => AllowedLocations::below([]),
        };
        self.namespaces.iter().try_fold(all, |allowed, (name, prefixes)| {
            let namespace: NamespaceName =
                name.parse().map_err(|error| StorageSettingsError::Namespace(name.clone(), error))?;
            let list = format!("storage.namespaces.\"{name}\"");
            Ok(allowed.in_namespace(&namespace, locations(&list, prefixes)?))
        })
    }

    /// The options of object stores: those that are set here, before those of the environment.
    ///
    /// # Errors
    /// [`StorageSettingsError::Option`] with the first name that is none.
    pub fn object_store_options(&self) -> Result<ObjectStoreOptions, StorageSettingsError> {
        Ok(ObjectStoreOptions::from_environment().with(&self.options)?)
    }
}

fn locations(list: &str, prefixes: &[String]) -> Result<Vec<Location>, StorageSettingsError> {
    let location = |prefix: &String| {
        Location::parse(prefix, None).map_err(|source| StorageSettingsError::Prefix {
            list: list.to_owned(),
            prefix: without_credentials(prefix).into_owned(),
            source,
        })
    };
    prefixes.iter().map(location).collect()
}

/// The values of options are secrets.
impl fmt::Debug for StorageSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allow, namespaces, options } = self;
        let options: Vec<(&String, &str)> = options.keys().map(|name| (name, HIDDEN)).collect();
        f.debug_struct("StorageSettings")
            .field("allow", allow)
            .field("namespaces", namespaces)
            .field("options", &options)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Location {
        Location::parse(text, None).unwrap()
    }

    fn settings(toml: &str) -> StorageSettings {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn without_a_list_it_depends_on_who_reaches_the_server() {
        let settings = StorageSettings::default();
        assert_eq!(settings.of_access(Reach::ThisMachine), Ok(AllowedLocations::anything()));
        assert_eq!(settings.of_access(Reach::Others), Ok(AllowedLocations::below([])));
    }

    #[test]
    fn lists_are_for_all_and_for_namespaces() {
        let settings = settings("allow = ['s3://b/lake/', '/data']\n[namespaces]\n'sales.eu' = ['/eu']");
        let sales = "sales.eu".parse().unwrap();
        let expected = AllowedLocations::below([at("s3://b/lake/"), at("/data")]).in_namespace(&sales, [at("/eu")]);
        for reach in [Reach::Others, Reach::ThisMachine] {
            assert_eq!(settings.of_access(reach).as_ref(), Ok(&expected));
        }
    }

    #[test]
    fn what_is_no_prefix_is_named() {
        for (toml, expected) in [
            ("allow = ['lake']", "`lake` in storage.allow is no location: "),
            ("allow = ['/a', '/b/../c']", "`/b/../c` in storage.allow is no location: the path holds `..`"),
            ("allow = ['ftp://h/']", "`ftp://h/` in storage.allow is no location: the scheme `ftp` is none of "),
            ("allow = ['s3://k:secret@b/']", "`s3://***@b/` in storage.allow is no location: the path holds a user, "),
            ("[namespaces]\na = ['']", "`` in storage.namespaces.\"a\" is no location: the path is empty"),
            ("[namespaces]\n'a..b' = []", "`a..b` in storage.namespaces is no namespace: "),
        ] {
            let error = settings(toml).of_access(Reach::Others).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn an_option_that_there_is_not_is_named() {
        let error = settings("[options]\naws_regoin = 'secret'").object_store_options().unwrap_err().to_string();
        assert!(error.starts_with("storage.options: no object store has the option `aws_regoin`; "), "{error}");
    }

    #[test]
    fn options_are_not_shown() {
        let settings = settings("allow = ['/data']\n[options]\naws_secret_access_key = 'secret'");
        let shown = format!("{settings:?}");
        assert!(shown.contains("/data") && shown.contains("aws_secret_access_key") && !shown.contains("'secret'"));
        assert!(!shown.contains("\"secret\""), "{shown}");
    }
}
