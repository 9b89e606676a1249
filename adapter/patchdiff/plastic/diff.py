"""The three modes of `plastic_diff`, each giving a closed envelope."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from patchdiff import cancellation
from patchdiff.plastic import projection
from patchdiff.plastic.client import Client
from patchdiff.plastic.comparison import (
    EMPTY_SIDE,
    ComparisonEvidence,
    Side,
    compare,
    export,
    require_absent,
    snapshot,
)
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import Limits
from patchdiff.plastic.observations import Observation, Observations, observe
from patchdiff.plastic.ownership import qualify
from patchdiff.plastic.paths import find_workspace, is_the_clients, refuse_unsafe, relative_path
from patchdiff.plastic.process import Capture
from patchdiff.plastic.requests import DiffRequest, diff_request
from patchdiff.plastic.staging import Staging, cleanup_state, temporary

_KINDS = {
    "added": "empty-local",
    "private": "empty-local",
    "deleted": "loaded-empty",
    "locally-deleted": "loaded-empty",
}


@dataclass(frozen=True)
class Programs:
    """The programs and the directory that the settings name."""

    client: str = "cm"
    diff: str = "diff"
    patch_tool: str | None = None
    workspace: Path = field(default_factory=Path.cwd)


def plastic_diff(
    arguments: Mapping[str, Any], programs: Programs, limits: Limits
) -> dict[str, Any]:
    """Compare as asked; every outcome is an envelope that fits into its bound."""
    try:
        request = diff_request(arguments)
        root = find_workspace(programs.workspace)
        comparer = _Comparer(Client(programs.client, root, limits), programs, limits, request)
        return comparer.envelope()
    except Failure as failure:
        return projection.failed("diff", failure)


@dataclass
class _Attempt:
    """What came of one file: a comparison, a failure, or both when only the cleanup failed."""

    evidence: ComparisonEvidence | None
    failure: Failure | None
    cleanup: dict[str, object]


@dataclass(frozen=True)
class _Selection:
    """Which observations of a status are in scope, and what became of the others."""

    selected: list[Observation]
    limited: int
    skipped: int
    excluded_private: int
    unmatched: list[str]


class _Comparer:
    def __init__(
        self, client: Client, programs: Programs, limits: Limits, request: DiffRequest
    ) -> None:
        self._client = client
        self._root = client.workspace
        self._program = programs.diff
        self._limits = limits
        self._request = request

    def envelope(self) -> dict[str, Any]:
        if self._request.mode == "workspace":
            return self._workspace()
        attempt = self._revisions() if self._request.mode == "revisions" else self._file()
        if attempt.evidence is None:
            assert attempt.failure is not None
            raise attempt.failure
        return projection.single_comparison(
            attempt.evidence, attempt.failure, self._request.most_characters, self._limits
        )

    def _revisions(self) -> _Attempt:
        request = self._request
        captures: list[Capture] = []

        def sides(staging: Staging) -> tuple[Side, Side]:
            left, right = (
                Side(
                    "revision",
                    export(self._client, selector, staging.path, name, captures),
                    selector=selector,
                )
                for name, selector in (
                    ("left", request.left_revision),
                    ("right", request.right_revision),
                )
            )
            return left, right

        return self._attempt(sides, None, "revision-revision", captures)

    def _file(self) -> _Attempt:
        request = self._request
        path = relative_path(self._root, request.path)
        refuse_unsafe(self._root, path, "request", directories=False)
        if request.revision is not None:
            return self._explicit(path, request.revision)
        observations = observe(self._client)
        observation = observations.of_file(path)
        if observation is None:
            return self._pending(observations, None, path)
        if observation.is_directory(self._root):
            raise Failure("not_regular_file", "status")
        return self._pending(observations, observation, observation.path)

    def _explicit(self, path: str, revision: str) -> _Attempt:
        captures: list[Capture] = []

        def sides(staging: Staging) -> tuple[Side, Side]:
            left = export(self._client, revision, staging.path, "left", captures)
            right = snapshot(self._root, path, observed=False)
            return (
                Side("revision", left, selector=revision),
                Side("local", right.content, path=path),
            )

        return self._attempt(sides, None, "revision-local", captures)

    def _pending(
        self, observations: Observations, observation: Observation | None, path: str
    ) -> _Attempt:
        """Compare a file with its loaded base, or with nothing, as its pending state demands."""
        # the one status of many files is shown with them together
        captures = [observations.capture] if self._request.mode == "file" else []
        kind = "none"
        if observation is not None:
            observation.refuse_other_than_file()
            kind = observation.pending_kind()
        comparison_kind = _KINDS.get(kind, "loaded-local")
        source = None if observation is None else observation.source_path
        lookup = source if kind == "locally-moved" and source is not None else path

        def sides(staging: Staging) -> tuple[Side, Side]:
            if comparison_kind == "empty-local":
                return EMPTY_SIDE, self._local(path)
            if comparison_kind == "loaded-empty":
                require_absent(self._root, path)
            base = qualify(
                self._client, observations, lookup, removed=kind == "deleted", captures=captures
            )
            content = export(self._client, base.selector, staging.path, "left", captures)
            base.verify(content)
            left = Side("loaded", content, source or path, base.selector, base)
            if comparison_kind == "loaded-empty":
                require_absent(self._root, path)
                return left, EMPTY_SIDE
            return left, self._local(path)

        return self._attempt(sides, kind, comparison_kind, captures)

    def _local(self, path: str) -> Side:
        return Side("local", snapshot(self._root, path, observed=True).content, path=path)

    def _attempt(
        self,
        sides: Callable[[Staging], tuple[Side, Side]],
        kind: str | None,
        comparison_kind: str,
        captures: list[Capture],
    ) -> _Attempt:
        """Make both sides and compare them in an owned directory, which is removed before this
        returns."""
        evidence = None
        failure = None
        staging = temporary(self._root, "export")
        try:
            left, right = sides(staging)
            working = staging.path / "compare"
            working.mkdir(mode=0o700)
            found = compare(left, right, self._program, working, self._limits.command, captures)
            evidence = ComparisonEvidence(
                self._request.mode, kind, comparison_kind, found, captures, staging.cleanup
            )
        except Failure as problem:
            failure = problem
        finally:
            if not staging.remove() and failure is None:
                failure = Failure("cleanup_failed", "cleanup")
        if evidence is not None:
            evidence.cleanup = staging.cleanup
        return _Attempt(evidence, failure, staging.cleanup)

    def _workspace(self) -> dict[str, Any]:
        request = self._request
        scope = list(dict.fromkeys(relative_path(self._root, path) for path in request.paths))
        for path in scope:
            refuse_unsafe(self._root, path, "request", directories=True)
        observations = observe(self._client)
        selection = self._select(observations, scope)
        outcomes: list[dict[str, Any]] = []
        failures: list[Failure] = []
        cleanups: list[dict[str, object]] = []
        for observation in selection.selected:
            if cancellation.is_cancelled():
                break
            attempt = self._one_of_several(observations, observation)
            if attempt.failure is not None:
                failures.append(attempt.failure)
            cleanups.append(attempt.cleanup)
            outcomes.append(_outcome(observation, attempt, request.most_characters))
        return projection.workspace(
            {
                "scope": {
                    "paths": scope,
                    "allPending": request.all_pending,
                    "includePrivate": request.include_private,
                    "maxFiles": request.most_files,
                },
                "workspace": {
                    "repository": observations.header.repository,
                    "server": observations.header.server,
                    "changeset": observations.header.changeset,
                    "configType": observations.header.config_type,
                    "configName": observations.header.config_name,
                },
                "counts": {
                    "parsed": len(observations.rows),
                    "eligible": len(selection.selected) + selection.limited + selection.skipped,
                    "selected": len(selection.selected),
                    "attempted": len(outcomes),
                    "completed": len(outcomes) - len(failures),
                    "failed": len(failures),
                    "skipped": selection.skipped,
                    "unattempted": len(selection.selected) - len(outcomes),
                    "limited": selection.limited,
                },
                "excludedPrivate": selection.excluded_private,
                "unmatched": selection.unmatched,
                "captures": [observations.capture.as_json()],
                "cleanup": _cleanup(cleanups),
            },
            outcomes,
            _overall(failures, len(outcomes) < len(selection.selected)),
            self._limits,
        )

    def _select(self, observations: Observations, scope: list[str]) -> _Selection:
        request = self._request
        matched: set[str] = set()
        files: list[Observation] = []
        skipped = excluded = 0
        for row in observations.rows:
            if request.all_pending:
                if row.is_private() and not request.include_private:
                    excluded += 1
                    continue
            else:
                reached = {path for path in scope if _reaches(path, row)}
                matched |= reached
                if not reached:
                    continue
            if row.is_directory(self._root):
                skipped += 1
            else:
                files.append(row)
        return _Selection(
            selected=files[: request.most_files],
            limited=max(0, len(files) - request.most_files),
            skipped=skipped,
            excluded_private=excluded,
            unmatched=[path for path in scope if path not in matched],
        )

    def _one_of_several(self, observations: Observations, observation: Observation) -> _Attempt:
        try:
            if is_the_clients(observation.path):
                raise Failure("unsafe_path", "status")
            refuse_unsafe(self._root, observation.path, "snapshot", directories=False)
            return self._pending(observations, observation, observation.path)
        except Failure as failure:
            return _Attempt(None, failure, cleanup_state(attempted=False, complete=True))


def _reaches(scope: str, observation: Observation) -> bool:
    return any(scope in ("", name) or name.startswith(f"{scope}/") for name in observation.names())


def _outcome(observation: Observation, attempt: _Attempt, most_characters: int) -> dict[str, Any]:
    evidence, failure = attempt.evidence, attempt.failure
    try:
        kind = observation.pending_kind()
    except Failure:
        kind = None
    return {
        "path": observation.path,
        "sourcePath": observation.source_path,
        "pendingKind": kind,
        "state": "completed" if failure is None else "failed",
        "comparison": None if evidence is None else evidence.as_json(most_characters),
        "error": None if failure is None else failure.as_json(),
    }


def _cleanup(states: list[dict[str, object]]) -> dict[str, object]:
    """The fate of all owned directories of a call: the first that is left, or that none is."""
    left = [state for state in states if not state["complete"]]
    attempted = any(state["attempted"] for state in states)
    return left[0] if left else cleanup_state(attempted=attempted, complete=True)


def _overall(failures: list[Failure], interrupted: bool) -> Failure | None:
    if interrupted or any(failure.code == "aborted" for failure in failures):
        return Failure("aborted", "compare")
    if failures:
        return Failure("partial_comparison", "compare")
    return None
