"""A workspace per test, and after each test the proof that nothing was left behind."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.plastic.kit import Workspace, descriptors, use_temporary


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    made = Workspace(tmp_path.resolve())
    monkeypatch.setenv("STAND_IN_STATE", str(made.state_path))
    monkeypatch.setenv("STAND_IN_REAL_PATH", os.environ["PATH"])
    use_temporary(monkeypatch, made.temporary)
    before = descriptors()
    yield made
    assert made.living() == []
    assert made.left_behind() == []
    assert descriptors() == before
    for call in made.calls():
        assert call["stdin"] == "/dev/null"
        assert call["descriptors"] == []
        assert call["private"] == []
        assert call["session"] == call["pid"]
        assert "--apply" not in call["argv"]
        assert call["command"] in ("status", "fileinfo", "ls", "cat", "patch", "diff-program")
