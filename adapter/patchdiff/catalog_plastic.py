"""The two tools of the profile `plastic`.

Rules between fields are prose: several hosts refuse combinators at the root of a schema. The tools
judge their arguments themselves and answer a refusal in their own envelope.
"""

from typing import Final

from patchdiff.catalog_schemas import Schema, boolean, input_schema
from patchdiff.catalog_tool import Tool
from patchdiff.plastic import limits


def _text(description: str) -> Schema:
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": limits.CONTROL_CHARACTERS,
        "description": description,
    }


def _bounded(description: str, least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, "description": description}


_FORMAT: Final[Schema] = {
    "type": "string",
    "enum": ["json", "text"],
    "default": "json",
    "description": "Presentation of the answer's text; structuredContent is the same in both.",
}

_DIFF: Final = Tool(
    name="plastic_diff",
    title="Plastic SCM comparison",
    description=(
        "Bounded comparison evidence of a Plastic SCM workspace. mode is required. file: path, "
        "and revision, or without it the verified loaded base. revisions: leftRevision and "
        "rightRevision. workspace: either paths, or allPending true, then also includePrivate; "
        "and maxFiles. A field of another mode is refused, even with its default. Look at ok, "
        "completeness and error: a failure is never shown as an empty comparison. Excerpts may be "
        "cut and may contain secrets; they are no patches to apply."
    ),
    input_schema=input_schema(
        {
            "mode": {
                "type": "string",
                "enum": ["file", "revisions", "workspace"],
                "description": "What is compared; each mode has its own fields.",
            },
            "path": _text("file: path of a local file, relative to the workspace's root."),
            "revision": _text("file: complete selector of the revision to compare with."),
            "leftRevision": _text("revisions: complete selector of the left file revision."),
            "rightRevision": _text("revisions: complete selector of the right file revision."),
            "paths": {
                "type": "array",
                "items": _text("Path of a file or directory with pending changes."),
                "minItems": 1,
                "maxItems": limits.WORKSPACE_PATHS,
                "description": "workspace: pending files; a directory selects what is below it.",
            },
            "allPending": {
                "type": "boolean",
                "description": "workspace: true selects every pending file, without paths.",
            },
            "includePrivate": {
                "type": "boolean",
                "description": "workspace, with allPending only: true adds uncontrolled files.",
            },
            "maxFiles": _bounded(
                "workspace: most files to compare; default 3 with allPending, 20 with paths.",
                1,
                limits.MOST_FILES,
            ),
            "maxChars": _bounded(
                "Most characters of an excerpt; default 8000, in workspace mode 3000 of at "
                "most 8000.",
                limits.LEAST_EXCERPT,
                limits.MOST_FILE_EXCERPT,
            ),
            "format": _FORMAT,
        },
        ("mode",),
    ),
    read_only=True,
    idempotent=True,
    destructive=False,
    judges_its_arguments=True,
)

_PATCH: Final = Tool(
    name="plastic_patch",
    title="Plastic SCM review patch",
    description=(
        "Generate a review patch of a changeset or branch, or between two, by one cm patch. "
        "Nothing is ever applied, and the workspace stays as it is. Without output the patch is "
        "returned; with output it is published to that new file, never over an existing one. "
        "A branch without its repository is completed from the workspace's selector. A failure "
        "is not repeated. The patch may contain secrets: inspect it before sharing."
    ),
    input_schema=input_schema(
        {
            "source": _text("Selector of a branch or changeset, for example br:/main/feature."),
            "destination": _text("Second selector; the patch is then between the two."),
            "clean": boolean("Leave out differences that came by merges."),
            "integration": boolean("Only what is pending to be merged into the parent branch."),
            "output": _text("Path of a new file, relative to the workspace's root or absolute."),
            "toolPath": _text(
                "Absolute path of the diff program for this call alone; goes before the settings."
            ),
            "format": _FORMAT,
            "preflight": boolean("Only show what would be run; nothing is started or written."),
        },
        ("source",),
    ),
    read_only=False,
    idempotent=False,
    destructive=False,
    judges_its_arguments=True,
)

PLASTIC_TOOLS: Final = (_DIFF, _PATCH)
"""The tools of the profile, which are of no other one."""
