//! Keys of object stores show nowhere, however requests fail.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::binary::{Served, serve};

const KEY_ID: &str = "AKIAIOSFODNN7KEYIDKEY";
const SECRET: &str = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYSECRET";
const TOKEN: &str = "IQoJb3JpZ2luX2VjSESSION";

/// An object store that repeats in its answers what was sent to it; says what that was.
async fn parrot(status: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heard = Arc::<Mutex<Vec<String>>>::default();
    let of_task = Arc::clone(&heard);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let heard = Arc::clone(&of_task);
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.windows(4).any(|window| window == b"\r\n\r\n") {
                    if !matches!(stream.read_buf(&mut head).await, Ok(1..)) {
                        return;
                    }
                }
                let head = String::from_utf8(head).unwrap();
                let body =
                    format!("<Error><Code>SignatureDoesNotMatch</Code><StringToSign>{head}</StringToSign></Error>");
                let length = body.len();
                let echo = head
                    .lines()
                    .find(|line| line.starts_with("authorization"))
                    .unwrap_or("x: y")
                    .replacen(':', "-echo:", 1);
                heard.lock().unwrap().push(head.clone());
                let answer = format!(
                    "HTTP/1.1 {status} Trouble\r\nContent-Length: {length}\r\nConnection: close\r\n{echo}\r\n\r\n{body}"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    (url, heard)
}

/// A server that writes its log into a file.
struct Logged {
    served: Served,
    folder: TempDir,
}

impl Logged {
    async fn start(endpoint: &str, level: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut serve = serve(&folder.path().join("catalog"));
        serve.stderr(log).envs([
            ("RUST_LOG", level),
            ("AWS_ENDPOINT_URL", endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_SESSION_TOKEN", TOKEN),
            ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
            ("AZURE_STORAGE_ACCOUNT_KEY", "bm8ta2V5LUFaVVJFU0VDUkVU!"),
            ("GOOGLE_SERVICE_ACCOUNT_KEY", "{\"private_key\": \"GOOGLESECRET\", \"client_email\": 5}"),
        ]);
        Self { served: Served::start(serve), folder }
    }

    async fn post(&self, route: &str, body: Value) -> String {
        let request = reqwest::Client::new().post(format!("{}{route}", self.served.url)).json(&body);
        request.send().await.unwrap().text().await.unwrap()
    }

    /// Ends it and says what it has logged.
    fn log(mut self) -> String {
        self.served.child.kill().unwrap();
        self.served.child.wait().unwrap();
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

/// Has requests fail in all ways: what was answered to each.
async fn fail(server: &Logged, web: &str) -> Vec<String> {
    let tables = "/v1/namespaces/n/tables";
    server.post("/v1/namespaces", json!({"name": "n"})).await;
    let fields = json!([{"name": "id", "type": "int64"}]);
    server.post(tables, json!({"name": "t", "location": "s3://bucket/t/", "schema": {"fields": fields}})).await;
    let commits = format!("{tables}/t/commits");
    let mut answers = vec![server.post(tables, json!({"name": "u", "schema_from": "s3://bucket/a.parquet"})).await];
    for path in [
        "s3://bucket/a.parquet",
        "az://box/a.parquet",
        "gs://bucket/a.parquet",
        "https://user:PASSWORDSECRET@host/a.parquet",
        "s3://bucket/a.parquet?X-Amz-Signature=QUERYSECRET",
        "s3://key:BUCKETSECRET@bucket/a.parquet",
        &format!("{web}/a.parquet"),
    ] {
        answers.push(server.post(&commits, json!({"operation": "append", "add": [{"path": path}]})).await);
    }
    let route = format!("{}{tables}/t/orphans", server.served.url);
    answers.push(reqwest::get(route).await.unwrap().text().await.unwrap());
    answers
}

/// What may be shown nowhere.
fn shown_in(text: &str) -> Vec<&'static str> {
    let signs = ["SECRET", SECRET, TOKEN, "AWS4-HMAC-SHA256", "Signature=", "StringToSign"];
    signs.into_iter().filter(|sign| text.contains(sign)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_and_no_log_shows_keys_or_signatures() {
    // An answer of 200 that makes no sense is a failure of the server's own, and logged as such.
    for (status, level) in [("403", "info"), ("200", "info"), ("403", "debug"), ("400", "debug"), ("404", "trace")] {
        let (endpoint, heard) = parrot(status).await;
        let server = Logged::start(&endpoint, level).await;
        let (web, _) = parrot(status).await;
        let answers = fail(&server, &web).await;
        assert!(heard.lock().unwrap().iter().any(|head| head.contains("AWS4-HMAC-SHA256")), "nothing was signed");
        for answer in answers {
            assert_eq!(shown_in(&answer), [""; 0], "{answer}");
            assert!(!answer.contains(KEY_ID) && !answer.contains(&endpoint), "{answer}");
        }
        let log = server.log();
        let lines: Vec<&str> = log.lines().filter(|line| !shown_in(line).is_empty()).collect();
        assert!(lines.is_empty(), "{status} {level}: {lines:#?}");
        if level == "info" {
            assert!(!log.contains(KEY_ID) && !log.contains(&endpoint), "{log}");
        } else {
            assert!(log.contains("an object store did not give what it was asked for"), "{log}");
        }
    }
}
