"""A call's arguments, judged by name and by JSON type from the tool's published input schema.

Nothing is coerced: an integer is never a boolean, a string or a float, however whole. The messages
are composed here in plain words and show short simple values only (contract section "Discovery,
argument errors and examples").
"""

import functools
import json
from collections.abc import Mapping
from typing import Any, Final, cast

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from patchdiff.catalog import Tool
from patchdiff.catalog_schemas import PATTERN_MEANINGS, Schema
from patchdiff.text import invalid_offset, is_postgresql_text

SHOWN_CHARACTERS: Final = 40
INT64_MINIMUM: Final = -(2**63)
INT64_MAXIMUM: Final = 2**63 - 1


def refuse_names(tool: Tool, arguments: Mapping[str, object]) -> dict[str, object] | None:
    """The refusal of a call whose argument names are not the tool's; None when they are.

    `unknown_arguments` are in the order of the call, `missing_arguments` in that of the schema.
    Unknown and missing names together have the code `unknown_argument` and both lists.
    """
    properties = tool.input_schema["properties"]
    unknown = [name for name in arguments if name not in properties]
    missing = [name for name in tool.input_schema["required"] if name not in arguments]
    if not unknown and not missing:
        return None
    sentences = []
    if unknown:
        sentences.append(f"Unknown argument: {_listed(unknown)}.")
    if missing:
        sentences.append(f"Missing argument: {_listed(missing)}.")
    sentences.append(f"{tool.name} takes {', '.join(properties)}.")
    refusal: dict[str, object] = {
        "status": "invalid_argument",
        "code": "unknown_argument" if unknown else "missing_argument",
        "tool": tool.name,
        "failure_detail": " ".join(sentences),
    }
    if unknown:
        refusal["unknown_arguments"] = unknown
    if missing:
        refusal["missing_arguments"] = missing
    return refusal


def refuse_types(tool: Tool, arguments: Mapping[str, object]) -> dict[str, object] | None:
    """The refusal of the first argument, in the schema's order, whose value the schema refuses.

    None when every value is acceptable. Arguments that the tool judges itself
    (`Tool.checked_arguments`) and names that are not the tool's are passed over. Strings that
    PostgreSQL cannot store are refused too.
    """
    for name, validator in _validators(tool).items():
        if name not in arguments:
            continue
        value = arguments[name]
        schema = tool.input_schema["properties"][name]
        if not validator.is_valid(cast("Any", value)):
            detail = f"{name} must be {_expected(schema)}, not {shown(value)}."
        elif isinstance(value, str) and not is_postgresql_text(value):
            offset = invalid_offset(value)
            detail = (
                f"{name} is not valid PostgreSQL text: code point {offset} is a NUL or a lone "
                "surrogate."
            )
        else:
            continue
        return _refusal(tool, name, schema, detail)
    return None


def clamp_integers(arguments: Mapping[str, object]) -> dict[str, object]:
    """`arguments` with every integer inside the 64-bit range, for the SQL functions.

    Every bound that the service knows lies inside that range, so no verdict changes.
    """
    return {
        name: max(INT64_MINIMUM, min(INT64_MAXIMUM, value))
        if isinstance(value, int) and not isinstance(value, bool)
        else value
        for name, value in arguments.items()
    }


def storable_guard(value: object) -> object:
    """The guard `value` where the database can hold it, otherwise "", which no guard can be.

    The database judges guards; what JSON or PostgreSQL cannot carry there is malformed all the
    same.
    """
    if value is None or (isinstance(value, str) and is_postgresql_text(value)):
        return value
    if isinstance(value, int) and INT64_MINIMUM <= value <= INT64_MAXIMUM:
        return value
    return ""


def shown(value: object) -> str:
    """`value` for a message, in ASCII: short simple values as JSON, others by their kind."""
    if isinstance(value, str):
        if len(value) > SHOWN_CHARACTERS:
            return f"a string of {len(value)} characters"
        text = json.dumps(value)
        return text if len(text) <= SHOWN_CHARACTERS + 2 else f"a string of {len(value)} characters"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        # Turning a huge integer into digits is slow, and refused by Python beyond 4,300.
        return str(value) if value.bit_length() <= 128 else "an integer beyond 128 bits"
    if isinstance(value, float):
        return repr(value)
    return "an array" if isinstance(value, list | tuple) else "an object"


def _refusal(tool: Tool, name: str, schema: Schema, detail: str) -> dict[str, object]:
    refusal: dict[str, object] = {"status": "invalid_argument"}
    code = tool.refusal_codes.get(name)
    if code is not None:
        refusal["code"] = code
    refusal["failure_detail"] = detail
    if code == "unsupported_export_format":
        refusal["allowed_formats"] = list(schema["enum"])
    return refusal


def _listed(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names)


def _expected(schema: Schema) -> str:
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "enum" in schema:
        alternatives = [json.dumps(value) for value in schema["enum"]]
    else:
        alternatives = [_PHRASES[name](schema) for name in types]
    if len(alternatives) == 1:
        return alternatives[0]
    return f"{', '.join(alternatives[:-1])} or {alternatives[-1]}"


def _string_phrase(schema: Schema) -> str:
    if "pattern" in schema:
        return PATTERN_MEANINGS[schema["pattern"]]
    return "a non-empty string" if schema.get("minLength") else "a string"


_PHRASES: Final[dict[str, Any]] = {
    "string": _string_phrase,
    "integer": lambda schema: f"an integer of at least {schema['minimum']}",
    "boolean": lambda _: "true or false",
    "null": lambda _: "null",
    "array": lambda _: "an array",
}


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_StrictValidator: Final[type[Validator]] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


@functools.cache
def _validators(tool: Tool) -> dict[str, Validator]:
    return {
        name: _StrictValidator(schema)
        for name, schema in tool.input_schema["properties"].items()
        if tool.checked_arguments is None or name in tool.checked_arguments
    }
