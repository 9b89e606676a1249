"""The stdio transport, end to end over real pipes."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.pipes import ROOT, STAND_IN, Child, initialize_params, tool_answer

MIB = 1024 * 1024
TARGET = "00000000-0000-4000-8000-000000000000"


def find(text: str) -> dict[str, Any]:
    return {
        "name": "patchdiff_find_occurrences",
        "arguments": {"target_file_id": TARGET, "text": text},
    }


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    running = Child()
    yield running
    status, rest, stderr = running.end()
    assert (status, rest, stderr) == (0, [], "")


@pytest.fixture
def fresh() -> Iterator[Child]:
    running = Child()
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.end()


@pytest.mark.req("MCP-015")
def test_the_line_after_a_malformed_one_is_served(child: Child) -> None:
    child.send(b'{"jsonrpc":"2.0","id":1,"method":\n')
    broken = child.message()
    assert (broken["id"], broken["error"]["code"]) == (None, -32700)
    assert child.ask("ping", {}, 2)["result"] == {}


@pytest.mark.parametrize("request_id", [0, -1, 2**70, "", "1", "\u00e9\u2028", "\ud800"])
def test_a_request_id_comes_back_as_it_was(child: Child, request_id: object) -> None:
    assert child.ask("ping", {}, request_id)["result"] == {}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": "patchdiff_get_target", "arguments": []},
        {"name": "patchdiff_get_target", "arguments": "x"},
        {"name": 5, "arguments": {}},
        {"name": None},
        {"arguments": {}},
    ],
)
def test_a_malformed_tool_call_is_invalid_params(child: Child, params: dict[str, object]) -> None:
    child.send_message(id=3, method="tools/call", params=params)
    assert child.message()["error"]["code"] == -32602
    child.send_message(id=4, method="tools/call")
    assert child.message()["error"]["code"] == -32602
    assert child.ask("ping", {}, 5)["result"] == {}


@pytest.mark.req("MCP-001", "MCP-002", "MCP-003", "MCP-004")
@pytest.mark.parametrize(
    "text",
    [
        "a\u2028b\u2029c\u0085d\ne",
        "\u00e9\u4e2d\u2713\U0001f600",
        '"\\\b\f\r\x7f\x1b',
        "\ufeff\x0b",
    ],
)
def test_text_is_literal_inside_one_ascii_line(child: Child, text: str) -> None:
    child.send_message(id=6, method="tools/call", params=find(f"echo {text}"))
    line = child.line()
    assert line.isascii()
    # A reader that splits at any Unicode line end sees one line too.
    assert len(line.decode("ascii").splitlines()) == 1
    is_error, inner = tool_answer(json.loads(line))
    assert not is_error
    assert json.loads(inner) == {"status": "ok", "text": f"echo {text}"}
    for character in text:
        if character > "\x7f":
            assert character in inner
    assert "\\u" not in inner.replace("\\u001b", "").replace("\\u000b", "")
    assert '": ' not in inner


@pytest.mark.req("MCP-005")
def test_only_a_result_with_a_lone_surrogate_is_escaped_inside(child: Child) -> None:
    _, escaped = child.call("patchdiff_find_occurrences", find("surrogate")["arguments"])
    assert escaped.isascii()
    assert json.loads(escaped) == {"status": "ok", "value": "\u00e9 \ud800"}
    _, literal = child.call("patchdiff_find_occurrences", find("echo \u00e9")["arguments"])
    assert "\u00e9" in literal


@pytest.mark.req("MCP-003")
@pytest.mark.parametrize("character", ["a", "\u4e2d", "\U0001f600"])
def test_two_megabytes_go_in_and_out(child: Child, character: str) -> None:
    text = "echo " + character * (2 * MIB // len(character.encode()))
    _, answer = child.call("patchdiff_find_occurrences", find(text)["arguments"])
    assert json.loads(answer)["text"] == text


def test_a_line_may_be_32_mib_and_no_byte_more(child: Child) -> None:
    ping = b'{"jsonrpc":"2.0","id":8,"method":"ping"}'
    child.send(ping.ljust(32 * MIB) + b"\n")
    assert child.message()["result"] == {}
    child.send(ping.ljust(32 * MIB + 1) + b"\n")
    refused = child.message()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    child.send(b"x" * (70 * MIB) + b"\n")
    assert child.message()["error"]["code"] == -32600
    assert child.ask("ping", {}, 9)["result"] == {}


def test_a_line_ends_at_lf_only_and_may_come_in_pieces(child: Child) -> None:
    first, second = (f'{{"jsonrpc":"2.0","id":{n},"method":"ping"}}'.encode() for n in (10, 11))
    child.send(first[:7])
    time.sleep(0.05)
    child.send(first[7:] + b"\r\n\n \n" + second)
    assert child.message()["id"] == 10
    child.send(b"\r{}\n")
    # The bare CR is white space, so this is one line with two values.
    assert child.message()["error"]["code"] == -32700
    child.send(first + b"\n" + second + b"\n")
    assert {child.message()["id"], child.message()["id"]} == {10, 11}


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"LC_ALL": "C", "LANG": "C"},
        {"PYTHONUTF8": "0"},
        {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
    ],
    ids=str,
)
@pytest.mark.req("MCP-003", "MCP-018")
def test_the_locale_changes_nothing(environment: dict[str, str]) -> None:
    child = Child(environment=environment)
    text = "echo \u2713\u4e2d\U0001f600"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": find(text)}
    child.send(json.dumps(message, ensure_ascii=False).encode() + b"\n")
    assert json.loads(tool_answer(child.message())[1])["text"] == text
    child.call("patchdiff_find_occurrences", find("print")["arguments"])
    status, rest, stderr = child.end()
    assert (status, rest) == (0, [])
    assert "a log line with" in stderr


@pytest.mark.req("MCP-018")
def test_whatever_else_prints_goes_to_stderr(fresh: Child) -> None:
    for order in ("print", "raise oops", "object", "nan"):
        fresh.call("patchdiff_find_occurrences", find(order)["arguments"])
    status, rest, stderr = fresh.end()
    assert (status, rest) == (0, [])
    for expected in (
        "a line printed to stdout",
        "a line written to descriptor 1",
        "a line of a child process",
        "a warning",
        "Traceback",
    ):
        assert expected in stderr


def piped(*orders: str) -> bytes:
    messages: list[dict[str, Any]] = [
        {"id": "start", "method": "initialize", "params": initialize_params("2025-11-25")}
    ]
    messages += [
        {"id": number, "method": "tools/call", "params": find(order)}
        for number, order in enumerate(orders)
    ]
    return b"".join(json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n" for m in messages)


@pytest.mark.req("MCP-016", "MCP-017")
@pytest.mark.parametrize("last_line_end", [b"\n", b""], ids=["ended", "not ended"])
def test_thirty_piped_calls_are_all_answered(last_line_end: bytes) -> None:
    orders = [f"sleep 0.0{number % 5}" for number in range(30)]
    done = subprocess.run(
        STAND_IN,
        cwd=ROOT,
        input=piped(*orders).rstrip(b"\n") + last_line_end,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    answers = {m["id"]: m for m in map(json.loads, done.stdout.splitlines())}
    assert set(answers) == {"start", *range(30)}
    for number, order in enumerate(orders):
        assert json.loads(tool_answer(answers[number])[1])["text"] == order


@pytest.mark.req("MCP-016", "MCP-017")
def test_a_call_longer_than_three_seconds_is_answered_after_eof(fresh: Child) -> None:
    fresh.send_message(id=1, method="tools/call", params=find("sleep 3.2"))
    fresh.send_message(id=2, method="tools/call", params=find("echo queued"))
    fresh.close_input()
    assert json.loads(tool_answer(fresh.message())[1])["text"] == "sleep 3.2"
    assert json.loads(tool_answer(fresh.message())[1])["text"] == "echo queued"
    assert fresh.end()[0] == 0


@pytest.mark.req("MCP-017")
def test_an_idle_server_ends_at_once(fresh: Child) -> None:
    start = time.monotonic()
    assert fresh.end() == (0, [], "")
    assert time.monotonic() - start < 5.0


@pytest.mark.req("MCP-017")
@pytest.mark.parametrize("content", [b"", b"\n\n", b"not json\n"])
def test_a_regular_file_and_nothing_at_all_are_input_too(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    with path.open("rb") as stdin:
        done = subprocess.run(
            STAND_IN, cwd=ROOT, stdin=stdin, capture_output=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert [json.loads(line)["error"]["code"] for line in done.stdout.splitlines()] == (
        [-32700] if content.strip() else []
    )


def test_a_file_of_calls_is_answered_whole(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(piped(*(f"echo {number}" for number in range(50))))
    with path.open("rb") as stdin:
        done = subprocess.run(
            STAND_IN, cwd=ROOT, stdin=stdin, capture_output=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(done.stdout.splitlines()) == 51


def test_a_peer_that_reads_slowly_gets_everything() -> None:
    text = "echo " + "\u4e2d" * MIB
    with subprocess.Popen(
        STAND_IN, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(piped(text, text, text))
        process.stdin.close()
        # The answers, of 6 MiB each, wait in the server while nobody reads.
        time.sleep(2.0)
        assert process.poll() is None
        answers = [json.loads(line) for line in process.stdout][1:]
        assert process.wait(20) == 0
    assert [json.loads(tool_answer(answer)[1])["text"] for answer in answers] == [text] * 3


def test_a_peer_that_closes_its_end_is_a_clean_end() -> None:
    process = subprocess.Popen(
        STAND_IN,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(piped("echo 1"))
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(piped("echo 2"))
    process.stdin.flush()
    # The standard input stays open: the broken output alone ends the server.
    assert process.wait(20) == 0
    assert process.stderr.read() == b""
    process.stdin.close()
    process.stderr.close()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(("order", "seconds"), [(None, 5.0), ("sleep 30", 10.0)])
def test_a_signal_ends_the_server_promptly(
    fresh: Child, name: str, order: str | None, seconds: float
) -> None:
    if order is not None:
        fresh.send_message(id=1, method="tools/call", params=find(order))
        fresh.ask("ping", {}, 2)
    number = getattr(signal, name)
    start = time.monotonic()
    fresh.process.send_signal(number)
    assert fresh.process.wait(20) == 128 + number
    assert time.monotonic() - start < seconds
    assert fresh.stderr_so_far() == ""


def test_a_call_that_ends_within_the_grace_is_answered_after_a_signal(fresh: Child) -> None:
    fresh.send_message(id=1, method="tools/call", params=find("sleep 0.5"))
    fresh.ask("ping", {}, 2)
    fresh.process.send_signal(signal.SIGTERM)
    assert json.loads(tool_answer(fresh.message())[1])["text"] == "sleep 0.5"
    assert fresh.process.wait(20) == 128 + signal.SIGTERM
