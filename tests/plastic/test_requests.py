"""Calls that are refused before anything is started, and the bounds of what is accepted."""

import json
from typing import Any

import pytest

from patchdiff.plastic.failure import Failure
from patchdiff.plastic.requests import diff_request, patch_request
from tests.plastic.kit import Workspace, error

FILE = {"mode": "file", "path": "a.txt"}
REVISIONS = {"mode": "revisions", "leftRevision": "l", "rightRevision": "r"}
WORKSPACE = {"mode": "workspace", "paths": ["a.txt"]}
ALL = {"mode": "workspace", "allPending": True}

REFUSED = [
    pytest.param({}, marks=pytest.mark.req("PDIFF-002")),
    *[
        pytest.param({**FILE, "mode": mode}, marks=pytest.mark.req("PDIFF-002"))
        for mode in ("File", "revision", "pending", "", None, 1, ["file"])
    ],
    pytest.param({"mode": "file"}, marks=pytest.mark.req("PDIFF-004")),
    {**FILE, "path": ""},
    {**FILE, "path": None},
    {**FILE, "path": "a\nb"},
    {**FILE, "path": "a\ud800"},
    {**FILE, "path": "a" * 4097},
    {**FILE, "revision": None},
    {**FILE, "revision": "x;/tmp/y"},
    {**FILE, "revision": "--file=x"},
    {**FILE, "revision": ""},
    {**FILE, "unknown": 1},
    pytest.param({"mode": "revisions", "leftRevision": "l"}, marks=pytest.mark.req("PDIFF-007")),
    pytest.param({"mode": "revisions", "rightRevision": "r"}, marks=pytest.mark.req("PDIFF-007")),
    {**REVISIONS, "leftRevision": "l;out"},
    {**REVISIONS, "rightRevision": "-r"},
    pytest.param({"mode": "workspace"}, marks=pytest.mark.req("PDIFF-009")),
    pytest.param({**WORKSPACE, "paths": []}, marks=pytest.mark.req("PDIFF-009")),
    pytest.param({"mode": "workspace", "allPending": False}, marks=pytest.mark.req("PDIFF-009")),
    pytest.param({**WORKSPACE, "allPending": True}, marks=pytest.mark.req("PDIFF-009")),
    {**ALL, "paths": []},
    {**WORKSPACE, "paths": "a.txt"},
    {**WORKSPACE, "paths": ["a.txt", 1]},
    {**WORKSPACE, "paths": ["a.txt", ""]},
    {**ALL, "allPending": 1},
    {**ALL, "allPending": "true"},
    pytest.param({**WORKSPACE, "includePrivate": True}, marks=pytest.mark.req("PDIFF-010")),
    pytest.param({**WORKSPACE, "includePrivate": False}, marks=pytest.mark.req("PDIFF-010")),
    {**ALL, "includePrivate": 0},
    pytest.param({**FILE, "paths": ["a.txt"]}, marks=pytest.mark.req("PDIFF-012")),
    pytest.param({**FILE, "allPending": False}, marks=pytest.mark.req("PDIFF-012")),
    pytest.param({**FILE, "maxFiles": 20}, marks=pytest.mark.req("PDIFF-012")),
    pytest.param({**FILE, "leftRevision": "l"}, marks=pytest.mark.req("PDIFF-012")),
    pytest.param({**REVISIONS, "path": "a"}, marks=pytest.mark.req("PDIFF-012")),
    pytest.param({**REVISIONS, "includePrivate": False}, marks=pytest.mark.req("PDIFF-012")),
    pytest.param({**ALL, "path": "a"}, marks=pytest.mark.req("PDIFF-012")),
    pytest.param({**ALL, "revision": "r"}, marks=pytest.mark.req("PDIFF-012")),
    pytest.param(
        {**WORKSPACE, "paths": [f"{n}" for n in range(21)]}, marks=pytest.mark.req("PDIFF-013")
    ),
    pytest.param({**WORKSPACE, "paths": ["a"] * 21}, marks=pytest.mark.req("PDIFF-013")),
    pytest.param({**ALL, "maxFiles": 0}, marks=pytest.mark.req("PDIFF-014")),
    pytest.param({**ALL, "maxFiles": 21}, marks=pytest.mark.req("PDIFF-014")),
    {**ALL, "maxFiles": True},
    {**ALL, "maxFiles": 3.0},
    {**ALL, "maxFiles": "3"},
    pytest.param({**FILE, "maxChars": 499}, marks=pytest.mark.req("PDIFF-074")),
    pytest.param({**FILE, "maxChars": 20_001}, marks=pytest.mark.req("PDIFF-074")),
    pytest.param({**REVISIONS, "maxChars": 499}, marks=pytest.mark.req("PDIFF-074")),
    pytest.param({**REVISIONS, "maxChars": 20_001}, marks=pytest.mark.req("PDIFF-074")),
    pytest.param({**ALL, "maxChars": 499}, marks=pytest.mark.req("PDIFF-075")),
    pytest.param({**ALL, "maxChars": 8_001}, marks=pytest.mark.req("PDIFF-075")),
    {**FILE, "maxChars": None},
    {**FILE, "format": "JSON"},
    {**FILE, "format": None},
    {**FILE, "format": ["json"]},
]


@pytest.mark.parametrize("arguments", REFUSED)
@pytest.mark.req("PDIFF-020", "PDIFF-022", "PDIFF-023", "PDIFF-024")
def test_a_comparison_is_refused_before_anything_starts(
    workspace: Workspace, arguments: dict[str, Any]
) -> None:
    envelope = workspace.diff(**arguments)
    assert envelope == {
        "version": 1,
        "action": "diff",
        "ok": False,
        "completeness": {"read": "none", "projection": "complete"},
        "data": None,
        "error": {
            "code": "invalid_request",
            "message": envelope["error"]["message"],
            "stage": "request",
        },
    }
    assert workspace.calls() == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(
            FILE, {"most_characters": 8_000, "revision": None}, marks=pytest.mark.req("PDIFF-074")
        ),
        pytest.param(
            {**FILE, "maxChars": 500}, {"most_characters": 500}, marks=pytest.mark.req("PDIFF-074")
        ),
        pytest.param(
            {**REVISIONS, "maxChars": 20_000},
            {"most_characters": 20_000},
            marks=pytest.mark.req("PDIFF-074"),
        ),
        (REVISIONS, {"most_characters": 8_000}),
        pytest.param(ALL, {"most_characters": 3_000}, marks=pytest.mark.req("PDIFF-075")),
        pytest.param(
            {**ALL, "maxChars": 8_000},
            {"most_characters": 8_000},
            marks=pytest.mark.req("PDIFF-075"),
        ),
        pytest.param(
            {**ALL, "maxChars": 500}, {"most_characters": 500}, marks=pytest.mark.req("PDIFF-075")
        ),
        (ALL, {"most_files": 3, "all_pending": True, "include_private": False}),
        (WORKSPACE, {"most_files": 20, "all_pending": False, "paths": ("a.txt",)}),
        pytest.param({**ALL, "maxFiles": 1}, {"most_files": 1}, marks=pytest.mark.req("PDIFF-014")),
        pytest.param(
            {**WORKSPACE, "maxFiles": 20}, {"most_files": 20}, marks=pytest.mark.req("PDIFF-014")
        ),
        pytest.param(
            {**WORKSPACE, "paths": [str(n) for n in range(20)]},
            {"paths": tuple(str(n) for n in range(20))},
            marks=pytest.mark.req("PDIFF-013"),
        ),
        ({**FILE, "path": "a" * 4096}, {"path": "a" * 4096}),
    ],
)
def test_what_is_accepted_and_its_defaults(
    arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    request = diff_request(arguments)
    assert {name: getattr(request, name) for name in expected} == expected


PATCH_REFUSED = [
    pytest.param({}, marks=pytest.mark.req("PPATCH-003")),
    {"source": ""},
    {"source": 1},
    {"source": None},
    {"source": "-x"},
    {"source": "br:/a;b"},
    {"source": "br:/a\x00"},
    {"source": "br:/a", "destination": None},
    {"source": "br:/a", "clean": 1},
    {"source": "br:/a", "integration": "true"},
    {"source": "br:/a", "preflight": None},
    {"source": "br:/a", "output": ""},
    {"source": "br:/a", "output": "-o"},
    {"source": "br:/a", "toolPath": "diff"},
    {"source": "br:/a", "toolPath": "./diff"},
    pytest.param({"source": "br:/a", "format": "patch"}, marks=pytest.mark.req("PPATCH-005")),
    pytest.param({"source": "br:/a", "apply": True}, marks=pytest.mark.req("PPATCH-020")),
    pytest.param({"source": "--apply"}, marks=pytest.mark.req("PPATCH-020")),
    pytest.param({"source": "s" * 4097}, marks=pytest.mark.req("PPATCH-036")),
    pytest.param({"source": "\U0001f600" * 2049}, marks=pytest.mark.req("PPATCH-036")),
    pytest.param({"source": "br:/a", "output": "o" * 4097}, marks=pytest.mark.req("PPATCH-036")),
]


@pytest.mark.parametrize("arguments", PATCH_REFUSED)
@pytest.mark.req("PPATCH-048")
def test_a_patch_is_refused_before_anything_starts(
    workspace: Workspace, arguments: dict[str, Any]
) -> None:
    envelope = workspace.patch(**arguments)
    assert error(envelope) == ("invalid_request", "request")
    assert list(envelope) == ["version", "action", "ok", "completeness", "data", "error"]
    assert (envelope["version"], envelope["action"], envelope["data"]) == (1, "patch", None)
    assert envelope["completeness"] == {"read": "none", "projection": "complete"}
    assert workspace.calls() == []


@pytest.mark.req("PPATCH-002", "PPATCH-003")
def test_the_defaults_of_a_patch() -> None:
    request = patch_request({"source": "br:/a"})
    assert (request.format, request.clean, request.integration) == ("json", False, False)
    assert (request.destination, request.output, request.tool_path) == (None, None, None)
    assert request.preflight is False


@pytest.mark.parametrize("source", ["s" * 4096, "\U0001f600" * 2048, "a" + "\U0001f600" * 2047])
@pytest.mark.req("PPATCH-036")
def test_a_control_of_4096_code_units_is_accepted(source: str) -> None:
    assert patch_request({"source": source}).source == source


def request_of_size(size: int) -> dict[str, Any]:
    """A request of exactly that many UTF-8 bytes, each string within its own bound."""
    request = {"source": "", "destination": "\u6f22" * 4096, "output": "\u6f22" * 4096}
    missing = size - len(json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode())
    threes, ones = divmod(missing, 3)
    request["source"] = "\u6f22" * threes + "a" * ones
    assert 0 < len(request["source"]) <= 4096
    return request


@pytest.mark.req("PPATCH-035")
def test_a_request_of_32768_bytes_is_accepted_and_one_more_refused() -> None:
    fitting = request_of_size(32_768)
    assert patch_request(fitting).source == fitting["source"]
    with pytest.raises(Failure, match="invalid_request"):
        patch_request(request_of_size(32_769))
