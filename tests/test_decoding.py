"""Decoding of typed edits agrees with the published schema: what one refuses the other refuses."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from patchdiff.catalog import TOOLS
from patchdiff.decoding import MalformedProposalError, decode_edits

SCHEMA = TOOLS["patchdiff_submit_edits"].input_schema["properties"]["edits"]
STRICT = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    ),
)(SCHEMA)

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        ["", "a", "a\r\nb", "low", "extreme", "chg_001", "x" * 64, "x" * 65, "é", "a\n"]
    ),
    st.sampled_from([-1, 0, 1, 2**70, 1.0]),
    st.lists(st.text(max_size=2), max_size=1),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=1),
)
FIELDS = (
    "match", "replace", "change_id", "rationale", "risk", "occurrence_index", "anchor_before",
    "anchor_after", "op", "",
)  # fmt: skip
EDITS = st.one_of(
    VALUES,
    st.lists(
        st.one_of(
            VALUES,
            st.builds(
                lambda base, more: {**base, **more},
                st.sampled_from([{}, {"match": "a", "replace": "b"}]),
                st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=3),
            ),
        ),
        max_size=2,
    ),
)


def decoded(edits: Any) -> bool:
    try:
        decode_edits("intent", edits)
    except MalformedProposalError:
        return False
    return True


def names_are_unique(edits: Any) -> bool:
    names = [edit.get("change_id") or f"chg_{i:03d}" for i, edit in enumerate(edits, 1)]
    return len(set(names)) == len(names)


@given(EDITS)
@example([])
@example([{"match": "a", "replace": ""}])
@example([{"match": "a", "replace": "b", "change_id": "a\n"}])
@example([{"match": "a", "replace": "b", "change_id": "chg_002"}, {"match": "a", "replace": "b"}])
def test_decoding_and_schema_agree(edits: Any) -> None:
    # that names differ is a rule between edits, which a schema cannot say
    assert decoded(edits) == (STRICT.is_valid(edits) and names_are_unique(edits))
