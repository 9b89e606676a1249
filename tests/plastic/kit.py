"""A workspace with a stand-in client: built by a test, then asked through the tools."""

import hashlib
import json
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from patchdiff.plastic import diff, patch
from patchdiff.plastic.envelopes import validate
from patchdiff.plastic.limits import DEFAULT_LIMITS, CaptureLimits, Limits

STAND_IN = Path(__file__).with_name("stand_in.py")
REPOSITORY = "game"
SERVER = "server.example:8087"
CHANGESET = 7
MIB = 1024 * 1024


def quick(seconds: float = 1.0) -> Limits:
    """The bounds of the product, but for the time that a command may take."""
    return replace(
        DEFAULT_LIMITS,
        command=replace(DEFAULT_LIMITS.command, seconds=seconds),
        patch=replace(DEFAULT_LIMITS.patch, seconds=seconds),
    )


class Workspace:
    """A workspace, its repository behind the stand-in, and the calls of the two tools."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "workspace"
        self.state_path = base / "state"
        self.temporary = base / "tmp"
        self.programs_path = base / "bin"
        for path in (self.root / ".plastic", self.state_path / "blobs", self.temporary):
            path.mkdir(parents=True)
        self.programs_path.mkdir()
        (self.root / ".plastic" / "plastic.workspace").write_text("ws\n0-0\nStandard\n")
        self.selector = self.root / ".plastic" / "plastic.selector"
        self.write_selector()
        source = STAND_IN.read_text("utf-8")
        for name in ("cm", "diff"):
            program = self.programs_path / name
            program.write_text(f"#!{sys.executable} -IS\n{source}", encoding="utf-8")
            program.chmod(0o755)
        self.state: dict[str, Any] = {
            "root": str(self.root),
            "repository": REPOSITORY,
            "server": SERVER,
            "changeset": CHANGESET,
            "configType": "Branch",
            "configName": "/main",
            "revisions": {},
            "loaded": {},
            "removed": {},
            "tree": [],
            "pending": [],
            "specs": {},
            "patches": [],
        }
        self.faults: list[dict[str, Any]] = []
        self.limits = DEFAULT_LIMITS
        self.diff_program = "diff"
        self.patch_tool: str | None = None
        self.may_change_workspace = False
        self.retained: list[Path] = []

    # building

    def write_selector(self, text: str | None = None) -> None:
        default = (
            f'repository "{REPOSITORY}@{SERVER}"\n  path "/"\n    smartbranch "/main/feature"\n'
        )
        self.selector.write_text(default if text is None else text, encoding="utf-8")

    def _blob(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        (self.state_path / "blobs" / name).write_bytes(content)
        return name

    def write(self, path: str, content: bytes) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        return place

    def load(self, path: str, content: bytes, **revision: Any) -> int:
        """A loaded, unchanged file; returns the id of its revision."""
        self.write(path, content)
        number = 1000 + len(self.state["revisions"])
        self.state["revisions"][str(number)] = {
            "itemId": number + 5000,
            "changeset": 3,
            "blob": self._blob(content),
            **revision,
        }
        self.state["loaded"][path] = {"revid": number, "serverPath": f"/{path}"}
        self.state["tree"].append(dict(self.state["loaded"][path]))
        return number

    def pend(self, code: str, path: str, **row: Any) -> None:
        self.state["pending"].append(
            {"type": code, "path": path, "revisionType": "enTextFile", **row}
        )

    def change(self, path: str, base: bytes, local: bytes, code: str = "CH", **more: Any) -> int:
        number = self.load(path, base, **more)
        self.write(path, local)
        self.pend(code, path)
        return number

    def add(self, path: str, content: bytes) -> None:
        self.write(path, content)
        self.pend("AD", path)

    def private(self, path: str, content: bytes) -> None:
        self.write(path, content)
        self.pend("PR", path)

    def delete(self, path: str, content: bytes, *, local: bool = False) -> int:
        number = self.load(path, content)
        (self.root / path).unlink()
        if not local:
            self.state["removed"][path] = self.state["loaded"].pop(path)
        self.pend("LD" if local else "DE", path)
        return number

    def move(self, old: str, new: str, base: bytes, content: bytes, *, local: bool = False) -> int:
        number = self.load(old, base)
        (self.root / old).unlink()
        self.write(new, content)
        if not local:
            entry = self.state["loaded"].pop(old)
            self.state["loaded"][new] = {**entry, "serverPath": f"/{new}", "status": "moved"}
        self.pend("LM" if local else "MV", new, oldPath=old)
        return number

    def spec(self, selector: str, content: bytes) -> None:
        """An explicit selector and the bytes behind it."""
        self.state["specs"][selector] = self._blob(content)

    def branch_patch(
        self, *specs: str, content: bytes, clean: bool = False, integration: bool = False
    ) -> None:
        self.state["patches"].append(
            {"key": [*specs, clean, integration], "blob": self._blob(content)}
        )

    def fault(self, command: str, **effects: Any) -> None:
        self.faults.append({"command": command, **effects})

    # asking

    def save(self) -> None:
        (self.state_path / "state.json").write_text(json.dumps(self.state), encoding="utf-8")
        (self.state_path / "faults.json").write_text(json.dumps(self.faults), encoding="utf-8")

    @property
    def programs(self) -> diff.Programs:
        return diff.Programs(
            client=str(self.programs_path / "cm"),
            diff=self.diff_program,
            patch_tool=self.patch_tool,
            workspace=self.root,
        )

    def use_stand_in_diff(self) -> None:
        self.diff_program = str(self.programs_path / "diff")

    def _call(self, function: Callable[..., dict[str, Any]], arguments: dict[str, Any]) -> Any:
        self.save()
        before = self.fingerprint()
        envelope = function(arguments, self.programs, self.limits)
        if not self.may_change_workspace:
            assert self.fingerprint() == before, "the workspace was changed"
        validate(envelope)
        json.dumps(envelope, allow_nan=False)
        return envelope

    def diff(self, **arguments: Any) -> dict[str, Any]:
        """Call plastic_diff."""
        return self._call(diff.plastic_diff, arguments)

    def file(self, path: str, **arguments: Any) -> dict[str, Any]:
        return self.diff(mode="file", path=path, **arguments)

    def pending(self, *paths: str, **arguments: Any) -> dict[str, Any]:
        scope = {"paths": list(paths)} if paths else {"allPending": True}
        return self.diff(mode="workspace", **scope, **arguments)

    def patch(self, **arguments: Any) -> dict[str, Any]:
        """Call plastic_patch."""
        return self._call(patch.plastic_patch, arguments)

    # looking

    def calls(self) -> list[dict[str, Any]]:
        path = self.state_path / "calls.ndjson"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    def commands(self) -> list[str]:
        return [call["command"] for call in self.calls()]

    def argv(self, command: str) -> list[str]:
        """The arguments of the only start of a command."""
        [found] = [call["argv"] for call in self.calls() if call["command"] == command]
        return found

    def fingerprint(self) -> dict[str, Any]:
        """Every name of the workspace with its kind, mode and content."""
        found: dict[str, Any] = {}
        for path in sorted(self.root.rglob("*")):
            mode = path.lstat().st_mode
            content = path.read_bytes() if stat.S_ISREG(mode) else None
            found[str(path.relative_to(self.root))] = (mode, content)
        return found

    def pids(self) -> list[int]:
        found = [call["pid"] for call in self.calls()]
        extra = self.state_path / "pids"
        if extra.exists():
            found += [int(line) for line in extra.read_text().split()]
        return found

    def living(self) -> list[int]:
        """The processes that were started and still run, after a moment to end."""
        deadline = time.monotonic() + 2
        while alive := [pid for pid in self.pids() if is_running(pid)]:
            if time.monotonic() > deadline:
                return alive
            time.sleep(0.02)
        return []

    def left_behind(self) -> list[Path]:
        """Temporary files that no receipt names."""
        return [path for path in self.temporary.iterdir() if path not in self.retained]


def is_running(pid: int) -> bool:
    """Whether a process exists and is not just waiting to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[0] not in ("Z", "X")


def descriptors() -> list[str]:
    """What the descriptors of this process lead to."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(entry.readlink()))
        except FileNotFoundError:
            continue
    return sorted(found)


def error(envelope: dict[str, Any]) -> tuple[str, str] | None:
    """Code and stage of an envelope's error."""
    found = envelope["error"]
    return None if found is None else (found["code"], found["stage"])


def capture_limits(stdout: int, stderr: int, seconds: float) -> CaptureLimits:
    return CaptureLimits(stdout, stderr, seconds)


def remove_retained(envelope: dict[str, Any], workspace: Workspace) -> Path:
    """Note and remove the recovery directory that a receipt names."""
    directory = Path(envelope["data"]["cleanup"]["recoveryDirectory"])
    assert directory.is_dir()
    assert stat.S_IMODE(directory.lstat().st_mode) == 0o700
    shutil.rmtree(directory)
    return directory


def use_temporary(monkeypatch: Any, path: Path) -> None:
    """Let temporary files of this process be made in a place that a test can look into."""
    monkeypatch.setattr(tempfile, "tempdir", str(path))
