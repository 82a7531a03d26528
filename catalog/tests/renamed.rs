//! Tables that get other names: who may do what, and where files may lie, goes by the name.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]

use prunus_catalog::{
    AddedFile, AlterRequest, Catalog, CatalogOptions, CommitRequest, Error, Grants, JournalFilter, NewTable, NewToken,
    Once, PageSize, PreparedCommit, SchemaSource, SnapshotId, TableCommit, TableIdent,
};

async fn catalog() -> (Catalog, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
    for namespace in ["a", "b"] {
        catalog.create_namespace(namespace.parse().unwrap(), [].into()).await.unwrap();
    }
    create(&catalog, "a.t").await;
    (catalog, folder)
}

fn ident(name: &str) -> TableIdent {
    name.parse().unwrap()
}

async fn create(catalog: &Catalog, name: &str) {
    let table = NewTable {
        ident: ident(name),
        schema: SchemaSource::Fields(Vec::new()),
        location: None,
        cluster_by: None,
        properties: [("verification".to_owned(), "declared".to_owned())].into(),
    };
    catalog.create_table(table).await.unwrap();
}

async fn rename(catalog: &Catalog, from: &str, to: &str) {
    let request = AlterRequest { rename: Some(ident(to)), ..AlterRequest::default() };
    catalog.alter_table(ident(from), request).await.unwrap();
}

fn append() -> CommitRequest {
    CommitRequest::append([AddedFile { size_bytes: Some(1), ..AddedFile::at("s3://nowhere/f") }])
}

async fn prepared(catalog: &Catalog) -> PreparedCommit {
    catalog.prepare_commit(ident("a.t"), append()).await.unwrap()
}

async fn snapshot_of(catalog: &Catalog, name: &str) -> SnapshotId {
    catalog.load_table(ident(name)).await.unwrap().current_snapshot
}

#[tokio::test]
async fn a_commit_does_not_follow_its_table_to_another_name() {
    let (catalog, _folder) = catalog().await;
    let prepared = prepared(&catalog).await;
    rename(&catalog, "a.t", "b.t").await;
    let refused = catalog.commit_prepared(prepared, Once::unkeyed()).await;
    assert!(matches!(refused, Err(Error::NotFound { .. } | Error::Misnamed { .. })), "{refused:?}");
    assert_eq!(snapshot_of(&catalog, "b.t").await, SnapshotId::EMPTY);
    let journal = catalog.list_journal(JournalFilter::default(), None, PageSize::default()).await.unwrap();
    assert!(journal.rows.iter().all(|row| row.entry.operation != "commit"));
}

#[tokio::test]
async fn a_commit_is_for_no_other_table_that_has_the_name_now() {
    let (catalog, _folder) = catalog().await;
    let prepared = prepared(&catalog).await;
    rename(&catalog, "a.t", "b.t").await;
    create(&catalog, "a.t").await;
    let refused = catalog.commit_prepared(prepared, Once::unkeyed()).await;
    assert!(matches!(refused, Err(Error::SchemaMoved)), "{refused:?}");
    assert_eq!(snapshot_of(&catalog, "a.t").await, SnapshotId::EMPTY);
    assert_eq!(snapshot_of(&catalog, "b.t").await, SnapshotId::EMPTY);
}

#[tokio::test]
async fn no_commit_of_a_transaction_follows_its_table() {
    let (catalog, _folder) = catalog().await;
    create(&catalog, "a.u").await;
    let commits = ["a.u", "a.t"].map(|name| TableCommit { table: ident(name), request: append() });
    let prepared = catalog.prepare_transaction(commits.into()).await.unwrap();
    rename(&catalog, "a.t", "b.t").await;
    let refused = catalog.commit_transaction(prepared, Once::unkeyed()).await;
    assert!(matches!(refused, Err(Error::OfTable { .. })), "{refused:?}");
    assert_eq!(snapshot_of(&catalog, "a.u").await, SnapshotId::EMPTY);
}

/// What an admin of a namespace is told of renamings: the table, and what else there is to say.
async fn told_to_admin_of(catalog: &Catalog, namespace: &str) -> Vec<String> {
    let grants = Grants::new(vec![format!("admin:{namespace}").parse().unwrap()]).unwrap();
    let token = NewToken { name: namespace.parse().unwrap(), grants, expires_at_ms: None };
    let (_, secret) = catalog.create_token(token).await.unwrap();
    let principal = catalog.authenticate(secret.reveal()).unwrap();
    let catalog = catalog.on_behalf_of(principal, String::new());
    let page = catalog.list_journal(JournalFilter::default(), None, PageSize::default()).await.unwrap();
    let renamings = page.rows.into_iter().map(|row| row.entry).filter(|entry| entry.operation == "alter_table");
    let told = |detail| serde_json::Value::Object(detail).to_string();
    renamings.map(|entry| format!("{} {}", entry.namespace.unwrap(), told(entry.detail))).collect()
}

#[tokio::test]
async fn a_renaming_is_told_in_both_namespaces_and_names_no_other_one_to_those_who_do_not_see_it() {
    let (catalog, _folder) = catalog().await;
    rename(&catalog, "a.t", "a.u").await;
    rename(&catalog, "a.u", "b.t").await;
    assert_eq!(told_to_admin_of(&catalog, "a").await, ["a {}", r#"a {"renamed_to":"a.u"}"#]);
    assert_eq!(told_to_admin_of(&catalog, "b").await, ["b {}"]);
    let page = catalog.list_journal(JournalFilter::default(), None, PageSize::default()).await.unwrap();
    let names = |key: &str| page.rows.iter().filter_map(|row| row.entry.detail.get(key).cloned()).collect::<Vec<_>>();
    assert_eq!((names("renamed_to"), names("renamed_from")), (vec!["b.t".into(), "a.u".into()], vec!["a.u".into()]));
}
