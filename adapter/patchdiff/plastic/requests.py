"""What callers ask, judged before anything is started.

Every unknown name, wrong type, value out of bounds and field of another mode raises Failure
`invalid_request`, even where the value is the field's default.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from patchdiff.plastic import limits
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.utf16 import units

_COMMON: Final = frozenset({"mode", "maxChars", "format"})
_MODE_FIELDS: Final = {
    "file": frozenset({"path", "revision"}),
    "revisions": frozenset({"leftRevision", "rightRevision"}),
    "workspace": frozenset({"paths", "allPending", "includePrivate", "maxFiles"}),
}
_PATCH_FIELDS: Final = frozenset(
    {"source", "destination", "clean", "integration", "output", "toolPath", "format", "preflight"}
)
UNFIT: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""Characters that no string of a request may have: controls and lone surrogates."""


@dataclass(frozen=True)
class DiffRequest:
    """A valid call of `plastic_diff`; fields of other modes are empty."""

    mode: str
    most_characters: int
    path: str = ""
    revision: str | None = None
    left_revision: str = ""
    right_revision: str = ""
    paths: tuple[str, ...] = ()
    all_pending: bool = False
    include_private: bool = False
    most_files: int = 0


@dataclass(frozen=True)
class PatchRequest:
    """A valid call of `plastic_patch`."""

    source: str
    destination: str | None
    clean: bool
    integration: bool
    output: str | None
    tool_path: str | None
    format: str
    preflight: bool


def presentation_format(arguments: Mapping[str, Any]) -> str:
    """The format of the answer's text, json unless `text` was asked for."""
    return "text" if arguments.get("format") == "text" else "json"


def diff_request(arguments: Mapping[str, Any]) -> DiffRequest:
    """Judge the arguments of `plastic_diff`."""
    mode = arguments.get("mode")
    if not isinstance(mode, str) or mode not in _MODE_FIELDS:
        raise _invalid()
    _refuse_unknown(arguments, _COMMON | _MODE_FIELDS[mode])
    _format(arguments)
    if mode == "workspace":
        return _workspace(arguments)
    most = _integer(
        arguments,
        "maxChars",
        limits.FILE_EXCERPT,
        limits.LEAST_EXCERPT,
        limits.MOST_FILE_EXCERPT,
    )
    if mode == "file":
        return DiffRequest(
            mode,
            most,
            path=_text(arguments, "path"),
            revision=_selector(arguments, "revision") if "revision" in arguments else None,
        )
    return DiffRequest(
        mode,
        most,
        left_revision=_selector(arguments, "leftRevision"),
        right_revision=_selector(arguments, "rightRevision"),
    )


def _workspace(arguments: Mapping[str, Any]) -> DiffRequest:
    all_pending = _boolean(arguments, "allPending")
    include_private = _boolean(arguments, "includePrivate")
    # exactly one scope: a list that is not empty, or everything that is pending
    if all_pending is ("paths" in arguments) or ("includePrivate" in arguments and not all_pending):
        raise _invalid()
    paths = arguments.get("paths", [])
    if not isinstance(paths, list) or len(paths) > limits.WORKSPACE_PATHS:
        raise _invalid()
    if not paths and not all_pending:
        raise _invalid()
    default = limits.DEFAULT_FILES_ALL_PENDING if all_pending else limits.DEFAULT_FILES_SCOPED
    return DiffRequest(
        "workspace",
        _integer(
            arguments,
            "maxChars",
            limits.WORKSPACE_EXCERPT,
            limits.LEAST_EXCERPT,
            limits.MOST_WORKSPACE_EXCERPT,
        ),
        paths=tuple(_fit(path) for path in paths),
        all_pending=all_pending,
        include_private=include_private,
        most_files=_integer(arguments, "maxFiles", default, 1, limits.MOST_FILES),
    )


def patch_request(arguments: Mapping[str, Any]) -> PatchRequest:
    """Judge the arguments of `plastic_patch`, whose size together is bounded too."""
    _refuse_unknown(arguments, _PATCH_FIELDS)
    request = PatchRequest(
        source=_selector(arguments, "source"),
        destination=_selector(arguments, "destination") if "destination" in arguments else None,
        clean=_boolean(arguments, "clean"),
        integration=_boolean(arguments, "integration"),
        output=_text(arguments, "output") if "output" in arguments else None,
        tool_path=_text(arguments, "toolPath") if "toolPath" in arguments else None,
        format=_format(arguments),
        preflight=_boolean(arguments, "preflight"),
    )
    for path in (request.output, request.tool_path):
        if path is not None and path.startswith("-"):
            raise _invalid()
    if request.tool_path is not None and not request.tool_path.startswith("/"):
        raise _invalid()
    compact = json.dumps(dict(arguments), ensure_ascii=False, separators=(",", ":"))
    if len(compact.encode("utf-8")) > limits.REQUEST_BYTES:
        raise _invalid()
    return request


def _invalid() -> Failure:
    return Failure("invalid_request", "request")


def _refuse_unknown(arguments: Mapping[str, Any], known: frozenset[str]) -> None:
    if not known.issuperset(arguments):
        raise _invalid()


def _format(arguments: Mapping[str, Any]) -> str:
    value = arguments.get("format", "json")
    if not isinstance(value, str) or value not in ("json", "text"):
        raise _invalid()
    return value


def _fit(value: Any) -> str:
    if not isinstance(value, str) or not value or UNFIT.search(value):
        raise _invalid()
    if units(value) > limits.CONTROL_CHARACTERS:
        raise _invalid()
    return value


def _text(arguments: Mapping[str, Any], name: str) -> str:
    return _fit(arguments.get(name))


def _selector(arguments: Mapping[str, Any], name: str) -> str:
    value = _text(arguments, name)
    # the client takes what follows a semicolon for the name of a file to write
    if value.startswith("-") or ";" in value:
        raise _invalid()
    return value


def _boolean(arguments: Mapping[str, Any], name: str) -> bool:
    value = arguments.get(name, False)
    if not isinstance(value, bool):
        raise _invalid()
    return value


def _integer(arguments: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = arguments.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _invalid()
    return value
