"""plastic_patch: selectors, backend, one generation, the artifact, preflight."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from patchdiff.plastic import publication, staging
from tests.plastic.kit import MIB, REPOSITORY, SERVER, Workspace, error, quick, remove_retained

FULL = f"br:/main/x@{REPOSITORY}@{SERVER}"
LIMIT = 4 * MIB


def arguments_of(workspace: Workspace) -> list[str]:
    """The arguments of the only patch, the owned path replaced by a label."""
    assert workspace.commands() == ["patch"]
    return [
        f"--output={workspace.temporary}/*/patch" if argument.startswith("--output=") else argument
        for argument in workspace.argv("patch")
    ]


@pytest.mark.req("PPATCH-001", "PPATCH-012", "PPATCH-015", "PPATCH-016", "PPATCH-019")
@pytest.mark.req("PPATCH-022", "PPATCH-013", "PPATCH-011", "PPATCH-048")
def test_a_patch_without_output_is_returned(workspace: Workspace) -> None:
    content = "diff \u6f22 \U0001f600\n+x".encode()
    workspace.branch_patch(FULL, content=content)
    envelope = workspace.patch(source=FULL)
    assert envelope["ok"] is True
    assert envelope["completeness"] == {"read": "complete", "projection": "complete"}
    data = envelope["data"]
    assert list(data) == [
        "preflight", "requested", "effective", "backend", "commandProjection", "generation",
        "artifact", "publication", "cleanup",
    ]  # fmt: skip
    assert data["requested"] == {
        "source": FULL,
        "destination": None,
        "output": None,
        "toolPath": None,
        "clean": False,
        "integration": False,
        "format": "json",
    }
    assert data["effective"] == {
        "source": FULL,
        "destination": None,
        "qualifiedFrom": None,
        "selectorBytes": None,
        "selectorSha256": None,
    }
    assert data["backend"] == {"origin": "cm-default", "label": None}
    assert data["commandProjection"] == ["cm", "patch", FULL, "--output=<owned>/patch"]
    assert data["generation"]["attempts"] == 1
    capture = data["generation"]["capture"]
    assert (capture["command"], capture["terminal"], capture["exitCode"]) == ("patch", "exit", 0)
    assert capture["argv"] == data["commandProjection"]
    assert capture["timeoutMs"] == 120_000
    assert data["artifact"] == {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "encoding": "utf-8",
        "utf8Characters": 11,
        "utf16Units": 12,
        "lines": 2,
        "excerpt": {
            "text": content.decode(),
            "sourceUtf16": 12,
            "keptUtf16": 12,
            "markerUtf16": 0,
            "omittedUtf16": 0,
            "truncated": False,
        },
    }
    assert data["publication"] is None
    assert data["cleanup"] == {
        "attempted": True,
        "complete": True,
        "retained": False,
        "reason": None,
        "recoveryDirectory": None,
    }
    assert workspace.commands() == ["patch"]
    assert workspace.calls()[0]["cwd"] == str(workspace.root)
    owned = workspace.argv("patch")[1].removeprefix("--output=")
    assert owned.startswith(f"{workspace.temporary}/patchdiff-plastic-")


@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("integration", [False, True])
@pytest.mark.parametrize("destination", [None, "cs:12@other@host"])
@pytest.mark.req("PPATCH-004", "PPATCH-046")
def test_options_are_passed_when_true(
    workspace: Workspace, clean: bool, integration: bool, destination: str | None
) -> None:
    specs = [FULL] if destination is None else [FULL, destination]
    workspace.branch_patch(*specs, content=b"p\n", clean=clean, integration=integration)
    more = {} if destination is None else {"destination": destination}
    envelope = workspace.patch(source=FULL, clean=clean, integration=integration, **more)
    assert envelope["ok"]
    assert arguments_of(workspace) == [
        *specs,
        f"--output={workspace.temporary}/*/patch",
        *(["--clean"] if clean else []),
        *(["--integration"] if integration else []),
    ]


@pytest.mark.req("PPATCH-009", "PPATCH-012")
def test_an_unqualified_branch_is_completed_from_the_selector(workspace: Workspace) -> None:
    workspace.branch_patch(FULL, f"br:y@{REPOSITORY}@{SERVER}", content=b"p\n")
    data = workspace.patch(source="br:/main/x", destination="br:y")["data"]
    assert (data["requested"]["source"], data["requested"]["destination"]) == ("br:/main/x", "br:y")
    content = workspace.selector.read_bytes()
    assert data["effective"] == {
        "source": FULL,
        "destination": f"br:y@{REPOSITORY}@{SERVER}",
        "qualifiedFrom": "workspace-selector",
        "selectorBytes": len(content),
        "selectorSha256": hashlib.sha256(content).hexdigest(),
    }


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ('repository "game@server:8087"\r\n  path "/"\r\n    br "/main"\r\n', "server:8087"),
        ('rep "game@acme@cloud"\n  path "/"\n    label "x"\n', "acme@cloud"),
        ('\n\nrepository "game@s"\n\tpath "/"\n', "s"),
    ],
)
@pytest.mark.req("PPATCH-009")
def test_selectors_that_name_one_repository(workspace: Workspace, text: str, server: str) -> None:
    workspace.write_selector(text)
    data = workspace.patch(source="br:/x", preflight=True)["data"]
    assert data["effective"]["source"] == f"br:/x@game@{server}"


@pytest.mark.parametrize(
    "source",
    [FULL, "br:/x@r", "cs:12", "cs:12@r@s", "br:brguid:0123", "lb:x", "rev:x", "/main/x"],
)
@pytest.mark.req("PPATCH-011")
def test_another_spec_is_used_unchanged_and_no_selector_is_read(
    workspace: Workspace, source: str
) -> None:
    workspace.selector.unlink()
    workspace.branch_patch(source, content=b"p\n")
    data = workspace.patch(source=source)["data"]
    assert data["effective"]["source"] == source
    assert data["effective"]["qualifiedFrom"] is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        'repository "game"\n  path "/"\n',
        'repository "game@"\n  path "/"\n',
        'repository "@server"\n  path "/"\n',
        'repository "a@s"\nrepository "b@s"\n  path "/"\n',
        'repository "a@s"\n  path "/"\nrepository "b@s"\n  path "/"\n',
        'repository "a@s"\n  path "/"\nrep "a@s"\n  path "/"\n',
        'repository "a@s"\n  path "/sub"\n',
        'repository "a@s"\n  path "/"\n  path "/sub"\n',
        'repository "a@s"\n',
        'repository "a;x@s"\n  path "/"\n',
        'repository a@s\n  path "/"\n',
    ],
)
@pytest.mark.req("PPATCH-010")
def test_a_selector_without_one_repository_and_server_refuses_the_branch(
    workspace: Workspace, text: str
) -> None:
    workspace.write_selector(text)
    envelope = workspace.patch(source="br:/main/x")
    assert error(envelope) == ("selector_ambiguous", "selector")
    assert workspace.calls() == []
    data = envelope["data"]
    assert (data["generation"], data["artifact"]) == (None, None)
    assert data["effective"]["source"] == "br:/main/x"


@pytest.mark.req("PPATCH-034")
def test_a_selector_at_its_bound(workspace: Workspace) -> None:
    text = f'repository "game@{SERVER}"\n  path "/"\n'
    workspace.write_selector(text + "\n" * (65_536 - len(text)))
    data = workspace.patch(source="br:/x", preflight=True)["data"]
    assert data["effective"]["selectorBytes"] == 65_536
    workspace.write_selector(text + "\n" * (65_537 - len(text)))
    envelope = workspace.patch(source="br:/x", preflight=True)
    assert error(envelope) == ("selector_unreadable", "selector")


@pytest.mark.parametrize("kind", ["absent", "link", "directory", "fifo", "not-utf-8"])
@pytest.mark.req("PPATCH-034")
def test_a_selector_that_cannot_be_read(workspace: Workspace, kind: str) -> None:
    workspace.selector.unlink()
    if kind == "link":
        target = workspace.base / "selector"
        target.write_text(f'repository "game@{SERVER}"\n  path "/"\n')
        workspace.selector.symlink_to(target)
    elif kind == "directory":
        workspace.selector.mkdir()
    elif kind == "fifo":
        os.mkfifo(workspace.selector)
    elif kind == "not-utf-8":
        workspace.selector.write_bytes(b'repository "g\xff@s"\n  path "/"\n')
    envelope = workspace.patch(source="br:/main/x")
    assert error(envelope) == ("selector_unreadable", "selector")
    assert workspace.calls() == []


@pytest.mark.req("PPATCH-007", "PPATCH-008", "PPATCH-013", "PPATCH-014")
def test_which_backend_is_used(workspace: Workspace) -> None:
    workspace.branch_patch(FULL, content=b"p\n")
    own = str(workspace.programs_path / "diff")
    other = workspace.programs_path / "other-diff"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)

    def backend(**arguments: Any) -> tuple[dict[str, Any], list[str]]:
        data = workspace.patch(source=FULL, **arguments)["data"]
        used = [each for each in workspace.calls()[-1]["argv"] if each.startswith("--tool=")]
        projected = [each for each in data["commandProjection"] if each.startswith("--tool=")]
        assert projected == (["--tool=<tool>"] if used else [])
        assert str(workspace.base) not in json.dumps(data["commandProjection"])
        assert str(workspace.base) not in json.dumps(data["generation"])
        return data["backend"], used

    assert backend() == ({"origin": "cm-default", "label": None}, [])
    argument = ({"origin": "argument", "label": "other-diff"}, [f"--tool={other}"])
    assert backend(toolPath=str(other)) == argument
    assert backend() == ({"origin": "cm-default", "label": None}, [])
    workspace.patch_tool = own
    configured = ({"origin": "configured", "label": "diff"}, [f"--tool={own}"])
    assert backend() == configured
    assert backend(toolPath=str(other)) == argument
    assert backend() == configured
    assert workspace.commands() == ["patch"] * 6


@pytest.mark.parametrize("kind", ["absent", "directory", "not-executable"])
@pytest.mark.parametrize("origin", ["argument", "configured"])
@pytest.mark.req("PPATCH-021")
def test_a_backend_that_is_no_program_is_not_replaced(
    workspace: Workspace, kind: str, origin: str
) -> None:
    workspace.branch_patch(FULL, content=b"p\n")
    tool = workspace.base / "tool"
    if kind == "directory":
        tool.mkdir()
    elif kind == "not-executable":
        tool.write_text("")
    more = {"toolPath": str(tool)} if origin == "argument" else {}
    workspace.patch_tool = None if more else str(tool)
    envelope = workspace.patch(source=FULL, **more)
    assert error(envelope) == ("backend_unavailable", "stage")
    assert envelope["data"]["backend"]["origin"] == origin
    assert workspace.calls() == []


@pytest.mark.req("PPATCH-014")
def test_credentials_are_left_out_of_what_is_shown(workspace: Workspace) -> None:
    source = "br:/x@rep@ssl://user:s3cret@host:8088"
    workspace.branch_patch(source, content=b"p\n")
    data = workspace.patch(source=source)["data"]
    assert workspace.argv("patch")[0] == source
    shown = "br:/x@rep@ssl://<redacted>@host:8088"
    assert data["commandProjection"][2] == data["generation"]["capture"]["argv"][2] == shown
    assert data["requested"]["source"] == source


@pytest.mark.req("PPATCH-042", "PPATCH-043")
def test_a_preflight_only_shows_the_command(workspace: Workspace) -> None:
    envelope = workspace.patch(
        source="br:/main/x",
        clean=True,
        output=str(workspace.base / "none" / "o.patch"),
        toolPath="/none/such-diff",
        preflight=True,
    )
    assert envelope["ok"] is True
    assert envelope["completeness"] == {"read": "none", "projection": "complete"}
    data = envelope["data"]
    assert data["preflight"] is True
    assert (data["generation"], data["artifact"], data["publication"]) == (None, None, None)
    assert data["effective"]["source"] == FULL
    assert data["effective"]["qualifiedFrom"] == "workspace-selector"
    assert data["commandProjection"] == [
        "cm", "patch", FULL, "--output=<owned>/patch", "--tool=<tool>", "--clean",
    ]  # fmt: skip
    assert data["cleanup"]["attempted"] is False
    assert workspace.calls() == []
    assert list(workspace.temporary.iterdir()) == []
    assert not (workspace.base / "none").exists()


@pytest.mark.req("PPATCH-023")
def test_an_empty_patch_without_output_is_a_success(workspace: Workspace) -> None:
    workspace.branch_patch(FULL, content=b"")
    envelope = workspace.patch(source=FULL)
    assert envelope["ok"] is True
    artifact = envelope["data"]["artifact"]
    metrics = [artifact[n] for n in ("bytes", "encoding", "utf8Characters", "utf16Units", "lines")]
    assert metrics == [0, "utf-8", 0, 0, 0]


@pytest.mark.req("PPATCH-017")
def test_a_patch_that_is_no_utf_8_is_opaque(workspace: Workspace) -> None:
    workspace.branch_patch(FULL, content=b"caf\xe9\n")
    artifact = workspace.patch(source=FULL)["data"]["artifact"]
    assert artifact == {
        "bytes": 5,
        "sha256": hashlib.sha256(b"caf\xe9\n").hexdigest(),
        "encoding": "opaque",
        "utf8Characters": None,
        "utf16Units": None,
        "lines": None,
        "excerpt": None,
    }


@pytest.mark.parametrize("length", [59_999, 60_000, 60_001])
@pytest.mark.req("PPATCH-038", "PPATCH-040")
def test_the_excerpt_of_a_patch_at_its_bound(workspace: Workspace, length: int) -> None:
    workspace.branch_patch(FULL, content=b"x" * length)
    envelope = workspace.patch(source=FULL)
    artifact = envelope["data"]["artifact"]
    excerpt = artifact["excerpt"]
    assert excerpt["sourceUtf16"] == artifact["utf16Units"] == length
    assert excerpt["truncated"] is (length > 60_000)
    assert min(length, 60_000) - 10 <= len(excerpt["text"]) <= 60_000
    projection = "truncated" if length > 60_000 else "complete"
    assert envelope["completeness"]["projection"] == projection


@pytest.mark.req("PPATCH-038", "PPATCH-040")
def test_the_excerpt_of_a_patch_splits_no_pair(workspace: Workspace) -> None:
    for extra in (0, 1):
        content = "a" * extra + "\U0001f600" * 40_000
        workspace.state["patches"] = []
        workspace.branch_patch(FULL, content=content.encode())
        artifact = workspace.patch(source=FULL)["data"]["artifact"]
        assert artifact["utf16Units"] == 80_000 + extra
        assert artifact["utf8Characters"] == 40_000 + extra
        assert artifact["bytes"] == 160_000 + extra
        text = artifact["excerpt"]["text"].encode("utf-16-le")
        assert len(text) // 2 <= 60_000
        kept = text[: 2 * artifact["excerpt"]["keptUtf16"]].decode("utf-16-le")
        assert content.startswith(kept)


@pytest.mark.req("PPATCH-037")
def test_the_envelope_of_the_largest_excerpt_keeps_to_its_bound(workspace: Workspace) -> None:
    source = "cs:1@" + "\u6f22" * 4_091
    workspace.branch_patch(source, source, content=b"\x01" * 70_000)
    envelope = workspace.patch(source=source, destination=source)
    size = len(json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode())
    assert 400_000 < size <= 524_288
    assert envelope["data"]["artifact"]["excerpt"]["keptUtf16"] > 59_000


@pytest.mark.req("PPATCH-032")
def test_an_artifact_of_4_mib_is_read_and_one_byte_more_fails(workspace: Workspace) -> None:
    workspace.branch_patch(FULL, content=b"x" * LIMIT)
    assert workspace.patch(source=FULL)["data"]["artifact"]["bytes"] == LIMIT
    workspace.fault("patch", oversizeExport=LIMIT + 1)
    envelope = workspace.patch(source=FULL)
    assert error(envelope) == ("artifact_oversized", "observe")
    assert envelope["data"]["artifact"] is None


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"noExport": True}, "artifact_missing"),
        ({"exportSymlink": True}, "artifact_unstable"),
        ({"exportDirectory": True}, "artifact_unstable"),
        ({"exportFifo": True}, "artifact_unstable"),
    ],
)
@pytest.mark.req("PPATCH-033")
def test_an_artifact_that_is_no_file(
    workspace: Workspace, fault: dict[str, Any], code: str
) -> None:
    workspace.branch_patch(FULL, content=b"p\n")
    workspace.fault("patch", **fault)
    assert error(workspace.patch(source=FULL)) == (code, "observe")


@pytest.mark.req("PPATCH-033")
def test_an_artifact_that_changes_while_it_is_read(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.branch_patch(FULL, content=b"x" * 3 * MIB)
    real = os.read

    def disturbed(descriptor: int, count: int) -> bytes:
        part = real(descriptor, count)
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.name == "patch" and len(part) > 1_000:
            with path.open("ab") as file:
                file.write(b"more")
        return part

    monkeypatch.setattr(os, "read", disturbed)
    assert error(workspace.patch(source=FULL)) == ("artifact_unstable", "observe")


FAILURES = [
    ({"exit": 1}, "command_failed"),
    ({"exit": 3, "noExport": True}, "command_failed"),
    ({"stderr": 1}, "command_stderr"),
    ({"kill": 9}, "command_signaled"),
]


@pytest.mark.parametrize(("fault", "code"), FAILURES)
@pytest.mark.req("PPATCH-021", "PPATCH-001")
def test_a_generation_that_fails_is_not_repeated(
    workspace: Workspace, fault: dict[str, Any], code: str
) -> None:
    workspace.branch_patch(FULL, content=b"p\n")
    workspace.fault("patch", **fault)
    envelope = workspace.patch(source=FULL)
    assert error(envelope) == (code, "generate")
    assert workspace.commands() == ["patch"]
    data = envelope["data"]
    assert data["generation"]["attempts"] == 1
    assert data["artifact"] is None
    assert data["cleanup"]["complete"] is True
    assert envelope["completeness"]["read"] == "none"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"sleep": 30}, "command_timeout"),
        ({"sleep": 30, "closeThenHang": True}, "command_timeout"),
        ({"grandchild": 30}, "command_timeout"),
        ({"grandchild": 30, "closed": True}, "command_failed"),
        ({"appendAfterExit": True}, "command_failed"),
        pytest.param({"noise": 65_537}, "output_limit", marks=pytest.mark.req("PPATCH-039")),
        pytest.param({"stderr": 16_385}, "output_limit", marks=pytest.mark.req("PPATCH-039")),
    ],
)
@pytest.mark.parametrize("published", [False, True])
@pytest.mark.req("PPATCH-029", "PPATCH-030", "PPATCH-031", "PPATCH-027", "PPATCH-021")
def test_what_a_process_may_still_write_into_is_retained(
    workspace: Workspace, fault: dict[str, Any], code: str, published: bool
) -> None:
    workspace.limits = quick()
    workspace.branch_patch(FULL, content=b"p\n")
    workspace.fault("patch", **fault)
    output = workspace.base / "o.patch"
    envelope = workspace.patch(source=FULL, **({"output": str(output)} if published else {}))
    assert error(envelope) == (code, "generate")
    data = envelope["data"]
    assert data["generation"]["capture"]["possiblyRunning"] is True
    assert data["generation"]["capture"]["truncated"] is (code == "output_limit")
    assert data["artifact"] is None
    assert not output.exists()
    cleanup = data["cleanup"]
    assert (cleanup["complete"], cleanup["retained"]) == (False, True)
    assert (cleanup["attempted"], cleanup["reason"]) == (False, "possibly-running")
    if published:
        assert data["publication"]["state"] == "not-attempted"
    directory = remove_retained(envelope, workspace)
    assert directory.parent == (workspace.base if published else workspace.temporary)


@pytest.mark.req("PPATCH-028")
def test_an_artifact_stays_in_the_receipt_when_the_cleanup_fails(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.branch_patch(FULL, content=b"p\n")
    output = workspace.base / "o.patch"

    def refused(path: object) -> None:
        raise PermissionError(str(path))

    monkeypatch.setattr(staging.shutil, "rmtree", refused)
    envelope = workspace.patch(source=FULL, output=str(output))
    monkeypatch.undo()
    assert error(envelope) == ("cleanup_failed", "cleanup")
    assert envelope["data"]["artifact"]["bytes"] == 2
    assert envelope["data"]["publication"]["state"] == "published"
    assert envelope["data"]["publication"]["sameInode"] is True
    assert envelope["data"]["cleanup"]["reason"] == "remove-failed"
    assert output.read_bytes() == b"p\n"
    remove_retained(envelope, workspace)


def test_outside_a_workspace_the_request_is_still_told(workspace: Workspace) -> None:
    (workspace.root / ".plastic" / "plastic.workspace").unlink()
    envelope = workspace.patch(source="br:/main/x")
    assert error(envelope) == ("not_a_workspace", "workspace")
    assert envelope["data"]["requested"]["source"] == "br:/main/x"


def test_the_client_that_is_no_program(workspace: Workspace) -> None:
    (workspace.programs_path / "cm").unlink()
    envelope = workspace.patch(source=FULL)
    assert error(envelope) == ("backend_unavailable", "generate")
    assert envelope["data"]["generation"]["capture"]["terminal"] == "spawn-failed"
    assert publication.ARTIFACT == "patch"
