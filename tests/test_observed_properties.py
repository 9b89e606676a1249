"""Properties of observed submissions on random texts, held against a model of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.support.documents import (
    AWKWARD,
    ServiceCaller,
    content_of,
    document,
    row_counts,
    sha256,
    state,
)
from tests.support.observations import (
    SUBMIT,
    batch,
    bundle,
    function,
    group,
    receipt,
    receipts,
    single,
    source,
    users,
)
from tests.support.proposals import match, span

# of few letters, so that texts come several times; one beyond the BMP, one that combines
LETTERS = "ab\U0001f600\u0301"
PIECES = st.text(alphabet=LETTERS, max_size=4)
QUIET = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


# ---- a model of operations inside a scope, of lists of single characters


@dataclass
class Model:
    """A text as a list of characters, each with whether it belongs to the scope."""

    characters: list[tuple[str, bool]]

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Model:
        return cls([(letter, start <= place < end) for place, letter in enumerate(text)])

    def text(self) -> str:
        return "".join(letter for letter, _ in self.characters)

    def apply(self, operation: dict[str, Any]) -> bool:
        """Apply an operation; False when it must be refused."""
        text = self.text()
        if operation["op"] == "match":
            places = [
                place
                for place in range(len(text))
                if text[place : place + len(operation["match"])] == operation["match"]
            ]
            chosen = operation.get("occurrence_index")
            if chosen is not None:
                places = places[chosen - 1 : chosen]
            if len(places) != 1:
                return False
            start, end = places[0], places[0] + len(operation["match"])
            before = after = ""
        else:
            start, end = operation["start"], operation["end"]
            if end > len(text) or text[start:end] != operation["expected_text"]:
                return False
            before = operation.get("expected_before") or ""
            after = operation.get("expected_after") or ""
            if start == end and not (before and after):
                return False
            if before and text[max(0, start - len(before)) : start] != before:
                return False
            if after and text[end : end + len(after)] != after:
                return False
            if start - len(before) < 0:
                return False
        touched = self.characters[start - len(before) : end + len(after)]
        if not all(inside for _, inside in touched):
            return False
        if start == end and not touched:
            return False
        self.characters[start:end] = [(letter, True) for letter in operation["replace"]]
        return True


@st.composite
def operations(draw: st.DrawFn, text: str, lowest: int, highest: int) -> list[dict[str, Any]]:
    """One to four operations on a text: most fit [lowest, highest) as it is by then, some do
    not."""
    whole = span(lowest, highest, text[lowest:highest], "")
    made: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 4))):
        tame = draw(st.integers(0, 6)) > 0
        first = lowest if tame else max(0, lowest - 1)
        last = highest if tame else min(len(text), highest + 1)
        low = draw(st.integers(first, last))
        high = draw(st.integers(low, last))
        if tame and low == high:
            if highest - lowest < 2:
                continue
            low = high = draw(st.integers(lowest + 1, highest - 1))
        expected = text[low:high] if tame or draw(st.booleans()) else draw(PIECES)
        replace = draw(PIECES)
        if expected and draw(st.booleans()):
            number = sum(text.startswith(expected, place) for place in range(low + 1))
            made.append(match(expected, replace, occurrence_index=max(1, number)))
        else:
            size = draw(st.integers(1, 2))
            before = text[max(first, low - size) : low] or None
            after = text[high : min(last, high + size)] or None
            context = {"expected_before": before, "expected_after": after}
            insertion = low == high and tame
            context = context if insertion or draw(st.booleans()) else {}
            made.append(span(low, high, expected, replace, **context))
        if text[low:high] == expected:
            text = text[:low] + replace + text[high:]
            highest += len(replace) - len(expected)
        if not lowest <= highest <= len(text):
            break  # an operation outside the scope was among them
    return made or [whole]


def scoped(admin, observed, start, end, text):
    """Make a scope of any place out of a receipt of the whole text, as storage has it."""
    admin.execute(
        "update patchdiff.target_scope_observations set scope_start = %s, scope_end = %s,"
        " observed_scope_hash = %s where observation_id = %s",
        [start, end, sha256(text[start:end]), observed["observation_id"]],
    )


@pytest.mark.req("OBS-038", "OBS-019", "OBS-036")
@QUIET
@given(st.data())
def test_nothing_outside_a_scope_ever_changes(caller, admin, monkeypatch, data):
    text = data.draw(st.text(alphabet=LETTERS, min_size=1, max_size=14))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    target = document(caller, text)["target_file_id"]
    observed = receipt(caller, target, "<document>", kind="document")
    scoped(admin, observed, start, end, text)
    # whatever a receipt says counts as a symbol of the text
    monkeypatch.setattr("patchdiff.observed_scopes.ObservedScopes.failure", lambda *_: None)
    proposal = data.draw(operations(text, start, end))
    model = Model.of(text, start, end)
    fits = all(model.apply(operation) for operation in proposal)
    event(f"applies: {fits}")
    before = state(caller, target)
    answer = caller.call(SUBMIT, **single(observed, *proposal))
    assert (answer["status"] == "accepted") is fits, (text, start, end, proposal, answer)
    stored = content_of(caller, target)
    if fits:
        assert stored == model.text()
        assert stored[:start] == text[:start]
        assert stored[len(stored) - (len(text) - end) :] == text[end:]
        assert list(users(admin, target).values()) == [answer["pdcp_log_id"]]
    else:
        assert state(caller, target) == before
        assert list(users(admin, target).values()) == [None]
    assert row_counts(admin, target)["append_only_pdcp_logs"] == 1


# ---- batches


NAMES = ("f", "g", "h")
BODIES = st.lists(
    st.text(alphabet=LETTERS + "\n", max_size=8), min_size=len(NAMES), max_size=len(NAMES)
)


def texts_of(bodies):
    """One Python function for each body, which stands in a string, and the text of all."""
    scopes = [f'def {name}():\n    """{body}."""' for name, body in zip(NAMES, bodies, strict=True)]
    return scopes, "\n\n\n".join(["# \U0001f600", *scopes, ""])


@pytest.mark.req("BATCH-011", "BATCH-013", "BATCH-014", "BATCH-015", "BATCH-018", "OBS-038")
@QUIET
@given(st.data())
def test_a_batch_is_its_groups_one_by_one(caller, admin, data):
    scopes, text = texts_of(data.draw(BODIES))
    target = source(caller, text)
    observed = bundle(caller, target, *NAMES)
    assert [scope["text"] for scope in observed["scopes"]] == scopes
    chosen = data.draw(st.permutations(range(len(NAMES))))
    chosen = chosen[: data.draw(st.integers(1, len(NAMES)))]
    groups, models, fits = [], dict(enumerate(scopes)), True
    for place in chosen:
        slice_ = scopes[place]
        proposal = data.draw(operations(slice_, 14, len(slice_) - 4))
        model = Model.of(slice_, 0, len(slice_))
        fits = all(model.apply(operation) for operation in proposal) and fits
        models[place] = model.text()
        groups.append(group(observed["scopes"][place], *proposal))
    event(f"applies: {fits}")
    answer = caller.call(SUBMIT, **batch(observed, groups))
    assert (answer["status"] == "accepted") is fits, (text, groups, answer)
    expected = text
    if fits:
        expected = "\n\n\n".join(["# \U0001f600", *(models[i] for i in range(len(NAMES))), ""])
    assert content_of(caller, target) == expected
    used = users(admin, target)
    for place, scope in enumerate(observed["scopes"]):
        by = answer["pdcp_log_id"] if fits and place in chosen else None
        assert used[scope["observation_id"]] == by
    if fits:
        assert caller.call("patchdiff_replay", target_file_id=target)["materialized_state_matches"]
        turned = source(caller, text)
        again = bundle(caller, turned, *NAMES)
        new = {
            old["observation_id"]: scope["observation_id"]
            for old, scope in zip(observed["scopes"], again["scopes"], strict=True)
        }
        groups = [
            {**each, "observation_id": new[each["observation_id"]]} for each in reversed(groups)
        ]
        assert caller.call(SUBMIT, **batch(again, groups))["status"] == "accepted"
        assert content_of(caller, turned) == expected


@pytest.mark.req("OBS-038", "BATCH-016")
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(AWKWARD), max_size=5)),
        min_size=1,
        max_size=4,
    )
)
def test_rewriting_the_same_scopes_again_and_again(caller, admin, edits):
    scopes, text = texts_of(["", "", ""])
    target = source(caller, text)
    bodies = dict(zip(NAMES, scopes, strict=True))
    for version, (name, pieces) in enumerate(edits):
        comment = "".join(pieces).replace("\r\n", "\n").replace("\r", "\n")
        comment = "".join(letter for letter in comment if letter not in "\n\x0c\x0b\\\ufeff")
        observed = bundle(caller, target, name)
        old = bodies[name]
        bodies[name] = f'def {name}():\n    """{comment}."""'
        groups = [group(observed["scopes"][0], span(0, len(old), old, bodies[name]))]
        answer = caller.call(SUBMIT, **batch(observed, groups, str(version)))
        assert answer["status"] == "accepted", answer
        assert answer["version"] == version + 1
    expected = "\n\n\n".join(["# \U0001f600", *(bodies[name] for name in NAMES), ""])
    assert content_of(caller, target) == expected
    assert len(receipts(admin, target)) == len(edits)
    assert all(users(admin, target).values())


def test_the_model_sees_the_rules():
    text = function("f", 30)
    inside = Model.of(text, 4, 8)
    assert inside.apply(span(4, 8, text[4:8], "x"))
    assert not Model.of(text, 4, 8).apply(span(3, 8, text[3:8], "x"))
    assert not Model.of(text, 4, 8).apply(span(4, 4, "", "x"))
    edge = {"expected_before": text[3], "expected_after": text[4]}
    assert not Model.of(text, 4, 8).apply(span(4, 4, "", "x", **edge))
    fits = {"expected_before": text[4], "expected_after": text[5]}
    assert Model.of(text, 4, 8).apply(span(5, 5, "", "x", **fits))
