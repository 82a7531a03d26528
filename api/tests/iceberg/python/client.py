"""PyIceberg as it comes: nothing is set but where the catalog is."""

from native import URL
from pyiceberg.catalog import load_catalog


def load(name, **properties):
    """The table `n.NAME`."""
    return load_catalog("p", type="rest", uri=f"{URL}/iceberg", **properties).load_table(f"n.{name}")


def files(scan):
    """How many files a scan has to read."""
    return len(list(scan.plan_files()))
