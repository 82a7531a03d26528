"""Every answer, held against the specification's schema of it."""

import json
import os

import pyarrow as pa
from jsonschema import Draft202012Validator
from native import Refused, call, check, commit, create, register

with open(os.path.join(os.path.dirname(__file__), "../schemas/answers.json")) as file:
    SCHEMAS = json.load(file)
NAMESPACE = "/iceberg/v1/namespaces/n"
T = f"{NAMESPACE}/tables/t"


def valid(kind, answer):
    schema = {**SCHEMAS, "$ref": f"#/$defs/{kind}"}
    faults = [fault.message for fault in Draft202012Validator(schema).iter_errors(answer)]
    check(faults, [], f"{kind} {answer}")
    return answer


def refused(status, method, path, body=None):
    try:
        found = call(method, path, body)
    except Refused as error:
        check(error.status, status, f"{method} {path}")
        check(valid("error", error.body)["error"]["code"], status, path)
        return
    raise AssertionError(f"{method} {path} was answered: {found}")


place = pa.struct([("x", pa.int32()), ("tags", pa.list_(pa.map_(pa.string(), pa.float64())))])
rows = [{"id": n, "name": f"name {n}", "place": {"x": n, "tags": [[("k", 1.5)]]}} for n in range(3)]
schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("place", place)])
parts = [pa.Table.from_pylist(rows, schema=schema), pa.Table.from_pylist(rows[:1], schema=schema)]
register("t", parts)
call("PATCH", "/v1/namespaces/n/tables/t", {"schema": [{"op": "rename", "column": "name", "to": "title"}]})
call("PUT", "/v1/namespaces/n/tables/t/tags/first", {"snapshot_id": 1})
create("empty", schema={"fields": [{"name": "id", "type": "int64"}]})

valid("config", call("GET", "/iceberg/v1/config"))
valid("namespaces", call("GET", "/iceberg/v1/namespaces"))
valid("namespaces", call("GET", "/iceberg/v1/namespaces?pageToken=&pageSize=1"))
valid("one_namespace", call("GET", NAMESPACE))
valid("tables", call("GET", f"{NAMESPACE}/tables"))
paged = valid("tables", call("GET", f"{NAMESPACE}/tables?pageToken=&pageSize=1"))
valid("tables", call("GET", f"{NAMESPACE}/tables?pageToken={paged['next-page-token']}&pageSize=1"))
for query in ("", "?snapshots=all", "?snapshots=refs"):
    valid("table", call("GET", f"{T}{query}"))
valid("table", call("GET", f"{NAMESPACE}/tables/empty"))
filter = {"type": "and", "left": {"type": "gt", "term": "id", "value": 0}, "right": {"type": "not-null", "term": "title"}}
for body in ({}, {"filter": filter}, {"stats-fields": ["id", "title", "place"]}, {"snapshot-id": 1}, {"select": ["id"], "min-rows-requested": 1}):
    plan = valid("plan", call("POST", f"{T}/plan", body))
    valid("fetched_plan", call("GET", f"{T}/plan/{plan['plan-id']}"))
valid("plan", call("POST", f"{NAMESPACE}/tables/empty/plan", {}))
check(call("POST", f"{T}/metrics", {"report-type": "scan-report"}), None, "a report is taken")

# A plan in parts.
files = [{"path": f"/data/{n}.parquet", "size_bytes": 1, "row_count": 1} for n in range(5_000)]
create("many", schema={"fields": [{"name": "id", "type": "int64"}]}, properties={"verification": "declared"})
commit("many", files)
many = f"{NAMESPACE}/tables/many"
plan = valid("plan", call("POST", f"{many}/plan", {}))
valid("tasks", call("POST", f"{many}/tasks", {"plan-task": plan["plan-tasks"][0]}))
check(call("DELETE", f"{many}/plan/{plan['plan-id']}"), None, "cancelled")
refused(404, "POST", f"{many}/tasks", {"plan-task": plan["plan-tasks"][0]})
refused(404, "GET", f"{many}/plan/{plan['plan-id']}")
refused(404, "DELETE", f"{many}/plan/{plan['plan-id']}")

refused(404, "GET", "/iceberg/v1/namespaces/ghost")
refused(404, "GET", f"{NAMESPACE}/tables/ghost")
refused(404, "GET", "/iceberg/v1/nothing")
refused(406, "POST", f"{NAMESPACE}/tables", {})
refused(400, "POST", f"{T}/plan", {"filter": {"type": "eq"}})
refused(404, "POST", f"{T}/plan", {"snapshot-id": 99})
print("done")
