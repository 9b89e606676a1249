"""patchdiff_save over stdio: guards, cycles, snapshots, and what a rejected one leaves alone."""

from __future__ import annotations

import pytest

from tests.support.documents import (
    UNKNOWN_ID,
    UUID_PATTERN,
    accepted,
    attempts,
    change,
    document,
    ledger,
    row_counts,
    sha256,
    state,
)

IDS = ("snapshot_id", "closed_editing_cycle_id", "new_editing_cycle_id")


def save(caller, target, **arguments):
    return caller.call("patchdiff_save", target_file_id=target, **arguments)


def cycle_of(caller, target):
    return caller.call("patchdiff_get_target", target_file_id=target)["active_editing_cycle_id"]


@pytest.mark.req("SAVE-001", "SAVE-002", "SAVE-003", "SAVE-004", "SAVE-005", "SAVE-006")
def test_a_save_keeps_a_snapshot_and_begins_a_cycle(client, admin) -> None:
    text = "alpha \U0001f600\nbeta\n"
    target = document(client, text)["target_file_id"]
    accepted(client, target, change("beta", "gamma\r\n"))
    whole = "alpha \U0001f600\ngamma\n\n"
    before, counts = state(client, target), row_counts(admin, target)
    answer = save(client, target)
    assert UUID_PATTERN.fullmatch(answer["snapshot_id"])
    assert answer == {
        "status": "saved",
        "target_file_id": target,
        "snapshot_id": answer["snapshot_id"],
        "closed_editing_cycle_id": before[3],
        "new_editing_cycle_id": cycle_of(client, target),
        "current_hash": sha256(whole),
        "version": 1,
    }
    assert answer["new_editing_cycle_id"] != before[3]
    assert state(client, target)[:3] == before[:3] == (whole, sha256(whole), 1)
    counts["target_snapshots"] += 1
    counts["editing_cycles"] += 1
    assert row_counts(admin, target) == counts
    kept = admin.execute(
        "select snapshot_reason, content, content_hash, version from patchdiff.target_snapshots"
        " where snapshot_id = %s",
        [answer["snapshot_id"]],
    ).fetchall()
    assert kept == [("save_checkpoint", whole, sha256(whole), 1)]
    cycles = admin.execute(
        "select editing_cycle_id::text, opened_version, closed_version, closed_at is null"
        " from patchdiff.editing_cycles where target_file_id = %s order by closed_at nulls last",
        [target],
    ).fetchall()
    assert cycles == [
        (before[3], 0, 1, False),
        (answer["new_editing_cycle_id"], 1, None, True),
    ]


def test_attempts_of_one_cycle_are_told_from_those_of_the_next(client) -> None:
    target = document(client, "a")["target_file_id"]
    accepted(client, target, change("a", "b"))
    first = save(client, target)
    accepted(client, target, change("b", "c"), expected_target_version=1)
    assert [entry["editing_cycle_id"] for entry in ledger(client, target)] == [
        first["new_editing_cycle_id"]
    ]
    both = ledger(client, target, include_previous_cycles=True)
    assert [entry["editing_cycle_id"] for entry in both] == [
        first["closed_editing_cycle_id"],
        first["new_editing_cycle_id"],
    ]
    second = save(client, target)
    assert second["closed_editing_cycle_id"] == first["new_editing_cycle_id"]
    assert len(attempts(client, target)) == 2


BAD_VERSIONS = [-1, True, False, 0.0, 1.0, 1.5, "0", "", [], {}, 2**63, -(2**63) - 1, 10**40]
BAD_HASHES = ["", "0" * 63, "0" * 65, "A" * 64, "0" * 64 + "\n", "g" * 64, 5, True, 1.0, [], {}]


@pytest.mark.req("SAVE-008", "SAVE-009", "SAVE-010", "SAVE-011", "SAVE-012")
@pytest.mark.parametrize(
    ("guards", "reason"),
    [
        *(({"expected_target_version": bad}, "context_invalid") for bad in BAD_VERSIONS),
        *(({"expected_current_hash": bad}, "context_invalid") for bad in BAD_HASHES),
        ({"expected_current_hash": "\ud800"}, "context_invalid"),
        ({"expected_current_hash": "\0"}, "context_invalid"),
        ({"expected_target_version": "\udfff"}, "context_invalid"),
        ({"expected_target_version": 0}, "target_version_mismatch"),
        ({"expected_target_version": 2}, "target_version_mismatch"),
        ({"expected_target_version": 2**63 - 1}, "target_version_mismatch"),
        ({"expected_current_hash": sha256("a")}, "target_hash_mismatch"),
        (
            {"expected_target_version": 0, "expected_current_hash": sha256("a")},
            "target_version_mismatch",
        ),
        (
            {"expected_target_version": 1, "expected_current_hash": sha256("a")},
            "target_hash_mismatch",
        ),
    ],
    ids=repr,
)
def test_a_guard_that_does_not_hold_saves_nothing(client, admin, guards, reason) -> None:
    target = document(client, "a")["target_file_id"]
    accepted(client, target, change("a", "b"))
    before, counts = state(client, target), row_counts(admin, target)
    answer = save(client, target, **guards)
    assert (answer["status"], answer["failure_reason"]) == ("rejected", reason), answer
    assert [answer[name] for name in IDS] == [None, None, None]
    assert (answer["current_hash"], answer["version"]) == (sha256("b"), 1)
    assert answer["failure_detail"]
    assert state(client, target) == before
    assert row_counts(admin, target) == counts


@pytest.mark.req("SAVE-007", "SAVE-014")
def test_after_an_edit_and_its_reversal_the_hash_passes_and_the_version_does_not(client) -> None:
    target = document(client, "a")["target_file_id"]
    accepted(client, target, change("a", "b"))
    accepted(client, target, change("b", "a"), expected_target_version=1)
    stale = save(client, target, expected_target_version=0, expected_current_hash=sha256("a"))
    assert stale["failure_reason"] == "target_version_mismatch"
    assert save(client, target, expected_current_hash=sha256("a"))["status"] == "saved"
    assert save(client, target, expected_target_version=0)["status"] == "rejected"
    both = save(client, target, expected_target_version=2, expected_current_hash=sha256("a"))
    assert both["status"] == "saved"
    assert save(client, target, expected_target_version=None)["status"] == "saved"


@pytest.mark.req("SAVE-015")
def test_an_export_comes_only_when_asked_for(client) -> None:
    target = document(client, "a\r\nb\r\n")["target_file_id"]
    assert "export" not in save(client, target)
    assert "export" not in save(client, target, export_after_save=False)
    answer = save(client, target, export_after_save=True)
    assert answer["export"] == client.call("patchdiff_export_target", target_file_id=target)
    assert (answer["export"]["format"], answer["export"]["content"]) == ("original_text", "a\nb\n")


@pytest.mark.req("SAVE-016", "SAVE-013")
def test_a_call_that_cannot_mean_anything_saves_nothing(client, admin) -> None:
    target = document(client, "a")["target_file_id"]
    before, counts = state(client, target), row_counts(admin)
    for flag in (None, 0, 1, "true", "", [], {}):
        answer = save(client, target, export_after_save=flag)
        assert answer["status"] == "invalid_argument", flag
    assert save(client, UNKNOWN_ID)["status"] == "not_found"
    # an unknown target is not found whatever its guards are
    assert save(client, UNKNOWN_ID, expected_target_version=-1)["status"] == "not_found"
    for malformed in ("", "x", target.upper(), None, 5):
        answer = save(client, malformed)
        assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")
    assert state(client, target) == before
    assert row_counts(admin) == counts


def test_a_text_that_does_not_have_its_hash_is_not_kept(client, admin) -> None:
    target = document(client, "a")["target_file_id"]
    admin.execute(
        "update patchdiff.cloud_target_files set current_content = 'b' where target_file_id = %s",
        [target],
    )
    counts = row_counts(admin, target)
    answer = save(client, target)
    assert (answer["status"], answer["failure_reason"]) == ("rejected", "target_diverged")
    assert row_counts(admin, target) == counts
