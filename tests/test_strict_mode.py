"""Strict observation mode: writes outside an observed scope are rejected and recorded."""

from __future__ import annotations

import psycopg
import pytest

from patchdiff import Service
from patchdiff.structure.languages import LANGUAGES
from tests.support.documents import ServiceCaller, content_of, document, row_counts
from tests.support.observations import (
    SOURCE,
    batch,
    group,
    observe,
    receipt,
    single,
    source,
    submit_accepted,
    submit_refused,
    whole,
)
from tests.support.proposals import (
    EDITS,
    OPERATIONS,
    REPLACEMENT,
    TOOLS,
    admitted,
    match,
    row_of,
    simple,
    span,
    turned_down,
)
from tests.support.stdio import StdioClient

TEXT = "alpha beta\n"


@pytest.fixture(scope="module")
def strict(database_url):
    client = StdioClient(
        {"PATCHDIFF_DATABASE_URL": database_url, "PATCHDIFF_STRICT_OBSERVATION_MODE": "1"}
    )
    yield client
    assert client.close() == 0


@pytest.fixture
def strict_service(admin):
    return ServiceCaller(Service(admin, strict_observation=True))


def is_refused(caller, admin, tool):
    target = document(caller, TEXT)["target_file_id"]
    for arguments in ({}, {"client_request_id": "k"}):
        answer = turned_down(
            caller, tool, target, simple(tool, TEXT, "x"), "context_invalid",
            "OBSERVATION_REQUIRED", **arguments,
        )  # fmt: skip
        assert answer["diagnostic"]["retryable"] is False
        assert answer["diagnostic"]["validation_stage"] == "precondition_guard"
        assert row_of(admin, answer)["diagnostic_json"]["code"] == "OBSERVATION_REQUIRED"
    assert content_of(caller, target) == TEXT
    assert row_counts(admin, target)["manifest_ledger"] == 0


@pytest.mark.req("OBS-046")
def test_edits(strict, strict_service, admin):
    for caller in (strict, strict_service):
        is_refused(caller, admin, EDITS)


@pytest.mark.req("OBS-047")
def test_operations(strict, strict_service, admin):
    for caller in (strict, strict_service):
        is_refused(caller, admin, OPERATIONS)


@pytest.mark.req("OBS-048")
def test_replacements(strict, strict_service, admin):
    for caller in (strict, strict_service):
        is_refused(caller, admin, REPLACEMENT)


@pytest.mark.req("OBS-046", "OBS-047", "OBS-048")
def test_without_it_nothing_is_refused(client, database_url):
    off = StdioClient(
        {"PATCHDIFF_DATABASE_URL": database_url, "PATCHDIFF_STRICT_OBSERVATION_MODE": "0"}
    )
    try:
        for caller in (client, off):
            for tool in TOOLS:
                target = document(caller, TEXT)["target_file_id"]
                admitted(caller, tool, target, simple(tool, TEXT, "x"))
    finally:
        off.close()


@pytest.mark.parametrize("tool", TOOLS)
def test_a_malformed_proposal_is_told_as_such(strict, tool):
    target = document(strict, TEXT)["target_file_id"]
    turned_down(strict, tool, target, None, "protocol_invalid")
    proposal = simple(tool, TEXT, "x")
    turned_down(strict, tool, target, proposal, "target_encoding_invalid", intent="\ud800")


@pytest.mark.req("OBS-049")
@pytest.mark.parametrize("language", ["text", *LANGUAGES])
def test_the_whole_text_of_every_language(strict, language):
    extension = LANGUAGES[language].extensions[0] if language in LANGUAGES else "unknown"
    for text in ("x", "\n", " \u2028\U0001f600\n", "((((" * 50, "def f():\n    pass\n"):
        target = source(strict, text, f"t.{extension}")
        observed = whole(strict, target)
        assert observed["language"] == language
        submit_accepted(strict, single(observed, span(0, len(text), text, "new \U0001f600\n")))
        assert content_of(strict, target) == "new \U0001f600\n"
        chosen = [{"symbol_name": "<document>", "kind": "document"}]
        observed = observe(strict, target, selections=chosen)
        groups = [group(observed["scopes"][0], match("new", "newer"))]
        submit_accepted(strict, batch(observed, groups))
        assert content_of(strict, target) == "newer \U0001f600\n"


@pytest.mark.req("OBS-049")
def test_a_text_past_the_parser_s_limit(strict):
    text = "(" * 1_100_000
    target = source(strict, text)
    observed = receipt(strict, target, "<document>", kind="document", max_chars=1)
    last = len(text) - 1
    submit_accepted(strict, single(observed, span(last, last + 1, "(", ")")))


def test_symbols_too(strict, admin):
    target = source(strict)
    observed = receipt(strict, target, "other")
    start = SOURCE.index("two")
    submit_refused(
        strict, admin, single(observed, span(0, 3, '"""', "")), "span_out_of_bounds",
        "OPERATION_OUTSIDE_OBSERVED_SCOPE",
    )  # fmt: skip
    submit_accepted(strict, single(observed, span(start, start + 3, "two", "2")))


def test_reads_saves_and_replays_go_on(strict):
    target = source(strict)
    for tool in ("get_target", "read_target", "read_lines", "replay", "save"):
        answer = strict.call(f"patchdiff_{tool}", target_file_id=target)
        assert answer["status"] in ("ok", "success", "saved")


def test_the_service_has_it_too(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        caller = ServiceCaller(Service(connection, strict_observation=True))
        target = document(caller, TEXT)["target_file_id"]
        submit_accepted(caller, single(whole(caller, target), match("alpha", "a")))
