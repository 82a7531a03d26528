//! Answers as they are written, held against what the document says of them.

use prunus_catalog::MAX_GRANTS;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{document, public_name};
use crate::wire::{
    AuditPageJson, AuditsJson, ChangesJson, ColumnFilesJson, CommittedJson, ConfigJson, CoverageJson, CreatedTokenJson,
    ExpiredJson, ExplainedConjunctJson, ExplainedJson, FileJson, FilesJson, JournalEntryJson, JournalJson,
    ManifestDetailJson, ManifestsJson, NamespacesJson, OrphansJson, PlanMetricsJson, PlannedFileJson, PlannedJson,
    ProblemJson, ProblemTypeJson, RegroupedJson, SnapshotJson, SnapshotsJson, StatisticsJson, TableJson, TablesJson,
    TagsJson, TokenJson, TokensJson, TransactionCommittedJson, ZoneJson,
};

/// The least answer that a schema allows: what is required, and of that as little as there may be.
fn least(document: &Value, schema: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return least(document, document.pointer(reference.trim_start_matches('#')).unwrap());
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let parts = parts.iter().flat_map(|part| least(document, part).as_object().unwrap().clone());
        return parts.collect::<Map<_, _>>().into();
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    if let Some(first) = schema["oneOf"].get(0).or(schema["anyOf"].get(0)) {
        return least(document, first);
    }
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap());
            let property = |name: &str| (name.to_owned(), least(document, &schema["properties"][name]));
            required.map(property).collect::<Map<_, _>>().into()
        }
        Some("array") => json!([]),
        Some("string") => json!("2024-01-31T00:00:00Z"),
        Some("boolean") => json!(false),
        Some("number") => json!(0.5),
        Some("integer") => json!(0),
        // One of several types, null among them.
        _ => Value::Null,
    }
}

/// The properties of an object that need not be there, where they may be null nevertheless.
fn optional_and_nullable(schema: &Value, found: &mut Vec<String>) {
    for part in schema["allOf"].as_array().into_iter().flatten() {
        optional_and_nullable(part, found);
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let types = [&property["type"], &property["oneOf"], &property["anyOf"]].map(Value::to_string).concat();
        if types.contains("\"null\"") && !required.contains(&json!(name)) {
            found.push(name.clone());
        }
    }
}

fn check<T: Serialize + DeserializeOwned + ToSchema>(document: &Value) {
    let name = T::name();
    let schema = &document["components"]["schemas"][public_name(&name)];
    let least = least(document, schema);
    let answer: T = serde_json::from_value(least.clone()).unwrap_or_else(|error| panic!("{name}: {error}: {least}"));
    assert_eq!(
        serde_json::to_value(answer).unwrap(),
        least,
        "{name}: what is always there is required, and nothing else"
    );
    let mut both = Vec::new();
    optional_and_nullable(schema, &mut both);
    assert!(both.is_empty(), "{name}: these are absent or null: {both:?}");
}

#[test]
fn what_is_always_sent_is_required_and_what_may_be_absent_is_never_null() {
    let document = serde_json::from_str(document()).unwrap();
    macro_rules! check_all {
        ($($answer:ty),* $(,)?) => { $(check::<$answer>(&document);)* };
    }
    check_all!(
        AuditPageJson,
        AuditsJson,
        ChangesJson,
        ColumnFilesJson,
        CommittedJson,
        ConfigJson,
        CoverageJson,
        ExpiredJson,
        ExplainedConjunctJson,
        ExplainedJson,
        FileJson,
        FilesJson,
        JournalEntryJson,
        JournalJson,
        ManifestDetailJson,
        ManifestsJson,
        NamespacesJson,
        OrphansJson,
        PlanMetricsJson,
        PlannedFileJson,
        PlannedJson,
        ProblemJson,
        ProblemTypeJson,
        RegroupedJson,
        SnapshotJson,
        SnapshotsJson,
        StatisticsJson,
        TableJson,
        TablesJson,
        TagsJson,
        TokensJson,
        TokenJson,
        CreatedTokenJson,
        TransactionCommittedJson,
        ZoneJson,
    );
}

#[test]
fn a_token_has_as_many_grants_as_the_catalog_takes() {
    let document: Value = serde_json::from_str(document()).unwrap();
    let grants = &document["components"]["schemas"]["NewToken"]["properties"]["grants"];
    assert_eq!(grants["maxItems"], MAX_GRANTS);
    let told = format!("from 1 to {MAX_GRANTS} grants");
    assert!(grants["description"].as_str().unwrap().contains(&told), "{grants}");
}
