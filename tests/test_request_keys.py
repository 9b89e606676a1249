"""Request keys: recovery, audited conflicts, what binds a key, and the request's fingerprint."""

from __future__ import annotations

import pytest

from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    accepted,
    attempts,
    change,
    document,
    rejected,
    sha256,
    submit,
)
from tests.support.proposals import (
    EDITS,
    OPERATIONS,
    PROTOCOLS,
    REPLACEMENT,
    TOOLS,
    admitted,
    fingerprint,
    match,
    propose,
    row_of,
    rows,
    simple,
    span,
    turned_down,
)

TEXT = "alpha beta\n"
BETA = change("beta", "b")
KEY = "k 1~"


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.fixture
def target(caller):
    return document(caller, TEXT)["target_file_id"]


def conflict(caller, tool, target, proposal, **arguments):
    """Submit under KEY what must conflict; returns the answer, held to what a conflict is."""
    call = {"client_request_id": KEY, **arguments}
    answer = turned_down(
        caller, tool, target, proposal, "context_invalid", "request_key_conflict", **call
    )
    diagnostic = answer["diagnostic"]
    assert diagnostic["validation_stage"] == "precondition_guard"
    assert diagnostic["retryable"] is False
    assert answer["deduplicated"] is False
    assert answer["client_request_id"] == call["client_request_id"]
    return answer


@pytest.mark.req("KEY-001", "KEY-002", "KEY-003", "SUBM-055", "SUBM-056")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("later", [0, 2])
def test_an_acceptance_is_recovered(caller, target, tool, later):
    first = admitted(caller, tool, target, simple(tool, TEXT, TEXT), client_request_id=KEY)
    assert (first["version"], first["after_hash"]) == (1, sha256(TEXT))
    assert (first["current_version"], first["current_hash"]) == (1, sha256(TEXT))
    assert first["warning_count"] > 0
    now = TEXT
    for version in range(1, 1 + later):
        admitted(caller, OPERATIONS, target, [span(0, 0, "", "x")], expected_target_version=version)
        now = "x" + now
    again = admitted(caller, tool, target, simple(tool, TEXT, TEXT), client_request_id=KEY)
    assert again == {
        **first,
        "deduplicated": True,
        "current_version": 1 + later,
        "current_hash": sha256(now),
    }
    assert list(again) == list(first)
    assert len(attempts(caller, target)) == 1 + later


@pytest.mark.req("KEY-004", "KEY-030", "KEY-003", "EVID-013")
@pytest.mark.parametrize(
    ("tool", "proposal", "arguments", "reason"),
    [
        (EDITS, [change("nowhere", "x")], {}, "match_absent"),
        (EDITS, [change("a", "x")], {}, "match_ambiguous"),
        (EDITS, [change("beta", "b"), change("beta", "c")], {}, "sequential_match_invalid"),
        (EDITS, [BETA], {"expected_target_version": 5}, "target_version_mismatch"),
        (EDITS, [BETA], {"expected_current_hash": "0" * 64}, "target_hash_mismatch"),
        (EDITS, [BETA], {"expected_target_version": None}, "context_invalid"),
        (EDITS, [BETA], {"attempt": 0}, "context_invalid"),
        (EDITS, [BETA], {"parent_pdcp_log_id": UNKNOWN_ID}, "context_invalid"),
        (EDITS, [], {}, "protocol_invalid"),
        (OPERATIONS, [span(0, 99, "", "")], {}, "span_out_of_bounds"),
        (OPERATIONS, [span(0, 1, "b", "")], {}, "span_expected_text_mismatch"),
        (REPLACEMENT, None, {}, "protocol_invalid"),
        (REPLACEMENT, "x", {"expected_target_version": 5}, "target_version_mismatch"),
    ],
)
def test_a_rejection_is_recovered(caller, admin, target, tool, proposal, arguments, reason):
    call = {**arguments, "client_request_id": KEY}
    first = turned_down(caller, tool, target, proposal, reason, **call)
    row = row_of(admin, first)
    assert row["client_request_id"] == KEY
    for _ in range(2):
        again = propose(caller, tool, target, proposal, **call)
        for name in ("status", "failure_reason", "failure_detail", "pdcp_log_id", "diagnostic",
                     "failed_change_id", "before_hash", "after_hash", "validity"):  # fmt: skip
            assert again[name] == first[name]
        assert again["diagnostic"] == row["diagnostic_json"]
        assert (again["deduplicated"], again["client_request_id"]) == (True, KEY)
    assert rows(admin, target) == [row]
    conflict(caller, OPERATIONS, target, [span(6, 10, "beta", "b")])


@pytest.mark.req(
    "KEY-005", "KEY-006", "KEY-007", "KEY-008", "KEY-009", "KEY-010", "KEY-011", "KEY-012",
    "KEY-013", "KEY-020",
)  # fmt: skip
@pytest.mark.parametrize("tool", TOOLS)
def test_a_conflict_is_audited(caller, admin, target, tool):
    key = "".join(chr(33 + number % 90) for number in range(128))
    original = admitted(caller, tool, target, simple(tool, TEXT, "x"), client_request_id=key)
    history = rows(admin, target)
    for repeat in range(1, 4):
        answer = conflict(caller, tool, target, simple(tool, TEXT, "y"), client_request_id=key)
        diagnostic = answer["diagnostic"]
        assert diagnostic["existing_pdcp_log_id"] == original["pdcp_log_id"]
        row = row_of(admin, answer)
        assert row["client_request_id"] is None
        assert row["diagnostic_json"] == diagnostic
        assert row["request_fingerprint"] == fingerprint(
            PROTOCOLS[tool], sha256(row["pdcp_content"]), version=0
        )
        assert row["request_fingerprint"] != history[0]["request_fingerprint"]
        previews = [
            value for name, value in diagnostic.items()
            if isinstance(value, str) and len(value) > 8 and key.startswith(value)
        ]  # fmt: skip
        assert previews
        assert max(map(len, previews)) < len(key)
        assert key not in str(row["diagnostic_json"])
        assert rows(admin, target) == [*history, row]
        history.append(row)
        assert len(history) == 1 + repeat
    again = propose(caller, tool, target, simple(tool, TEXT, "x"), client_request_id=key)
    assert (again["status"], again["deduplicated"]) == ("accepted", True)
    assert again["pdcp_log_id"] == original["pdcp_log_id"]


@pytest.mark.req("KEY-014", "KEY-015", "KEY-016", "KEY-018")
def test_which_components_differ(caller, target):
    parent = rejected(caller, target, change("nowhere", ""), reason="match_absent")["pdcp_log_id"]
    other = rejected(caller, target, change("nowhere", ""), reason="match_absent")["pdcp_log_id"]
    call = {
        "expected_target_version": 0,
        "expected_current_hash": sha256(TEXT),
        "parent_pdcp_log_id": parent,
    }
    accepted(caller, target, BETA, client_request_id=KEY, **call)
    for changes, components in (
        ({"expected_target_version": 1}, ["expected_target_version"]),
        ({"expected_target_version": None}, ["expected_target_version"]),
        ({"expected_target_version": True}, ["expected_target_version"]),
        ({"expected_current_hash": "0" * 64}, ["expected_current_hash"]),
        ({"expected_current_hash": None}, ["expected_current_hash"]),
        ({"parent_pdcp_log_id": other}, ["parent_pdcp_log_id"]),
        ({"parent_pdcp_log_id": None}, ["parent_pdcp_log_id"]),
        ({"parent_pdcp_log_id": "x"}, ["parent_pdcp_log_id"]),
        ({"intent": "u"}, ["pdcp_content_hash"]),
        (
            {"intent": "u", **dict.fromkeys(call)},
            ["pdcp_content_hash", *call],
        ),
    ):
        diagnostic = conflict(caller, EDITS, target, [BETA], **{**call, **changes})["diagnostic"]
        assert sorted(diagnostic["differing_components"]) == sorted(components)
        assert diagnostic["differing_fields"] == (["intent"] if "intent" in changes else [])
        assert diagnostic["differing_fields_truncated"] is False


@pytest.mark.req("KEY-017")
def test_what_no_fingerprint_counts(caller, target):
    first = accepted(caller, target, BETA, client_request_id=KEY, source="a", attempt=1)
    for arguments in (
        {}, {"source": "b"}, {"attempt": 2}, {"attempt": None, "source": "b"}, {"attempt": 0},
        {"source": 5}, {"include_correlation_id": True},
    ):  # fmt: skip
        again = submit(caller, target, BETA, client_request_id=KEY, **arguments)
        again.pop("correlation_id", None)
        assert again == {**first, "deduplicated": True}
    assert len(attempts(caller, target)) == 1


@pytest.mark.req("KEY-018", "KEY-034", "KEY-005")
def test_which_fields_differ(caller):
    edits = [change("alpha", "a", rationale="r"), change("beta", "b")]
    operations = [match("alpha", "a"), span(2, 6, "beta", "b", risk="low")]

    def differing(tool, first, second, **arguments):
        target = document(caller, TEXT)["target_file_id"]
        propose(caller, tool, target, first, client_request_id=KEY)
        diagnostic = conflict(caller, tool, target, second, **arguments)["diagnostic"]
        assert diagnostic["differing_components"] == ["pdcp_content_hash"]
        assert diagnostic["differing_fields_truncated"] is False
        return diagnostic["differing_fields"]

    other = {**edits[0], "rationale": "s"}
    assert differing(EDITS, edits, [other, edits[1]]) == ["edits[0].rationale"]
    assert differing(EDITS, edits, [other, edits[1]], intent="u") == [
        "intent",
        "edits[0].rationale",
    ]
    assert differing(EDITS, edits, [edits[0], {**edits[1], "change_id": None}]) == [
        "edits[1].change_id"
    ]
    assert differing(EDITS, [edits[0], {**edits[1], "risk": None}], edits) == ["edits[1].risk"]
    assert differing(EDITS, edits, edits[:1]) == ["edits[1]"]
    assert differing(EDITS, edits[:1], edits) == ["edits[1]"]
    assert differing(EDITS, [{**edits[0], "x": 1}], [{**edits[0], "x": True}]) == ["edits[0].x"]
    assert differing(EDITS, [{**edits[0], "x": 1}], [{**edits[0], "x": 1.0}]) == ["edits[0].x"]
    moved = [operations[0], {**operations[1], "start": 3, "end": 7}]
    assert differing(OPERATIONS, operations, moved) == ["operations[1].start", "operations[1].end"]
    null = [operations[0], {**operations[1], "expected_before": None}]
    assert differing(OPERATIONS, operations, null) == ["operations[1].expected_before"]
    assert differing(REPLACEMENT, "a", "b") == ["replacement"]
    # the same content in another order of keys is another record, and no field of it differs
    assert differing(EDITS, [BETA], [dict(reversed(BETA.items()))]) == []


@pytest.mark.req("KEY-019")
@pytest.mark.parametrize("count", [1, 9, 10, 11, 40])
def test_at_most_ten_fields_are_named(caller, target, count):
    edits = [change(f"<{number}>", "", rationale="r") for number in range(count)]
    others = [{**edit, "rationale": "s"} for edit in edits]
    submit(caller, target, *edits, client_request_id=KEY)
    diagnostic = conflict(caller, EDITS, target, others)["diagnostic"]
    paths = [f"edits[{number}].rationale" for number in range(count)]
    assert diagnostic["differing_fields"] == paths[:10]
    assert diagnostic["differing_fields_truncated"] is (count > 10)


@pytest.mark.req("KEY-021", "KEY-022", "KEY-023", "KEY-024")
@pytest.mark.parametrize("tool", TOOLS)
def test_the_syntax_of_keys(client, admin, tool):
    target = document(client, TEXT)["target_file_id"]
    printable = "".join(map(chr, range(32, 127)))
    text = TEXT
    for version, key in enumerate(("a", " ", "~", "k" * 128, printable)):
        admitted(
            client, tool, target, simple(tool, text, f"{version}"), client_request_id=key,
            expected_target_version=version,
        )  # fmt: skip
        text = f"{version}"
    for key in (
        "", "k" * 129, "a\n", "\t", "\x1f", "\x7f", "\x80", "\xe9", "\U0001f600", 5, 0, True,
        1.5, ["k"], {"k": 1},
    ):  # fmt: skip
        for stale in (5, 0):
            answer = turned_down(
                client, tool, target, simple(tool, "4", "z"), "context_invalid",
                "invalid_client_request_id", client_request_id=key, expected_target_version=stale,
            )  # fmt: skip
            assert answer["diagnostic"]["validation_stage"] == "protocol_validation"
            assert answer["diagnostic"]["retryable"] is False
            assert row_of(admin, answer)["client_request_id"] is None
            assert answer["client_request_id"] == (key if isinstance(key, str) else None)


@pytest.mark.req("SUBM-025", "KEY-023")
def test_the_order_of_judgement(caller, target):
    rejected(
        caller, target, BETA, reason="target_encoding_invalid", client_request_id="", intent="\0"
    )
    bad_key = {"client_request_id": "", "code": "invalid_client_request_id"}
    for arguments in ({"attempt": 0}, {"intent": 5}, {"expected_target_version": 3}):
        rejected(caller, target, BETA, reason="context_invalid", **bad_key, **arguments)
    accepted(caller, target, BETA, client_request_id=KEY)
    for arguments in (
        {"parent_pdcp_log_id": "x"}, {"intent": 5}, {"expected_target_version": -1},
        {"expected_current_hash": "0"}, {"edits": []},
    ):  # fmt: skip
        rejected(
            caller, target, BETA, reason="context_invalid", code="request_key_conflict",
            client_request_id=KEY, **arguments,
        )  # fmt: skip
    for identifier in (UNKNOWN_ID, "x", 5, None):
        answer = submit(caller, identifier, BETA, client_request_id="\n")
        assert answer["diagnostic"]["code"] == "invalid_client_request_id"
        assert answer["pdcp_log_id"] is None
        answer = submit(caller, identifier, BETA, client_request_id="\n", intent="\ud800")
        assert answer["failure_reason"] == "target_encoding_invalid"
        assert answer["pdcp_log_id"] is None


@pytest.mark.req("KEY-025")
def test_a_key_belongs_to_its_target(caller, target):
    other = document(caller, TEXT)["target_file_id"]
    first = accepted(caller, target, BETA, client_request_id=KEY)
    second = accepted(caller, other, change("alpha", "a"), client_request_id=KEY)
    assert first["deduplicated"] is second["deduplicated"] is False
    for identifier, edit, answer in ((target, BETA, first), (other, change("alpha", "a"), second)):
        assert (
            submit(caller, identifier, edit, client_request_id=KEY)["pdcp_log_id"]
            == answer["pdcp_log_id"]
        )


@pytest.mark.req("KEY-026")
@pytest.mark.parametrize("first", TOOLS)
@pytest.mark.parametrize("second", TOOLS)
def test_another_format_is_another_request(caller, target, first, second):
    admitted(caller, first, target, simple(first, TEXT, "x"), client_request_id=KEY)
    if first == second:
        assert propose(caller, second, target, simple(second, TEXT, "x"), client_request_id=KEY)[
            "deduplicated"
        ]
        return
    diagnostic = conflict(caller, second, target, simple(second, TEXT, "x"))["diagnostic"]
    assert set(diagnostic["differing_components"]) == {"protocol_version", "pdcp_content_hash"}


@pytest.mark.req("KEY-028", "KEY-029")
def test_what_binds_a_key(caller, admin, target):
    for tool in TOOLS:
        wrong = [] if tool != REPLACEMENT else None
        propose(caller, tool, target, wrong, client_request_id=f"p{tool}")
        conflict(caller, tool, target, simple(tool, TEXT, "x"), client_request_id=f"p{tool}")
    for intent in ("\ud800", "\0"):
        answer = turned_down(
            caller, EDITS, target, [BETA], "target_encoding_invalid", intent=intent,
            client_request_id=KEY,
        )  # fmt: skip
        assert row_of(admin, answer)["client_request_id"] is None
    fresh = accepted(caller, target, BETA, client_request_id=KEY)
    assert fresh["deduplicated"] is False
    again = turned_down(
        caller, EDITS, target, [BETA], "target_encoding_invalid", intent="\0", client_request_id=KEY
    )
    assert again["deduplicated"] is False
