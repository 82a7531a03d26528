"""Each type as the column of a filter, against the same filter on a full read of the same files."""

import datetime as dt
import decimal
import random
import uuid

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from client import load
from native import check, register
from pyiceberg import expressions as e
from pyiceberg.expressions.visitors import bind
from pyiceberg.io.pyarrow import expression_to_pyarrow

UTC = dt.timezone.utc
D = decimal.Decimal
NAN, INF = float("nan"), float("inf")

# The type of the column, its values in three files, and literals beside these.
CASES = {
    "boolean": (pa.bool_(), [[True, None], [False, False], [True, True]], []),
    "int": (pa.int32(), [[-(2**31), None, -7], [0, 0, 1], [5, 2**31 - 1]], [3, -8]),
    "long": (pa.int64(), [[-(2**63), None, -7], [0, 0, 1], [5, 2**63 - 1]], [3, 2**40]),
    "int8": (pa.int8(), [[-128, None], [0, 1], [5, 127]], [3, 1000]),
    "int16": (pa.int16(), [[-(2**15), None], [0, 1], [5, 2**15 - 1]], [3, 100_000]),
    "uint8": (pa.uint8(), [[0, None], [100, 128], [200, 255]], [150, -1, 256]),
    "uint16": (pa.uint16(), [[0, None], [100, 2**15], [2**15 + 1, 2**16 - 1]], [150, -1]),
    "float": (pa.float32(), [[-INF, None, -1.5], [-0.0, 0.25, NAN], [0.1, 3.4e38, INF], [NAN, NAN]], [0.5, 1.0]),
    "double": (pa.float64(), [[-INF, None, -1.5], [-0.0, 0.25, NAN], [0.1, 1e308, INF], [NAN, None]], [0.5, 1]),
    "decimal": (pa.decimal128(9, 2), [[D("-99.99"), None], [D("0.00"), D("1.50")], [D("1.51"), D("9999999.99")]], [D("1.40")]),
    "wide_decimal": (pa.decimal128(38, 4), [[D("-9.9999"), None], [D("0.0001")], [D("9" * 34 + ".9999")]], [D("5.0000")]),
    "date": (pa.date32(), [[dt.date(1, 1, 1), None], [dt.date(1969, 12, 31), dt.date(1970, 1, 1)], [dt.date(9999, 12, 31)]], ["2024-02-29"]),
    "time": (pa.time64("us"), [[dt.time(0), None], [dt.time(1, 2, 3), dt.time(12)], [dt.time(23, 59, 59, 999_999)]], ["06:00:00"]),
    "timestamp": (pa.timestamp("us"), [[dt.datetime(1, 1, 1), None], [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)], [dt.datetime(2024, 1, 1), dt.datetime(9999, 12, 31)]], ["2000-01-01T00:00:00"]),
    "timestamp_ms": (pa.timestamp("ms"), [[dt.datetime(1800, 1, 1), None], [dt.datetime(1970, 1, 1, 0, 0, 0, 5_000)], [dt.datetime(2024, 1, 1)]], ["1970-01-01T00:00:00.005001"]),
    "timestamptz": (pa.timestamp("us", "UTC"), [[dt.datetime(1800, 1, 1, tzinfo=UTC), None], [dt.datetime(1970, 1, 1, tzinfo=UTC)], [dt.datetime(2024, 1, 1, 1, tzinfo=UTC)]], ["2024-01-01T02:00:00+01:00", "2000-01-01T00:00:00+00:00"]),
    "timestamptz_ms": (pa.timestamp("ms", "UTC"), [[dt.datetime(1800, 1, 1, tzinfo=UTC), None], [dt.datetime(2024, 1, 1, 1, tzinfo=UTC)]], ["2000-01-01T00:00:00+00:00"]),
    "string": (pa.string(), [["", None, "a"], ["ab", "abc" * 30], ["b", "é", "\U0001f600"]], ["aa", "abcabc", "z"]),
    "binary": (pa.binary(), [[b"", None], [b"\x00", b"ab"], [b"\x80", b"\xff\xff"]], [b"a"]),
    "fixed": (pa.binary(4), [[b"\x00\x00\x00\x00", None], [b"abcd"], [b"\xff\xff\xff\xff"]], [b"abce"]),
    "uuid": (pa.uuid(), [[uuid.UUID(int=0).bytes, None], [uuid.UUID(int=2**64).bytes], [uuid.UUID(int=2**128 - 1).bytes]], [uuid.UUID(int=5)]),
}
TREES = 20


def literal(value):
    """A value as PyIceberg takes it in an expression."""
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    return value


def literals(name, parts, others):
    found = {repr(value): value for part in parts for value in part if value is not None}
    values = [uuid.UUID(bytes=value) for value in found.values()] if name == "uuid" else list(found.values())
    # Neither is a literal that an expression can have.
    values = [value for value in values if not (isinstance(value, float) and (value != value or abs(value) == INF))]
    return [literal(value) for value in values] + others


def leaves(name, values):
    """Every test of the column with every literal."""
    found = [e.IsNull("v"), e.NotNull("v")]
    for value in values:
        found += [test("v", value) for test in (e.EqualTo, e.NotEqualTo, e.LessThan, e.LessThanOrEqual, e.GreaterThan, e.GreaterThanOrEqual)]
        if name == "string":
            found += [e.StartsWith("v", value), e.NotStartsWith("v", value)]
    some = values[:2] + values[-1:]
    found += [e.In("v", some), e.NotIn("v", some), e.In("v", values), e.NotIn("v", values)]
    if name in ("float", "double"):
        found += [e.IsNaN("v"), e.NotNaN("v")]
    return found


def tree(rng, leaves, depth):
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(leaves)
    kind = rng.choice(["and", "or", "not"])
    if kind == "not":
        return e.Not(tree(rng, leaves, depth - 1))
    pair = (tree(rng, leaves, depth - 1), tree(rng, leaves, depth - 1))
    return e.And(*pair) if kind == "and" else e.Or(*pair)


def by_pyarrow(table, filter):
    """The filter as PyIceberg gives it to PyArrow."""
    return expression_to_pyarrow(bind(table.schema(), filter, case_sensitive=True))


def ids_of(rows):
    return sorted(rows.column("id").to_pylist())


def is_bindable(table, filter):
    """Whether PyIceberg takes the filter at all."""
    try:
        bind(table.schema(), filter, case_sensitive=True)
        return True
    except (TypeError, ValueError):
        return False


def expected_ids(name, table, full, filter):
    """The ids of the rows that match, in all files."""
    if name != "uuid":
        return ids_of(full.filter(by_pyarrow(table, filter)))
    # PyArrow does not compare uuids.
    rows = zip(full.column("id").to_pylist(), full.column("v").to_pylist())
    wanted = {uuid.UUID(bytes=literal.value) for literal in getattr(filter, "literals", None) or [filter.literal]}
    return sorted(id for id, value in rows if value in wanted)


def check_scan(name, table, full, ids_in, filter):
    """A filter by what is planned, read and counted for it; and how many files were not read."""
    scan, what = table.scan(row_filter=filter), f"{name} {filter}"
    tasks = list(scan.plan_files())
    expected = expected_ids(name, table, full, filter)
    planned = {id for task in tasks for id in ids_in[task.file.file_path.removeprefix("file://")]}
    check(set(expected) - planned, set(), f"rows of files that are not in the plan of {what}")
    if name != "uuid":
        found = scan.to_arrow()
        if ids_of(found) != expected:
            # PyArrow, too, skips row groups, and forgets the NaNs of floats over it: whoever plans, it reads no more.
            rows = ds.dataset(list(ids_in), schema=full.schema).to_table(filter=by_pyarrow(table, filter))
            check(ids_of(found), ids_of(rows), what)
        check(scan.count(), found.num_rows, f"count of {what}")
    return len(ids_in) - len(tasks)


pruned = 0
for name, (column_type, parts, others) in CASES.items():
    tables, next_id = [], 0
    for values in parts:
        ids = range(next_id, next_id + len(values))
        next_id += len(values)
        tables.append(pa.table({"id": pa.array(ids, pa.int64()), "v": pa.array(values, column_type)}))
    for variant, ids in [("ids", range(9)), ("names", ()), ("mixed", (0, 2))]:
        paths = register(f"{name}_{variant}", tables, ids)
        table, rng = load(f"{name}_{variant}"), random.Random(f"{name} {variant}")
        full = pa.concat_tables(pq.read_table(path) for path in paths).cast(table.schema().as_arrow())
        ids_in = {path: pq.read_table(path).column("id").to_pylist() for path in paths}
        tests = [test for test in leaves(name, literals(name, parts, others)) if is_bindable(table, test)]
        if name == "uuid":
            tests = [test for test in tests if isinstance(test, (e.EqualTo, e.In))]
        else:
            tests += [tree(rng, tests, 3) for _ in range(TREES)]
        check(len(tests) > 4, True, f"{name}: tests")
        # All of them where both kinds of files are, a part of them otherwise.
        for filter in tests if variant == "mixed" else rng.sample(tests, len(tests) // 4):
            pruned += check_scan(name, table, full, ids_in, filter)
        check(len(list(table.scan(row_filter=e.IsNull("v")).plan_files())) < len(paths), True, f"{name}: pruning")
check(pruned > 500, True, f"{pruned} files pruned")
print("done")
