"""What can go wrong in a Plastic call: one code and one fixed text each, and the stage it met.

No text holds a path, a selector or anything that a command printed.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

STAGES: Final = (
    "request",
    "workspace",
    "status",
    "ownership",
    "export",
    "snapshot",
    "compare",
    "selector",
    "stage",
    "generate",
    "observe",
    "publish",
    "cleanup",
    "project",
)

MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "invalid_request": (
            "An argument is missing, unknown, of the wrong type, out of its bounds or of another "
            "mode. Look at the tool's input schema and description; nothing was started."
        ),
        "outside_workspace": (
            "The path leads outside the workspace. Name a path below its root; nothing was started."
        ),
        "not_a_workspace": (
            "No Plastic SCM workspace contains the configured directory. "
            "Set PATCHDIFF_PLASTIC_WORKSPACE to a directory inside one."
        ),
        "unsafe_path": (
            "The path passes through a symbolic link or the client's own directory .plastic, or "
            "temporary files would lie inside the workspace. Name the physical path of a file."
        ),
        "not_regular_file": "The path is not a regular file. Name one that is.",
        "ambiguous_status": (
            "The client reports pending states of this path that contradict each other. "
            "Resolve them in the workspace."
        ),
        "unsupported_status": (
            "The pending state of this path, or the kind of this workspace, is not supported. "
            "Compare two explicit revisions instead."
        ),
        "base_unavailable": (
            "No loaded base of this file could be verified. It is not replaced by another one; "
            "name an explicit revision to compare with."
        ),
        "base_changed": (
            "The loaded base changed between two observations, or its bytes do not have the "
            "recorded hash. Call again when the workspace is at rest."
        ),
        "file_changed": (
            "The local file changed, appeared or went away during the call. Call again."
        ),
        "command_failed": "A command ended with a failure. It is not repeated.",
        "command_stderr": "A command succeeded but printed a warning or an error message.",
        "command_signaled": "A command was ended by a signal.",
        "command_timeout": "A command exceeded its time limit and was stopped.",
        "aborted": "The call was cancelled, and its command was stopped.",
        "output_limit": "A command printed more than is kept, and was stopped.",
        "invalid_encoding": "The output of a command is not valid UTF-8.",
        "malformed_metadata": "The client's metadata do not have the expected shape.",
        "export_missing": "The client reported success but exported no regular file.",
        "export_oversized": "The exported revision is larger than 4,194,304 bytes.",
        "local_oversized": "The local file is larger than 4,194,304 bytes.",
        "backend_unavailable": (
            "A program could not be started. Check PATCHDIFF_PLASTIC_CM, PATCHDIFF_PLASTIC_DIFF, "
            "PATCHDIFF_PLASTIC_PATCH_TOOL or toolPath; no other one is tried."
        ),
        "diff_malformed": (
            "The output of the comparison is not a complete unified diff of both sides."
        ),
        "cleanup_failed": (
            "Temporary files could not be removed; cleanup.recoveryDirectory names them."
        ),
        "partial_comparison": (
            "At least one selected file could not be compared; see error of each outcome."
        ),
        "projection_limit": (
            "The result does not fit into an answer. Ask for fewer or shorter paths."
        ),
        "selector_unreadable": (
            "The workspace's selector file cannot be read as UTF-8 text of at most 65,536 bytes. "
            "Name the branch completely: br:/name@repository@server."
        ),
        "selector_ambiguous": (
            "The workspace's selector does not name exactly one repository with its server. "
            "Name the branch completely: br:/name@repository@server."
        ),
        "output_exists": "Something exists at output already, and is never replaced.",
        "output_invalid": (
            "output must be a new file in an existing directory, not below .plastic."
        ),
        "artifact_missing": "The client reported success but generated no patch.",
        "artifact_oversized": "The generated patch is larger than 4,194,304 bytes.",
        "artifact_unstable": (
            "The generated patch is not a regular file, or changed while it was read."
        ),
        "empty_artifact": "The generated patch is empty, so nothing was published.",
        "publication_failed": (
            "The patch could not be linked to output; publication.state says what is there."
        ),
    }
)
"""The text of each code."""


class Failure(Exception):
    """A step of a call failed, with a code of `MESSAGES` and a stage of `STAGES`."""

    def __init__(self, code: str, stage: str) -> None:
        super().__init__(f"{code} ({stage})")
        self.code = code
        self.stage = stage

    def as_json(self) -> dict[str, object]:
        """The `error` of an envelope."""
        return {"code": self.code, "message": MESSAGES[self.code], "stage": self.stage}
