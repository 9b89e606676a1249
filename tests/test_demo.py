"""`patchdiff demo` on files of every kind, and the README's two commands on a bare checkout."""

import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchdiff.demo_document import (
    MAXIMUM_BYTES,
    choose_ambiguous,
    choose_edits,
    read_document,
    unified_diff,
)
from patchdiff.printable import printable, shortened
from tests.support.documents import texts

ROOT = Path(__file__).resolve().parents[1]
UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the embedded server that all demos of this file share."""
    return tmp_path_factory.mktemp("home") / "patchdiff"


def environment(home: Path) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PATCHDIFF_", "MAKE", "MFLAGS", "FORCE_COLOR"))
    }
    return inherited | {"PATCHDIFF_HOME": str(home), "COLUMNS": "100"}


def demo(home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "patchdiff.cli", "demo", *arguments],
        env=environment(home) | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def shows_the_whole_story(output: str) -> None:
    """Holds a demo's output to what every demo shows, whatever the file."""
    for tool in (
        "initialize_target",
        "read_lines",
        "submit_edits",
        "export_target",
        "get_pdcp_log",
        "get_manifest_ledger",
    ):
        assert f"→ patchdiff_{tool}" in output
    lines = [" ".join(line.split()) for line in output.splitlines()]
    assert "status accepted" in lines
    assert "manifest_entries_added 2" in lines
    assert lines.count("status rejected") == 2
    assert "failure_reason match_ambiguous" in lines
    assert "failure_reason target_version_mismatch" in lines
    log = [re.sub(r"^\d+ ", "", line) for line in lines[lines.index(LOG_HEADER) + 1 :]]
    assert log[:3] == [
        "rejected 1 target_version_mismatch Show a stale guard",
        "rejected 1 match_ambiguous Show an ambiguous edit",
        "accepted 0 → 1 Show an accepted transaction",
    ]
    ledger = lines[lines.index("ledger log change span chars rationale") + 1 :]
    for number in (1, 2):
        assert re.match(rf"\d+ \d+ chg_00{number} \d+\.\.\d+ \d+ → \d+ The ", ledger[0])
        # a long rationale goes on in the next lines
        ledger = [line for line in ledger[1:] if re.match(r"\d+ \d+ chg", line)]
    assert re.search(r"^@@ -\d+,\d+ \+\d+,\d+ @@$", output, re.MULTILINE)
    assert re.search(rf"patchdiff psql\n.*\n.*target_file_id => '{UUID}'", output)


LOG_HEADER = "log status version failure_reason intent"

FILES = {
    "readme": (ROOT / "README.md").read_bytes(),
    "one line without an end": b"only this",
    "one character": b"x",
    "crlf": b"first\r\nsecond\r\nthird\r\n",
    "mixed line ends": b"first\nsecond\r\nthird\rfourth",
    "lone carriage returns": b"first\rsecond\r",
    "blank lines around": b"\n \n\t text \n\n",
    "the same line all over": b"same\n" * 50,
    "long line of one letter": b"a" * 100_000,
    "beyond ASCII": "\ufeff日本語\n\U0001f600 e\u0301 \u2028 ü\n".encode(),
    "terminal controls": b"\x1b[31mred\x1b[0m \x07 [bold]x[/bold]\n\x1b]0;title\x07\n",
    "the demo's own words": b"a (first edit of the demo)\nb (second edit of the demo)\n",
    "a name that looks like an option": b"first\nlast\n",
}


@pytest.mark.parametrize("kind", FILES)
def test_any_text_file_can_be_edited(home: Path, tmp_path: Path, kind: str) -> None:
    file = tmp_path / ("--help.txt" if "option" in kind else "ein Text $HOME 'x'.md")
    file.write_bytes(FILES[kind])
    shown = demo(home, "--", str(file))
    assert (shown.returncode, shown.stderr) == (0, "")
    shows_the_whole_story(shown.stdout)
    assert file.read_bytes() == FILES[kind]
    # what a terminal would obey never reaches it
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown.stdout) is None


def test_without_a_file_the_readme_is_edited(home: Path) -> None:
    shown = demo(home)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "document: a copy of README.md, " in shown.stdout


def test_it_is_shown_in_colours_where_they_can_be_seen(home: Path) -> None:
    shown = demo(home, FORCE_COLOR="1", TERM="xterm-256color")
    assert shown.returncode == 0
    removed, added = (
        re.search(rf"^(\x1b\[[0-9;]+m)\{sign}# PatchDIFF", shown.stdout, re.MULTILINE)
        for sign in "-+"
    )
    assert removed is not None
    assert added is not None
    assert removed[1] != added[1]


def test_the_settings_of_another_server_change_nothing(home: Path) -> None:
    shown = demo(
        home,
        PATCHDIFF_DATABASE_URL="postgresql://nobody@127.0.0.1:1/nowhere",
        PATCHDIFF_MCP_PROFILE="reader",
        PATCHDIFF_STRICT_OBSERVATION_MODE="1",
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    shows_the_whole_story(shown.stdout)
    assert "env -u PATCHDIFF_DATABASE_URL " in shown.stdout


@pytest.mark.parametrize("width", ["80", "120"])
def test_it_fits_the_terminal(home: Path, width: str) -> None:
    shown = demo(home, COLUMNS=width)
    assert shown.returncode == 0
    command = re.search(r"^.*patchdiff psql$", shown.stdout, re.MULTILINE)
    assert command is not None
    lines = shown.stdout.replace(command[0], "").splitlines()
    assert max(map(len, lines)) <= int(width)


def test_nothing_is_left_running(home: Path) -> None:
    assert demo(home).returncode == 0
    assert not (home / "data" / "postmaster.pid").exists()


UNUSABLE = {
    "missing": (Path.absolute, "does not exist"),
    "directory": (lambda path: path.mkdir(), "is a directory"),
    "pipe": (os.mkfifo, "is not a regular file"),
    "empty": (lambda path: path.write_bytes(b""), "has no line with text"),
    "blank": (lambda path: path.write_bytes(b" \n\t\n"), "has no line with text"),
    "NUL": (lambda path: path.write_bytes(b"ab\0"), "has a NUL at code point 2"),
    "not UTF-8": (lambda path: path.write_bytes(b"caf\xe9"), "is not UTF-8 text: byte 3"),
    "encoded surrogate": (
        lambda path: path.write_bytes(b"\xed\xa0\x80"),
        "is not UTF-8 text: byte 0",
    ),
    "too long": (
        lambda path: path.write_bytes(b"a" * (MAXIMUM_BYTES + 1)),
        "the demo takes at most 4,194,304",
    ),
    "loop of links": (lambda path: path.symlink_to(path), "cannot be read: "),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_file_that_cannot_be_used_is_told_in_one_line(
    home: Path, tmp_path: Path, kind: str
) -> None:
    make, reason = UNUSABLE[kind]
    path = tmp_path / "given\x1b[31m\nfile"
    make(path)
    shown = demo(home, str(path))
    assert (shown.returncode, shown.stdout) == (2, "")
    (line,) = shown.stderr.splitlines()
    assert line.startswith("patchdiff demo: ")
    assert reason in line
    assert r"given\x1b[31m\nfile" in line


def test_a_file_of_the_greatest_length_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"a" * MAXIMUM_BYTES)
    assert len(read_document(path).content) == 4 * 1024 * 1024


def test_a_server_that_cannot_start_is_told_in_one_line(tmp_path: Path) -> None:
    occupied = tmp_path / "occupied"
    occupied.mkdir()
    (occupied / "file").write_text("not PatchDIFF's", encoding="utf-8")
    shown = demo(occupied)
    assert (shown.returncode, shown.stdout) == (2, "")
    (line,) = shown.stderr.splitlines()
    assert "PATCHDIFF_HOME" in line


def applied(text: str, edits: list[dict[str, object]]) -> str:
    """The text after the edits, each at its numbered or its only exact occurrence."""
    for edit in edits:
        match, replace = str(edit["match"]), str(edit["replace"])
        starts = [i for i in range(len(text)) if text.startswith(match, i)]
        index = edit.get("occurrence_index")
        assert isinstance(index, int) or len(starts) == 1
        start = starts[index - 1 if isinstance(index, int) else 0]
        text = text[:start] + replace + text[start + len(match) :]
    return text


@given(texts(max_size=80).filter(str.strip))
def test_the_chosen_edits_fit_any_text(text: str) -> None:
    text = re.sub("\r\n?", "\n", text)
    edits, expected = choose_edits(text)
    assert len(edits) == 2
    assert applied(text, edits) == expected
    ambiguous = choose_ambiguous(text, expected)
    assert sum(expected.startswith(ambiguous, i) for i in range(len(expected))) > 1
    changed = [
        (old, new)
        for old, new in zip(text.split("\n"), expected.split("\n"), strict=True)
        if old != new
    ]
    assert 1 <= len(changed) <= 2


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40), st.sets(st.integers(0, 39)))
def test_the_diff_is_one_that_patch_could_apply(lines: list[str], places: set[int]) -> None:
    after = [line + "!" if index in places else line for index, line in enumerate(lines)]
    diff = list(unified_diff("\n".join(lines), "\n".join(after), "x"))
    rebuilt = list(lines)
    hunks = [index for index, line in enumerate(diff) if line.startswith("@@")]
    for begin, end in pairwise([*hunks, len(diff)]):
        start, count = map(int, re.match(r"@@ -(\d+),(\d+) \+\1,\2 @@$", diff[begin]).groups())  # type: ignore[union-attr]
        body = diff[begin + 1 : end]
        assert [line[1:] for line in body if line[0] in " -"] == lines[
            start - 1 : start - 1 + count
        ]
        rebuilt[start - 1 : start - 1 + count] = [line[1:] for line in body if line[0] in " +"]
    assert rebuilt == after
    assert sum(line.startswith("-") for line in diff[2:]) == len(places & set(range(len(lines))))


def test_text_is_shown_without_what_a_terminal_obeys() -> None:
    assert printable("a\x1b[0m\u202e\t\u00e9\n") == "a\\x1b[0m\\u202e\t\u00e9\\n"
    assert shortened("x" * 80, 80) == "x" * 80
    assert shortened("a" * 50 + "b" * 31, 80) == "a" * 39 + " … " + "a" * 7 + "b" * 31


@pytest.fixture(scope="module")
def bare_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this tree without what only setting up makes, under a path with spaces."""
    copy = tmp_path_factory.mktemp("bare") / "a bare checkout"
    ignored = shutil.ignore_patterns(
        ".venv", ".cache", ".git", ".hypothesis", ".*_cache", "__pycache__", "build", "dist"
    )
    shutil.copytree(ROOT, copy, ignore=ignored)
    return copy


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=checkout,
        env=environment(checkout.parent / "home"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


@pytest.mark.req("CMD-008", "CMD-009")
def test_the_two_commands_work_on_a_bare_checkout(bare_checkout: Path) -> None:
    assert not (bare_checkout / ".venv").exists()
    shown = make(bare_checkout, "demo")
    assert shown.returncode == 0, shown.stderr
    assert "server:   patchdiff mcp, over stdio" in shown.stdout
    shows_the_whole_story(shown.stdout)
    # run from the checkout: with the new environment's own command
    assert "\n  .venv/bin/patchdiff psql\n" in shown.stdout

    # the suite cannot run within itself: what it would run is collected
    collected = make(bare_checkout, "test", "ARGS=--collect-only -q")
    assert collected.returncode == 0, collected.stdout + collected.stderr
    names = {line.split("::")[0] for line in collected.stdout.splitlines() if "::" in line}
    python = {f"tests/{path.name}" for path in (ROOT / "tests").glob("test_*.py")}
    sql = {f"pgtap/{path.name}" for path in (ROOT / "pgtap").glob("test_*.sql")}
    assert python - {"tests/test_soak.py"} <= names
    assert sql
    assert sql <= names


def test_an_old_python_is_refused_in_one_line(bare_checkout: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.10.1\nexit 1\n')
    old.chmod(0o755)
    untouched = tmp_path / "untouched"
    untouched.mkdir()
    shutil.copy(bare_checkout / "Makefile", untouched)
    for python, reason in ((str(old), "is Python 3.10.1"), ("no-such-python", "no-such-python")):
        refused = make(untouched, "demo", f"PYTHON={python}")
        assert refused.returncode == 2
        first, *rest = refused.stderr.splitlines()
        assert reason in first
        assert "3.11" in first
        assert all(line.startswith("make") for line in rest)
        assert not (untouched / ".venv").exists()
