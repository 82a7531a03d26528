//! Where settings come from: a file, over it the environment, over that the flags. Of each value it is known which said it.
//!
//! Read here and not by a crate for configurations: names of namespaces keep their case, every fault is told at once, and each with
//! the place where it stands.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use prunus_catalog::Fault;
use serde_json::{Map, Value};

use super::{Settings, StorageSettingsError, check};
use crate::extract::{dotted, read_settings};

/// The file that is read where none is named, if it is there.
pub const DEFAULT_FILE: &str = "prunus.toml";
/// The variable of the environment that names another one.
pub const FILE_VARIABLE: &str = "PRUNUS_CONFIG";
/// How variables of the environment begin that are settings; `__` stands between section and key as well.
pub(crate) const VARIABLE_PREFIX: &str = "PRUNUS__";
/// Below it all values are texts, whatever they look like.
const TEXTS: [&str; 2] = ["storage", "options"];

/// Who said what a setting is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody.
    Default,
    /// A file.
    File(PathBuf),
    /// A variable of the environment.
    Variable(String),
    /// A flag of the command line.
    Flag(&'static str),
}

/// What was said, the later over the earlier.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    said: Map<String, Value>,
    /// By the dotted path of each value that is no table.
    origins: BTreeMap<String, Origin>,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("the configuration file {} cannot be read", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("the configuration file {} is no TOML: {message} (line {line} column {column})", .path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// What is wrong, without what stands there: that may be a secret.
        message: String,
        /// Where, from 1 on.
        line: usize,
        /// Where in the line, from 1 on.
        column: usize,
    },
    /// A variable of the environment is a setting by its name, and is no text.
    #[error("the variable {0} of the environment is not UTF-8")]
    Variable(String),
    /// Locations or options of object stores that cannot be.
    #[error(transparent)]
    Storage(#[from] StorageSettingsError),
    /// Settings that cannot be.
    #[error("the configuration cannot be used{}", lines(.0))]
    Faults(Vec<(Origin, Fault)>),
}

fn lines(faults: &[(Origin, Fault)]) -> String {
    let line = |(origin, fault): &(Origin, Fault)| {
        let at = fault.at.as_deref().map(|at| format!("`{at}`: ")).unwrap_or_default();
        format!("\n  {at}{} ({origin})", fault.message)
    };
    faults.iter().map(line).collect()
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

impl Sources {
    /// Adds what a file says.
    ///
    /// # Errors
    /// [`SettingsError::File`], [`SettingsError::Toml`].
    pub fn add_file(&mut self, path: &Path) -> Result<(), SettingsError> {
        let failed = |source| SettingsError::File { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let line = before.matches('\n').count() + 1;
            SettingsError::Toml { path: path.to_owned(), message: error.message().to_owned(), line, column }
        })?;
        self.add(Vec::new(), json_of(toml::Value::Table(table)), &Origin::File(path.to_owned()));
        Ok(())
    }

    /// Adds what variables of the environment say that begin with `PRUNUS__`. A value is TOML where it reads as such, else
    /// a text.
    pub fn add_environment(&mut self, variables: impl Iterator<Item = (String, String)>) {
        let mut variables: Vec<_> = variables.filter(|(name, _)| name.starts_with(VARIABLE_PREFIX)).collect();
        variables.sort();
        for (name, text) in variables {
            let path: Vec<String> =
                name.trim_start_matches(VARIABLE_PREFIX).split("__").map(str::to_ascii_lowercase).collect();
            let value = if path.starts_with(&TEXTS.map(str::to_owned)) { Value::String(text) } else { value_of(text) };
            self.add(path, value, &Origin::Variable(name));
        }
    }

    /// Adds what a flag says.
    pub fn add_flag(&mut self, section: &str, key: &str, value: Value, flag: &'static str) {
        self.add(vec![section.to_owned(), key.to_owned()], value, &Origin::Flag(flag));
    }

    /// Who said what stands at this dotted path, or what it lies in.
    pub fn origin(&self, path: &str) -> &Origin {
        let mut at = path;
        loop {
            if let Some(origin) = self.origins.get(at) {
                return origin;
            }
            // A list as a whole is said by one.
            let Some(end) = at.rfind(['.', '[']) else { return &Origin::Default };
            at = at.get(..end).unwrap_or_default();
        }
    }

    /// The settings.
    ///
    /// # Errors
    /// [`SettingsError::Faults`] with all of them.
    pub fn settings(&self) -> Result<Settings, SettingsError> {
        let read = read_settings::<Settings>(Value::Object(self.said.clone())).and_then(|settings| {
            let faults = check::faults(&settings);
            if faults.is_empty() { Ok(settings) } else { Err(faults) }
        });
        read.map_err(|faults| {
            let told = |fault: Fault| (self.origin(fault.at.as_deref().unwrap_or_default()).clone(), fault);
            SettingsError::Faults(faults.into_iter().map(told).collect())
        })
    }

    fn add(&mut self, path: Vec<String>, value: Value, origin: &Origin) {
        if let Value::Object(fields) = value {
            for (key, value) in fields {
                self.add([path.as_slice(), &[key]].concat(), value, origin);
            }
            return;
        }
        self.origins.insert(dotted(&path), origin.clone());
        let value = if path.starts_with(&TEXTS.map(str::to_owned)) { text_of(value) } else { value };
        put(&mut self.said, &path, value);
    }
}

/// Puts a value in its place; what stood in the way of its tables goes.
fn put(table: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [key] => drop(table.insert(key.clone(), value)),
        [key, below @ ..] => {
            let entry = table.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
            if !entry.is_object() {
                *entry = Value::Object(Map::new());
            }
            if let Value::Object(inner) = entry {
                put(inner, below, value);
            }
        }
    }
}

/// A value of the environment.
fn value_of(text: String) -> Value {
    let table: Option<toml::Table> = format!("value = {text}").parse().ok();
    // A text with a line of its own may read as more than a value.
    match table.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value")) {
        Some(value) => json_of(value),
        None => Value::String(text),
    }
}

fn text_of(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Bool(value) => Value::String(value.to_string()),
        other => other,
    }
}

/// The same value; what JSON does not have (dates, infinite floats) is its text, which no setting takes.
fn json_of(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => {
            serde_json::Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number)
        }
        toml::Value::Boolean(value) => Value::Bool(value),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(json_of).collect()),
        toml::Value::Table(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, json_of(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_file(text: &str) -> Result<Sources, SettingsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prunus.toml");
        std::fs::write(&path, text).unwrap();
        let mut sources = Sources::default();
        sources.add_file(&path)?;
        Ok(sources)
    }

    fn with(mut sources: Sources, variables: &[(&str, &str)]) -> Sources {
        sources.add_environment(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        sources
    }

    fn messages(sources: &Sources) -> String {
        sources.settings().unwrap_err().to_string()
    }

    #[test]
    fn the_later_source_is_over_the_earlier() {
        let file = "[server]\nlisten = \"127.0.0.1:1\"\nshutdown_seconds = 5\n[limits]\npage_size = 10\n";
        let mut sources = with(of_file(file).unwrap(), &[("PRUNUS__SERVER__SHUTDOWN_SECONDS", "6"), ("HOME", "/")]);
        sources.add_flag("server", "listen", "127.0.0.1:2".into(), "--listen");
        let settings = sources.settings().unwrap();
        assert_eq!((settings.server.listen.port(), settings.server.shutdown_seconds), (2, 6));
        assert_eq!(settings.limits.page_size, 10);
        assert_eq!(sources.origin("server.listen"), &Origin::Flag("--listen"));
        assert_eq!(
            sources.origin("server.shutdown_seconds"),
            &Origin::Variable("PRUNUS__SERVER__SHUTDOWN_SECONDS".to_owned())
        );
        assert!(matches!(sources.origin("limits.page_size"), Origin::File(_)));
        assert_eq!(sources.origin("limits.body_bytes"), &Origin::Default);
    }

    #[test]
    fn nothing_said_is_the_defaults() {
        assert_eq!(Sources::default().settings().unwrap(), Settings::default());
        assert_eq!(of_file("").unwrap().settings().unwrap(), Settings::default());
    }

    #[test]
    fn every_unknown_key_is_an_error_that_says_where_it_stands() {
        let sources = of_file("[limits]\nbody_byte = 1\n[sever]\nlisten = \"x\"\n").unwrap();
        let text = messages(&with(sources, &[("PRUNUS__STORE__DATADIR", "/x"), ("PRUNUS__LOG", "json")]));
        for part in [
            "`limits.body_byte`: unknown key `body_byte`, expected one of",
            "did you mean `body_bytes`? (",
            "`sever`: unknown key `sever`",
            "did you mean `server`?",
            "`store.datadir`: unknown key `datadir`",
            "(PRUNUS__STORE__DATADIR)",
            "`log`: expected ",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn values_of_the_environment_are_toml_or_texts() {
        let sources = with(
            Sources::default(),
            &[
                ("PRUNUS__STORAGE__ALLOW", r#"["s3://b/x", "/data"]"#),
                ("PRUNUS__STORAGE__NAMESPACES", r#"{ "Sales.eu" = ["/s"] }"#),
                ("PRUNUS__STORAGE__OPTIONS__AWS_SECRET_ACCESS_KEY", "123"),
                ("PRUNUS__STORE__DATA_DIR", "/data/1"),
                ("PRUNUS__STORE__POWER_LOSS_MAY_LOSE_COMMITS", "true"),
            ],
        );
        let settings = sources.settings().unwrap();
        assert_eq!(settings.storage.allow, Some(vec!["s3://b/x".to_owned(), "/data".to_owned()]));
        assert_eq!(settings.storage.namespaces["Sales.eu"], ["/s"]);
        assert_eq!(settings.storage.options["aws_secret_access_key"], "123");
        assert_eq!(settings.store.data_dir.as_deref(), Some(Path::new("/data/1")));
        assert!(settings.store.power_loss_may_lose_commits);
    }

    #[test]
    fn a_file_that_is_no_toml_is_told_by_its_place_and_not_by_what_stands_there() {
        let text = of_file("[storage.options]\naws_secret_access_key = hidden\n").unwrap_err().to_string();
        assert!(text.contains("line 2 column ") && !text.contains("hidden"), "{text}");
    }

    #[test]
    fn the_example_has_every_key_with_its_default() {
        let example = include_str!("../../../deploy/prunus.toml");
        assert_eq!(of_file(example).unwrap().settings().unwrap(), Settings::default());
        let with_all = of_file(&example.replace("\n#~ ", "\n")).unwrap();
        with_all.settings().unwrap();
        let said = Value::Object(with_all.said);
        let defaults = serde_json::to_value(Settings::default()).unwrap();
        for (section, defaults) in defaults.as_object().unwrap() {
            for (key, default) in defaults.as_object().unwrap() {
                let shown = said.get(section).and_then(|section| section.get(key));
                assert!(shown.is_some(), "{section}.{key}");
                // What has no default is shown as it may look.
                let has_default = !default.is_null() && !default.is_object();
                assert!(!has_default || shown == Some(default), "{section}.{key}: {shown:?}, {default}");
            }
        }
    }

    #[test]
    fn a_value_of_another_type_is_told() {
        let text = |file: &str| messages(&of_file(file).unwrap());
        let found = text("[server]\nlisten = 8181\n");
        assert!(found.contains("`server.listen`: expected a string, found 8181"), "{found}");
        let found = text("[server]\nshutdown_seconds = \"soon\"\n[limits]\npage_size = -1\n");
        assert!(found.contains("`server.shutdown_seconds`: expected a whole number from 0"), "{found}");
        assert!(found.contains("`limits.page_size`: expected a whole number from 0"), "{found}");
    }
}
