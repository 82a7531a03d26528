-- What lets statistics be looked at again, and told by whose word they are.

-- How many entries of the manifest hold a usable statistic of the column that is the writer's word alone. NULL in zones that
-- are older than the column: not counted.
ALTER TABLE manifest_zone ADD COLUMN declared_files INTEGER;

-- What became of looking at the files of a snapshot again. The snapshot is not held by it and may expire meanwhile.
CREATE TABLE audit (
    audit_id INTEGER PRIMARY KEY AUTOINCREMENT,
    table_id INTEGER NOT NULL REFERENCES lake_table ON DELETE CASCADE,
    snapshot_id INTEGER NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('footer', 'scan')),
    sample_fraction REAL NOT NULL CHECK (sample_fraction > 0 AND sample_fraction <= 1),
    sample_seed INTEGER NOT NULL, -- the 64 bits of an unsigned number
    repair INTEGER NOT NULL CHECK (repair IN (0, 1)), -- whether it mends what it finds
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'cancelled', 'failed')),
    message TEXT, -- why it failed
    next_file_id INTEGER NOT NULL, -- the files below it are done
    files_total INTEGER NOT NULL,
    files_checked INTEGER NOT NULL,
    files_missing INTEGER NOT NULL,
    files_changed INTEGER NOT NULL,
    files_unreadable INTEGER NOT NULL,
    statistics_refuted INTEGER NOT NULL,
    statistics_repaired INTEGER NOT NULL,
    findings INTEGER NOT NULL,
    findings_left_out INTEGER NOT NULL, -- those beyond the most that are kept
    created_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    CHECK ((state = 'running') = (finished_at_ms IS NULL))
) STRICT;

CREATE INDEX audit_by_table ON audit (table_id);
CREATE INDEX audit_running ON audit (state) WHERE state = 'running';

CREATE TABLE audit_finding (
    audit_id INTEGER NOT NULL REFERENCES audit ON DELETE CASCADE,
    ordinal INTEGER NOT NULL, -- counts from 1 without gaps
    file_id INTEGER NOT NULL, -- may be forgotten since
    path TEXT NOT NULL,
    field_id INTEGER, -- NULL: the file as a whole
    kind TEXT NOT NULL CHECK (kind IN ('missing', 'changed', 'unreadable', 'refuted', 'schema')),
    statistic TEXT,
    claim TEXT,
    evidence TEXT,
    PRIMARY KEY (audit_id, ordinal)
) STRICT, WITHOUT ROWID;

-- How far what works in the background has come: it has looked at all files below next_file_id. Without a row at none. What is
-- not above 0 is the beginning, another one after each reset.
CREATE TABLE audit_cursor (
    table_id INTEGER NOT NULL REFERENCES lake_table ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('nan_counts', 'loose')),
    next_file_id INTEGER NOT NULL,
    PRIMARY KEY (table_id, kind)
) STRICT, WITHOUT ROWID;
