"""Where two stored records differ: the paths that a request-key conflict names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

LISTED_PATHS = 10
NAME_CHARACTERS = 64
DEEPEST_PATH_CHARACTERS = 160
"""A longer path is not followed further: it is named as a whole when something in it differs."""


def differing_fields(existing: str, submitted: str) -> dict[str, object]:
    """The first ten paths, such as ``edits[0].rationale``, at which two records differ.

    Nothing is said of a row whose record is no JSON. A field that only one of them has differs,
    also when it is null.
    Returns the diagnostic's ``differing_fields`` and ``differing_fields_truncated`` (contract,
    "Request-key diagnostics").
    """
    try:
        recorded = json.loads(existing)
    except (ValueError, RecursionError):
        return {}
    paths = list(islice(_paths("", recorded, json.loads(submitted)), LISTED_PATHS + 1))
    return {
        "differing_fields": paths[:LISTED_PATHS],
        "differing_fields_truncated": len(paths) > LISTED_PATHS,
    }


def _paths(path: str, one: Any, other: Any) -> Iterator[str]:
    if len(path) > DEEPEST_PATH_CHARACTERS:
        if one != other:
            yield path
    elif isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*one, *other)):
            shown = ascii(name)[1:-1][:NAME_CHARACTERS]
            inner = f"{path}.{shown}" if path else shown
            if name in one and name in other:
                yield from _paths(inner, one[name], other[name])
            else:
                yield inner
    elif isinstance(one, list) and isinstance(other, list):
        for position in range(max(len(one), len(other))):
            inner = f"{path}[{position}]"
            if position < min(len(one), len(other)):
                yield from _paths(inner, one[position], other[position])
            else:
                yield inner
    elif type(one) is not type(other) or one != other:
        yield path
