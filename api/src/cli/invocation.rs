//! What was called, as far as reports of errors need to know.

use clap::ArgMatches;
use prunus_catalog::{NamespaceName, TableIdent};

/// What was called.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// The command: `import`, `table show`.
    pub(super) command: String,
    /// The table that it is about, if it names one.
    pub(super) table: Option<TableIdent>,
    /// The namespace that it is about, if it names one.
    pub(super) namespace: Option<NamespaceName>,
    /// Whether the answer is to be JSON.
    pub(super) json: bool,
}

impl Invocation {
    /// What these arguments call.
    pub(super) fn of(matches: &ArgMatches) -> Self {
        let mut called = Self::default();
        let mut below = Some(matches);
        while let Some(matches) = below {
            // What a command does not have is an error of clap's.
            called.table = matches.try_get_one("table").ok().flatten().cloned().or(called.table);
            called.namespace = matches.try_get_one("namespace").ok().flatten().cloned().or(called.namespace);
            called.json |= matches.try_get_one::<bool>("json").is_ok_and(|json| json == Some(&true));
            below = matches.subcommand().map(|(name, matches)| {
                if !called.command.is_empty() {
                    called.command.push(' ');
                }
                called.command.push_str(name);
                matches
            });
        }
        called
    }

    /// Advice with the names of what was called in the place of `TABLE` and `NAMESPACE`, so that it can be copied.
    pub(super) fn fill_in(&self, advice: &str) -> String {
        let table = self.table.as_ref().map_or("TABLE".to_owned(), ToString::to_string);
        let of_table = self.table.as_ref().map(|table| &table.namespace);
        let namespace = self.namespace.as_ref().or(of_table).map_or("NAMESPACE", NamespaceName::as_str);
        advice.replace("TABLE", &table).replace("NAMESPACE", namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    fn of(line: &str) -> Invocation {
        Invocation::of(&command().try_get_matches_from(line.split(' ')).unwrap())
    }

    #[test]
    fn the_deepest_command_is_what_was_called() {
        let called = of("prunus table show a.b --json");
        assert_eq!((called.command.as_str(), called.json), ("table show", true));
        assert_eq!(called.fill_in("`prunus files list TABLE` NAMESPACE"), "`prunus files list a.b` a");
        let called = of("prunus snapshots a.b");
        assert_eq!((called.fill_in("TABLE"), called.json), ("a.b".to_owned(), false));
        assert_eq!(of("prunus namespace drop a.c").fill_in("NAMESPACE, TABLE"), "a.c, TABLE");
        assert_eq!(of("prunus health").table, None);
    }
}
