//! Settings as people look at them: each with who said it, and no secret.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use prunus_catalog::HIDDEN;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Origin, Settings, Sources};
use crate::extract::dotted;

/// The section of secrets: all of it but for what is known to be none.
const OPTIONS: [&str; 2] = ["storage", "options"];
/// How the names of options end that are no secrets.
const HARMLESS_ENDINGS: [&str; 4] = ["_region", "_allow_http", "_skip_signature", "_virtual_hosted_style_request"];

/// The settings that hold, and who said each of them; fields are added, never renamed.
#[derive(Debug, Serialize)]
pub struct Effective {
    settings: Value,
    /// By dotted path; what nobody said is not among them.
    origins: BTreeMap<String, String>,
}

impl Effective {
    /// The settings of these sources.
    pub fn new(settings: &Settings, sources: &Sources) -> Self {
        let mut settings = serde_json::to_value(settings).unwrap_or_default();
        let mut origins = BTreeMap::new();
        each_value(&mut settings, &mut Vec::new(), &mut |path, value| {
            if is_secret(path) {
                *value = Value::String(HIDDEN.to_owned());
            }
            let path = dotted(path);
            match sources.origin(&path) {
                Origin::Default => {}
                origin => drop(origins.insert(path, origin.to_string())),
            }
        });
        Self { settings, origins }
    }

    /// As a file of the configuration, with who said what as comments. A secret is a comment as well: what stands in its place would
    /// be taken for it.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let Value::Object(sections) = &self.settings else { return text };
        for (name, section) in sections {
            if let Value::Object(section) = section {
                if !text.is_empty() {
                    text.push('\n');
                }
                self.push_table(std::slice::from_ref(name), section, &mut text);
            }
        }
        text
    }

    fn push_table(&self, path: &[String], table: &Map<String, Value>, text: &mut String) {
        let header: Vec<String> = path.iter().map(|name| key(name)).collect();
        let _ = writeln!(text, "[{}]", header.join("."));
        let tables = |value: &Value| value.is_object();
        for (name, value) in table.iter().filter(|(_, value)| !tables(value)) {
            let path = [path, std::slice::from_ref(name)].concat();
            let comment = self.origins.get(&dotted(&path));
            let comment = comment.map(|origin| format!("  # {}", origin.escape_debug())).unwrap_or_default();
            let _ = match value {
                Value::Null => writeln!(text, "# {} is not set", key(name)),
                _ if is_secret(&path) => writeln!(text, "# {} is set, and not shown{comment}", key(name)),
                value => writeln!(text, "{} = {}{comment}", key(name), toml_of(value)),
            };
        }
        for (name, value) in table {
            if let Value::Object(inner) = value {
                text.push('\n');
                self.push_table(&[path, std::slice::from_ref(name)].concat(), inner, text);
            }
        }
    }
}

fn each_value(value: &mut Value, path: &mut Vec<String>, see: &mut impl FnMut(&[String], &mut Value)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push(name.clone());
                each_value(value, path, see);
                path.pop();
            }
        }
        value => see(path, value),
    }
}

fn is_secret(path: &[String]) -> bool {
    let is_option = path.starts_with(&OPTIONS.map(str::to_owned));
    is_option && !path.last().is_some_and(|name| HARMLESS_ENDINGS.iter().any(|ending| name.ends_with(ending)))
}

/// A key as TOML has it: bare where it may be.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { name.to_owned() } else { toml::Value::String(name.to_owned()).to_string() }
}

fn toml_of(value: &Value) -> String {
    toml::Value::try_from(value).map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effective() -> Effective {
        let mut sources = Sources::default();
        let variables = [
            ("PRUNUS__SERVER__LISTEN", "127.0.0.1:1"),
            ("PRUNUS__STORAGE__NAMESPACES", r#"{ "Sales.eu" = ["/s"] }"#),
            ("PRUNUS__STORAGE__OPTIONS__AWS_SECRET_ACCESS_KEY", "hidden"),
            ("PRUNUS__STORAGE__OPTIONS__AWS_REGION", "eu"),
        ];
        sources.add_environment(variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
        Effective::new(&sources.settings().unwrap(), &sources)
    }

    #[test]
    fn what_is_shown_says_who_said_it_and_hides_secrets() {
        let text = effective().to_toml();
        for line in [
            "listen = \"127.0.0.1:1\"  # PRUNUS__SERVER__LISTEN",
            "# tls_cert is not set",
            "[storage.namespaces]",
            "\"Sales.eu\" = [\"/s\"]  # PRUNUS__STORAGE__NAMESPACES",
            "# aws_secret_access_key is set, and not shown  # PRUNUS__STORAGE__OPTIONS__AWS_SECRET_ACCESS_KEY",
            "aws_region = \"eu\"  # PRUNUS__STORAGE__OPTIONS__AWS_REGION",
            "shutdown_seconds = 30",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let json = serde_json::to_string(&effective()).unwrap();
        assert!(!text.contains("hidden") && !json.contains("hidden"));
    }

    #[test]
    fn what_is_shown_reads_as_a_file_of_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prunus.toml");
        std::fs::write(&path, effective().to_toml()).unwrap();
        let mut sources = Sources::default();
        sources.add_file(&path).unwrap();
        let settings = sources.settings().unwrap();
        assert_eq!(settings.server.listen.port(), 1);
        assert_eq!(settings.storage.namespaces["Sales.eu"], ["/s"]);
        assert_eq!(settings.limits, Settings::default().limits);
        let options: Vec<&String> = settings.storage.options.keys().collect();
        assert_eq!(options, ["aws_region"]);
    }
}
