"""A server that needs tokens."""

import os

from client import load
from native import check, create


def status_of(**properties):
    try:
        return load("t", **properties).name()
    except Exception as error:
        return type(error).__name__


create("t", schema={"fields": [{"name": "id", "type": "int64"}]})
check(status_of(token=os.environ["TOKEN"]), ("n", "t"), "with a token")
check(status_of(), "UnauthorizedError", "without one")
check(status_of(token="prunus_wrong"), "UnauthorizedError", "with a wrong one")
check(status_of(token=os.environ["OTHER_TOKEN"]), "ForbiddenError", "with one for another namespace")
print("done")
