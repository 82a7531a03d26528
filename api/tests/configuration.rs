//! The configuration as an operator sets it: `prunus config show` and `prunus serve` over a file, the environment and flags.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The binary in a folder, with nothing of this process' environment that is a setting.
fn prunus(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prunus"));
    command.current_dir(folder).env_remove("RUST_LOG").env_remove("PRUNUS_CONFIG");
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PRUNUS__")) {
        command.env_remove(name);
    }
    command
}

fn folder_with(file: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("prunus.toml"), file).unwrap();
    folder
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn a_file_the_environment_and_flags_are_over_each_other_and_each_is_named() {
    let folder = folder_with(
        "[limits]\npage_size = 10\nfilter_depth = 9\n[storage.options]\naws_secret_access_key = \"hidden\"\n",
    );
    let shown = prunus(folder.path())
        .args(["config", "show", "--listen", "127.0.0.1:9"])
        .env("PRUNUS__LIMITS__PAGE_SIZE", "20")
        .output()
        .unwrap();
    let text = said(&shown);
    assert_eq!(shown.status.code(), Some(0), "{text}");
    for line in [
        "page_size = 20  # PRUNUS__LIMITS__PAGE_SIZE",
        "filter_depth = 9  # prunus.toml",
        "listen = \"127.0.0.1:9\"  # --listen",
        "# aws_secret_access_key is set, and not shown  # prunus.toml",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(!text.contains("hidden"), "{text}");
}

#[test]
fn a_server_does_not_start_with_an_unknown_key() {
    let folder = folder_with("[limits]\npage_sizes = 10\n");
    let served =
        prunus(folder.path()).args(["serve", "--data-dir", "data", "--listen", "127.0.0.1:0"]).output().unwrap();
    let text = said(&served);
    assert_eq!(served.status.code(), Some(2), "{text}");
    assert!(text.contains("unknown key `page_sizes`") && text.contains("did you mean `page_size`?"), "{text}");
    assert!(!folder.path().join("data").exists());
}

#[test]
fn a_named_file_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for command in [["config", "show"], ["serve", "--data-dir=data"]] {
        let output = prunus(folder.path()).args(command).env("PRUNUS_CONFIG", "gone.toml").output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("the configuration file gone.toml cannot be read"), "{}", said(&output));
    }
}

#[test]
fn a_variable_that_is_no_text_is_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let value = OsString::from_vec(b"/lake/\xff".to_vec());
    let shown = prunus(folder.path()).args(["config", "show"]).env("PRUNUS__STORE__DATA_DIR", value).output().unwrap();
    assert_eq!(shown.status.code(), Some(2));
    assert!(
        said(&shown).contains("the variable PRUNUS__STORE__DATA_DIR of the environment is not UTF-8"),
        "{}",
        said(&shown)
    );
}

#[test]
fn a_server_without_a_folder_says_how_to_name_one() {
    let folder = tempfile::tempdir().unwrap();
    let served = prunus(folder.path()).arg("serve").output().unwrap();
    assert_eq!(served.status.code(), Some(2));
    assert!(said(&served).contains("--data-dir DIR, or `data_dir` in the section [store]"), "{}", said(&served));
}

#[test]
fn a_server_takes_what_the_file_says() {
    let folder = folder_with("[server]\nlisten = \"127.0.0.1:0\"\n[store]\ndata_dir = \"kept\"\n");
    let mut serve = prunus(folder.path()).arg("serve").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serve.stdout.take().unwrap()).read_line(&mut line).unwrap();
    serve.kill().unwrap();
    serve.wait().unwrap();
    assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
    assert!(folder.path().join("kept/prunus.db").exists());
}
