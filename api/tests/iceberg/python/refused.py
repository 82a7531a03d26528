"""What would be read wrongly is refused, and what is refused is named."""

import datetime as dt

import pyarrow as pa
from client import load
from native import call, check, commit, create, register, write


def refused(work, *words):
    """That it fails with an error of these words."""
    try:
        found = work()
    except Exception as error:
        for word in words:
            check(word in str(error), True, f"`{word}` in {error}")
        return
    raise AssertionError(f"nothing was refused: {found}")


one = pa.table({"id": pa.array([1], pa.int64())})

# Types that clients would read wrongly, or not at all; all of them at once.
odd = pa.table({
    "id": [1], "u32": pa.array([3_000_000_000], pa.uint32()), "u64": pa.array([2**63], pa.uint64()), "half": pa.array([1.5], pa.float16()),
    "ns": pa.array([1], pa.timestamp("ns")), "ms": pa.array([dt.time(1)], pa.time32("ms")),
})
register("odd", [odd])
refused(lambda: load("odd"), "`u32` is of type uint32", "`u64` is of type uint64", "`half`", "`ns`", "`ms`")

# A file of which it is not known how many rows it has.
create("uncounted", schema={"fields": [{"name": "id", "type": "int64"}]}, properties={"verification": "declared"})
commit("uncounted", [{"path": write(one, "uncounted/a.parquet"), "size_bytes": 100}])
refused(lambda: load("uncounted").scan().to_arrow(), "uncounted/a.parquet", "how many rows")
refused(lambda: load("uncounted").scan().count(), "uncounted/a.parquet")

# A column whose value stands in the path alone would be null.
fields = [{"name": "id", "type": "int64"}, {"name": "day", "type": "date"}]
create("hive", schema={"fields": fields})
commit("hive", [write(one, "hive/day=2024-01-31/a.parquet")])
refused(lambda: load("hive").scan().to_arrow(), "day=2024-01-31/a.parquet", "`day`")
refused(lambda: load("hive").scan(row_filter="day = '2024-01-31'", selected_fields=("id",)).to_arrow(), "`day`")
check(load("hive").scan(selected_fields=("id",)).to_arrow().to_pydict(), {"id": [1]}, "other columns")
check(load("hive").scan(row_filter="day = '2024-02-01'").to_arrow().num_rows, 0, "pruned files need not be read")

# A default is a value for rows of files that lack the column, and readers of format 2 would have null there.
register("filled", [one])
call("PATCH", "/v1/namespaces/n/tables/filled", {"schema": [{"op": "add", "name": "x", "type": "int64", "default": 7}]})
refused(lambda: load("filled"), "`x` has a default")

# Nor in a snapshot from before the column was dropped.
commit("hive", [write(one, "hive/day=2024-02-01/b.parquet")])
call("PATCH", "/v1/namespaces/n/tables/hive", {"schema": [{"op": "drop", "column": "day"}]})
refused(lambda: load("hive").scan(snapshot_id=1).to_arrow(), "day=2024-01-31/a.parquet", "in its path alone")
check(load("hive").scan(snapshot_id=1, selected_fields=("id",)).to_arrow().to_pydict(), {"id": [1]}, "other columns")
check(load("hive").scan().count(), 2, "the table as it is has no such column")

# A path that PyIceberg would split.
create("split", schema={"fields": [{"name": "id", "type": "int64"}]})
commit("split", [write(one, "split/a#b.parquet")])
refused(lambda: load("split").scan().to_arrow(), "a#b.parquet")
commit("split", [write(one, "split/a b%20c.parquet")], operation="overwrite", remove=[f"{__import__('native').FOLDER}/split/a#b.parquet"])
check(load("split").scan().to_arrow().to_pydict(), {"id": [1]}, "other characters stand for themselves")

# Field ids of some columns alone: clients go by them, or by names, as they like.
half = pa.schema([pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}), pa.field("x", pa.int64())])
register("half", [pa.table({"id": [1], "x": [2]}, schema=half)])
refused(lambda: load("half").scan().to_arrow(), "half/0.parquet", "does not give each of its columns a field id")

# Files in narrower types than the table: where PyIceberg would lose rows or digits, and only there.
narrow = pa.table({
    "u": pa.array([1, 4_294_967_295], pa.uint32()), "f": pa.array([0.1, 0.5], pa.float32()), "i": pa.array([1, 2], pa.int32()),
    "t": pa.array([500, 1_500], pa.timestamp("ns")),
})
types = [("u", "int64"), ("f", "float64"), ("i", "int64"), ("t", "timestamp(us)")]
create("narrow", schema={"fields": [{"name": name, "type": column_type} for name, column_type in types]})
commit("narrow", [write(narrow, "narrow/a.parquet")])
chosen = ("u", "f", "i")
found = load("narrow").scan(selected_fields=chosen).to_arrow()
check(found.to_pydict(), narrow.select(chosen).to_pydict(), "narrower types are read")
check(load("narrow").scan(row_filter="i > 1", selected_fields=chosen).count(), 1, "narrower types")
refused(lambda: load("narrow").scan(row_filter="u > 2147483648", selected_fields=chosen).to_arrow(), "narrow/a.parquet", "`u` of type int64 as uint32")
refused(lambda: load("narrow").scan(row_filter="f > 0.1", selected_fields=chosen).to_arrow(), "`f` of type float64 as float32")
refused(lambda: load("narrow").scan().to_arrow(), "`t` of type timestamp(us) as timestamp(ns)")

# Integers that PyIceberg takes for the ends of the range of int.
for name, column_type in [("int", "int32"), ("long", "int64")]:
    ints = pa.table({"v": pa.array([1, 5, 2_147_483_647, None], pa.int32())})
    create(name, schema={"fields": [{"name": "v", "type": column_type}]})
    commit(name, [write(ints, f"{name}/a.parquet")])
    for filter in ("v not in (4000000000, 1)", "v in (4000000000, 1)", "v < 4000000000", "v > -4000000000"):
        refused(lambda: load(name).scan(row_filter=filter).to_arrow(), f"{name}/a.parquet", "beyond the range of int")
    check(load(name).scan(row_filter="v > 4000000000").to_arrow().num_rows, 0, "no file has such a row")
    check(sorted(load(name).scan(row_filter="v > 4").to_arrow().column("v").to_pylist()), [5, 2_147_483_647], name)

# A column that files hold and the table does not have is passed over.
create("more", schema={"fields": [{"name": "id", "type": "int64"}]})
commit("more", [write(pa.table({"id": [1], "more": ["x"], "inside": [{"a": 1}]}), "more/a.parquet")])
check(load("more").scan(row_filter="id = 1").to_arrow().to_pydict(), {"id": [1]}, "columns that the table does not have")
inside = pa.table({"s": [{"key": 1, "value": 2, "more": 3}]})
register("inside", [inside.set_column(0, "s", pa.array([{"key": 1, "value": 2}]))])
commit("inside", [write(inside, "inside/b.parquet")])
check(load("inside").scan().to_arrow().to_pydict(), {"s": [{"key": 1, "value": 2}] * 2}, "fields that the table does not have")

# A tag by the name that Iceberg has for the newest snapshot.
register("tagged", [one])
call("PUT", "/v1/namespaces/n/tables/tagged/tags/main", {"snapshot_id": 1})
refused(lambda: load("tagged"), "a tag is called `main`")

# Names of columns.
register("plain", [one])
refused(lambda: list(load("plain").scan(row_filter="none = 1").plan_files()), "none")

# Whoever plans scans alone looks for what is not there, and does not take the table for an empty one.
table = load("plain")
refused(lambda: list(table.inspect.files().to_pylist()), "is-planned-by-the-server-alone")
refused(lambda: table.append(one))

# What a user sets to plan alone is overridden; a client that does so all the same reads nothing.
for alone in ({"scan-planning-mode": "client"}, {"rest-scan-planning-enabled": "false"}):
    check(load("plain", **alone).scan().to_arrow().to_pydict(), {"id": [1]}, str(alone))
table.catalog.supports_server_side_planning = lambda *_: False
refused(lambda: table.scan().to_arrow(), "is-planned-by-the-server-alone")

print("done")
