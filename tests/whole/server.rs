//! A server on loopback with a data folder of its own, and a client for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prunus_catalog::{Catalog, CatalogOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::clock::SetClock;

/// A running server. Its data folder and the folder for data files go with it.
pub(crate) struct Server {
    url: String,
    client: reqwest::Client,
    folder: TempDir,
    catalog: Catalog,
}

/// An answer: status and body, null where there is none.
pub(crate) type Answer = (u16, Value);

impl Server {
    /// Starts a server whose manifests are made of `manifest_target_files` files.
    pub(crate) async fn start(manifest_target_files: u32) -> Self {
        Self::start_with(CatalogOptions { manifest_target_files, ..CatalogOptions::default() }).await
    }

    /// Starts a server whose time a test sets; its manifests are made of two files.
    pub(crate) async fn start_at(clock: &Arc<SetClock>) -> Self {
        let clock = Arc::clone(clock);
        Self::start_with(CatalogOptions { manifest_target_files: 2, clock, ..CatalogOptions::default() }).await
    }

    pub(crate) async fn start_with(options: CatalogOptions) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), options).await
    }

    /// Starts a server on what another one has so far.
    pub(crate) async fn start_from(other: &Self, options: CatalogOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("store")).unwrap();
        prunus_catalog::backup(&other.store(), &folder.path().join("store").join("prunus.db")).await.unwrap();
        Self::start_in(folder, options).await
    }

    async fn start_in(folder: TempDir, options: CatalogOptions) -> Self {
        std::fs::create_dir_all(folder.path().join("store")).unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        let catalog = Catalog::open(&folder.path().join("store"), options).await.unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(prunus::serve(
            catalog.clone(),
            listener,
            prunus::settings::Settings::default(),
            std::future::pending(),
        ));
        Self { url, client: reqwest::Client::new(), folder, catalog }
    }

    /// The URL of a route, for clients of another kind.
    pub(crate) fn url(&self, route: &str) -> String {
        format!("{}{route}", self.url)
    }

    /// The folder for data files.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder that the catalog is kept in.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// The path of a data file.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> String {
        self.data().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) async fn get(&self, route: &str) -> Answer {
        self.answer(self.client.get(format!("{}{route}", self.url))).await
    }

    pub(crate) async fn delete(&self, route: &str) -> Answer {
        self.answer(self.client.delete(format!("{}{route}", self.url))).await
    }

    pub(crate) async fn post(&self, route: &str, body: &Value) -> Answer {
        self.answer(self.client.post(format!("{}{route}", self.url)).json(body)).await
    }

    pub(crate) async fn put(&self, route: &str, body: &Value) -> Answer {
        self.answer(self.client.put(format!("{}{route}", self.url)).json(body)).await
    }

    pub(crate) async fn patch(&self, route: &str, body: &Value) -> Answer {
        self.answer(self.client.patch(format!("{}{route}", self.url)).json(body)).await
    }

    /// Changes `n.NAME` and waits until what follows in the background is done.
    pub(crate) async fn alter(&self, name: &str, body: &Value) -> Value {
        let (status, table) = self.patch(&format!("/v1/namespaces/n/tables/{name}"), body).await;
        assert_eq!(status, 200, "{body} {table}");
        self.catalog.wait_for_maintenance().await.unwrap();
        table
    }

    /// Waits until what is due in the background is done.
    pub(crate) async fn wait_for_maintenance(&self) {
        self.catalog.wait_for_maintenance().await.unwrap();
    }

    /// Copies the catalog and checks the copy.
    pub(crate) async fn assert_sound(&self) {
        let folder = tempfile::tempdir().unwrap();
        prunus_catalog::backup(&self.store(), &folder.path().join("prunus.db")).await.unwrap();
        let report = prunus_catalog::check(folder.path(), |_| ()).await.unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    }

    /// A request of which a test decides more than route and body, and reads the answer itself.
    pub(crate) fn request(&self, method: reqwest::Method, route: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{route}", self.url))
    }

    /// Posts a body that need not be JSON.
    pub(crate) async fn post_text(&self, route: &str, content_type: &str, body: String) -> Answer {
        let request = self.client.post(format!("{}{route}", self.url)).header("content-type", content_type);
        self.answer(request.body(body)).await
    }

    /// Sends a request under an idempotency key. Says whether the answer is one that was given before.
    pub(crate) async fn send_keyed(
        &self,
        method: reqwest::Method,
        route: &str,
        key: &str,
        body: Option<&Value>,
    ) -> (Answer, bool) {
        let mut request = self.client.request(method, format!("{}{route}", self.url)).header("idempotency-key", key);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.unwrap();
        let replayed = response.headers().get("idempotency-replayed").is_some_and(|value| value == "true");
        (self.read(response).await, replayed)
    }

    /// Sends a request as it is written: its status, content type and body.
    pub(crate) async fn send_raw(
        &self,
        method: reqwest::Method,
        route: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> (u16, String, Vec<u8>) {
        let request = self.client.request(method, format!("{}{route}", self.url)).body(body);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let response = request.send().await.unwrap();
        let content_type = response.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        (status, content_type.unwrap_or_default(), response.bytes().await.unwrap().to_vec())
    }

    async fn answer(&self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        self.read(response).await
    }

    async fn read(&self, response: reqwest::Response) -> Answer {
        let status = response.status().as_u16();
        let problem = response.headers().get("content-type").is_some_and(|kind| kind == "application/problem+json");
        let is_of_iceberg = response.url().path().starts_with("/iceberg/");
        assert_eq!(status >= 400 && !is_of_iceberg, problem, "errors, and only errors, are problem+json");
        let text = response.text().await.unwrap();
        (status, if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() })
    }

    /// Creates the namespace `n` where there is none, and the table `n.NAME`.
    pub(crate) async fn create_table(&self, name: &str, mut body: Value) -> Value {
        let (status, _) = self.post("/v1/namespaces", &json!({"name": "n"})).await;
        assert!(status == 201 || status == 409);
        body["name"] = name.into();
        let (status, table) = self.post("/v1/namespaces/n/tables", &body).await;
        assert_eq!(status, 201, "{table}");
        table
    }

    /// Creates the table `n.NAME` of one column, whose files are not read and need not be there.
    pub(crate) async fn create_declared(&self, name: &str) -> Value {
        let properties = json!({"verification": "declared"});
        let fields = json!([{"name": "id", "type": "int64"}]);
        let location = self.path("");
        let body = json!({"schema": {"fields": fields}, "properties": properties, "location": location});
        self.create_table(name, body).await
    }

    /// Adds and removes files of `n.NAME` by their names, as one commit; nothing is known of them but that their only value of
    /// `id` is the number that stands for their first letter.
    pub(crate) async fn change(&self, name: &str, add: &[&str], remove: &[&str]) -> Value {
        let file = |name: &&str| {
            let id = name.as_bytes()[0];
            json!({"path": name, "size_bytes": 7, "row_count": 1, "columns": {"id": {"min": id, "max": id, "null_count": 0}}})
        };
        let add: Vec<Value> = add.iter().map(file).collect();
        self.commit(name, json!({"operation": "overwrite", "add": add, "remove": remove})).await
    }

    /// Commits to `n.NAME` and waits until what is due to be sealed is sealed.
    pub(crate) async fn commit(&self, name: &str, body: Value) -> Value {
        let (status, answer) = self.try_commit(name, &body).await;
        assert_eq!(status, 201, "{answer}");
        self.catalog.wait_for_maintenance().await.unwrap();
        answer
    }

    pub(crate) async fn try_commit(&self, name: &str, body: &Value) -> Answer {
        self.post(&format!("/v1/namespaces/n/tables/{name}/commits"), body).await
    }

    /// Plans a scan of `n.NAME`, all pages of it: the first page's answer with the files of all.
    pub(crate) async fn plan(&self, name: &str, body: &Value) -> Value {
        let route = format!("/v1/namespaces/n/tables/{name}/plan");
        let (status, mut first) = self.post(&route, body).await;
        assert_eq!(status, 200, "{body} {first}");
        let mut token = first["next_page_token"].take();
        while !token.is_null() {
            let mut next = body.clone();
            next["page_token"] = token;
            let (status, mut page) = self.post(&route, &next).await;
            assert_eq!(status, 200, "{page}");
            let files = first["files"].as_array_mut().unwrap();
            files.extend(page["files"].as_array().unwrap().iter().cloned());
            token = page["next_page_token"].take();
        }
        first
    }
}

/// An append of files of which nothing is declared.
pub(crate) fn append(paths: impl IntoIterator<Item = impl AsRef<str>>) -> Value {
    let files: Vec<Value> = paths.into_iter().map(|path| json!({"path": path.as_ref()})).collect();
    json!({"operation": "append", "add": files})
}

/// The names of a plan's files, without their folders, sorted.
pub(crate) fn names(plan: &Value) -> Vec<String> {
    let mut names = names_in(&plan["files"]);
    names.sort();
    names
}

/// The names of files in a list, without their folders, in its order.
pub(crate) fn names_in(files: &Value) -> Vec<String> {
    let name = |file: &Value| file["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    files.as_array().unwrap().iter().map(name).collect()
}

/// The messages of a problem's faults, each behind its path and column where it has them.
pub(crate) fn faults(problem: &Value) -> Vec<String> {
    let place = |fault: &Value, key: &str| {
        fault[key].as_str().map(|text| format!("{}: ", text.rsplit('/').next().unwrap_or(text)))
    };
    problem["faults"]
        .as_array()
        .unwrap_or_else(|| panic!("{problem}"))
        .iter()
        .map(|fault| {
            let path = place(fault, "path").unwrap_or_default();
            let column = place(fault, "column").unwrap_or_default();
            format!("{path}{column}{}", fault["message"].as_str().unwrap())
        })
        .collect()
}
