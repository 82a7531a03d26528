//! The help of the program as a whole: its commands in groups, so that a newcomer finds the way.

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{Command, CommandFactory};

use super::Cli;

/// The commands by what they are for.
pub(super) const GROUPS: [(&str, &[&str]); 7] = [
    ("First steps", &["demo", "serve", "import", "plan"]),
    ("Tables and what is in them", &["namespace", "table", "commit", "transaction"]),
    ("Why a plan is as it is", &["inspect", "explain", "files", "manifests"]),
    ("History", &["snapshots", "changes", "tag", "rollback", "expire"]),
    ("Upkeep of tables", &["audit", "regroup", "orphans"]),
    ("The server and its data", &["health", "config", "token", "journal", "check", "backup", "restore"]),
    ("This program", &["completions"]),
];

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    done
  1    refused: by the server (a 4xx answer), or the command itself failed
  2    usage: the arguments, or a local file that they name, cannot be used
  3    no answer: the server cannot be reached or failed (a 5xx answer); trying again may help
  4    an import is done, but some files were refused, or have changed since they were registered
  5    a check or an audit is done, and something is wrong
  130  interrupted (ctrl-c)

Environment:
  PRUNUS_URL                            the server, where --url does not say it
  PRUNUS_TOKEN                          the token for it, where --token-file does not name one
  PRUNUS_CONFIG, PRUNUS__SECTION__KEY   the configuration of `serve`: its file, and what is over that
  NO_COLOR, CLICOLOR, CLICOLOR_FORCE    whether there is colour; without them on terminals alone

`prunus COMMAND --help` says more of a command, with examples.";

/// The program with all its commands.
pub(super) fn command() -> Command {
    let command = Cli::command();
    let groups = groups(&command);
    let header = Styles::styled().get_header().to_owned();
    command.after_help(AFTER_HELP).help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

fn groups(command: &Command) -> String {
    let header = Styles::styled().get_header().to_owned();
    let literal = Styles::styled().get_literal().to_owned();
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "\n{header}{heading}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(text, "  {literal}{name:<12}{literal:#} {}", about.unwrap_or_default());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.sort_unstable();
        let command = Cli::command();
        let mut names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        names.sort_unstable();
        assert_eq!(grouped, names);
    }

    #[test]
    fn every_command_has_help_with_an_example() {
        fn check(command: &Command) {
            let name = command.get_name();
            assert!(command.get_about().is_some(), "{name}");
            let options = command.get_arguments().filter(|arg| arg.get_help().is_none() && arg.get_id() != "help");
            assert_eq!(options.count(), 0, "{name} has an option without help");
            let groups = command.get_subcommands().count() > 0;
            assert!(groups || command.get_after_help().is_some(), "{name} has no example");
            command.get_subcommands().for_each(check);
        }
        let command = Cli::command();
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn the_help_of_the_program_is_a_page() {
        insta::assert_snapshot!(command().render_help(), @r"
        A lakehouse catalog: which Parquet files can hold a row that a filter matches

        Usage: prunus <COMMAND>

        First steps:
          demo         Show what Prunus does on generated files in a temporary folder, and prove it
          serve        Run the server
          import       Register Parquet files in a table
          plan         Plan a scan: which files of a table can hold a row that a filter matches

        Tables and what is in them:
          namespace    Create, list, show and drop namespaces
          table        Create, list, show, change and drop tables
          commit       Commit a change of a table: add files, remove files, or both
          transaction  Commit changes of several tables, all or none

        Why a plan is as it is:
          inspect      Look at a table as a whole: size, layout, columns, audits, what a filter does, and what could be better
          explain      Explain why a plan keeps or prunes a file, conjunct by conjunct of the filter, and by which statistics
          files        List the files of a table, or show one with all that is known of it
          manifests    List the manifests of a table, or show one with its zones

        History:
          snapshots    List the snapshots of a table, or show one with what it changed
          changes      List the files that are live in one of two snapshots alone: `+` those that came, `-` those that went
          tag          Set, show, list and delete tags: names of snapshots, which keep them from being expired
          rollback     Make a new snapshot with the content of an older one
          expire       Let old snapshots go, and the files that no other names; dry unless --forget is said

        Upkeep of tables:
          audit        Look at the files of a table again, and hold what is known of them against them
          regroup      Group the manifests of a table anew, so that plans look into fewer of them
          orphans      List the objects below a table's location that no file of any table is

        The server and its data:
          health       Say whether the server answers and can work; exit code 3 if not
          config       Show how a server would be set up here, or what can be counted on of one that runs
          token        Create, list and revoke tokens: what opens a server that is reached from other machines
          journal      List who changed what, newest first
          check        Check a catalog, and say all that is wrong with it
          backup       Copy a catalog into a file, also while a server runs
          restore      Put a backup in the place of a catalog

        This program:
          completions  Print a script by which a shell completes commands and options

        Options:
          -h, --help     Print help
          -V, --version  Print version

        Exit codes:
          0    done
          1    refused: by the server (a 4xx answer), or the command itself failed
          2    usage: the arguments, or a local file that they name, cannot be used
          3    no answer: the server cannot be reached or failed (a 5xx answer); trying again may help
          4    an import is done, but some files were refused, or have changed since they were registered
          5    a check or an audit is done, and something is wrong
          130  interrupted (ctrl-c)

        Environment:
          PRUNUS_URL                            the server, where --url does not say it
          PRUNUS_TOKEN                          the token for it, where --token-file does not name one
          PRUNUS_CONFIG, PRUNUS__SECTION__KEY   the configuration of `serve`: its file, and what is over that
          NO_COLOR, CLICOLOR, CLICOLOR_FORCE    whether there is colour; without them on terminals alone

        `prunus COMMAND --help` says more of a command, with examples.
        ");
    }
}
