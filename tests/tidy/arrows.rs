//! Dependencies point one way: api -> catalog -> {manifest, pruner} -> statistics.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

fn metadata() -> Metadata {
    MetadataCommand::new().manifest_path(super::root().join("Cargo.toml")).exec().unwrap()
}

/// The workspace's packages with those of the workspace that each depends on, but for development.
fn arrows(metadata: &Metadata) -> BTreeMap<&str, BTreeSet<&str>> {
    let packages = metadata.workspace_packages();
    let names: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    packages
        .iter()
        .map(|package| {
            let normal =
                package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
            let inside = normal.map(|dependency| dependency.name.as_str()).filter(|name| names.contains(name));
            (package.name.as_str(), inside.collect())
        })
        .collect()
}

#[test]
fn arrows_point_one_way() {
    let metadata = metadata();
    let expected = [
        ("prunus", vec!["prunus-catalog", "prunus-statistics"]),
        ("prunus-catalog", vec!["prunus-manifest", "prunus-pruner", "prunus-statistics"]),
        ("prunus-manifest", vec!["prunus-statistics"]),
        ("prunus-pruner", vec!["prunus-statistics"]),
        ("prunus-statistics", vec![]),
        ("prunus-tests", vec![]),
    ];
    let expected = expected.map(|(name, inside)| (name, inside.into_iter().collect())).into();
    assert_eq!(arrows(&metadata), expected);
}

/// Everything that a package stands on, directly or not, but for development and building.
fn tree(metadata: &Metadata, name: &str) -> BTreeSet<String> {
    let nodes: BTreeMap<_, _> = metadata.resolve.as_ref().unwrap().nodes.iter().map(|node| (&node.id, node)).collect();
    let start = &metadata.workspace_packages().into_iter().find(|package| package.name.as_str() == name).unwrap().id;
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        for dependency in &nodes[id].deps {
            let normal = dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
            if normal && seen.insert(&dependency.pkg) {
                open.push(&dependency.pkg);
            }
        }
    }
    seen.into_iter().map(|id| metadata[id].name.to_string()).collect()
}

#[test]
fn the_pure_crates_know_no_store_and_no_network() {
    let metadata = metadata();
    for (package, banned) in [
        ("prunus-statistics", vec!["rusqlite", "tokio", "axum", "object_store", "arrow", "reqwest"]),
        ("prunus-pruner", vec!["rusqlite", "tokio", "axum", "object_store", "reqwest"]),
        ("prunus-manifest", vec!["tokio", "axum", "object_store", "reqwest", "sqlparser"]),
        ("prunus-catalog", vec!["axum"]),
    ] {
        let tree = tree(&metadata, package);
        for name in banned {
            assert!(!tree.contains(name), "{package} stands on {name}");
        }
    }
}

#[test]
fn there_is_one_arrow_in_the_tree() {
    let metadata = metadata();
    for name in ["arrow-array", "parquet", "object_store", "sqlparser"] {
        let versions: Vec<_> = metadata.packages.iter().filter(|package| package.name.as_str() == name).collect();
        assert_eq!(versions.len(), 1, "{name}");
    }
}

#[test]
fn the_api_never_names_the_database() {
    let api =
        metadata().workspace_packages().into_iter().find(|package| package.name.as_str() == "prunus").cloned().unwrap();
    assert!(api.dependencies.iter().all(|dependency| dependency.name != "rusqlite"));
}
