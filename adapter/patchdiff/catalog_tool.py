"""What the catalog says of one tool."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from patchdiff.catalog_schemas import Schema

TOOL_PREFIX: Final = "patchdiff_"


@dataclass(frozen=True, eq=False)
class Tool:
    """One tool of the service; compared and hashed by identity.

    `refusal_codes` names the stable code of a refused argument. `checked_arguments` are those
    whose JSON type is judged before the call; None means all of them. A submission judges the rest
    itself, so that a malformed proposal is audited. `alias_of` is the tool of the contract that a
    tool of another name stands for. One that `judges_its_arguments` gets any names and types, and
    answers a refusal in its own shape.
    """

    name: str
    title: str
    description: str
    input_schema: Schema
    read_only: bool
    idempotent: bool
    destructive: bool
    refusal_codes: Mapping[str, str] = field(
        default_factory=lambda: {"target_file_id": "invalid_target_id"}
    )
    checked_arguments: frozenset[str] | None = None
    alias_of: str | None = None
    judges_its_arguments: bool = False

    @property
    def method(self) -> str:
        """The name of the method behind this tool, of `patchdiff.Service` or a profile's own."""
        return self.name.removeprefix(TOOL_PREFIX)

    @property
    def contract_name(self) -> str:
        """The name that the contract gives this tool, or the tool it stands for."""
        return self.alias_of or self.name


def read_tool(name: str, title: str, description: str, schema: Schema, **codes: str) -> Tool:
    """A tool that changes nothing; `codes` are stable codes of refused arguments."""
    return Tool(
        name=name,
        title=title,
        description=description,
        input_schema=schema,
        read_only=True,
        idempotent=True,
        destructive=False,
        refusal_codes={"target_file_id": "invalid_target_id", **codes},
    )
