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
use crate::cli::legible;
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
#[derive(Clone, Default)]
pub struct Sources {
    said: Map<String, Value>,
    /// By the dotted path of each value that is no table.
    origins: BTreeMap<String, Origin>,
    /// Variables of the environment that were probably meant to be settings, and are none.
    misnamed: Vec<String>,
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
        // Each by itself: the ends of the lines between them are ours.
        format!("\n  {}", legible(&format!("{at}{} ({origin})", fault.message)))
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

/// Who said what, not what was said: there are secrets among it.
impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").field("origins", &self.origins).finish_non_exhaustive()
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
        self.add(&[], json_of(toml::Value::Table(table)), &Origin::File(path.to_owned()));
        Ok(())
    }

    /// Adds what variables of the environment say that begin with `PRUNUS__`. A value is TOML where it reads as such, else
    /// a text. Sections, keys and options are in upper case there; namespaces have the case that they have.
    pub fn add_environment(&mut self, variables: impl Iterator<Item = (String, String)>) {
        let (mut variables, others): (Vec<_>, Vec<_>) =
            variables.partition(|(name, _)| name.starts_with(VARIABLE_PREFIX));
        let is_near = |name: &String| name.strip_prefix("PRUNUS_").is_some_and(|rest| rest.contains("__"));
        self.misnamed.extend(others.into_iter().map(|(name, _)| name).filter(is_near));
        variables.sort();
        for (name, text) in variables {
            let path = path_of(name.strip_prefix(VARIABLE_PREFIX).unwrap_or_default());
            let value = if is_text(&path) { Value::String(text) } else { value_of(text) };
            self.add(&path, value, &Origin::Variable(name));
        }
    }

    /// Adds what a flag says.
    pub fn add_flag(&mut self, section: &str, key: &str, value: Value, flag: &'static str) {
        self.add(&[section.to_owned(), key.to_owned()], value, &Origin::Flag(flag));
    }

    /// Whether anything was said so far of the options of object stores, which are secrets.
    pub(crate) fn has_options(&self) -> bool {
        let options = format!("{}.", TEXTS.join("."));
        self.origins.keys().any(|path| path.starts_with(&options))
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
        let read = read_settings::<Settings>(Value::Object(self.said.clone())).map_err(without_secrets);
        let read = read.and_then(|settings| {
            let faults = check::faults(&settings);
            if faults.is_empty() { Ok(settings) } else { Err(faults) }
        });
        let told = |fault: Fault| (self.origin(fault.at.as_deref().unwrap_or_default()).clone(), fault);
        let misnamed = |name: &String| {
            let message = format!("a setting begins with {VARIABLE_PREFIX}, with two underscores: this is none");
            (Origin::Variable(name.clone()), Fault::new(message))
        };
        let faults = read.as_ref().err().cloned().unwrap_or_default().into_iter().map(told);
        let faults: Vec<_> = self.misnamed.iter().map(misnamed).chain(faults).collect();
        match read {
            Ok(settings) if faults.is_empty() => Ok(settings),
            _ => Err(SettingsError::Faults(faults)),
        }
    }

    fn add(&mut self, path: &[String], value: Value, origin: &Origin) {
        if let Value::Object(fields) = value {
            for (key, value) in fields {
                self.add(&[path, &[key]].concat(), value, origin);
            }
            return;
        }
        self.origins.insert(dotted(path), origin.clone());
        let value = if is_text(path) { text_of(value) } else { value };
        put(&mut self.said, path, value);
    }
}

/// The path that a variable's name stands for.
fn path_of(name: &str) -> Vec<String> {
    let mut path: Vec<String> = name.split("__").map(str::to_owned).collect();
    for part in path.iter_mut().take(2) {
        part.make_ascii_lowercase();
    }
    if is_text(&path) {
        for part in &mut path {
            part.make_ascii_lowercase();
        }
    }
    path
}

/// Whether a text stands here, whatever it looks like.
fn is_text(path: &[String]) -> bool {
    path.len() > TEXTS.len() && path.iter().zip(TEXTS).all(|(part, of_texts)| part == of_texts)
}

/// The same faults. What was said of the options of object stores, or where they were to stand, is a secret, and is not repeated.
fn without_secrets(faults: Vec<Fault>) -> Vec<Fault> {
    let [section, key] = TEXTS;
    let options = format!("{section}.{key}");
    let without = |mut fault: Fault| {
        let at = fault.at.as_deref().unwrap_or_default();
        if at == section || at == options {
            "expected a table".clone_into(&mut fault.message);
        } else if at.strip_prefix(options.as_str()).is_some_and(|below| below.starts_with(['.', '['])) {
            "expected a text".clone_into(&mut fault.message);
        }
        fault
    };
    faults.into_iter().map(without).collect()
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
    fn namespaces_in_variables_keep_their_case() {
        let variables = [
            ("PRUNUS__STORAGE__NAMESPACES__Sales", r#"["/s"]"#),
            ("PRUNUS__Storage__Options__AWS_REGION", "x"),
            ("PRUNUS__LIMITS__PAGE_SIZE", "7"),
        ];
        let settings = with(Sources::default(), &variables).settings().unwrap();
        assert_eq!(settings.storage.namespaces["Sales"], ["/s"]);
        assert_eq!(settings.storage.options["aws_region"], "x");
        assert_eq!(settings.limits.page_size, 7);
    }

    #[test]
    fn options_may_stand_in_one_variable() {
        let table = r#"{ aws_secret_access_key = "x", aws_skip_signature = true }"#;
        let settings = with(Sources::default(), &[("PRUNUS__STORAGE__OPTIONS", table)]).settings().unwrap();
        let options = settings.storage.options;
        assert_eq!((&*options["aws_secret_access_key"], &*options["aws_skip_signature"]), ("x", "true"));
    }

    #[test]
    fn no_fault_repeats_an_option() {
        for (file, expected) in [
            ("storage = 'hidden'", "`storage`: expected a table"),
            ("[storage]\noptions = 'hidden'", "`storage.options`: expected a table"),
            ("[storage]\noptions = ['hidden']", "`storage.options`: expected a table"),
            ("[storage.options]\naws_region = ['hidden']", "`storage.options.aws_region`: expected a text"),
            ("[storage.options]\n'a b' = {x = 'hidden'}", "`storage.options"),
        ] {
            let sources = of_file(file).unwrap();
            let found = messages(&sources);
            assert!(found.contains(expected) && !found.contains("hidden"), "{found}");
            assert!(!format!("{sources:?}").contains("hidden"), "{file}");
        }
        for text in ["{ aws_secret_access_key = 'hidden'", "hidden"] {
            for variable in ["PRUNUS__STORAGE", "PRUNUS__STORAGE__OPTIONS"] {
                let found = messages(&with(Sources::default(), &[(variable, text)]));
                assert!(found.contains("expected a table") && !found.contains("hidden"), "{found}");
            }
        }
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

    #[test]
    fn a_variable_that_is_nearly_a_setting_is_refused() {
        let mut sources = Sources::default();
        let variables =
            ["PRUNUS_ACCESS__TOKENS", "PRUNUS_URL", "OTHER__X"].map(|name| (name.to_owned(), "off".to_owned()));
        sources.add_environment(variables.into_iter());
        let told = sources.settings().unwrap_err().to_string();
        assert!(told.ends_with("this is none (PRUNUS_ACCESS__TOKENS)") && told.lines().count() == 2, "{told}");
    }

    #[test]
    fn faults_are_lines_of_their_own_and_break_none() {
        let mut sources = Sources::default();
        sources.add_flag("limits", "a\nb", Value::Null, "--a");
        sources.add_flag("limits", "c", Value::Null, "--c");
        let told = sources.settings().unwrap_err().to_string();
        assert_eq!(told.lines().count(), 3, "{told}");
    }
}
