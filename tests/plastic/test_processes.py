"""The capture of one command: bounds, stops, and what may outlive it."""

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from patchdiff import cancellation
from patchdiff.plastic import process
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import DEFAULT_LIMITS, CaptureLimits
from patchdiff.plastic.process import Capture, Command, run
from tests.plastic.kit import MIB, descriptors, is_running

COMMAND = DEFAULT_LIMITS.command
PATCH = DEFAULT_LIMITS.patch


def python(program: str, limits: CaptureLimits = COMMAND, place: Path = Path("/")) -> Capture:
    """Run a Python program as the command."""
    before = descriptors()
    arguments = [sys.executable, "-IS", "-c", program]
    capture = run(Command("cat", arguments, ["cm", "cat"], place, limits))
    assert descriptors() == before
    return capture


def problem(capture: Capture) -> str | None:
    try:
        capture.admit("export")
    except Failure as failure:
        return failure.code
    return None


@pytest.mark.req("PDIFF-073", "PPATCH-045")
def test_the_limits_of_the_product() -> None:
    assert CaptureLimits(1_048_576, 65_536, 30.0) == COMMAND
    assert CaptureLimits(65_536, 16_384, 120.0) == PATCH


def output_of(stdout: int, stderr: int) -> str:
    first = f"sys.stdout.write('o' * {stdout}); sys.stdout.flush()"
    return f"import sys; {first}; sys.stderr.write('e' * {stderr})"


@pytest.mark.req("PDIFF-071")
def test_stdout_of_1_mib_is_kept_and_one_byte_more_fails() -> None:
    kept = python(output_of(MIB, 0))
    assert (len(kept.stdout), kept.truncated, problem(kept)) == (MIB, False, None)
    over = python(output_of(MIB + 1, 0))
    assert (len(over.stdout), over.stdout_seen) == (MIB, MIB + 1)
    assert (over.truncated, problem(over)) == (True, "output_limit")


@pytest.mark.req("PDIFF-072")
def test_stderr_of_64_kib_is_kept_and_one_byte_more_is_truncated() -> None:
    kept = python(output_of(0, 65_536))
    assert (len(kept.stderr), kept.truncated) == (65_536, False)
    assert problem(kept) == "command_stderr"
    over = python(output_of(0, 65_537))
    assert (len(over.stderr), over.stderr_seen, over.truncated) == (65_536, 65_537, True)
    assert problem(over) == "output_limit"


@pytest.mark.req("PPATCH-039")
@pytest.mark.parametrize(("stdout", "stderr"), [(65_536, 0), (0, 16_384)])
def test_the_capture_of_a_patch_at_its_bounds(stdout: int, stderr: int) -> None:
    kept = python(output_of(stdout, stderr), PATCH)
    assert (kept.truncated, kept.possibly_running) == (False, False)
    over = python(output_of(stdout + (stdout > 0), stderr + (stderr > 0)), PATCH)
    assert (over.truncated, over.possibly_running) == (True, True)
    assert over.as_json()["stdoutKept"] == stdout
    assert over.as_json()["stderrKept"] == stderr


def test_endless_output_is_stopped_at_once() -> None:
    start = time.monotonic()
    capture = python("import sys\nwhile True: sys.stdout.write('o' * 65536)")
    assert time.monotonic() - start < 10
    assert (len(capture.stdout), problem(capture)) == (MIB, "output_limit")


@pytest.mark.req("PDIFF-057", "PDIFF-073")
def test_a_command_over_its_time_is_asked_to_end() -> None:
    start = time.monotonic()
    capture = python("import time; time.sleep(60)", replace(COMMAND, seconds=0.3))
    assert 0.3 <= time.monotonic() - start < 0.3 + process.GRACE_SECONDS
    assert (capture.terminal, capture.exit_code, capture.signal_name) == ("timeout", None, None)
    assert (capture.possibly_running, problem(capture)) == (True, "command_timeout")
    assert capture.as_json()["timeoutMs"] == 300


@pytest.mark.req("PDIFF-073")
def test_a_child_that_ignores_the_first_signal_is_killed(tmp_path: Path) -> None:
    program = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    )
    start = time.monotonic()
    capture = python(program, replace(COMMAND, seconds=0.4))
    assert time.monotonic() - start >= 0.4 + process.GRACE_SECONDS
    assert capture.terminal == "timeout"
    assert not is_running(int((tmp_path / "pid").read_text()))


CHILD = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-IS', '-c', {program!r}]{more}); open({pid!r}, 'w').write(str(p.pid))"  # noqa: E501


def grandchild(path: Path, more: str = "", program: str = "import time; time.sleep(60)") -> str:
    return CHILD.format(program=program, pid=str(path), more=more)


def test_a_grandchild_that_holds_the_pipes_is_ended(tmp_path: Path) -> None:
    capture = python(grandchild(tmp_path / "pid"), replace(COMMAND, seconds=0.5))
    assert problem(capture) == "command_timeout"
    assert capture.possibly_running
    wait_for_end(int((tmp_path / "pid").read_text()))


def test_a_grandchild_that_closed_the_pipes_fails_the_command(tmp_path: Path) -> None:
    quiet = ", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"
    capture = python(grandchild(tmp_path / "pid", quiet))
    assert (capture.terminal, capture.exit_code) == ("exit", 0)
    assert (capture.possibly_running, problem(capture)) == (True, "command_failed")
    wait_for_end(int((tmp_path / "pid").read_text()))


@pytest.mark.req("PPATCH-030")
def test_a_process_that_left_the_group_is_given_up_as_possibly_running(tmp_path: Path) -> None:
    more = ", start_new_session=True"
    capture = python(grandchild(tmp_path / "pid", more), replace(COMMAND, seconds=0.3))
    number = int((tmp_path / "pid").read_text())
    assert capture.terminal == "timeout"
    assert capture.possibly_running
    assert is_running(number)
    os.kill(number, signal.SIGKILL)


def wait_for_end(number: int) -> None:
    deadline = time.monotonic() + 5
    while is_running(number):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.req("PDIFF-055")
def test_a_command_that_a_signal_ends() -> None:
    capture = python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (capture.terminal, capture.signal_name) == ("signal", "SIGKILL")
    assert (capture.exit_code, capture.possibly_running) == (None, False)
    assert problem(capture) == "command_signaled"
    odd = python("import os; os.kill(os.getpid(), 40)")
    assert odd.signal_name in ("SIG40", "SIGRTMIN+6")


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("pass", None),
        ("raise SystemExit(1)", "command_failed"),
        ("raise SystemExit(255)", "command_failed"),
        pytest.param(
            "import sys; sys.stderr.write('w')",
            "command_stderr",
            marks=pytest.mark.req("PDIFF-056"),
        ),
        ("import sys; sys.stderr.write('w'); sys.exit(1)", "command_failed"),
        ("import sys; assert not sys.stdin.read()", None),
        ("import os; assert os.getsid(0) == os.getpid()", None),
        (
            "import os; assert not [n for n in os.environ if n.startswith(('PATCHDIFF_', 'PG'))]",
            None,
        ),
        ("import os; os.close(1); os.close(2); import time; time.sleep(0.2)", None),
    ],
)
def test_how_a_command_ends(
    monkeypatch: pytest.MonkeyPatch, program: str, code: str | None
) -> None:
    monkeypatch.setenv("PATCHDIFF_DATABASE_URL", "postgresql://user:secret@host/db")
    monkeypatch.setenv("PGPASSWORD", "secret")
    assert problem(python(program)) == code


def test_a_program_that_cannot_start(tmp_path: Path) -> None:
    before = descriptors()
    broken = tmp_path / "broken"
    broken.write_bytes(b"no program")
    broken.chmod(0o755)
    for arguments in (["/none"], [str(tmp_path)], [str(broken)], ["/bin/true", "a\0b"]):
        capture = run(Command("cat", arguments, [], tmp_path, COMMAND))
        assert capture.terminal == "spawn-failed"
        assert problem(capture) == "backend_unavailable"
    assert descriptors() == before


@pytest.mark.parametrize("ending", [False, True])
def test_a_cancelled_command_is_stopped(monkeypatch: pytest.MonkeyPatch, ending: bool) -> None:
    wanted = threading.Event()
    monkeypatch.setattr(cancellation, "is_cancelled", wanted.is_set)
    monkeypatch.setattr(cancellation, "process_is_ending", lambda: ending)
    threading.Timer(0.3, wanted.set).start()
    start = time.monotonic()
    program = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
    capture = python(program)
    seconds = time.monotonic() - start
    grace = process.LAST_GRACE_SECONDS if ending else process.GRACE_SECONDS
    assert 0.3 + grace <= seconds < 0.3 + grace + 5
    assert (capture.terminal, capture.possibly_running) == ("aborted", True)
    assert problem(capture) == "aborted"
    # and nothing more is started
    assert problem(python("open('/none/x')")) == "aborted"


@pytest.mark.soak
@pytest.mark.req("PDIFF-073")
def test_stopping_begins_at_30_seconds() -> None:
    start = time.monotonic()
    capture = python("import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(300)")
    assert 30 + process.GRACE_SECONDS <= time.monotonic() - start < 40
    assert capture.terminal == "timeout"
