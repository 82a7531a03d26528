//! The documents are true to the tree.

/// The paths in backticks: what holds a slash or ends like a file, and no blank or wildcard.
fn paths(text: &str) -> Vec<&str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.contains('/') || code.ends_with(".rs") || code.ends_with(".md") || code.ends_with(".toml"))
        .filter(|code| code.chars().all(|character| character.is_ascii_alphanumeric() || "/._-".contains(character)))
        .filter(|code| !code.starts_with('/'))
        .collect()
}

#[test]
fn every_path_in_the_architecture_exists() {
    let text = std::fs::read_to_string(super::root().join("ARCHITECTURE.md")).unwrap();
    let paths = paths(&text);
    assert!(paths.len() > 30, "only {} paths were found", paths.len());
    for path in paths {
        assert!(super::root().join(path).exists(), "ARCHITECTURE.md names {path}");
    }
}

#[test]
fn the_gate_runs_the_readmes_test_command() {
    let readme = std::fs::read_to_string(super::root().join("README.md")).unwrap();
    let command = "cargo test --workspace";
    assert!(readme.contains(command));
    let gate = std::fs::read_to_string(super::root().join(".ci/run")).unwrap();
    assert!(gate.contains(command));
}
