//! Grants: a role, and where.

use std::fmt;
use std::str::FromStr;

use prunus_manifest::{GrantRow, Role};

use crate::Fault;
use crate::name::{NameError, NamespaceName};

/// The most grants that a token has.
pub const MAX_GRANTS: usize = 100;

/// Where something is granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// In all namespaces that there are and will be, and beside them.
    Everywhere,
    /// In this namespace, and all below it. It need not be there.
    Within(NamespaceName),
}

impl Scope {
    /// Whether a namespace of this name lies in it: of `a`, `a` and `a.b` do, `ab` does not.
    pub(super) fn covers(&self, namespace: &str) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Within(above) => {
                namespace.strip_prefix(above.as_str()).is_some_and(|below| below.is_empty() || below.starts_with('.'))
            }
        }
    }

    /// Whether all of the other lies in it.
    pub(super) fn contains(&self, other: &Self) -> bool {
        match other {
            Self::Everywhere => *self == Self::Everywhere,
            Self::Within(namespace) => self.covers(namespace.as_str()),
        }
    }
}

/// A role, and where it is granted. As text `reader` for everywhere, `reader:sales.eu` for a namespace and those below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grant {
    /// What may be done.
    pub role: Role,
    /// Where.
    pub scope: Scope,
}

/// Why a text is no grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// The role is none.
    #[error("`{0}` is no role: there are reader, writer and admin, each also as in reader:NAMESPACE")]
    Role(String),
    /// The namespace is none.
    #[error(transparent)]
    Namespace(#[from] NameError),
}

impl FromStr for Grant {
    type Err = GrantError;

    fn from_str(text: &str) -> Result<Self, GrantError> {
        let (role, namespace) = text.split_once(':').map_or((text, None), |(role, namespace)| (role, Some(namespace)));
        let role = role.parse().map_err(|_| GrantError::Role(role.to_owned()))?;
        let scope = match namespace {
            None => Scope::Everywhere,
            Some(namespace) => Scope::Within(namespace.parse()?),
        };
        Ok(Self { role, scope })
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Everywhere => self.role.fmt(f),
            Scope::Within(namespace) => write!(f, "{}:{namespace}", self.role),
        }
    }
}

/// What a token opens: from one grant up to [`MAX_GRANTS`], each of another place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grants(Vec<Grant>);

impl Grants {
    /// These grants.
    ///
    /// # Errors
    /// The fault, if there are none or too many, or two of one place.
    pub fn new(mut grants: Vec<Grant>) -> Result<Self, Vec<Fault>> {
        if !(1..=MAX_GRANTS).contains(&grants.len()) {
            return Err(vec![Fault::at("grants", format!("a token has from 1 to {MAX_GRANTS} grants"))]);
        }
        grants.sort_by(|one, other| one.scope.cmp(&other.scope));
        match grants.windows(2).find(|two| matches!(two, [one, other] if one.scope == other.scope)) {
            Some([one, other]) => Err(vec![Fault::at("grants", format!("`{one}` and `{other}` are of one place"))]),
            _ => Ok(Self(grants)),
        }
    }

    /// All that there is.
    pub(crate) fn all() -> Self {
        Self(vec![Grant { role: Role::Admin, scope: Scope::Everywhere }])
    }

    /// Each grant, by its place.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.0.iter()
    }

    /// `None` if a stored name is none.
    pub(super) fn of_rows(rows: Vec<GrantRow>) -> Option<Self> {
        let scope = |name: &str| match name {
            "" => Some(Scope::Everywhere),
            name => name.parse().ok().map(Scope::Within),
        };
        let grant = |row: GrantRow| Some(Grant { role: row.role, scope: scope(&row.namespace)? });
        Some(Self(rows.into_iter().map(grant).collect::<Option<Vec<_>>>()?))
    }

    pub(super) fn to_rows(&self) -> Vec<GrantRow> {
        let row = |grant: &Grant| {
            let namespace = match &grant.scope {
                Scope::Everywhere => String::new(),
                Scope::Within(namespace) => namespace.as_str().to_owned(),
            };
            GrantRow { namespace, role: grant.role }
        };
        self.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(texts: &[&str]) -> Result<Grants, Vec<Fault>> {
        Grants::new(texts.iter().map(|text| text.parse().unwrap()).collect())
    }

    #[test]
    fn a_grant_is_written_as_it_is_read() {
        for text in ["reader", "writer:a", "admin:sales.eu"] {
            assert_eq!(text.parse::<Grant>().unwrap().to_string(), text);
        }
        for text in ["", "owner", "Reader", "reader:", "reader:a..b", "reader:a.b.c.d.e", ":a", "reader "] {
            assert!(text.parse::<Grant>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_namespace_covers_itself_and_what_is_below_it() {
        let a = "reader:a".parse::<Grant>().unwrap().scope;
        for (name, expected) in
            [("a", true), ("a.b", true), ("a.b.c", true), ("ab", false), ("a-b", false), ("b.a", false), ("", false)]
        {
            assert_eq!(a.covers(name), expected, "{name}");
        }
    }

    #[test]
    fn only_everywhere_contains_everywhere() {
        let within = "reader:a".parse::<Grant>().unwrap().scope;
        assert!(Scope::Everywhere.contains(&Scope::Everywhere) && Scope::Everywhere.contains(&within));
        assert!(!within.contains(&Scope::Everywhere) && within.contains(&within));
    }

    #[test]
    fn a_token_has_one_grant_a_place_and_not_too_many() {
        assert!(grants(&["reader", "writer:a", "admin:b"]).is_ok());
        assert!(grants(&[]).is_err());
        assert!(grants(&["reader:a", "admin:a"]).is_err());
        let many = |count: usize| (0..count).map(|number| format!("reader:n{number}").parse().unwrap()).collect();
        assert!(Grants::new(many(MAX_GRANTS)).is_ok());
        assert!(Grants::new(many(MAX_GRANTS + 1)).is_err());
    }

    #[test]
    fn stored_grants_are_those_that_were_given() {
        let given = grants(&["reader", "writer:a.b"]).unwrap();
        assert_eq!(Grants::of_rows(given.to_rows()), Some(given));
        assert_eq!(Grants::of_rows(vec![GrantRow { namespace: "a..b".to_owned(), role: Role::Reader }]), None);
    }
}
