-- Who may do what, and who did what.

-- A token that opens the API. The token itself is stored nowhere: its hash tells whether one that is presented is it.
CREATE TABLE access_token (
    token_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE, -- what its holder is called in the journal; a revoked token keeps its name
    token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32), -- SHA-256
    created_at_ms INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at_ms INTEGER, -- NULL: never
    revoked_at_ms INTEGER -- NULL: it holds
) STRICT;

-- What a token may do, and where.
CREATE TABLE access_grant (
    token_id INTEGER NOT NULL REFERENCES access_token ON DELETE CASCADE,
    namespace TEXT NOT NULL, -- '': everywhere; else there and below. It need not be there
    role TEXT NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
    PRIMARY KEY (token_id, namespace)
) STRICT, WITHOUT ROWID;

-- Every change that was asked for, in the order in which it became durable, of the same transaction as the change. Names stand as
-- they were: what they named may be gone.
CREATE TABLE journal (
    entry_id INTEGER PRIMARY KEY, -- counts up; the newest entry is never removed
    at_ms INTEGER NOT NULL,
    principal TEXT NOT NULL, -- the name of a token; '': nobody had to say
    request_id TEXT NOT NULL,
    operation TEXT NOT NULL, -- as the API names it
    namespace TEXT, -- NULL: of no namespace
    table_name TEXT, -- NULL: of no table
    from_snapshot INTEGER, -- NULL where no snapshot is of it
    to_snapshot INTEGER,
    detail TEXT -- what else there is to say, as JSON
) STRICT;
