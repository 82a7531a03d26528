"""What a scan reads, in tables whose files have field ids, have none, and are mixed."""

import pyarrow as pa
from client import files, load
from native import check, commit, register, write


def part(first):
    ids = range(first, first + 100)
    names = [None if number % 7 == 0 else f"name {number}" for number in ids]
    return pa.table({"id": pa.array(ids, pa.int64()), "name": names, "ratio": [number / 8 for number in ids]})


for name, ids in [("with_ids", range(6)), ("without_ids", ()), ("mixed", (1, 3, 5))]:
    parts = [part(first) for first in range(0, 600, 100)]
    register(name, parts, ids)
    full, table = pa.concat_tables(parts), load(name)
    check(table.scan().to_arrow().sort_by("id").to_pydict(), full.to_pydict(), name)
    check(table.scan().count(), 600, name)
    # A client without a token may send the word for it.
    check(load(name, token="None").scan().count(), 600, f"{name} as nobody")

    scan = table.scan(row_filter="id >= 250 and id < 260")
    check(files(scan), 1, name)
    check(scan.to_arrow().sort_by("id").to_pydict(), full.slice(250, 10).to_pydict(), name)
    check(scan.count(), 10, name)
    check(table.scan(row_filter="id >= 200 and id < 300").count(), 100, name)
    check(files(table.scan(row_filter="id in (5, 599)")), 2, name)
    check(files(table.scan(row_filter="id > 1000")), 0, name)
    check(table.scan(row_filter="id > 1000").to_arrow().num_rows, 0, name)
    check(table.scan(row_filter="ID < 5", case_sensitive=False).count(), 5, name)

    chosen = table.scan(row_filter="id = 300", selected_fields=("ratio",)).to_arrow()
    check(chosen.to_pydict(), {"ratio": [37.5]}, name)
    check(table.scan(limit=7).to_arrow().num_rows, 7, name)
    check(table.scan(row_filter="id >= 590", limit=50).to_arrow().num_rows, 10, name)

    # An older snapshot is what it was.
    first = table.current_snapshot().snapshot_id
    commit(name, [write(part(600), f"{name}/6.parquet", ids=6 in ids)])
    table = load(name)
    check(table.scan().count(), 700, name)
    check(table.scan(snapshot_id=first).count(), 600, name)
    check(table.scan(snapshot_id=first, row_filter="id >= 600").to_arrow().num_rows, 0, name)
    check([entry.snapshot_id for entry in table.history()], [1, 2], name)
    check(table.snapshot_as_of_timestamp(table.history()[0].timestamp_ms).snapshot_id, first, name)

print("done")
