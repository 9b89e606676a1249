"""The MCP SDK for Node.js, which is not kept here: fetched by npm, held to tests/node's lock.

``python -m tests.support.node_sdk`` fetches it into .cache/node-sdk and prints where it is.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = ROOT / "tests" / "node"
CACHE: Final = ROOT / ".cache" / "node-sdk"

_MODULES: Final = Path("node_modules/@modelcontextprotocol/sdk/dist/esm")
_TIMEOUT_S: Final = 300


class NodeSdkUnavailableError(Exception):
    """The SDK could not be fetched; the message says why."""


def node() -> str | None:
    """The program `node`, or None where there is none."""
    return shutil.which("node")


def node_sdk() -> Path:
    """The folder of the SDK's modules, fetched if need be.

    Raises NodeSdkUnavailableError.
    """
    lock = (SOURCES / "package-lock.json").read_bytes()
    folder = CACHE / hashlib.sha256(lock).hexdigest()[:12]
    if not folder.is_dir():
        try:
            _fetch(folder)
        except (OSError, subprocess.SubprocessError) as error:
            told = getattr(error, "stderr", None) or str(error).encode()
            raise NodeSdkUnavailableError(
                "the MCP SDK for Node.js could not be fetched by npm:"
                f" {told.decode(errors='replace').strip()[-500:]}"
            ) from error
    return folder / _MODULES


def run_session(
    command: list[str], environment: dict[str, str], steps: list[dict[str, Any]]
) -> dict[str, Any]:
    """What the Node SDK was answered in a session of these steps with the server `command`."""
    program = node()
    assert program is not None
    told = subprocess.run(
        [program, SOURCES / "session.mjs", node_sdk()],
        input=json.dumps(
            {"command": command[0], "args": command[1:], "env": environment, "steps": steps}
        ),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    answered = json.loads(told.stdout)
    assert isinstance(answered, dict)
    return answered


def _fetch(folder: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        made = Path(name) / "made"
        made.mkdir()
        for file in ("package.json", "package-lock.json"):
            shutil.copy(SOURCES / file, made)
        subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"],
            cwd=made,
            check=True,
            capture_output=True,
            timeout=_TIMEOUT_S,
        )
        try:
            # several test processes may fetch at once: the folder appears whole or not at all
            made.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise


if __name__ == "__main__":
    print(node_sdk())
