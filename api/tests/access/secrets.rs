//! A secret is in the answer to its creation and in the head of requests, and nowhere else.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::http::{Request, StatusCode};
use prunus_catalog::{Catalog, CatalogOptions};
use serde_json::json;

use crate::api::Api;

/// Where the log is written to.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

fn contains(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

/// The files in a folder that hold a text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files.filter(|path| contains(&std::fs::read(path).unwrap(), text)).map(|path| path.display().to_string()).collect()
}

#[tokio::test]
async fn the_store_and_the_log_have_no_secret() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone());
    // That of the whole process, so that nothing that other tests log goes another way.
    tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
    let api = Api::new().await;
    let new = json!({"name": "hidden", "grants": ["reader:p"]});
    let request = Request::post("/v1/tokens").header("idempotency-key", "k").header("content-type", "application/json");
    let request = request.header("authorization", format!("Bearer {}", api.root)).body(new.to_string().into()).unwrap();
    let secret = api.answer(request).await.json()["secret"].as_str().unwrap().to_owned();
    assert_eq!(api.get("/v1/namespaces", &secret).await.status, StatusCode::OK);
    api.delete("/v1/tokens/hidden", &api.root).await;
    assert_eq!(api.get("/v1/namespaces", &secret).await.status, StatusCode::UNAUTHORIZED);
    let wrong = secret.replace("prunus_", "prunus-");
    api.get("/v1/namespaces", &wrong).await;

    let random = secret.strip_prefix("prunus_").unwrap();
    assert!(!holding(api.folder.path(), "hidden").is_empty(), "what was stored is found");
    assert_eq!(holding(api.folder.path(), random), Vec::<String>::new());
    let log = log.text();
    assert!(log.contains("the token `hidden` is revoked") && log.contains("the token is unknown"), "{log}");
    assert!(!log.contains(random), "{log}");
}

#[tokio::test]
async fn a_creation_that_is_sent_again_is_refused_and_not_replayed() {
    let api = Api::new().await;
    let mut answers = Vec::new();
    for _ in 0..2 {
        let request =
            Request::post("/v1/tokens").header("idempotency-key", "k").header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", api.root));
        let body = json!({"name": "new", "grants": ["reader"]}).to_string();
        answers.push(api.answer(request.body(body.into()).unwrap()).await.status.as_u16());
    }
    assert_eq!(answers, [201, 409]);
}

#[tokio::test]
async fn tokens_are_as_they_were_when_the_catalog_is_opened_again() {
    let api = Api::new().await;
    let (holds, gone) = (api.token("holds", &["reader:p"]).await, api.token("gone", &["reader"]).await);
    api.delete("/v1/tokens/gone", &api.root).await;
    let folder = api.close();
    let again = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
    assert_eq!(again.authenticate(&holds).unwrap().name(), "holds");
    assert_eq!(again.authenticate(&gone).unwrap_err().to_string(), "the token `gone` is revoked");
}
