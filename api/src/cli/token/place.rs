//! Where the tokens are that a command is about.

use std::path::{Path, PathBuf};

use clap::Args;
use prunus_catalog::{Catalog, CatalogOptions};

use crate::cli::CliError;

/// The catalog itself, instead of the server.
#[derive(Debug, Args)]
pub(super) struct Place {
    /// The folder that the catalog is kept in, to do it there and not by a server; none may have it open
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "token_file", "ca_cert"])]
    data_dir: Option<PathBuf>,
}

impl Place {
    /// The folder, if it is not a server that is asked.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }
}

/// The catalog in a folder. Like a server it makes an empty one where there is none.
pub(super) async fn open(folder: &Path) -> Result<Catalog, CliError> {
    let cannot = CliError::operation("opened");
    Catalog::open(folder, CatalogOptions::default()).await.map_err(cannot)
}
