//! What tests are made of: statistics of every physical type, good ones and such as a careless writer sends; a table and its
//! commits.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FieldId, FileColumn, FileStatistics, Precision, PrimitiveType, Provenance,
    TimeUnit, Value, ZoneMap,
};

use crate::builder::Entry;
use crate::entry_block::EntryIdentity;
use crate::schema::SchemaColumn;
use crate::{
    EncodedStatistics, FileId, FileLeaf, NewCommit, NewDataFile, NewTable, Operation, Partition, SchemaId, SnapshotId,
    TableId, WriteTransaction,
};

const TYPES: [PrimitiveType; 14] = [
    PrimitiveType::Boolean,
    PrimitiveType::Int8,
    PrimitiveType::Int64,
    PrimitiveType::UInt32,
    PrimitiveType::UInt64,
    PrimitiveType::Float32,
    PrimitiveType::Float64,
    PrimitiveType::Decimal { precision: 9, scale: 2 },
    PrimitiveType::Decimal { precision: 38, scale: 10 },
    PrimitiveType::String,
    PrimitiveType::Binary,
    PrimitiveType::Uuid,
    PrimitiveType::Date,
    PrimitiveType::Timestamptz(TimeUnit::Nanosecond),
];

/// A column of each of them, with the ids 1 and up.
pub(crate) fn columns() -> Vec<SchemaColumn> {
    let column = |(field_id, column_type)| SchemaColumn { field_id: FieldId(field_id), column_type };
    (1..).zip(TYPES).map(column).collect()
}

pub(crate) fn zone_of(entry: &Entry, column: &SchemaColumn) -> ZoneMap {
    ZoneMap::of_file(entry.statistics.columns.get(&column.field_id), column.column_type, entry.identity.row_count)
}

/// Entries with the ids 1 and up.
pub(crate) fn entries(files_max: usize) -> impl Strategy<Value = Vec<Entry>> {
    let file = (option::of(0..20_u64), file_statistics());
    vec(file, 1..=files_max).prop_map(|files| {
        let entry = |(id, (row_count, statistics))| Entry {
            identity: EntryIdentity { file_id: FileId(id), row_count, size_bytes: 100, added_snapshot: SnapshotId(id) },
            statistics,
        };
        (1..).zip(files).map(entry).collect()
    })
}

pub(crate) fn file_statistics() -> impl Strategy<Value = FileStatistics> {
    let columns: Vec<_> = TYPES.into_iter().map(file_column).collect();
    columns.prop_map(|columns| {
        let columns = (1..).map(FieldId).zip(columns).filter_map(|(id, column)| Some((id, column?)));
        FileStatistics { columns: columns.collect() }
    })
}

fn file_column(column_type: PrimitiveType) -> BoxedStrategy<Option<FileColumn>> {
    let count = || option::of((0..25_u64, provenance()).prop_map(|(value, provenance)| Count { value, provenance }));
    let statistics = (option::of(bound(column_type)), option::of(bound(column_type)), count(), count());
    let present = statistics.prop_map(|(min, max, null_count, nan_count)| {
        Some(FileColumn::Present(ColumnStatistics { min, max, null_count, nan_count }))
    });
    prop_oneof![1 => Just(None), 1 => Just(Some(FileColumn::Absent)), 6 => present].boxed()
}

fn bound(column_type: PrimitiveType) -> impl Strategy<Value = Bound> {
    let precision = prop_oneof![Just(Precision::Exact), Just(Precision::Bound), Just(Precision::Estimate)];
    (value(column_type), precision, provenance()).prop_map(|(value, precision, provenance)| Bound {
        value,
        precision,
        provenance,
    })
}

fn provenance() -> impl Strategy<Value = Provenance> {
    prop_oneof![
        Just(Provenance::Declared),
        Just(Provenance::Footer),
        Just(Provenance::Scanned),
        Just(Provenance::Constant)
    ]
}

/// Mostly of the type, its extremes among them.
fn value(column_type: PrimitiveType) -> BoxedStrategy<Value> {
    let wrong =
        prop_oneof![Just(Value::Integer(i128::MAX)), Just(Value::Bytes(vec![0xff])), Just(Value::Float(f64::NAN))];
    let right = if let Some((low, high)) = column_type.stored_range() {
        prop_oneof![2 => low..=high, 2 => -5..=5_i128, 1 => Just(low), 1 => Just(high)].prop_map(Value::Integer).boxed()
    } else if column_type.is_float() {
        prop_oneof![any::<f64>(), -5.0..5.0_f64, Just(-0.0), Just(f64::INFINITY)].prop_map(Value::Float).boxed()
    } else {
        match column_type {
            PrimitiveType::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
            PrimitiveType::Uuid => vec(any::<u8>(), 16).prop_map(Value::Bytes).boxed(),
            PrimitiveType::String => "\\PC{0,8}".prop_map(|text| Value::Bytes(text.into_bytes())).boxed(),
            _ => vec(any::<u8>(), 0..8).prop_map(Value::Bytes).boxed(),
        }
    };
    prop_oneof![9 => right, 1 => wrong].boxed()
}

/// The first table of a new store.
pub(crate) fn create_table(tx: &WriteTransaction<'_>) -> TableId {
    tx.create_namespace("sales", &BTreeMap::new(), 1).unwrap();
    let new = NewTable {
        namespace: "sales".to_owned(),
        name: "orders".to_owned(),
        uuid: "uuid".to_owned(),
        location: None,
        schema: "{}".to_owned(),
        columns: Vec::new(),
        last_field_id: FieldId(1),
        cluster_by: Vec::new(),
        properties: BTreeMap::new(),
        created_at_ms: 1,
    };
    tx.create_table(&new).unwrap().table_id
}

/// Adds files of which nothing is known to such a table.
pub(crate) fn append(table_id: TableId, paths: &[&str]) -> NewCommit {
    let file = |path: &&str| NewDataFile {
        path: (*path).to_owned(),
        size_bytes: 1,
        row_count: None,
        etag: None,
        last_modified_ms: None,
        leaves: vec![FileLeaf {
            path: vec!["number".to_owned()],
            field_id: None,
            column: None,
            file_type: None,
            group_ids: Vec::new(),
        }],
        partition: Partition::new(),
        statistics: EncodedStatistics::new(&FileStatistics::default()).unwrap(),
    };
    NewCommit {
        table_id,
        base_snapshot: None,
        schema_id: SchemaId(1),
        operation: Operation::Append,
        add: paths.iter().map(file).collect(),
        remove: Vec::new(),
        summary: BTreeMap::new(),
        committed_at_ms: 1,
    }
}
