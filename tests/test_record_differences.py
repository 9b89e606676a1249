"""The paths at which two records differ, also where the recorded one is no record."""

from __future__ import annotations

import json

import pytest

from patchdiff.record_differences import differing_fields

RECORD = json.dumps({"protocol": "patchdiff-tx/1", "intent": "i", "edits": [{"match": "a"}]})


@pytest.mark.req("KEY-018")
@pytest.mark.parametrize(
    ("other", "paths"),
    [
        ({"intent": "j"}, ["intent"]),
        ({"edits": [{"match": "a", "rationale": None}]}, ["edits[0].rationale"]),
        ({"edits": [{"match": 1}, {}]}, ["edits[0].match", "edits[1]"]),
        ({"edits": [{"match": True}]}, ["edits[0].match"]),
        ({"edits": {}}, ["edits"]),
    ],
)
def test_differences_are_named_by_path(other: dict, paths: list[str]) -> None:
    submitted = json.dumps({**json.loads(RECORD), **other})
    assert differing_fields(RECORD, submitted)["differing_fields"] == paths


@pytest.mark.parametrize("recorded", ["notjson", "[" * 20_000 + "]" * 20_000, "9" * 5_000])
def test_a_recorded_text_that_is_no_record_says_nothing(recorded: str) -> None:
    assert differing_fields(recorded, RECORD) == {}
