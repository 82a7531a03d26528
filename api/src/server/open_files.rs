//! How many files the process may have open, of which each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What is kept for the store, for data files and for connections to object stores.
const RESERVED: u64 = 512;

/// Has the system allow as many files as it does at most, which is mostly far more than what a shell gives. Says how many of so
/// many connections there can be: beyond that the store could not open its own files.
pub(super) fn make_room(connections: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let allowed = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    let places = places(connections, allowed);
    if places < connections {
        tracing::warn!(
            places,
            connections,
            "the limit of open files (ulimit -n) leaves fewer connections than are set"
        );
    }
    places
}

/// How many connections there can be where so many files are allowed; `None` is any number.
fn places(connections: usize, files: Option<u64>) -> usize {
    let Some(files) = files else { return connections };
    let places = files.saturating_sub(RESERVED).max(files / 2);
    connections.min(usize::try_from(places).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_keeps_files_of_its_own() {
        assert_eq!(places(4_096, None), 4_096);
        assert_eq!(places(4_096, Some(4_096 + RESERVED)), 4_096);
        assert_eq!(places(4_096, Some(4_095 + RESERVED)), 4_095);
        assert_eq!(places(4_096, Some(256)), 128);
        assert_eq!(places(10, Some(256)), 10);
    }
}
