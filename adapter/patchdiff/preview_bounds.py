"""The bounds of a preview's evidence: what is left out of an answer that would grow past them.

Sizes are bytes of compact ASCII-escaped JSON, lengths are code points. Contract:
"patchdiff_preview".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from patchdiff.answers import over_mcp
from patchdiff.catalog_schemas import TARGET_ID_PATTERN
from patchdiff.evidence import json_size

PAYLOAD_BYTES = 32_768
FACTS = 32
FACT_BYTES = 2_048
FACTS_BYTES = 16_384
TEXT_CODE_POINTS = 1_024
TEXT_BYTES = 8_192
DIAGNOSTIC_BYTES = 16_384

FACT_COUNT_LIMIT = "fact_count_limit"
FACT_BYTE_LIMIT = "fact_byte_limit"
FACTS_BYTE_LIMIT = "change_facts_byte_limit"
TEXT_LIMIT = "text_limit"
DIAGNOSTIC_BYTE_LIMIT = "diagnostic_byte_limit"
PAYLOAD_BYTE_LIMIT = "payload_byte_limit"

JsonObject = dict[str, Any]

_OMISSION_ORDER = (
    "near_misses",
    "warning_details",
    "warnings",
    "diagnostic",
    "failure_detail",
    "failed_change_id",
    "target_file_id",
    "current_context",
)
"""What goes, one after the other, from a payload over its cap; whole facts follow."""

_VERDICT_FIELDS = ("format", "code", "retryable", "requires_new_submission", "validation_stage")
"""What a diagnostic says of the verdict; everything else in it is evidence."""

_TARGET_ID = re.compile(TARGET_ID_PATTERN)


def bounded(answer: Mapping[str, Any]) -> JsonObject:
    """``answer`` within every bound of a preview, and what had to be left out for that.

    ``answer`` is a preview's whole answer: an accepted one has ``change_facts``, all of them; a
    rejected one has ``diagnostic`` and ``current_context``. The result has ``evidence_omissions``,
    a list of ``{field, reason}``, and next to ``change_facts`` its counts. A field left out is
    null, or empty if it is a list, and never shortened; a part of the diagnostic is absent and
    listed as ``diagnostic.<name>``. Verdict, stage, validity, a valid target id, version, hashes
    and runtime always stay. The bound on the payload holds for the result as it is and as
    ``answers.over_mcp`` shows it.
    """
    result: JsonObject = {**answer, "evidence_omissions": []}
    _bound_facts(result)
    _bound_texts(result)
    _bound_diagnostic(result)
    _bound_payload(result)
    return result


def _bound_facts(result: JsonObject) -> None:
    facts = result.get("change_facts")
    if facts is None:
        return
    kept: list[JsonObject] = []
    reason = None
    for fact in facts:
        if len(kept) == FACTS:
            reason = FACT_COUNT_LIMIT
        elif json_size(fact) > FACT_BYTES:
            reason = FACT_BYTE_LIMIT
        elif json_size({"change_facts": [*kept, fact]}) > FACTS_BYTES:
            reason = FACTS_BYTE_LIMIT
        if reason is not None:
            _record(result, "change_facts", reason)
            break
        kept.append(fact)
    result |= {
        "change_facts": kept,
        "total_change_count": len(facts),
        "returned_fact_count": len(kept),
        "change_facts_truncated": reason is not None,
        "change_facts_omission_reason": reason,
    }


def _bound_texts(result: JsonObject) -> None:
    for field in _OMISSION_ORDER:
        if field == "diagnostic":
            for name, value in list(result.get(field, {}).items()):
                if not _texts_fit(name, value):
                    _omit_from_diagnostic(result, name, TEXT_LIMIT)
        elif not _texts_fit(field, result.get(field)):
            _omit(result, field, TEXT_LIMIT)


def _bound_diagnostic(result: JsonObject) -> None:
    for kept in ((*_VERDICT_FIELDS, "failure_context"), _VERDICT_FIELDS, ()):
        if json_size({"diagnostic": result.get("diagnostic")}) <= DIAGNOSTIC_BYTES:
            return
        _keep_in_diagnostic(result, kept, DIAGNOSTIC_BYTE_LIMIT)


def _bound_payload(result: JsonObject) -> None:
    for field in _OMISSION_ORDER:
        if _payload_size(result) <= PAYLOAD_BYTES:
            return
        if field == "diagnostic":
            _keep_in_diagnostic(result, _VERDICT_FIELDS, PAYLOAD_BYTE_LIMIT)
        elif result.get(field) and not (
            field == "target_file_id" and _TARGET_ID.fullmatch(result[field])
        ):
            _omit(result, field, PAYLOAD_BYTE_LIMIT)
    while _payload_size(result) > PAYLOAD_BYTES and result.get("change_facts"):
        facts = result["change_facts"][:-1]
        result |= {
            "change_facts": facts,
            "returned_fact_count": len(facts),
            "change_facts_truncated": True,
            "change_facts_omission_reason": PAYLOAD_BYTE_LIMIT,
        }
        _record(result, "change_facts", PAYLOAD_BYTE_LIMIT)


def _payload_size(result: JsonObject) -> int:
    return max(json_size(result), json_size(over_mcp(result)))


def _texts_fit(name: str, value: object) -> bool:
    return all(
        len(text) <= TEXT_CODE_POINTS and json_size({field: text}) <= TEXT_BYTES
        for field, text in _texts(name, value)
    )


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Every string in ``value`` with the name of the field that holds it."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for inner_name, item in value.items():
            yield from _texts(inner_name, item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(name, item)


def _omit(result: JsonObject, field: str, reason: str) -> None:
    result[field] = [] if isinstance(result[field], list) else None
    if field in ("warnings", "warning_details"):
        result["warnings_truncated"] = True
    _record(result, field, reason)


def _keep_in_diagnostic(result: JsonObject, kept: tuple[str, ...], reason: str) -> None:
    for name in list(result.get("diagnostic") or ()):
        if name not in kept and name != "omission_reason":
            _omit_from_diagnostic(result, name, reason)


def _omit_from_diagnostic(result: JsonObject, name: str, reason: str) -> None:
    others = {key: value for key, value in result["diagnostic"].items() if key != name}
    result["diagnostic"] = others | {"omission_reason": reason}
    _record(result, f"diagnostic.{name}", reason)


def _record(result: JsonObject, field: str, reason: str) -> None:
    omission = {"field": field, "reason": reason}
    if omission not in result["evidence_omissions"]:
        result["evidence_omissions"].append(omission)
