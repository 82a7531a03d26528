//! Whether requests need a token.

use std::net::SocketAddr;

use prunus_catalog::Catalog;

use crate::settings::{AccessSettings, Reach, TokenRule};

/// Whether requests need a token. One that has a token is held to it in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// They do.
    Tokens,
    /// They do not, since they come from this machine; those that a browser was led into are refused.
    ThisMachine,
    /// They do not, wherever they come from.
    Open,
}

/// A server that needs tokens cannot start, since nobody could ever have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("requests need a token on {address}, and the catalog has none that holds and is admin of everything")]
pub struct NoAdmin {
    address: SocketAddr,
}

impl AccessSettings {
    /// Whether requests to a listener on this address need a token.
    ///
    /// # Errors
    /// [`NoAdmin`] if they do, and the catalog has no token that holds and is admin of everything.
    pub(crate) fn of_listener(&self, address: SocketAddr, catalog: &Catalog) -> Result<Access, NoAdmin> {
        let access = match self.tokens {
            TokenRule::Auto if is_loopback(address) => Access::ThisMachine,
            TokenRule::Auto | TokenRule::Required => Access::Tokens,
            TokenRule::Off => Access::Open,
        };
        if access == Access::Tokens && !catalog.has_admin() { Err(NoAdmin { address }) } else { Ok(access) }
    }

    /// Who reaches a listener on this address. Where tokens are off nobody is held off who was led here by a browser or a proxy, so
    /// that whoever asks may be anyone, also on a loopback address.
    pub(crate) fn reach(&self, address: SocketAddr) -> Reach {
        let is_guarded = self.tokens == TokenRule::Auto;
        if is_guarded && is_loopback(address) { Reach::ThisMachine } else { Reach::Others }
    }

    /// The same of what is reached without a listener: it is as if that were on a loopback address.
    pub(crate) fn of_no_listener(&self) -> Access {
        match self.tokens {
            TokenRule::Auto => Access::ThisMachine,
            TokenRule::Required => Access::Tokens,
            TokenRule::Off => Access::Open,
        }
    }
}

pub(crate) fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use prunus_catalog::{CatalogOptions, Grants, NewToken};

    use super::*;

    #[test]
    fn this_machine_alone_reaches_a_loopback_address_that_is_guarded() {
        let reach = |tokens, address: &str| AccessSettings { tokens }.reach(address.parse().unwrap());
        assert_eq!(reach(TokenRule::Auto, "127.0.0.1:1"), Reach::ThisMachine);
        assert_eq!(reach(TokenRule::Auto, "[::1]:1"), Reach::ThisMachine);
        assert_eq!(reach(TokenRule::Auto, "0.0.0.0:1"), Reach::Others);
        assert_eq!(reach(TokenRule::Required, "127.0.0.1:1"), Reach::Others);
        assert_eq!(reach(TokenRule::Off, "127.0.0.1:1"), Reach::Others);
    }

    #[tokio::test]
    async fn tokens_are_needed_beyond_loopback() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let of = |tokens: TokenRule, address: &str| {
            AccessSettings { tokens }.of_listener(address.parse().unwrap(), &catalog).ok()
        };
        for address in ["127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert_eq!(of(TokenRule::Auto, address), Some(Access::ThisMachine), "{address}");
        }
        let grants = |grant: &str| Grants::new(vec![grant.parse().unwrap()]).unwrap();
        let token =
            |name: &str, grant| NewToken { name: name.parse().unwrap(), grants: grants(grant), expires_at_ms: None };
        catalog.create_token(token("w", "writer")).await.unwrap();
        catalog.create_token(token("p", "admin:p")).await.unwrap();
        for address in ["0.0.0.0:1", "[::]:1", "192.168.1.7:1"] {
            assert_eq!(of(TokenRule::Auto, address), None, "{address}");
        }
        assert_eq!(of(TokenRule::Required, "127.0.0.1:1"), None);
        assert_eq!(of(TokenRule::Off, "0.0.0.0:1"), Some(Access::Open));
        catalog.create_token(token("a", "admin")).await.unwrap();
        assert_eq!(of(TokenRule::Auto, "0.0.0.0:1"), Some(Access::Tokens));
        assert_eq!(of(TokenRule::Required, "127.0.0.1:1"), Some(Access::Tokens));
        catalog.revoke_token("a".parse().unwrap()).await.unwrap();
        assert_eq!(of(TokenRule::Auto, "0.0.0.0:1"), None);
    }
}
