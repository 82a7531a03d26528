//! Options that change columns, in the order in which they stand on the command line.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use crate::wire::SchemaChangeJson;

use super::change;

/// What reads the value of an option.
type Read = fn(&str) -> Result<SchemaChangeJson, String>;

/// The options: name, what its value is, help, and what reads it.
const OPTIONS: [(&str, &str, &str, Read); 6] = [
    (
        "add-column",
        "NAME TYPE",
        "Add a column, null or with a default in the files that are there: 'NAME TYPE [not null] [default JSON] [first | after COLUMN]'. \
         TYPE is one of boolean, int8 to int64, uint8 to uint64, float16 to float64, decimal(p,s), string, binary, fixed(n), uuid, date, \
         time(u), timestamp(u), timestamptz(u), or JSON for a nested one; u is s, ms, us or ns",
        change::add,
    ),
    ("rename-column", "OLD=NEW", "Rename a column", change::rename),
    (
        "drop-column",
        "COLUMN",
        "Drop a column; its name can be given to another, which does not take over its data",
        change::drop,
    ),
    (
        "widen",
        "COLUMN TYPE",
        "Give a column a type that holds all values of the one before, such as 'amount int64'",
        change::widen,
    ),
    ("make-nullable", "COLUMN", "Let a column be null from now on", change::make_nullable),
    (
        "move",
        "COLUMN after OTHER",
        "Move a column behind another one beside it, or 'COLUMN first'",
        change::move_column,
    ),
];

/// The changes that were given. By itself clap would sort them by option.
#[derive(Debug)]
pub(super) struct ChangeArgs(Vec<SchemaChangeJson>);

impl ChangeArgs {
    pub(super) fn in_order(self) -> Vec<SchemaChangeJson> {
        self.0
    }
}

impl Args for ChangeArgs {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, (name, value, help, read)| {
            let arg = Arg::new(*name).long(*name).value_name(*value).help(*help);
            command.arg(arg.action(ArgAction::Append).value_parser(*read))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ChangeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut placed = Vec::new();
        for (name, ..) in OPTIONS {
            let changes = matches.try_get_many::<SchemaChangeJson>(name);
            let changes = changes.map_err(|error| Error::raw(ErrorKind::InvalidValue, error))?.into_iter().flatten();
            placed.extend(matches.indices_of(name).into_iter().flatten().zip(changes.cloned()));
        }
        placed.sort_by_key(|(place, _)| *place);
        Ok(Self(placed.into_iter().map(|(_, change)| change).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
