//! Who asks, and what they may do.

use std::fmt;

use prunus_manifest::Role;

use super::grant::{Grant, Grants, Scope};
use crate::name::NamespaceName;
use crate::{Error, Fault, Result};

/// Who asks: a token's holder, or whoever reaches a server that needs none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    name: String,
    grants: Grants,
    /// When what they may do ends, in milliseconds since 1970-01-01T00:00Z; `None`: never.
    ends_at_ms: Option<i64>,
}

/// Where a principal may do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// Everywhere.
    Everywhere,
    /// In these namespaces and those below them, in the order of their names. None is below another.
    Within(Vec<NamespaceName>),
}

/// The role that was needed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needed {
    /// Everywhere.
    Everywhere(Role),
    /// On this namespace, or one that it is below.
    On(Role, NamespaceName),
    /// On some namespace.
    Somewhere(Role),
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everywhere(role) => write!(f, "`{role}` everywhere"),
            Self::On(role, namespace) => write!(f, "`{role}` on namespace `{namespace}`"),
            Self::Somewhere(role) => write!(f, "`{role}` on some namespace"),
        }
    }
}

impl Principal {
    /// Whoever asks where nobody has to say who they are. They may do everything.
    pub fn anyone() -> Self {
        Self { name: String::new(), grants: Grants::all(), ends_at_ms: None }
    }

    pub(super) fn new(name: String, grants: Grants, ends_at_ms: Option<i64>) -> Self {
        Self { name, grants, ends_at_ms }
    }

    /// When a token ends that they give: as asked, and with their own where nothing is.
    ///
    /// # Errors
    /// [`Error::Invalid`] if that is after their own, which would outlive itself so.
    pub(super) fn end_of_given(&self, asked_ms: Option<i64>) -> Result<Option<i64>> {
        match (asked_ms, self.ends_at_ms) {
            (Some(asked_ms), Some(own_ms)) if asked_ms > own_ms => {
                let message = "a token ends no later than the one that it is created with";
                Err(Error::invalid(Fault::at("expires_at", message)))
            }
            (asked_ms, own_ms) => Ok(asked_ms.or(own_ms)),
        }
    }

    /// The name of the token; empty where none was needed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Requires a role on a namespace. It need not be there.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub fn require(&self, role: Role, namespace: &NamespaceName) -> Result<()> {
        let may = self.granting(role).any(|grant| grant.scope.covers(namespace.as_str()));
        or_forbidden(may, || Needed::On(role, namespace.clone()))
    }

    /// Requires a role everywhere.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub fn require_everywhere(&self, role: Role) -> Result<()> {
        or_forbidden(self.may_everywhere(role), || Needed::Everywhere(role))
    }

    /// Requires a role on some namespace.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub fn require_somewhere(&self, role: Role) -> Result<()> {
        or_forbidden(self.granting(role).next().is_some(), || Needed::Somewhere(role))
    }

    /// Whether they have a role everywhere.
    pub fn may_everywhere(&self, role: Role) -> bool {
        self.granting(role).any(|grant| grant.scope == Scope::Everywhere)
    }

    /// Where they have a role, or one that may do more.
    pub fn places(&self, role: Role) -> Places {
        let mut places: Vec<NamespaceName> = Vec::new();
        for grant in self.granting(role) {
            match &grant.scope {
                Scope::Everywhere => return Places::Everywhere,
                Scope::Within(namespace) => places.push(namespace.clone()),
            }
        }
        let is_below = |namespace: &NamespaceName| {
            places.iter().any(|other| other != namespace && Scope::Within(other.clone()).covers(namespace.as_str()))
        };
        let mut outermost: Vec<_> = places.iter().filter(|namespace| !is_below(namespace)).cloned().collect();
        outermost.sort();
        outermost.dedup();
        Places::Within(outermost)
    }

    /// Whether they may see what is in the namespace of this name.
    pub(crate) fn sees(&self, namespace: &str) -> bool {
        self.grants.iter().any(|grant| grant.scope.covers(namespace))
    }

    /// Whether they are admin of all that these grants open.
    pub(super) fn is_admin_of_all(&self, grants: &Grants) -> bool {
        grants.iter().all(|grant| self.is_admin_of(&grant.scope))
    }

    /// Requires that they are admin of all that these grants open: nobody grants beyond themselves.
    pub(super) fn require_all_of(&self, grants: &Grants) -> Result<()> {
        let beyond = grants.iter().find(|grant| !self.is_admin_of(&grant.scope));
        match beyond.map(|grant| &grant.scope) {
            None => Ok(()),
            Some(Scope::Everywhere) => Err(Error::Forbidden(Needed::Everywhere(Role::Admin))),
            Some(Scope::Within(namespace)) => Err(Error::Forbidden(Needed::On(Role::Admin, namespace.clone()))),
        }
    }

    /// The same of a token that may be unknown to them: they are told what they are told of one that there is not.
    pub(super) fn require_to_know(&self, grants: &Grants) -> Result<()> {
        or_forbidden(self.is_admin_of_all(grants), || Needed::Everywhere(Role::Admin))
    }

    fn is_admin_of(&self, scope: &Scope) -> bool {
        self.granting(Role::Admin).any(|grant| grant.scope.contains(scope))
    }

    /// The grants that have the role or one that may do more.
    fn granting(&self, role: Role) -> impl Iterator<Item = &Grant> {
        self.grants.iter().filter(move |grant| grant.role >= role)
    }
}

fn or_forbidden(may: bool, needed: impl FnOnce() -> Needed) -> Result<()> {
    if may { Ok(()) } else { Err(Error::Forbidden(needed())) }
}

impl Places {
    /// Whether the namespace of this name is one of them.
    pub fn include(&self, namespace: &str) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Within(places) => places.iter().any(|place| Scope::Within(place.clone()).covers(namespace)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_ends_with_who_gives_it() {
        let end = |own_ms, asked_ms| {
            let principal = Principal::new("t".to_owned(), Grants::all(), own_ms);
            principal.end_of_given(asked_ms).ok()
        };
        assert_eq!(end(None, None), Some(None));
        assert_eq!(end(None, Some(7)), Some(Some(7)));
        assert_eq!(end(Some(7), None), Some(Some(7)));
        assert_eq!(end(Some(7), Some(7)), Some(Some(7)));
        assert_eq!(end(Some(7), Some(8)), None);
    }

    fn with(grants: &[&str]) -> Principal {
        let grants = grants.iter().map(|text| text.parse().unwrap()).collect();
        Principal::new("t".to_owned(), Grants::new(grants).unwrap(), None)
    }

    #[test]
    fn a_role_may_do_what_lesser_ones_may() {
        let namespace = "a.b".parse().unwrap();
        for (grants, expected) in [
            (&["reader:a"][..], [true, false, false]),
            (&["writer:a.b"], [true, true, false]),
            (&["admin"], [true, true, true]),
            (&["admin:a.b.c"], [false, false, false]),
            (&["reader", "admin:a"], [true, true, true]),
        ] {
            let may = Role::ALL.map(|role| with(grants).require(role, &namespace).is_ok());
            assert_eq!(may, expected, "{grants:?}");
        }
    }

    #[test]
    fn what_is_needed_is_told() {
        let namespace = "a".parse().unwrap();
        let refused = with(&["reader:a"]).require(Role::Writer, &namespace).unwrap_err();
        assert_eq!(refused.to_string(), "the role `writer` on namespace `a` is needed");
        let refused = with(&["admin:a"]).require_everywhere(Role::Admin).unwrap_err();
        assert_eq!(refused.to_string(), "the role `admin` everywhere is needed");
    }

    #[test]
    fn places_are_the_outermost_ones() {
        let within = |names: &[&str]| Places::Within(names.iter().map(|name| name.parse().unwrap()).collect());
        let principal = with(&["reader:b", "writer:a.b", "admin:a", "reader:a-c"]);
        assert_eq!(principal.places(Role::Reader), within(&["a", "a-c", "b"]));
        assert_eq!(principal.places(Role::Admin), within(&["a"]));
        assert_eq!(with(&["reader:a"]).places(Role::Admin), within(&[]));
        assert_eq!(with(&["reader:a", "writer"]).places(Role::Writer), Places::Everywhere);
    }

    #[test]
    fn an_admin_grants_within_what_they_are_admin_of() {
        let check = |grants: &[&str], expected: bool| {
            assert_eq!(
                with(&["admin:a", "reader"]).require_all_of(&with(grants).grants).is_ok(),
                expected,
                "{grants:?}"
            );
        };
        check(&["admin:a"], true);
        check(&["reader:a.b", "writer:a.c"], true);
        check(&["reader:a", "reader:b"], false);
        check(&["reader"], false);
    }
}
