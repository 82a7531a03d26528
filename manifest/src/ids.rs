//! The ids that the store gives out. None is ever given twice, so each may key a cache or stand in a page token.

use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_i64().map(Self)
            }
        }
    };
}

id!(
    /// A namespace.
    NamespaceId
);
id!(
    /// A table.
    TableId
);
id!(
    /// A schema of one table; counts up from 1 in each table.
    SchemaId
);
id!(
    /// A snapshot of one table; counts up from 1 in each table.
    SnapshotId
);
id!(
    /// A manifest.
    ManifestId
);
id!(
    /// A data file as it was added once: a path that is removed and added again is another file.
    FileId
);

id!(
    /// An audit.
    AuditId
);

id!(
    /// An access token.
    TokenId
);

id!(
    /// An entry of the journal; counts up.
    JournalId
);

impl SchemaId {
    /// The schema that a table is created with.
    pub const FIRST: Self = Self(1);
}

impl SnapshotId {
    /// The empty table, before its first commit.
    pub const EMPTY: Self = Self(0);
}

/// A count or size in a row: SQLite's integers are signed, so one past 2^63 - 1 is refused and a negative one is damage.
pub(crate) struct Unsigned(pub(crate) u64);

impl ToSql for Unsigned {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let signed = i64::try_from(self.0).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        Ok(signed.into())
    }
}

impl FromSql for Unsigned {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let signed = value.as_i64()?;
        u64::try_from(signed).map(Self).map_err(|_| FromSqlError::OutOfRange(signed))
    }
}
