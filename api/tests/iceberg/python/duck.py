"""DuckDB 1.5, which plans scans itself: it gets an error that says why, and no empty table."""

import glob
import os
import sys

import duckdb

URL, CATALOG = sys.argv[1], "attach '' as ice (type iceberg, endpoint '{}/iceberg', authorization_type 'none')"

packages = os.path.dirname(os.path.dirname(duckdb.__file__))
connection = duckdb.connect(config={"allow_unsigned_extensions": "false"})
for name in ("avro", "httpfs", "iceberg"):
    (path,) = glob.glob(f"{packages}/duckdb_extension_{name}/extensions/*/{name}.duckdb_extension")
    connection.execute(f"load '{path}'")
connection.execute(CATALOG.format(URL))
try:
    rows = connection.execute("select count(*) from ice.n.t").fetchall()
except duckdb.Error as error:
    if "is-planned-by-the-server-alone" not in str(error):
        raise
    print("done")
else:
    raise AssertionError(f"read as {rows}")
