//! What is done to a catalog from outside while nobody, or only the server, has it open: check, backup, restore.

use std::fs::DirBuilder;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use prunus_manifest::{CheckProgress, CheckReport, Existing};

use crate::access::Token;
use crate::catalog::DATABASE_FILE;
use crate::clock::{Clock, SystemClock};
use crate::{Result, blocking};

/// Makes the folder that a catalog is to be kept in, and those above it, where they are missing: for their owner alone, since what is in
/// it says where all files are and what is in them. Of a folder that is there nothing is changed.
///
/// # Errors
/// Those of the operating system.
pub fn ensure_data_folder(data_folder: &Path) -> io::Result<()> {
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    folders.mode(0o700);
    folders.create(data_folder)
}

/// Checks the catalog in a folder and changes nothing. No process may have it open. `progress` is called now and then, on
/// another thread.
///
/// # Errors
/// [`crate::Error::Store`] if it cannot be opened; whatever is wrong with it stands in the report.
pub async fn check(
    data_folder: &Path,
    mut progress: impl FnMut(CheckProgress) + Send + 'static,
) -> Result<CheckReport> {
    let path = data_folder.join(DATABASE_FILE);
    blocking::run(move || Ok(prunus_manifest::check(&path, &mut progress)?)).await
}

/// Copies the catalog in a folder into a new file, also while a server runs; says how many bytes that has.
///
/// # Errors
/// [`crate::Error::Store`] if there is a file already, or if the copy did not come about.
pub async fn backup(data_folder: &Path, to: &Path) -> Result<u64> {
    let (path, to) = (data_folder.join(DATABASE_FILE), to.to_owned());
    blocking::run(move || Ok(prunus_manifest::backup(&path, &to)?)).await
}

/// Puts a backup in the place of the catalog in a folder, which must exist. No process may have that open. Says where the
/// catalog is now that was there.
///
/// # Errors
/// [`crate::Error::Store`] if there is a catalog that is to stay, if `from` is no backup, or if files cannot be written.
pub async fn restore(data_folder: &Path, from: &Path, existing: Existing) -> Result<Option<PathBuf>> {
    let (path, from) = (data_folder.join(DATABASE_FILE), from.to_owned());
    blocking::run(move || Ok(prunus_manifest::restore(&path, &from, existing)?)).await
}

/// The tokens that hold now in the catalog in a folder, in the order of their names. After a restore these are those that held at the
/// time of the backup, also if they were revoked since.
///
/// # Errors
/// [`crate::Error::Store`], [`crate::Error::StoredGrant`].
pub async fn list_holding_tokens(data_folder: &Path) -> Result<Vec<Token>> {
    let (path, now_ms) = (data_folder.join(DATABASE_FILE), SystemClock.now_ms());
    let rows = blocking::run(move || Ok(prunus_manifest::list_tokens_of(&path)?)).await?;
    let tokens: Vec<Token> = rows.into_iter().map(Token::of_row).collect::<Result<_>>()?;
    Ok(tokens.into_iter().filter(|token| token.holds_at(now_ms)).collect())
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::{Catalog, CatalogOptions, Grants, NewToken};

    #[tokio::test]
    async fn a_token_that_was_revoked_since_the_backup_holds_again_and_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.db");
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        for name in ["early", "late"] {
            let token = NewToken { name: name.parse().unwrap(), grants: Grants::all(), expires_at_ms: None };
            catalog.create_token(token).await.unwrap();
        }
        catalog.revoke_token("early".parse().unwrap()).await.unwrap();
        backup(folder.path(), &copy).await.unwrap();
        catalog.revoke_token("late".parse().unwrap()).await.unwrap();
        drop(catalog);
        let names = async || {
            let tokens = list_holding_tokens(folder.path()).await.unwrap();
            tokens.into_iter().map(|token| token.name).collect::<Vec<_>>()
        };
        assert_eq!(names().await, [""; 0]);
        restore(folder.path(), &copy, Existing::MoveAside).await.unwrap();
        assert_eq!(names().await, ["late"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_made_is_for_its_owner_alone_and_one_that_is_there_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (fresh, there) = (folder.path().join("fresh"), folder.path().join("there"));
        std::fs::create_dir(&there).unwrap();
        std::fs::set_permissions(&there, PermissionsExt::from_mode(0o750)).unwrap();
        for path in [&fresh, &there] {
            ensure_data_folder(path).unwrap();
        }
        assert_eq!((mode(&fresh), mode(&there)), (0o700, 0o750));
    }
}
