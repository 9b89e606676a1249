"""`patchdiff show`: one attempt whole."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from patchdiff import database
from patchdiff.history import Change, Rewriting, known, observing, proposed, text_at
from patchdiff.printable import printable
from patchdiff.settings import Settings
from patchdiff.terminal import console, diff, facts, printable_lines, write

_NAMES = 14
_SHOWN_CHANGES = 1_000


def run(settings: Settings, pdcp_log_id: str, target_file_id: str | None) -> None:
    """Print an attempt with its guards, outcome and changes. Raises StartupError."""
    with observing(settings) as connection:
        attempt = known(
            database.get_attempt(connection, target_file_id=target_file_id, pdcp_log_id=pdcp_log_id)
        )
        if attempt["status"] == "accepted":
            text = text_at(connection, attempt["target_file_id"], attempt["before_version"])
            changes = Rewriting(text).apply(attempt, _SHOWN_CHANGES)
            count = len(attempt["changes"])
        else:
            changes = proposed(attempt, _SHOWN_CHANGES)
            count = len(attempt["proposed_changes"] or [])
    out = console()
    _show_attempt(out, attempt)
    if attempt["changes_failure"]:
        out.print(Text(attempt["changes_failure"], style="bold red"))
    for change in changes:
        _show_change(out, change, "change" if attempt["status"] == "accepted" else "proposed")
    if count > len(changes):
        out.print(f"{count - len(changes):,} more changes are not shown.")


def _show_attempt(out: Console, attempt: dict[str, Any]) -> None:
    write(
        out,
        facts(
            {
                "attempt": attempt["pdcp_log_id"],
                "target": f"{attempt['target_file_id']} ({attempt['filename']})",
                "sequence": attempt["log_sequence"],
                "status": attempt["status"],
                "time": attempt["created_at"],
                "source": attempt["source"] or "unknown",
                "intent": attempt["transaction_intent"],
                "request key": attempt["client_request_id"],
                "retry of": attempt["parent_pdcp_log_id"],
                "retry number": attempt["regeneration_attempt"],
                "protocol": attempt["protocol_version"],
                "runtime": attempt["runtime_version"],
                "cycle": attempt["editing_cycle_id"],
                "guards": _guards(attempt),
                "version before": attempt["before_version"],
                "hash before": attempt["before_hash"],
                "version after": attempt["after_version"],
                "hash after": attempt["after_hash"],
                "record hash": attempt["pdcp_content_hash"],
                "previous row": attempt["previous_row_hash"] or "none: the first attempt",
                "row hash": attempt["row_hash"],
                "reason": attempt["failure_reason"],
                "detail": attempt["failure_detail"],
                "failed change": attempt["failed_change_id"],
            },
            _NAMES,
        ),
    )
    if attempt["diagnostic"] is not None:
        title = "diagnostic" if attempt["status"] == "rejected" else "warnings"
        out.print()
        out.print(Text(title, style="bold"))
        text = json.dumps(attempt["diagnostic"], indent=2, ensure_ascii=False)
        write(out, Padding(Text(printable_lines(text), overflow="fold"), (0, 0, 0, 2)))


def _guards(attempt: dict[str, Any]) -> str:
    """The guards that the request carried, as its envelope recorded them."""
    try:
        envelope = json.loads(attempt["request_envelope"])
        guards = [
            f"{name} {value}"
            for name in ("expected_target_version", "expected_current_hash")
            if (value := envelope[name]) is not None
        ]
    except (ValueError, LookupError, TypeError, RecursionError):
        return "unknown: the request's envelope is damaged"
    return ", ".join(guards) or "none"


def _show_change(out: Console, change: Change, kind: str) -> None:
    entry = change.entry
    out.print()
    out.print(
        Rule(Text(f"{kind} {entry['change_index']}: {printable(entry['change_id'])}"), align="left")
    )
    span = change.span
    write(
        out,
        facts(
            {
                "span": None if span is None else f"code points {span[0]:,} to {span[1]:,}",
                "rationale": entry["rationale"],
                "risk": entry["risk"],
            },
            _NAMES,
        ),
    )
    if change.diff is None:
        out.print(Text("The texts of this change are not known.", style="bold red"))
    else:
        write(out, diff(change.diff))
