"""patchdiff_initialize_target with from_workspace: targets made of files."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from patchdiff import Service
from patchdiff.workspace_files import LARGEST_IMPORT
from tests.support.documents import row_counts
from tests.support.stdio import StdioClient
from tests.support.workspace import Failing, Managed, baseline, before, sha256_of, tree

INITIALIZE = "patchdiff_initialize_target"


@pytest.mark.req("WORK-001", "WORK-004")
@pytest.mark.parametrize(
    ("content", "style", "text"),
    [
        (b"alpha\r\nbeta\r\n", "crlf", "alpha\nbeta\n"),
        (b"alpha\nbeta", "lf", "alpha\nbeta"),
        (b"a\rb\r", "cr", "a\nb\n"),
        (b"a\r\nb\n", "mixed", "a\nb\n"),
        (b"", "none", ""),
        ("\ufeff\u4e2d\U0001f600".encode(), "none", "\ufeff\u4e2d\U0001f600"),
        (b"a\xe2\x80\xa8b\x0c", "none", "a\u2028b\x0c"),
    ],
)
def test_a_file_becomes_a_target(
    managed: Managed, admin: psycopg.Connection[Any], content: bytes, style: str, text: str
) -> None:
    path = "docs/deep/f.txt"
    (managed.root / "docs/deep").mkdir(parents=True)
    (managed.root / path).write_bytes(content)
    answer = managed.open(path, content_type="text/markdown")
    assert (answer["status"], answer["version"], answer["filename"]) == ("ok", 0, path)
    assert answer["target_type"] == "text/markdown"
    facts = answer["source_line_endings"]
    assert facts["style"] == style
    assert facts["source_sha256"] == sha256_of(content)
    assert facts["source_utf8_bytes"] == len(content)
    target = answer["target_file_id"]
    assert managed.service.get_target(target)["current_content"] == text
    assert answer["current_hash"] == sha256_of(text.encode())
    assert baseline(admin, target) == (path, sha256_of(content), len(content))
    root = managed.root.stat()
    assert admin.execute(
        "select root_device, root_inode, snapshot_id from patchdiff.workspace_files"
        " where target_file_id = %s",
        [target],
    ).fetchone() == (root.st_dev, root.st_ino, None)
    assert (managed.root / path).read_bytes() == content
    again = managed.open(path)
    assert again["target_file_id"] != target


@pytest.mark.req("WORK-002")
def test_the_text_is_the_file_s_alone(managed: Managed, admin: psycopg.Connection[Any]) -> None:
    (managed.root / "f").write_bytes(b"on disk")
    assert managed.open("f", content=None)["status"] == "ok"
    assert managed.open("f")["status"] == "ok"
    counts = row_counts(admin)
    for content in ("", "on disk", "other"):
        answer = managed.open("f", content=content)
        assert (answer["status"], answer["code"]) == (
            "invalid_argument",
            "workspace_content_conflict",
        )
    assert row_counts(admin) == counts


@pytest.mark.req("WORK-003")
def test_without_a_workspace_there_is_nothing_to_import(
    service: Service, admin: psycopg.Connection[Any]
) -> None:
    counts = row_counts(admin)
    answer = service.initialize_target("f", from_workspace=True)
    assert (answer["status"], answer["code"]) == ("invalid_argument", "workspace_not_configured")
    assert row_counts(admin) == counts


@pytest.mark.req("WORK-001", "WORK-003", "WORK-012")
def test_over_stdio(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_bytes(b"a\r\n")
    client = StdioClient(
        {"PATCHDIFF_DATABASE_URL": database_url, "PATCHDIFF_WORKSPACE_ROOT": str(tmp_path)}
    )
    try:
        made = client.call_tool(INITIALIZE, {"filename": "f.txt", "from_workspace": True})
        assert made.payload["status"] == "ok"
        assert made.payload["source_line_endings"]["style"] == "crlf"
        missing = client.call_tool(INITIALIZE, {"filename": "g.txt", "from_workspace": True})
        assert missing.is_error is False
        assert (missing.payload["status"], missing.payload["code"]) == (
            "rejected",
            "workspace_file_missing",
        )
        escaping = client.call_tool(
            INITIALIZE, {"filename": f"{tmp_path}/f.txt", "from_workspace": True}
        )
        assert escaping.payload["code"] == "workspace_path_unsafe"
        assert str(tmp_path) not in made.text + missing.text + escaping.text
    finally:
        client.close()
    bare = StdioClient({"PATCHDIFF_DATABASE_URL": database_url})
    try:
        answer = bare.call(INITIALIZE, filename="f.txt", from_workspace=True)
    finally:
        bare.close()
    assert (answer["status"], answer["code"]) == ("invalid_argument", "workspace_not_configured")


@pytest.mark.req("WORK-005")
@pytest.mark.parametrize(
    "content",
    [
        b"\xff", b"abc\x80", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"a\xe2\x82",
        b"\0", b"abc\0def", "\xe9".encode("latin-1"), "a".encode("utf-16"),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_text_is_not_imported(
    managed: Managed, admin: psycopg.Connection[Any], content: bytes
) -> None:
    (managed.root / "f").write_bytes(content)
    counts = row_counts(admin)
    answer = managed.open("f")
    assert (answer["status"], answer["code"]) == ("rejected", "workspace_not_text")
    assert row_counts(admin) == counts


def refused(managed: Managed, path: str, code: str, status: str = "rejected") -> None:
    answer = managed.open(path)
    assert (answer["status"], answer["code"]) == (status, code), answer
    assert answer["failure_detail"]


@pytest.mark.req("WORK-034", "WORK-035", "WORK-036")
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../f", "a/../f", "./f", "a//f", "f/", "nul", ".git/config", "a\\f"]
)
def test_an_unsafe_path_is_refused(
    managed: Managed, admin: psycopg.Connection[Any], path: str
) -> None:
    (managed.root / "f").write_bytes(b"in")
    (managed.root.parent / "f").write_bytes(b"out")
    (managed.root / "a").mkdir()
    (managed.root / ".git").mkdir()
    (managed.root / ".git/config").write_bytes(b"x")
    counts = row_counts(admin)
    with Failing(1, "open", ever_after=True) as calls:
        refused(managed, path, "workspace_path_unsafe", "invalid_argument")
    assert calls.hit is None
    assert row_counts(admin) == counts


@pytest.mark.req("WORK-036")
def test_a_nul_in_a_path_is_refused(managed: Managed) -> None:
    (managed.root / "a").write_bytes(b"x")
    answer = managed.open("a\0b")
    assert answer["status"] == "invalid_argument"


@pytest.mark.req("WORK-037")
@pytest.mark.parametrize("path", ["link", "dangling", "out/f", "in/f", "in/b/f", "a/link", "loop"])
def test_a_link_anywhere_in_the_path_is_refused(
    managed: Managed, admin: psycopg.Connection[Any], path: str
) -> None:
    root, outside = managed.root, managed.root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"outside")
    (root / "a/b").mkdir(parents=True)
    (root / "a/f").write_bytes(b"in")
    (root / "a/b/f").write_bytes(b"in")
    (root / "in").symlink_to("a")
    (root / "out").symlink_to(outside)
    (root / "link").symlink_to("a/f")
    (root / "a/link").symlink_to(outside / "f")
    (root / "dangling").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    counts = row_counts(admin)
    refused(managed, path, "workspace_path_unsafe", "invalid_argument")
    assert row_counts(admin) == counts
    assert managed.open("a/f")["status"] == "ok"


@pytest.mark.req("WORK-039")
def test_only_regular_files_are_read(
    managed: Managed, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = managed.root
    (root / "directory").mkdir()
    (root / "file").write_bytes(b"x")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(root)
        listener.bind("socket")
        for path in ("directory", "pipe", "socket", "file/f", "pipe/f"):
            started = time.monotonic()
            refused(managed, path, "workspace_not_regular_file")
            assert time.monotonic() - started < 5
    with psycopg.connect(database_url, autocommit=True) as connection:
        devices = Managed(connection, Path("/dev"))
        answer = devices.service.initialize_target("null", from_workspace=True)
        assert answer["code"] == "workspace_not_regular_file"


def test_a_missing_file_or_directory_or_root_is_said(managed: Managed) -> None:
    refused(managed, "f", "workspace_file_missing")
    refused(managed, "a/b/f", "workspace_file_missing")
    assert tree(managed.root) == {}
    managed.root.rmdir()
    refused(managed, "f", "workspace_unavailable")
    managed.root.write_bytes(b"")
    refused(managed, "f", "workspace_unavailable")


def test_a_file_has_a_bound(managed: Managed) -> None:
    with (managed.root / "f").open("wb") as file:
        file.truncate(LARGEST_IMPORT + 1)
    refused(managed, "f", "workspace_file_too_large")
    with (managed.root / "f").open("wb") as file:
        file.truncate(LARGEST_IMPORT)
    # it is read to its end: nothing but NUL
    refused(managed, "f", "workspace_not_text")


@pytest.mark.parametrize("change", [b"longer than before", b"x", b"other"])
def test_a_file_that_changes_while_it_is_read_is_not_imported(
    managed: Managed, admin: psycopg.Connection[Any], change: bytes
) -> None:
    file = managed.root / "f"
    file.write_bytes(b"whole")
    os.utime(file, ns=(1, 1))
    counts = row_counts(admin)
    with before("read", lambda: file.write_bytes(change), number=2):
        refused(managed, "f", "external_disk_drift")
    assert row_counts(admin) == counts


@pytest.mark.req("WORK-026", "WORK-029")
def test_an_import_needs_the_lease_and_does_not_wait(managed: Managed) -> None:
    (managed.root / "a").mkdir()
    (managed.root / "a/f").write_bytes(b"x")
    (managed.root / "g").write_bytes(b"x")
    holder = os.open(managed.root / "a", os.O_RDONLY)
    try:
        # a shared one is enough against an exclusive one
        fcntl.flock(holder, fcntl.LOCK_SH)
        started = time.monotonic()
        refused(managed, "a/f", "workspace_busy")
        assert time.monotonic() - started < 2
        assert managed.open("g")["status"] == "ok"
    finally:
        os.close(holder)
    assert managed.open("a/f")["status"] == "ok"


def test_any_call_that_fails_makes_no_target(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    (managed.root / "a").mkdir()
    (managed.root / "a/f").write_bytes(b"x")
    counts = row_counts(admin)
    failed = []
    for number in range(1, 100):
        with Failing(number) as calls:
            answer = managed.open("a/f")
        if calls.hit is None:
            break
        failed.append(calls.hit)
        assert (answer["status"], answer["code"]) in (
            ("rejected", "workspace_io_error"),
            ("rejected", "workspace_unavailable"),
        )
        assert row_counts(admin) == counts
    assert answer["status"] == "ok"
    assert {"open", "flock", "stat", "read", "close"} <= set(failed)
    assert managed.open("a/f")["status"] == "ok"


def test_an_import_in_the_caller_s_transaction_is_the_caller_s(
    database_url: str, tmp_path: Path, service: Service
) -> None:
    (tmp_path / "f").write_bytes(b"x")
    with psycopg.connect(database_url) as connection:
        own = Managed(connection, tmp_path)
        connection.execute("select 1")
        target = own.imported("f")
        assert service.get_target(target)["status"] == "not_found"
        connection.rollback()
        assert service.get_target(target)["status"] == "not_found"
        assert service.get_target(own.imported("f"))["status"] == "ok"
