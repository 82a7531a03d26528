//! Listings: their pages joined, up to a limit.

use clap::Args;
use prunus_catalog::MAX_PAGE_SIZE;

use crate::client::{ClientError, Page};
use crate::wire::{
    AuditPageJson, ChangesJson, FilesJson, JournalJson, ManifestDetailJson, ManifestsJson, NamespacesJson, OrphansJson,
    PlannedJson, SnapshotsJson, TablesJson, TagsJson, TokensJson,
};

use super::count;
use super::progress::Progress;

/// Pages of 10,000: few requests, and answers of a few megabytes.
const PAGE_SIZE: u32 = 10_000;
const _: () = assert!(PAGE_SIZE <= MAX_PAGE_SIZE);

/// How many entries a command shows that shows something else first.
pub(super) const SCREENFUL: u64 = 20;

/// How much of a listing is wanted.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct LimitArgs {
    /// The most entries to list [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
}

impl LimitArgs {
    /// The most entries to list; all where nothing was said.
    pub(super) fn most(self) -> Option<u64> {
        self.limit
    }

    /// The same where people are to see a screenful unless they say otherwise. JSON is for programs, which want all.
    pub(super) fn or_screenful(self, json: bool) -> Option<u64> {
        if json { self.limit } else { self.limit.or(Some(SCREENFUL)) }
    }
}

/// A page of a listing, or several that were joined.
pub(super) trait Listing {
    /// How many entries it has.
    fn entries(&self) -> usize;
    /// What asks for the page after it.
    fn next_page_token(&mut self) -> &mut Option<String>;
    /// Takes the entries of the page after it.
    fn append(&mut self, next: Self);
}

/// Listings that have one list.
macro_rules! listing {
    ($($page:ty: $entries:ident),+ $(,)?) => {$(
        impl Listing for $page {
            fn entries(&self) -> usize {
                self.$entries.len()
            }

            fn next_page_token(&mut self) -> &mut Option<String> {
                &mut self.next_page_token
            }

            fn append(&mut self, next: Self) {
                self.$entries.extend(next.$entries);
            }
        }
    )+};
}

listing! {
    NamespacesJson: namespaces,
    TablesJson: tables,
    FilesJson: files,
    PlannedJson: files,
    SnapshotsJson: snapshots,
    TagsJson: tags,
    TokensJson: tokens,
    OrphansJson: orphans,
    JournalJson: entries,
    AuditPageJson: found,
    ManifestDetailJson: live_files,
}

impl Listing for ManifestsJson {
    fn entries(&self) -> usize {
        self.manifests.len()
    }

    fn next_page_token(&mut self) -> &mut Option<String> {
        &mut self.next_page_token
    }

    fn append(&mut self, next: Self) {
        self.manifests.extend(next.manifests);
        // It is on the last page.
        self.tail = next.tail;
    }
}

impl Listing for ChangesJson {
    fn entries(&self) -> usize {
        self.added.len() + self.removed.len()
    }

    fn next_page_token(&mut self) -> &mut Option<String> {
        &mut self.next_page_token
    }

    fn append(&mut self, next: Self) {
        self.added.extend(next.added);
        self.removed.extend(next.removed);
    }
}

/// The first page with the entries of those after it, up to a limit. A token is left where the limit ended it before its end.
///
/// # Errors
/// [`ClientError`] of the first page that is not answered.
pub(super) async fn join<L: Listing>(
    what: &'static str,
    limit: Option<u64>,
    load: impl AsyncFn(Page) -> Result<L, ClientError>,
) -> Result<L, ClientError> {
    let progress = Progress::of(format!("listing {what}"));
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX).max(1);
    let page_size = |left: usize| Some(u32::try_from(left).unwrap_or(PAGE_SIZE).min(PAGE_SIZE));
    progress
        .during(async {
            let mut joined = load(Page { page_size: page_size(limit), page_token: None }).await?;
            while joined.entries() < limit
                && let Some(token) = joined.next_page_token().take()
            {
                progress.say(format!("listing {what}: {}", count(joined.entries() as u64)));
                let left = limit - joined.entries();
                let mut next = load(Page { page_size: page_size(left), page_token: Some(token) }).await?;
                *joined.next_page_token() = next.next_page_token().take();
                joined.append(next);
            }
            Ok(joined)
        })
        .await
}

/// What is said of a listing that the limit has cut.
pub(super) const LIMIT_NOTE: &str = "... and more: --limit ended the listing\n";

/// The line that ends a listing which the limit has cut; nothing if it is whole.
pub(super) fn cut_note(token: Option<&String>) -> &'static str {
    if token.is_some() { LIMIT_NOTE } else { "" }
}

/// The same where a screenful is the limit unless another was given.
pub(super) fn screenful_note(token: Option<&String>) -> &'static str {
    if token.is_some() { "... and more: `--limit N` lists as many as N\n" } else { "" }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::wire::TableNameJson;

    /// Pages of at most two of `tables` tables; what was asked for, and what came of it.
    async fn list(tables: usize, limit: Option<u64>) -> (Vec<Option<u32>>, TablesJson) {
        let asked = RefCell::new(Vec::new());
        let joined = join("tables", limit, async |page: Page| {
            asked.borrow_mut().push(page.page_size);
            let from = page.page_token.map_or(0, |token| token.parse().unwrap());
            let until = tables.min(from + 2.min(page.page_size.unwrap() as usize));
            let table = |index: usize| TableNameJson { namespace: "n".to_owned(), name: index.to_string() };
            let next_page_token = (until < tables).then(|| until.to_string());
            Ok(TablesJson { tables: (from..until).map(table).collect(), next_page_token })
        });
        let joined = joined.await.unwrap();
        (asked.into_inner(), joined)
    }

    #[tokio::test]
    async fn pages_are_joined_to_the_end() {
        let (asked, joined) = list(5, None).await;
        assert_eq!((asked, joined.tables.len()), (vec![Some(PAGE_SIZE); 3], 5));
        assert_eq!(joined.next_page_token, None);
    }

    #[tokio::test]
    async fn a_limit_ends_a_listing_and_leaves_its_token() {
        let (asked, joined) = list(5, Some(3)).await;
        assert_eq!((asked, joined.tables.len()), (vec![Some(3), Some(1)], 3));
        assert_eq!(joined.next_page_token.as_deref(), Some("3"));
    }

    #[tokio::test]
    async fn a_limit_at_the_end_leaves_no_token() {
        let (_, joined) = list(4, Some(4)).await;
        assert_eq!((joined.tables.len(), joined.next_page_token), (4, None));
    }
}
