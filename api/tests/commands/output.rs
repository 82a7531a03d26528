//! What is printed: as JSON, with and without colour, and as completions.

use serde_json::{Value, json};

use crate::session::{Session, ran};

/// The answer with what differs from run to run left out.
fn steady(answer: &Value) -> Value {
    match answer {
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| match key.as_str() {
                "committed_at" | "created_at" | "finished_at" | "last_modified" | "etag" | "location" | "table_id" => {
                    None
                }
                "path" => Some((key.clone(), json!(value.as_str()?.rsplit('/').next()))),
                "size_bytes" | "bytes" if value.is_u64() => Some((key.clone(), json!("a number"))),
                _ => Some((key.clone(), steady(value))),
            };
            Value::Object(fields.iter().filter_map(field).collect())
        }
        Value::Array(items) => items.iter().map(steady).collect(),
        other => other.clone(),
    }
}

async fn with_table() -> Session {
    let session = Session::new().await;
    let imported = session.run(&["import", "--create", "n.t", &session.data("")]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn the_json_of_a_snapshot_is_the_answer_with_its_changes() {
    let session = with_table().await;
    let (_, shown) = session.shows(&["snapshots", "show", "n.t", "1", "--limit", "1"]);
    let mut shown = steady(&shown);
    shown["changes"]["next_page_token"].take();
    insta::assert_snapshot!(shown, @r#"{"added_files":4,"bytes":"a number","changes":{"added":[{"added_snapshot":1,"file_id":1,"path":"a.parquet","row_count":10,"size_bytes":"a number"}],"from":0,"next_page_token":null,"removed":[],"to":1},"files":4,"files_of_unknown_rows":0,"operation":"append","parent":0,"removed_files":0,"rows":40,"schema_id":1,"snapshot_id":1,"summary":{"tool":"prunus import"},"tags":[]}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_json_of_listings_has_all_pages_joined() {
    let session = with_table().await;
    let (_, files) = session.shows(&["files", "list", "n.t"]);
    let paths: Vec<_> = steady(&files)["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert_eq!(paths, ["a.parquet", "b.parquet", "c.parquet", "d.parquet"]);
    assert_eq!(files.get("next_page_token"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_json_of_an_inspection_is_answers_and_advice() {
    let session = with_table().await;
    let (_, inspection) = session.shows(&["inspect", "n.t", "--where", "id = 5"]);
    let keys: Vec<&String> = inspection.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["advice", "audits", "columns", "layout", "scan", "snapshots", "table"]);
    insta::assert_snapshot!(steady(&inspection["scan"]["explained"]), @r#"[{"conjuncts":[{"expression":"id = 5","outcomes":["true","false"],"sentence":"`id = 5` may be true: `id` runs from 0 to 9, it has no nulls","statistics":{"id":{"max":9,"max_precision":"bound","min":0,"min_precision":"bound","nan_count":null,"null_count":0,"provenance":{"max":"footer","min":"footer","null_count":"footer"}}}}],"file_id":1,"path":"a.parquet","snapshot_id":1,"verdict":"some"}]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn colour_is_for_terminals_unless_it_is_forced() {
    let session = with_table().await;
    let printed = |variables: &[(&str, &str)]| {
        let mut command = session.command(&["inspect", "n.t"]);
        command.envs(variables.iter().copied());
        ran(command).stdout
    };
    assert!(!printed(&[]).contains('\u{1b}'));
    assert!(printed(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    assert!(!printed(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_has_seen_enough_is_no_error() {
    let session = with_table().await;
    let shell = format!("'{}' plan n.t | true; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_prunus"));
    let mut command = session.command(&[]);
    let url =
        command.get_envs().find(|(name, _)| *name == "PRUNUS_URL").and_then(|(_, value)| value).unwrap().to_owned();
    command = std::process::Command::new("bash");
    command.args(["-c", &shell]).env("PRUNUS_URL", url);
    assert_eq!(ran(command).stdout, "0\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn completions_are_made_for_the_common_shells() {
    let session = Session::new().await;
    for (shell, expected) in [("bash", "complete -F"), ("zsh", "#compdef prunus"), ("fish", "complete -c prunus")] {
        let script = session.does(&["completions", shell]);
        assert!(script.contains(expected) && script.contains("namespace"), "{shell}");
    }
}
