"""How answers are presented: the response modes (contract, "External response representations").

A mode is a property of a session. It changes neither what a call does nor what is recorded, and it
never shortens text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from patchdiff.catalog_tool import Tool

JsonObject = dict[str, Any]

COMPACT: Final = "compact"
DETAILED: Final = "detailed"

_RECORD_FIELDS: Final = ("evidence", "groups")
_CANDIDATE_FIELDS: Final = ("name", "kind", "parent", "start_line", "end_line")
_PAGE_FIELDS: Final = ("start", "end", "max_chars", "next_start", "start_line", "end_line")

_ANNOUNCEMENTS: Final = {
    "patchdiff_observe_scope": (
        "Compact presentation: candidates have name, kind, parent and lines only, scopes of a "
        "bundle no second set of page bounds; presentation.omitted says what was left out."
    ),
    "patchdiff_submit_observed_operations": (
        "Compact presentation: an accepted answer leaves out evidence and groups, as "
        "presentation.omitted says."
    ),
}


def announced(tool: Tool, response_mode: str) -> Tool:
    """`tool` as a session of this mode describes it."""
    announcement = _ANNOUNCEMENTS.get(tool.contract_name)
    if response_mode != COMPACT or announcement is None:
        return tool
    return replace(tool, description=f"{tool.description} {announcement}")


def presented(tool: Tool, answer: JsonObject, response_mode: str) -> JsonObject:
    """`answer` of `tool` as a session of this mode shows it."""
    projection = _PROJECTIONS.get((tool.contract_name, str(answer.get("status"))))
    if response_mode != COMPACT or projection is None:
        return answer
    projected, omitted = projection(answer)
    return {**projected, "presentation": {"mode": COMPACT, "omitted": omitted}}


def _accepted(answer: JsonObject) -> tuple[JsonObject, list[str]]:
    return _without(answer, _RECORD_FIELDS), [name for name in _RECORD_FIELDS if name in answer]


def _candidates(answer: JsonObject) -> tuple[JsonObject, list[str]]:
    listed = answer["candidates"]
    shown = [{name: entry[name] for name in _CANDIDATE_FIELDS} for entry in listed]
    return {**answer, "candidates": shown}, _omitted("candidate_details", listed, shown)


def _observed_batch(answer: JsonObject) -> tuple[JsonObject, list[str]]:
    scopes = answer["scopes"]
    shown = [_without(scope, _PAGE_FIELDS) for scope in scopes]
    return {**answer, "scopes": shown}, _omitted("duplicate_page_metadata", scopes, shown)


def _without(fields: Mapping[str, Any], names: tuple[str, ...]) -> JsonObject:
    return {name: value for name, value in fields.items() if name not in names}


def _omitted(what: str, before: object, after: object) -> list[str]:
    return [] if before == after else [what]


_Projection = Callable[[JsonObject], tuple[JsonObject, list[str]]]
_PROJECTIONS: Final[Mapping[tuple[str, str], _Projection]] = {
    ("patchdiff_submit_observed_operations", "accepted"): _accepted,
    ("patchdiff_observe_scope", "candidates"): _candidates,
    ("patchdiff_observe_scope", "observed_batch"): _observed_batch,
}
