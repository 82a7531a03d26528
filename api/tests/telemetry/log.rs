//! The log of the binary, as it stands on its standard error.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A running server.
struct Server {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(format: &str, filter: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut serve = Command::new(env!("CARGO_BIN_EXE_prunus"));
        serve.args(["serve", "--listen", "127.0.0.1:0", "--log", format, "--data-dir"]).arg(folder.path());
        serve.env("RUST_LOG", filter).env_remove("CLICOLOR_FORCE").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = serve.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, address, _folder: folder }
    }

    /// Sends bytes as they are; says what the answer begins with.
    fn send(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(request).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    }

    /// Ends the server as its operator does; what it has logged.
    fn stop(mut self) -> String {
        Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(self.child.wait().unwrap().success(), "{log}");
        log
    }
}

const SECRET: &str = "s3cr3t";

/// Requests with all that a client may put into them: what is told of none of it is a secret or a line break.
fn ask(server: &Server) {
    let heads = [
        format!("GET /v1/namespaces/n%0AINFO%20forged/tables/t?token={SECRET} HTTP/1.1\r\n"),
        format!("GET /healthz?sig={SECRET} HTTP/1.1\r\n"),
        format!("GET /v1/namespaces HTTP/1.1\r\nx-request-id: one\ttwo\r\nx-token: {SECRET}\r\n"),
        format!("DELETE /no/such/route?token={SECRET} HTTP/1.1\r\n"),
        "POST /v1/namespaces HTTP/1.1\r\ncontent-type: text/plain\r\ncontent-length: 0\r\n".to_owned(),
    ];
    for head in heads {
        let rest = format!(
            "host: localhost\r\nauthorization: Bearer {SECRET}\r\ncookie: {SECRET}\r\nconnection: close\r\n\r\n"
        );
        let answer = server.send(format!("{head}{rest}").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    }
}

#[test]
fn a_request_is_a_line_of_json_without_a_secret() {
    let server = Server::start("json", "debug,hyper=info,tower=info");
    ask(&server);
    let log = server.stop();
    assert!(!log.contains(SECRET), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let answered: Vec<&Value> = lines.iter().filter(|line| line["fields"]["message"] == "answered").collect();
    assert_eq!(answered.len(), 5, "{log}");
    let route = |line: &Value| line["spans"][0]["route"].as_str().unwrap().to_owned();
    assert_eq!(route(answered[0]), "/v1/namespaces/{namespace}/tables/{table}", "{log}");
    assert_eq!((&answered[0]["fields"]["status"], &answered[0]["level"]), (&Value::from(401), &Value::from("INFO")));
    assert!(answered[0]["fields"]["duration_ms"].as_f64().unwrap() > 0.0);
    assert_eq!((route(answered[1]), &answered[1]["level"]), ("/healthz".to_owned(), &Value::from("DEBUG")));
    assert_eq!((route(answered[3]), &answered[3]["spans"][0]["method"]), ("none".to_owned(), &Value::from("DELETE")));
    assert!(answered.iter().all(|line| line["spans"][0]["request_id"].is_string()));
}

#[test]
fn a_request_is_a_line_of_text_and_forges_no_other() {
    let server = Server::start("text", "info");
    ask(&server);
    let log = server.stop();
    assert!(!log.contains(SECRET), "{log}");
    assert!(!log.lines().any(|line| line.starts_with("INFO forged")), "{log}");
    // Probes are not told of.
    assert_eq!(log.lines().filter(|line| line.contains(": answered ")).count(), 4, "{log}");
    assert!(log.bytes().all(|byte| byte == b'\n' || !byte.is_ascii_control()), "{log}");
}

#[test]
fn a_log_that_nobody_reads_or_that_is_closed_stops_no_request() {
    let mut server = Server::start("text", "trace");
    // More than a pipe holds, and nobody reads it.
    for _ in 0..400 {
        assert!(
            server
                .send(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
                .starts_with("HTTP/1.1 200")
        );
    }
    drop(server.child.stderr.take());
    for _ in 0..10 {
        assert!(
            server
                .send(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
                .starts_with("HTTP/1.1 200")
        );
    }
    server.child.kill().unwrap();
    server.child.wait().unwrap();
}
