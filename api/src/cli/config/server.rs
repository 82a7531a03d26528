//! `prunus config server`

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::wire::ConfigJson;

use crate::cli::connection::Connection;
use crate::cli::{CliError, Exit, Fields, Side, count, text_table};

const EXAMPLES: &str = "\
Example:
  prunus config server";

/// Show what can be counted on of the server: its version, limits, defaults and formats
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ServerArgs {
    #[command(flatten)]
    connection: Connection,
}

pub(in crate::cli) async fn run(args: ServerArgs) -> Result<Exit, CliError> {
    let config = args.connection.client()?.load_config().await?;
    args.connection.answer(&config, render)?;
    Ok(Exit::Done)
}

fn render(config: &ConfigJson) -> String {
    let mut fields = Fields::default();
    fields.line("version", &config.version);
    fields.line("formats", config.formats.join(", "));
    fields.line("encodings", config.encodings.join(", "));
    let (limits, defaults) = (table("limit", &config.limits), table("default", &config.defaults));
    format!("{}\n{limits}\n{defaults}", fields.into_text())
}

/// A line for each number, by the name that the API has for it.
fn table(title: &str, numbers: &impl Serialize) -> String {
    let mut table = text_table([(title, Side::Left), ("", Side::Right)]);
    if let Ok(Value::Object(fields)) = serde_json::to_value(numbers) {
        for (name, number) in fields {
            table.add_row([name.replace('_', " "), number.as_u64().map(count).unwrap_or_default()]);
        }
    }
    format!("{}\n", table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_and_defaults_are_tables() {
        let config = json!({"version": "0.1.0", "limits": {"body_bytes": 67_108_864}, "defaults": {"page_size": 1_000},
            "formats": ["application/json"], "encodings": ["gzip", "zstd"]});
        let text = render(&serde_json::from_value(config).unwrap());
        assert!(
            text.starts_with("version      0.1.0\nformats      application/json\nencodings    gzip, zstd\n"),
            "{text}"
        );
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(line("body bytes").ends_with(" 67,108,864") && line("page size").len() > 9, "{text}");
    }
}
