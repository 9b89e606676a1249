"""Correlation ids of every submission tool, and the Python service beside the MCP tools."""

from __future__ import annotations

import inspect
import uuid
from typing import Any

import pytest

from patchdiff import Service
from patchdiff.catalog import TOOLS as CATALOG
from tests.support.documents import ServiceCaller, attempts, document, row_counts
from tests.support.observations import receipt, single
from tests.support.proposals import (
    FIELDS,
    OPERATIONS,
    REPLACEMENT,
    TOOLS,
    admitted,
    propose,
    rows,
    simple,
)

OBSERVED = "patchdiff_submit_observed_operations"
TEXT = "alpha beta\n"
OVERSIZED = "a" * 1_000_001


@pytest.fixture
def caller(service: Any) -> ServiceCaller:
    return ServiceCaller(service)


def is_random_uuid(value: str) -> bool:
    return uuid.UUID(value).version == 4 and str(uuid.UUID(value)) == value


@pytest.mark.req("RESP-001")
def test_every_submission_tool_offers_it(client: Any) -> None:
    tools = client.request("tools/list", {})["result"]["tools"]
    offering = [t for t in tools if "include_correlation_id" in t["inputSchema"]["properties"]]
    submitting = [t["name"] for t in tools if t["name"].startswith("patchdiff_submit_")]
    assert [tool["name"] for tool in offering] == submitting
    assert {*TOOLS, OBSERVED} == set(submitting)
    for tool in offering:
        schema = tool["inputSchema"]
        assert schema["properties"]["include_correlation_id"]["type"] == "boolean"
        assert schema["properties"]["include_correlation_id"]["default"] is False
        assert "include_correlation_id" not in schema["required"]


@pytest.mark.req("RESP-001", "RESP-002", "RESP-003", "RESP-004", "RESP-005")
@pytest.mark.parametrize("tool", TOOLS)
def test_ids_are_fresh_and_nowhere_stored(
    client: Any, caller: ServiceCaller, admin: Any, tool: str
) -> None:
    seen: list[str] = []
    for who in (client, caller):
        target = document(who, TEXT)["target_file_id"]
        good, bad = simple(tool, TEXT, "x"), None
        for proposal, arguments in (
            (good, {"expected_target_version": 9}), (bad, {}), (good, {"client_request_id": "k"}),
            (good, {"client_request_id": "k"}), (good, {"client_request_id": "\n"}),
        ):  # fmt: skip
            answer = propose(who, tool, target, proposal, include_correlation_id=True, **arguments)
            assert is_random_uuid(answer["correlation_id"])
            seen.append(answer["correlation_id"])
            for option in ({}, {"include_correlation_id": False}):
                again = propose(who, tool, target, proposal, **arguments, **option)
                assert "correlation_id" not in again
        missing = propose(who, tool, "x", good, include_correlation_id=True)
        seen.append(missing["correlation_id"])
        stored = str(rows(admin, target))
        assert not [identifier for identifier in seen if identifier in stored]
    assert len(set(seen)) == len(seen) == 12


@pytest.mark.req("RESP-001", "RESP-002", "RESP-003", "OBS-005")
def test_ids_of_observed_submissions(client: Any, caller: ServiceCaller, admin: Any) -> None:
    seen: list[str] = []
    for who in (client, caller):
        target = document(who, TEXT)["target_file_id"]
        observed = receipt(who, target, "<document>")
        good = single(observed, *simple(OPERATIONS, TEXT, "x"), client_request_id="k")
        for arguments in ({**good, "operations": []}, good, good, {**good, "groups": [1]}):
            answer = who.call(OBSERVED, **arguments, include_correlation_id=True)
            assert is_random_uuid(answer["correlation_id"])
            seen.append(answer["correlation_id"])
            assert "correlation_id" not in who.call(OBSERVED, **arguments)
        for value in (None, 0, "true", []):
            answer = who.call(OBSERVED, **good, include_correlation_id=value)
            assert answer["code"] == "invalid_include_correlation_id"
        stored = str(rows(admin, target))
        assert not [identifier for identifier in seen if identifier in stored]
    assert len(set(seen)) == len(seen) == 8


@pytest.mark.req("RESP-006")
@pytest.mark.parametrize("value", [None, 0, 1, "true", "false", "", 1.0, [], {}])
def test_another_type_is_refused_before_anything_else(
    client: Any, caller: ServiceCaller, admin: Any, value: object
) -> None:
    target = document(client, TEXT)["target_file_id"]
    before = row_counts(admin)
    for who in (client, caller):
        for tool in TOOLS:
            proposals = [simple(tool, TEXT, "x"), None, []]
            proposals += [OVERSIZED] if tool == REPLACEMENT and value == "true" else []
            for proposal in proposals:
                for identifier in (target, "x"):
                    answer = propose(
                        who, tool, identifier, proposal, include_correlation_id=value, intent="\0"
                    )
                    assert answer["status"] == "invalid_argument"
                    assert answer["code"] == "invalid_include_correlation_id"
                    assert answer["failure_detail"]
    assert row_counts(admin) == before
    assert attempts(client, target) == []


@pytest.mark.req("SVC-001")
@pytest.mark.parametrize("name", CATALOG)
def test_the_service_has_every_tool_with_its_arguments(name: str) -> None:
    schema = CATALOG[name].input_schema
    method = getattr(Service, name.removeprefix("patchdiff_"))
    parameters = dict(list(inspect.signature(method).parameters.items())[1:])
    properties = schema["properties"]
    open_ended = [p for p in parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
    named = {key: p for key, p in parameters.items() if p not in open_ended}
    assert set(named) <= set(properties)
    if not open_ended:
        assert set(named) == set(properties)
    for key, parameter in named.items():
        required = parameter.default is inspect.Parameter.empty
        assert required is (key in schema["required"])
        if not required and properties[key].get("default") is not None:
            assert parameter.default == properties[key]["default"]


# What each tool is called with, twice: by the service and over MCP.
CALLS: dict[str, list[dict[str, Any]]] = {
    "patchdiff_initialize_target": [{"filename": "t", "content": "a\r\n"}, {"filename": "t"}],
    "patchdiff_handle_upload": [{"filename": "t", "content": "a", "content_type": "text/plain"}],
    "patchdiff_get_target": [{}],
    "patchdiff_export_target": [{"format": "crlf"}, {"format": "x"}],
    "patchdiff_read_target": [{"start": 1, "length": 3}, {"start": 99}],
    "patchdiff_read_lines": [{"include_line_starts": True}, {"start_line": 0}],
    "patchdiff_find_occurrences": [{"text": "a", "context_chars": 2}, {"text": ""}],
    "patchdiff_get_pdcp_log": [{"include_content": True}, {"limit": 0}],
    "patchdiff_get_manifest_ledger": [{"include_previous_cycles": True}, {"limit": "1"}],
    "patchdiff_save": [{"expected_target_version": 1}, {"export_after_save": 1}],
    "patchdiff_replay": [{}],
    "patchdiff_observe_scope": [{}, {"symbol_name": "<document>"}, {"kind": " "}, {
        "selections": [{"symbol_name": "x"}]}],
    OBSERVED: [
        {"intent": "t", "operations": simple(OPERATIONS, TEXT, "x"), "observation_id": "x",
         "expected_target_version": 1, "expected_current_hash": "0" * 64},
        {"intent": "t", "groups": [], "client_request_id": ""},
        {"intent": "t"},
    ],
    "patchdiff_preview": [
        {"format": "patchdiff-tx/2", "intent": "t", "operations": simple(OPERATIONS, TEXT, "x"),
         "expected_target_version": 1},
        {"format": "x"},
    ],
    **{
        tool: [
            {"intent": "t", FIELDS[tool]: simple(tool, TEXT, "x"), "expected_target_version": 9},
            {"intent": "t", FIELDS[tool]: None, "expected_target_version": 1},
        ]
        for tool in TOOLS
    },
}  # fmt: skip
OWN = (
    "target_file_id", "pdcp_log_id", "created_at", "active_editing_cycle_id", "current_context",
    "closed_editing_cycle_id", "new_editing_cycle_id", "snapshot_id", "saved_at", "observation_id",
)  # fmt: skip


@pytest.mark.req("SVC-001")
@pytest.mark.parametrize("name", CATALOG)
def test_the_service_answers_with_the_tools_fields(
    client: Any, caller: ServiceCaller, name: str
) -> None:
    target = document(caller, TEXT)["target_file_id"]
    admitted(caller, OPERATIONS, target, simple(OPERATIONS, TEXT, TEXT))
    takes_target = "target_file_id" in CATALOG[name].input_schema["properties"]
    for call in CALLS[name]:
        arguments = {"target_file_id": target, **call} if takes_target else call
        answers = [who.call(name, **arguments) for who in (client, caller)]
        assert list(answers[0]) == list(answers[1])
        for answer in answers:
            for field in OWN:
                answer.pop(field, None)
        assert answers[0] == answers[1]
