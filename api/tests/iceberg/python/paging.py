"""A plan of 10,000 files, in parts."""

from client import load
from native import call, check, commit, create

FILES = 10_000

create("many", schema={"fields": [{"name": "id", "type": "int64"}]}, properties={"verification": "declared"})
for first in range(0, FILES, 2_500):
    numbers = range(first, first + 2_500)
    commit("many", [
        {"path": f"{number:05}.parquet", "size_bytes": 100, "row_count": 3, "columns": {"id": {"min": number, "max": number, "null_count": 0}}}
        for number in numbers
    ])
table = load("many")
paths = [task.file.file_path for task in table.scan().plan_files()]
check((len(paths), len(set(paths))), (FILES, FILES), "all files")
check(table.scan().count(), 3 * FILES, "rows")
check(len(list(table.scan(row_filter=f"id >= {FILES - 6_000}").plan_files())), 6_000, "pruned")

# By hand: the parts, and what becomes of them once the plan is cancelled.
route = "/iceberg/v1/namespaces/n/tables/many"
plan = call("POST", f"{route}/plan", {})
check(plan["status"], "completed", "a plan is made at once")
tasks, parts = plan.get("plan-tasks"), [len(plan["file-scan-tasks"])]
while tasks:
    check(len(tasks), 1, "one after another")
    part = call("POST", f"{route}/tasks", {"plan-task": tasks[0]})
    parts.append(len(part["file-scan-tasks"]))
    tasks = part.get("plan-tasks")
check(parts, [4_096, 4_096, FILES - 2 * 4_096], "parts")

print("done")
