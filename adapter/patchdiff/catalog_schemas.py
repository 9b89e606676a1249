"""Building blocks of the tools' input schemas: patterns, arguments that recur, the edit item.

Patterns keep to RE2 syntax. `$` alone also matches before a trailing LF in some engines, so each
pattern stands with a `not` against it, inside the property: several hosts refuse a whole session
for combinators at the root of a schema (contract section "Discovery, argument errors and
examples").
"""

from typing import Any, Final

Schema = dict[str, Any]

TARGET_ID_PATTERN: Final = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
UUID_PATTERN: Final = (
    "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$"
)
LARGEST_OFFSET: Final = 2**63 - 1
SHA256_PATTERN: Final = "^[0-9a-f]{64}$"
REQUEST_ID_PATTERN: Final = "^[ -~]{1,128}$"
CHANGE_ID_PATTERN: Final = "^[A-Za-z0-9_.-]{1,64}$"

PATTERN_MEANINGS: Final[dict[str, str]] = {
    TARGET_ID_PATTERN: "a UUID in lowercase with hyphens",
    UUID_PATTERN: "a UUID with hyphens",
    SHA256_PATTERN: "64 lowercase hexadecimal digits",
    REQUEST_ID_PATTERN: "1 to 128 printable ASCII characters",
    CHANGE_ID_PATTERN: "1 to 64 characters of A-Z, a-z, 0-9, _, . and -",
}
"""What a string that fits a pattern is, in words."""


def patterned(pattern: str, description: str, *, nullable: bool = False) -> Schema:
    """A string that fits `pattern` to its very end, optionally null with null as default."""
    schema: Schema = {
        "type": ["string", "null"] if nullable else "string",
        "pattern": pattern,
        # Without the type, null would satisfy the inner schema and so be refused by `not`.
        "not": {"type": "string", "pattern": "\\n$"},
        "description": description,
    }
    if nullable:
        schema["default"] = None
    return schema


def string(description: str, *, minimum_length: int = 0) -> Schema:
    """A string, at least `minimum_length` code points long."""
    schema: Schema = {"type": "string", "description": description}
    if minimum_length:
        schema["minLength"] = minimum_length
    return schema


def optional_string(description: str) -> Schema:
    """A string or null; null is the default."""
    return {"type": ["string", "null"], "default": None, "description": description}


def boolean(description: str) -> Schema:
    """A boolean, false by default."""
    return {"type": "boolean", "default": False, "description": description}


def integer(description: str, *, minimum: int, default: int) -> Schema:
    """An integer of at least `minimum`; null is refused."""
    return {"type": "integer", "minimum": minimum, "default": default, "description": description}


def optional_integer(description: str, *, minimum: int) -> Schema:
    """An integer of at least `minimum`, or null; null is the default."""
    return {
        "type": ["integer", "null"],
        "minimum": minimum,
        "default": None,
        "description": description,
    }


def target_id() -> Schema:
    """The argument that every tool but initialization has."""
    return patterned(
        TARGET_ID_PATTERN, "Target UUID, lowercase with hyphens, as initialization returned it."
    )


def input_schema(properties: dict[str, Schema], required: tuple[str, ...]) -> Schema:
    """The root of a tool's schema: a closed object."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def offset(description: str) -> Schema:
    """A code-point offset of a span."""
    return {
        "type": "integer",
        "minimum": 0,
        "maximum": LARGEST_OFFSET,
        "description": description,
    }


TYPED_EDIT_JSON_SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {
        "match": string(
            "Exact text to replace, copied from a read; not a pattern.", minimum_length=1
        ),
        "replace": string('Replacement text, taken literally; "" deletes the match.'),
        "change_id": patterned(
            CHANGE_ID_PATTERN,
            "Name of the change, unique in the transaction; default chg_001, ... by position.",
            nullable=True,
        ),
        "rationale": optional_string("Why this change is made, kept in the ledger."),
        "risk": {
            "type": ["string", "null"],
            "enum": ["low", "medium", "high", None],
            "default": None,
            "description": "The author's own estimate of the risk, kept in the ledger.",
        },
        "occurrence_index": optional_integer(
            "Which exact occurrence, from 1, counted in the text as earlier edits of this "
            "transaction left it; overlapping ones count.",
            minimum=1,
        ),
        "anchor_before": optional_string("Text that must occur anywhere before the match."),
        "anchor_after": optional_string("Text that must occur anywhere after the match."),
    },
    "required": ["match", "replace"],
    "additionalProperties": False,
}
"""One edit of a patchdiff-tx/1 transaction (contract section 3, patchdiff_submit_edits)."""

SPAN_JSON_SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {
        "op": {"const": "span", "description": "Replace the text between two offsets."},
        "start": offset("First code point, in the text as earlier operations left it."),
        "end": offset("Code point after the last; equal to start for an insertion."),
        "expected_text": string('Exact text of the span, copied from a read; "" to insert.'),
        "replace": string('Replacement text, taken literally; "" deletes the span.'),
        **{
            name: TYPED_EDIT_JSON_SCHEMA["properties"][name]
            for name in ("change_id", "rationale", "risk")
        },
        "expected_before": {
            **optional_string("Text that must stand directly before start; verifies an insertion."),
            "minLength": 1,
        },
        "expected_after": {
            **optional_string("Text that must stand directly after end."),
            "minLength": 1,
        },
    },
    "required": ["op", "start", "end", "expected_text", "replace"],
    "additionalProperties": False,
}
"""One span operation of a patchdiff-tx/2 transaction."""

OPERATION_JSON_SCHEMA: Final[Schema] = {
    "oneOf": [
        {
            **TYPED_EDIT_JSON_SCHEMA,
            "properties": {
                "op": {"const": "match", "description": "Replace a text found by its words."},
                **TYPED_EDIT_JSON_SCHEMA["properties"],
            },
            "required": ["op", *TYPED_EDIT_JSON_SCHEMA["required"]],
        },
        SPAN_JSON_SCHEMA,
    ]
}
"""One operation of a patchdiff-tx/2 transaction (contract, patchdiff_submit_operations)."""
