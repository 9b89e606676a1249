"""Publication of a patch: exclusive, atomic, from a sibling directory, and never by force."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from patchdiff.plastic import publication
from tests.plastic.kit import REPOSITORY, SERVER, Workspace, error, remove_retained

FULL = f"br:/main/x@{REPOSITORY}@{SERVER}"
CONTENT = b"a patch\n"


@pytest.fixture
def output(workspace: Workspace) -> Path:
    workspace.branch_patch(FULL, content=CONTENT)
    directory = workspace.base / "reviews"
    directory.mkdir()
    return directory / "new.patch"


def state(envelope: dict[str, Any]) -> str:
    return str(envelope["data"]["publication"]["state"])


@pytest.mark.req("PPATCH-018", "PPATCH-025", "PPATCH-005")
def test_a_patch_is_published_by_one_hard_link(
    workspace: Workspace, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = []
    real = os.link

    def link(source: Any, target: Any, **more: Any) -> None:
        found = os.lstat(source)
        links.append((str(source), target, more["follow_symlinks"], found.st_ino, found.st_nlink))
        real(source, target, **more)

    monkeypatch.setattr(os, "link", link)
    envelope = workspace.patch(source=FULL, output=str(output))
    assert envelope["ok"] is True
    assert envelope["data"]["publication"] == {
        "state": "published",
        "path": str(output),
        "method": "exclusive-hard-link",
        "sameInode": True,
    }
    [(source, name, follow, inode, count)] = links
    assert (name, follow, count) == ("new.patch", False, 1)
    staging = Path(source).parent
    assert staging.parent == output.parent
    assert staging.name.startswith(".patchdiff-")
    assert workspace.argv("patch")[1] == f"--output={source}"
    assert output.read_bytes() == CONTENT
    assert (output.stat().st_ino, output.stat().st_nlink) == (inode, 1)
    assert list(output.parent.iterdir()) == [output]
    assert envelope["data"]["artifact"]["excerpt"]["text"] == CONTENT.decode()


def test_the_staging_directory_is_ours_alone(
    workspace: Workspace, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []
    real = publication.observe

    def observe(staging: Any) -> Any:
        modes.append(stat.S_IMODE(staging.path.lstat().st_mode))
        return real(staging)

    monkeypatch.setattr("patchdiff.plastic.patch.observe", observe)
    assert workspace.patch(source=FULL, output=str(output))["ok"]
    assert modes == [0o700]


@pytest.mark.parametrize("kind", ["file", "directory", "link", "dangling", "fifo"])
@pytest.mark.req("PPATCH-026")
def test_what_exists_is_never_replaced(workspace: Workspace, output: Path, kind: str) -> None:
    if kind == "file":
        output.write_bytes(b"mine")
    elif kind == "directory":
        output.mkdir()
    elif kind == "fifo":
        os.mkfifo(output)
    else:
        target = output.parent / "target"
        if kind == "link":
            target.write_bytes(b"mine")
        output.symlink_to(target)
    before = (output.lstat().st_ino, output.read_bytes() if kind in ("file", "link") else None)
    names = sorted(output.parent.iterdir())
    envelope = workspace.patch(source=FULL, output=str(output))
    assert error(envelope) == ("output_exists", "stage")
    assert state(envelope) == "refused"
    after = (output.lstat().st_ino, output.read_bytes() if kind in ("file", "link") else None)
    assert after == before
    assert sorted(output.parent.iterdir()) == names
    assert workspace.calls() == []


@pytest.mark.req("PPATCH-026", "PPATCH-028")
def test_what_appears_during_the_generation_is_never_replaced(
    workspace: Workspace, output: Path
) -> None:
    workspace.fault("patch", createOutput=str(output))
    envelope = workspace.patch(source=FULL, output=str(output))
    assert error(envelope) == ("output_exists", "publish")
    assert envelope["data"]["publication"] == {
        "state": "refused",
        "path": str(output),
        "method": "exclusive-hard-link",
        "sameInode": None,
    }
    assert envelope["data"]["artifact"]["bytes"] == len(CONTENT)
    assert output.read_bytes() == b"another's"
    assert list(output.parent.iterdir()) == [output]


@pytest.mark.req("PPATCH-024")
def test_an_empty_patch_is_not_published(workspace: Workspace, output: Path) -> None:
    workspace.state["patches"] = []
    workspace.branch_patch(FULL, content=b"")
    envelope = workspace.patch(source=FULL, output=str(output))
    assert error(envelope) == ("empty_artifact", "publish")
    assert state(envelope) == "not-attempted"
    assert envelope["data"]["artifact"]["bytes"] == 0
    assert list(output.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"exit": 1}, "command_failed"),
        ({"stderr": 1}, "command_stderr"),
        ({"stderr": 16_384}, "command_stderr"),
        ({"kill": 9}, "command_signaled"),
        ({"noExport": True}, "artifact_missing"),
        ({"exportSymlink": True}, "artifact_unstable"),
        ({"oversizeExport": 4_194_305}, "artifact_oversized"),
    ],
)
@pytest.mark.req("PPATCH-027", "PPATCH-018")
def test_a_generation_that_is_not_admitted_publishes_nothing(
    workspace: Workspace, output: Path, fault: dict[str, Any], code: str
) -> None:
    workspace.fault("patch", **fault)
    envelope = workspace.patch(source=FULL, output=str(output))
    assert envelope["error"]["code"] == code
    assert state(envelope) == "not-attempted"
    assert list(output.parent.iterdir()) == []


@pytest.mark.req("PPATCH-047")
def test_an_output_inside_the_workspace_is_allowed(workspace: Workspace, output: Path) -> None:
    workspace.may_change_workspace = True
    envelope = workspace.patch(source=FULL, output="review.patch")
    assert state(envelope) == "published"
    assert envelope["data"]["requested"]["output"] == "review.patch"
    assert envelope["data"]["publication"]["path"] == str(workspace.root / "review.patch")
    assert (workspace.root / "review.patch").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(".plastic/new.patch", marks=pytest.mark.req("PPATCH-047")),
        pytest.param(".PLASTIC", marks=pytest.mark.req("PPATCH-047")),
        pytest.param("linked/new.patch", marks=pytest.mark.req("PPATCH-047")),
        "none/new.patch",
        "file/new.patch",
        "..",
        "/",
        "n" * 300 + "/new.patch",
    ],
)
def test_an_output_that_is_no_new_file_is_refused(
    workspace: Workspace, output: Path, path: str
) -> None:
    (workspace.root / "linked").symlink_to(".plastic")
    workspace.write("file", b"")
    envelope = workspace.patch(source=FULL, output=path)
    assert error(envelope) == ("output_invalid", "stage")
    assert state(envelope) == "refused"
    assert workspace.calls() == []


@pytest.mark.parametrize("problem", ["changed", "replaced", "removed"])
@pytest.mark.req("PPATCH-033", "PPATCH-028")
def test_an_artifact_that_changes_after_it_was_read_is_not_published(
    workspace: Workspace, output: Path, monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    real = publication.observe

    def observe(staging: Any) -> Any:
        found = real(staging)
        path = staging.path / publication.ARTIFACT
        if problem == "changed":
            path.write_bytes(b"A PATCH\n")
        else:
            path.unlink()
        if problem == "replaced":
            path.write_bytes(CONTENT)
        return found

    monkeypatch.setattr("patchdiff.plastic.patch.observe", observe)
    envelope = workspace.patch(source=FULL, output=str(output))
    assert error(envelope) == ("artifact_unstable", "publish")
    assert envelope["data"]["artifact"]["bytes"] == len(CONTENT)
    assert list(output.parent.iterdir()) == []


@pytest.mark.req("PPATCH-025", "PPATCH-028")
def test_where_no_link_can_be_made_nothing_is_copied(
    workspace: Workspace, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr(os, "link", refused)
    envelope = workspace.patch(source=FULL, output=str(output))
    assert error(envelope) == ("publication_failed", "publish")
    assert state(envelope) == "failed"
    assert envelope["data"]["artifact"]["bytes"] == len(CONTENT)
    assert list(output.parent.iterdir()) == []


@pytest.mark.req("PPATCH-028")
def test_what_was_published_stays_recorded_when_a_later_step_fails(
    workspace: Workspace, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def failing(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError("the disk is gone")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", failing)
    envelope = workspace.patch(source=FULL, output=str(output))
    assert error(envelope) == ("publication_failed", "publish")
    assert state(envelope) == "published"
    assert envelope["data"]["publication"]["sameInode"] is True
    assert output.read_bytes() == CONTENT


@pytest.mark.req("PPATCH-029", "PPATCH-031")
def test_a_removal_that_fails_is_told_beside_the_publication(
    workspace: Workspace, output: Path
) -> None:
    real = publication.Output.publish

    def publish(self: Any, staging: Any, observed: Any) -> None:
        real(self, staging, observed)
        aside = staging.path.with_name(staging.path.name + "-aside")
        staging.path.rename(aside)
        staging.path.mkdir(mode=0o700)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(publication.Output, "publish", publish)
        envelope = workspace.patch(source=FULL, output=str(output))
    assert error(envelope) == ("cleanup_failed", "cleanup")
    assert state(envelope) == "published"
    assert envelope["data"]["cleanup"]["reason"] == "remove-failed"
    remove_retained(envelope, workspace)
