"""Sessions as lists of steps: calls that take fields of earlier answers, and what is expected.

A step is {"tool": …, "arguments": {…}, "answer": {…}}. In arguments the string "{2.version}" stands
for the field `version` of the second step's answer, "{2.scopes.0.text}" for a field further inside.
`answer` has the fields that the answer must have; an object is compared field by field too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Step = dict[str, Any]


def bound(value: Any, answers: Sequence[Any]) -> Any:
    """`value` with fields of earlier answers in their places."""
    if isinstance(value, str):
        place = re.fullmatch(r"\{(\d+)\.([\w.]+)\}", value)
        if place is None:
            return value
        found = answers[int(place[1]) - 1]
        for name in place[2].split("."):
            found = found[int(name)] if isinstance(found, list) else found[name]
        return found
    if isinstance(value, list):
        return [bound(inner, answers) for inner in value]
    if isinstance(value, dict):
        return {name: bound(inner, answers) for name, inner in value.items()}
    return value


def assert_answered(expected: Any, answer: Any, answers: Sequence[Any], where: str) -> None:
    """Assert that `answer` has what is expected of it."""
    if isinstance(expected, dict):
        assert isinstance(answer, dict), f"{where}: {answer}"
        for name, inner in expected.items():
            assert name in answer, f"{where}: there is no {name} in {answer}"
            assert_answered(inner, answer[name], answers, f"{where}.{name}")
    elif isinstance(expected, list):
        assert isinstance(answer, list), f"{where}: {answer}"
        assert len(answer) == len(expected), f"{where}: {answer}"
        for number, inner in enumerate(expected):
            assert_answered(inner, answer[number], answers, f"{where}.{number}")
    else:
        assert answer == bound(expected, answers), f"{where}: {answer!r}"
