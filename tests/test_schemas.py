"""The advertised schemas: what hosts' engines make of them, and that the run time refuses what they
refuse."""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import re2
from jsonschema import Draft7Validator, Draft202012Validator, FormatChecker
from jsonschema.validators import extend

from patchdiff.catalog import TOOLS, Tool
from patchdiff.catalog_examples import CONTENT, OBSERVATION, OTHER_OBSERVATION, TARGET
from patchdiff.profiles import PROFILES
from tests.support.documents import Caller, ServiceCaller, document, sha256
from tests.support.observations import receipt
from tests.support.stdio import StdioClient

ADVERTISED = [(profile.name, tool) for profile in PROFILES.values() for tool in profile.tools]
every_advertised = pytest.mark.parametrize(
    "tool",
    [tool for _, tool in ADVERTISED],
    ids=[f"{name}:{tool.name}" for name, tool in ADVERTISED],
)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema."""
    if isinstance(schema, dict):
        yield schema
        for inner in schema.values():
            yield from nodes(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from nodes(inner)


def patterns() -> list[str]:
    found = {
        node["pattern"]
        for _, tool in ADVERTISED
        for node in nodes(tool.input_schema)
        if isinstance(node.get("pattern"), str)
    }
    return sorted(found)


@every_advertised
@pytest.mark.req("CAT-019", "CAT-011")
def test_a_schema_is_one_of_both_drafts_that_hosts_use(tool: Tool) -> None:
    for draft in (Draft202012Validator, Draft7Validator):
        draft.check_schema(tool.input_schema)
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    assert not {"anyOf", "oneOf", "allOf", "not", "if", "$ref"} & set(tool.input_schema)
    for example in tool.input_schema.get("examples", []):
        Draft202012Validator(tool.input_schema).validate(example)


@pytest.mark.req("CAT-015")
def test_every_pattern_compiles_under_re2_without_lookahead() -> None:
    found = patterns()
    assert len(found) >= 5
    for pattern in found:
        assert re2.compile(pattern).pattern == pattern
        assert "(?" not in pattern
    with pytest.raises(re2.error):
        re2.compile("^a(?!b)$")


@pytest.mark.req("CAT-015", "CAT-016", "CAT-017")
def test_re2_and_python_judge_values_alike() -> None:
    """A host on RE2 must let through what the run time takes, and stop what it refuses."""
    uuid, digest = TARGET, "a" * 64
    good = [uuid, uuid.upper(), digest, "key 1~", "A.b_c-1", "x" * 64, " " * 128]
    bad = [f"{value}{tail}" for value in good for tail in ("\n", "\r", "\0", "\u0660", "\u2028")]
    for pattern in patterns():
        for value in [*good, *bad, "", "x" * 65, "~" * 129]:
            mine = re.search(pattern, value) is not None and not value.endswith("\n")
            theirs = re2.search(pattern, value) is not None and not value.endswith("\n")
            assert mine == theirs, (pattern, value)


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


Strict = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**63, -(2**63) - 1, 10**400, 0.5, 1.0, "", " ", "x", "1", "true",
    "\u0000", "null", "x" * 65, f"{TARGET}\n", f"{TARGET.upper()}", f"{'a' * 64}\n", "a" * 63,
    "A" * 64, "key\n", "k" * 129, "k\u00e9y", "[]", [], {}, [None], [1], ["x"], [[]], [{}],
    {"op": "match"}, [{"op": "other", "match": "a", "replace": "b"}],
    [{"match": "", "replace": ""}], [{"match": "R", "replace": 1}],
    [{"op": "span", "start": -1, "end": 1}],
    [{"symbol_name": ""}], [{"symbol_name": "Use", "kind": 1}], [{"symbol_name": "Use", "x": 1}],
    [{"observation_id": "x", "operations": []}],
]  # fmt: skip

ELEMENTS = {
    "edits": {"match": "Then check.", "replace": "Then rest."},
    "operations": {
        "op": "span",
        "start": 40,
        "end": 44,
        "expected_text": "Then",
        "replace": "Now",
    },
}


def good_arguments(tool: Tool, caller: Caller, target: str) -> dict[str, Any]:
    """Arguments that the tool takes, of which one is then made bad."""
    examples = tool.input_schema.get("examples")
    if examples is None:
        filled = {"filename": "t", "content": "t", "content_type": "text/plain"}
        return {name: filled.get(name, target) for name in tool.input_schema["required"]}
    arguments: dict[str, Any] = deepcopy(examples[0])
    if "target_file_id" in arguments:
        arguments["target_file_id"] = target
    if "expected_target_version" in arguments:
        arguments["expected_current_hash"] = sha256(CONTENT)
    if "observation_id" in arguments:
        seen = receipt(caller, target, "Install (Linux)")
        arguments["observation_id"] = seen["observation_id"]
    return arguments


def bad_calls(tool: Tool, good: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of which one value is refused by the schema of its place, with the place."""
    for name, schema in tool.input_schema["properties"].items():
        judge = Strict(schema, format_checker=FormatChecker())
        for value in VALUES:
            if not judge.is_valid(value):
                yield name, {**good, name: value}
        if name in ELEMENTS and name in good:
            items = schema["items"]
            for field in ELEMENTS[name]:
                for value in VALUES:
                    item = {**ELEMENTS[name], field: value}
                    if not Strict(items).is_valid(item):
                        yield f"{name}.{field}", {**good, name: [item]}


REFUSED = {"invalid_argument", "rejected"}


@pytest.mark.req("CAT-020", "CAT-017")
@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.method)
def test_the_run_time_refuses_what_the_schema_refuses(service: Any, tool: Tool) -> None:
    target = service.initialize_target("guide.md", CONTENT)["target_file_id"]
    good = good_arguments(tool, ServiceCaller(service), target)
    calls = list(bad_calls(tool, good))
    assert len(calls) >= 20 * len(tool.input_schema["properties"])
    good.pop("client_request_id", None)
    for place, arguments in calls:
        answer = getattr(service, tool.method)(**arguments)
        assert answer.get("status") in REFUSED, (place, arguments, answer)
    after = service.read_target(target)
    assert (after["version"], after["text"]) == (0, CONTENT)
    # it was the bad value that each was refused for
    taken = getattr(service, tool.method)(**good)
    assert taken.get("status", "ok") not in REFUSED, taken


@pytest.mark.req("CAT-018", "CAT-020")
@pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS.values() if tool.read_only], ids=lambda tool: tool.method
)
def test_the_run_time_takes_null_where_the_schema_does(service: Any, tool: Tool) -> None:
    target = service.initialize_target("guide.md", CONTENT)["target_file_id"]
    good = good_arguments(tool, ServiceCaller(service), target)
    for name, schema in tool.input_schema["properties"].items():
        if Strict(schema).is_valid(None):
            answer = getattr(service, tool.method)(**{**good, name: None})
            assert answer.get("status", "ok") not in REFUSED, (name, answer)


@pytest.mark.req("CAT-017")
@pytest.mark.parametrize(
    ("tool", "field", "value", "code"),
    [
        ("get_target", "target_file_id", TARGET, "invalid_target_id"),
        ("submit_edits", "expected_current_hash", sha256(CONTENT), "invalid_expected_current_hash"),
        ("submit_edits", "client_request_id", "key", "invalid_client_request_id"),
        ("submit_edits", "parent_pdcp_log_id", TARGET, "invalid_parent"),
        ("submit_observed_operations", "observation_id", TARGET, "INVALID_OBSERVATION_ID"),
        ("initialize_target", "project_id", TARGET, None),
    ],
)
def test_a_trailing_lf_fails_schema_and_run_time(
    client: StdioClient, tool: str, field: str, value: str, code: str | None
) -> None:
    target = document(client, CONTENT, filename="guide.md")["target_file_id"]
    told = TOOLS[f"patchdiff_{tool}"]
    schema = told.input_schema["properties"][field]
    assert Draft202012Validator(schema).is_valid(value)
    assert not Draft202012Validator(schema).is_valid(f"{value}\n")
    good = good_arguments(told, client, target)
    bad = client.call(told.name, **{**good, field: f"{value}\n"})
    assert bad["status"] in REFUSED, bad
    if code is None:
        assert bad["failure_detail"].startswith(f"{field} must be a UUID")
    else:
        assert bad.get("diagnostic", bad)["code"] == code


def test_the_ids_of_examples_are_valid() -> None:
    for value in (TARGET, OBSERVATION, OTHER_OBSERVATION):
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value)
