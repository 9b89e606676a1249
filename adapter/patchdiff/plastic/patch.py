"""`plastic_patch`: one generation of a review patch, and a receipt of all that came of it."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from patchdiff.plastic import projection
from patchdiff.plastic.client import Client, PatchOptions, patch_projection
from patchdiff.plastic.diff import Programs
from patchdiff.plastic.envelopes import validate
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import PATCH_EXCERPT, Limits
from patchdiff.plastic.paths import Snapshot, find_workspace
from patchdiff.plastic.process import Capture
from patchdiff.plastic.publication import ARTIFACT as ARTIFACT_NAME
from patchdiff.plastic.publication import Output, artifact, is_executable, observe
from patchdiff.plastic.requests import PatchRequest, patch_request
from patchdiff.plastic.selector import LocalSelector, is_unqualified, read_selector
from patchdiff.plastic.staging import Staging, cleanup_state, temporary
from patchdiff.plastic.utf16 import head

LONGEST_LABEL = 255


def plastic_patch(
    arguments: Mapping[str, Any], programs: Programs, limits: Limits
) -> dict[str, Any]:
    """Generate a patch as asked; every outcome is an envelope that fits into its bound."""
    try:
        request = patch_request(arguments)
    except Failure as failure:
        return projection.failed("patch", failure)
    generation = _Generation(request, programs, limits)
    try:
        generation.perform()
    except Failure as failure:
        return generation.envelope(failure)
    return generation.envelope(None)


class _Generation:
    """One call; its attributes are the evidence gained so far, which a later failure keeps."""

    def __init__(self, request: PatchRequest, programs: Programs, limits: Limits) -> None:
        self._request = request
        self._programs = programs
        self._limits = limits
        self._tool = request.tool_path or programs.patch_tool
        self._selector: LocalSelector | None = None
        self._capture: Capture | None = None
        self._artifact: Snapshot | None = None
        self._output: Output | None = None
        if request.output is not None and not request.preflight:
            self._output = Output(request.output)
        self._cleanup = cleanup_state(attempted=False, complete=True)

    def perform(self) -> None:
        """Do all that was asked; raises Failure at the first step that fails."""
        request = self._request
        root = find_workspace(self._programs.workspace)
        if any(is_unqualified(spec) for spec in (request.source, request.destination or "")):
            self._selector = read_selector(root)
        if request.preflight:
            return
        tool = self._resolved_tool()
        staging = temporary(root, "stage") if self._output is None else self._output.stage(root)
        failure: Failure | None = None
        try:
            self._generate(Client(self._programs.client, root, self._limits), tool, staging)
        except Failure as problem:
            failure = problem
        finally:
            # also after an exception that nobody expected
            if self._capture is not None and self._capture.possibly_running:
                staging.retain()
            elif not staging.remove() and failure is None:
                failure = Failure("cleanup_failed", "cleanup")
            self._cleanup = staging.cleanup
        if failure is not None:
            raise failure

    def _resolved_tool(self) -> str | None:
        if self._tool is None:
            return None
        found: str | None = self._tool
        if self._request.tool_path is None:
            program = shutil.which(self._tool)
            found = None if program is None else str(Path(program).absolute())
        if found is None or not is_executable(found):
            raise Failure("backend_unavailable", "stage")
        return found

    def _generate(self, client: Client, tool: str | None, staging: Staging) -> None:
        self._capture = client.patch(self._options(tool), staging.path / ARTIFACT_NAME)
        self._capture.admit("generate")
        self._artifact = observe(staging)
        if self._output is None:
            return
        if not self._artifact.content:
            raise Failure("empty_artifact", "publish")
        self._output.publish(staging, self._artifact)

    def _options(self, tool: str | None) -> PatchOptions:
        request = self._request
        return PatchOptions(
            source=self._effective(request.source),
            destination=None
            if request.destination is None
            else self._effective(request.destination),
            tool=tool,
            clean=request.clean,
            integration=request.integration,
        )

    def _effective(self, spec: str) -> str:
        return spec if self._selector is None else self._selector.complete(spec)

    def envelope(self, failure: Failure | None) -> dict[str, Any]:
        """The receipt."""

        def of(characters: int) -> dict[str, Any]:
            data = self._data(characters)
            found = data["artifact"]
            cut = found is not None and found["excerpt"] and found["excerpt"]["truncated"]
            return projection.envelope(
                "patch",
                data,
                failure,
                read="none" if found is None else "complete",
                projection="truncated" if cut else "complete",
            )

        fitting = projection.shrunk(of, PATCH_EXCERPT, self._limits.patch_envelope_bytes)
        if fitting is None:
            return projection.failed("patch", Failure("projection_limit", "project"))
        return validate(fitting)

    def _data(self, characters: int) -> dict[str, Any]:
        request = self._request
        options = self._options(self._tool)
        selector, capture = self._selector, self._capture
        return {
            "preflight": request.preflight,
            "requested": {
                "source": request.source,
                "destination": request.destination,
                "output": request.output,
                "toolPath": request.tool_path,
                "clean": request.clean,
                "integration": request.integration,
                "format": request.format,
            },
            "effective": {
                "source": options.source,
                "destination": options.destination,
                "qualifiedFrom": None if selector is None else "workspace-selector",
                "selectorBytes": None if selector is None else selector.size,
                "selectorSha256": None if selector is None else selector.sha256,
            },
            "backend": self._backend(),
            "commandProjection": ["cm", "patch", *patch_projection(options)],
            "generation": None
            if capture is None
            else {"attempts": 1, "capture": capture.as_json()},
            "artifact": None
            if self._artifact is None
            else artifact(self._artifact.content, characters),
            "publication": None if self._output is None else self._output.as_json(),
            "cleanup": self._cleanup,
        }

    def _backend(self) -> dict[str, Any]:
        if self._tool is None:
            return {"origin": "cm-default", "label": None}
        origin = "configured" if self._request.tool_path is None else "argument"
        return {"origin": origin, "label": head(Path(self._tool).name, LONGEST_LABEL)}
