//! The reference of the command line, `docs/cli.md`, as clap knows it.

use std::fmt::Write as _;

use clap::Command;

use super::help;

const OPENING: &str = "\
# The command line

Every command with an example; `prunus COMMAND --help` has all options. Commands are clients of the HTTP API but for `serve`, `demo`,
`check`, `backup` and `restore`, and find the server by `--url` or `PRUNUS_URL` (http://127.0.0.1:8181). Tables are NAMESPACE.TABLE. With
`--json` they print the API's answer, all pages of a listing joined; without it tables for people, which may change. What goes wrong is
told on standard error and by the exit code; with `--json` as a problem document (RFC 9457), so that standard output has answers alone. Only
what is wrong with the arguments themselves is told in words.
";

/// The whole of it as Markdown.
fn reference() -> String {
    let command = help::command();
    let mut text = OPENING.to_owned();
    for (heading, names) in help::GROUPS {
        let _ = write!(text, "\n## {heading}\n");
        for name in names {
            if let Some(subcommand) = command.find_subcommand(name) {
                section(&mut text, "prunus", subcommand);
            }
        }
    }
    let _ = write!(text, "\n## Exit codes and environment\n\n```text\n{}\n```\n", help::AFTER_HELP);
    text
}

/// A command, and those below it.
fn section(text: &mut String, above: &str, command: &Command) {
    let name = format!("{above} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n**`{name}`** {about}.\n");
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let lines = examples.lines().filter(|line| line.starts_with("  ")).map(str::trim_start);
        let _ = write!(text, "\n```sh\n{}\n```\n", lines.collect::<Vec<_>>().join("\n"));
    }
    for subcommand in command.get_subcommands() {
        section(text, &name, subcommand);
    }
}

/// With `PRUNUS_WRITE_REFERENCE=1` in the environment the file is written, not compared.
#[test]
fn the_reference_is_that_of_the_commands() {
    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md");
    let expected = reference();
    if std::env::var_os("PRUNUS_WRITE_REFERENCE").is_some() {
        std::fs::write(PATH, &expected).unwrap();
    }
    let written = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(
        written == expected,
        "docs/cli.md is out of date: PRUNUS_WRITE_REFERENCE=1 cargo test -p prunus the_reference"
    );
}
