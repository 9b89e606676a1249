"""`patchdiff log`, `show` and `verify`, as processes of their own on a real server."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from patchdiff import Service
from patchdiff.schema import migrate
from tests.support.commands import assert_refused, run, schema_dump
from tests.support.documents import UNKNOWN_ID, ServiceCaller, attempts, change, document, submit
from tests.support.shown_histories import damage, rich_history

UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@pytest.fixture(scope="module")
def told(database_url: str) -> Any:
    """Runs a command on the shared database."""

    def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return run(*arguments, PATCHDIFF_DATABASE_URL=database_url, **environment)

    return command


@pytest.fixture(scope="module")
def caller(database_url: str) -> Iterator[ServiceCaller]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield ServiceCaller(Service(connection))


@pytest.fixture(scope="module")
def target(caller: ServiceCaller) -> str:
    return rich_history(caller)


def entry(caller: ServiceCaller, target: str, intent: str) -> dict[str, Any]:
    [found] = [e for e in attempts(caller, target) if e["intent"] == intent]
    return found


def is_plain(output: str, width: int = 80) -> None:
    """Nothing that a terminal obeys, nothing unseen, no trailing spaces, no line too wide."""
    for line in output.split("\n"):
        assert line.isprintable(), ascii(line)
        assert line == line.rstrip(" ")
        assert len(line) <= width or line.startswith("There are older ones")


def test_log_lists_the_attempts_newest_first(told: Any, caller: ServiceCaller, target: str) -> None:
    answer = told("log", target)
    assert (answer.returncode, answer.stderr) == (0, "")
    is_plain(answer.stdout)
    entries = attempts(caller, target)
    rows = re.findall(
        r"^ *(\d+)  ([\d-]{10} [\d:]{8})  (accepted|rejected)  (\d(?: → \d)?) *(\w*)$",
        answer.stdout,
        re.MULTILINE,
    )
    assert rows == [
        (
            str(e["log_sequence"]),
            e["created_at"].replace("T", " ").removesuffix("Z"),
            e["status"],
            str(e["before_version"])
            + (f" → {e['after_version']}" if e["status"] == "accepted" else ""),
            e["failure_reason"] or "",
        )
        for e in entries
    ]
    assert [row[3] for row in rows] == ["2 → 3", "2", "1 → 2", "1", "0 → 1"]
    by = re.findall(rf"^ +({UUID}) by\s+(\S+)", answer.stdout, re.MULTILINE)
    assert [log_id for log_id, _ in by] == [e["pdcp_log_id"] for e in entries]
    assert [by[n][1] for n in (0, 1, 3, 4)] == ["dave", "carol", "bob", "alice"]
    assert "\\u202e" in answer.stdout
    assert "older" not in answer.stdout


def test_log_says_how_to_go_on(told: Any, caller: ServiceCaller, target: str) -> None:
    for options, expected in (
        ([], attempts(caller, target)),
        (
            ["--status", "rejected"],
            attempts(caller, target, status="rejected"),
        ),
    ):
        arguments, seen = ["log", target, "--limit", "1", *options], []
        while arguments:
            answer = told(*arguments)
            seen += re.findall(rf"^ +({UUID}) by\b", answer.stdout, re.MULTILINE)
            _, _, following = answer.stdout.partition("There are older ones: patchdiff ")
            arguments = following.split()
        assert seen == [e["pdcp_log_id"] for e in expected]


def test_log_of_many_attempts(told: Any, caller: ServiceCaller) -> None:
    many = document(caller, "x")["target_file_id"]
    assert "no such attempts" in told("log", many).stdout
    for _ in range(203):
        submit(caller, many, change("y", "z"))
    answer = told("log", many, "--limit", "202", COLUMNS="120")
    assert answer.stdout.count("match_absent") == 202
    assert answer.stdout.count("There are older ones") == 1
    assert told("log", many, "--limit", "203").stdout.count("older ones") == 0
    assert told("log", many).stdout.count("match_absent") == 20


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["log", UNKNOWN_ID], ["No target has the id", UNKNOWN_ID]),
        (["log", "story.txt"], ["target_file_id must be"]),
        (["log", "\x1b[31m\n"], ["target_file_id must be"]),
        (["show", UNKNOWN_ID], ["No attempt has the pdcp_log_id", UNKNOWN_ID]),
        (["show", "12"], ["pdcp_log_id must be"]),
        (["show", UNKNOWN_ID, "--target", UNKNOWN_ID], ["No target has the id"]),
        (["verify", UNKNOWN_ID], ["No target has the id"]),
        (["verify", "x"], ["target_file_id must be"]),
    ],
)
def test_what_is_unknown_is_refused_in_one_line(
    told: Any, arguments: list[str], words: list[str]
) -> None:
    assert_refused(told(*arguments), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verify"], "Name one TARGET, or give --all"),
        (["verify", UNKNOWN_ID, "--all"], "Name one TARGET, or give --all"),
        (["log", UNKNOWN_ID, "--limit", "0"], "--limit"),
        (["log", UNKNOWN_ID, "--before", "0"], "--before"),
        (["log", UNKNOWN_ID, "--limit", str(2**63)], "--limit"),
        (["log", UNKNOWN_ID, "--status", "open"], "--status"),
        (["log"], "TARGET"),
        (["show"], "LOG_ID"),
    ],
)
def test_wrong_usage(told: Any, arguments: list[str], words: str) -> None:
    answer = told(*arguments)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert words in answer.stderr


def test_show_an_accepted_attempt(told: Any, caller: ServiceCaller, target: str) -> None:
    attempt = entry(caller, target, "Two changes")
    answer = told("show", attempt["pdcp_log_id"])
    assert (answer.returncode, answer.stderr) == (0, "")
    is_plain(answer.stdout)
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    for line in (
        f"attempt {attempt['pdcp_log_id']}",
        f"target {target} (story.txt)",
        "status accepted",
        "source alice",
        "intent Two changes",
        "guards expected_target_version 0",
        "version before 0",
        f"hash before {attempt['before_hash']}",
        "version after 1",
        f"hash after {attempt['after_hash']}",
        "rationale In words",
        "risk low",
    ):
        assert line in lines
    first = lines.index(next(line for line in lines if line.startswith("change 1: chg_001")))
    second = lines.index(next(line for line in lines if line.startswith("change 2: drop")))
    # nine lines of 18 code points come before line 10
    text = "".join(f"line {number} of the text\n" for number in range(1, 31))
    start = text.index("line 10 of")
    assert f"span code points {start} to {start + 10}" in lines[first:second]
    diff = lines[first + 4 : second]
    assert [line for line in diff if line] == [
        "7 7 line 7 of the text", "8 8 line 8 of the text", "9 9 line 9 of the text",
        "10 - line 10 of the text", "10 + line ten of the text",
        "11 11 line 11 of the text", "12 12 line 12 of the text", "13 13 line 13 of the text",
    ]  # fmt: skip
    assert "20 - line 20 of the text" in lines[second:]
    assert "21 20 line 21 of the text" in lines[second:]


def test_show_a_whole_replacement(told: Any, caller: ServiceCaller, target: str) -> None:
    attempt = entry(caller, target, "All anew")
    answer = told("show", attempt["pdcp_log_id"], "--target", target)
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert "1 1 line 1 of the text" in lines
    assert "2 - line 2 of the text" in lines
    assert "2 + the end (no line feed)" in lines


def test_show_what_a_rejected_attempt_proposed(
    told: Any, caller: ServiceCaller, target: str
) -> None:
    attempt = entry(caller, target, "Too many")
    answer = told("show", attempt["pdcp_log_id"])
    is_plain(answer.stdout)
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert "reason match_ambiguous" in lines
    assert any('"occurrence_count"' in line for line in lines)
    assert lines[-2:] == ["- line", "+ row"]
    assert any(line.startswith("proposed 1: chg_001") for line in lines)


def test_show_hostile_texts(told: Any, caller: ServiceCaller, target: str) -> None:
    [attempt] = [e for e in attempts(caller, target) if e["before_version"] == 1][:1]
    for width in (80, 132):
        answer = told("show", attempt["pdcp_log_id"], COLUMNS=str(width))
        is_plain(answer.stdout, width)
        assert "\\u202e" in answer.stdout
        assert "\\x1b[31m" in answer.stdout


def test_show_a_damaged_record(
    told: Any, caller: ServiceCaller, admin: psycopg.Connection[Any]
) -> None:
    broken = document(caller, "alpha\nbeta\n")["target_file_id"]
    submit(caller, broken, change("beta", "gamma"))
    damage(admin, "append_only_pdcp_logs", "pdcp_content = '{'", broken)
    [attempt] = attempts(caller, broken)
    answer = told("show", attempt["pdcp_log_id"])
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "The stored record is no transaction of its protocol" in answer.stdout
    assert "The texts of this change are not known." in answer.stdout


def test_a_terminal_gets_colours(told: Any, caller: ServiceCaller, target: str) -> None:
    attempt = entry(caller, target, "Two changes")
    assert "\x1b[" in told("show", attempt["pdcp_log_id"], FORCE_COLOR="1", TERM="xterm").stdout
    assert "\x1b[" not in told("show", attempt["pdcp_log_id"], TERM="xterm").stdout


def test_verify_an_intact_target(told: Any, caller: ServiceCaller, target: str) -> None:
    answer = told("verify", target)
    assert (answer.returncode, answer.stderr) == (0, "")
    read = caller.call("patchdiff_get_target", target_file_id=target)
    assert answer.stdout == (
        f"intact  {target}  story.txt, version 3, hash {read['current_hash']}\n"
    )


def test_verify_a_damaged_target(
    told: Any, caller: ServiceCaller, admin: psycopg.Connection[Any]
) -> None:
    broken = rich_history(caller)
    damage(admin, "append_only_pdcp_logs", "source = 'mallory'", broken, "after_version = 2")
    [sequence] = [e["log_sequence"] for e in attempts(caller, broken) if e["after_version"] == 2]
    answer = told("verify", broken)
    assert (answer.returncode, answer.stderr) == (1, "")
    [first, *failures] = answer.stdout.splitlines()
    assert first.startswith(f"damaged  {broken}  story.txt, version 3")
    assert [line for line in failures if f"chain, log sequence {sequence}: " in line]


def test_verify_all(fresh_database_url: str) -> None:
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        migrate(connection)
        caller = ServiceCaller(Service(connection))
        targets = [document(caller, f"text {n}")["target_file_id"] for n in range(201)]
        given = {"PATCHDIFF_DATABASE_URL": fresh_database_url}
        answer = run("verify", "--all", **given)
        assert (answer.returncode, answer.stderr) == (0, "")
        assert answer.stdout == "201 targets verified: 201 intact, 0 damaged.\n"
        broken = sorted(targets)[200]
        submit(caller, broken, change("text", "x"))
        damage(connection, "manifest_ledger", "risk = 'high'", broken)
        answer = run("verify", "--all", **given)
        assert (answer.returncode, answer.stderr) == (1, "")
        [first, *failures, last] = answer.stdout.splitlines()
        assert first.startswith(f"damaged  {broken}  t.txt")
        assert failures
        assert last == "201 targets verified: 200 intact, 1 damaged."


def test_verify_shows_its_progress_on_a_terminal_only(database_url: str, target: str) -> None:
    controller, terminal = pty.openpty()
    try:
        process = subprocess.run(
            [sys.executable, "-m", "patchdiff.cli", "verify", target],
            stdout=subprocess.PIPE,
            stderr=terminal,
            env=os.environ | {"PATCHDIFF_DATABASE_URL": database_url, "TERM": "xterm"},
            timeout=60,
        )
        os.close(terminal)
        seen = os.read(controller, 1 << 16).decode()
    finally:
        os.close(controller)
    assert process.returncode == 0
    assert process.stdout.startswith(b"intact ")
    assert process.stdout.count(b"\n") == 1
    assert "verifying" in seen


def test_the_reader_s_rights_are_enough(
    database_url: str, admin: psycopg.Connection[Any], target: str
) -> None:
    name = f"auditor_{uuid.uuid4().hex[:8]}"
    admin.execute(f"create role {name} login")
    try:
        url = psycopg.conninfo.make_conninfo(database_url, user=name)
        line = assert_refused(run("log", target, PATCHDIFF_DATABASE_URL=url), "a DBA must")
        assert "patchdiff_reader" in line
        admin.execute(f"grant patchdiff_reader to {name}")
        for arguments in (["log", target], ["verify", target], ["report", target, "--html", "-"]):
            answer = run(*arguments, PATCHDIFF_DATABASE_URL=url)
            assert answer.returncode == 0, answer.stderr
    finally:
        admin.execute(f"drop role {name}")


@pytest.mark.parametrize(
    "arguments",
    [
        ["log", UNKNOWN_ID],
        ["show", UNKNOWN_ID],
        ["verify", "--all"],
        ["report", UNKNOWN_ID, "--html", "-"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_another_s_database_is_never_migrated(
    fresh_database_url: str, arguments: list[str]
) -> None:
    before = schema_dump(fresh_database_url)
    answer = run(*arguments, PATCHDIFF_DATABASE_URL=fresh_database_url)
    assert_refused(answer, "run patchdiff migrate")
    assert schema_dump(fresh_database_url) == before
    assert_refused(run(*arguments, PATCHDIFF_HOME="relative"), "PATCHDIFF_HOME")
