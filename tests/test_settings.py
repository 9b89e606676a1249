"""The PATCHDIFF_ environment variables: values that are taken, and values that end the start."""

from pathlib import Path
from typing import Any

import platformdirs
import pydantic
import pytest

from patchdiff.settings import Settings, SettingsError, load_settings

VARIABLES = (
    "DATABASE_URL",
    "HOME",
    "MCP_PROFILE",
    "MCP_RESPONSE_MODE",
    "STRICT_OBSERVATION_MODE",
    "WORKSPACE_ROOT",
    "WORKSPACE_SYNC_ON_SAVE",
    "PLASTIC_CM",
    "PLASTIC_DIFF",
    "PLASTIC_PATCH_TOOL",
    "PLASTIC_WORKSPACE",
)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(f"PATCHDIFF_{name}", raising=False)
    monkeypatch.chdir(tmp_path)


def refusal(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> str:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as error:
        load_settings()
    text = str(error.value)
    assert len(text.splitlines()) == 1
    assert name in text
    return text


@pytest.mark.req("CMD-006")
def test_unset_variables_have_defaults() -> None:
    settings = load_settings()
    assert settings.database_url is None
    assert settings.home == platformdirs.user_data_path("patchdiff")
    assert settings.mcp_profile == "full"
    assert settings.mcp_response_mode == "detailed"
    assert settings.strict_observation is False
    assert settings.workspace_sync_on_save is False
    assert settings.workspace_root is None
    assert settings.plastic_cm is None
    assert settings.plastic_diff is None
    assert settings.plastic_patch_tool is None
    assert settings.plastic_workspace is None


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("HOME", "/a b/größe", "home", Path("/a b/größe")),
        ("MCP_PROFILE", "full", "mcp_profile", "full"),
        ("MCP_PROFILE", "reader", "mcp_profile", "reader"),
        ("MCP_PROFILE", "observed-editor-v2", "mcp_profile", "observed-editor-v2"),
        ("MCP_PROFILE", "workspace", "mcp_profile", "workspace"),
        ("MCP_PROFILE", "plastic", "mcp_profile", "plastic"),
        ("MCP_RESPONSE_MODE", "detailed", "mcp_response_mode", "detailed"),
        ("MCP_RESPONSE_MODE", "compact", "mcp_response_mode", "compact"),
        ("STRICT_OBSERVATION_MODE", "0", "strict_observation", False),
        ("STRICT_OBSERVATION_MODE", "1", "strict_observation", True),
        ("WORKSPACE_SYNC_ON_SAVE", "0", "workspace_sync_on_save", False),
        ("WORKSPACE_SYNC_ON_SAVE", "1", "workspace_sync_on_save", True),
        ("WORKSPACE_ROOT", "/", "workspace_root", Path("/")),
        ("PLASTIC_CM", "cm", "plastic_cm", "cm"),
        ("PLASTIC_DIFF", "/opt/a b/diff", "plastic_diff", "/opt/a b/diff"),
        ("PLASTIC_PATCH_TOOL", "patch", "plastic_patch_tool", "patch"),
        ("PLASTIC_WORKSPACE", "/w", "plastic_workspace", "/w"),
    ],
)
@pytest.mark.req("CMD-006", "CMD-007")
def test_valid_values_are_taken(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, field: str, expected: Any
) -> None:
    monkeypatch.setenv(f"PATCHDIFF_{name}", value)
    found = getattr(load_settings(), field)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("variable", ["STRICT_OBSERVATION_MODE", "WORKSPACE_SYNC_ON_SAVE"])
@pytest.mark.parametrize(
    "value",
    ["true", "True", "yes", "on", "2", "", " 1", "1 ", "01", "+1", "-0", "１", "t", "False"],
)
@pytest.mark.req("CMD-007")
def test_switches_take_nothing_but_0_and_1(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    text = refusal(monkeypatch, f"PATCHDIFF_{variable}", value)
    assert repr(value) in text
    assert "0, 1" in text


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("MCP_PROFILE", "", "observed-editor-v2"),
        ("MCP_PROFILE", "Full", "observed-editor-v2"),
        ("MCP_PROFILE", "complete", "observed-editor-v2"),
        ("MCP_PROFILE", "full ", "observed-editor-v2"),
        ("MCP_RESPONSE_MODE", "", "compact"),
        ("MCP_RESPONSE_MODE", "COMPACT", "compact"),
        ("HOME", "", "absolute path"),
        ("HOME", "relative", "absolute path"),
        ("HOME", "~/x", "absolute path"),
        ("HOME", "/etc/passwd", "directory"),
        ("WORKSPACE_ROOT", "", "absolute path of an existing directory"),
        ("WORKSPACE_ROOT", ".", "absolute path of an existing directory"),
        ("WORKSPACE_ROOT", "/no/such/directory", "absolute path of an existing directory"),
        ("WORKSPACE_ROOT", "/etc/passwd", "absolute path of an existing directory"),
        ("PLASTIC_CM", "", "not be empty"),
        ("PLASTIC_DIFF", "", "not be empty"),
        ("PLASTIC_PATCH_TOOL", "", "not be empty"),
        ("PLASTIC_WORKSPACE", "", "not be empty"),
        ("DATABASE_URL", "", "libpq URI"),
        ("DATABASE_URL", "  ", "libpq URI"),
    ],
)
@pytest.mark.req("CMD-003")
def test_invalid_values_are_named_with_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    text = refusal(monkeypatch, f"PATCHDIFF_{name}", value)
    assert allowed in text
    assert repr(value) in text or "not shown" in text


@pytest.mark.parametrize(
    "value",
    ["full\nevil: line", "a\u2028b", "x\r", "\x1b[31mred", "x" * 10_000, "b\udcffad"],
)
@pytest.mark.req("CMD-003")
def test_refusal_is_one_short_printable_line(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    text = refusal(monkeypatch, "PATCHDIFF_MCP_PROFILE", value)
    assert text.isprintable()
    assert len(text) < 400


@pytest.mark.parametrize("name", ["HOME", "WORKSPACE_ROOT", "PLASTIC_CM", "DATABASE_URL"])
def test_values_must_be_utf8(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert refusal(monkeypatch, f"PATCHDIFF_{name}", "/tmp/\udcff").isprintable()


@pytest.mark.parametrize(
    "value",
    [
        "postgresql://u:s3cret@h:5432/d",
        "postgres://h",
        "postgresql://u:s3%40cret@h1:5432,h2:5433/d?target_session_attrs=read-write",
        "postgresql:///d?host=/var/run/postgresql",
        "postgresql://%2Ftmp%2Fa/d",
        "postgresql://[::1]:5432/d",
        "host=h1,h2 port=1,2 dbname='a b' password='s 3'",
        "host=@abstract",
        "service=mine",
        "dbname=d",
    ],
)
def test_database_urls_of_libpq_are_taken(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PATCHDIFF_DATABASE_URL", value)
    assert load_settings().database_url == value


@pytest.mark.parametrize(
    "value",
    [
        "postgresql://u:s3cret@h/d?no_such_option=1",
        "postgresql://u:s3cret@[h/d",
        "mysql://u:s3cret@h/d",
        "password=s3cret nonsense",
        "postgresql://u:%zzs3cret@h/d",
        # an @ or / of the password that is not percent-encoded: libpq reads something else
        "postgresql://u:p@s3cret@h/d",
        "postgresql://u:s3cret/p@h/d",
    ],
)
@pytest.mark.req("CMD-003")
def test_other_database_urls_are_refused_without_their_password(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    text = refusal(monkeypatch, "PATCHDIFF_DATABASE_URL", value)
    assert "s3cret" not in text
    assert "libpq URI" in text


@pytest.mark.req("CMD-002")
def test_settings_are_read_once_and_never_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHDIFF_MCP_PROFILE", "reader")
    settings = load_settings()
    monkeypatch.setenv("PATCHDIFF_MCP_PROFILE", "full")
    monkeypatch.setenv("PATCHDIFF_STRICT_OBSERVATION_MODE", "1")
    assert settings.mcp_profile == "reader"
    assert settings.strict_observation is False
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        settings.mcp_profile = "full"  # type: ignore[misc]


def test_file_of_variables_in_the_working_directory_is_not_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PATCHDIFF_MCP_PROFILE=reader\n")
    assert load_settings().mcp_profile == "full"


def test_names_are_taken_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("patchdiff_mcp_profile", "reader")
    monkeypatch.setenv("PATCHDIFF_DOES_NOT_EXIST", "x")
    assert load_settings().mcp_profile == "full"


def test_settings_are_shown_without_the_database_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHDIFF_DATABASE_URL", "postgresql://u:s3cret@h/d")
    settings = load_settings()
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in str(settings)


def test_settings_can_be_given_to_the_constructor() -> None:
    settings = Settings(PATCHDIFF_MCP_PROFILE="reader")  # type: ignore[call-arg]
    assert settings.mcp_profile == "reader"
