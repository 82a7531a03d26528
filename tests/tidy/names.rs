//! How files are named.

#[test]
fn no_file_is_named_after_nothing() {
    for path in super::files() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let banned = ["utils.rs", "util.rs", "common.rs", "helpers.rs", "misc.rs", "types.rs", "prelude.rs", "mod.rs"];
        assert!(!banned.contains(&name), "{}", path.display());
    }
}

#[test]
fn no_test_is_ignored() {
    let mark = ["#[", "ignore"].concat();
    for path in super::files().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        let text = std::fs::read_to_string(super::root().join(&path)).unwrap();
        assert!(!text.contains(&mark), "{}", path.display());
    }
}
