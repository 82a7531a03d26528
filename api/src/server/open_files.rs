//! How many files the process may have open, of which each connection is one.

/// Where Linux says what a process may have.
const LIMITS: &str = "/proc/self/limits";
/// What is kept for the store, for data files and for connections to object stores.
const RESERVED: u64 = 512;

/// How many of so many connections there can be: beyond that the store could not open its own files.
pub(super) fn leave_room(connections: usize) -> usize {
    let limits = std::fs::read_to_string(LIMITS).unwrap_or_default();
    let places = places(connections, allowed(&limits));
    if places < connections {
        tracing::warn!(
            places,
            connections,
            "the limit of open files (ulimit -n) leaves fewer connections than are set"
        );
    }
    places
}

/// How many files may be open, by what the system says of the process; `None` if it says nothing, or that there is no limit.
fn allowed(limits: &str) -> Option<u64> {
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    files.split_whitespace().next()?.parse().ok()
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
    fn the_limit_is_read_as_the_system_writes_it() {
        let line = |limit: &str| format!("Max processes  9  9  processes\nMax open files  {limit}  524288  files\n");
        assert_eq!(allowed(&line("1024")), Some(1_024));
        assert_eq!(allowed(&line("unlimited")), None);
        assert_eq!(allowed(""), None);
        assert!(allowed(&std::fs::read_to_string(LIMITS).unwrap()).is_some());
    }

    #[test]
    fn the_store_keeps_files_of_its_own() {
        assert_eq!(places(4_096, None), 4_096);
        assert_eq!(places(4_096, Some(4_096 + RESERVED)), 4_096);
        assert_eq!(places(4_096, Some(4_095 + RESERVED)), 4_095);
        assert_eq!(places(4_096, Some(256)), 128);
        assert_eq!(places(10, Some(256)), 10);
    }
}
