"""Registers the Parquet files of a folder, plans a scan of them, and reads what the plan keeps.

    pip install requests pyarrow
    prunus serve --data-dir ./catalog &
    python plan_and_read.py http://127.0.0.1:8181 ./events '{"type": "gt-eq", "term": "id", "value": 900}'
"""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
import pyarrow.parquet as pq
import requests

if len(sys.argv) != 4:
    raise SystemExit(__doc__)
server, folder, condition = sys.argv[1], Path(sys.argv[2]).resolve(), json.loads(sys.argv[3])
COMPARE = {"eq": pc.equal, "lt": pc.less, "lt-eq": pc.less_equal, "gt": pc.greater, "gt-eq": pc.greater_equal}
STORES = {"file": pyarrow.fs.LocalFileSystem, "s3": pyarrow.fs.S3FileSystem}


def post(route, body, accept="application/json"):
    answer = requests.post(f"{server}/v1/namespaces{route}", json=body, headers={"Accept": accept})
    if not answer.ok and answer.status_code != 409:  # from a second run on, what is made here is there already
        raise SystemExit(f"{route}: {answer.json()['detail']}: {answer.json()['faults']}")
    return answer


def pages(table, plan):
    """The pages of a plan. One that breaks off raises an exception and is never a shorter one."""
    while True:
        answer = post(f"{table}/plan", plan, accept="application/vnd.apache.arrow.stream")
        page = pa.ipc.open_stream(answer.content).read_all()
        about = {key.decode(): value.decode() for key, value in page.schema.metadata.items()}
        yield page, about
        if "next_page_token" not in about:
            return
        plan = plan | {"page_token": about["next_page_token"]}


def expression(test):
    """An Iceberg expression of comparisons as one of pyarrow's."""
    if test["type"] in ("and", "or"):
        left, right = expression(test["left"]), expression(test["right"])
        return left & right if test["type"] == "and" else left | right
    return COMPARE[test["type"]](pc.field(test["term"]), pa.scalar(test["value"]))


files = sorted(str(path) for path in folder.glob("**/*.parquet"))
if not files:
    raise SystemExit(f"there are no Parquet files below {folder}")
events = "/examples/tables/events"
post("", {"name": "examples"})
post("/examples/tables", {"name": "events", "schema_from": files[0], "location": f"{folder}/"})
post(f"{events}/commits", {"operation": "append", "add": [{"path": path} for path in files]})

rows, metrics = 0, None
for page, about in pages(events, {"filter": condition, "page_size": 100_000}):
    metrics = metrics or json.loads(about["metrics"])  # of the whole plan, on its first page
    for file in page.select(["path", "residual"]).to_pylist():
        store, _, path = file["path"].partition("://")  # it is no URI: `%20` in it is three characters
        # Without a residual every row of the file matches, and none need be looked at.
        left = file["residual"] and expression(json.loads(file["residual"]))
        rows += pq.read_table(path, filesystem=STORES[store](), filters=left, partitioning=None).num_rows

print(f"{rows} rows in {metrics['files_kept']} files, {metrics['files_all']} of them without a filter")
print(f"skipped {metrics['files_pruned']} of {metrics['files_considered']} files, {metrics['bytes_pruned']} bytes")
