"""What the user can set: the PATCHDIFF_ environment variables, read once into one frozen object.

An empty value is not the same as an unset variable: it is refused, because a name that was left out
in a host's configuration would otherwise silently choose another database or another mode.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
import psycopg.conninfo
from psycopg import ProgrammingError
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

LONGEST_SHOWN_VALUE = 100
"""Code points of an invalid value that an error repeats."""


class StartupError(Exception):
    """A start that cannot go on. Its text is one line for the user, without passwords.

    Commands print it to standard error and end with exit status 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class SettingsError(StartupError):
    """An environment variable holds a value that is not allowed."""


def one_line(text: str) -> str:
    """The text with every run of white space and control characters as one space."""
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text).strip()


def _switch(value: object) -> object:
    if value in ("0", "1"):
        return value == "1"
    if isinstance(value, bool):
        return value
    raise ValueError("allowed are 0, 1 or leaving it unset")


def _one_of(*allowed: str) -> BeforeValidator:
    def check(value: object) -> object:
        if value not in allowed:
            raise ValueError(f"allowed are {', '.join(allowed)} or leaving it unset")
        return value

    return BeforeValidator(check)


def _not_empty(value: str) -> str:
    if not value:
        raise ValueError("it must not be empty: give a value or leave it unset")
    return value


def _text(value: object) -> object:
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("it must be UTF-8") from None
    return value


def _database_url(value: str) -> str:
    try:
        given = psycopg.conninfo.conninfo_to_dict(value)
        # an @ or / of a password that was not percent-encoded ends up in these two
        misread = "@" in str(given.get("host", ""))[1:] or not re.fullmatch(
            r"[0-9,]*", str(given.get("port", ""))
        )
        if not value.strip() or misread:
            raise ProgrammingError
    except ProgrammingError:
        # the parser's message may repeat a password
        raise ValueError(
            "allowed is a libpq URI (postgresql://user@host/database, special characters "
            "percent-encoded) or connection string, "
            "or leaving it unset for the embedded server"
        ) from None
    return value


def _home(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError("allowed is an absolute path, or leaving it unset")
    if path.exists() and not path.is_dir():
        raise ValueError("it is not a directory: allowed is the absolute path of one")
    return path


def _workspace_root(path: Path) -> Path:
    if not (path.is_absolute() and path.is_dir()):
        raise ValueError("allowed is the absolute path of an existing directory")
    return path


def _default_home() -> Path:
    return platformdirs.user_data_path("patchdiff")


Switch = Annotated[bool, BeforeValidator(_switch)]
DatabaseUrl = Annotated[str, BeforeValidator(_text), AfterValidator(_database_url)]
Home = Annotated[Path, BeforeValidator(_text), AfterValidator(_home)]
WorkspaceRoot = Annotated[Path, BeforeValidator(_text), AfterValidator(_workspace_root)]
Executable = Annotated[str, BeforeValidator(_text), AfterValidator(_not_empty)]


class Settings(BaseSettings):
    """The settings of one process, frozen. Build it with `load_settings`."""

    model_config = SettingsConfigDict(
        frozen=True, case_sensitive=True, env_file=None, extra="ignore", validate_default=False
    )

    database_url: DatabaseUrl | None = Field(
        default=None, validation_alias="PATCHDIFF_DATABASE_URL", repr=False
    )
    """libpq URI or connection string of a PostgreSQL 16+ database; None: the embedded server."""

    home: Home = Field(default_factory=_default_home, validation_alias="PATCHDIFF_HOME")
    """Absolute path of the embedded server's directory."""

    mcp_profile: Annotated[
        Literal["full", "reader", "observed-editor-v2", "workspace", "plastic"],
        _one_of("full", "reader", "observed-editor-v2", "workspace", "plastic"),
    ] = Field(default="full", validation_alias="PATCHDIFF_MCP_PROFILE")
    """Which tools `patchdiff mcp` offers."""

    mcp_response_mode: Annotated[Literal["detailed", "compact"], _one_of("detailed", "compact")] = (
        Field(default="detailed", validation_alias="PATCHDIFF_MCP_RESPONSE_MODE")
    )
    """How much an answer says."""

    strict_observation: Switch = Field(
        default=False, validation_alias="PATCHDIFF_STRICT_OBSERVATION_MODE"
    )
    """True rejects writes that name no observation."""

    workspace_root: WorkspaceRoot | None = Field(
        default=None, validation_alias="PATCHDIFF_WORKSPACE_ROOT"
    )
    """Existing absolute directory whose files are managed; None: no workspace."""

    workspace_sync_on_save: Switch = Field(
        default=False, validation_alias="PATCHDIFF_WORKSPACE_SYNC_ON_SAVE"
    )
    """True lets a save publish to the workspace unless the call says otherwise."""

    plastic_cm: Executable | None = Field(default=None, validation_alias="PATCHDIFF_PLASTIC_CM")
    """The Plastic SCM client; None: `cm` on PATH."""

    plastic_diff: Executable | None = Field(default=None, validation_alias="PATCHDIFF_PLASTIC_DIFF")
    """The program that compares two texts; None: `diff` on PATH."""

    plastic_patch_tool: Executable | None = Field(
        default=None, validation_alias="PATCHDIFF_PLASTIC_PATCH_TOOL"
    )
    """The program that `cm patch` compares with; None: the client's own choice."""

    plastic_workspace: Executable | None = Field(
        default=None, validation_alias="PATCHDIFF_PLASTIC_WORKSPACE"
    )
    """A directory in the Plastic SCM workspace; None: the working directory."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only the environment and explicit arguments count, never a file."""
        return init_settings, env_settings


def load_settings() -> Settings:
    """Read the environment once.

    Raises SettingsError for the first variable with a value that is not allowed. It names the
    variable, the value (a database URL is never repeated) and what is allowed.
    """
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        raise SettingsError(f"{name}{_shown(name, first)}: {_reason(first)}") from None


def _shown(name: str, error: Any) -> str:
    value = error["input"]
    if name == "PATCHDIFF_DATABASE_URL" and value != "":
        return " has an invalid value (not shown: it may hold a password)"
    text = repr(str(value))
    if len(text) > LONGEST_SHOWN_VALUE:
        text = f"{text[:LONGEST_SHOWN_VALUE]}…"
    return f" has the invalid value {_printable(text)}"


def _printable(text: str) -> str:
    """The text with lone surrogates escaped, so that it can be printed anywhere."""
    return text.encode("utf-8", "backslashreplace").decode()


def _reason(error: Any) -> str:
    context = error.get("ctx", {}).get("error")
    return str(context) if context is not None else str(error["msg"])
