"""A real headless Chromium for the tests, spoken to over its debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.support.chromium import chromium

_ANSWER_SECONDS: Final = 20.0

# Chromium takes commands on descriptor 3 and answers on descriptor 4, JSON texts ended by a NUL.
_ON_DESCRIPTORS_3_AND_4: Final = (
    "import fcntl, os, sys;"
    "commands, answers = (fcntl.fcntl(int(d), fcntl.F_DUPFD, 10) for d in sys.argv[1:3]);"
    "os.dup2(commands, 3); os.dup2(answers, 4); os.execv(sys.argv[3], sys.argv[3:])"
)

_ARGUMENTS: Final = (
    "--headless",
    "--remote-debugging-pipe",
    # root has no sandbox, and the page is the test's own
    "--no-sandbox",
    "--no-zygote",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    # nothing but the page is to be asked for
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-quic",
    "--no-pings",
    "--hide-scrollbars",
)


class BrowserError(Exception):
    """Chromium refused a command, did not answer in time, or ended."""


class Browser:
    """A running Chromium with one blank page.

    `events` are what it told besides answers, oldest first: each has `method` and `params`.
    `close()` ends it and removes its profile.
    """

    def __init__(self) -> None:
        """Start it. Raises ChromiumUnavailableError when none can be had, and BrowserError when it
        does not answer."""
        found = chromium()
        self.events: list[dict[str, Any]] = []
        self._profile = Path(tempfile.mkdtemp(prefix="patchdiff-browser-"))
        self._log = (self._profile / "log.txt").open("w+b")
        self._last_id = 0
        self._session: str | None = None
        self._received = b""
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        start = [sys.executable, "-I", "-S", "-c", _ON_DESCRIPTORS_3_AND_4, str(commands)]
        arguments = [*_ARGUMENTS, f"--user-data-dir={self._profile / 'profile'}", "about:blank"]
        self._process = subprocess.Popen(
            [*start, str(answers), str(found.program), *arguments],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=os.environ | found.environment | {"HOME": str(self._profile)},
            start_new_session=True,
        )
        os.close(commands)
        os.close(answers)
        try:
            target = self._command("Target.createTarget", url="about:blank")["targetId"]
            attached = self._command("Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
                self._command(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def open(
        self,
        url: str,
        *,
        width: int = 1280,
        height: int = 800,
        dark: bool = False,
        print_: bool = False,
    ) -> None:
        """Show the page at `url` in a view of that size in CSS pixels, in the light or dark scheme
        or as on paper, and forget earlier events. Returns when it has loaded."""
        self.view(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        media = "print" if print_ else "screen"
        self._command("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.events.clear()
        self._command("Page.navigate", url=url)
        self._wait_for("Page.loadEventFired")

    def view(self, width: int, height: int = 800) -> None:
        """Make the view this large, in CSS pixels."""
        self._command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page. Raises BrowserError for an exception
        there."""
        answer = self._command("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press and release a key, by its name and its virtual code."""
        for kind in ("rawKeyDown", "keyUp"):
            self._command("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Write a PNG of the whole page, or of the view."""
        answer = self._command("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def told(self, method: str) -> list[dict[str, Any]]:
        """What the events of this name said, oldest first."""
        # whatever is still under way has been told when this is answered
        self.evaluate("1")
        return [event["params"] for event in self.events if event["method"] == method]

    def accessibility_tree(self) -> list[dict[str, Any]]:
        """What a screen reader is given of the page: its nodes, each with role and name."""
        nodes = self._command("Accessibility.getFullAXTree")["nodes"]
        assert isinstance(nodes, list)
        return nodes

    def close(self) -> None:
        """End Chromium."""
        os.close(self._commands)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._answers)
        self._log.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _command(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        try:
            os.write(self._commands, json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise BrowserError(f"Chromium is gone: {self._said()}") from error
        deadline = time.monotonic() + _ANSWER_SECONDS
        while True:
            answer = self._receive(deadline, method)
            if answer.get("id") == self._last_id:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def _wait_for(self, method: str) -> None:
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not any(event["method"] == method for event in self.events):
            self._receive(deadline, method)

    def _receive(self, deadline: float, awaited: str) -> Mapping[str, Any]:
        """The next message; events are kept, and a dialog is answered so that the page goes on."""
        while b"\0" not in self._received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._answers], [], [], left)[0]:
                raise BrowserError(f"no {awaited} in {_ANSWER_SECONDS:.0f} s: {self._said()}")
            part = os.read(self._answers, 1 << 20)
            if not part:
                raise BrowserError(f"Chromium ended: {self._said()}")
            self._received += part
        text, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append(message)
        if message.get("method") == "Page.javascriptDialogOpening":
            dismissal = {
                "id": 0,
                "method": "Page.handleJavaScriptDialog",
                "params": {"accept": False},
                "sessionId": self._session,
            }
            os.write(self._commands, json.dumps(dismissal).encode() + b"\0")
        return message

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-1500:]
