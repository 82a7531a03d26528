"""The same table as a frame of polars and of pandas."""

import polars as pl
import pyarrow as pa
from client import load
from native import check, register

parts = [pa.table({"id": pa.array(range(base, base + 10), pa.int64()), "x": [float(base)] * 10}) for base in (0, 10, 20)]
register("frames", parts)
table, full = load("frames"), pa.concat_tables(parts)

check(pl.scan_iceberg(table).collect().sort("id").to_dicts(), full.to_pylist(), "polars")
some = pl.scan_iceberg(table).filter(pl.col("id") >= 25).collect().sort("id")
check(some.to_dicts(), full.slice(25).to_pylist(), "polars with a filter")
frame = table.scan(row_filter="id < 5").to_pandas().sort_values("id")
check(frame.to_dict("records"), full.slice(0, 5).to_pylist(), "pandas")
print("done")
