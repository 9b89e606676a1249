"""Publications that fail or end at any of their steps: disk and database afterwards."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from tests.support.publication_steps import NEW, OLD
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

IDS = {"snapshot_id", "closed_editing_cycle_id", "new_editing_cycle_id"}


def target_of(managed: Managed, kind: str, path: str = "d/f") -> str:
    """A target whose publication replaces a file, or makes one below a directory that is
    missing."""
    if kind == "new":
        return managed.inline(path, "mine\n")
    target = managed.imported(path, b"old\n")
    managed.replaced(target, "mine\n")
    return target


def file_of(managed: Managed, path: str = "d/f") -> bytes | None:
    file = managed.root / path
    return file.read_bytes() if file.exists() else None


def partial(
    managed: Managed, admin: psycopg.Connection[Any], target: str, answer: dict[str, Any], code: str
) -> None:
    """Holds an answer and what is left to what partial means."""
    assert (answer["status"], answer["code"]) == ("partial", code), answer
    assert not IDS & set(answer)
    sure = code != "workspace_durability_uncertain"
    assert answer["workspace_sync"] == {
        "synced_path": "d/f",
        "disk_sha256": sha256_of(b"mine\n"),
        "bytes_written": 5,
        "content_eol": "lf",
        "publication": "installed",
        "durability": "confirmed" if sure else "uncertain",
    }
    assert file_of(managed) == b"mine\n"
    assert managed.connection.closed or (
        managed.connection.info.transaction_status == TransactionStatus.IDLE
    )
    if code != "workspace_checkpoint_uncertain":
        assert snapshots(admin, target) == 0
        # the target no longer knows the file: it says so until there is a new one
        again = managed.save(target)
        assert (again["status"], again["code"]) == ("rejected", "external_disk_drift")
        managed.saved(managed.imported("d/f"))


@pytest.mark.req("WORK-018", "WORK-019", "WORK-020", "WORK-021", "WORK-022", "WORK-024", "WORK-030")
@pytest.mark.parametrize("kind", ["existing", "new"])
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_every_call_that_can_fail(
    managed: Managed, admin: psycopg.Connection[Any], kind: str, code: int
) -> None:
    seen: dict[str, set[str]] = {"rejected": set(), "partial": set()}
    for number in range(1, 200):
        path = f"{number}/f"
        target = target_of(managed, kind, path)
        known = baseline(admin, target)
        with Failing(number, code=code) as calls:
            answer = managed.save(target)
        if calls.hit is None:
            break
        placed = "rename" if kind == "existing" else "link"
        installed = placed in calls.calls[: number - 1]
        seen[answer["status"]].add(calls.hit)
        assert snapshots(admin, target) == 0
        assert baseline(admin, target) == known
        leftovers = sorted(file.name for file in (managed.root / path).parent.glob("*"))
        if "f" in leftovers:
            leftovers.remove("f")
        if installed:
            assert answer["status"] == "partial"
            assert answer["workspace_sync"]["publication"] == "installed"
            assert file_of(managed, path) == b"mine\n"
            assert leftovers == ([STAGING] if calls.hit == "unlink" else [])
        else:
            assert answer["status"] == "rejected"
            assert answer["code"] in ("workspace_io_error", "workspace_unavailable")
            assert file_of(managed, path) == (b"old\n" if kind == "existing" else None)
            assert leftovers == []
            # nothing is held any more
            managed.saved(target)
            assert file_of(managed, path) == b"mine\n"
    assert answer["status"] == "saved"
    assert {"open", "flock", "stat", "write", "fchmod", "fsync", "close"} <= seen["rejected"]
    assert ("rename" if kind == "existing" else "link") in seen["rejected"]
    assert ("mkdir" in seen["rejected"]) is (kind == "new")
    assert {"fsync", "close"} <= seen["partial"]


@pytest.mark.req("WORK-020", "WORK-021", "WORK-022")
@pytest.mark.parametrize("kind", ["existing", "new"])
def test_a_directory_that_may_not_be_durable(
    managed: Managed, admin: psycopg.Connection[Any], kind: str
) -> None:
    (managed.root / "d").mkdir()
    target = target_of(managed, kind)
    # the first is the file's, the second the directory's
    with Failing(2, "fsync"):
        answer = managed.save(target)
    partial(managed, admin, target, answer, "workspace_durability_uncertain")


@pytest.mark.req("WORK-020", "WORK-021", "WORK-022")
def test_a_directory_that_neither_syncs_nor_closes(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    target = target_of(managed, "existing")

    @contextlib.contextmanager
    def failing() -> Iterator[None]:
        with contextlib.ExitStack() as stack:

            def fail_everything() -> None:
                stack.enter_context(Failing(1, "fsync", ever_after=True))
                stack.enter_context(Failing(1, "close", ever_after=True))

            with before("rename", fail_everything):
                yield

    with failing():
        answer = managed.save(target)
    partial(managed, admin, target, answer, "workspace_durability_uncertain")


@pytest.mark.req("WORK-020", "WORK-021", "WORK-024")
@pytest.mark.parametrize("kind", ["existing", "new"])
@pytest.mark.parametrize("which", [1, 2])
def test_a_directory_handle_that_does_not_close(
    managed: Managed, admin: psycopg.Connection[Any], kind: str, which: int
) -> None:
    (managed.root / "d").mkdir()
    target = target_of(managed, kind)
    other = target_of(managed, kind, "d/other")
    with Failing(1_000, "close") as calls:
        managed.saved(other)
    # the last two are those of the destination's directory and of the root
    with Failing(len(calls.calls) - 2 + which, "close") as failing:
        answer = managed.save(target)
    assert failing.hit == "close"
    partial(managed, admin, target, answer, "workspace_post_install_error")


@pytest.mark.req("WORK-020", "WORK-024")
def test_a_staging_name_that_stays(managed: Managed, admin: psycopg.Connection[Any]) -> None:
    (managed.root / "d").mkdir()
    target = target_of(managed, "new")
    with before("link", lambda: None), Failing(2, "unlink"):
        answer = managed.save(target)
    assert (managed.root / "d" / STAGING).exists()
    partial(managed, admin, target, answer, "workspace_post_install_error")
    # what is found under the lease is nobody's: the publication after it has removed it
    assert tree(managed.root) == {"d": "directory", "d/f": b"mine\n"}


@pytest.mark.req("WORK-020", "WORK-021", "WORK-023")
@pytest.mark.parametrize("kind", ["existing", "new"])
def test_a_commit_that_cannot_be(
    database_url: str, tmp_path: Path, admin: psycopg.Connection[Any], kind: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        managed = Managed(connection, tmp_path)
        target = target_of(managed, kind)

        def end() -> None:
            admin.execute("select pg_terminate_backend(%s, 10000)", [connection.info.backend_pid])

        with before("rename" if kind == "existing" else "link", end):
            answer = managed.save(target)
        partial(managed, admin, target, answer, "workspace_checkpoint_uncertain")
        assert connection.closed
    assert snapshots(admin, target) == 0


@pytest.mark.req("WORK-020", "WORK-021", "WORK-023")
def test_a_commit_that_the_server_refuses(managed: Managed, admin: psycopg.Connection[Any]) -> None:
    target = target_of(managed, "existing")
    admin.execute(
        """
        create function patchdiff_test_refuse() returns trigger language plpgsql
        as 'begin raise exception ''refused at the end''; end'
        """
    )
    try:
        admin.execute(
            "create constraint trigger refuse after insert on patchdiff.target_snapshots"
            " deferrable initially deferred for each row"
            " execute function patchdiff_test_refuse()"
        )
        answer = managed.save(target)
    finally:
        admin.execute("drop function patchdiff_test_refuse() cascade")
    partial(managed, admin, target, answer, "workspace_checkpoint_uncertain")
    assert snapshots(admin, target) == 0
    assert "refused at the end" not in json.dumps(answer)


@pytest.mark.req("WORK-020", "WORK-021", "WORK-023")
def test_a_commit_whose_answer_is_lost(
    database_url: str, tmp_path: Path, admin: psycopg.Connection[Any]
) -> None:
    class Losing(psycopg.Connection[Any]):
        lose = False

        @contextlib.contextmanager
        def transaction(self, *arguments: Any, **named: Any) -> Iterator[psycopg.Transaction]:
            with super().transaction(*arguments, **named) as transaction:
                yield transaction
            if self.lose:
                self.close()
                raise psycopg.OperationalError("the server closed the connection unexpectedly")

    with Losing.connect(database_url, autocommit=True) as connection:
        managed = Managed(connection, tmp_path)
        target = target_of(managed, "existing")
        connection.lose = True
        answer = managed.save(target)
        partial(managed, admin, target, answer, "workspace_checkpoint_uncertain")
    # it had taken place: the target goes on with the file
    assert snapshots(admin, target) == 1
    assert baseline(admin, target) == ("d/f", sha256_of(b"mine\n"), 5)


def test_a_database_that_fails_before_anything_was_installed(
    database_url: str, tmp_path: Path, admin: psycopg.Connection[Any]
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        managed = Managed(connection, tmp_path)
        target = target_of(managed, "existing")

        def end() -> None:
            admin.execute("select pg_terminate_backend(%s, 10000)", [connection.info.backend_pid])

        # the root is looked at right before the database is asked
        with before("fstat", end), pytest.raises(psycopg.OperationalError):
            managed.save(target)
    assert (file_of(managed), snapshots(admin, target)) == (b"old\n", 0)


@pytest.mark.req("WORK-023")
def test_a_server_goes_on_after_a_lost_commit(
    database_url: str, tmp_path: Path, admin: psycopg.Connection[Any]
) -> None:
    """The embedding server reports partial as an ordinary answer and connects again."""
    admin.execute(
        """
        create function patchdiff_test_end() returns trigger language plpgsql
        as 'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'
        """
    )
    environment = {
        "PATCHDIFF_DATABASE_URL": database_url,
        "PATCHDIFF_WORKSPACE_ROOT": str(tmp_path),
    }
    client = StdioClient(environment)
    try:
        (tmp_path / "f").write_bytes(b"old\n")
        made = client.call("patchdiff_initialize_target", filename="f", from_workspace=True)
        target = made["target_file_id"]
        admin.execute(
            "create constraint trigger finish after insert on patchdiff.target_snapshots"
            " deferrable initially deferred for each row execute function patchdiff_test_end()"
        )
        answer = client.call("patchdiff_save", target_file_id=target, sync_workspace=True)
        admin.execute("drop function patchdiff_test_end() cascade")
        assert (answer["status"], answer["code"]) == (
            "partial",
            "workspace_checkpoint_uncertain",
        )
        assert str(tmp_path) not in json.dumps(answer)
        # the same bytes: what is on disk is what the target knows
        again = client.call("patchdiff_save", target_file_id=target, sync_workspace=True)
        assert again["status"] == "saved"
    finally:
        admin.execute("drop function if exists patchdiff_test_end() cascade")
        client.close()


@pytest.mark.req("WORK-014")
def test_what_is_confirmed_as_durable_was_synced(managed: Managed) -> None:
    synced = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        fsync(descriptor)
        synced.append(os.fstat(descriptor))

    target = managed.inline("a/b/f", "new\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", watched)
        assert managed.saved(target)["workspace_sync"]["durability"] == "confirmed"
    # each entry that was made, in the order of making, and the file before its entry
    expected = [managed.root, managed.root / "a", managed.root / "a/b/f", managed.root / "a/b"]
    assert [found.st_ino for found in synced] == [path.stat().st_ino for path in expected]


@pytest.mark.req("WORK-013")
def test_short_writes_are_continued(managed: Managed, monkeypatch: pytest.MonkeyPatch) -> None:
    target = managed.imported("f", b"old\n")
    text = "\u4e2d" * 1_000
    managed.replaced(target, text)
    write = os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda file, content: write(file, content[:7]))
        answer = managed.saved(target)
    assert (managed.root / "f").read_bytes() == text.encode()
    assert answer["workspace_sync"]["bytes_written"] == 3_000


@pytest.mark.req("WORK-025", "WORK-030")
@pytest.mark.parametrize("kind", ["existing", "new"])
def test_a_process_that_is_killed_at_any_step(
    database_url: str, tmp_path: Path, admin: psycopg.Connection[Any], kind: str
) -> None:
    command = [
        sys.executable, "-m", "tests.support.publication_steps", database_url, str(tmp_path), kind,
    ]  # fmt: skip
    told = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert told.returncode == 0, told.stderr
    runs = [json.loads(line) for line in told.stdout.splitlines()]
    old = OLD if kind == "existing" else None
    new = NEW.replace("\n", "\r\n" if kind == "existing" else "\n").encode()
    placed = "rename" if kind == "existing" else "link"
    steps = [run["step"] for run in runs]
    assert {f"after {placed}", "before any statement", "before COMMIT", "after COMMIT"} <= set(
        steps
    )
    assert {"after flock", "after fchmod", "after write", "after fsync", "after close"} <= set(
        steps
    )
    assert steps[-1] == ""
    installed = False
    with psycopg.connect(database_url, autocommit=True) as connection:
        managed = Managed(connection, tmp_path)
        for run in runs:
            step, target, path = run["step"], run["target"], run["path"]
            installed = installed or step == f"after {placed}"
            committed = step in ("after COMMIT", "")
            assert file_of(managed, path) == (new if installed else old), step
            assert snapshots(admin, target) == int(committed), step
            if committed:
                assert baseline(admin, target) == (path, sha256_of(new), len(new))
            elif kind == "existing":
                assert baseline(admin, target) == (path, sha256_of(OLD), len(OLD))
            else:
                assert baseline(admin, target) is None
            # lease and row lock went with the process, and what it left is cleared away
            answer = managed.save(target)
            if installed and not committed:
                assert answer["code"] == "external_disk_drift", step
                target = managed.imported(path)
                answer = managed.save(target)
            assert answer["status"] == "saved", (step, answer)
            assert list(tree((tmp_path / path).parent)) == ["f"]
            assert file_of(managed, path) == new
            assert (tmp_path / path).stat().st_nlink == 1
