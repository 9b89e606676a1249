"""The changes of a batch in their places: its scopes do not move each other."""

from __future__ import annotations

import json

import pytest

from patchdiff.history import Rewriting
from tests.support.documents import ServiceCaller, content_of, document

LINES = 30
TEXT = 'A = "1"\nB = [\n' + "  7,\n" * LINES + "]\n"


def attempt_of(admin, target):
    row = admin.execute(
        "select patchdiff.get_attempt(%s, l.pdcp_log_id::text) from patchdiff.append_only_pdcp_logs"
        " as l where l.target_file_id = %s order by l.log_sequence desc limit 1",
        [target, target],
    ).fetchone()
    return row[0]


@pytest.mark.parametrize("order", [["A", "B"], ["B", "A"]])
def test_each_change_of_a_batch_is_shown_where_it_is(service, admin, order) -> None:
    caller = ServiceCaller(service)
    target = document(caller, TEXT, filename="r.py")["target_file_id"]
    bundle = service.observe_scope(target, selections=[{"symbol_name": name} for name in order])
    ids = {scope["symbol"]["name"]: scope["observation_id"] for scope in bundle["scopes"]}
    place = TEXT.index("  7,\n" * (LINES - 14)) + 2
    within = place - TEXT.index("B = [")
    operations = {
        "A": [{"op": "match", "match": '"1"', "replace": '"1" #' + "z" * 13}],
        "B": [
            {
                "op": "span",
                "start": within,
                "end": within + 1,
                "expected_text": "7",
                "replace": "8",
            },
            {"op": "match", "match": "8", "replace": "88"},
        ],
    }
    answer = service.submit_observed_operations(
        target,
        "t",
        observation_bundle_id=bundle["observation_bundle_id"],
        groups=[{"observation_id": ids[name], "operations": operations[name]} for name in order],
        expected_target_version=0,
        expected_current_hash=bundle["target_current_hash"],
        client_request_id="k",
    )
    assert answer["status"] == "accepted"
    rewriting = Rewriting(TEXT)
    changes = rewriting.apply(attempt_of(admin, target), 10)
    assert rewriting.text == content_of(caller, target)
    shown = {}
    for change in changes:
        [row] = [row for row in change.diff.rows if row.kind == "changed"]
        new = "".join(run.text for run in row.new.runs)
        shown[new] = row.new.number
    line = TEXT[:place].count("\n") + 1
    assert shown == {'A = "1" #' + "z" * 13: 1, "  8,": line, "  88,": line}
    assert [change.entry["change_index"] for change in changes] == [1, 2, 3]


def test_a_damaged_record_is_shown_without_places(service, admin) -> None:
    caller = ServiceCaller(service)
    target = document(caller, TEXT, filename="r.py")["target_file_id"]
    bundle = service.observe_scope(target, selections=[{"symbol_name": "A"}])
    service.submit_observed_operations(
        target,
        "t",
        observation_bundle_id=bundle["observation_bundle_id"],
        groups=[
            {
                "observation_id": bundle["scopes"][0]["observation_id"],
                "operations": [{"op": "match", "match": '"1"', "replace": "2"}],
            }
        ],
        expected_target_version=0,
        expected_current_hash=bundle["target_current_hash"],
        client_request_id="k",
    )
    attempt = attempt_of(admin, target)
    for damaged in ("x", "[]", "{}", json.dumps({"groups": [5]}), '{"groups": []}'):
        assert len(Rewriting(TEXT).apply(attempt | {"pdcp_content": damaged}, 10)) == 1
