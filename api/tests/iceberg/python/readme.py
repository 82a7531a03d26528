"""Runs the code of the README, which is the third argument, on the table that it names."""

import sys

import pyarrow as pa
from native import FOLDER, call, check, write

full = pa.table({"customer": [17, 17, 42], "amount": [1.0, 2.0, 3.0]})
path = write(full, "orders/a.parquet")
call("POST", "/v1/namespaces", {"name": "shop"})
call("POST", "/v1/namespaces/shop/tables", {"name": "orders", "location": f"{FOLDER}/orders/", "schema_from": path})
call("POST", "/v1/namespaces/shop/tables/orders/commits", {"operation": "append", "add": [{"path": path}]})

names = {}
exec(sys.argv[3], names)
check(names["frame"].to_dict("list"), {"customer": [17, 17], "amount": [1.0, 2.0]}, "pandas")
check(names["lazy"].collect().to_dict(as_series=False), full.to_pydict(), "polars")
print("done")
