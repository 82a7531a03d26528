//! A table of made-up containers: ten columns of statistics, and for small tables the rows that these were made from.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, Int32Array, Int64Array, PrimitiveArray,
    RecordBatch, StringArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{
    DataType, Date32Type, Field, Float64Type, Int32Type, Int64Type, Schema, SchemaRef, TimestampMicrosecondType,
};
use datafusion::common::Column as ColumnName;
use datafusion::common::pruning::PruningStatistics;
use datafusion::scalar::ScalarValue;
use prunus_pruner::{Column, ColumnZones, ZoneColumns, ZoneMaps};
use prunus_statistics::{FieldId, PhysicalType};

/// How many rows a container has.
pub(crate) const ROWS: usize = 4;
/// The first timestamp, 2024-01-01, and how far the containers' first timestamps lie apart, in microseconds.
pub(crate) const EPOCH: i64 = 1_704_067_200_000_000;
pub(crate) const MINUTE: i64 = 60_000_000;
/// How far the ids and the numbers in the strings of two containers lie apart at least.
pub(crate) const STEP: usize = 1_000;

/// The statistics of containers, in the form of both pruners.
pub(crate) struct Table {
    pub(crate) containers: usize,
    pub(crate) columns: Vec<TableColumn>,
    pub(crate) row_counts: UInt64Array,
}

pub(crate) struct TableColumn {
    name: &'static str,
    column_type: &'static str,
    pub(crate) min: ArrayRef,
    pub(crate) max: ArrayRef,
    pub(crate) null_count: UInt64Array,
    nan_count: UInt64Array,
    valueless: BooleanArray,
    rows: Option<ArrayRef>,
}

/// A well-mixed number of two others.
pub(crate) fn mixed(seed: usize, index: usize) -> usize {
    let mut word = (seed as u64) << 40 ^ index as u64;
    for _ in 0..2 {
        word = (word ^ word >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    usize::try_from(word >> 33).unwrap()
}

/// The place of a container in the order of its ids, or of its strings: another than its own.
pub(crate) fn id_place(containers: usize, index: usize) -> usize {
    index * 7_919 % containers
}
pub(crate) fn text_place(containers: usize, index: usize) -> usize {
    index * 104_729 % containers
}

pub(crate) fn text(number: usize) -> String {
    format!("item-{number:011}")
}

impl Table {
    /// A table of `containers` containers; the number must not be a multiple of 7,919 or of 104,729.
    pub(crate) fn new(containers: usize, with_rows: bool) -> Self {
        let make = Maker { containers, with_rows };
        let within = |seed: usize, index: usize, row: usize| mixed(seed + 100, index * ROWS + row) % STEP;
        // Columns that are not clustered: a container's values lie close together, anywhere.
        let loose = |seed: usize, index: usize, row: usize| mixed(seed, index) % 1_000_000 + row;
        let columns = vec![
            make.numbers::<TimestampMicrosecondType>("ts", "timestamp(us)", 0, &|index, row| {
                EPOCH + index as i64 * MINUTE + row as i64 * MINUTE / 5
            }),
            make.numbers::<Int64Type>("id", "int64", 1, &|index, row| {
                (id_place(containers, index) * STEP + within(1, index, row)) as i64
            }),
            make.texts("s", 2, &|index, row| text(text_place(containers, index) * STEP + within(2, index, row))),
            make.numbers::<Float64Type>("price", "float64", 3, &|index, row| loose(3, index, row) as f64 / 100.0),
            make.numbers::<Date32Type>("d", "date", 4, &|index, row| 19_000 + (loose(4, index, row) / 1_000) as i32),
            make.numbers::<Int32Type>("id32", "int32", 5, &|index, row| loose(5, index, row) as i32),
            make.numbers::<Int32Type>("qty", "int32", 6, &|index, row| (loose(6, index, row) % 50) as i32),
            make.numbers::<Float64Type>("f1", "float64", 7, &|index, row| loose(7, index, row) as f64 / 2.0),
            make.numbers::<Int64Type>("i1", "int64", 8, &|index, row| loose(8, index, row) as i64 * 7),
            make.texts("cat", 9, &|index, _| format!("cat-{:02}", mixed(9, index) % 100)),
        ];
        Self { containers, columns, row_counts: UInt64Array::from(vec![ROWS as u64; containers]) }
    }

    pub(crate) fn column(&self, name: &str) -> &TableColumn {
        self.columns.iter().find(|column| column.name == name).unwrap()
    }

    /// The columns as the pruner's schema.
    pub(crate) fn schema(&self) -> Vec<Column> {
        let column = |(id, column): (i32, &TableColumn)| Column {
            id: FieldId(id),
            path: vec![column.name.to_owned()],
            column_type: Some(column.column_type.parse().unwrap()),
            items: Vec::new(),
        };
        (1..).zip(&self.columns).map(column).collect()
    }

    /// The statistics as the pruner's zone maps.
    pub(crate) fn zone_maps(&self) -> ZoneMaps {
        let mut maps = ZoneMaps::new(&self.row_counts);
        for (id, column) in (1..).zip(&self.columns) {
            maps.insert(FieldId(id), column.zones()).unwrap();
        }
        maps
    }

    pub(crate) fn arrow_schema(&self) -> SchemaRef {
        let field = |column: &TableColumn| Field::new(column.name, column.min.data_type().clone(), true);
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    /// The rows of all containers, in order.
    pub(crate) fn rows(&self) -> RecordBatch {
        let rows = self.columns.iter().map(|column| column.rows.clone().unwrap()).collect();
        RecordBatch::try_new(self.arrow_schema(), rows).unwrap()
    }
}

impl TableColumn {
    pub(crate) fn zones(&self) -> ColumnZones {
        let (physical_type, [min, max]) = self.physical();
        let columns = ZoneColumns {
            min: &min,
            max: &max,
            null_count: &self.null_count,
            nan_count: &self.nan_count,
            valueless: &self.valueless,
        };
        ColumnZones::new(physical_type, &columns).unwrap()
    }

    /// The bounds in the physical type; they share their buffers with those that DataFusion gets.
    fn physical(&self) -> (PhysicalType, [ArrayRef; 2]) {
        let both = |convert: &dyn Fn(&ArrayRef) -> ArrayRef| [convert(&self.min), convert(&self.max)];
        match self.min.data_type() {
            DataType::Timestamp(..) => (
                PhysicalType::Int64,
                both(&|side| Arc::new(side.as_primitive::<TimestampMicrosecondType>().reinterpret_cast::<Int64Type>())),
            ),
            DataType::Date32 => (
                PhysicalType::Int32,
                both(&|side| Arc::new(side.as_primitive::<Date32Type>().reinterpret_cast::<Int32Type>())),
            ),
            DataType::Utf8 => {
                (PhysicalType::Bytes, both(&|side| Arc::new(BinaryArray::from(side.as_string::<i32>().clone()))))
            }
            DataType::Int32 => (PhysicalType::Int32, both(&Arc::clone)),
            DataType::Int64 => (PhysicalType::Int64, both(&Arc::clone)),
            _ => (PhysicalType::Float64, both(&Arc::clone)),
        }
    }

    pub(crate) fn integers(&self) -> [Int64Array; 2] {
        let [min, max] = self.physical().1;
        [min, max].map(|side| side.as_primitive::<Int64Type>().clone())
    }

    pub(crate) fn small_integers(&self) -> [Int32Array; 2] {
        let [min, max] = self.physical().1;
        [min, max].map(|side| side.as_primitive::<Int32Type>().clone())
    }
}

struct Maker {
    containers: usize,
    with_rows: bool,
}

impl Maker {
    /// A column of numbers.
    fn numbers<T: ArrowPrimitiveType>(
        &self,
        name: &'static str,
        column_type: &'static str,
        seed: usize,
        value: &dyn Fn(usize, usize) -> T::Native,
    ) -> TableColumn {
        let (mut mins, mut maxs) = (Vec::new(), Vec::new());
        for index in 0..self.containers {
            let values = (0..ROWS).filter(|row| !is_null(seed, index, *row)).map(|row| value(index, row));
            let [min, max] = values.fold([None; 2], |[min, max]: [Option<T::Native>; 2], value| {
                let is_new =
                    |old: Option<T::Native>, less| old.is_none_or(|old| if less { value < old } else { value > old });
                [if is_new(min, true) { Some(value) } else { min }, if is_new(max, false) { Some(value) } else { max }]
            });
            mins.push(min.filter(|_| min_known(seed, index)));
            maxs.push(max.filter(|_| max_known(seed, index)));
        }
        let array = |values: Vec<Option<T::Native>>| Arc::new(PrimitiveArray::<T>::from_iter(values)) as ArrayRef;
        let rows = self.rows(|index, row| (!is_null(seed, index, row)).then(|| value(index, row))).map(array);
        self.column(name, column_type, seed, [array(mins), array(maxs)], rows)
    }

    /// A column of texts.
    fn texts(&self, name: &'static str, seed: usize, value: &dyn Fn(usize, usize) -> String) -> TableColumn {
        let (mut mins, mut maxs) = (Vec::new(), Vec::new());
        for index in 0..self.containers {
            let values = || (0..ROWS).filter(|row| !is_null(seed, index, *row)).map(|row| value(index, row));
            mins.push(values().min().filter(|_| min_known(seed, index)));
            maxs.push(values().max().filter(|_| max_known(seed, index)));
        }
        let array = |values: Vec<Option<String>>| Arc::new(StringArray::from(values)) as ArrayRef;
        let rows = self.rows(|index, row| (!is_null(seed, index, row)).then(|| value(index, row))).map(array);
        self.column(name, "string", seed, [array(mins), array(maxs)], rows)
    }

    fn rows<V>(&self, value: impl Fn(usize, usize) -> V) -> Option<Vec<V>> {
        self.with_rows.then(|| (0..self.containers * ROWS).map(|at| value(at / ROWS, at % ROWS)).collect())
    }

    fn column(
        &self,
        name: &'static str,
        column_type: &'static str,
        seed: usize,
        [min, max]: [ArrayRef; 2],
        rows: Option<ArrayRef>,
    ) -> TableColumn {
        let nulls = |index| (0..ROWS).filter(|row| is_null(seed, index, *row)).count() as u64;
        let every = 0..self.containers;
        let null_count = every.clone().map(|index| null_count_known(seed, index).then(|| nulls(index))).collect();
        let is_float = column_type == "float64";
        // DataFusion knows of no NaN: where bounds are known, so is that there is none, or it would prune what may match.
        let is_valueless = |index| null_count_known(seed, index) && nulls(index) == ROWS as u64;
        let no_nan = |index| !is_float || min_known(seed, index) || is_valueless(index);
        let nan_count = every.clone().map(|index| no_nan(index).then_some(0)).collect();
        let valueless = BooleanArray::new(every.map(is_valueless).collect::<BooleanBuffer>(), None::<NullBuffer>);
        TableColumn { name, column_type, min, max, null_count, nan_count, valueless, rows }
    }
}

/// One container in 256 has only null rows, of the others one row in 64 is null.
fn is_null(seed: usize, index: usize, row: usize) -> bool {
    mixed(seed + 10, index) % 256 == 0 || mixed(seed + 20, index * ROWS + row) % 64 == 0
}

/// One container in 256 has no bounds, another one no upper bound, and another one no null count.
fn min_known(seed: usize, index: usize) -> bool {
    mixed(seed + 30, index) % 256 != 0
}
fn max_known(seed: usize, index: usize) -> bool {
    mixed(seed + 30, index) % 256 > 1
}
fn null_count_known(seed: usize, index: usize) -> bool {
    mixed(seed + 40, index) % 256 != 0
}

/// The statistics as DataFusion takes them: ready arrays, nothing to compute.
impl PruningStatistics for Table {
    fn min_values(&self, column: &ColumnName) -> Option<ArrayRef> {
        Some(Arc::clone(&self.column(&column.name).min))
    }

    fn max_values(&self, column: &ColumnName) -> Option<ArrayRef> {
        Some(Arc::clone(&self.column(&column.name).max))
    }

    fn num_containers(&self) -> usize {
        self.containers
    }

    fn null_counts(&self, column: &ColumnName) -> Option<ArrayRef> {
        Some(Arc::new(self.column(&column.name).null_count.clone()))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::new(self.row_counts.clone()))
    }

    fn contained(&self, _: &ColumnName, _: &std::collections::HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}

/// A timestamp as the filters' texts have it.
pub(crate) fn timestamp(minutes: usize) -> String {
    let array = TimestampMicrosecondArray::from(vec![EPOCH + minutes as i64 * MINUTE]);
    format!("TIMESTAMP '{}'", array.value_as_datetime(0).unwrap())
}
