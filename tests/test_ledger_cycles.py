"""patchdiff_get_manifest_ledger before, across and after saves."""

from __future__ import annotations

import pytest

from tests.support.documents import accepted, change, document, ledger, rejected

EMPTY = {"entries": [], "has_more": False, "next_sequence": None}


def page(caller, target, **arguments):
    return caller.call("patchdiff_get_manifest_ledger", target_file_id=target, **arguments)


def sequences(answer):
    return [entry["ledger_sequence"] for entry in answer["entries"]]


def save(caller, target):
    answer = caller.call("patchdiff_save", target_file_id=target)
    assert answer["status"] == "saved", answer
    return answer


@pytest.fixture
def three_cycles(client):
    """A target with three entries in a first closed cycle, two in a second and four in the open
    one; the sequences of each, oldest first."""
    target = document(client, "n0\n")["target_file_id"]
    cycles, version = [], 0
    for count in (3, 2, 4):
        if cycles:
            save(client, target)
        for _ in range(count):
            edit = change(f"n{version}", f"n{version + 1}")
            accepted(client, target, edit, expected_target_version=version)
            version += 1
        cycles.append([entry["ledger_sequence"] for entry in ledger(client, target)])
    assert [len(cycle) for cycle in cycles] == [3, 2, 4]
    return target, cycles


@pytest.mark.req("LEDG-011", "LEDG-010")
def test_after_a_save_the_ledger_is_empty(client):
    target = document(client, "a\n")["target_file_id"]
    save(client, target)
    assert page(client, target) == EMPTY
    accepted(client, target, change("a", "b"))
    assert len(page(client, target)["entries"]) == 1
    save(client, target)
    for arguments in ({}, {"limit": 1}, {"include_previous_cycles": False}):
        assert page(client, target, **arguments) == EMPTY
    stale = {"reason": "target_version_mismatch", "expected_target_version": 7}
    rejected(client, target, change("b", "c"), **stale)
    save(client, target)
    assert page(client, target) == EMPTY
    answer = accepted(client, target, change("b", "c"), expected_target_version=1)
    (entry,) = page(client, target)["entries"]
    assert entry["pdcp_log_id"] == answer["pdcp_log_id"]


@pytest.mark.req("LEDG-012")
def test_closed_cycles_are_listed_when_asked_for(client, three_cycles):
    target, cycles = three_cycles
    every = [number for cycle in cycles for number in cycle]
    assert every == sorted(every)
    answer = page(client, target, include_previous_cycles=True)
    assert (sequences(answer), answer["has_more"]) == (every, False)
    assert len({entry["editing_cycle_id"] for entry in answer["entries"]}) == 3
    save(client, target)
    assert page(client, target, include_previous_cycles=True) == answer
    assert page(client, target) == EMPTY


@pytest.mark.req("LEDG-030")
def test_more_is_counted_after_the_cycle_filter(client, three_cycles):
    target, (first, second, third) = three_cycles
    for limit, expected, more in (
        (5, third, False), (4, third, False), (3, third[1:], True), (1, third[3:], True),
    ):  # fmt: skip
        answer = page(client, target, limit=limit)
        assert sequences(answer) == expected
        assert answer["has_more"] is more
        assert answer["next_sequence"] == (expected[0] if more else None)
    # below the open cycle there are entries, but none of it
    assert page(client, target, before_sequence=third[0]) == EMPTY
    last = page(client, target, before_sequence=third[2], limit=2)
    assert last == {**last, "has_more": False, "next_sequence": None}
    assert sequences(last) == third[:2]
    every = first + second + third
    for limit in (1, 2, 4, 8, 9):
        answer = page(client, target, limit=limit, include_previous_cycles=True)
        assert sequences(answer) == every[-limit:]
        assert answer["has_more"] is (limit < 9)
        assert answer["next_sequence"] == (every[-limit] if limit < 9 else None)


@pytest.mark.req("LEDG-031")
@pytest.mark.parametrize("new_entries", [0, 1, 3])
def test_a_traversal_that_a_save_interrupts(client, new_entries):
    target = document(client, "n0\n")["target_file_id"]
    for version in range(6):
        edit = change(f"n{version}", f"n{version + 1}")
        accepted(client, target, edit, expected_target_version=version)
    newest = page(client, target, limit=2)
    assert newest["has_more"] is True
    save(client, target)
    for version in range(6, 6 + new_entries):
        edit = change(f"n{version}", f"n{version + 1}")
        accepted(client, target, edit, expected_target_version=version)
    # the rest of the old cycle is gone from the active cycle's view, and the new one lies above
    assert page(client, target, limit=2, before_sequence=newest["next_sequence"]) == EMPTY
    restarted = page(client, target)
    assert [entry["after_version"] for entry in restarted["entries"]] == list(
        range(7, 7 + new_entries)
    )
    # over all cycles the same traversal goes on as if nothing had happened
    found, before = sequences(newest), newest["next_sequence"]
    while before is not None:
        answer = page(client, target, limit=2, before_sequence=before, include_previous_cycles=True)
        found = sequences(answer) + found
        before = answer["next_sequence"]
    whole = sequences(page(client, target, include_previous_cycles=True))
    assert found == whole[:6]
    assert len(whole) == 6 + new_entries
