"""Tables whose columns changed, and columns inside others."""

import pyarrow as pa
from client import files, load
from native import Refused, call, check, commit, create, register, write


def alter(name, *changes):
    call("PATCH", f"/v1/namespaces/n/tables/{name}", {"schema": list(changes)})


# A column that was added, and one that was renamed; files before and after, without field ids and with.
for ids in ((), range(9)):
    name = f"renamed_{len(ids)}"
    register(name, [pa.table({"id": pa.array([1, 2], pa.int32()), "city": ["a", "b"]})], ids)
    before = load(name).current_snapshot().snapshot_id
    alter(name, {"op": "rename", "column": "city", "to": "town"})
    alter(name, {"op": "add", "name": "extra", "type": "string"})
    alter(name, {"op": "widen", "column": "id", "type": "int64"})
    new = pa.table({"id": pa.array([3, 2**40], pa.int64()), "town": ["c", None], "extra": ["x", None]})
    commit(name, [write(new, f"{name}/new.parquet", bool(ids))])
    table = load(name)
    rows = table.scan().to_arrow().sort_by("id").to_pydict()
    check(rows, {"id": [1, 2, 3, 2**40], "town": ["a", "b", "c", None], "extra": [None, None, "x", None]}, name)
    check(files(table.scan(row_filter="town = 'a'")), 1, name)
    check(table.scan(row_filter="town = 'a'").to_arrow().column("id").to_pylist(), [1], name)
    check(table.scan(row_filter="extra = 'x'").to_arrow().column("id").to_pylist(), [3], name)
    check(table.scan(row_filter="extra is null").count(), 3, name)
    check(table.scan(row_filter="id > 2000000000").to_arrow().column("id").to_pylist(), [2**40], name)
    # Time travel reads by the schema of the snapshot; filters are bound to that of today, as PyIceberg binds them.
    old = table.scan(snapshot_id=before).to_arrow().sort_by("id")
    check(old.to_pydict(), {"id": [1, 2], "city": ["a", "b"]}, name)
    check(table.scan(snapshot_id=before, row_filter="town = 'b'").to_arrow().column("id").to_pylist(), [2], name)

# A column that is gone is there in the snapshots that have it.
for ids in ((), range(9)):
    name = f"dropped_{len(ids)}"
    register(name, [pa.table({"id": [1, 2], "old": ["a", "b"]})], ids)
    alter(name, {"op": "drop", "column": "old"})
    commit(name, [write(pa.table({"id": [3]}), f"{name}/new.parquet", bool(ids))])
    table = load(name)
    check(table.scan().to_arrow().sort_by("id").to_pydict(), {"id": [1, 2, 3]}, name)
    check(table.scan(snapshot_id=1).to_arrow().to_pydict(), {"id": [1, 2], "old": ["a", "b"]}, name)
    check(table.scan(snapshot_id=1, selected_fields=("old",)).to_arrow().to_pydict(), {"old": ["a", "b"]}, name)

# Names that changed places: by ids they are told apart, by names they cannot be.
for ids in ((), range(9)):
    name = f"swapped_{len(ids)}"
    register(name, [pa.table({"a": [1, 2], "b": [10, 20]})], ids)
    alter(name, {"op": "rename", "column": "a", "to": "c"})
    alter(name, {"op": "rename", "column": "b", "to": "a"})
    alter(name, {"op": "rename", "column": "c", "to": "b"})
    scan = load(name).scan(row_filter="a >= 10")
    if ids:
        check(scan.to_arrow().to_pydict(), {"b": [1, 2], "a": [10, 20]}, name)
    else:
        try:
            scan.to_arrow()
            raise AssertionError("a file whose names mean other columns was read")
        except Exception as refused:
            check("0.parquet` cannot be planned for Iceberg" in str(refused), True, str(refused))

# Fields of structs, lists and maps.
place = pa.struct([("x", pa.int32()), ("y", pa.string())])
schema = pa.schema([("id", pa.int64()), ("place", place), ("tags", pa.list_(pa.string())), ("notes", pa.map_(pa.string(), pa.int64()))])
parts = []
for base in (0, 100):
    rows = [{"id": base + n, "place": {"x": base + n, "y": f"y{n}"}, "tags": ["t", None], "notes": {"k": n}} for n in range(3)]
    rows.append({"id": base + 9, "place": None, "tags": None, "notes": None})
    parts.append(pa.Table.from_pylist(rows, schema=schema))
register("nested", parts)
table = load("nested")
check(table.scan().to_arrow().sort_by("id").to_pylist(), pa.concat_tables(parts).to_pylist(), "nested")
scan = table.scan(row_filter="place.x >= 100")
check((files(scan), sorted(scan.to_arrow().column("id").to_pylist()), scan.count()), (1, [100, 101, 102], 3), "nested")

print("done")
