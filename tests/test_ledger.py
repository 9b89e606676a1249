"""patchdiff_get_manifest_ledger: what accepted attempts leave, and how it is paged."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

import psycopg
import pytest

from patchdiff import Service
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    accepted,
    attempts,
    change,
    document,
    keys,
    overwrite,
    rejected,
    sha256,
)

EMPTY = {"entries": [], "has_more": False, "next_sequence": None}
NOT_POSITIVE = [0, -1, -(10**40), True, False, 1.0, 50.0, 1.5, "5", "", [], {}]


def page(caller, target, **arguments):
    return caller.call("patchdiff_get_manifest_ledger", target_file_id=target, **arguments)


def sequences(answer):
    return [entry["ledger_sequence"] for entry in answer["entries"]]


def close_cycle(admin, target):
    """Do to the cycles what a save does to them; returns the new cycle's id."""
    cycle = str(uuid.uuid4())
    with admin.transaction():
        admin.execute(
            "update patchdiff.editing_cycles set closed_at = now(), closed_version = opened_version"
            " where target_file_id = %s and closed_at is null",
            [target],
        )
        admin.execute(
            "insert into patchdiff.editing_cycles"
            " (target_file_id, editing_cycle_id, opened_version) values (%s, %s, 0)",
            [target, cycle],
        )
        overwrite(admin, target, active_editing_cycle_id=cycle)
    return cycle


@pytest.fixture(scope="module")
def busy(client):
    """A target with 205 ledger entries, from attempts of 41 edits each, and their sequences,
    oldest first."""
    target = document(client, "".join(f"w{number}.\n" for number in range(205)))["target_file_id"]
    for version in range(5):
        edits = [
            change(f"w{number}.", f"v{number}.")
            for number in range(41 * version, 41 * version + 41)
        ]
        accepted(client, target, *edits, expected_target_version=version)
    newest = page(client, target, limit=200)
    rest = page(client, target, limit=200, before_sequence=newest["next_sequence"])
    return target, sequences(rest) + sequences(newest)


@pytest.mark.req("LEDG-001")
def test_the_id_alone_is_required(client, busy):
    result = client.call_tool("patchdiff_get_manifest_ledger", {"limit": 1})
    assert (result.is_error, result.payload["missing_arguments"]) == (True, ["target_file_id"])
    arguments = {"include_previous_cycles": False, "limit": 50, "before_sequence": None}
    assert page(client, busy[0], **arguments) == page(client, busy[0])


@pytest.mark.req("LEDG-003", "LEDG-005", "LEDG-008")
def test_limits(client, busy):
    target, every = busy
    assert len(set(every)) == 205
    assert every == sorted(every)
    for limit, size in [
        (None, 50), (1, 1), (50, 50), (199, 199), (200, 200), (201, 200), (2**63 - 1, 200),
        (2**63, 200), (10**40, 200),
    ]:  # fmt: skip
        answer = page(client, target, limit=limit)
        assert keys(answer) == {"entries", "has_more", "next_sequence"}
        assert sequences(answer) == every[-size:]
        assert (answer["has_more"], answer["next_sequence"]) == (True, every[-size])
    assert (
        page(client, target) == page(client, target, limit=None) == page(client, target, limit=50)
    )


@pytest.mark.req("LEDG-006", "LEDG-007", "LEDG-009", "LEDG-013")
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("limit", NOT_POSITIVE),
        ("before_sequence", NOT_POSITIVE),
        ("include_previous_cycles", [0, 1, "true", "", None, 1.0, []]),
    ],
)
def test_bad_arguments(client, busy, name, values):
    for value in values:
        answer = page(client, busy[0], **{name: value})
        assert answer["status"] == "invalid_argument", value
        assert name in answer["failure_detail"], value
        assert {field: answer[field] for field in EMPTY} == EMPTY


@pytest.mark.req("LEDG-003", "LEDG-007", "LEDG-009")
def test_before_sequence_is_exclusive(client, busy):
    target, every = busy
    assert sequences(page(client, target, before_sequence=every[7], limit=3)) == every[4:7]
    assert sequences(page(client, target, before_sequence=every[7] + 1, limit=3)) == every[5:8]
    for highest in (every[-1] + 1, 2**63 - 1, 2**63, 10**40, None):
        assert sequences(page(client, target, before_sequence=highest, limit=2)) == every[-2:]
    last = page(client, target, before_sequence=every[3], limit=3)
    assert (sequences(last), last["has_more"], last["next_sequence"]) == (every[:3], False, None)
    assert page(client, target, before_sequence=every[0]) == EMPTY
    assert page(client, target, before_sequence=1) == EMPTY


@pytest.mark.req("LEDG-004", "LEDG-003")
def test_ten_entries_in_pages_of_three(client):
    target = document(client, "n0\n")["target_file_id"]
    for version in range(10):
        accepted(
            client,
            target,
            change(f"n{version}", f"n{version + 1}"),
            expected_target_version=version,
        )
    every = sequences(page(client, target))
    pages, before = [], None
    while True:
        answer = page(client, target, limit=3, before_sequence=before)
        pages.append([1 + every.index(number) for number in sequences(answer)])
        before = answer["next_sequence"]
        if before is None:
            assert answer["has_more"] is False
            break
        assert before == sequences(answer)[0]
    assert pages == [[8, 9, 10], [5, 6, 7], [2, 3, 4], [1]]


@pytest.mark.req("LEDG-009")
def test_empty_unknown_and_malformed(client):
    assert page(client, document(client, "a")["target_file_id"]) == EMPTY
    answer = page(client, UNKNOWN_ID)
    assert answer["failure_detail"]
    assert {**answer, "failure_detail": ""} == {
        "status": "not_found",
        "failure_detail": "",
        **EMPTY,
    }
    for value in ("", "x", UNKNOWN_ID.replace("-", ""), 5, None, True, [], "\ud800", "\0"):
        answer = page(client, value)
        assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")
        assert {name: answer[name] for name in EMPTY} == EMPTY


@pytest.mark.req("LEDG-002")
def test_accepted_attempts_only(client):
    target = document(client, "a\n")["target_file_id"]
    rejected(client, target, change("absent", "x"), reason="match_absent")
    rejected(client, target, change("a", "b"), change("absent", "x"), reason="match_absent")
    rejected(
        client,
        target,
        change("a", "b"),
        reason="target_version_mismatch",
        expected_target_version=3,
    )
    assert page(client, target) == EMPTY
    answer = accepted(client, target, change("a", "b"))
    assert [entry["pdcp_log_id"] for entry in page(client, target)["entries"]] == [
        answer["pdcp_log_id"]
    ]


@pytest.mark.req("LEDG-010", "LEDG-003")
def test_the_active_cycle_only_unless_asked(client, admin):
    created = document(client, "a b\n")
    target = created["target_file_id"]
    first = accepted(client, target, change("a", "1"))
    cycle = close_cycle(admin, target)
    assert page(client, target) == page(client, target, include_previous_cycles=False) == EMPTY
    both = page(client, target, include_previous_cycles=True)
    assert [entry["pdcp_log_id"] for entry in both["entries"]] == [first["pdcp_log_id"]]
    second = accepted(client, target, change("b", "2"), expected_target_version=1)
    (active,) = page(client, target)["entries"]
    assert (active["pdcp_log_id"], active["editing_cycle_id"]) == (second["pdcp_log_id"], cycle)
    both = page(client, target, include_previous_cycles=True)["entries"]
    assert [entry["pdcp_log_id"] for entry in both] == [first["pdcp_log_id"], second["pdcp_log_id"]]
    assert both[0]["editing_cycle_id"] == created["active_editing_cycle_id"]


@pytest.mark.req(
    "LEDG-014", "LEDG-015", "LEDG-016", "LEDG-018", "LEDG-020", "LEDG-021", "LEDG-022", "LEDG-033",
)  # fmt: skip
def test_the_entries_of_an_attempt_of_three_edits(client):
    created = document(client, "alpha \U0001f600 beta\n")
    target = created["target_file_id"]
    started = datetime.now(UTC).replace(microsecond=0)
    accepted(client, target, change("\n", "!\n"))
    edits = [
        change("beta", "b", rationale="shorter", risk="high", change_id="k"),
        change("alpha ", ""),
        change("b!", "\u4e2d", rationale=None, risk=None),
    ]
    answer = accepted(client, target, *edits, expected_target_version=1, intent="All " * 100)
    entries = page(client, target)["entries"][1:]
    row = attempts(client, target, limit=1)[0]
    facts = [
        ("k", 8, 12, "beta", "b"),
        ("chg_002", 0, 6, "alpha ", ""),
        ("chg_003", 2, 4, "b!", "\u4e2d"),
    ]
    rationales, risks = ["shorter", None, None], ["high", None, None]
    numbers = sequences(page(client, target))[1:]
    assert numbers == sorted(numbers)
    for index, (entry, fact) in enumerate(zip(entries, facts, strict=True)):
        change_id, start, end, match, replace = fact
        created_at = entry["created_at"]
        assert entry == {
            "ledger_sequence": numbers[index],
            "pdcp_log_id": answer["pdcp_log_id"],
            "log_sequence": row["log_sequence"],
            "before_version": 1,
            "after_version": 2,
            "editing_cycle_id": created["active_editing_cycle_id"],
            "change_index": index + 1,
            "change_id": change_id,
            "intent": rationales[index] or "All " * 100,
            "transaction_intent": "All " * 100,
            "rationale": rationales[index],
            "input_state": None,
            "output_state": None,
            "affected_region": None,
            "user_visible_change": None,
            "risk": risks[index],
            "origin": "typed",
            "derived": {
                "change_id": change_id,
                "change_index": index + 1,
                "span_start": start,
                "span_end": end,
                "matched_chars": len(match),
                "replacement_chars": len(replace),
                "matched_sha256": sha256(match),
                "replacement_sha256": sha256(replace),
            },
            "created_at": created_at,
        }
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", created_at)
        assert -2 <= (datetime.fromisoformat(created_at) - started).total_seconds() < 60
    assert row["pdcp_log_id"] == answer["pdcp_log_id"]
    assert answer["evidence"]["changes"] == [entry["derived"] for entry in entries]


@pytest.mark.req("LEDG-020")
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_created_at_is_utc_in_every_session(database_url, zone):
    with psycopg.connect(
        database_url, autocommit=True, options=f"-c timezone={zone} -c datestyle=German"
    ) as connection:
        caller = ServiceCaller(Service(connection))
        target = document(caller, "a\n")["target_file_id"]
        accepted(caller, target, change("a", "b"))
        created_at = page(caller, target)["entries"][0]["created_at"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", created_at)
    assert abs((datetime.fromisoformat(created_at) - datetime.now(UTC)).total_seconds()) < 60


@pytest.mark.req("LEDG-023", "LEDG-022")
def test_sequences_are_drawn_over_all_targets(client):
    one, other = (document(client, "n0\n")["target_file_id"] for _ in range(2))
    for version in range(3):
        for target in (one, other):
            accepted(
                client,
                target,
                change(f"n{version}", f"n{version + 1}"),
                expected_target_version=version,
            )
    drawn = sorted(
        (entry["ledger_sequence"], target)
        for target in (one, other)
        for entry in page(client, target)["entries"]
    )
    assert [target for _, target in drawn] == [one, other] * 3
    for target in (one, other):
        log = {entry["pdcp_log_id"]: entry["log_sequence"] for entry in attempts(client, target)}
        assert [log[entry["pdcp_log_id"]] for entry in page(client, target)["entries"]] == [
            entry["log_sequence"] for entry in page(client, target)["entries"]
        ]


@pytest.mark.req("LEDG-032")
@pytest.mark.parametrize(
    "setting", ["role to patchdiff_owner", "session_replication_role to replica", None]
)
@pytest.mark.parametrize(
    "statement",
    [
        "update patchdiff.manifest_ledger set intent = 'x' where target_file_id = '{0}'",
        "delete from patchdiff.manifest_ledger where target_file_id = '{0}'",
        "truncate patchdiff.manifest_ledger cascade",
    ],
)
def test_the_ledger_is_append_only(client, admin, statement, setting):
    target = document(client, "a\n")["target_file_id"]
    accepted(client, target, change("a", "b"))
    before = page(client, target)
    with admin.transaction(force_rollback=True):
        if setting is not None:
            admin.execute(f"set local {setting}")
        with pytest.raises(psycopg.Error, match="append-only"), admin.transaction():
            admin.execute(statement.format(target))
    assert page(client, target) == before
