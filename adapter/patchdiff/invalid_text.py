"""Proposals that hold text PostgreSQL cannot store: how they are found, and the evidence kept of
them.

Contract: "Common input and request-key rules"; the evidence is decisions, section 11.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from patchdiff.records import INVALID_INPUT
from patchdiff.text import invalid_offset

LISTED_PLACES = 10
SHOWN_NAME_CHARACTERS = 80
SHOWN_PATH_CHARACTERS = 1_200


@dataclass(frozen=True, slots=True)
class InvalidText:
    """Where a string is not PostgreSQL text: a safe path, the code-point offset, and the
    character."""

    path: str
    offset: int
    character: str

    def as_json(self) -> dict[str, object]:
        """The place as it stands in a diagnostic: ASCII, bounded, without the text itself."""
        return {
            "path": self.path,
            "offset": self.offset,
            "problem": "nul" if self.character == "\0" else "lone_surrogate",
            "code_point": f"U+{ord(self.character):04X}",
        }


def invalid_places(value: object) -> list[InvalidText]:
    """Every place in ``value``, names of fields included, where text is not PostgreSQL text, in
    order."""
    return list(_places("", value))


def evidence_text(protocol: str, arguments: Mapping[str, object]) -> str:
    """The ASCII JSON text that is stored for a proposal with invalid text.

    Its plain JSON escapes give back every submitted string exactly.
    """
    return json.dumps(
        {"protocol": INVALID_INPUT, "format": protocol, "arguments": dict(arguments)},
        ensure_ascii=True,
        separators=(",", ":"),
        allow_nan=False,
    )


def diagnostic_fields(places: list[InvalidText]) -> dict[str, object]:
    """The bounded diagnostic of invalid text: the first ten places and how many there are."""
    return {
        "invalid_text": [place.as_json() for place in places[:LISTED_PLACES]],
        "invalid_text_count": len(places),
        "invalid_text_truncated": len(places) > LISTED_PLACES,
    }


def _places(path: str, value: object) -> Iterator[InvalidText]:
    if isinstance(value, str):
        offset = invalid_offset(value)
        if offset is not None:
            yield InvalidText(path[:SHOWN_PATH_CHARACTERS], offset, value[offset])
    elif isinstance(value, Mapping):
        for name, item in value.items():
            shown = ascii(str(name))[1:-1][:SHOWN_NAME_CHARACTERS]
            yield from _places(f"{path} (name of a field)" if path else "(name)", str(name))
            yield from _places(f"{path}.{shown}" if path else shown, item)
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from _places(f"{path}[{position}]", item)
