"""Random transactions of matches and spans against a plain model over lists of code points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.documents import (
    ServiceCaller,
    content_of,
    document,
    ledger,
    sha256,
    state,
    texts,
)
from tests.support.proposals import OPERATIONS, match, propose, span


def lf(text: str) -> list[str]:
    """The text's code points with each CRLF pair and each lone CR as one LF."""
    points: list[str] = []
    for index, point in enumerate(text):
        if point == "\r":
            points.append("\n")
        elif not (point == "\n" and index > 0 and text[index - 1] == "\r"):
            points.append(point)
    return points


def starts_of(buffer: list[str], wanted: list[str]) -> list[int]:
    """Every place where the code points stand, overlapping places included."""
    last = len(buffer) - len(wanted)
    return [at for at in range(last + 1) if buffer[at : at + len(wanted)] == wanted]


@dataclass
class Refused(Exception):
    reason: str
    details: dict[str, Any] = field(default_factory=dict)


@dataclass
class Model:
    """A text as code points, each with its index in the original, None where it was written."""

    original: list[str]
    buffer: list[str] = field(default_factory=list)
    origins: list[int | None] = field(default_factory=list)
    history: list[list[int | None]] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.buffer, self.origins = list(self.original), list(range(len(self.original)))

    def apply(self, operation: dict[str, Any]) -> None:
        """Apply one operation, or raise Refused."""
        is_span = operation["op"] == "span"
        start, end = self._span(operation) if is_span else self._match(operation)
        new = lf(operation["replace"])
        old = "".join(self.buffer[start:end])
        self.facts.append(
            {
                "change_id": f"chg_{len(self.facts) + 1:03}",
                "change_index": len(self.facts) + 1,
                **({"operation": "span"} if is_span else {}),
                "span_start": start,
                "span_end": end,
                "matched_chars": end - start,
                "replacement_chars": len(new),
                "matched_sha256": sha256(old),
                "replacement_sha256": sha256("".join(new)),
            }
        )
        self.buffer[start:end] = new
        self.origins[start:end] = [None] * len(new)
        self.history.append(list(self.origins))

    def _span(self, operation: dict[str, Any]) -> tuple[int, int]:
        start, end, size = operation["start"], operation["end"], len(self.buffer)
        if end > size:
            raise Refused("span_out_of_bounds", {"span_check": "bounds", "buffer_length": size})
        checks = [("expected_text", start, end, False)]
        before, after = operation.get("expected_before"), operation.get("expected_after")
        if before is not None:
            checks.append(("expected_before", max(0, start - len(lf(before))), start, True))
        if after is not None:
            checks.append(("expected_after", end, min(size, end + len(lf(after))), False))
        for name, low, high, nearest_end in checks:
            expected, actual = lf(operation[name]), self.buffer[low:high]
            if expected != actual:
                shown = actual[-64:] if nearest_end else actual[:64]
                raise Refused(
                    "span_expected_text_mismatch",
                    {
                        "span_check": name,
                        "buffer_length": size,
                        "actual_text": "".join(shown),
                        "actual_text_truncated": len(actual) > 64,
                        "expected_chars": len(expected),
                        "actual_chars": len(actual),
                    },
                )
        return start, end

    def _match(self, operation: dict[str, Any]) -> tuple[int, int]:
        wanted = lf(operation["match"])
        starts = starts_of(self.buffer, wanted)
        if not starts:
            raise self._missing(wanted)
        eligible = [
            start
            for index, start in enumerate(starts, 1)
            if operation.get("occurrence_index") in (None, index)
            and self._holds(operation.get("anchor_before"), 0, start)
            and self._holds(operation.get("anchor_after"), start + len(wanted), len(self.buffer))
        ]
        details = {"occurrence_count": len(starts)}
        if not eligible:
            raise Refused("disambiguation_invalid", details)
        if len(eligible) > 1:
            raise Refused("match_ambiguous", details)
        return eligible[0], eligible[0] + len(wanted)

    def _holds(self, anchor: str | None, low: int, high: int) -> bool:
        return anchor is None or bool(starts_of(self.buffer[low:high], lf(anchor)))

    def _missing(self, wanted: list[str]) -> Refused:
        originals = starts_of(self.original, wanted)
        if not originals:
            return Refused("match_absent")
        named = []
        for start in originals[:5]:
            run = list(range(start, start + len(wanted)))
            consumer = next(
                index
                for index, origins in enumerate(self.history, 1)
                if not starts_of(origins, run)  # type: ignore[arg-type]
            )
            named.append(
                {
                    "start": start,
                    "end": start + len(wanted),
                    "consumed_by_change_id": f"chg_{consumer:03}",
                    "consumed_by_change_index": consumer,
                }
            )
        return Refused(
            "sequential_match_invalid",
            {"original_occurrence_count": len(originals), "original_occurrences": named},
        )


def respelled(data: st.DataObject, points: list[str]) -> str:
    """The code points with every LF written as LF, CR or CRLF, the same again once read."""
    ends = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = "".join(points).replace("\n", ends)
    if data.draw(st.booleans()) and "\n\n" not in "".join(points):
        text = "".join(points).replace("\n", "\r")
    return text


def an_operation(data: st.DataObject, buffer: list[str], original: list[str]) -> dict[str, Any]:
    """An operation that mostly applies to the buffer."""
    wrong = data.draw(st.sampled_from([False] * 9 + [True]))
    start = data.draw(st.integers(0, len(buffer)))
    end = data.draw(st.integers(start, min(len(buffer), start + 6)))
    new = data.draw(texts(4))
    if data.draw(st.booleans()):
        context = {}
        if start and data.draw(st.booleans()):
            low = data.draw(st.integers(0, start - 1))
            context["expected_before"] = respelled(data, buffer[low:start])
        if end < len(buffer) and data.draw(st.booleans()):
            high = data.draw(st.integers(end + 1, len(buffer)))
            context["expected_after"] = respelled(data, buffer[end:high])
        operation = span(start, end, respelled(data, buffer[start:end]), new, **context)
        if wrong:
            field_name = data.draw(
                st.sampled_from(
                    ["end", "expected_before", "expected_after", *["expected_text"] * 2]
                )
            )
            operation[field_name] = (
                data.draw(st.integers(end, end + 8))
                if field_name == "end"
                else data.draw(texts(80)) + "!"
            )
        return operation
    source = original if wrong else buffer
    start = min(start, max(0, len(source) - 1))
    wanted = source[start : max(end, start + 1)] or ["none"]
    selectors: dict[str, Any] = {}
    if data.draw(st.booleans()):
        found = starts_of(buffer, wanted)
        index = found.index(start) + 1 if start in found else 1
        selectors["occurrence_index"] = index + data.draw(st.sampled_from([0, 0, 0, 0, 1]))
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, start))
        selectors["anchor_before"] = "".join(buffer[at : min(start, at + 3)])
    if data.draw(st.booleans()):
        at = data.draw(st.integers(min(start + len(wanted), len(buffer)), len(buffer)))
        selectors["anchor_after"] = "".join(buffer[at : at + 3])
    return match(respelled(data, wanted), new, **selectors)


@pytest.mark.req(
    "TX2-006", "TX2-015", "TX2-016", "TX2-018", "TX2-019", "TX2-020", "TX2-023", "TX2-025",
    "TX2-029", "TX2-030", "TX2-033", "TX2-035", "TX2-038", "TX2-039", "TX2-045", "EVID-024",
    "EVID-065", "EVID-067", "EVID-068", "EVID-073",
)  # fmt: skip
@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=texts(25), data=st.data())
def test_transactions_agree_with_the_plain_model(
    service: Any, text: str, data: st.DataObject
) -> None:
    caller = ServiceCaller(service)
    target = document(caller, text)["target_file_id"]
    current, version = lf(text), 0
    recorded: list[dict[str, Any]] = []
    for _ in range(data.draw(st.integers(1, 3))):
        model, operations, refusal = Model(current), [], None
        for _ in range(data.draw(st.integers(1, 6))):
            operations.append(an_operation(data, model.buffer, current))
            try:
                model.apply(operations[-1])
            except Refused as caught:
                refusal = caught
                break
        before = state(caller, target)
        answer = propose(caller, OPERATIONS, target, operations, expected_target_version=version)
        if refusal is None:
            after = "".join(model.buffer)
            assert answer["status"] == "accepted", answer
            assert answer["evidence"]["changes"] == model.facts
            assert answer["after_hash"] == sha256(after)
            assert content_of(caller, target) == after
            recorded += model.facts
            current, version = model.buffer, version + 1
        else:
            assert answer["failure_reason"] == refusal.reason, answer
            assert answer["failed_change_id"] == f"chg_{len(operations):03}"
            diagnostic = answer["diagnostic"]
            assert {name: diagnostic.get(name) for name in refusal.details} == refusal.details
            context = diagnostic["failure_context"]
            assert context["prior_changes"] == len(operations) - 1
            shown = "".join(model.buffer)[context["start"] : context["end"]]
            assert (context["text"], context["total_chars"]) == (shown, len(model.buffer))
            assert state(caller, target) == before
        assert [entry["derived"] for entry in ledger(caller, target)] == recorded
