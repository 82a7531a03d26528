-- What keeps history, and lets go of it.

-- Counts the times that files went from the tail into manifests, or from manifests into others, or that forgetting files took
-- some from the tail or took manifests away: together with the newest snapshot it keys what is cached of the list of manifests
-- and of the tail.
ALTER TABLE lake_table ADD COLUMN layout_generation INTEGER NOT NULL DEFAULT 0;

-- Names that people give to snapshots. A snapshot with one is never expired.
CREATE TABLE tag (
    table_id INTEGER NOT NULL REFERENCES lake_table ON DELETE CASCADE,
    name TEXT NOT NULL,
    snapshot_id INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (table_id, name),
    FOREIGN KEY (table_id, snapshot_id) REFERENCES snapshot
) STRICT, WITHOUT ROWID;

CREATE INDEX tag_by_snapshot ON tag (table_id, snapshot_id);

-- The entries of a manifest whose files no snapshot names any more, so that their rows in data_file are gone. The manifest's
-- blocks still have them, since blocks never change: here stands that they are not live.
CREATE TABLE forgotten_entry (
    manifest_id INTEGER NOT NULL REFERENCES manifest ON DELETE CASCADE,
    file_id INTEGER NOT NULL,
    removed_snapshot INTEGER NOT NULL,
    PRIMARY KEY (manifest_id, file_id)
) STRICT, WITHOUT ROWID;

-- Replies to requests that came with an idempotency key, kept for as long as such a request may be sent again.
CREATE TABLE stored_reply (
    scope TEXT NOT NULL, -- who asked, and which route
    idempotency_key TEXT NOT NULL,
    content_hash TEXT NOT NULL, -- xxh3 of the request's content, 128 bits in hexadecimal digits
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    stored_at_ms INTEGER NOT NULL,
    PRIMARY KEY (scope, idempotency_key)
) STRICT;

CREATE INDEX stored_reply_by_time ON stored_reply (stored_at_ms);

-- Begins with the hash, so that a path is found whichever table names it.
DROP INDEX data_file_by_path;
CREATE INDEX data_file_by_path ON data_file (path_hash, table_id);

CREATE INDEX data_file_tail_removed ON data_file (table_id, removed_snapshot)
    WHERE manifest_id IS NULL AND removed_snapshot IS NOT NULL;

-- xxh3 over what never changes in the row, so that a flipped bit in it is noticed. NULL in rows that are older than the
-- column: those are not checked.
ALTER TABLE data_file ADD COLUMN checksum INTEGER;

-- A manifest that goes takes its zones along, which are in another order.
CREATE INDEX manifest_zone_by_manifest ON manifest_zone (manifest_id);
