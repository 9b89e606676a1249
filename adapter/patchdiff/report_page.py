"""The report's page: HTML that loads nothing, runs nothing, and shows every character."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from patchdiff.printable import is_plain, printable
from patchdiff.report_history import MAXIMUM_CHANGES, MAXIMUM_ROWS, History
from patchdiff.report_timeline import timeline

_LONGEST_NOTE: Final = 2_000
_LONGEST_DIAGNOSTIC: Final = 6_000

CHECKS: Final[Mapping[str, str]] = {
    "chain": "each attempt names the hash of the one before it, and the target the last one's",
    "replay": "the recorded changes lead to the stored text, hash and version",
    "ledger": "one ledger row for each accepted change, agreeing with its record",
    "log_intents": "the log's intents are those of the records",
    "snapshots": "saved texts have their hashes and stand at their versions",
    "cycles": "exactly one editing cycle is open, and all are in order",
}
"""What each check of verify_target says when it holds."""


def page(history: History, now: datetime) -> str:
    """The whole page. `now` is when it was made, in UTC."""
    target = history.target
    count = history.chain["rows_verified"] if history.chain["status"] == "intact" else None
    drawing = timeline(
        [attempt.entry for attempt in history.attempts],
        target["active_editing_cycle_id"],
        target["version"],
    )
    return (
        _environment()
        .get_template("report.html")
        .render(
            target=target,
            attempts=history.attempts,
            older_attempts=history.older_attempts,
            attempt_count=count,
            accepted_shown=sum(a.entry["status"] == "accepted" for a in history.attempts),
            verification=history.verification,
            chain=history.chain,
            checks=CHECKS,
            timeline=drawing,
            code_points=len(target["current_content"]),
            lines=_lines(target["current_content"]),
            maximum_changes=MAXIMUM_CHANGES,
            maximum_rows=MAXIMUM_ROWS,
            made=now.strftime("%Y-%m-%d %H:%M:%S"),
            program=f"patchdiff {version('patchdiff-pg')}",
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("patchdiff"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "visible": _visible,
        "note": _note,
        "printable": printable,
        "number": lambda value: f"{value:,}",
        "plural": _plural,
        "moment": lambda value: value.replace("T", " ").removesuffix("Z"),
        "diagnostic": _diagnostic,
        "line_endings": _line_endings,
    }
    return environment


def _visible(text: str) -> Markup:
    """The text escaped for HTML, with what nobody would see or what turns text around as a marked
    escape. Line feeds are kept."""
    if text.isascii() and text.isprintable():
        return escape(text)
    parts: list[Markup] = []
    start = 0
    for n, character in enumerate(text):
        if not is_plain(character) and character != "\n":
            name = escape(ascii(character)[1:-1])
            parts += [escape(text[start:n]), Markup("<span class=escape>{}</span>").format(name)]
            start = n + 1
    parts.append(escape(text[start:]))
    return Markup("").join(parts)


def _note(text: str) -> Markup:
    """A text of any length as `_visible` shows it, its end left out where it is long."""
    return _cut(text, _LONGEST_NOTE)


def _diagnostic(value: Any) -> Markup:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _cut(text, _LONGEST_DIAGNOSTIC)


def _cut(text: str, longest: int) -> Markup:
    if len(text) <= longest:
        return _visible(text)
    left_out = Markup(" <span class=cut>… {:,} more code points …</span>")
    return _visible(text[:longest]) + left_out.format(len(text) - longest)


def _line_endings(facts: Mapping[str, Any] | None) -> str:
    """The line endings of the upload, each kind that occurs with its number."""
    if facts is None:
        return "not recorded"
    kinds = [f"{facts[name]:,} {name.upper()}" for name in ("lf", "crlf", "cr") if facts[name]]
    return ", ".join(kinds) or "none"


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
