"""Several processes in one workspace: leases, publications at once, and links that come and go."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.workspace import Managed, baseline, before, sha256_of, snapshots, tree

PROCESSES = 8
ROUNDS = 6


def publisher(url: str, root: Path, path: str, rounds: int) -> subprocess.Popen[str]:
    """A process that imports and publishes (tests.support.publisher)."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.publisher", url, str(root), path, str(rounds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, problem = process.communicate(timeout=100)
    assert process.returncode == 0, problem
    answer = json.loads(output)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.req("WORK-025", "WORK-026", "WORK-028")
@pytest.mark.parametrize("shared", [True, False])
def test_eight_processes_publish(
    database_url: str, tmp_path: Path, admin: psycopg.Connection[Any], shared: bool
) -> None:
    paths = [f"d/{n}" if shared else f"d{n}/f" for n in range(PROCESSES)]
    for path in paths:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(b"first\n")
    outcomes = [
        told(process)
        for process in [publisher(database_url, tmp_path, path, ROUNDS) for path in paths]
    ]
    expected: dict[str, bytes | str] = {}
    for path, outcome in zip(paths, outcomes, strict=True):
        expected |= {path.split("/")[0]: "directory", path: outcome["text"].encode()}
        content = outcome["text"].encode()
        assert snapshots(admin, outcome["target"]) == outcome["saved"] == ROUNDS
        assert baseline(admin, outcome["target"]) == (path, sha256_of(content), len(content))
    assert tree(tmp_path) == expected
    if not shared:
        assert [outcome["workspace_busy"] for outcome in outcomes] == [0] * PROCESSES


@pytest.mark.req("WORK-026", "WORK-028", "WORK-029", "WORK-030")
@pytest.mark.parametrize("step", ["fchmod", "fsync", "rename"])
def test_one_publication_at_a_time_in_a_directory(
    managed: Managed, database_url: str, admin: psycopg.Connection[Any], step: str
) -> None:
    first, second = managed.imported("d/f", b"f\n"), managed.imported("d/g", b"g\n")
    (managed.root / "e").mkdir()
    elsewhere, above = managed.inline("e/h", "h\n"), managed.inline("i", "i\n")
    below = managed.inline("d/below/j", "j\n")
    seen = {}
    with psycopg.connect(database_url, autocommit=True) as connection:
        other = Managed(connection, managed.root)

        def meanwhile() -> None:
            started = time.monotonic()
            seen["same directory"] = other.save(second)
            seen["import"] = other.open("d/g")
            seen["other directory"] = other.save(elsewhere)
            seen["above"] = other.save(above)
            seen["below"] = other.save(below)
            seen["seconds"] = time.monotonic() - started
            with contextlib.closing(Handle(managed.root / "d")) as handle:
                # a shared lock does not go with an exclusive one
                seen["shared lock"] = handle.lock(fcntl.LOCK_SH)

        with before(step, meanwhile):
            managed.saved(first)
    assert seen["seconds"] < 5
    for name in ("same directory", "import"):
        assert (seen[name]["status"], seen[name]["code"]) == ("rejected", "workspace_busy")
    for name in ("other directory", "above", "below"):
        assert seen[name]["status"] == "saved", name
    assert seen["shared lock"] is False
    assert snapshots(admin, second) == 0
    with contextlib.closing(Handle(managed.root / "d")) as handle:
        assert handle.lock(fcntl.LOCK_EX)
        assert managed.save(second)["code"] == "workspace_busy"
    managed.saved(second)


class Handle:
    """A handle of a directory, to lock it as anybody could."""

    def __init__(self, directory: Path) -> None:
        self.descriptor = os.open(directory, os.O_RDONLY)

    def lock(self, kind: int) -> bool:
        """Whether the lock could be had at once."""
        try:
            fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Give everything back."""
        os.close(self.descriptor)


@pytest.mark.req("WORK-026", "WORK-027", "WORK-028")
def test_other_processes_by_other_ways_to_the_directory(
    managed: Managed, database_url: str, tmp_path: Path
) -> None:
    target = managed.imported("a/d/f", b"f\n")
    managed.imported("a/e/f", b"f\n")
    alias = tmp_path / "alias"
    alias.symlink_to(managed.root / "a")
    ways = [
        (managed.root, "a/d/f", "workspace_busy"),
        (managed.root / "a", "d/f", "workspace_busy"),
        (managed.root / "a/d", "f", "workspace_busy"),
        (tmp_path, "root/a/d/f", "workspace_busy"),
        (alias, "d/f", "workspace_busy"),
        (managed.root / "a/e/../d", "f", "workspace_busy"),
        (managed.root, "a/e/f", "ok"),
    ]
    answers = []

    def meanwhile() -> None:
        processes = [publisher(database_url, root, path, 0) for root, path, _ in ways]
        answers.extend(told(process)["answer"] for process in processes)

    with before("rename", meanwhile):
        managed.saved(target)
    assert [answer.get("code", answer["status"]) for answer in answers] == [
        expected for _, _, expected in ways
    ]


@pytest.mark.req("WORK-030")
def test_the_lease_goes_with_its_process(managed: Managed) -> None:
    target = managed.imported("f", b"x")
    program = (
        "import fcntl, os, sys, time\n"
        "fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "time.sleep(100)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(managed.root)], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert managed.save(target)["code"] == "workspace_busy"
        holder.kill()
        holder.wait()
    managed.saved(target)


@pytest.mark.req("WORK-038")
@pytest.mark.parametrize("step", ["flock", "fchmod", "write", "fsync", "rename"])
@pytest.mark.parametrize("ancestor", ["a", "a/b"])
def test_an_ancestor_that_becomes_a_link_leads_nowhere(
    managed: Managed, admin: psycopg.Connection[Any], tmp_path: Path, step: str, ancestor: str
) -> None:
    target = managed.imported("a/b/f", b"old\n")
    managed.replaced(target, "mine\n")
    outside = tmp_path / "outside"
    (outside / "b").mkdir(parents=True)
    (outside / "f").write_bytes(b"old\n")
    (outside / "b/f").write_bytes(b"old\n")
    known = tree(outside)

    def swap() -> None:
        (managed.root / ancestor).rename(managed.root / "away")
        (managed.root / ancestor).symlink_to(outside)

    with before(step, swap):
        answer = managed.save(target)
    assert tree(outside) == known
    kept = managed.root / "away" / ("b/f" if ancestor == "a" else "f")
    if step == "rename":
        # too late to be seen: the file goes where the opened directory is
        assert answer["status"] == "saved"
        assert kept.read_bytes() == b"mine\n"
    else:
        assert (answer["status"], answer["code"]) == ("rejected", "workspace_path_unsafe")
        assert kept.read_bytes() == b"old\n"
        assert snapshots(admin, target) == 0
    assert list(tree(kept.parent)) == ["f"]


def test_a_directory_that_is_replaced_by_another_is_not_the_same(
    managed: Managed, admin: psycopg.Connection[Any]
) -> None:
    target = managed.imported("a/f", b"old\n")
    managed.replaced(target, "mine\n")

    def swap() -> None:
        (managed.root / "a").rename(managed.root / "away")
        (managed.root / "a").mkdir()
        (managed.root / "a/f").write_bytes(b"old\n")

    with before("fchmod", swap):
        answer = managed.save(target)
    assert (answer["status"], answer["code"]) == ("rejected", "external_disk_drift")
    assert tree(managed.root) == {
        "a": "directory",
        "a/f": b"old\n",
        "away": "directory",
        "away/f": b"old\n",
    }
    assert snapshots(admin, target) == 0


@pytest.mark.req("WORK-037", "WORK-038")
@pytest.mark.parametrize("kind", ["directory", "file"])
def test_links_that_come_and_go_lead_nowhere(managed: Managed, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"secret")
    place = managed.root / ("d" if kind == "directory" else "d/f")
    (managed.root / "d").mkdir()
    (managed.root / "d/f").write_bytes(b"old\n")
    away = place.with_name("away")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            place.rename(away)
            place.symlink_to(outside if kind == "directory" else outside / "f")
            place.unlink()
            away.rename(place)

    swapping = threading.Thread(target=quiet(swap))
    swapping.start()
    outcomes = set()
    try:
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            made = managed.open("d/f")
            outcomes.add(made.get("code", made["status"]))
            if made["status"] == "ok":
                text = managed.service.get_target(made["target_file_id"])["current_content"]
                assert text != "secret"
                managed.replaced(made["target_file_id"], "mine\n")
                answer = managed.save(made["target_file_id"])
                outcomes.add(answer.get("code", answer["status"]))
            new = managed.inline("d/new")
            answer = managed.save(new)
            outcomes.add(answer.get("code", answer["status"]))
            assert tree(outside) == {"f": b"secret"}
            with contextlib.suppress(OSError):
                (managed.root / "d/new").unlink()
    finally:
        over.set()
        swapping.join()
    assert tree(outside) == {"f": b"secret"}
    assert outcomes & {"workspace_path_unsafe", "workspace_file_missing", "external_disk_drift"}
    assert outcomes <= {
        "ok", "saved", "workspace_path_unsafe", "workspace_file_missing", "external_disk_drift",
        "workspace_io_error",
    }  # fmt: skip


def quiet(act: Callable[[], None]) -> Callable[[], None]:
    """The function, ended in silence when a publication has put a file where it wants to move."""

    def run() -> None:
        with contextlib.suppress(OSError):
            act()

    return run
