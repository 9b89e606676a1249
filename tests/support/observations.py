"""Observed scopes, submissions inside them, and the receipts that storage holds."""

from __future__ import annotations

from typing import Any

import psycopg

from tests.support.documents import Caller, attempts, document, state

OBSERVE = "patchdiff_observe_scope"
SUBMIT = "patchdiff_submit_observed_operations"

Admin = psycopg.Connection[Any]

# Two functions of one length, a class with a method of a function's name, astral text in between.
SOURCE = '''"""\U0001f600 Sizes e\u0301."""


def first():
    return "one"


def other():
    return "two"


class Box:
    def first(self):
        return "\U0001f600 one"

    def keep(self):
        def inner():
            return 2

        return inner
'''
FIRST = 'def first():\n    return "one"'
OTHER = 'def other():\n    return "two"'


def function(name: str, length: int) -> str:
    """A Python function of exactly so many code points."""
    head = f'def {name}():\n    return "'
    return f'{head}{"x" * (length - len(head) - 1)}"'


def source(caller: Caller, content: str = SOURCE, filename: str = "t.py") -> str:
    """The id of a new target of Python, or of what the filename says."""
    target = document(caller, content, filename=filename)["target_file_id"]
    assert isinstance(target, str)
    return target


def observe(caller: Caller, target_file_id: object, **arguments: Any) -> dict[str, Any]:
    """Call patchdiff_observe_scope."""
    return caller.call(OBSERVE, target_file_id=target_file_id, **arguments)


def receipt(
    caller: Caller, target_file_id: str, symbol_name: str = ".first", **arguments: Any
) -> dict[str, Any]:
    """Observe a symbol that must be found; returns the answer."""
    answer = observe(caller, target_file_id, symbol_name=symbol_name, **arguments)
    assert answer["status"] == "observed", answer
    return answer


def whole(caller: Caller, target_file_id: str) -> dict[str, Any]:
    """Observe the whole text; returns the answer."""
    return receipt(caller, target_file_id, "<document>", kind="document")


def selections(*names: str) -> list[dict[str, str]]:
    """Selections by name alone."""
    return [{"symbol_name": name} for name in names]


def bundle(caller: Caller, target_file_id: str, *names: str, **arguments: Any) -> dict[str, Any]:
    """Observe symbols as one bundle, which must be issued; returns the answer."""
    answer = observe(caller, target_file_id, selections=selections(*names), **arguments)
    assert answer["status"] == "observed_batch", answer
    return answer


def guards(observed: dict[str, Any]) -> dict[str, Any]:
    """Both guards of what was observed."""
    return {
        "expected_target_version": observed["target_version"],
        "expected_current_hash": observed["target_current_hash"],
    }


def single(observed: dict[str, Any], *operations: Any, **arguments: Any) -> dict[str, Any]:
    """The arguments of a submission in single form under a receipt."""
    return {
        "target_file_id": observed["target_file_id"],
        "intent": "t",
        "observation_id": observed["observation_id"],
        "operations": list(operations),
        **guards(observed),
        **arguments,
    }


def batch(
    observed: dict[str, Any], groups: list[Any], key: str | None = "k", **arguments: Any
) -> dict[str, Any]:
    """The arguments of a batch under a bundle; a key of None is left out."""
    return {
        "target_file_id": observed["target_file_id"],
        "intent": "t",
        "observation_bundle_id": observed["observation_bundle_id"],
        "groups": groups,
        **guards(observed),
        **({} if key is None else {"client_request_id": key}),
        **arguments,
    }


def group(scope: dict[str, Any], *operations: Any) -> dict[str, Any]:
    """One group of a batch, under a scope of a bundle."""
    return {"observation_id": scope["observation_id"], "operations": list(operations)}


def submit_accepted(caller: Caller, arguments: dict[str, Any]) -> dict[str, Any]:
    """Make an observed submission that must be accepted; returns the answer."""
    answer = caller.call(SUBMIT, **arguments)
    assert answer["status"] == "accepted", answer
    return answer


def submit_refused(
    caller: Caller,
    admin: Admin,
    arguments: dict[str, Any],
    reason: str,
    code: str | None = None,
) -> dict[str, Any]:
    """Make an observed submission that must be rejected; returns the answer.

    Text, hash, version, ledger and every receipt stay, and exactly one attempt is added, the named
    one. Receipts' refusals are not retryable.
    """
    target = arguments["target_file_id"]
    before, known = state(caller, target), attempts(caller, target)
    kept = receipts(admin, target)
    answer = caller.call(SUBMIT, **arguments)
    assert (answer["status"], answer["failure_reason"]) == ("rejected", reason), answer
    assert answer["diagnostic"].get("code") == code, answer
    assert answer["after_hash"] is None
    assert state(caller, target) == before
    assert receipts(admin, target) == kept
    rows = attempts(caller, target)
    assert [row["pdcp_log_id"] for row in rows] == [
        answer["pdcp_log_id"],
        *(row["pdcp_log_id"] for row in known),
    ]
    assert (rows[0]["status"], rows[0]["failure_reason"]) == ("rejected", reason)
    if reason == "context_invalid":
        assert answer["diagnostic"]["retryable"] is False
    return answer


def receipts(admin: Admin, target_file_id: str) -> list[dict[str, Any]]:
    """The target's receipts as storage holds them, in the order of their issue."""
    query = (
        "select to_jsonb(o) from patchdiff.target_scope_observations as o"
        " where o.target_file_id = %s order by o.created_at, o.ordinal"
    )
    return [row[0] for row in admin.execute(query, [target_file_id])]


def users(admin: Admin, target_file_id: str) -> dict[str, str | None]:
    """Which attempt used each receipt of the target."""
    return {
        row["observation_id"]: row["consumed_by_pdcp_log_id"]
        for row in receipts(admin, target_file_id)
    }


def alter_receipt(admin: Admin, observation_id: str, **columns: object) -> None:
    """Change columns of a stored receipt by hand."""
    changes = psycopg.sql.SQL(", ").join(
        psycopg.sql.SQL("{} = %s").format(psycopg.sql.Identifier(name)) for name in columns
    )
    query = psycopg.sql.SQL(
        "update patchdiff.target_scope_observations set {} where observation_id = %s"
    )
    done = admin.execute(query.format(changes), [*columns.values(), observation_id])
    assert done.rowcount == 1
