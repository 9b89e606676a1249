"""The evidence of rejections end to end: contexts, candidates, what is stored and recovered."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from patchdiff import Service
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    accepted,
    change,
    document,
    overwrite,
    rejected,
    sha256,
    submit,
)
from tests.support.proposals import (
    EDITS,
    OPERATIONS,
    TOOLS,
    admitted,
    json_bytes,
    match,
    propose,
    record_older_diagnostic,
    row_of,
    rows,
    simple,
    span,
    turned_down,
)

ROOT = Path(__file__).resolve().parents[1]
TEXT = "alpha beta alpha\n"
HASH = sha256(TEXT)
KEY = "k"
WIDE = "".join(chr(0x4E00 + number) for number in range(2_000))
CONTEXT = (
    "available", "unavailable_reason", "selection", "buffer_stage", "prior_changes", "start",
    "end", "total_chars", "text", "truncated", "observed_target_version", "observed_target_hash",
)  # fmt: skip


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.fixture
def target(caller):
    return document(caller, TEXT)["target_file_id"]


def context(text, start=0, end=None, **fields):
    """The context that shows [start, end) of the canonical text of a target at version 0."""
    end = min(len(text), 256) if end is None else end
    return {
        "available": True,
        "unavailable_reason": None,
        "selection": "prefix",
        "buffer_stage": "canonical_target",
        "prior_changes": 0,
        "start": start,
        "end": end,
        "total_chars": len(text),
        "text": text[start:end],
        "truncated": end - start < len(text),
        "observed_target_version": 0,
        "observed_target_hash": sha256(text),
        **fields,
    }


# Each: operations, further arguments, the reason, and whether a fresh read can help.
REASONS = {
    "absent": ([match("x", "")], {}, "match_absent", True),
    "ambiguous": ([match("alpha", "")], {}, "match_ambiguous", True),
    "excluded": (
        [match("beta", "", anchor_before="b")], {}, "disambiguation_invalid", True,
    ),
    "consumed": (
        [match("beta", ""), match("beta", "")], {}, "sequential_match_invalid", True,
    ),
    "bounds": ([span(0, 18, "", "")], {}, "span_out_of_bounds", True),
    "text": ([span(0, 1, "b", "")], {}, "span_expected_text_mismatch", True),
    "hash": (
        [span(0, 1, "a", "")], {"expected_current_hash": "0" * 64}, "target_hash_mismatch", True,
    ),
    "version": (
        [span(0, 1, "a", "")], {"expected_target_version": 1}, "target_version_mismatch", True,
    ),
    "shape": ([], {}, "protocol_invalid", False),
    "encoding": ([span(0, 1, "\0", "")], {}, "target_encoding_invalid", False),
    "no guard": ([match("x", "")], {"expected_target_version": None}, "context_invalid", False),
    "bad guard": ([match("x", "")], {"expected_target_version": -1}, "context_invalid", False),
    "source": ([match("x", "")], {"source": 5}, "context_invalid", False),
    "parent": ([match("x", "")], {"parent_pdcp_log_id": UNKNOWN_ID}, "context_invalid", False),
    "attempt": ([match("x", "")], {"attempt": 0}, "context_invalid", False),
    "key": ([match("x", "")], {"client_request_id": ""}, "context_invalid", False),
    "conflict": ([match("x", "")], {"client_request_id": "used"}, "context_invalid", False),
}  # fmt: skip


@pytest.mark.req(
    "EVID-001", "EVID-002", "EVID-003", "EVID-004", "EVID-005", "EVID-006", "EVID-007", "EVID-008",
    "EVID-010", "EVID-011", "EVID-018", "EVID-019", "EVID-022", "EVID-025", "EVID-046",
    "SUBM-045",
)  # fmt: skip
@pytest.mark.parametrize("name", REASONS)
def test_what_every_rejection_carries(caller, admin, target, name):
    operations, arguments, reason, retryable = REASONS[name]
    propose(caller, OPERATIONS, target, [], client_request_id="used")
    answer = turned_down(caller, OPERATIONS, target, operations, reason, **arguments)
    assert {
        "pdcp_log_id", "diagnostic", "current_context", "validity", "deduplicated",
        "client_request_id",
    } <= set(answer)  # fmt: skip
    diagnostic = answer["diagnostic"]
    assert diagnostic["retryable"] is retryable
    row = row_of(admin, answer)
    assert row["diagnostic_json"] == diagnostic
    assert "current_context" not in json.dumps(row)
    failure = diagnostic["failure_context"]
    if reason == "sequential_match_invalid":
        simulated = TEXT.replace("beta", "")
        assert failure == context(
            simulated, buffer_stage="intermediate_buffer", prior_changes=1,
            observed_target_hash=HASH,
        )  # fmt: skip
    else:
        assert failure == context(TEXT)
    assert answer["current_context"] == context(TEXT)
    admitted(caller, OPERATIONS, target, [span(0, 1, "a", "A")])
    assert row_of(admin, answer) == row


@pytest.mark.req("EVID-009")
def test_a_diverged_target_can_be_retried(caller, admin, target):
    overwrite(admin, target, current_content="other")
    answer = turned_down(caller, EDITS, target, [change("beta", "b")], "target_diverged")
    assert answer["diagnostic"]["retryable"] is True
    assert answer["diagnostic"]["failure_context"] == context("other", observed_target_hash=HASH)


@pytest.mark.req("EVID-012", "EVID-042", "EVID-043", "EVID-044")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("identifier", "reason"),
    [
        ("x", "invalid_target_id"), ("", "invalid_target_id"), (5, "invalid_target_id"),
        (f"A{UNKNOWN_ID[1:]}", "invalid_target_id"), (UNKNOWN_ID, "target_not_found"),
    ],
)  # fmt: skip
def test_contexts_without_a_target(client, caller, tool, identifier, reason):
    for who in (client, caller):
        answer = propose(who, tool, identifier, simple(tool, TEXT, "x"))
        assert answer["failure_reason"] == reason
        assert answer["diagnostic"]["retryable"] is False
        for found in (answer["diagnostic"]["failure_context"], answer["current_context"]):
            assert found == {
                **dict.fromkeys(CONTEXT), "available": False, "unavailable_reason": reason
            }  # fmt: skip


@pytest.mark.req("EVID-045", "EVID-046", "EVID-027", "EVID-043")
def test_a_repeated_context_is_named_over_mcp_alone(client, caller, target):
    for who in (client, caller):
        answer = submit(who, target, change("alpha", "x"))
        assert answer["diagnostic"]["failure_context"] == context(TEXT, start=0, end=17)
        same = {
            **dict.fromkeys(CONTEXT),
            "available": False,
            "unavailable_reason": "same_as_failure_context",
        }
        assert answer["current_context"] == (same if who is client else context(TEXT))
        # another prior_changes, the same text: it is not equal key for key
        answer = submit(who, target, change("beta", "beta"), change("nowhere", ""))
        assert answer["diagnostic"]["failure_context"]["text"] == TEXT
        assert answer["current_context"] == context(TEXT)
    # a stored context of an older version differs from the target's now
    submit(client, target, change("alpha", "x"), client_request_id=KEY)
    accepted(client, target, change("beta", "b"))
    answer = submit(client, target, change("alpha", "x"), client_request_id=KEY)
    assert answer["current_context"]["text"] == "alpha b alpha\n"


@pytest.mark.req("EVID-020", "EVID-021", "EVID-023", "EVID-024", "EVID-025")
def test_an_intermediate_failure_shows_the_simulated_text(caller, target):
    accepted(caller, target, change("beta", "\u03b2"))
    now = "alpha \u03b2 alpha\n"
    identity = {"observed_target_version": 1, "observed_target_hash": sha256(now)}
    edits = [change("\u03b2", "b"), change(" alpha\n", ""), change("nowhere", "x")]
    buffers = [now, "alpha b alpha\n", "alpha b"]
    for earlier in range(3):
        answer = rejected(
            caller, target, *edits[:earlier], edits[2], reason="match_absent",
            expected_target_version=1,
        )  # fmt: skip
        assert answer["diagnostic"]["failure_context"] == context(
            buffers[earlier],
            buffer_stage="intermediate_buffer" if earlier else "canonical_target",
            prior_changes=earlier,
            **identity,
        )
        assert answer["current_context"] == context(now, **identity)


@pytest.mark.req("EVID-028", "EVID-029", "EVID-030", "EVID-031", "EVID-032", "EVID-033", "EVID-034")
@pytest.mark.parametrize(
    ("operation", "location"),
    [
        (lambda at: span(at, at + 1, "x", ""), None),
        (lambda at: span(at, at, "", "", expected_before="x"), None),
        (lambda at: span(at - 30, at, WIDE[at - 30 : at], "", expected_after="x"), None),
        (lambda at: span(at, 5_000, "", ""), 2_000),
        (lambda at: match(WIDE[at], "", anchor_before=WIDE[at]), None),
    ],
    ids=["text", "before", "after", "bounds", "match"],
)
@pytest.mark.parametrize("at", [150, 192, 193, 1_000, 1_990])
def test_the_window_around_a_known_location(caller, operation, location, at):
    target = document(caller, WIDE)["target_file_id"]
    answer = propose(caller, OPERATIONS, target, [operation(at)])
    assert answer["status"] == "rejected"
    at = at if location is None else location
    if at <= 192:
        expected = context(WIDE)
    else:
        start = min(at - 128, 2_000 - 256)
        expected = context(WIDE, start, start + 256, selection="failure_window")
    assert answer["diagnostic"]["failure_context"] == expected
    assert answer["current_context"] == context(WIDE)


@pytest.mark.req("EVID-034", "EVID-035")
def test_the_first_candidate_and_an_absent_match(caller):
    text = WIDE[:1_000] + "aXa" + WIDE[1_000:]
    target = document(caller, text)["target_file_id"]
    window = context(text, 872, 1_128, selection="failure_window")
    for edit in (change("a", ""), change("a", "", occurrence_index=3)):
        answer = submit(caller, target, edit)
        assert answer["diagnostic"]["failure_context"] == window
    assert submit(caller, target, change("aXb", ""))["diagnostic"]["failure_context"] == context(
        text
    )


@pytest.mark.req("EVID-037", "EVID-038", "EVID-040", "SUBM-057")
@pytest.mark.parametrize("unit", ["\U0001f600", "\xe9", '"', "\u2028", "a"])
@pytest.mark.parametrize("length", [100, 250, 300])
def test_a_corrupted_hash_shortens_the_text_alone(caller, admin, unit, length):
    target = document(caller, unit * 400)["target_file_id"]
    broken = "\U0001f600" * length
    overwrite(admin, target, current_hash=broken)
    answer = turned_down(caller, EDITS, target, [change(unit, "x")], "target_diverged")
    contexts = {
        "failure_context": answer["diagnostic"]["failure_context"],
        "current_context": answer["current_context"],
    }
    assert json_bytes(contexts) <= 8_192
    for found in contexts.values():
        assert found["observed_target_hash"] == broken
        assert json_bytes(found) <= 4_096
        chars = len(found["text"])
        assert (found["text"], found["start"], found["end"]) == (unit * chars, 0, chars)
        assert found["truncated"] is True
        longer = {**found, "text": unit * (chars + 1), "end": chars + 1}
        assert chars == 256 or json_bytes(longer) > 4_096 or (
            found is contexts["current_context"]
            and json_bytes({**contexts, "current_context": longer}) > 8_192
        )  # fmt: skip


@pytest.mark.req("EVID-039", "EVID-026", "EVID-036")
@pytest.mark.parametrize("length", [0, 1, 255, 256, 257])
def test_an_ordinary_context_shows_256_code_points(caller, length):
    text = "\U0001f600" * length
    target = document(caller, text)["target_file_id"]
    answer = submit(caller, target, change("x", ""))
    assert answer["diagnostic"]["failure_context"] == answer["current_context"] == context(text)
    assert answer["current_context"]["truncated"] is (length > 256)


@pytest.mark.req("EVID-041")
@pytest.mark.parametrize("name", [name for name in REASONS if name != "consumed"])
def test_no_context_holds_a_string_of_the_proposal(caller, target, name):
    operations, arguments, reason, _ = REASONS[name]
    marked = [
        {**operation, "replace": "SECRET", "change_id": "SECRET", "rationale": "SECRET"}
        for operation in operations
    ]
    propose(caller, OPERATIONS, target, [], client_request_id="used")
    call = {"intent": "SECRET", **arguments}
    answer = turned_down(caller, OPERATIONS, target, marked, reason, **call)
    contexts = [answer["diagnostic"]["failure_context"], answer["current_context"]]
    assert "SECRET" not in json.dumps(contexts)
    absent = [match("SECRET", "", anchor_before="SECRET"), span(0, 1, "SECRET", "")]
    for operation in absent:
        answer = propose(caller, OPERATIONS, target, [operation])
        contexts = [answer["diagnostic"]["failure_context"], answer["current_context"]]
        assert "SECRET" not in json.dumps(contexts)


@pytest.mark.req("EVID-048")
def test_no_source_names_the_state_that_is_never_produced():
    sources = [*ROOT.glob("adapter/**/*.py"), *ROOT.glob("db/**/*.sql")]
    assert len(sources) > 50
    for path in sources:
        assert "unlocked_local_state" not in path.read_text(encoding="utf-8"), path


@pytest.mark.req("EVID-048", "EVID-043")
def test_the_state_of_a_callers_transaction_is_available(database_url, admin, target):
    with psycopg.connect(database_url) as connection:
        own = ServiceCaller(Service(connection))
        connection.execute("select 1")
        accepted(own, target, change("beta", "b"))
        answer = submit(own, target, change("beta", ""), expected_target_version=1)
        now = "alpha b alpha\n"
        identity = {"observed_target_version": 1, "observed_target_hash": sha256(now)}
        assert answer["diagnostic"]["failure_context"] == context(now, **identity)
        assert answer["current_context"] == context(now, **identity)
        connection.rollback()
    assert rows(admin, target) == []


@pytest.mark.req("EVID-013", "EVID-018", "EVID-049")
@pytest.mark.parametrize("name", ["absent", "ambiguous", "bounds", "text", "version", "shape"])
def test_a_recovered_rejection(caller, admin, target, name):
    operations, arguments, reason, retryable = REASONS[name]
    call = {**arguments, "client_request_id": KEY}
    first = turned_down(caller, OPERATIONS, target, operations, reason, **call)
    replaced = {"expected_current_hash": HASH}
    admitted(caller, OPERATIONS, target, [span(0, 17, TEXT, WIDE)], **replaced)
    again = propose(caller, OPERATIONS, target, operations, **call)
    assert again["diagnostic"] == first["diagnostic"]
    assert again["diagnostic"]["failure_context"] == context(TEXT)
    assert again["current_context"] == context(WIDE, observed_target_version=1)
    assert (again["current_version"], again["current_hash"]) == (1, sha256(WIDE))
    older = {**first["diagnostic"], "retryable": not retryable, "older": [1]}
    record_older_diagnostic(admin, first, older)
    again = propose(caller, OPERATIONS, target, operations, **call)
    assert again["diagnostic"] == older
    assert again["diagnostic"]["retryable"] is not retryable


@pytest.mark.req("EVID-050")
@pytest.mark.parametrize("name", ["absent", "ambiguous", "version"])
def test_an_older_row_is_not_given_a_context(client, caller, admin, target, name):
    operations, arguments, reason, _ = REASONS[name]
    call = {**arguments, "client_request_id": KEY}
    first = turned_down(caller, OPERATIONS, target, operations, reason, **call)
    older = {
        "format": "patchdiff-tx/2",
        "validation_stage": "precondition_guard",
        "retryable": True,
    }
    record_older_diagnostic(admin, first, older)
    for who in (caller, client):
        again = propose(who, OPERATIONS, target, operations, **call)
        assert again["diagnostic"] == older
        assert (again["failure_reason"], again["deduplicated"]) == (reason, True)
        assert again["current_context"] == context(TEXT)


@pytest.mark.req("EVID-051")
@pytest.mark.parametrize("tool", TOOLS)
def test_acceptances_have_no_context(caller, target, tool):
    for _ in range(2):
        answer = admitted(caller, tool, target, simple(tool, TEXT, "x"), client_request_id=KEY)
        assert "context" not in json.dumps(answer)
