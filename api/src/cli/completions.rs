//! `prunus completions`

use clap::Args;
use clap_complete::Shell;

use super::output::print;
use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus completions bash > ~/.local/share/bash-completion/completions/prunus
  prunus completions zsh > ~/.zfunc/_prunus           # with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  prunus completions fish > ~/.config/fish/completions/prunus.fish";

/// Print a script by which a shell completes commands and options
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit, CliError> {
    print(&script(args.shell))?;
    Ok(Exit::Done)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "prunus", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_completes_every_command() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            for command in super::super::command().get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
            assert!(script.contains("idempotency-key"), "{shell}");
        }
    }
}
