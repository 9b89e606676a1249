"""Random faults in every command: each call answers a valid envelope and leaves nothing behind."""

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.plastic.kit import REPOSITORY, SERVER, Workspace, descriptors, quick

FULL = f"br:/main/x@{REPOSITORY}@{SERVER}"
RUNS = 200
SOAK_RUNS = 500

EFFECTS: list[dict[str, Any]] = [
    {"exit": 1},
    {"exit": 0},
    {"exit": 2},
    {"stderr": 1},
    {"stderr": 70_000},
    {"noise": 5},
    {"noise": 70_000},
    {"kill": 9},
    {"kill": 15},
    {"output": ""},
    {"truncate": 120},
    {"append": "ff"},
    {"prefix": "41"},
    {"prefix": "efbbbf"},
    {"readStdin": True},
    {"noExport": True},
    {"exportSymlink": True},
    {"exportDirectory": True},
    {"exportFifo": True},
    {"exportBytes": "00ff"},
    {"partialExport": 1},
    {"oversizeExport": 4_194_305},
    {"replace": ["<RevId>", "<RevId>-"]},
    {"replace": ["<Path>[^<]*", "<Path>"]},
    {"replace": ["@@", "@"]},
]
SLOW_EFFECTS: list[dict[str, Any]] = [
    {"sleep": 60},
    {"sleep": 60, "closeThenHang": True},
    {"grandchild": 60},
    {"grandchild": 60, "closed": True},
    {"appendAfterExit": True},
]
COMMANDS = ["status", "fileinfo", "ls", "cat", "patch", "diff-program", "*"]


def build(workspace: Workspace) -> None:
    workspace.change("a.txt", b"one\n", b"two\n")
    workspace.change("b.bin", b"\0one", b"\0two")
    workspace.delete("c.txt", b"gone\n")
    workspace.move("old.txt", "new.txt", b"x\n", b"y", local=True)
    workspace.add("e.txt", b"")
    workspace.spec("rev:x", b"one\n")
    workspace.branch_patch(FULL, content=b"patch\n")
    workspace.use_stand_in_diff()
    workspace.limits = quick(0.5)


def one(workspace: Workspace, generator: random.Random, output: Path) -> dict[str, Any]:
    ask = generator.randrange(6)
    if ask == 0:
        return workspace.file(generator.choice(["a.txt", "b.bin", "c.txt", "old.txt", "e.txt"]))
    if ask == 1:
        return workspace.file("a.txt", revision="rev:x")
    if ask == 2:
        return workspace.diff(mode="revisions", leftRevision="rev:x", rightRevision="rev:x")
    if ask == 3:
        return workspace.pending(maxFiles=generator.randint(1, 5))
    if ask == 4:
        return workspace.patch(source="br:/main/x")
    return workspace.patch(source=FULL, output=str(output))


def run_with_faults(workspace: Workspace, runs: int, seed: int) -> None:
    generator = random.Random(seed)
    print(f"seed {seed}")
    build(workspace)
    output = workspace.base / "reviews" / "o.patch"
    output.parent.mkdir()
    open_before = descriptors()
    codes: Counter[str | None] = Counter()
    for _ in range(runs):
        effects = SLOW_EFFECTS if generator.random() < 0.06 else EFFECTS
        workspace.faults = [
            {"command": generator.choice(COMMANDS), **generator.choice(effects)}
            for _ in range(generator.randint(0, 4))
        ]
        if generator.random() < 0.1:
            workspace.faults.append({"command": "patch", "createOutput": str(output)})
        envelope = one(workspace, generator, output)
        codes[None if envelope["ok"] else envelope["error"]["code"]] += 1
        assert descriptors() == open_before
        expected = set()
        data = envelope["data"]
        if data is not None and data["cleanup"]["recoveryDirectory"] is not None:
            assert envelope["action"] == "patch"
            expected = {Path(data["cleanup"]["recoveryDirectory"])}
        published = {output} if output.exists() else set()
        left = {*workspace.temporary.iterdir(), *output.parent.iterdir()}
        assert left == expected | published
        for path in left:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        assert workspace.living() == []
        for name in ("calls.ndjson", "pids"):
            (workspace.state_path / name).unlink(missing_ok=True)
    print(dict(codes))
    # the faults must have reached far more than one branch
    assert codes[None] > runs // 20
    assert len(codes) > 4


@pytest.mark.req("PDIFF-089")
@pytest.mark.parametrize("part", range(4))
def test_random_faults_leave_nothing_behind(workspace: Workspace, part: int) -> None:
    run_with_faults(workspace, RUNS // 4, random.randrange(10**6) * 4 + part)


@pytest.mark.soak
@pytest.mark.req("PDIFF-089")
def test_500_runs_with_random_faults_leave_nothing_behind(workspace: Workspace) -> None:
    run_with_faults(workspace, SOAK_RUNS, random.randrange(10**6))
