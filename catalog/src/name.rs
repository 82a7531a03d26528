//! Names of namespaces, tables and tags.

use std::fmt;
use std::str::FromStr;

use prunus_manifest::{ReadTransaction, TableId};

use crate::{Error, Result};

/// The longest name of a namespace's part, of a table or of a tag, in bytes.
pub const MAX_NAME_BYTES: usize = 255;
/// The most parts that a namespace has.
pub const MAX_NAMESPACE_PARTS: usize = 4;

/// A name that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing, or nothing between two dots.
    #[error("a name, or a part of one, is empty")]
    Empty,
    /// Too long.
    #[error("a name is longer than {MAX_NAME_BYTES} bytes")]
    TooLong,
    /// A character that names cannot hold.
    #[error("a name cannot hold the character {0:?}")]
    Character(char),
    /// Too many parts.
    #[error("a namespace has more than {MAX_NAMESPACE_PARTS} parts")]
    TooManyParts,
    /// No namespace before the table.
    #[error("`{0}` names no namespace: write NAMESPACE.TABLE")]
    NoNamespace(String),
}

/// One to four parts joined by dots, case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespaceName(String);

/// The name of a table in its namespace, case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName(String);

/// The name of a tag in its table, case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagName(String);

/// A namespace and a table in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableIdent {
    /// The namespace.
    pub namespace: NamespaceName,
    /// The table.
    pub name: TableName,
}

impl TableIdent {
    /// That the table which was found by this name in an earlier transaction still has it. Who may change a table and where its files
    /// may lie goes by its name: a change that was let in for one name is for no table that has become another.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::SchemaMoved`] if another table has the name by now; [`Error::Store`].
    pub(crate) fn check_still_names(&self, tx: &ReadTransaction<'_>, table_id: TableId) -> Result<()> {
        match tx.get_table_id(self.namespace.as_str(), self.name.as_str())? {
            Some(found) if found == table_id => Ok(()),
            Some(_) => Err(Error::SchemaMoved),
            None => Err(Error::NotFound { what: "table", name: self.to_string() }),
        }
    }
}

impl NamespaceName {
    /// The name, its parts joined by dots.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TableName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TagName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check_part(part: &str) -> Result<(), NameError> {
    if part.is_empty() {
        return Err(NameError::Empty);
    }
    if part.len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong);
    }
    match part.chars().find(|character| character.is_control() || matches!(character, '.' | '/' | '"' | '#')) {
        Some(character) => Err(NameError::Character(character)),
        None => Ok(()),
    }
}

impl FromStr for NamespaceName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        text.split('.').try_for_each(check_part)?;
        if text.split('.').count() > MAX_NAMESPACE_PARTS {
            return Err(NameError::TooManyParts);
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for TableName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        check_part(text)?;
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for TagName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        check_part(text)?;
        Ok(Self(text.to_owned()))
    }
}

/// Reads `namespace.table`; the namespace may have dots of its own.
impl FromStr for TableIdent {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (namespace, name) = text.rsplit_once('.').ok_or_else(|| NameError::NoNamespace(text.to_owned()))?;
        Ok(Self { namespace: namespace.parse()?, name: name.parse()? })
    }
}

impl fmt::Display for NamespaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TableIdent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_to_their_limits() {
        let part = "n".repeat(255);
        assert!(part.parse::<TableName>().is_ok());
        assert_eq!(format!("{part}n").parse::<TableName>(), Err(NameError::TooLong));
        assert!(part.parse::<TagName>().is_ok());
        assert_eq!(format!("{part}n").parse::<TagName>(), Err(NameError::TooLong));
        assert!("a.b.c.d".parse::<NamespaceName>().is_ok());
        assert_eq!("a.b.c.d.e".parse::<NamespaceName>(), Err(NameError::TooManyParts));
    }

    #[test]
    fn impossible_names_are_refused() {
        assert_eq!("".parse::<TableName>(), Err(NameError::Empty));
        assert_eq!("a..b".parse::<NamespaceName>(), Err(NameError::Empty));
        for character in ['.', '/', '"', '#', '\n', '\0'] {
            assert_eq!(format!("a{character}").parse::<TableName>(), Err(NameError::Character(character)));
            assert_eq!(format!("a{character}").parse::<TagName>(), Err(NameError::Character(character)));
        }
        assert_eq!("t".parse::<TableIdent>(), Err(NameError::NoNamespace("t".to_owned())));
    }

    #[test]
    fn a_table_is_named_after_the_last_dot() {
        let ident: TableIdent = "a.b.täble one".parse().unwrap();
        assert_eq!((ident.namespace.as_str(), ident.name.as_str()), ("a.b", "täble one"));
    }
}
