//! What must be right before a server listens: who is let in, and by which certificate.

use std::net::SocketAddr;

use prunus_catalog::Catalog;

use super::tls::{Tls, TlsError};
use crate::access::{Access, NoAdmin};
use crate::settings::{Reach, Settings};

/// How a server is entered.
pub(crate) struct Entrance {
    pub(super) access: Access,
    /// `None` for plain text.
    pub(super) tls: Option<Tls>,
}

/// Why a server cannot be entered.
#[derive(Debug, thiserror::Error)]
pub enum EntranceError {
    /// It needs tokens, and nobody has one.
    #[error(transparent)]
    NoAdmin(#[from] NoAdmin),
    /// The files of the certificate and its key are no good.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// It would be open to more than it was set up for.
    #[error(
        "the server is reached from beyond this machine at {address}, and where files may lie was settled for {listen}: set \
         server.listen to where it listens, or storage.allow"
    )]
    Reach {
        /// Where it listens.
        address: SocketAddr,
        /// Where the settings say that it does.
        listen: SocketAddr,
    },
}

impl Entrance {
    /// As is set, of a server that listens on this address.
    pub(crate) fn of(settings: &Settings, address: SocketAddr, catalog: &Catalog) -> Result<Self, EntranceError> {
        let listen = settings.server.listen;
        let (settled, reach) = (settings.access.reach(listen), settings.access.reach(address));
        // With a list it does not matter who reaches the server.
        if settings.storage.allow.is_none() && (settled, reach) == (Reach::ThisMachine, Reach::Others) {
            return Err(EntranceError::Reach { address, listen });
        }
        let access = settings.access.of_listener(address, catalog)?;
        Ok(Self { access, tls: Tls::of(&settings.server)? })
    }

    /// Whether requests need a token.
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// How URLs of the server begin.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

#[cfg(test)]
mod tests {
    use prunus_catalog::{CatalogOptions, Grants, NewToken};

    use super::*;

    async fn catalog(folder: &tempfile::TempDir) -> Catalog {
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let grants = Grants::new(vec!["admin".parse().unwrap()]).unwrap();
        catalog.create_token(NewToken { name: "a".parse().unwrap(), grants, expires_at_ms: None }).await.unwrap();
        catalog
    }

    #[tokio::test]
    async fn a_server_is_open_to_no_more_than_its_locations_were_settled_for() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = catalog(&folder).await;
        let is_refused = |settings: &Settings, address: &str| {
            let entrance = Entrance::of(settings, address.parse().unwrap(), &catalog);
            matches!(entrance, Err(EntranceError::Reach { .. }))
        };
        let mut settings = Settings::default();
        assert!(!is_refused(&settings, "127.0.0.1:1") && !is_refused(&settings, "[::1]:1"));
        assert!(is_refused(&settings, "0.0.0.0:1") && is_refused(&settings, "192.0.2.1:1"));
        settings.storage.allow = Some(Vec::new());
        assert!(!is_refused(&settings, "0.0.0.0:1"));
        settings.storage.allow = None;
        settings.server.listen = "0.0.0.0:1".parse().unwrap();
        assert!(!is_refused(&settings, "0.0.0.0:1") && !is_refused(&settings, "127.0.0.1:1"));
    }
}
