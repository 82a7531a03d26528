"""What would be read wrongly is refused, and what is refused is named."""

import datetime as dt
import decimal
import os

import pyarrow as pa
import pyarrow.parquet as pq
from client import load
from native import FOLDER, call, check, commit, create, register, write
from pyiceberg import expressions as e


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
commit("split", [write(one, "split/a b%20c.parquet")], operation="overwrite", remove=[f"{FOLDER}/split/a#b.parquet"])
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

# Files of another kind of type than the table, whose values clients do not read, or whose rows they lose.
others = {
    "date": (pa.array([dt.date(2024, 1, 1), dt.date(2025, 1, 1), None]), "timestamp(us)", "v < '2024-01-01T12:00:00'"),
    "whole": (pa.array([1, 2, None], pa.int32()), "decimal(18,2)", "v > 1.50"),
    "scale": (pa.array([decimal.Decimal("1.50"), None], pa.decimal128(9, 2)), "decimal(18,4)", "v < 1.5001"),
    "int96": (pa.array([dt.datetime(9999, 1, 1), None], pa.timestamp("us")), "timestamptz(us)", "v > '2100-01-01T00:00:00+00:00'"),
}
for name, (values, column_type, filter) in others.items():
    create(name, schema={"fields": [{"name": "id", "type": "int64"}, {"name": "v", "type": column_type}]})
    of_type = pa.table({"id": pa.array(range(len(values)), pa.int64()), "v": values})
    path = f"{FOLDER}/{name}/a.parquet"
    os.makedirs(os.path.dirname(path))
    pq.write_table(of_type, path, use_deprecated_int96_timestamps=name == "int96")
    commit(name, [path])
    for scan in ({}, {"row_filter": filter}, {"row_filter": filter, "selected_fields": ("id",)}):
        refused(lambda: load(name).scan(**scan).to_arrow(), f"{name}/a.parquet", f"`v` of type {column_type} as", "do not read as that")
    check(load(name).scan(selected_fields=("id",)).count(), len(values), "other columns")

# Literals that PyIceberg takes for the end of the range of the type, or rounds.
narrow_types = [
    ("int", "int32", pa.int32(), 2**31 - 1, [2**31, -4_000_000_000, "3000000000", "-3e9", decimal.Decimal("4000000000"), 2**70]),
    ("long", "int64", pa.int32(), 2**31 - 1, [2**31, -4_000_000_000, "3000000000", "4_000_000_000", decimal.Decimal("4000000000")]),
    ("wide", "int64", pa.int64(), 2**63 - 1, [2**63, "-1e30", decimal.Decimal("1e19")]),
    ("single", "float32", pa.float32(), 7.5, [1e39, -1e39, decimal.Decimal("1e39")]),
]
for name, column_type, held, greatest, literals in narrow_types:
    create(name, schema={"fields": [{"name": "v", "type": column_type}]})
    commit(name, [write(pa.table({"v": pa.array([1, 5, greatest, None], held)}), f"{name}/a.parquet")])
    for value in literals:
        # Of the others the file is pruned.
        test = e.LessThan if float(str(value).replace("_", "")) > 0 else e.GreaterThan
        for filter in (test("v", value), e.In("v", [value, type(value)(1)]), e.NotIn("v", [value, type(value)(1)])):
            refused(lambda: load(name).scan(row_filter=filter).to_arrow(), f"{name}/a.parquet", "a literal of the filter")
    check(load(name).scan(row_filter=f"v > {greatest}").to_arrow().num_rows, 0, "no file has such a row")
    check(load(name).scan(row_filter="v > 2").to_arrow().num_rows, 2, name)
refused(lambda: load("int").scan(row_filter=e.EqualTo("v", decimal.Decimal("1.50"))).to_arrow(), "a literal of the filter")

# A column that is called as others are by their ids.
fields = [{"name": "id", "type": "int64"}, {"name": "#1", "type": "float64"}]
create("hash", schema={"fields": fields})
commit("hash", [write(pa.table({"id": [7], "#1": pa.array([0.1], pa.float32())}), "hash/a.parquet")])
refused(lambda: load("hash").scan(row_filter=e.GreaterThan("#1", 0.1)).to_arrow(), "`#1` of type float64 as float32")
check(load("hash").scan(row_filter="id = 7").to_arrow().num_rows, 1, "the column of that id is another one")

# A struct that got the name of a column.
register("reused", [pa.table({"id": [1, 2], "x": [10, 20]})])
inside = {"type": "struct", "fields": [{"name": "y", "type": "int64"}]}
changes = [{"op": "rename", "column": "x", "to": "p"}, {"op": "add", "name": "x", "type": inside}]
call("PATCH", "/v1/namespaces/n/tables/reused", {"schema": changes})
for filter in (e.IsNull("x"), e.NotNull("x")):
    refused(lambda: load("reused").scan(row_filter=filter, selected_fields=("id",)).to_arrow(), "reused/0.parquet")
check(load("reused").scan(selected_fields=("id",)).to_arrow().to_pydict(), {"id": [1, 2]}, "other columns")

# Names in a file that differ in case alone, where case is not to count.
create("twins", schema={"fields": [{"name": "id", "type": "int64"}, {"name": "a", "type": "int64"}]})
commit("twins", [write(pa.table({"id": [1, 2], "a": pa.array([None, 3], pa.int64()), "A": [5, None]}), "twins/a.parquet")])
for filter in ("a is not null", "A is not null"):
    refused(lambda: load("twins").scan(row_filter=filter, case_sensitive=False).to_arrow(), "`A` has the name of a column")
check(load("twins").scan(row_filter="a is not null").to_arrow().to_pydict(), {"id": [2], "a": [3]}, "case counts")
check(load("twins").scan(row_filter="ID = 1", case_sensitive=False).to_arrow().num_rows, 1, "a name that stands alone")

# A struct that got the name of another.
register("structs", [pa.table({"id": [1], "s": [{"x": 1}]})])
inside = {"type": "struct", "fields": [{"name": "y", "type": "int64"}]}
changes = [{"op": "drop", "column": "s"}, {"op": "add", "name": "s", "type": inside}]
call("PATCH", "/v1/namespaces/n/tables/structs", {"schema": changes})
for scan in ({"row_filter": e.NotNull("s"), "selected_fields": ("id",)}, {}):
    refused(lambda: load("structs").scan(**scan).to_arrow(), "structs/0.parquet")
check(load("structs").scan(selected_fields=("id",)).to_arrow().to_pydict(), {"id": [1]}, "other columns")

# Groups that have other ids than the table's, whatever is in them has.
struct = {"id": 2, "name": "s", "type": {"type": "struct", "fields": [{"id": 3, "name": "x", "type": "int64"}]}}
create("groups", schema={"fields": [{"id": 1, "name": "id", "type": "int64"}, struct]})


def with_group_id(group, path):
    numbered = lambda name, of, number: pa.field(name, of, metadata={"PARQUET:field_id": str(number)})
    fields = [numbered("id", pa.int64(), 1), numbered("s", pa.struct([numbered("x", pa.int64(), 3)]), group)]
    return write(pa.table({"id": [1], "s": [{"x": 5}]}, schema=pa.schema(fields)), path)


commit("groups", [with_group_id(2, "groups/a.parquet")])
check(load("groups").scan(row_filter="s.x = 5").to_arrow().to_pydict(), {"id": [1], "s": [{"x": 5}]}, "its own id")
commit("groups", [with_group_id(99, "groups/b.parquet")])
refused(lambda: load("groups").scan().to_arrow(), "groups/b.parquet", "`s.x`, or what is around it, other field ids")
check(load("groups").scan(selected_fields=("id",)).count(), 2, "other columns")
listed = {"id": 2, "name": "l", "type": {"type": "list", "element_id": 3, "element": "int64"}}
create("holders", schema={"fields": [{"id": 1, "name": "id", "type": "int64"}, listed]})
for group in (2, 98):
    numbered = lambda name, of, number: pa.field(name, of, metadata={"PARQUET:field_id": str(number)})
    fields = [numbered("id", pa.int64(), 1), numbered("l", pa.list_(numbered("element", pa.int64(), 3)), group)]
    commit("holders", [write(pa.table({"id": [1], "l": [[5]]}, schema=pa.schema(fields)), f"holders/{group}.parquet")])
    if group == 2:
        check(load("holders").scan().to_arrow().to_pydict(), {"id": [1], "l": [[5]]}, "its own id")
refused(lambda: load("holders").scan().to_arrow(), "holders/98.parquet", "`l.list.element`, or what is around it, other field ids")

# A column that files hold and the table does not have is passed over.
create("more", schema={"fields": [{"name": "id", "type": "int64"}]})
commit("more", [write(pa.table({"id": [1], "more": ["x"], "inside": [{"a": 1}]}), "more/a.parquet")])
check(load("more").scan(row_filter="id = 1").to_arrow().to_pydict(), {"id": [1]}, "columns that the table does not have")
inside = pa.table({"s": [{"key": 1, "value": 2, "more": 3}]})
register("inside", [inside.set_column(0, "s", pa.array([{"key": 1, "value": 2}]))])
commit("inside", [write(inside, "inside/b.parquet")])
check(load("inside").scan().to_arrow().to_pydict(), {"s": [{"key": 1, "value": 2}] * 2}, "fields that the table does not have")
few, many = pa.table({"l": [[{"x": 1}]]}), pa.table({"l": [[{"x": 1, "y": 2}]], "tags": [["a"]], "m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))})
register("lists", [few])
commit("lists", [write(many, "lists/b.parquet")])
check(load("lists").scan().to_arrow().to_pydict(), {"l": [[{"x": 1}]] * 2}, "lists and maps, and what is in lists, that the table does not have")

# Ids of columns that are as great as those of what is no column.
create("great", schema={"fields": [{"id": 1, "name": "id", "type": "int64"}, {"id": 2000000001, "name": "w", "type": "int64"}]})
commit("great", [write(pa.table({"id": [1], "aa": [99]}), "great/a.parquet")])
check(load("great").scan().to_arrow().to_pydict(), {"id": [1], "w": [None]}, "ids that columns have")

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
refused(lambda: table.append(one), "is-planned-by-the-server-alone")

# What a user sets to plan alone is overridden; a client that does so all the same reads nothing.
for alone in ({"scan-planning-mode": "client"}, {"rest-scan-planning-enabled": "false"}):
    check(load("plain", **alone).scan().to_arrow().to_pydict(), {"id": [1]}, str(alone))
table.catalog.supports_server_side_planning = lambda *_: False
refused(lambda: table.scan().to_arrow(), "is-planned-by-the-server-alone")

print("done")
