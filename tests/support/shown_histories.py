"""Histories for the tests of what shows and verifies them, and ways to damage one."""

from __future__ import annotations

from typing import Any, Final, LiteralString

import psycopg
from psycopg import sql

from tests.support.documents import Caller, accepted, change, document, submit

HOSTILE: Final = (
    "<script>alert(1);document.title='owned'</script><img src=x onerror=alert(2)>"
    "</style></title></svg>&amp;\"'\u202eright to left\u202c\x1b[31mred\x07\u200b\u2028\x85"
    "\U0001f600\U0010ffff"
)
"""Markup, direction marks, control, invisible and astral characters on one line."""


def rich_history(caller: Caller) -> str:
    """A target with three accepted attempts, two rejected ones and a save, in this order: accepted,
    rejected, accepted, save, rejected, accepted; returns its id.

    Sources are alice, bob, …; version 1 has two changes, version 3 is a whole replacement.
    """
    lines = "".join(f"line {number} of the text\n" for number in range(1, 31))
    target = str(document(caller, lines, filename="story.txt")["target_file_id"])
    accepted(
        caller,
        target,
        change("line 10 of", "line ten of", rationale="In words", risk="low"),
        change("line 20 of the text\n", "", change_id="drop"),
        intent="Two changes",
        source="alice",
    )
    submit(
        caller,
        target,
        change("line", "row"),
        expected_target_version=1,
        intent="Too many",
        source="bob",
    )
    accepted(
        caller, target, change("line ten", HOSTILE, rationale=HOSTILE),
        expected_target_version=1, intent=f"Hostile {HOSTILE}", source=HOSTILE,
    )  # fmt: skip
    caller.call("patchdiff_save", target_file_id=target)
    submit(caller, target, change("absent", "x"), intent="Too late", source="carol")
    answer = caller.call(
        "patchdiff_submit_replacement",
        target_file_id=target, intent="All anew", replacement="line 1 of the text\nthe end",
        expected_target_version=2, source="dave",
    )  # fmt: skip
    assert answer["status"] == "accepted", answer
    return target


def damage(
    admin: psycopg.Connection[Any],
    table: LiteralString,
    assignments: LiteralString,
    target_file_id: str,
    condition: LiteralString = "true",
) -> None:
    """Alter rows of the log or the ledger of a target by hand, past what guards them."""
    name = sql.Identifier("patchdiff", table)
    with admin.transaction():
        admin.execute(sql.SQL("alter table {} disable trigger append_only").format(name))
        altered = admin.execute(
            sql.SQL("update {} set {} where target_file_id = %s and {}").format(
                name, sql.SQL(assignments), sql.SQL(condition)
            ),
            [target_file_id],
        )
        assert altered.rowcount > 0
        admin.execute(sql.SQL("alter table {} enable always trigger append_only").format(name))
