"""The native API, and Parquet files to register by it."""

import json
import os
import sys
import urllib.error
import urllib.request

import pyarrow as pa
import pyarrow.parquet as pq

URL, FOLDER = sys.argv[1], sys.argv[2]
TOKEN = os.environ.get("TOKEN")


class Refused(Exception):
    """An answer that says no: its status, and its body as JSON."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body}")
        self.status, self.body = status, body


def call(method, path, body=None):
    """The answer of a route, as JSON; None if it has no body."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, method=method, data=data)
    request.add_header("content-type", "application/json")
    if TOKEN:
        request.add_header("authorization", f"Bearer {TOKEN}")
    try:
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
            return json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        text = error.read()
        raise Refused(error.code, json.loads(text) if text else None) from None


def with_ids(schema, first=1):
    """The schema with field ids that count up; of the first level alone."""
    fields = [field.with_metadata({"PARQUET:field_id": str(first + index)}) for index, field in enumerate(schema)]
    return pa.schema(fields)


def write(table, name, ids=False):
    """Writes a file, and says where it is."""
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(table.cast(with_ids(table.schema)) if ids else table, path)
    return path


def commit(name, paths, operation="append", **rest):
    """Adds files to `n.NAME`, and says which snapshot that made."""
    body = {"operation": operation, "add": [path if isinstance(path, dict) else {"path": path} for path in paths], **rest}
    return call("POST", f"/v1/namespaces/n/tables/{name}/commits", body)["snapshot_id"]


def create(name, **of):
    """Makes the namespace `n` if it is not there, and `n.NAME` in a folder of its own."""
    try:
        call("POST", "/v1/namespaces", {"name": "n"})
    except Refused as refused:
        assert refused.status == 409, refused
    return call("POST", "/v1/namespaces/n/tables", {"name": name, "location": f"{FOLDER}/{name}/", **of})


def register(name, tables, ids=()):
    """Makes `n.NAME` of these tables, a file each; those whose places are in `ids` have field ids."""
    paths = [write(table, f"{name}/{index}.parquet", index in ids) for index, table in enumerate(tables)]
    create(name, schema_from=paths[0])
    commit(name, paths)
    return paths


def check(found, expected, what=""):
    """Stops where something is not as it should be."""
    if found != expected:
        raise AssertionError(f"{what}: found {found!r}, expected {expected!r}")
