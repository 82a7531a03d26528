"""Uses a client that was generated from the OpenAPI document against the server at the URL that is given."""

import sys
from datetime import datetime

from prunus_client import Client
from prunus_client.api.commits import commit
from prunus_client.api.namespaces import create_namespace
from prunus_client.api.scans import plan_scan
from prunus_client.api.tables import alter_table, create_table, get_table
from prunus_client.models import (
    AddField, AlterTable, Commit, Committed, Field, ListType, NewFile, NewNamespace, NewSchema, NewTable, Operation, Plan,
    Planned, Problem, Table, Verdict,
)

client = Client(base_url=sys.argv[1])

created = create_namespace.sync(client=client, body=NewNamespace(name="lake.raw"), idempotency_key="first")
again = create_namespace.sync_detailed(client=client, body=NewNamespace(name="lake.raw"), idempotency_key="first")
assert created.name == "lake.raw" and isinstance(created.created_at, datetime)
assert again.status_code == 201 and again.headers["Idempotency-Replayed"] == "true"

fields = [Field(name="day", type_="date"), Field(name="stops", type_=ListType.from_dict({"type": "list", "element": "string"}))]
new = NewTable.from_dict({"name": "trips", "location": "/data/", "properties": {"verification": "declared"}})
new.schema = NewSchema(fields=fields)
table = create_table.sync("lake.raw", client=client, body=new)
assert isinstance(table, Table) and table.schema.fields[1].type_.element == "string", table

day = {"min": "2024-01-01", "max": "2024-01-31", "null_count": 0}
files = [
    NewFile.from_dict({"path": "january.parquet", "size_bytes": 10, "row_count": 5, "columns": {"day": day}}),
    NewFile(path="unknown.parquet", size_bytes=10),
]
append = Commit(operation=Operation.APPEND, add=files)
committed = commit.sync("lake.raw", "trips", client=client, body=append)
assert isinstance(committed, Committed) and (committed.snapshot_id, committed.added_files) == (1, 2), committed

planned = plan_scan.sync("lake.raw", "trips", client=client, body=Plan(filter_="day > DATE '2024-02-01'"))
assert isinstance(planned, Planned) and planned.metrics.files_pruned == 1, planned
assert [(file.path, file.verdict) for file in planned.files] == [("file:///data/unknown.parquet", Verdict.SOME)], planned

conflict = commit.sync("lake.raw", "trips", client=client, body=append)
assert isinstance(conflict, Problem) and conflict.type_ == "/problems/conflict", conflict
assert [path.reason.value for path in conflict.conflicts] == ["already_live"] * 2, conflict

refused = plan_scan.sync("lake.raw", "trips", client=client, body=Plan(filter_="dya > DATE '2024-02-01'"))
assert isinstance(refused, Problem) and refused.status == 422 and refused.faults[0].column == "dya", refused

change = AlterTable(schema=[AddField.from_dict({"op": "add", "name": "fare", "type": "decimal(9,2)"})])
altered = alter_table.sync("lake.raw", "trips", client=client, body=change)
assert [field.name for field in altered.schema.fields] == ["day", "stops", "fare"], altered
missing = get_table.sync("lake.raw", "none", client=client)
assert isinstance(missing, Problem) and missing.status == 404 and not missing.retryable, missing

print("done")
