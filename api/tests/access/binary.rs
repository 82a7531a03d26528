//! The command line with tokens: the real binary.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use prunus::settings::{Settings, TokenRule};
use prunus_catalog::{Catalog, CatalogOptions};
use serde_json::Value;

fn prunus(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prunus"));
    command
        .args(arguments)
        .env_remove("PRUNUS_TOKEN")
        .env_remove("PRUNUS_URL")
        .env_remove("PRUNUS_CA_CERT")
        .env("NO_PROXY", "*");
    command
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Creates a token in a folder, and says what is on standard output.
fn create(folder: &Path, name: &str, grant: &str) -> String {
    let mut command = prunus(&["token", "create", name, "--grant", grant, "--data-dir"]);
    let output = run(command.arg(folder));
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}

/// A server of this process over a folder, where requests need a token.
async fn serve(folder: &Path) -> String {
    let mut settings = Settings::default();
    settings.access.tokens = TokenRule::Required;
    format!("http://127.0.0.1:{}", port_of_server(folder, settings).await)
}

async fn port_of_server(folder: &Path, settings: Settings) -> u16 {
    std::fs::create_dir_all(folder).unwrap();
    let catalog = Catalog::open(folder, CatalogOptions::default()).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(prunus::serve(catalog, listener, settings, std::future::pending()));
    port
}

#[test]
fn the_token_is_alone_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = folder.path().join("made");
    let token = create(&catalog, "ana", "admin");
    assert!(token.starts_with("prunus_") && token.ends_with('\n') && token.trim().len() == 50, "{}", token.len());
    let listed = text(&run(prunus(&["token", "list", "--data-dir"]).arg(&catalog)).stdout);
    assert!(listed.contains("ana") && !listed.contains(token.trim()), "{listed}");
    let json = run(prunus(&["token", "create", "eva", "--grant", "reader:a", "--json", "--data-dir"]).arg(&catalog));
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(json["secret"].as_str().unwrap().starts_with("prunus_") && json["grants"][0] == "reader:a");
    assert!(run(prunus(&["token", "revoke", "eva", "--data-dir"]).arg(&catalog)).status.success());
    let again = run(prunus(&["token", "create", "eva", "--grant", "reader", "--data-dir"]).arg(&catalog));
    assert!(!again.status.success() && text(&again.stderr).contains("token `eva` exists already"), "{again:?}");
}

#[test]
fn a_token_is_written_into_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (catalog, file) = (folder.path().join("catalog"), folder.path().join("op.token"));
    let make = |name: &str| {
        let mut command = prunus(&["token", "create", name, "--grant", "admin", "--to"]);
        let output = run(command.arg(&file).arg("--data-dir").arg(&catalog));
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let (is_made, out, _) = make("op");
    let token = std::fs::read_to_string(&file).unwrap();
    assert!(is_made && out.is_empty() && token.starts_with("prunus_"), "{out}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let (is_made, _, told) = make("other");
    assert!(!is_made && told.contains("op.token` cannot be written") && told.contains("exists"), "{told}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), token);
    std::fs::remove_file(&file).unwrap();
    let (is_made, _, told) = make("op");
    assert!(!is_made && !file.exists() && told.contains("never given twice: choose another"), "{told}");
    assert!(make("other").0);
}

#[test]
fn a_server_beyond_loopback_does_not_start_without_an_admin() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(prunus(&["serve", "--listen", "0.0.0.0:0", "--data-dir"]).arg(folder.path()));
    let told = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{told}");
    assert!(
        told.contains("requests need a token on 0.0.0.0:") && told.contains("prunus token create NAME --grant admin"),
        "{told}"
    );
    assert!(told.contains("--insecure-no-auth"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_show_a_token_of_a_file_or_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = folder.path().join("catalog");
    let token = create(&catalog, "ana", "admin");
    let file = folder.path().join("ana.token");
    std::fs::write(&file, &token).unwrap();
    let url = serve(&catalog).await;
    let none = run(prunus(&["namespace", "list", "--url", &url]).env("PRUNUS_TOKEN", ""));
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("--token-file"), "{none:?}");
    let by_file = run(prunus(&["namespace", "create", "n", "--url", &url, "--token-file"]).arg(&file));
    assert!(by_file.status.success(), "{by_file:?}");
    let listed = run(prunus(&["namespace", "list", "--url", &url]).env("PRUNUS_TOKEN", token.trim()));
    assert_eq!(text(&listed.stdout), "n\n");

    let reader =
        run(prunus(&["token", "create", "eva", "--grant", "reader:n", "--url", &url, "--token-file"]).arg(&file));
    let reader = text(&reader.stdout);
    let refused = run(prunus(&["namespace", "drop", "n", "--url", &url]).env("PRUNUS_TOKEN", reader.trim()));
    assert!(text(&refused.stderr).contains("the role `admin` on namespace `n` is needed"), "{refused:?}");
    assert!(run(prunus(&["namespace", "drop", "n", "--url", &url, "--token-file"]).arg(&file)).status.success());
}

/// Who may create namespaces has one made with the table; a writer makes tables in those that there are.
#[tokio::test(flavor = "multi_thread")]
async fn a_writer_creates_tables_where_there_is_a_namespace() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = folder.path().join("catalog");
    let schema = folder.path().join("schema.json");
    std::fs::write(&schema, r#"{"fields": [{"name": "id", "type": "int64"}]}"#).unwrap();
    create(&catalog, "root", "admin");
    let tokens = ["admin:shop", "writer:shop", "reader:shop"].map(|grant| {
        let name = grant.split(':').next().unwrap();
        create(&catalog, name, grant)
    });
    let [admin, writer, reader] = tokens.each_ref().map(|token| token.trim());
    let url = serve(&catalog).await;
    let make = |token: &str, table: &str| {
        let mut command = prunus(&["table", "create", table, "--url", &url, "--schema"]);
        let output = run(command.arg(&schema).env("PRUNUS_TOKEN", token));
        (output.status.code(), text(&output.stderr))
    };
    let (code, told) = make(writer, "shop.first");
    assert!(code == Some(1) && told.contains("namespace `shop` does not exist"), "{told}");
    assert_eq!(make(admin, "shop.first"), (Some(0), String::new()));
    assert_eq!(make(writer, "shop.second"), (Some(0), String::new()));
    let (code, told) = make(reader, "shop.third");
    assert!(code == Some(1) && told.contains("the role `writer` on namespace `shop` is needed"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_a_server_has_open_is_changed_by_the_server() {
    let folder = tempfile::tempdir().unwrap();
    create(folder.path(), "ana", "admin");
    serve(folder.path()).await;
    let output = run(prunus(&["token", "create", "eva", "--grant", "reader", "--data-dir"]).arg(folder.path()));
    let told = text(&output.stderr);
    assert!(told.contains("in use by another process") && told.contains("without --data-dir"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authority_that_is_named_is_trusted_and_faults_of_tls_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, pair.cert.pem()).unwrap();
    std::fs::write(&key, pair.signing_key.serialize_pem()).unwrap();
    let mut settings = Settings::default();
    let plain = port_of_server(&folder.path().join("plain"), settings.clone()).await;
    (settings.server.tls_cert, settings.server.tls_key) = (Some(certificate.clone()), Some(key.clone()));
    let tls = port_of_server(&folder.path().join("tls"), settings).await;

    let list = |url: String| prunus(&["namespace", "list", "--url", &url]);
    assert!(run(list(format!("https://localhost:{tls}")).arg("--ca-cert").arg(&certificate)).status.success());
    assert!(run(list(format!("https://localhost:{tls}")).env("PRUNUS_CA_CERT", &certificate)).status.success());
    for (url, expected) in [
        (format!("https://localhost:{tls}"), ["no authority that is trusted here", "--ca-cert"]),
        (format!("http://localhost:{tls}"), ["it may speak TLS", "https://"]),
        (format!("https://localhost:{plain}"), ["it speaks no TLS", "http://"]),
    ] {
        let output = run(&mut list(url.clone()));
        let told = text(&output.stderr);
        assert!(output.status.code() == Some(3) && expected.iter().all(|part| told.contains(part)), "{url}: {told}");
    }
    let output = run(list(format!("https://127.0.0.1:{tls}")).arg("--ca-cert").arg(&certificate));
    assert!(text(&output.stderr).contains("is for another name"), "{output:?}");
    let output = run(list(format!("https://localhost:{tls}")).arg("--ca-cert").arg(&key));
    let told = text(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("holds no certificate as PEM"), "{told}");
}

#[test]
fn what_is_no_token_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t");
    std::fs::write(&file, "prunus_mistyped").unwrap();
    let by_file = run(prunus(&["namespace", "list", "--token-file"]).arg(&file));
    let by_environment = run(prunus(&["namespace", "list"]).env("PRUNUS_TOKEN", "prunus_mistyped"));
    for output in [by_file, by_environment] {
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("holds no token") && !told.contains("mistyped"), "{told}");
    }
}
