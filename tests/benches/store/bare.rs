//! The floor of a commit: the rows that it leaves behind, inserted into tables of the same shape by SQLite alone, with nothing
//! looked up, compared or checked.

use std::path::Path;

use rusqlite::{Connection, params};

/// Where a commit leaves its rows, with the indexes that it keeps up.
const TABLES: &str = "
    CREATE TABLE lake_table (table_id INTEGER PRIMARY KEY, current_snapshot INTEGER NOT NULL, tail_files INTEGER NOT NULL)
        STRICT;
    INSERT INTO lake_table VALUES (1, 0, 0);
    CREATE TABLE snapshot (table_id INTEGER NOT NULL, snapshot_id INTEGER NOT NULL, parent INTEGER NOT NULL,
        operation TEXT NOT NULL, committed_at_ms INTEGER NOT NULL, schema_id INTEGER NOT NULL, added_files INTEGER NOT NULL,
        removed_files INTEGER NOT NULL, files INTEGER NOT NULL, rows INTEGER NOT NULL, files_of_unknown_rows INTEGER NOT NULL,
        bytes INTEGER NOT NULL, summary TEXT NOT NULL, PRIMARY KEY (table_id, snapshot_id)) STRICT, WITHOUT ROWID;
    CREATE INDEX snapshot_by_time ON snapshot (table_id, committed_at_ms, snapshot_id);
    CREATE TABLE data_file (file_id INTEGER PRIMARY KEY AUTOINCREMENT, table_id INTEGER NOT NULL, path TEXT NOT NULL,
        path_hash INTEGER NOT NULL, size_bytes INTEGER NOT NULL, row_count INTEGER, etag TEXT, last_modified_ms INTEGER,
        leaf_set_id INTEGER NOT NULL, partition BLOB NOT NULL, added_snapshot INTEGER NOT NULL, removed_snapshot INTEGER,
        manifest_id INTEGER) STRICT;
    CREATE INDEX data_file_by_path ON data_file (path_hash, table_id);
    CREATE INDEX data_file_by_table ON data_file (table_id);
    CREATE INDEX data_file_tail ON data_file (table_id) WHERE manifest_id IS NULL;
    CREATE TABLE tail_statistics (file_id INTEGER PRIMARY KEY, statistics BLOB NOT NULL) STRICT;
    CREATE TABLE journal (entry_id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, principal TEXT NOT NULL, request_id TEXT NOT NULL,
        operation TEXT NOT NULL, namespace TEXT, table_name TEXT, from_snapshot INTEGER, to_snapshot INTEGER, detail TEXT) STRICT;
";

const INSERT_SNAPSHOT: &str = "INSERT INTO snapshot VALUES (1, ?1, ?1 - 1, 'append', ?1, 1, 1, 0, ?1, ?1, 0, ?1, '{}')";
const INSERT_FILE: &str = "
    INSERT INTO data_file (table_id, path, path_hash, size_bytes, row_count, leaf_set_id, partition, added_snapshot)
    VALUES (1, ?1, ?2, 100000000, 1000, 1, x'8000000000000000', ?3)";
const INSERT_STATISTICS: &str = "INSERT INTO tail_statistics VALUES (?1, ?2)";
const INSERT_ENTRY: &str = "
    INSERT INTO journal (at_ms, principal, request_id, operation, namespace, table_name, from_snapshot, to_snapshot, detail)
    VALUES (?1, '', '', 'commit', 'bench', 'bench', ?1 - 1, ?1, '{\"added_files\":1,\"operation\":\"append\"}')";
const UPDATE_TABLE: &str = "UPDATE lake_table SET current_snapshot = ?1, tail_files = ?1 WHERE table_id = 1";

pub(crate) struct Bare {
    connection: Connection,
    next: i64,
    statistics: Vec<u8>,
}

impl Bare {
    /// A database whose commits carry statistics as long as those in the tails of a store.
    pub(crate) fn create(path: &Path, store: &Path) -> Self {
        let length = "SELECT CAST(avg(length(statistics)) AS INTEGER) FROM tail_statistics";
        let length: i64 = Connection::open(store).unwrap().query_row(length, [], |row| row.get(0)).unwrap();
        eprintln!("the statistics of a file take {length} bytes");
        let connection = Connection::open(path).unwrap();
        let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        connection.pragma_update(None, "synchronous", "FULL").unwrap();
        connection.execute_batch(TABLES).unwrap();
        Self { connection, next: 1, statistics: vec![0x5a; usize::try_from(length).unwrap()] }
    }

    /// The rows of so many commits of one file each, in one transaction.
    pub(crate) fn commit(&mut self, commits: usize) {
        let connection = &self.connection;
        connection.prepare_cached("BEGIN IMMEDIATE").unwrap().execute([]).unwrap();
        for snapshot in self.next..self.next + commits as i64 {
            let path = format!(
                "s3://bench-bucket/warehouse/namespace/table/data/part-{snapshot:010}-0123456789abcdef.zstd.parquet"
            );
            let path_hash = snapshot.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed());
            let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
                connection.prepare_cached(sql).unwrap().execute(values).unwrap();
            };
            run(INSERT_SNAPSHOT, params![snapshot]);
            run(INSERT_FILE, params![path, path_hash, snapshot]);
            run(INSERT_STATISTICS, params![connection.last_insert_rowid(), self.statistics]);
            run(UPDATE_TABLE, params![snapshot]);
            run(INSERT_ENTRY, params![snapshot]);
        }
        connection.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
        self.next += commits as i64;
    }
}
