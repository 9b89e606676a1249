"""Pages of an observed scope: by its selection, and on by its receipt."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    canonical,
    document,
    row_counts,
    sha256,
    texts,
)
from tests.support.observations import (
    SOURCE,
    alter_receipt,
    bundle,
    function,
    observe,
    receipt,
    single,
    source,
    submit_accepted,
    whole,
)
from tests.support.proposals import span

LONG = f"# \U0001f600\ns = 1\n{function('f', 20_001)}\n\nz = 2\n"


@pytest.fixture(scope="module")
def long(client):
    return source(client, LONG)


def page_on(caller, answer, **arguments):
    return observe(
        caller, answer["target_file_id"], observation_id=answer["observation_id"], **arguments
    )


@pytest.mark.req("SCOPE-014")
@pytest.mark.parametrize(
    ("max_chars", "length"),
    [
        (None, 4_000), (1, 1), (3_999, 3_999), (4_001, 4_001), (7_999, 7_999), (8_000, 8_000),
        (8_001, 8_000), (2**63 - 1, 8_000), (10**30, 8_000),
    ],
)  # fmt: skip
def test_the_length_of_a_page(client, long, max_chars, length):
    arguments = {} if max_chars is None else {"max_chars": max_chars}
    answer = receipt(client, long, "f", **arguments)
    page = page_on(client, answer, **arguments)
    start = LONG.index("def f")
    for shown in (answer, page):
        assert shown["text"] == LONG[start : start + length]
        assert shown["max_chars"] == length
        assert (shown["truncated"], shown["next_offset"]) == (True, length)
        assert (shown["start"], shown["end"]) == (start, start + length)
        assert shown["next_start"] == start + length
    assert receipt(client, long, "f", max_chars=None)["max_chars"] == 4_000


@pytest.mark.req("SCOPE-015", "SCOPE-013")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("max_chars", value) for value in (0, -1, True, False, 1.0, "1", [], {})),
        *(("offset", value) for value in (-1, True, False, None, 0.0, 1.5, "0", [], {})),
        *(("include_line_starts", value) for value in (0, 1, None, "true")),
    ],
)
def test_arguments_of_a_page(client, service, admin, long, name, value):
    before = row_counts(admin, long)
    for caller in (client, ServiceCaller(service)):
        for selector in ({"symbol_name": "f"}, {"observation_id": UNKNOWN_ID}, {}):
            answer = observe(caller, long, **selector, **{name: value})
            assert answer["status"] == "invalid_argument", selector
            assert answer["failure_detail"].startswith(name)
            assert answer["observation_id"] is None
    assert row_counts(admin, long) == before


@pytest.mark.req("SCOPE-012", "SCOPE-029", "SCOPE-030", "SCOPE-031")
@pytest.mark.parametrize("max_chars", [3_000, 7_001, 8_000, None])
def test_pages_join_to_the_scope(client, admin, long, max_chars):
    text = LONG[LONG.index("def f") : LONG.index("\n\nz")]
    answer = receipt(client, long, "f", max_chars=max_chars)
    counted = row_counts(admin, long)
    joined, page = answer["text"], answer
    assert "mode" not in answer
    while page["truncated"]:
        assert page["next_offset"] == len(joined)
        page = page_on(client, answer, offset=page["next_offset"], max_chars=max_chars)
        assert (page["status"], page["mode"]) == ("observed", "scope_page")
        for name in (
            "observation_id", "target_version", "target_current_hash", "scope_start", "scope_end",
            "observed_scope_hash", "engine", "language", "symbol",
        ):  # fmt: skip
            assert page[name] == answer[name]
        joined += page["text"]
    assert (page["next_offset"], page["next_start"]) == (None, None)
    assert joined == text
    assert answer["observed_scope_hash"] == sha256(text)
    assert row_counts(admin, long) == counted


@pytest.mark.req("SCOPE-030", "SCOPE-028", "SCOPE-016")
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts(), st.integers(1, 9))
def test_pages_of_any_text(service, text, length):
    caller = ServiceCaller(service)
    target = document(caller, text)["target_file_id"]
    stored = canonical(text)
    if not stored:
        return
    answer = whole(caller, target)
    assert (answer["text"], answer["scope_end"]) == (stored, len(stored))
    joined, starts, offset = "", [], 0
    while offset is not None:
        page = page_on(caller, answer, offset=offset, max_chars=length, include_line_starts=True)
        assert page["start"] == offset
        assert page["start_line"] == stored[:offset].count("\n") + 1
        joined += page["text"]
        starts += page["line_starts"]
        offset = page["next_offset"]
    assert joined == stored
    lines = [0, *(place + 1 for place, character in enumerate(stored) if character == "\n")]
    lines = [start for start in lines if start < len(stored)]
    assert [(item["line"], item["start"]) for item in starts] == list(enumerate(lines, 1))


@pytest.mark.req("SCOPE-013", "SCOPE-032")
def test_offsets_count_from_the_scope_s_start(client, long):
    answer = receipt(client, long, "f")
    start = answer["scope_start"]
    assert answer["offset"] == 0
    assert page_on(client, answer)["text"] == answer["text"]
    for page in (
        page_on(client, answer, offset=7, max_chars=3),
        receipt(client, long, "f", offset=7, max_chars=3),
    ):
        assert page["text"] == LONG[start + 7 : start + 10]
        assert (page["offset"], page["start"], page["next_offset"]) == (7, start + 7, 10)
    last = page_on(client, answer, offset=20_000)
    assert (last["text"], last["truncated"], last["next_offset"]) == ('"', False, None)


@pytest.mark.req("SCOPE-032")
def test_the_end_of_a_scope(client, admin, long):
    answer = receipt(client, long, "f")
    for last in (page_on(client, answer, offset=20_001), receipt(client, long, "f", offset=20_001)):
        assert (last["text"], last["truncated"], last["next_offset"]) == ("", False, None)
        assert (last["start"], last["end"]) == (answer["scope_end"], answer["scope_end"])
    before = row_counts(admin, long)
    for offset in (20_002, 2**63, 10**40):
        assert page_on(client, answer, offset=offset)["status"] == "invalid_argument"
        refused = observe(client, long, symbol_name="f", offset=offset)
        assert refused["status"] == "invalid_argument"
        assert refused["observation_id"] is None
    assert row_counts(admin, long) == before


@pytest.mark.req("SCOPE-016")
def test_lines_that_begin_in_a_page(client):
    target = source(client)
    text = 'def first(self):\n        return "\U0001f600 one"'
    start = SOURCE.index(text)
    second = start + text.index("\n") + 1
    answer = receipt(client, target, "Box.first", include_line_starts=True)
    assert answer["line_starts"] == [{"line": 14, "start": second}]
    assert (answer["start_line"], answer["end_line"]) == (13, 14)
    other = receipt(client, target, "Box.first", include_line_starts=False)
    assert "line_starts" not in other
    assert "line_starts" not in receipt(client, target, "Box.first")
    page = page_on(client, answer, offset=second - start, include_line_starts=True)
    assert page["line_starts"] == [{"line": 14, "start": second}]
    page = page_on(client, answer, offset=second - start + 1, include_line_starts=True)
    assert page["line_starts"] == []
    assert page["start_line"] == 14


@pytest.mark.req("SCOPE-033")
def test_paging_after_an_edit(client):
    target = source(client)
    first, other = receipt(client, target), receipt(client, target, "other")
    submit_accepted(client, single(other, span(other["scope_start"], other["scope_end"],
                                               other["text"], other["text"] + " ")))  # fmt: skip
    for answer in (first, other):
        page = page_on(client, answer)
        assert (page["status"], page["code"]) == ("rejected", "STALE_OBSERVATION_VERSION")
        assert page["failure_reason"] == "context_invalid"
        assert page["observation_id"] is None
        assert "text" not in page


@pytest.mark.req("SCOPE-034")
def test_paging_after_a_save(client):
    target = source(client)
    answer = receipt(client, target)
    before = client.call("patchdiff_get_target", target_file_id=target)
    assert page_on(client, answer)["status"] == "observed"
    assert client.call("patchdiff_save", target_file_id=target)["status"] == "saved"
    after = client.call("patchdiff_get_target", target_file_id=target)
    assert [before[name] for name in ("version", "current_hash")] == [
        after[name] for name in ("version", "current_hash")
    ]
    page = page_on(client, answer)
    assert (page["status"], page["code"]) == ("rejected", "OBSERVATION_CYCLE_MISMATCH")


def test_paging_when_the_hash_is_another(client, admin):
    answer = receipt(client, source(client))
    alter_receipt(admin, answer["observation_id"], target_current_hash="0" * 64)
    assert page_on(client, answer)["code"] == "STALE_OBSERVATION_HASH"


@pytest.mark.req("SCOPE-035")
def test_paging_by_a_receipt_of_nothing_or_of_another_target(client):
    target, other = source(client), source(client)
    answer, observed = receipt(client, other), bundle(client, other, "other")
    unknown = observe(client, target, observation_id=UNKNOWN_ID)
    assert (unknown["status"], unknown["code"]) == ("rejected", "UNKNOWN_OBSERVATION_ID")
    for foreign in (answer["observation_id"], observed["observation_bundle_id"]):
        page = observe(client, target, observation_id=foreign)
        assert (page["status"], page["code"]) == ("rejected", "OBSERVATION_TARGET_MISMATCH")
        assert other not in str(page)
    # a bundle is no receipt
    page = observe(client, other, observation_id=observed["observation_bundle_id"])
    assert page["status"] == "rejected"


@pytest.mark.req("SCOPE-036")
def test_paging_by_a_malformed_id(client, service):
    caller = ServiceCaller(service)
    target = source(client)
    identifier = receipt(client, target)["observation_id"]
    for who in (client, caller):
        for malformed in (
            "", " ", "x", identifier.upper(), identifier + "\n", " " + identifier,
            identifier.replace("-", ""), f"{{{identifier}}}", "\ud800", "\0", 7, True, [], {},
        ):  # fmt: skip
            page = observe(who, target, observation_id=malformed)
            assert page["status"] == "invalid_argument", malformed
            assert page["code"] == "INVALID_OBSERVATION_ID"
            assert page["observation_id"] is None


def test_a_receipt_and_a_selection_exclude_each_other(client, admin):
    target = source(client)
    answer = receipt(client, target)
    before = row_counts(admin, target)
    refused = page_on(client, answer, symbol_name="other")
    assert refused["status"] == "invalid_argument"
    assert row_counts(admin, target) == before
