"""patchdiff_save with sync_workspace: what is published, what is refused, and what stays as it
was."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from patchdiff import Service
from tests.support.documents import UNKNOWN_ID, row_counts, state
from tests.support.stdio import StdioClient
from tests.support.workspace import (
    STAGING,
    Failing,
    Managed,
    baseline,
    before,
    sha256_of,
    snapshots,
    tree,
)

IDS = ("snapshot_id", "closed_editing_cycle_id", "new_editing_cycle_id")


def refused(
    managed: Managed, admin: psycopg.Connection[Any], target: str, code: str, **arguments: Any
) -> dict[str, Any]:
    """A publication that must be rejected with this code and leave disk and database alone."""
    before_state, counts = state(managed, target), row_counts(admin, target)
    known, disk = baseline(admin, target), tree(managed.root)
    answer = managed.save(target, **arguments)
    assert (answer["status"], answer["code"], answer["failure_reason"]) == (
        "rejected",
        code,
        code,
    ), answer
    assert [answer[name] for name in IDS] == [None, None, None]
    assert "workspace_sync" not in answer
    assert tree(managed.root) == disk
    assert state(managed, target) == before_state
    assert row_counts(admin, target) == counts
    assert baseline(admin, target) == known
    assert managed.connection.info.transaction_status == TransactionStatus.IDLE
    return answer


@pytest.mark.req("WORK-006", "WORK-011", "WORK-012", "WORK-013", "WORK-014", "WORK-015", "WORK-016")
def test_a_save_publishes(managed: Managed, admin: psycopg.Connection[Any]) -> None:
    file = managed.root / "docs/f.txt"
    target = managed.imported("docs/f.txt", b"alpha\r\nbeta\r\n")
    # unedited, and again: every publication is the next one's baseline
    for number in (1, 2):
        answer = managed.saved(target)
        assert answer["workspace_sync"] == {
            "synced_path": "docs/f.txt",
            "disk_sha256": sha256_of(b"alpha\r\nbeta\r\n"),
            "bytes_written": 13,
            "content_eol": "crlf",
            "publication": "installed",
            "durability": "confirmed",
        }
        assert file.read_bytes() == b"alpha\r\nbeta\r\n"
        assert snapshots(admin, target) == number
    managed.replaced(target, "alpha\n\u4e2d\n")
    expected = "alpha\r\n\u4e2d\r\n".encode()
    answer = managed.saved(target, expected_target_version=1, export_after_save=True)
    assert answer["workspace_sync"] == {
        "synced_path": "docs/f.txt",
        "disk_sha256": sha256_of(expected),
        "bytes_written": 12,
        "content_eol": "crlf",
        "publication": "installed",
        "durability": "confirmed",
    }
    assert (answer["version"], answer["current_hash"]) == (1, sha256_of("alpha\n\u4e2d\n".encode()))
    assert answer["export"]["content"] == "alpha\n\u4e2d\n"
    assert None not in [answer[name] for name in IDS]
    assert tree(managed.root) == {"docs": "directory", "docs/f.txt": expected}
    assert baseline(admin, target) == ("docs/f.txt", sha256_of(expected), 12)
    assert admin.execute(
        "select snapshot_id::text from patchdiff.workspace_files where target_file_id = %s",
        [target],
    ).fetchone() == (answer["snapshot_id"],)
    assert managed.call("patchdiff_replay", target_file_id=target)["status"] == "success"


@pytest.mark.req("WORK-006", "WORK-007")
@pytest.mark.parametrize("default", [False, True])
def test_the_call_decides_and_null_follows_the_default(
    managed: Managed, admin: psycopg.Connection[Any], default: bool
) -> None:
    own = Managed(managed.connection, managed.root, sync_on_save=default)
    target = own.imported("f", b"a")
    for number, (asked, expected) in enumerate(
        [(True, True), (False, False), (None, default), ("omitted", default)], 1
    ):
        text = f"text {number}"
        own.replaced(target, text)
        known = (own.root / "f").read_bytes()
        arguments = {} if asked == "omitted" else {"sync_workspace": asked}
        answer = own.service.save(target, **arguments)
        assert answer["status"] == "saved"
        assert ("workspace_sync" in answer) is expected
        assert (own.root / "f").read_bytes() == (text.encode() if expected else known)
        assert snapshots(admin, target) == number


@pytest.mark.req("WORK-006", "WORK-007", "WORK-012", "WORK-045")
@pytest.mark.parametrize("switch", [None, "0", "1"])
def test_the_variable_is_the_default(database_url: str, tmp_path: Path, switch: str | None) -> None:
    client = StdioClient(
        {
            "PATCHDIFF_DATABASE_URL": database_url,
            "PATCHDIFF_WORKSPACE_ROOT": str(tmp_path),
            "PATCHDIFF_WORKSPACE_SYNC_ON_SAVE": switch,
        }
    )
    try:
        for name, asked, expected in [
            ("omitted", {}, switch == "1"),
            ("null", {"sync_workspace": None}, switch == "1"),
            ("false", {"sync_workspace": False}, False),
            ("true", {"sync_workspace": True}, True),
        ]:
            made = client.call("patchdiff_initialize_target", filename=name, content="x\n")
            saved = client.call_tool(
                "patchdiff_save", {"target_file_id": made["target_file_id"], **asked}
            )
            assert saved.payload["status"] == "saved"
            assert ("workspace_sync" in saved.payload) is expected
            assert (tmp_path / name).exists() is expected
            assert str(tmp_path) not in saved.text
    finally:
        client.close()


@pytest.mark.req("WORK-008")
def test_arguments_that_cannot_mean_anything(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    target = managed.imported("f", b"a\r\n")
    managed.replaced(target, "b\n")
    counts = row_counts(admin)
    for value in ("original_text", "lf", "cr", "CRLF", "crlf ", "", None, 1, True, [], {}):
        for sync in (True, False, None):
            answer = managed.save(target, workspace_eol_format=value, sync_workspace=sync)
            assert answer["status"] == "invalid_argument", value
    for value in (0, 1, "true", "", [], {}):
        assert managed.save(target, sync_workspace=value)["status"] == "invalid_argument", value
    assert managed.save("x")["code"] == "invalid_target_id"
    assert managed.save(UNKNOWN_ID)["status"] == "not_found"
    assert row_counts(admin) == counts
    assert (managed.root / "f").read_bytes() == b"a\r\n"
    assert managed.connection.info.transaction_status == TransactionStatus.IDLE


def test_without_a_workspace_nothing_is_published_or_saved(
    service: Service, admin: psycopg.Connection[Any]
) -> None:
    target = service.initialize_target("f", "x")["target_file_id"]
    answer = service.save(target, sync_workspace=True)
    assert (answer["status"], answer["code"]) == ("invalid_argument", "workspace_not_configured")
    assert snapshots(admin, target) == 0
    assert service.save(target)["status"] == "saved"


@pytest.mark.req("WORK-008", "WORK-015", "WORK-016", "WORK-017")
@pytest.mark.parametrize(
    ("source", "style", "original"),
    [
        (b"a\r\nb\r\n", "crlf", b"a\r\nb\r\n"),
        (b"a\nb\n", "lf", b"a\nb\n"),
        (b"a\rb\r", "cr", b"a\rb\r"),
        (b"ab", "lf", b"ab"),
        ("\ufeffa\r\n".encode(), "crlf", "\ufeffa\r\n".encode()),
    ],
)
def test_line_ends_are_those_that_are_asked_for(
    managed: Managed, source: bytes, style: str, original: bytes
) -> None:
    target = managed.imported("f", source)
    text = managed.service.get_target(target)["current_content"].encode()
    for arguments, content, eol in [
        ({}, original, style),
        ({"workspace_eol_format": "canonical_lf"}, text, "lf"),
        ({"workspace_eol_format": "crlf"}, text.replace(b"\n", b"\r\n"), "crlf"),
        ({"workspace_eol_format": "original_eol"}, original, style),
    ]:
        sync = managed.saved(target, **arguments)["workspace_sync"]
        assert sync["content_eol"] == eol
        assert (sync["disk_sha256"], sync["bytes_written"]) == (sha256_of(content), len(content))
        assert (managed.root / "f").read_bytes() == content


@pytest.mark.req("WORK-048", "WORK-018", "WORK-017")
def test_mixed_line_ends_are_published_in_a_chosen_form_only(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    target = managed.imported("f", b"a\r\nb\n")
    refused(managed, admin, target, "original_eol_unrecoverable")
    with Failing(1_000) as calls:
        managed.save(target)
    # the root is opened, looked at and closed, and that is all
    assert calls.calls == ["open", "fstat", "close"]
    managed.saved(target, workspace_eol_format="crlf")
    assert (managed.root / "f").read_bytes() == b"a\r\nb\r\n"
    managed.saved(target, workspace_eol_format="canonical_lf")
    assert (managed.root / "f").read_bytes() == b"a\nb\n"
    # the style stays that of the import
    refused(
        managed, admin, target, "original_eol_unrecoverable", workspace_eol_format="original_eol"
    )


@pytest.mark.req("WORK-009", "WORK-018")
@pytest.mark.parametrize(
    ("guards", "reason"),
    [
        ({"expected_target_version": 0}, "target_version_mismatch"),
        ({"expected_target_version": 2}, "target_version_mismatch"),
        ({"expected_current_hash": sha256_of(b"a\r\nb\n")}, "target_hash_mismatch"),
        ({"expected_target_version": "1"}, "context_invalid"),
        ({"expected_current_hash": "x"}, "context_invalid"),
        ({"expected_target_version": 2**70}, "context_invalid"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("source", [b"a\n", b"a\r\nb\n"])
def test_a_guard_that_does_not_hold_publishes_nothing(
    managed: Managed,
    admin: psycopg.Connection[Any],
    guards: dict[str, Any],
    reason: str,
    source: bytes,
) -> None:
    target = managed.imported("f", source)
    managed.replaced(target, "b\n")
    known, counts = baseline(admin, target), row_counts(admin, target)
    # a guard is judged before anything of the file, its line ends included
    answer = managed.save(target, **guards)
    assert (answer["status"], answer["failure_reason"]) == ("rejected", reason)
    assert [answer[name] for name in IDS] == [None, None, None]
    assert tree(managed.root) == {"f": source}
    assert (baseline(admin, target), row_counts(admin, target)) == (known, counts)


@pytest.mark.req("WORK-010")
@pytest.mark.parametrize("default", [False, True])
def test_a_publication_commits_by_itself_or_not_at_all(
    database_url: str, tmp_path: Path, admin: psycopg.Connection[Any], default: bool
) -> None:
    with psycopg.connect(database_url) as connection:
        own = Managed(connection, tmp_path, sync_on_save=default)
        target = own.imported("f", b"a")
        own.replaced(target, "b")
        connection.execute("select 1")
        asked = None if default else True
        with Failing(1, ever_after=True) as calls:
            answer = own.save(target, sync_workspace=asked)
        assert calls.calls == []
        assert (answer["status"], answer["code"]) == (
            "rejected",
            "workspace_requires_owned_transaction",
        )
        assert connection.info.transaction_status == TransactionStatus.INTRANS
        assert own.service.save(target, sync_workspace=False)["status"] == "saved"
        connection.rollback()
        assert tree(tmp_path) == {"f": b"a"}
        assert snapshots(admin, target) == 0
        # idle again, it is the service's
        assert own.save(target, sync_workspace=asked)["status"] == "saved"
        assert connection.info.transaction_status == TransactionStatus.IDLE
        assert (snapshots(admin, target), tree(tmp_path)) == (1, {"f": b"b"})


@pytest.mark.req("WORK-040", "WORK-031", "WORK-018")
@pytest.mark.parametrize("edit", [b"edited", b"alphA\n", b"", b"alpha\n\n", b"alpha\r\n"])
def test_what_others_wrote_is_kept(
    managed: Managed, admin: psycopg.Connection[Any], edit: bytes
) -> None:
    target = managed.imported("f", b"alpha\n")
    managed.replaced(target, "mine\n")
    (managed.root / "f").write_bytes(edit)
    for _ in range(2):
        refused(managed, admin, target, "external_disk_drift")
        assert (managed.root / "f").read_bytes() == edit
    fresh = managed.imported("f")
    managed.replaced(fresh, "mine too\n")
    managed.saved(fresh, workspace_eol_format="canonical_lf")
    assert (managed.root / "f").read_bytes() == b"mine too\n"
    # the old target knows nothing of that
    refused(managed, admin, target, "external_disk_drift")


@pytest.mark.req("WORK-041", "WORK-018")
def test_what_others_write_while_it_is_staged_is_kept(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    target = managed.imported("f", b"alpha\n")
    managed.replaced(target, "mine\n")
    file = managed.root / "f"
    for step in ("fchmod", "write", "fsync"):
        with before(step, lambda: file.write_bytes(b"theirs")):
            answer = managed.save(target)
        assert (answer["status"], answer["code"]) == ("rejected", "external_disk_drift")
        assert tree(managed.root) == {"f": b"theirs"}
        assert snapshots(admin, target) == 0
        file.write_bytes(b"alpha\n")
    with before("fsync", file.unlink):
        assert managed.save(target)["code"] == "external_disk_drift"
    assert tree(managed.root) == {}
    file.write_bytes(b"alpha\n")
    # the same bytes in another file are what the target knows
    (managed.root / "other").write_bytes(b"alpha\n")
    with before("fsync", lambda: (managed.root / "other").replace(file)):
        managed.saved(target)
    assert tree(managed.root) == {"f": b"mine\n"}


@pytest.mark.req("WORK-047")
def test_a_file_that_is_gone_is_not_made_again(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    target = managed.imported("a/b/f", b"x")
    (managed.root / "a/b/f").unlink()
    refused(managed, admin, target, "external_disk_drift")
    (managed.root / "a/b").rmdir()
    refused(managed, admin, target, "external_disk_drift")
    (managed.root / "a").rmdir()
    refused(managed, admin, target, "external_disk_drift")
    assert tree(managed.root) == {}


@pytest.mark.req("WORK-045", "WORK-044", "WORK-013")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_a_text_of_the_call_becomes_a_new_file(
    managed: Managed, admin: psycopg.Connection[Any], umask: int
) -> None:
    flat, deep = managed.inline("f.txt", "a\r\nb\r\n"), managed.inline("x/y/f.txt", "\u4e2d")
    known = os.umask(umask)
    try:
        sync = managed.saved(flat)["workspace_sync"]
        if umask != 0o777:
            managed.saved(deep)
    finally:
        os.umask(known)
    assert (sync["synced_path"], sync["content_eol"], sync["bytes_written"]) == (
        "f.txt",
        "crlf",
        6,
    )
    assert (managed.root / "f.txt").read_bytes() == b"a\r\nb\r\n"
    assert (managed.root / "f.txt").stat().st_mode & 0o7777 == 0o600
    assert (managed.root / "f.txt").stat().st_nlink == 1
    if umask != 0o777:
        assert (managed.root / "x/y/f.txt").read_bytes() == "\u4e2d".encode()
        assert (managed.root / "x/y/f.txt").stat().st_mode & 0o7777 == 0o600
    # from now on it is the target's file
    assert baseline(admin, flat) == ("f.txt", sha256_of(b"a\r\nb\r\n"), 6)
    managed.replaced(flat, "c\n")
    managed.saved(flat)
    assert (managed.root / "f.txt").read_bytes() == b"c\r\n"
    (managed.root / "f.txt").write_bytes(b"theirs")
    refused(managed, admin, flat, "external_disk_drift")


@pytest.mark.req("WORK-046", "WORK-034", "WORK-035", "WORK-036")
@pytest.mark.parametrize(
    "filename",
    [
        "/tmp/f", "../f", "a/../../f", "..", ".", "./f", "a//f", "a/", "nul", "NUL.txt",
        ".git/config", "a\\b", "C:f", "a\nb", "\u202ef", "f ", "f.", "~/f", STAGING,
    ],
)  # fmt: skip
def test_a_file_name_that_is_no_safe_path_is_not_published(
    managed: Managed, admin: psycopg.Connection[Any], filename: str
) -> None:
    target = managed.inline(filename)
    around = tree(managed.root.parent)
    refused(managed, admin, target, "workspace_path_unsafe")
    assert tree(managed.root.parent) == around
    assert managed.service.save(target)["status"] == "saved"


@pytest.mark.req("WORK-042")
def test_a_file_that_is_there_already_is_kept(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    target = managed.inline("f", "new\n")
    # even one with the very same bytes
    for theirs in (b"theirs", b"new\n", b""):
        (managed.root / "f").write_bytes(theirs)
        refused(managed, admin, target, "external_disk_drift")
    (managed.root / "f").unlink()
    managed.saved(target)


@pytest.mark.req("WORK-042", "WORK-018", "WORK-019")
@pytest.mark.parametrize("step", ["open", "fchmod", "fsync", "link"])
def test_a_file_that_appears_is_kept(
    managed: Managed, admin: psycopg.Connection[Any], step: str
) -> None:
    (managed.root / "d").mkdir()
    target = managed.inline("d/f", "new\n")
    file = managed.root / "d/f"
    with before(step, lambda: file.write_bytes(b"theirs")):
        answer = managed.save(target)
    assert (answer["status"], answer["code"]) == ("rejected", "external_disk_drift")
    assert tree(managed.root) == {"d": "directory", "d/f": b"theirs"}
    assert snapshots(admin, target) == 0
    assert baseline(admin, target) is None


@pytest.mark.req("WORK-019")
def test_directories_that_were_made_may_remain_and_nothing_else(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    target = managed.inline("a/b/f", "new\n")
    with Failing(1, "link"):
        answer = managed.save(target)
    assert (answer["status"], answer["code"]) == ("rejected", "workspace_io_error")
    assert tree(managed.root) == {"a": "directory", "a/b": "directory"}
    assert snapshots(admin, target) == 0
    managed.saved(target)
    assert (managed.root / "a/b/f").read_bytes() == b"new\n"


@pytest.mark.req("WORK-043")
@pytest.mark.parametrize("mode", [0o755, 0o644, 0o600, 0o444, 0o400, 0o666, 0o1755, 0o4755, 0o2640])
def test_a_file_keeps_its_mode(managed: Managed, mode: int) -> None:
    target = managed.imported("f", b"a")
    (managed.root / "f").chmod(mode)
    managed.replaced(target, "b")
    known = os.umask(0o077)
    try:
        managed.saved(target)
    finally:
        os.umask(known)
    assert (managed.root / "f").read_bytes() == b"b"
    assert (managed.root / "f").stat().st_mode & 0o7777 == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_keeps_its_owner(managed: Managed) -> None:
    target = managed.imported("f", b"a")
    os.chown(managed.root / "f", 12_345, 23_456)
    (managed.root / "f").chmod(0o4750)
    managed.saved(target)
    found = (managed.root / "f").stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (12_345, 23_456, 0o4750)


def test_set_id_bits_are_not_given_to_another_owner(
    managed: Managed, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = managed.imported("f", b"a")
    (managed.root / "f").chmod(0o6755)
    fstat = os.fstat

    def of_another_owner(file: int) -> os.stat_result:
        found = list(fstat(file))
        if found[0] & 0o7777 == 0o6755:
            found[4] += 1
        return os.stat_result(found)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "no")

    monkeypatch.setattr(os, "fstat", of_another_owner)
    monkeypatch.setattr(os, "fchown", refuse)
    managed.saved(target)
    monkeypatch.undo()
    assert (managed.root / "f").stat().st_mode & 0o7777 == 0o755


@pytest.mark.req("WORK-032", "WORK-033")
def test_the_root_is_known_by_what_it_is_not_where(
    managed: Managed, admin: psycopg.Connection[Any], tmp_path: Path
) -> None:
    target, new = managed.imported("a/f", b"x\n"), managed.inline("a/n", "new\n")
    managed.saved(new)
    moved = tmp_path / "moved"
    shutil.copytree(managed.root, tmp_path / "copy")
    managed.root.rename(moved)
    there = Managed(managed.connection, moved)
    for each in (target, new):
        there.replaced(each, "moved\n")
        there.saved(each)
    assert tree(moved) == {"a": "directory", "a/f": b"moved\n", "a/n": b"moved\n"}
    # the copy in the root's old place, then under its own name
    shutil.copytree(moved, managed.root)
    for place in (managed.root, tmp_path / "copy"):
        elsewhere = Managed(managed.connection, place)
        for each in (target, new):
            there.replaced(each, f"{place.name}\n")
            refused(elsewhere, admin, each, "workspace_root_mismatch")
    assert (managed.root / "a/f").read_bytes() == b"moved\n"
    assert (tmp_path / "copy/a/f").read_bytes() == b"x\n"
    elsewhere = Managed(managed.connection, tmp_path / "copy")
    elsewhere.saved(elsewhere.imported("a/f"))
    there.saved(target)


@pytest.mark.req("WORK-037", "WORK-018")
def test_links_on_the_way_to_a_destination_are_refused(
    managed: Managed, admin: psycopg.Connection[Any], tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "d").mkdir(parents=True)
    (outside / "f").write_bytes(b"x\n")
    for path in ("d/f", "f"):
        target = managed.imported(path, b"x\n")
        managed.replaced(target, "mine\n")
        name = path.split("/")[0]
        (managed.root / name).rename(managed.root / "away")
        (managed.root / name).symlink_to(outside / "f" if path == "f" else outside)
        refused(managed, admin, target, "workspace_path_unsafe")
        (managed.root / name).unlink()
        shutil.rmtree(managed.root / "away", ignore_errors=True)
    (managed.root / "out").symlink_to(outside)
    (managed.root / "dangling").symlink_to(outside / "new")
    (managed.root / "in").symlink_to(".")
    for filename in ("out/n", "out/d/n", "out", "dangling", "dangling/n", "in/n"):
        refused(managed, admin, managed.inline(filename), "workspace_path_unsafe")
    assert tree(outside) == {"d": "directory", "f": b"x\n"}


@pytest.mark.req("WORK-039", "WORK-018")
def test_only_regular_files_are_replaced(
    managed: Managed,
    admin: psycopg.Connection[Any],
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imported = managed.imported("f", b"x")
    (managed.root / "f").unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(managed.root)
        for make in (os.mkdir, os.mkfifo, listener.bind):
            make("f")
            refused(managed, admin, imported, "workspace_not_regular_file")
            for filename in ("f", "f/g") if make is not os.mkdir else ("f",):
                target = managed.inline(filename)
                refused(managed, admin, target, "workspace_not_regular_file")
            if make is os.mkdir:
                (managed.root / "f").rmdir()
            else:
                (managed.root / "f").unlink()
    (managed.root / "f").write_bytes(b"x")
    refused(managed, admin, managed.inline("f/g"), "workspace_not_regular_file")
    with psycopg.connect(database_url, autocommit=True) as connection:
        devices = Managed(connection, Path("/dev"))
        target = devices.inline("null")
        answer = devices.service.save(target, sync_workspace=True)
        assert (answer["status"], answer["code"]) == ("rejected", "workspace_not_regular_file")
        assert snapshots(admin, target) == 0


def test_another_name_of_a_file_keeps_the_old_text(managed: Managed) -> None:
    target = managed.imported("f", b"old\n")
    os.link(managed.root / "f", managed.root / "other")
    managed.replaced(target, "new\n")
    managed.saved(target)
    assert tree(managed.root) == {"f": b"new\n", "other": b"old\n"}


def test_a_target_that_diverged_is_not_published(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    target = managed.imported("f", b"a")
    admin.execute(
        "update patchdiff.cloud_target_files set current_content = 'b' where target_file_id = %s",
        [target],
    )
    answer = managed.save(target)
    assert (answer["status"], answer["failure_reason"]) == ("rejected", "target_diverged")
    assert tree(managed.root) == {"f": b"a"}
    assert snapshots(admin, target) == 0


def test_a_root_that_is_gone_is_said(managed: Managed, admin: psycopg.Connection[Any]) -> None:
    target = managed.imported("f", b"a")
    shutil.rmtree(managed.root)
    answer = managed.save(target)
    assert (answer["status"], answer["code"]) == ("rejected", "workspace_unavailable")
    assert snapshots(admin, target) == 0
