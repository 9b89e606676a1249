"""patchdiff_observe_scope by exact name: one receipt, or none and the reason."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading

import psycopg
import pytest

from patchdiff import Service
from patchdiff.structure.engine import Engine
from tests.support.documents import ServiceCaller, content_of, overwrite, row_counts, sha256
from tests.support.observations import (
    SOURCE,
    alter_receipt,
    function,
    guards,
    observe,
    receipt,
    receipts,
    single,
    source,
    submit_accepted,
    whole,
)
from tests.support.proposals import span


@pytest.fixture(scope="module")
def target(client):
    return source(client)


def without_receipt(admin, target, call):
    """The answer of a call that issues nothing."""
    before = row_counts(admin, target)
    answer = call()
    assert row_counts(admin, target) == before
    assert answer["observation_id"] is None
    assert "text" not in answer
    return answer


@pytest.mark.req("SCOPE-003", "SCOPE-026", "SCOPE-027", "SCOPE-028", "SCOPE-029", "SCOPE-050")
def test_one_match_issues_one_receipt(client, admin):
    target = source(client)
    start = SOURCE.index("def other")
    text = SOURCE[start : SOURCE.index("\n\n\nclass")]
    answer = receipt(client, target, "other")
    assert answer == {
        "status": "observed",
        "target_file_id": target,
        "target_version": 0,
        "target_current_hash": sha256(SOURCE),
        "engine": Engine().identity(),
        "language": "python",
        "observation_id": answer["observation_id"],
        "observation_bundle_id": None,
        "ordinal": None,
        "symbol": {"name": "other", "kind": "function"},
        "scope_start": start,
        "scope_end": start + len(text),
        "scope_length": len(text),
        "observed_scope_hash": sha256(text),
        "offset": 0,
        "max_chars": 4_000,
        "start": start,
        "end": start + len(text),
        "start_line": 8,
        "end_line": 9,
        "text": text,
        "truncated": False,
        "next_offset": None,
        "next_start": None,
    }
    [row] = receipts(admin, target)
    cycle = client.call("patchdiff_get_target", target_file_id=target)["active_editing_cycle_id"]
    expected = {
        **{name: answer[name] for name in (
            "target_file_id", "observation_id", "observation_bundle_id", "ordinal",
            "target_version", "target_current_hash", "engine", "language", "scope_start",
            "scope_end", "observed_scope_hash",
        )},
        "symbol_name": "other",
        "symbol_kind": "function",
        "editing_cycle_id": cycle,
        "consumed_by_pdcp_log_id": None,
        "consumed_at": None,
        "consumption": None,
        "created_at": row["created_at"],
    }  # fmt: skip
    assert row == expected
    assert row_counts(admin, target)["target_scope_bundles"] == 0
    again = receipt(client, target, "other")
    assert again == {**answer, "observation_id": again["observation_id"]}
    assert again["observation_id"] != answer["observation_id"]


@pytest.mark.req("SCOPE-028")
def test_offsets_are_code_points_of_the_text(client, target):
    answer = receipt(client, target, "Box.first")
    text = 'def first(self):\n        return "\U0001f600 one"'
    assert (answer["scope_start"], answer["scope_end"]) == (
        SOURCE.index(text),
        SOURCE.index(text) + len(text),
    )
    assert answer["text"] == text
    page = client.call(
        "patchdiff_read_target", target_file_id=target, start=answer["scope_start"],
        length=answer["scope_length"],
    )  # fmt: skip
    assert page["text"] == text


@pytest.mark.req("SCOPE-011", "SCOPE-057", "SCOPE-010")
@pytest.mark.parametrize(
    ("name", "kind", "beginning"),
    [
        ("Box.first", None, "def first(self)"),
        (".first", None, "def first()"),
        ("first", "function", "def first()"),
        ("first", "method", "def first(self)"),
        (".Box.first", None, "def first(self)"),
        ("inner", None, "def inner"),
        ("keep.inner", None, "def inner"),
        ("Box.keep.inner", None, "def inner"),
        (".Box.keep.inner", None, "def inner"),
        ("<document>", None, '"""'),
        ("<document>", "document", '"""'),
    ],
)
def test_names_and_paths(client, target, name, kind, beginning):
    answer = receipt(client, target, name, kind=kind)
    assert answer["text"].startswith(beginning)


@pytest.mark.req("SCOPE-021")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("nothing", None),
        ("First", None),
        ("firs", None),
        ("first ", None),
        (" first", None),
        (".inner", None),
        (".keep", None),
        ("first.", None),
        ("Box..first", None),
        ("other", "class"),
        ("other", "Function"),
        ("other", "document"),
        ("<document>", "function"),
        ("\ud800", None),
        ("\0", None),
    ],
)
def test_no_match(client, admin, target, name, kind):
    answer = without_receipt(
        admin, target, lambda: observe(client, target, symbol_name=name, kind=kind)
    )
    if name in ("\ud800", "\0"):
        assert answer["status"] == "invalid_argument"
        return
    assert (answer["status"], answer["code"]) == ("not_found", "SCOPE_NOT_FOUND")
    assert answer["target_version"] == 0
    assert "candidates" not in answer


@pytest.mark.req("SCOPE-022", "SCOPE-024")
def test_several_matches(client, admin, target):
    answer = without_receipt(admin, target, lambda: observe(client, target, symbol_name="first"))
    assert (answer["status"], answer["code"]) == ("ambiguous", "AMBIGUOUS_SCOPE_SELECTION")
    assert [(item["kind"], item["parent"]) for item in answer["candidates"]] == [
        ("function", None),
        ("method", "Box"),
    ]
    assert (answer["total_candidates"], answer["candidates_truncated"]) == (2, False)


@pytest.mark.req("SCOPE-025")
def test_the_smallest_of_nested_scopes_is_not_picked(client, admin):
    text = "def f():\n    def f():\n        return 1\n\n    return f\n"
    target = source(client, text)
    answer = without_receipt(admin, target, lambda: observe(client, target, symbol_name="f"))
    assert answer["status"] == "ambiguous"
    assert [(item["start"], item["end"]) for item in answer["candidates"]] == [
        (0, len(text) - 1),
        (text.index("def f", 1), text.index("1") + 1),
    ]
    assert receipt(client, target, ".f")["scope_start"] == 0
    assert receipt(client, target, "f.f")["scope_start"] == text.index("def f", 1)


@pytest.mark.req("SCOPE-023", "SCOPE-024")
@pytest.mark.parametrize("number", [200, 201, 450])
def test_an_ambiguous_answer_lists_200(client, number):
    target = source(client, f"{function('f', 25)}\n" * number)
    answer = observe(client, target, symbol_name="f")
    assert answer["status"] == "ambiguous"
    assert [item["start"] for item in answer["candidates"]] == [
        26 * place for place in range(min(number, 200))
    ]
    assert answer["total_candidates"] == number
    assert answer["candidates_truncated"] is (number > 200)


@pytest.mark.req("SCOPE-004")
@pytest.mark.skipif(
    importlib.util.find_spec("patchdiff.structure.extractors.markdown") is None,
    reason="this version has no extractor of Markdown",
)
def test_a_heading_keeps_its_punctuation(client):
    target = source(client, "# What? (1.2, *now*)\n\ntext\n\n## b\n\nmore\n", "t.md")
    [name] = [
        item["name"]
        for item in observe(client, target)["candidates"]
        if item["name"].startswith("What")
    ]
    assert name.startswith("What? (1.2, ")
    assert name.endswith(")")
    assert receipt(client, target, name)["symbol"]["name"] == name


@pytest.mark.req("SCOPE-052", "SCOPE-053")
def test_decorators_exports_and_broken_neighbours(client):
    text = "@cached\n@other(1)\ndef f():\n    return 1\n\n\ndef (:\n    x = = 2\n"
    answer = receipt(client, source(client, text), "f")
    assert answer["text"] == "@cached\n@other(1)\ndef f():\n    return 1"
    script = "export default class A { }\nexport function b() { return 1 }\n"
    target = source(client, script, "a.js")
    assert receipt(client, target, "b")["text"] == "export function b() { return 1 }"
    assert receipt(client, target, "A")["text"] == "export default class A { }"


@pytest.mark.req("SCOPE-055")
@pytest.mark.parametrize("filename", ["t.py", "t.unknown", "a.js"])
def test_the_whole_text_by_its_kind(client, filename):
    text = " \ndef (: \U0001f600\n\n"
    answer = whole(client, source(client, text, filename))
    assert (answer["scope_start"], answer["scope_end"], answer["text"]) == (0, len(text), text)
    assert answer["observed_scope_hash"] == sha256(text)


def test_a_diverged_target_is_not_observed(client, admin):
    target = source(client)
    overwrite(admin, target, current_content=SOURCE + "#")
    answer = without_receipt(admin, target, lambda: observe(client, target, symbol_name="other"))
    assert (answer["status"], answer["failure_reason"]) == ("rejected", "target_diverged")


# ---- what a text can do to the engine


class Breaking:
    """A service with an engine of its own, and a target of a text that the engine fails on."""

    def __init__(self, connection, engine, text, filename="t.py"):
        self.caller = ServiceCaller(Service(connection, engine=engine))
        self.target = source(self.caller, text, filename)

    def failed(self, admin, code, **arguments):
        answer = without_receipt(
            admin, self.target, lambda: observe(self.caller, self.target, **arguments)
        )
        assert (answer["status"], answer["code"]) == ("failed", code)
        assert "<document>" in answer["failure_detail"]

    def goes_on(self):
        """Other texts can be observed, and this one as a whole."""
        assert receipt(self.caller, source(self.caller), "other")["language"] == "python"
        assert whole(self.caller, self.target)["scope_start"] == 0


@pytest.mark.req("SCOPE-059")
def test_a_text_that_takes_too_long(admin):
    text = "".join(f"def f{number}():\n    return [1, 2, (3, 4)]\n" for number in range(20_000))
    with Engine(pass_seconds=0.1) as engine, Engine() as patient:
        breaking = Breaking(admin, engine, text)
        breaking.failed(admin, "STRUCTURE_TIMEOUT")
        breaking.failed(admin, "STRUCTURE_TIMEOUT", symbol_name="f1")
        breaking.failed(admin, "STRUCTURE_TIMEOUT", selections=[{"symbol_name": "f1"}])
        assert whole(breaking.caller, breaking.target)["scope_start"] == 0
        breaking.caller = ServiceCaller(Service(admin, engine=patient))
        breaking.goes_on()


@pytest.mark.req("SCOPE-060")
def test_a_text_that_takes_too_much(client, admin):
    target = source(client, "(" * 65_536)
    for arguments in ({}, {"symbol_name": "f"}):
        answer = without_receipt(
            admin, target, lambda given=arguments: observe(client, target, **given)
        )
        assert (answer["status"], answer["code"]) == ("failed", "STRUCTURE_LIMIT")
    assert receipt(client, source(client), "other")["status"] == "observed"
    assert whole(client, target)["scope_end"] == 65_536


@pytest.mark.req("SCOPE-060")
@pytest.mark.skipif(
    importlib.util.find_spec("patchdiff.structure.extractors.java") is None,
    reason="this version has no extractor of Java",
)
def test_a_text_that_meets_the_memory_limit(admin):
    with Engine() as engine:
        breaking = Breaking(admin, engine, "a<" * 32_000, "A.java")
        breaking.failed(admin, "STRUCTURE_LIMIT")
        breaking.goes_on()


@pytest.mark.req("SCOPE-061")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV], ids=["kill", "segv"])
def test_a_text_that_ends_the_engine_s_process(admin, number):
    text = "".join(f"def f{place}():\n    return [1, 2, (3, 4)]\n" for place in range(20_000))
    with Engine() as engine:
        breaking = Breaking(admin, engine, text)
        receipt(breaking.caller, source(breaking.caller), "other")
        killer = threading.Timer(0.05, os.kill, (engine.worker_pid, number))
        killer.start()
        breaking.failed(admin, "STRUCTURE_CRASHED")
        killer.join()
        assert observe(breaking.caller, breaking.target)["total_candidates"] == 20_000
        breaking.goes_on()


def test_a_text_that_is_too_large(client, admin):
    for size, expected in ((1_048_576, "candidates"), (1_048_577, "failed")):
        target = source(client, "#" * size)
        answer = observe(client, target)
        assert answer["status"] == expected
    assert answer["code"] == "FILE_TOO_LARGE"
    chosen = receipt(client, target, "<document>", kind="document", max_chars=1)
    submit_accepted(client, single(chosen, span(1, 2, "#", "")))
    assert guards(chosen)["expected_target_version"] == 0


# ---- issuing while others write


class Elsewhere(Engine):
    """An engine that has somebody else write to the target while it parses, a number of times."""

    def __init__(self, times, write):
        super().__init__()
        self.times, self.write = times, write

    def structure(self, filename, content_type, text):
        if self.times:
            self.times -= 1
            self.write()
        return super().structure(filename, content_type, text)


@pytest.mark.parametrize("times", [1, 2])
def test_a_receipt_is_of_the_state_that_it_was_issued_on(admin, service, database_url, times):
    other = ServiceCaller(service)
    target = source(other)

    def write():
        chosen = whole(other, target)
        submit_accepted(other, single(chosen, span(0, 3, '"""', '"""#')))

    with (
        psycopg.connect(database_url, autocommit=True) as connection,
        Elsewhere(times, write) as engine,
    ):
        answer = receipt(ServiceCaller(Service(connection, engine=engine)), target, "other")
    assert answer["target_version"] == times
    assert answer["scope_start"] == SOURCE.index("def other") + times
    current = content_of(other, target)
    assert answer["target_current_hash"] == sha256(current)
    assert current[answer["scope_start"] : answer["scope_end"]] == answer["text"]
    assert len([row for row in receipts(admin, target) if row["symbol_name"] == "other"]) == 1


@pytest.mark.req("SCOPE-051")
def test_paging_under_another_engine(client, admin, target):
    answer = receipt(client, target, "other")
    alter_receipt(admin, answer["observation_id"], engine="patchdiff-symbols@1+000000000000")
    page = observe(client, target, observation_id=answer["observation_id"])
    assert (page["status"], page["code"]) == ("rejected", "STALE_OBSERVATION_ENGINE")
