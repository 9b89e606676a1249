"""The tools as Python calls on one PostgreSQL connection."""

from __future__ import annotations

import uuid
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any, LiteralString

import psycopg
from psycopg.pq import TransactionStatus

from patchdiff import database, records
from patchdiff.arguments import clamp_integers, refuse_types, storable_guard
from patchdiff.catalog import TOOLS
from patchdiff.observation import Observer
from patchdiff.observed_scopes import ObservedScopes
from patchdiff.preview import NOT_GIVEN, preview
from patchdiff.replay import replay
from patchdiff.search import occurrence_page
from patchdiff.structure.engine import Engine
from patchdiff.submission import Submission, SubmissionPipeline
from patchdiff.workspace import (
    ImportedFile,
    Workspace,
    content_conflict,
    owned_transaction_required,
)

JsonObject = dict[str, Any]

CONTEXT_CHARACTERS = 400
RESULTS = 200

_NO_HISTORY: JsonObject = {"entries": [], "has_more": False, "next_sequence": None}


class Service:
    """The tools of the contract, one method each: ``patchdiff_read_target`` is ``read_target``.

    Arguments have the tools' names, meanings and units; every method returns the tool's result as a
    dictionary of JSON values, refusals included. A connection that is idle when a call starts is
    the service's to commit; one that is in a transaction is the caller's, and the call then neither
    commits nor rolls back (decisions, section 5). Raises psycopg.Error when the database fails or
    refuses the caller's role. Not for use by several threads at once.
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        *,
        strict_observation: bool = False,
        engine: Engine | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        """Serves through ``connection``, to a database that ``patchdiff migrate`` has prepared.

        With ``strict_observation`` every write outside an observed scope is rejected and recorded.
        ``engine`` finds the symbols of texts; services can share one. Without it the service has
        its own, whose child process starts with the first text and ends with this one.
        ``workspace`` has the files that targets are imported from and published to; without one
        both are refused.
        """
        self._connection = connection
        self._strict_observation = strict_observation
        self._engine = engine or Engine()
        self._workspace = workspace or Workspace()
        self._observer = Observer(connection, self._engine, self._transaction, self._statement)
        self._submissions = SubmissionPipeline(
            connection,
            self._transaction,
            self._statement,
            strict_observation,
            ObservedScopes(connection, self._engine, self._statement),
        )

    def initialize_target(
        self,
        filename: str,
        content: str | None = None,
        content_type: str = "text/plain",
        project_id: str | None = None,
        from_workspace: bool = False,
    ) -> JsonObject:
        """Makes a target of ``content`` at version 0, its line ends recorded and then made LF
        (contract, section 1).

        With ``from_workspace`` the text is that of the workspace's file at the path ``filename``.
        """
        arguments = {
            "filename": filename,
            "content": content,
            "content_type": content_type,
            "project_id": project_id,
        }
        refusal = self._refusal(
            "initialize_target", {**arguments, "from_workspace": from_workspace}
        )
        if refusal is None and from_workspace:
            return self._import(arguments)
        return refusal or self._call("initialize_target", arguments)

    def handle_upload(
        self, filename: str, content: str, content_type: str, project_id: str | None = None
    ) -> JsonObject:
        """Makes a target of an uploaded text: the same as ``initialize_target`` (contract,
        section 1)."""
        arguments = {
            "filename": filename,
            "content": content,
            "content_type": content_type,
            "project_id": project_id,
        }
        return self._refusal("handle_upload", arguments) or self._call(
            "initialize_target", arguments
        )

    def get_target(self, target_file_id: str) -> JsonObject:
        """A target's metadata and whole canonical text (contract, section 1)."""
        return self._read("get_target", {"target_file_id": target_file_id})

    def export_target(self, target_file_id: str, format: str = "original_text") -> JsonObject:  # noqa: A002
        """A target's text with LF, CRLF or its recorded line ends (contract, "Line endings and
        export formats")."""
        return self._read("export_target", {"target_file_id": target_file_id, "format": format})

    def read_target(
        self, target_file_id: str, start: int = 0, length: int | None = None
    ) -> JsonObject:
        """Up to ``length`` code points from code point ``start``; 4,000 by default, 8,000 at
        most (section 2)."""
        return self._read(
            "read_target", {"target_file_id": target_file_id, "start": start, "length": length}
        )

    def read_lines(
        self,
        target_file_id: str,
        start_line: int = 1,
        end_line: int | None = None,
        offset: int = 0,
        max_chars: int | None = None,
        include_line_starts: bool = False,
    ) -> JsonObject:
        """A page of the one-based lines ``start_line`` to ``end_line``, both inclusive, ended by LF
        alone.

        ``offset`` counts code points from the range's start (contract, "patchdiff_read_lines").
        """
        return self._read(
            "read_lines",
            {
                "target_file_id": target_file_id,
                "start_line": start_line,
                "end_line": end_line,
                "offset": offset,
                "max_chars": max_chars,
                "include_line_starts": include_line_starts,
            },
        )

    def find_occurrences(
        self,
        target_file_id: str,
        text: str,
        context_chars: int = 40,
        start_occurrence: int = 1,
        max_results: int = RESULTS,
    ) -> JsonObject:
        """Exact occurrences of ``text``, overlapping ones counted, with code-point offsets
        (contract, section 2)."""
        refusal = self._refusal(
            "find_occurrences",
            {
                "target_file_id": target_file_id,
                "text": text,
                "context_chars": context_chars,
                "start_occurrence": start_occurrence,
                "max_results": max_results,
            },
        )
        if refusal is not None:
            return refusal
        with self._statement():
            refusal, base = database.target_text(self._connection, target_file_id)
        if base is None:
            return refusal or {}
        return {
            "status": "ok",
            "target_file_id": target_file_id,
            "version": base.version,
            "current_hash": base.current_hash,
            **occurrence_page(
                base.text,
                text,
                min(context_chars, CONTEXT_CHARACTERS),
                start_occurrence,
                min(max_results, RESULTS),
            ),
        }

    def submit_edits(
        self,
        target_file_id: str,
        intent: str,
        edits: list[JsonObject],
        expected_target_version: int | None = None,
        expected_current_hash: str | None = None,
        source: str = "model_response",
        parent_pdcp_log_id: str | None = None,
        attempt: int | None = None,
        client_request_id: str | None = None,
        include_correlation_id: bool = False,
    ) -> JsonObject:
        """Submits exact-match edits as one atomic patchdiff-tx/1 transaction (contract, section 3).

        At least one guard is required. Every attempt on a known target is recorded, accepted or
        rejected.
        """
        return self._submit(
            "submit_edits",
            records.TYPED_EDITS,
            target_file_id,
            {"intent": intent, "edits": edits},
            {
                "client_request_id": client_request_id,
                "expected_target_version": expected_target_version,
                "expected_current_hash": expected_current_hash,
                "parent_pdcp_log_id": parent_pdcp_log_id,
                "attempt": attempt,
                "source": source,
            },
            include_correlation_id,
        )

    def submit_operations(
        self,
        target_file_id: str,
        intent: str,
        operations: list[JsonObject],
        expected_target_version: int | None = None,
        expected_current_hash: str | None = None,
        source: str = "model_response",
        parent_pdcp_log_id: str | None = None,
        attempt: int | None = None,
        client_request_id: str | None = None,
        include_correlation_id: bool = False,
    ) -> JsonObject:
        """Submits matches and spans as one atomic patchdiff-tx/2 transaction.

        Spans are in code points of the sequential buffer (contract, "patchdiff_submit_operations").
        """
        return self._submit(
            "submit_operations",
            records.OPERATIONS,
            target_file_id,
            {"intent": intent, "operations": operations},
            {
                "client_request_id": client_request_id,
                "expected_target_version": expected_target_version,
                "expected_current_hash": expected_current_hash,
                "parent_pdcp_log_id": parent_pdcp_log_id,
                "attempt": attempt,
                "source": source,
            },
            include_correlation_id,
        )

    def submit_replacement(
        self,
        target_file_id: str,
        intent: str,
        replacement: str,
        expected_target_version: int | None = None,
        expected_current_hash: str | None = None,
        source: str = "model_response",
        parent_pdcp_log_id: str | None = None,
        attempt: int | None = None,
        client_request_id: str | None = None,
        include_correlation_id: bool = False,
    ) -> JsonObject:
        """Replaces the whole text by ``replacement`` in one patchdiff-tx/3 transaction.

        At most 1,000,000 code points and 1,048,576 UTF-8 bytes, before and after line ends are made
        LF (contract, "patchdiff_submit_replacement").
        """
        return self._submit(
            "submit_replacement",
            records.REPLACEMENT,
            target_file_id,
            {"intent": intent, "replacement": replacement},
            {
                "client_request_id": client_request_id,
                "expected_target_version": expected_target_version,
                "expected_current_hash": expected_current_hash,
                "parent_pdcp_log_id": parent_pdcp_log_id,
                "attempt": attempt,
                "source": source,
            },
            include_correlation_id,
        )

    def preview(
        self,
        target_file_id: str,
        format: str,  # noqa: A002
        expected_target_version: int | None = None,
        expected_current_hash: str | None = None,
        intent: str = NOT_GIVEN,
        edits: list[JsonObject] = NOT_GIVEN,
        operations: list[JsonObject] = NOT_GIVEN,
        replacement: str = NOT_GIVEN,
    ) -> JsonObject:
        """Judges a proposal as its submission would be judged now, with bounded evidence and no
        row (contract, "patchdiff_preview").

        ``format`` is patchdiff-tx/1, 2 or 3; beside intent only its own field may be given.
        """
        return preview(
            self._connection,
            self._statement,
            target_file_id,
            format,
            {
                "expected_target_version": expected_target_version,
                "expected_current_hash": expected_current_hash,
                "intent": intent,
                "edits": edits,
                "operations": operations,
                "replacement": replacement,
            },
            strict_observation=self._strict_observation,
        )

    def save(
        self,
        target_file_id: str,
        expected_target_version: int | None = None,
        expected_current_hash: str | None = None,
        export_after_save: bool = False,
        sync_workspace: bool | None = None,
        workspace_eol_format: str = "original_eol",
    ) -> JsonObject:
        """Keeps the text as a snapshot and begins a new editing cycle; changes no text (contract,
        "patchdiff_save").

        Guards are optional; a stale or malformed one rejects the save, and nothing is kept.
        ``sync_workspace`` also publishes the text to its file, with the line ends of
        ``workspace_eol_format``, in a transaction that the service owns; null does what the
        workspace does by default (contract, "Publication outcomes").
        """
        refusal = self._refusal(
            "save",
            {
                "target_file_id": target_file_id,
                "export_after_save": export_after_save,
                "sync_workspace": sync_workspace,
                "workspace_eol_format": workspace_eol_format,
            },
        )
        if refusal is not None:
            return refusal
        guards = {
            "expected_target_version": storable_guard(expected_target_version),
            "expected_current_hash": storable_guard(expected_current_hash),
        }
        if self._workspace.sync_on_save if sync_workspace is None else sync_workspace:
            if self._connection.info.transaction_status != TransactionStatus.IDLE:
                return owned_transaction_required(target_file_id)
            return _verdict_first(
                self._workspace.publish(
                    self._connection,
                    target_file_id=target_file_id,
                    guards=guards,
                    export_after_save=export_after_save,
                    workspace_eol_format=workspace_eol_format,
                )
            )
        with self._statement():
            return _verdict_first(
                database.save_checkpoint(
                    self._connection,
                    target_file_id=target_file_id,
                    guards=guards,
                    export_after_save=export_after_save,
                )
            )

    def replay(self, target_file_id: str) -> JsonObject:
        """Builds the text anew from the initial snapshot and every accepted record, and compares
        it with what is stored (contract, "patchdiff_replay")."""
        refusal = self._refusal("replay", {"target_file_id": target_file_id})
        if refusal is not None:
            return refusal
        with (
            self._statement(),
            closing(database.replay_inputs(self._connection, target_file_id)) as inputs,
        ):
            return replay(target_file_id, inputs)

    def get_pdcp_log(
        self,
        target_file_id: str,
        limit: int | None = None,
        before_sequence: int | None = None,
        status: str | None = None,
        content_hash: str | None = None,
        client_request_id: str | None = None,
        include_content: bool = False,
    ) -> JsonObject:
        """A page of a target's attempts, newest first (contract, section 4)."""
        return self._history(
            "get_pdcp_log",
            {
                "target_file_id": target_file_id,
                "limit": limit,
                "before_sequence": before_sequence,
                "status": status,
                "content_hash": content_hash,
                "client_request_id": client_request_id,
                "include_content": include_content,
            },
        )

    def get_manifest_ledger(
        self,
        target_file_id: str,
        include_previous_cycles: bool = False,
        limit: int | None = None,
        before_sequence: int | None = None,
    ) -> JsonObject:
        """The newest page of a target's accepted changes, oldest first within it (contract,
        section 4)."""
        return self._history(
            "get_manifest_ledger",
            {
                "target_file_id": target_file_id,
                "include_previous_cycles": include_previous_cycles,
                "limit": limit,
                "before_sequence": before_sequence,
            },
        )

    def observe_scope(
        self,
        target_file_id: str,
        query: str | None = None,
        symbol_name: str | None = None,
        kind: str | None = None,
        observation_id: str | None = None,
        offset: int = 0,
        max_chars: int | None = None,
        include_line_starts: bool = False,
        selections: list[JsonObject] | None = None,
    ) -> JsonObject:
        """Lists the symbols of a target, issues a receipt of one or of several, or pages one
        (contract, "patchdiff_observe_scope").

        ``offset`` and ``max_chars`` count code points of the scope; 4,000 a page by default, 8,000
        at most.
        """
        given = {
            "query": query,
            "symbol_name": symbol_name,
            "kind": kind,
            "observation_id": observation_id,
            "offset": offset,
            "max_chars": max_chars,
            "include_line_starts": include_line_starts,
            "selections": selections,
        }
        refusal = self._refusal("observe_scope", {"target_file_id": target_file_id, **given})
        if refusal is not None:
            return refusal | {"observation_id": None}
        return _verdict_first(self._observer.observe(target_file_id, clamp_integers(given)))

    def submit_observed_operations(
        self,
        target_file_id: str,
        intent: str,
        observation_id: str | None = None,
        operations: list[JsonObject] | None = None,
        expected_target_version: int | None = None,
        expected_current_hash: str | None = None,
        source: str = "model_response",
        parent_pdcp_log_id: str | None = None,
        attempt: int | None = None,
        client_request_id: str | None = None,
        include_correlation_id: bool = False,
        observation_bundle_id: str | None = None,
        groups: list[JsonObject] | None = None,
    ) -> JsonObject:
        """Submits matches and spans inside the scope of a receipt, or a batch inside those of a
        bundle (contract, "patchdiff_submit_observed_operations").

        Both guards are required, and for a batch the request key. Spans count code points of the
        whole text, in a batch of their group's scope.
        """
        refusal = self._refusal(
            "submit_observed_operations", {"include_correlation_id": include_correlation_id}
        )
        if refusal is not None:
            return refusal
        answer = self._submissions.submit(
            Submission(
                records.OPERATIONS,
                target_file_id,
                {"intent": intent},
                {
                    "client_request_id": client_request_id,
                    "expected_target_version": expected_target_version,
                    "expected_current_hash": expected_current_hash,
                    "parent_pdcp_log_id": parent_pdcp_log_id,
                    "attempt": attempt,
                    "source": source,
                },
                {
                    "observation_id": observation_id,
                    "operations": operations,
                    "observation_bundle_id": observation_bundle_id,
                    "groups": groups,
                },
            )
        )
        return answer | ({"correlation_id": str(uuid.uuid4())} if include_correlation_id else {})

    def _import(self, arguments: JsonObject) -> JsonObject:
        if arguments["content"] is not None:
            return content_conflict()
        found = self._workspace.read(arguments["filename"])
        if not isinstance(found, ImportedFile):
            return found
        with self._statement():
            answer = database.initialize_workspace_target(
                self._connection,
                arguments | {"content": found.text},
                root_device=found.root_device,
                root_inode=found.root_inode,
            )
        return _verdict_first(answer)

    def _submit(
        self,
        method: str,
        protocol: str,
        target_file_id: object,
        fields: JsonObject,
        request: JsonObject,
        include_correlation_id: object,
    ) -> JsonObject:
        refusal = self._refusal(method, {"include_correlation_id": include_correlation_id})
        if refusal is not None:
            return refusal
        answer = self._submissions.submit(Submission(protocol, target_file_id, fields, request))
        return answer | ({"correlation_id": str(uuid.uuid4())} if include_correlation_id else {})

    def _refusal(self, method: str, arguments: JsonObject) -> JsonObject | None:
        return refuse_types(TOOLS[f"patchdiff_{method}"], arguments)

    def _read(self, function: LiteralString, arguments: JsonObject) -> JsonObject:
        return self._refusal(function, arguments) or self._call(function, arguments)

    def _history(self, function: LiteralString, arguments: JsonObject) -> JsonObject:
        refusal = self._refusal(function, arguments)
        return self._call(function, arguments) if refusal is None else refusal | _NO_HISTORY

    def _call(self, function: LiteralString, arguments: JsonObject) -> JsonObject:
        with self._statement():
            answer = database.call_tool_function(
                self._connection, function, clamp_integers(arguments)
            )
        return _verdict_first(answer)

    def _transaction(self) -> AbstractContextManager[object]:
        """A transaction of the service's own on an idle connection, otherwise the caller's,
        untouched."""
        if self._connection.info.transaction_status != TransactionStatus.IDLE:
            return nullcontext()
        return self._connection.transaction()

    def _statement(self) -> AbstractContextManager[object]:
        """Room for one statement: on an autocommit connection it is a transaction by itself."""
        return nullcontext() if self._connection.autocommit else self._transaction()


def _verdict_first(answer: JsonObject) -> JsonObject:
    # jsonb keeps no order of its own
    return {"status": answer.pop("status"), **answer} if "status" in answer else answer
