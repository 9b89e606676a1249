"""Which paths a workspace admits, and walks that follow no link."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchdiff.workspace_paths import WorkspaceRefusal, components, open_directory

UNSAFE = {
    "absolute": ["/", "/etc/passwd", "//x", "/a/../b"],
    "escaping": ["..", "../x", "a/..", "a/../b", "../../etc/passwd", "a/b/../../../c"],
    "dot or empty": [".", "./a", "a/./b", "a/.", "a//b", "a/", "a//", ""],
    "reserved": [
        "nul", "NUL", "con.txt", "aux", "a/PRN", "com1", "com9.txt", "LPT1", "lpt\xb2", "conin$",
        ".git/config", "a/.git/hooks/x", ".GIT", ".hg/x", ".svn", ".plastic/x",
        ".patchdiff-staging", "a/.patchdiff-x", ".PatchDiff",
    ],
    "ambiguous": [
        "a\0b", "a\nb", "a\x7f", "a\x85", "a\u2028", "a\u202eb", "a\u200bb", "\ufeffa", "a\xad",
        "a\\b", "..\\x", "C:x", "a:stream", "~", "~/x", "~root/x", " a", "a ", "a/ b", "a\u3000",
        "a.", "a../b", "...", "e\u0301", "a" * 256, "\u4e2d" * 86, "a/" * 2_048 + "a",
    ],
}  # fmt: skip
SAFE = [
    "a", "a.txt", "a/b/c.md", "..a", "a..b", ".env", "...a", ".github/x.yml", ".gitignore", "a b",
    "a~", "console", "com", "com10", "null", "nulx", "auxiliary.c", "\xe9.txt",
    "\u4e2d\u6587/\U0001f600",
    "\u0645\u06cc\u200c\u062e", "-rf", "*", "a?b", "$HOME", "a" * 255, "\u4e2d" * 85,
    "a/" * 2_047 + "ab", "patchdiff", ".patch",
]  # fmt: skip


@pytest.mark.req("WORK-034", "WORK-035", "WORK-036")
@pytest.mark.parametrize(("kind", "path"), [(k, p) for k, paths in UNSAFE.items() for p in paths])
def test_what_is_not_one_place_below_the_root_is_refused(kind: str, path: str) -> None:
    with pytest.raises(WorkspaceRefusal) as refused:
        components(path)
    assert refused.value.code == "workspace_path_unsafe"
    # the caller's text is not repeated
    assert len(refused.value.detail) < 250


@pytest.mark.parametrize("path", SAFE)
def test_everything_else_is_taken_as_it_is(path: str) -> None:
    assert "/".join(components(path)) == path


@given(
    st.lists(st.sampled_from([*"./\\ab~: ", "\0", "\u202e", "..", "/.."]), max_size=12).map("".join)
)
def test_no_path_that_is_admitted_leads_out_of_the_root(path: str) -> None:
    try:
        parts = components(path)
    except WorkspaceRefusal:
        return
    reached = os.path.normpath(Path("/top", *parts))
    assert reached == f"/top/{path}"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "root"
    (place / "a" / "b").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (place / "file").write_bytes(b"")
    (place / "out").symlink_to(tmp_path / "outside")
    (place / "in").symlink_to("a")
    (place / "dangling").symlink_to("nowhere")
    os.mkfifo(place / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        # an address has room for a short path only
        monkeypatch.chdir(place)
        listener.bind("socket")
    return place


@pytest.mark.req("WORK-037")
@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize(
    ("parts", "code"),
    [
        (["out"], "workspace_path_unsafe"),
        (["in"], "workspace_path_unsafe"),
        (["in", "b"], "workspace_path_unsafe"),
        (["dangling"], "workspace_path_unsafe"),
        (["file"], "workspace_not_regular_file"),
        (["pipe"], "workspace_not_regular_file"),
        (["socket"], "workspace_not_regular_file"),
    ],
)
def test_a_walk_follows_no_link(root: Path, parts: list[str], code: str, create: bool) -> None:
    handle = os.open(root, os.O_RDONLY)
    try:
        with pytest.raises(WorkspaceRefusal) as refused:
            open_directory(handle, parts, create=create)
    finally:
        os.close(handle)
    assert refused.value.code == code


def test_a_walk_leads_to_the_directory_itself_and_leaves_no_handle(root: Path) -> None:
    handle = os.open(root, os.O_RDONLY)
    known = len(list(Path("/dev/fd").iterdir()))
    try:
        for parts in ([], ["a"], ["a", "b"]):
            found = open_directory(handle, parts, create=False)
            assert os.path.samestat(os.fstat(found), root.joinpath(*parts).stat())
            os.close(found)
        with pytest.raises(FileNotFoundError):
            open_directory(handle, ["a", "new"], create=False)
        found = open_directory(handle, ["a", "new", "er"], create=True)
        assert os.path.samestat(os.fstat(found), (root / "a/new/er").stat())
        os.close(found)
        assert len(list(Path("/dev/fd").iterdir())) == known
    finally:
        os.close(handle)
    assert (root / "a/new").stat().st_mode & 0o777 == 0o700
