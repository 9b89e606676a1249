"""The text comparison: what the backend may print, and what of it is admitted."""

import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import DEFAULT_LIMITS
from patchdiff.plastic.process import Capture, Command
from patchdiff.plastic.unified import admit
from tests.plastic.kit import MIB, Workspace, error

PATH = "a.txt"
DIFF = shutil.which("diff")


def compared(workspace: Workspace, **fault: Any) -> dict[str, Any]:
    """One comparison of two texts with a fault of the backend."""
    workspace.change(PATH, b"a\nb\nc\n", b"a\nB\nc\n")
    workspace.use_stand_in_diff()
    workspace.fault("diff-program", **fault)
    envelope = workspace.file(PATH)
    assert workspace.commands().count("diff-program") == 1
    assert workspace.commands()[-1] == "diff-program"
    return envelope


FAULTS = [
    pytest.param({"exit": 0}, "diff_malformed", marks=pytest.mark.req("PDIFF-051")),
    pytest.param({"output": ""}, "diff_malformed", marks=pytest.mark.req("PDIFF-051")),
    pytest.param({"exit": 2}, "command_failed", marks=pytest.mark.req("PDIFF-051")),
    pytest.param({"exit": 2, "output": ""}, "command_failed", marks=pytest.mark.req("PDIFF-051")),
    pytest.param(
        {"exit": 0, "output": ""}, "diff_malformed", marks=pytest.mark.req("PDIFF-051")
    ),
    pytest.param({"stderr": 1}, "command_failed", marks=pytest.mark.req("PDIFF-056")),
    pytest.param({"stderr": 1, "exit": 0}, "command_stderr", marks=pytest.mark.req("PDIFF-056")),
    pytest.param({"kill": 9}, "command_signaled", marks=pytest.mark.req("PDIFF-055")),
    pytest.param({"kill": 11}, "command_signaled", marks=pytest.mark.req("PDIFF-055")),
    pytest.param({"noise": MIB}, "output_limit", marks=pytest.mark.req("PDIFF-071")),
    pytest.param({"replace": ["@@ -1,3", "@@ -1,4"]}, "diff_malformed",
                 marks=pytest.mark.req("PDIFF-052")),
    pytest.param({"replace": [r"\+1,3 @@", "+1,2 @@"]}, "diff_malformed",
                 marks=pytest.mark.req("PDIFF-052")),
    pytest.param({"replace": ["@@ -1,3", "@@ -2,3"]}, "diff_malformed",
                 marks=pytest.mark.req("PDIFF-052")),
    pytest.param({"replace": [r"\+1,3 @@", "+2,3 @@"]}, "diff_malformed"),
    pytest.param({"replace": ["\n c\n", "\n"]}, "diff_malformed",
                 marks=pytest.mark.req("PDIFF-052")),
    pytest.param({"replace": [r"\n\+B", r"\n+X"]}, "diff_malformed"),
    pytest.param({"replace": ["\n-b", "\n-x"]}, "diff_malformed"),
    pytest.param({"replace": ["\n a", "\n x"]}, "diff_malformed"),
    pytest.param({"replace": ["--- left", "--- other"]}, "diff_malformed"),
    pytest.param({"replace": [r"\+\+\+ right", "+++ other"]}, "diff_malformed"),
    pytest.param({"replace": ["@@\n", "@@ section\n"]}, "diff_malformed"),
    pytest.param({"replace": ["\n", "\r\n"]}, "diff_malformed"),
    pytest.param({"append": b"junk\n".hex()}, "diff_malformed"),
    pytest.param({"append": b"\n".hex()}, "diff_malformed"),
    pytest.param({"append": b"junk".hex()}, "diff_malformed"),
    pytest.param({"prefix": b"junk\n".hex()}, "diff_malformed"),
    pytest.param({"truncate": 60}, "diff_malformed"),
    pytest.param({"replace": ["B\n", "\xff\n"]}, "invalid_encoding",
                 marks=pytest.mark.req("PDIFF-053")),
    pytest.param({"output": b"Binary files left and right differ\n".hex()}, "diff_malformed"),
    pytest.param({"output": b"Binary files left and right differ\n".hex(), "exit": 2},
                 "command_failed"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "code"), FAULTS)
@pytest.mark.req("PDIFF-062", "PDIFF-069")
def test_a_comparison_that_is_not_admitted(
    workspace: Workspace, fault: dict[str, Any], code: str
) -> None:
    envelope = compared(workspace, **fault)
    assert error(envelope) == (code, "compare")
    assert envelope["data"] is None
    assert envelope["completeness"]["read"] == "none"


@pytest.mark.parametrize(
    "marker",
    [
        "\\ Kein Zeilenumbruch am Dateiende.",
        "\\ No newline at end of file ",
        "\\ no newline at end of file",
        "\\No newline at end of file",
        "\\",
    ],
)
@pytest.mark.req("PDIFF-061")
def test_another_marker_than_the_english_one_is_refused(workspace: Workspace, marker: str) -> None:
    workspace.change(PATH, b"a\n", b"a")
    workspace.use_stand_in_diff()
    escaped = marker.replace("\\", "\\\\")
    workspace.fault("diff-program", replace=[r"\\ No newline at end of file", escaped])
    assert error(workspace.file(PATH)) == ("diff_malformed", "compare")


@pytest.mark.parametrize(
    ("left", "right", "markers"),
    [(b"a\n", b"a", 1), (b"a", b"a\n", 1), (b"a", b"b", 2), (b"x\na", b"y\na", 1)],
)
@pytest.mark.req("PDIFF-060")
def test_a_missing_final_newline_is_admitted_and_counted(
    workspace: Workspace, left: bytes, right: bytes, markers: int
) -> None:
    workspace.change(PATH, left, right)
    data = workspace.file(PATH)["data"]
    assert (data["status"], data["noNewlineMarkers"]) == ("changed", markers)


@pytest.mark.req("PDIFF-083")
def test_the_configured_backend_is_the_only_one(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    assert workspace.diff_program == "diff"
    assert workspace.file(PATH)["ok"]
    assert "diff-program" not in workspace.commands()
    workspace.use_stand_in_diff()
    assert workspace.file(PATH)["ok"]
    assert workspace.commands().count("diff-program") == 1
    workspace.diff_program = str(workspace.base / "none")
    assert error(workspace.file(PATH)) == ("backend_unavailable", "compare")


def test_excerpts_carry_no_times(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    text = workspace.file(PATH)["data"]["excerpt"]["text"]
    assert text.startswith("--- left\n+++ right\n@@ -1 +1 @@\n")


@pytest.mark.req("PDIFF-071")
def test_two_texts_whose_differences_exceed_the_capture_fail(workspace: Workspace) -> None:
    workspace.change(PATH, b"left\n" * 300_000, b"right\n" * 300_000)
    assert error(workspace.file(PATH)) == ("output_limit", "compare")


def printed(output: bytes, exit_code: int) -> Capture:
    command = Command("diff", [], [], Path(), DEFAULT_LIMITS.command)
    return Capture(command, "exit", exit_code, stdout=bytearray(output), stdout_seen=len(output))


def real_diff(left: bytes, right: bytes, place: Path) -> Capture:
    (place / "left").write_bytes(left)
    (place / "right").write_bytes(right)
    done = subprocess.run(
        [str(DIFF), "-u", "left", "right"], cwd=place, capture_output=True, check=False
    )
    assert done.stderr == b""
    return printed(done.stdout, done.returncode)


LINES = [b"a", b"b", b"", b"\r", b"--- x", b"+++ y", b"\\ No newline at end of file",
         b"@@ -1 +1 @@",          "\u2028\x0c\U0001f600".encode(), b" ", b"-", b"+"]  # fmt: skip


def random_text(generator: random.Random) -> bytes:
    lines = generator.choices(LINES, k=generator.randint(0, 12))
    text = b"\n".join(lines)
    return text + b"\n" if lines and generator.random() < 0.7 else text


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.req("PDIFF-050", "PDIFF-052")
def test_real_comparisons_are_admitted_and_no_altered_one(seed: int, tmp_path: Path) -> None:
    generator = random.Random(seed)
    altered = 0
    for _ in range(60):
        left, right = random_text(generator), random_text(generator)
        capture = real_diff(left, right, tmp_path)
        found = admit(capture, left, right)
        assert found.exit_code == (left != right)
        output = bytes(capture.stdout)
        if not output:
            continue
        # one line left out, doubled or of another sign leads elsewhere or nowhere
        body = output.split(b"\n")[:-1]
        place = generator.randrange(2, len(body))
        line = body[place]
        changed = generator.choice(
            [[], [line, line], [b"?" + line[1:]], [line + b"x"], [b"+" + line]]
        )
        wrong = b"\n".join([*body[:place], *changed, *body[place + 1 :]]) + b"\n"
        with pytest.raises(Failure):
            admit(printed(wrong, 1), left, right)
        altered += 1
    assert altered > 30


def test_hunks_that_are_no_hunks() -> None:
    head = b"--- left\n+++ right\n"
    for body in (
        b"",
        b"@@ -0,0 +0,0 @@\n",
        b"@@ -1 +1 @@\n a\n",
        b"@@ -1 +1 @@\n-a\n",
        b"@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n",
        b"@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n",
        b"@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n",
        b"@@ -1,1000000000 +1 @@\n-a\n+b\n",
        b"@@ -5 +5 @@\n-a\n+b\n",
    ):
        with pytest.raises(Failure, match="diff_malformed"):
            admit(printed(head + body, 1), b"a\n", b"b\n")
    assert admit(printed(head + b"@@ -1 +1 @@\n-a\n+b\n", 1), b"a\n", b"b\n").hunks == 1
    assert admit(printed(head + b"@@ -1,1 +1,1 @@\n-a\n+b\n", 1), b"a\n", b"b\n").hunks == 1
