//! Exit codes, and what an error says.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::session::{Session, ran};

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_exit_code_1_with_what_to_do_next() {
    let session = Session::new().await;
    let ran = session.run(&["table", "show", "shop.orders"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("shop.orders") || ran.stderr.contains("`shop`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("list` says which"), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_or_argument_that_cannot_be_used_is_exit_code_2() {
    let session = Session::new().await;
    let none = session.file("none.json", "{");
    let empty = session.data("empty");
    std::fs::create_dir(&empty).unwrap();
    for arguments in [
        &["commit", "shop.orders", "--file", "/none/commit.json"][..],
        &["commit", "shop.orders", "--file", &none],
        &["commit", "shop.orders"],
        &["transaction", &none],
        &["table", "alter", "shop.orders"],
        &["table", "alter", "shop.orders", "--add-column", "x"],
        &["explain", "shop.orders", "a.parquet"],
        &["expire", "shop.orders"],
        &["commit", "shop.orders", "--file", &none, "--nan-order", "ieee"],
        &["import", "shop.orders", "/none/x.parquet"],
        &["import", "shop.orders", &empty],
        &["import", "./orders", "shop.orders"],
        &["plan", "shop.orders", "x > 1"],
        &["check", "--data-dir", "/none"],
        &["backup", "--data-dir", "/none", "--to", "/none/b.db"],
        &["files"],
        &["table"],
        &["audit"],
        &["snapshots"],
    ] {
        let ran = session.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
    assert!(session.reached().is_empty(), "nothing is asked of the server");
}

/// A web server that answers everything with this.
fn stranger(answer: &'static str) -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = std::io::Read::read(&mut stream, &mut [0; 4_096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn another_server_is_exit_code_3_whatever_it_answers() {
    for answer in [
        "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnone",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
    ] {
        let address = stranger(answer);
        for arguments in [&["health"][..], &["table", "drop", "a.b"], &["table", "show", "a.b"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_prunus"));
            command.args(arguments).arg("--url").arg(format!("http://{address}"));
            let ran = ran(command);
            assert_eq!(ran.code, Some(3), "{arguments:?}: {ran:?}");
            assert!(ran.stderr.contains("is not a Prunus server"), "{ran:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_json_on_standard_error_where_the_answer_is() {
    let session = Session::new().await;
    let ran = session.run(&["table", "show", "shop.orders", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    let problem: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&problem["status"], &problem["type"]), (&404.into(), &"/problems/not-found".into()));
    let ran = session.run(&["import", "shop.orders", &session.data("a.parquet")]);
    assert!(ran.stderr.contains("`prunus import --create shop.orders PATH...`"), "{}", ran.stderr);
}

#[test]
fn a_server_that_is_not_there_is_exit_code_3_with_how_to_start_it() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for arguments in [&["health"][..], &["table", "list"], &["inspect", "a.b"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prunus"));
        command.args(arguments).arg("--url").arg(format!("http://{free}"));
        let ran = ran(command);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stderr.contains("prunus serve --data-dir"), "{ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_false_statistic_that_an_audit_finds_is_exit_code_5() {
    let session = Session::new().await;
    let (location, from) = (session.data(""), session.data("a.parquet"));
    let declared = ["--property", "verification=declared"];
    session
        .does(&[&["table", "create", "n.t", "--schema-from", &from, "--location", &location], &declared[..]].concat());
    let size = std::fs::metadata(&from).unwrap().len();
    let file =
        format!(r#"{{"path": "a.parquet", "size_bytes": {size}, "row_count": 10, "columns": {{"id": {{"min": 5}}}}}}"#);
    let commit = session.file("c.json", &format!(r#"{{"operation": "append", "add": [{file}]}}"#));
    session.does(&["commit", "n.t", "--file", &commit]);
    let audit = session.run(&["audit", "n.t", "--mode", "scan"]);
    assert_eq!(audit.code, Some(5), "{audit:?}");
    assert_eq!(session.run(&["audit", "show", "n.t", "1"]).code, Some(5));
    let inspected = session.does(&["inspect", "n.t"]);
    assert!(inspected.contains("prunus audit show n.t"), "{inspected}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_is_exit_code_130_and_leaves_nothing_on_the_output() {
    let session = Session::new().await;
    let mut command = session.command(&["commit", "shop.orders", "--file", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It waits for its input to end.
    child.stdin.as_mut().unwrap().write_all(b"{").unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b""[..]));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: interrupted\n");
}
