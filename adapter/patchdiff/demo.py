"""The demo: a real MCP client edits a copy of a real text through ``patchdiff mcp``.

It shows each call with its answer, then the log, the ledger and the change.
"""

import hashlib
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO, cast

import anyio
import click
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from rich.console import Console

from patchdiff.demo_document import (
    Document,
    UnusableFileError,
    choose_ambiguous,
    choose_edits,
    read_document,
    unified_diff,
)
from patchdiff.demo_view import View

_ANSWER_SECONDS = 60.0
_START_SECONDS = 180.0

# The demo shows the product as it comes, whatever the caller's own server is set to.
_LEFT_OUT = (
    "PATCHDIFF_DATABASE_URL",
    "PATCHDIFF_MCP_PROFILE",
    "PATCHDIFF_MCP_RESPONSE_MODE",
    "PATCHDIFF_STRICT_OBSERVATION_MODE",
)


class DemoFailedError(Exception):
    """An answer that the demo did not expect; the message is one line."""


_EXPECTED = (DemoFailedError, MCPError, OSError, TimeoutError)


class _Session:
    """The client's calls, each shown before it goes out."""

    def __init__(self, client: Client, view: View) -> None:
        self._client = client
        self._view = view

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        status: str | None,
        shown: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Calls the tool and gives its payload.

        shown replaces arguments in what is printed. Raises DemoFailedError unless the payload's
        status is the one given; None stands for the answers that carry none.
        """
        self._view.call(tool, shown if shown is not None else arguments)
        result = await self._client.call_tool(tool, dict(arguments))
        text = getattr(result.content[0], "text", "")
        payload: dict[str, Any] = json.loads(text)
        if result.is_error or payload.get("status") != status:
            raise DemoFailedError(f"{tool} answered {json.dumps(payload)[:400]}")
        return payload


async def _edit_over_mcp(view: View, document: Document, server_log: TextIO) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    server = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "patchdiff.cli", "mcp"], env=environment
    )
    size = f"{len(document.content):,} code points"
    client = Client(stdio_client(server, errlog=server_log), read_timeout_seconds=_ANSWER_SECONDS)
    with anyio.fail_after(_START_SECONDS) as start:
        async with client:
            start.deadline = float("inf")
            view.headline(
                "PatchDIFF edits a copy of a document over MCP and records it in PostgreSQL",
                [
                    f"document: a copy of {document.filename}, {size}",
                    "server:   patchdiff mcp, over stdio, on the embedded PostgreSQL server",
                    f"client:   the MCP SDK's, protocol {client.protocol_version}",
                ],
            )
            await _show(_Session(client, view), view, document)


async def _show(session: _Session, view: View, document: Document) -> None:
    view.step("The document becomes a target")
    target = await session.call(
        "patchdiff_initialize_target",
        {
            "filename": document.filename,
            "content": document.content,
            "content_type": document.content_type,
        },
        status="ok",
    )
    target_file_id = target["target_file_id"]
    endings = target["source_line_endings"]
    view.answer(_fields(target, "status", "target_file_id", "version", "current_hash"))
    view.answer({"source_line_endings": _fields(endings, "style", "lf", "crlf", "cr")})

    view.step("The client reads lines of it")
    lines = await session.call(
        "patchdiff_read_lines",
        {"target_file_id": target_file_id, "start_line": 1, "max_chars": 400},
        status="ok",
    )
    view.answer(_fields(lines, "version", "total_lines", "total_chars", "truncated", "next_offset"))
    view.numbered_lines(lines["text"], lines["start_line"])

    view.step("Two edits in one transaction: both or neither")
    whole = await session.call(
        "patchdiff_get_target", {"target_file_id": target_file_id}, status="ok"
    )
    before = whole["current_content"]
    edits, expected = choose_edits(before)
    proposal = {
        "target_file_id": target_file_id,
        "intent": "Show an accepted transaction",
        "edits": edits,
        "expected_target_version": 0,
    }
    accepted = await session.call("patchdiff_submit_edits", proposal, status="accepted")
    view.answer(_fields(accepted, "status", "version", "after_hash", "manifest_entries_added"))
    for change in accepted["evidence"]["changes"]:
        view.answer({change["change_id"]: _fields(change, "span_start", "span_end")})
    for warning in accepted["warnings"]:
        view.answer({"warning": warning})

    view.step("An edit that could mean several places is rejected, with the places")
    ambiguous = choose_ambiguous(before, expected)
    rejected = await session.call(
        "patchdiff_submit_edits",
        {
            "target_file_id": target_file_id,
            "intent": "Show an ambiguous edit",
            "edits": [{"match": ambiguous, "replace": ambiguous.upper()}],
            "expected_target_version": 1,
        },
        status="rejected",
    )
    diagnostic = rejected["diagnostic"]
    candidates = diagnostic["exact_candidates"]
    view.answer(_fields(rejected, "status", "failure_reason", "failure_detail", "current_version"))
    view.answer(_fields(diagnostic, "occurrence_count", "retryable"))
    view.table(
        ["occurrence_index", "start", "in its place"],
        [
            (
                candidate["occurrence_index"],
                candidate["start"],
                f"…{candidate['before']}[{candidate['match_preview']}]{candidate['after']}…",
            )
            for candidate in candidates["candidates"]
        ],
    )

    view.step("A proposal made for an older version is rejected")
    stale = await session.call(
        "patchdiff_submit_edits",
        proposal | {"intent": "Show a stale guard"},
        status="rejected",
        shown={"intent": "Show a stale guard", "edits": "as before", "expected_target_version": 0},
    )
    view.answer(_fields(stale, "status", "failure_reason", "failure_detail", "current_version"))

    view.step("The result is exported")
    mixed = endings["style"] == "mixed"
    export = await session.call(
        "patchdiff_export_target",
        {
            "target_file_id": target_file_id,
            "format": "canonical_lf" if mixed else "original_eol",
        },
        status="ok",
    )
    view.answer(_fields(export, "status", "version", "content_eol", "content_sha256"))
    _check_export(export, expected)

    await _show_history(session, view, target_file_id)

    view.step("The change")
    view.diff(unified_diff(before, expected, document.filename))

    view.step("Go on by hand")
    view.say(
        f"  {_psql_command()}",
        "  select jsonb_pretty(patchdiff.get_pdcp_log(",
        f"      target_file_id => '{target_file_id}'));",
    )


async def _show_history(session: _Session, view: View, target_file_id: str) -> None:
    view.step("The log: every attempt, newest first")
    log = await session.call(
        "patchdiff_get_pdcp_log", {"target_file_id": target_file_id}, status=None
    )
    view.table(
        ["log", "status", "version", "failure_reason", "intent"],
        [
            (
                entry["log_sequence"],
                entry["status"],
                f"{entry['before_version']} → {entry['after_version']}"
                if entry["status"] == "accepted"
                else entry["before_version"],
                entry["failure_reason"],
                entry["intent"],
            )
            for entry in log["entries"]
        ],
    )

    view.step("The ledger: every accepted change, with what it did")
    ledger = await session.call(
        "patchdiff_get_manifest_ledger", {"target_file_id": target_file_id}, status=None
    )
    view.table(
        ["ledger", "log", "change", "span", "chars", "rationale"],
        [
            (
                entry["ledger_sequence"],
                entry["log_sequence"],
                entry["change_id"],
                f"{entry['derived']['span_start']}..{entry['derived']['span_end']}",
                f"{entry['derived']['matched_chars']} → {entry['derived']['replacement_chars']}",
                entry["rationale"],
            )
            for entry in ledger["entries"]
        ],
    )


def _fields(answer: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: answer[name] for name in names}


def _check_export(export: Mapping[str, Any], expected: str) -> None:
    content = export["content"]
    if hashlib.sha256(content.encode("utf-8")).hexdigest() != export["content_sha256"]:
        raise DemoFailedError("the export's content_sha256 is not that of its content")
    if content.replace("\r\n", "\n").replace("\r", "\n") != expected:
        raise DemoFailedError("the export is not what the two edits should have left")


def _psql_command() -> str:
    """The command line that opens psql on the embedded server, as it can be typed here."""
    installed = Path(sys.executable).with_name("patchdiff")
    found = shutil.which("patchdiff")
    if found is not None and Path(found).resolve() == installed.resolve():
        command = "patchdiff"
    else:
        here = Path.cwd()
        command = shlex.quote(
            str(installed.relative_to(here) if installed.is_relative_to(here) else installed)
        )
    if "PATCHDIFF_DATABASE_URL" in os.environ:
        command = f"env -u PATCHDIFF_DATABASE_URL {command}"
    return f"{command} psql"


def run(file: Path | None) -> int:
    """Runs the demo on a copy of the file, on this distribution's README without one.

    Returns the exit status: 0; 1 when an answer was not as expected or the server was lost; 2 when
    the file cannot be used or the server does not start. Each failure is a line on stderr.
    """
    try:
        document = read_document(file)
    except UnusableFileError as error:
        click.echo(f"patchdiff demo: {error}", err=True)
        return 2
    view = View(Console(highlight=False, markup=False, emoji=False))
    failure: BaseException | None = None
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as server_log:
        try:
            anyio.run(_edit_over_mcp, view, document, cast(TextIO, server_log))
        except (*_EXPECTED, ExceptionGroup) as error:
            failure = error
            while isinstance(failure, BaseExceptionGroup):
                failure = failure.exceptions[0]
            if not isinstance(failure, _EXPECTED):
                raise
        server_log.seek(0)
        said = server_log.read().strip()
    if said:
        click.echo(said, err=True)
    if failure is not None and (view.steps or not said):
        click.echo(f"patchdiff demo: {str(failure) or type(failure).__name__}", err=True)
    if failure is None:
        return 0
    return 1 if view.steps else 2
