//! How tables are laid out.

use prunus_catalog::TableIdent;
use reqwest::Method;

use super::{Client, Page, Result, SnapshotChoice};
use crate::wire::{ManifestDetailJson, ManifestsJson, RegroupJson, RegroupedJson};

impl Client {
    /// `GET T/manifests`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError), with status 410 if manifests of earlier pages were grouped anew meanwhile.
    pub async fn list_manifests(
        &self,
        table: &TableIdent,
        snapshot: &SnapshotChoice,
        page: &Page,
    ) -> Result<ManifestsJson> {
        self.send(self.get(self.table_url(table, &["manifests"])).query(snapshot).query(page)).await
    }

    /// `GET T/manifests/{id}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError), with status 404 if the table has no such manifest, or none any more.
    pub async fn load_manifest(
        &self,
        table: &TableIdent,
        manifest_id: i64,
        snapshot: &SnapshotChoice,
        page: &Page,
    ) -> Result<ManifestDetailJson> {
        let url = self.table_url(table, &["manifests", &manifest_id.to_string()]);
        self.send(self.get(url).query(snapshot).query(page)).await
    }

    /// `POST T/regroup`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn regroup(&self, table: &TableIdent, regroup: &RegroupJson) -> Result<RegroupedJson> {
        self.send(self.change(Method::POST, self.table_url(table, &["regroup"])).json(regroup)).await
    }
}
