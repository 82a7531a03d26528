//! The table that is measured, and its files.

use std::collections::BTreeMap;
use std::ops::Range;

use prunus_catalog::{
    AddedFile, Catalog, CommitRequest, DeclaredBound, DeclaredStatistics, FieldJson, NamespaceName, NewTable,
    Operation, SchemaSource, TableIdent,
};
use prunus_statistics::{Literal, LiteralZone, Number, Precision};
use serde_json::json;

pub(crate) const COLUMNS: [(&str, &str); 10] = [
    ("ts", "timestamp(us)"),
    ("id", "int64"),
    ("s", "string"),
    ("price", "float64"),
    ("d", "date"),
    ("id32", "int32"),
    ("qty", "int32"),
    ("f1", "float64"),
    ("i1", "int64"),
    ("cat", "string"),
];

pub(crate) async fn create_table(catalog: &Catalog) -> TableIdent {
    let ident: TableIdent = "bench.t".parse().unwrap();
    let namespace: NamespaceName = "bench".parse().unwrap();
    catalog.create_namespace(namespace, BTreeMap::new()).await.unwrap();
    let fields = COLUMNS.map(|(name, column_type)| {
        let field: FieldJson = serde_json::from_value(json!({"name": name, "type": column_type})).unwrap();
        field.to_new_field().unwrap()
    });
    let table = NewTable {
        ident: ident.clone(),
        schema: SchemaSource::Fields(fields.to_vec()),
        location: None,
        cluster_by: None,
        properties: BTreeMap::from([("verification".to_owned(), "declared".to_owned())]),
    };
    catalog.create_table(table).await.unwrap();
    ident
}

pub(crate) fn append(numbers: Range<usize>, files: usize) -> CommitRequest {
    CommitRequest {
        operation: Operation::Append,
        base_snapshot: None,
        add: numbers.map(|number| file(number, files)).collect(),
        remove: Vec::new(),
        summary: BTreeMap::new(),
    }
}

/// The place of a file in the order of its ids: another than its own.
pub(crate) fn place(number: usize, files: usize) -> usize {
    if number < files { number * 7_919 % files } else { number }
}

pub(crate) fn timestamp(minutes: usize, microseconds: i128) -> Literal {
    let nanoseconds = 1_704_067_200_000_000_000 + minutes as i128 * 60_000_000_000 + microseconds * 1_000;
    Literal::Timestamp { nanoseconds, zone: LiteralZone::Local }
}

fn number(value: usize) -> Literal {
    Literal::Number(Number::new(value as i128, 0))
}

pub(crate) fn file(index: usize, files: usize) -> AddedFile {
    let drawn = |seed: usize| (index.wrapping_mul(2_654_435_761).wrapping_add(seed * 40_503) >> 7) % 1_000_000;
    let id = place(index, files) * 1_000;
    let text = |number: usize| Literal::Text(format!("item-{number:011}"));
    let category = || Literal::Text(format!("cat-{:02}", drawn(9) % 100));
    let bounds = [
        [timestamp(index, 0), timestamp(index + 1, -1)],
        [number(id), number(id + 999)],
        [text(id), text(id + 999)],
        [number(drawn(3)), number(drawn(3) + 10)],
        [Literal::Date(19_000 + index as i64 / 1_440), Literal::Date(19_001 + index as i64 / 1_440)],
        [number(drawn(5)), number(drawn(5) + 5)],
        [number(drawn(6) % 50), number(drawn(6) % 50 + 3)],
        [number(drawn(7)), number(drawn(7) + 1)],
        [number(drawn(8) * 7), number(drawn(8) * 7 + 6)],
        [category(), category()],
    ];
    // Dates and times are declared as texts.
    let text_of = |value: Literal| match value {
        Literal::Date(_) | Literal::Timestamp { .. } => {
            Literal::Text(value.to_string().split('\'').nth(1).unwrap().to_owned())
        }
        value => value,
    };
    let declared = |value: Literal| Some(DeclaredBound { value: text_of(value), precision: Precision::Exact });
    let columns = COLUMNS.into_iter().zip(bounds).map(|((name, _), [min, max])| {
        let (min, max) = (declared(min), declared(max));
        (name.to_owned(), DeclaredStatistics { min, max, null_count: Some(0), nan_count: Some(0) })
    });
    AddedFile {
        path: format!(
            "s3://bench-bucket/warehouse/namespace/table/data/part-{index:010}-0123456789abcdef.zstd.parquet"
        ),
        size_bytes: Some(100_000_000),
        row_count: Some(1_000),
        columns: columns.collect(),
        ..AddedFile::default()
    }
}

/// The same as JSON.
pub(crate) fn file_json(index: usize) -> serde_json::Value {
    let AddedFile { path, size_bytes, row_count, columns, .. } = file(index, 0);
    let value = |bound: Option<DeclaredBound>| match bound.unwrap().value {
        Literal::Number(number) => serde_json::Value::Number(number.to_string().parse().unwrap()),
        Literal::Text(text) => text.into(),
        other => unreachable!("{other}"),
    };
    let column = |(name, column): (String, DeclaredStatistics)| {
        let bounds = json!({"min": value(column.min), "max": value(column.max), "min_precision": "exact",
            "max_precision": "exact", "null_count": column.null_count, "nan_count": column.nan_count});
        (name, bounds)
    };
    let columns: serde_json::Map<_, _> = columns.into_iter().map(column).collect();
    json!({"path": path, "size_bytes": size_bytes, "row_count": row_count, "columns": columns})
}
