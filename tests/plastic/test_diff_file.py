"""Modes file and revisions: bases by pending state, local snapshots, binary and text."""

import hashlib
import json
import os
import socket
import tempfile
from base64 import b64encode
from pathlib import Path

import pytest

from patchdiff.plastic import comparison, staging
from patchdiff.plastic.diff import plastic_diff
from tests.plastic.kit import MIB, SERVER, Workspace, error

LIMIT = 4 * MIB
PATH = "Assets/Example.txt"
COMPARISON_FIELDS = [
    "mode", "pendingKind", "comparisonKind", "status", "left", "right", "backend", "hunks",
    "addedLines", "removedLines", "noNewlineMarkers", "excerpt", "captures", "cleanup",
]  # fmt: skip
SIDE_FIELDS = [
    "origin", "path", "selector", "identity", "bytes", "sha256", "utf8", "binary",
]  # fmt: skip


@pytest.mark.req("PDIFF-004", "PDIFF-005", "PDIFF-020", "PDIFF-025", "PDIFF-026", "PDIFF-027")
@pytest.mark.req("PDIFF-028", "PDIFF-029", "PDIFF-030", "PDIFF-048", "PDIFF-050")
def test_a_changed_file_is_compared_with_its_loaded_base(workspace: Workspace) -> None:
    base, local = b"one\ntwo\nthree\n", b"one\n2\nthree\nfour\n"
    number = workspace.change(PATH, base, local)
    envelope = workspace.file(PATH)
    assert list(envelope) == ["version", "action", "ok", "completeness", "data", "error"]
    assert (envelope["version"], envelope["action"], envelope["ok"]) == (1, "diff", True)
    assert envelope["completeness"] == {"read": "complete", "projection": "complete"}
    data = envelope["data"]
    assert list(data) == COMPARISON_FIELDS
    assert list(data["left"]) == list(data["right"]) == SIDE_FIELDS
    kinds = [data[name] for name in ("mode", "pendingKind", "comparisonKind", "status")]
    assert kinds == ["file", "changed", "loaded-local", "changed"]
    selector = f"revid:{number}@rep:game@repserver:{SERVER}"
    assert data["left"] == {
        "origin": "loaded",
        "path": PATH,
        "selector": selector,
        "identity": {
            "repository": "game",
            "server": SERVER,
            "revisionId": str(number),
            "itemId": str(number + 5000),
            "changeset": 3,
            "serverPath": f"/{PATH}",
            "hashAlgorithm": "MD5",
            "hashAlgorithmSource": "metadata",
            "hash": b64encode(hashlib.md5(base).digest()).decode(),
            "hashVerified": True,
        },
        "bytes": len(base),
        "sha256": hashlib.sha256(base).hexdigest(),
        "utf8": True,
        "binary": False,
    }
    assert data["right"] == {
        "origin": "local",
        "path": PATH,
        "selector": None,
        "identity": None,
        "bytes": len(local),
        "sha256": hashlib.sha256(local).hexdigest(),
        "utf8": True,
        "binary": False,
    }
    assert data["backend"] == {"kind": "gnu-diff", "exitCode": 1}
    counts = [data[n] for n in ("hunks", "addedLines", "removedLines", "noNewlineMarkers")]
    assert counts == [1, 2, 1, 0]
    assert data["excerpt"]["text"] == (
        "--- left\n+++ right\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n"
    )
    assert [capture["command"] for capture in data["captures"]] == [
        "status", "fileinfo", "ls", "cat", "diff",
    ]  # fmt: skip
    assert [capture["argv"] for capture in data["captures"]] == [
        ["cm", "status", "<workspace>", "--all", "--xml", "--encoding=utf-8", "--fp"],
        ["cm", "fileinfo", f"<workspace>/{PATH}", "--xml", "--encoding=utf-8", "--symlink"],
        ["cm", "ls", f"<workspace>/{PATH}", "--xml", "--encoding=utf-8", "--symlink"],
        ["cm", "cat", selector, "--file=<owned>/left", "--raw"],
        ["diff", "-u", "left", "right"],
    ]


@pytest.mark.req("PDIFF-001", "PDIFF-042", "PDIFF-043")
def test_what_the_client_is_asked(workspace: Workspace) -> None:
    number = workspace.change(PATH, b"a\n", b"b\n")
    workspace.use_stand_in_diff()
    assert workspace.file(PATH)["ok"]
    root = str(workspace.root)
    calls = workspace.calls()
    export = next(call["argv"][1] for call in calls if call["command"] == "cat")
    assert [[call["command"], *call["argv"]] for call in calls] == [
        ["status", root, "--all", "--xml", "--encoding=utf-8", "--fp"],
        ["fileinfo", f"{root}/{PATH}", "--xml", "--encoding=utf-8", "--symlink"],
        ["ls", f"{root}/{PATH}", "--xml", "--encoding=utf-8", "--symlink"],
        ["cat", f"revid:{number}@rep:game@repserver:{SERVER}", export, "--raw"],
        ["diff-program", "-u", "left", "right"],
    ]
    assert [call["cwd"] for call in calls[:4]] == [root] * 4
    assert calls[4]["LC_ALL"] == "C"
    place = Path(export.removeprefix("--file="))
    assert place.is_relative_to(workspace.temporary)
    assert not place.is_relative_to(workspace.root)
    assert list(workspace.temporary.iterdir()) == []


@pytest.mark.req("PDIFF-042")
def test_temporary_files_never_lie_in_the_workspace(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    monkeypatch.setattr(tempfile, "tempdir", str(workspace.root / "Assets"))
    assert error(workspace.file(PATH)) == ("unsafe_path", "export")
    assert workspace.commands() == ["status"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("CH", "changed"),
        ("CO", "checked-out"),
        ("CO+CH", "changed"),
        ("RP", "replaced"),
        ("CO+CH+RP", "replaced"),
    ],
)
def test_the_pending_kinds_of_an_edited_file(workspace: Workspace, code: str, kind: str) -> None:
    workspace.change(PATH, b"a\n", b"b\n", code)
    assert workspace.file(PATH)["data"]["pendingKind"] == kind


@pytest.mark.req("PDIFF-049")
def test_a_file_without_a_change_is_unchanged(workspace: Workspace) -> None:
    workspace.load(PATH, b"a\n")
    data = workspace.file(PATH)["data"]
    assert (data["pendingKind"], data["status"]) == ("none", "unchanged")
    assert data["backend"] == {"kind": "gnu-diff", "exitCode": 0}
    assert (data["excerpt"], data["hunks"]) == (None, 0)


def test_rows_of_one_path_are_one_observation(workspace: Workspace) -> None:
    workspace.move("old.txt", "new.txt", b"a\n", b"b\n")
    workspace.pend("CH", "new.txt")
    data = workspace.file("new.txt")["data"]
    assert (data["pendingKind"], data["status"]) == ("moved", "changed")


@pytest.mark.req("PDIFF-036", "PDIFF-028", "PDIFF-029")
def test_an_added_file_has_an_intentional_empty_base(workspace: Workspace) -> None:
    workspace.add("new.txt", b"one\ntwo")
    data = workspace.file("new.txt")["data"]
    assert (data["comparisonKind"], data["status"]) == ("empty-local", "changed")
    assert data["left"] == {
        "origin": "synthetic-empty",
        "path": None,
        "selector": None,
        "identity": None,
        "bytes": 0,
        "sha256": hashlib.sha256(b"").hexdigest(),
        "utf8": True,
        "binary": False,
    }
    assert (data["addedLines"], data["removedLines"]) == (2, 0)
    assert workspace.commands() == ["status"]


@pytest.mark.req("PDIFF-037", "PDIFF-088")
def test_a_named_private_file_has_an_intentional_empty_base(workspace: Workspace) -> None:
    workspace.private("notes.txt", b"x\n")
    data = workspace.file("notes.txt")["data"]
    assert (data["pendingKind"], data["comparisonKind"]) == ("private", "empty-local")
    assert data["left"]["origin"] == "synthetic-empty"


@pytest.mark.req("PDIFF-038")
def test_an_added_empty_file_is_not_unchanged(workspace: Workspace) -> None:
    workspace.add("new.txt", b"")
    workspace.load("same.txt", b"")
    assert workspace.file("new.txt")["data"]["status"] == "added-empty"
    assert workspace.file("same.txt")["data"]["status"] == "unchanged"


@pytest.mark.req("PDIFF-034")
def test_a_deleted_file_is_compared_with_the_loaded_tree(workspace: Workspace) -> None:
    workspace.delete("gone.txt", b"one\ntwo\n")
    data = workspace.file("gone.txt")["data"]
    assert (data["pendingKind"], data["comparisonKind"]) == ("deleted", "loaded-empty")
    assert (data["status"], data["removedLines"]) == ("changed", 2)
    assert data["right"]["origin"] == "synthetic-empty"
    assert workspace.argv("ls") == [
        "/gone.txt", f"--tree=cs:7@game@{SERVER}", "--xml", "--encoding=utf-8",
    ]  # fmt: skip
    workspace.delete("empty.txt", b"")
    assert workspace.file("empty.txt")["data"]["status"] == "deleted-empty"


def test_a_locally_deleted_file_is_compared_by_its_path(workspace: Workspace) -> None:
    workspace.delete("gone.txt", b"one\n", local=True)
    data = workspace.file("gone.txt")["data"]
    assert (data["pendingKind"], data["comparisonKind"]) == ("locally-deleted", "loaded-empty")
    assert workspace.argv("ls")[0] == f"{workspace.root}/gone.txt"


@pytest.mark.parametrize("local", [False, True])
def test_a_deleted_file_that_is_there_fails(workspace: Workspace, local: bool) -> None:
    workspace.delete("gone.txt", b"one\n", local=local)
    workspace.write("gone.txt", b"again\n")
    assert error(workspace.file("gone.txt")) == ("file_changed", "snapshot")
    assert "cat" not in workspace.commands()


@pytest.mark.req("PDIFF-035")
def test_a_local_move_takes_its_base_by_the_old_path(workspace: Workspace) -> None:
    workspace.move("old.txt", "new.txt", b"a\n", b"b\n", local=True)
    data = workspace.file("new.txt")["data"]
    assert (data["pendingKind"], data["left"]["path"]) == ("locally-moved", "old.txt")
    assert data["right"]["path"] == "new.txt"
    assert workspace.argv("fileinfo")[0] == f"{workspace.root}/old.txt"
    assert workspace.argv("ls")[0] == f"{workspace.root}/old.txt"


def test_a_controlled_move_is_found_by_both_names(workspace: Workspace) -> None:
    workspace.move("old.txt", "new.txt", b"a\n", b"b\n")
    by_new, by_old = workspace.file("new.txt"), workspace.file("old.txt")
    for envelope in (by_new, by_old):
        for capture in envelope["data"]["captures"]:
            capture["durationMs"] = 0
    assert by_new == by_old
    assert by_new["data"]["pendingKind"] == "moved"


@pytest.mark.req("PDIFF-006", "PDIFF-004")
def test_an_explicit_revision_asks_for_no_status_and_no_base(workspace: Workspace) -> None:
    workspace.write(PATH, b"a\nB\n")
    workspace.spec("rev:Assets/Example.txt#cs:2", b"a\nb\n")
    data = workspace.file(PATH, revision="rev:Assets/Example.txt#cs:2")["data"]
    assert workspace.commands() == ["cat"]
    assert (data["comparisonKind"], data["pendingKind"]) == ("revision-local", None)
    assert data["left"]["identity"] is None
    assert data["left"]["selector"] == "rev:Assets/Example.txt#cs:2"
    assert data["left"]["path"] is None


@pytest.mark.req("PDIFF-008", "PDIFF-028", "PDIFF-029")
def test_two_revisions_are_exported_one_after_the_other(workspace: Workspace) -> None:
    number = workspace.load("a.txt", b"a\n")
    left = f"revid:{number}@rep:game@repserver:{SERVER}"
    workspace.spec("rev:right", b"b\n")
    data = workspace.diff(mode="revisions", leftRevision=left, rightRevision="rev:right")["data"]
    assert [call["argv"][0] for call in workspace.calls()] == [left, "rev:right"]
    assert workspace.commands() == ["cat", "cat"]
    assert [data[side]["origin"] for side in ("left", "right")] == ["revision", "revision"]
    assert [data[side]["identity"] for side in ("left", "right")] == [None, None]
    assert data["status"] == "changed"


def test_the_right_revision_is_not_exported_after_a_failure(workspace: Workspace) -> None:
    workspace.spec("right", b"b\n")
    envelope = workspace.diff(mode="revisions", leftRevision="none", rightRevision="right")
    assert error(envelope) == ("command_failed", "export")
    assert workspace.commands() == ["cat"]


@pytest.mark.parametrize(
    ("left", "right", "status"),
    [
        (b"a\0b", b"a\0b", "binary-unchanged"),
        (b"a\0b", b"a\0c", "binary-different"),
        (b"\xff\n", b"\xff\n", "binary-unchanged"),
        (b"\xff\n", b"a\n", "binary-different"),
        (b"a\n", b"\xed\xa0\x80", "binary-different"),
        (b"x" * 10_000 + b"\0", b"x" * 10_000 + b"\0", "binary-unchanged"),
    ],
)
@pytest.mark.req("PDIFF-054")
def test_what_is_no_text_is_compared_by_bytes(
    workspace: Workspace, left: bytes, right: bytes, status: str
) -> None:
    workspace.spec("left", left)
    workspace.spec("right", right)
    workspace.use_stand_in_diff()
    data = workspace.diff(mode="revisions", leftRevision="left", rightRevision="right")["data"]
    assert data["status"] == status
    assert data["backend"] == {"kind": "byte-equality", "exitCode": None}
    assert (data["excerpt"], data["hunks"]) == (None, 0)
    assert workspace.commands() == ["cat", "cat"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        pytest.param("../x", "outside_workspace", marks=pytest.mark.req("PDIFF-044")),
        pytest.param("a/../../x", "outside_workspace", marks=pytest.mark.req("PDIFF-044")),
        pytest.param("/etc/hostname", "outside_workspace", marks=pytest.mark.req("PDIFF-044")),
        pytest.param("link", "unsafe_path", marks=pytest.mark.req("PDIFF-045")),
        pytest.param("linked/a.txt", "unsafe_path", marks=pytest.mark.req("PDIFF-045")),
        pytest.param("outside/hostname", "unsafe_path", marks=pytest.mark.req("PDIFF-044")),
        pytest.param("dangling", "unsafe_path", marks=pytest.mark.req("PDIFF-045")),
        pytest.param("directory", "not_regular_file", marks=pytest.mark.req("PDIFF-045")),
        pytest.param("fifo", "not_regular_file", marks=pytest.mark.req("PDIFF-045")),
        pytest.param("socket", "not_regular_file", marks=pytest.mark.req("PDIFF-045")),
        pytest.param("device", "not_regular_file", marks=pytest.mark.req("PDIFF-045")),
        (".plastic/plastic.selector", "unsafe_path"),
        (".PLASTIC/plastic.selector", "unsafe_path"),
        ("x/../.plastic/plastic.selector", "unsafe_path"),
        (".", "not_regular_file"),
    ],
)
@pytest.mark.parametrize("revision", [None, "rev:x"])
def test_an_unfit_path_is_refused_before_anything_starts(
    workspace: Workspace, path: str, code: str, revision: str | None
) -> None:
    root = workspace.root
    workspace.write("directory/a.txt", b"a\n")
    (root / "link").symlink_to("directory/a.txt")
    (root / "linked").symlink_to("directory")
    (root / "outside").symlink_to("/etc")
    (root / "dangling").symlink_to("nowhere")
    os.mkfifo(root / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    working = Path.cwd()
    os.chdir(root)
    try:
        listener.bind("socket")
    finally:
        os.chdir(working)
        listener.close()
    try:
        os.mknod(root / "device", 0o20600, os.makedev(1, 3))
    except PermissionError:
        if path == "device":
            pytest.skip("only root may make a device")
    more = {} if revision is None else {"revision": revision}
    assert error(workspace.file(path, **more)) == (code, "request")
    assert workspace.calls() == []


def test_an_absolute_path_and_a_roundabout_one_are_the_same(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    for path in (f"{workspace.root}/{PATH}", "./Assets//x/../Example.txt"):
        assert workspace.file(path)["data"]["right"]["path"] == PATH


def test_an_absent_local_file_fails(workspace: Workspace) -> None:
    workspace.spec("rev:x", b"a\n")
    assert error(workspace.file("none.txt", revision="rev:x")) == ("not_regular_file", "snapshot")


@pytest.mark.req("PDIFF-045")
def test_a_file_that_becomes_a_link_during_the_call_fails(workspace: Workspace) -> None:
    workspace.may_change_workspace = True
    workspace.change(PATH, b"a\n", b"b\n")
    local = workspace.root / PATH
    real = comparison.read_below

    def exchanged(root: Path, path: str, limit: int) -> object:
        if root == workspace.root:
            local.rename(local.with_name("aside"))
            local.symlink_to("aside")
        return real(root, path, limit)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(comparison, "read_below", exchanged)
        assert error(workspace.file(PATH)) == ("unsafe_path", "snapshot")


@pytest.mark.parametrize("effect", ["grow", "touch", "replace", "rename-directory", "remove"])
@pytest.mark.req("PDIFF-046")
def test_a_file_that_changes_while_it_is_read_fails(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, effect: str
) -> None:
    workspace.may_change_workspace = True
    content = b"x" * 3 * MIB
    workspace.change(PATH, content, content)
    local = workspace.root / PATH
    effects = {
        "grow": lambda: local.write_bytes(content + b"y"),
        "touch": lambda: os.utime(local, ns=(1, 1)),
        "replace": lambda: (local.unlink(), local.write_bytes(content)),
        "rename-directory": lambda: (
            local.parent.rename(workspace.root / "Other"),
            local.parent.mkdir(),
            local.write_bytes(content),
        ),
        "remove": local.unlink,
    }
    real = os.read
    reads = 0

    def disturbed(descriptor: int, count: int) -> bytes:
        nonlocal reads
        part = real(descriptor, count)
        if Path(f"/proc/self/fd/{descriptor}").readlink() == local and len(part) > 1000:
            reads += 1
            if reads == 2:
                effects[effect]()
        return part

    monkeypatch.setattr(os, "read", disturbed)
    assert error(workspace.file(PATH)) == ("file_changed", "snapshot")
    assert reads >= 2


@pytest.mark.req("PDIFF-046")
def test_a_file_that_goes_away_between_status_and_snapshot_fails(workspace: Workspace) -> None:
    workspace.may_change_workspace = True
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.fault("cat", removeLocal=str(workspace.root / PATH))
    assert error(workspace.file(PATH)) == ("file_changed", "snapshot")


@pytest.mark.req("PDIFF-047")
def test_an_edit_after_the_snapshot_changes_nothing(workspace: Workspace) -> None:
    workspace.may_change_workspace = True
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.use_stand_in_diff()
    workspace.fault("diff-program", touchLocal=str(workspace.root / PATH))
    data = workspace.file(PATH)["data"]
    assert (workspace.root / PATH).read_bytes() == b"b\ntouched\n"
    assert data["right"]["bytes"] == 2
    assert data["excerpt"]["text"].endswith("-a\n+b\n")


@pytest.mark.req("PDIFF-070")
def test_a_side_of_4_mib_is_compared_and_one_byte_more_fails(workspace: Workspace) -> None:
    line = b"0123456789abcde\n"
    whole = line * (LIMIT // len(line))
    workspace.load("whole.txt", whole)
    data = workspace.file("whole.txt")["data"]
    assert (data["status"], data["left"]["bytes"], data["right"]["bytes"]) == (
        "unchanged", LIMIT, LIMIT,
    )  # fmt: skip
    workspace.spec("small", b"a\n")
    workspace.write("over.txt", whole + b"\n")
    envelope = workspace.file("over.txt", revision="small")
    assert error(envelope) == ("local_oversized", "snapshot")
    workspace.spec("over", whole + b"\n")
    envelope = workspace.file("whole.txt", revision="over")
    assert error(envelope) == ("export_oversized", "export")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"noExport": True}, "export_missing"),
        ({"exportSymlink": True}, "export_missing"),
        ({"exportDirectory": True}, "export_missing"),
        ({"exportFifo": True}, "export_missing"),
        ({"oversizeExport": LIMIT + 1}, "export_oversized"),
        ({"oversizeExport": 3 * LIMIT}, "export_oversized"),
    ],
)
@pytest.mark.req("PDIFF-058")
def test_an_export_that_is_no_file_within_the_bound_fails(
    workspace: Workspace, fault: dict[str, object], code: str
) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.fault("cat", **fault)
    envelope = workspace.file(PATH)
    assert error(envelope) == (code, "export")
    assert envelope["data"] is None
    assert workspace.commands() == ["status", "fileinfo", "ls", "cat"]


@pytest.mark.req("PDIFF-059", "PDIFF-043")
def test_a_cleanup_that_fails_is_no_success(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.use_stand_in_diff()
    workspace.fault("diff-program", replaceOwned=True)
    envelope = workspace.file(PATH)
    assert error(envelope) == ("cleanup_failed", "cleanup")
    assert envelope["ok"] is False
    assert envelope["data"]["status"] == "changed"
    cleanup = envelope["data"]["cleanup"]
    directory = Path(cleanup.pop("recoveryDirectory"))
    assert cleanup == {
        "attempted": True,
        "complete": False,
        "retained": True,
        "reason": "remove-failed",
    }
    assert directory.is_symlink()
    workspace.retained = [directory, Path(f"{directory}-aside")]


def test_an_unexpected_exception_leaves_no_directory(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.save()

    def full(*_: object) -> None:
        raise OSError("no space is left")

    monkeypatch.setattr("patchdiff.plastic.unified.write_new", full)
    with pytest.raises(OSError, match="no space"):
        plastic_diff({"mode": "file", "path": PATH}, workspace.programs, workspace.limits)


def test_a_failed_removal_is_told_by_its_directory(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    real = staging.shutil.rmtree

    def refused(path: Path) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(staging.shutil, "rmtree", refused)
    envelope = workspace.file(PATH)
    monkeypatch.undo()
    assert error(envelope) == ("cleanup_failed", "cleanup")
    real(envelope["data"]["cleanup"]["recoveryDirectory"])


@pytest.mark.req("PDIFF-085")
def test_the_workspace_is_the_one_that_contains_the_directory(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.save()
    for place in (workspace.root / "Assets", workspace.root):
        programs = type(workspace.programs)(client=workspace.programs.client, workspace=place)
        found = plastic_diff({"mode": "file", "path": PATH}, programs, workspace.limits)
        assert found["data"]["right"]["path"] == PATH
    for place in (workspace.base, workspace.base / "none"):
        programs = type(workspace.programs)(client=workspace.programs.client, workspace=place)
        found = plastic_diff({"mode": "file", "path": PATH}, programs, workspace.limits)
        assert error(found) == ("not_a_workspace", "workspace")


@pytest.mark.req("PDIFF-078", "PDIFF-079")
def test_an_excerpt_counts_code_units_and_splits_no_pair(workspace: Workspace) -> None:
    header = "--- left\n+++ right\n@@ -0,0 +1 @@\n+"
    for extra in range(4):
        text = "a" * extra + "\U0001f600" * 400
        workspace.write("new.txt", text.encode() + b"\n")
        workspace.spec("empty", b"")
        found = workspace.file("new.txt", revision="empty", maxChars=500)
        source = len(header) + extra + 800 + 1
        excerpt = found["data"]["excerpt"]
        assert excerpt["sourceUtf16"] == source
        assert excerpt["keptUtf16"] + excerpt["omittedUtf16"] == source
        assert excerpt["truncated"] is True
        assert found["completeness"]["projection"] == "truncated"
        encoded = excerpt["text"].encode("utf-16-le")
        assert len(encoded) // 2 == excerpt["keptUtf16"] + excerpt["markerUtf16"] <= 500
        kept = encoded[: 2 * excerpt["keptUtf16"]].decode("utf-16-le")
        assert (header + text + "\n").startswith(kept)
        # nothing but a pair that did not fit is missing
        assert excerpt["keptUtf16"] >= 500 - excerpt["markerUtf16"] - 2


@pytest.mark.parametrize("difference", [-1, 0, 1])
@pytest.mark.req("PDIFF-078")
def test_an_excerpt_at_its_bound(workspace: Workspace, difference: int) -> None:
    frame = len("--- left\n+++ right\n@@ -0,0 +1 @@\n+\n")
    workspace.write("new.txt", b"a" * (8_000 + difference - frame) + b"\n")
    workspace.spec("empty", b"")
    excerpt = workspace.file("new.txt", revision="empty")["data"]["excerpt"]
    assert excerpt["sourceUtf16"] == 8_000 + difference
    assert excerpt["truncated"] is (difference > 0)
    assert len(excerpt["text"]) <= 8_000


@pytest.mark.req("PDIFF-076")
def test_an_envelope_over_its_bound_gets_a_shorter_excerpt(workspace: Workspace) -> None:
    left, right = "l" + "\u6f22" * 4095, "r" + "\u6f22" * 4095
    workspace.spec(left, b"")
    workspace.spec(right, b"\x01" * 30_000 + b"\n")
    envelope = workspace.diff(
        mode="revisions", leftRevision=left, rightRevision=right, maxChars=20_000
    )
    size = len(json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode())
    assert 131_072 - 64 < size <= 131_072
    assert envelope["ok"]
    assert envelope["completeness"] == {"read": "complete", "projection": "truncated"}
    assert envelope["data"]["left"]["selector"] == left
    assert envelope["data"]["right"]["selector"] == right
