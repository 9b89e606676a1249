"""parent_pdcp_log_id and attempt: what retries may name, and what is recorded of it."""

from __future__ import annotations

import pytest

from tests.support.documents import UNKNOWN_ID, ServiceCaller, document
from tests.support.proposals import TOOLS, admitted, propose, row_of, simple, turned_down

TEXT = "alpha beta\n"


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.fixture
def target(caller):
    return document(caller, TEXT)["target_file_id"]


def refused(caller, tool, target, code, **arguments):
    answer = turned_down(
        caller, tool, target, simple(tool, TEXT, "x"), "context_invalid", code, **arguments
    )
    assert answer["diagnostic"]["validation_stage"] == "protocol_validation"
    assert answer["diagnostic"]["retryable"] is False
    return answer


def rejected_attempt(caller, target, tool):
    """The id of a fresh rejected attempt of the target."""
    answer = propose(caller, tool, target, simple(tool, TEXT, "x"), expected_target_version=9)
    assert answer["failure_reason"] == "target_version_mismatch"
    return answer["pdcp_log_id"]


@pytest.mark.req("LINE-001", "LINE-007", "LINE-008", "LINE-010")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_retry_names_the_rejected_attempt(caller, admin, target, tool):
    parent = rejected_attempt(caller, target, tool)
    child = propose(
        caller, tool, target, simple(tool, TEXT, "x"), expected_target_version=8,
        parent_pdcp_log_id=parent, attempt=1,
    )  # fmt: skip
    row = row_of(admin, child)
    assert (row["parent_pdcp_log_id"], row["regeneration_attempt"]) == (parent, 1)
    grandchild = admitted(
        caller, tool, target, simple(tool, TEXT, "x"),
        parent_pdcp_log_id=child["pdcp_log_id"], attempt=2**63 - 1,
    )  # fmt: skip
    row = row_of(admin, grandchild)
    assert row["parent_pdcp_log_id"] == child["pdcp_log_id"]
    assert row["regeneration_attempt"] == 2**63 - 1
    alone = admitted(
        caller, tool, target, simple(tool, "x", "y"), expected_target_version=1, attempt=7
    )
    row = row_of(admin, alone)
    assert (row["parent_pdcp_log_id"], row["regeneration_attempt"]) == (None, 7)
    unnumbered = admitted(
        caller, tool, target, simple(tool, "y", "z"), expected_target_version=2,
        parent_pdcp_log_id=parent,
    )  # fmt: skip
    row = row_of(admin, unnumbered)
    assert (row["parent_pdcp_log_id"], row["regeneration_attempt"]) == (parent, None)


@pytest.mark.req("LINE-002", "LINE-003", "LINE-004", "LINE-005", "LINE-009")
@pytest.mark.parametrize("tool", TOOLS)
def test_other_parents(caller, admin, target, tool):
    other = document(caller, TEXT)["target_file_id"]
    parent = rejected_attempt(caller, target, tool)
    foreign = rejected_attempt(caller, other, tool)
    for value in (
        foreign, UNKNOWN_ID, target, "", "x", parent.upper(), parent.replace("-", ""),
        f"{{{parent}}}", parent + "\n", f" {parent}", parent[:-1], 5, 0, True, [parent], {},
    ):  # fmt: skip
        answer = refused(caller, tool, target, "invalid_parent", parent_pdcp_log_id=value)
        assert row_of(admin, answer)["parent_pdcp_log_id"] is None
    taken = admitted(caller, tool, target, simple(tool, TEXT, "x"), parent_pdcp_log_id=parent)
    refused(caller, tool, target, "invalid_parent", parent_pdcp_log_id=taken["pdcp_log_id"])


@pytest.mark.req("LINE-006", "LINE-009")
@pytest.mark.parametrize("tool", TOOLS)
def test_other_attempt_numbers(caller, admin, target, tool):
    for value in (0, -1, -(10**40), True, False, "1", "", 1.0, 1.5, [1], {}):
        answer = refused(caller, tool, target, "invalid_attempt", attempt=value)
        assert row_of(admin, answer)["regeneration_attempt"] is None


@pytest.mark.req("LINE-009")
def test_over_the_wire(client):
    target = document(client, TEXT)["target_file_id"]
    for tool in TOOLS:
        refused(client, tool, target, "invalid_parent", parent_pdcp_log_id="nope")
        refused(client, tool, target, "invalid_attempt", attempt=1.0)
