-- The first form of the store. Applied in one transaction; the number of the file becomes the database's user_version.
-- Times are milliseconds since 1970-01-01T00:00Z. NULL is "unknown" or "none", never zero. AUTOINCREMENT where an id is
-- given out: ids are keys of caches and page tokens and are never given again. Every BLOB carries a checksum.

CREATE TABLE namespace (
    namespace_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    properties TEXT NOT NULL, -- JSON object of strings
    created_at_ms INTEGER NOT NULL
) STRICT;

-- A table of the lakehouse; TABLE itself is a word of SQL. Deleting the row forgets all that hangs on it.
CREATE TABLE lake_table (
    table_id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace_id INTEGER NOT NULL REFERENCES namespace,
    name TEXT NOT NULL,
    uuid TEXT NOT NULL UNIQUE,
    location TEXT,
    current_snapshot INTEGER NOT NULL, -- 0: the empty table
    schema_id INTEGER NOT NULL,
    last_field_id INTEGER NOT NULL,
    statistics_generation INTEGER NOT NULL,
    tail_files INTEGER NOT NULL, -- entries that are in no manifest yet, removed ones counted
    cluster_by TEXT NOT NULL, -- JSON array of field ids
    properties TEXT NOT NULL, -- JSON object of strings
    created_at_ms INTEGER NOT NULL,
    UNIQUE (namespace_id, name)
) STRICT;

CREATE TABLE table_schema (
    table_id INTEGER NOT NULL REFERENCES lake_table ON DELETE CASCADE,
    schema_id INTEGER NOT NULL,
    schema TEXT NOT NULL, -- JSON; the store does not look inside
    PRIMARY KEY (table_id, schema_id)
) STRICT;

-- The columns of a schema that carry statistics.
CREATE TABLE schema_column (
    table_id INTEGER NOT NULL,
    schema_id INTEGER NOT NULL,
    field_id INTEGER NOT NULL,
    column_type TEXT NOT NULL,
    PRIMARY KEY (table_id, schema_id, field_id),
    FOREIGN KEY (table_id, schema_id) REFERENCES table_schema ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Totals are of the live files after the commit; rows sums the files whose row count is known.
CREATE TABLE snapshot (
    table_id INTEGER NOT NULL REFERENCES lake_table ON DELETE CASCADE,
    snapshot_id INTEGER NOT NULL,
    parent INTEGER NOT NULL, -- 0: the empty table
    operation TEXT NOT NULL CHECK (operation IN ('append', 'delete', 'replace', 'overwrite')),
    committed_at_ms INTEGER NOT NULL, -- never before the parent's
    schema_id INTEGER NOT NULL,
    added_files INTEGER NOT NULL,
    removed_files INTEGER NOT NULL,
    files INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    files_of_unknown_rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    summary TEXT NOT NULL, -- JSON object of strings
    PRIMARY KEY (table_id, snapshot_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX snapshot_by_time ON snapshot (table_id, committed_at_ms, snapshot_id);

-- An immutable group of entries. Only the sums of the removed ones change; removed_files counts the removals, so it keys
-- what is cached of them. rows sums the files whose row count is known.
CREATE TABLE manifest (
    manifest_id INTEGER PRIMARY KEY AUTOINCREMENT,
    table_id INTEGER NOT NULL REFERENCES lake_table ON DELETE CASCADE,
    files INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    files_of_unknown_rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    first_added_snapshot INTEGER NOT NULL,
    last_added_snapshot INTEGER NOT NULL,
    removed_files INTEGER NOT NULL,
    removed_rows INTEGER NOT NULL,
    removed_files_of_unknown_rows INTEGER NOT NULL,
    removed_bytes INTEGER NOT NULL,
    CHECK (removed_files <= files AND removed_rows <= rows AND removed_files_of_unknown_rows <= files_of_unknown_rows
        AND removed_bytes <= bytes)
) STRICT;

CREATE INDEX manifest_by_table ON manifest (table_id);

-- The names and ids of the leaves that a data file holds. Most files of a table share one, so it stands once.
CREATE TABLE leaf_set (
    leaf_set_id INTEGER PRIMARY KEY AUTOINCREMENT,
    table_id INTEGER NOT NULL REFERENCES lake_table ON DELETE CASCADE,
    hash INTEGER NOT NULL, -- xxh3 of leaves
    leaves BLOB NOT NULL -- MessagePack
) STRICT;

CREATE INDEX leaf_set_by_hash ON leaf_set (table_id, hash);

-- manifest_id and leaf_set_id have no foreign key: without an index on them, which would cost every file, forgetting a
-- manifest would read every file.
CREATE TABLE data_file (
    file_id INTEGER PRIMARY KEY AUTOINCREMENT,
    table_id INTEGER NOT NULL REFERENCES lake_table ON DELETE CASCADE,
    path TEXT NOT NULL,
    path_hash INTEGER NOT NULL, -- xxh3 of path; collisions are told apart by the text
    size_bytes INTEGER NOT NULL,
    row_count INTEGER,
    etag TEXT,
    last_modified_ms INTEGER,
    leaf_set_id INTEGER NOT NULL,
    partition BLOB NOT NULL, -- MessagePack: field id to value or null
    added_snapshot INTEGER NOT NULL,
    removed_snapshot INTEGER,
    manifest_id INTEGER -- NULL while in the tail
) STRICT;

CREATE INDEX data_file_by_path ON data_file (table_id, path_hash);
-- Ends in the row id, as every index does: the files of a table in the order of file_id.
CREATE INDEX data_file_by_table ON data_file (table_id);
CREATE INDEX data_file_tail ON data_file (table_id) WHERE manifest_id IS NULL;
CREATE INDEX data_file_removed ON data_file (manifest_id, removed_snapshot) WHERE removed_snapshot IS NOT NULL;

-- The statistics of the files in the tail, until they are sealed into blocks. Apart from data_file: a row that lost them
-- would leave its page half empty for ever, pages of these rows are free for others.
CREATE TABLE tail_statistics (
    file_id INTEGER PRIMARY KEY REFERENCES data_file ON DELETE CASCADE,
    statistics BLOB NOT NULL -- MessagePack
) STRICT;

-- file_id, row_count, size_bytes and added_snapshot of the entries of a manifest.
CREATE TABLE entry_block (
    manifest_id INTEGER PRIMARY KEY REFERENCES manifest ON DELETE CASCADE,
    block BLOB NOT NULL
) STRICT;

-- The usable bounds and counts of a column over the entries of a manifest, in their order.
CREATE TABLE column_block (
    manifest_id INTEGER NOT NULL REFERENCES manifest ON DELETE CASCADE,
    field_id INTEGER NOT NULL,
    column_type TEXT NOT NULL,
    block BLOB NOT NULL,
    PRIMARY KEY (manifest_id, field_id)
) STRICT;

-- Precision, provenance and estimates of the same: what only inspection reads.
CREATE TABLE column_detail (
    manifest_id INTEGER NOT NULL REFERENCES manifest ON DELETE CASCADE,
    field_id INTEGER NOT NULL,
    block BLOB NOT NULL,
    PRIMARY KEY (manifest_id, field_id)
) STRICT;

-- The zone map of a column over a manifest. In the order of a planner's first pass: all manifests of one column.
CREATE TABLE manifest_zone (
    table_id INTEGER NOT NULL,
    field_id INTEGER NOT NULL,
    manifest_id INTEGER NOT NULL REFERENCES manifest ON DELETE CASCADE,
    column_type TEXT NOT NULL,
    zone BLOB NOT NULL, -- MessagePack
    PRIMARY KEY (table_id, field_id, manifest_id)
) STRICT, WITHOUT ROWID;
