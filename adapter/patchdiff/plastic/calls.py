"""Performs the calls of the profile `plastic`, without a database."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from patchdiff.catalog_tool import Tool
from patchdiff.plastic.diff import Programs, plastic_diff
from patchdiff.plastic.limits import DEFAULT_LIMITS, Limits
from patchdiff.plastic.patch import plastic_patch
from patchdiff.plastic.presentation import present
from patchdiff.plastic.requests import presentation_format
from patchdiff.protocol import Answer
from patchdiff.settings import Settings

_TOOLS: Final[Mapping[str, Callable[[Mapping[str, Any], Programs, Limits], dict[str, Any]]]] = {
    "plastic_diff": plastic_diff,
    "plastic_patch": plastic_patch,
}


def programs_of(settings: Settings) -> Programs:
    """The programs and the directory that the settings name, or their defaults."""
    return Programs(
        client=settings.plastic_cm or "cm",
        diff=settings.plastic_diff or "diff",
        patch_tool=settings.plastic_patch_tool,
        workspace=Path(settings.plastic_workspace or "."),
    )


class PlasticCalls:
    """Performs one call at a time; the answer's payload is the envelope."""

    def __init__(self, programs: Programs, limits: Limits = DEFAULT_LIMITS) -> None:
        self._programs = programs
        self._limits = limits

    def connect(self) -> None:
        """Nothing to do: there is no database."""

    def __call__(self, tool: Tool, arguments: dict[str, Any]) -> Answer:
        """Perform one call."""
        envelope = _TOOLS[tool.name](arguments, self._programs, self._limits)
        limits = self._limits
        most = limits.patch_presentation
        if tool.name == "plastic_diff":
            most = limits.diff_presentation
        text = present(envelope, presentation_format(arguments), most)
        return Answer(envelope, is_error=not envelope["ok"], text=text)
