"""patchdiff_observe_scope with selections: receipts of several scopes, all or none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from patchdiff import Service
from patchdiff.structure.engine import Engine
from tests.support.documents import UNKNOWN_ID, ServiceCaller, row_counts, sha256
from tests.support.observations import (
    SOURCE,
    bundle,
    function,
    observe,
    receipts,
    selections,
    source,
)


@pytest.fixture(scope="module")
def target(client):
    return source(client)


def refused(admin, caller, target, chosen, status, code=None, index=None, **arguments):
    """A bundle that must not be issued; returns the answer."""
    before = row_counts(admin, target)
    answer = observe(caller, target, selections=chosen, **arguments)
    assert row_counts(admin, target) == before
    assert (answer["status"], answer.get("code")) == (status, code), answer
    assert answer.get("selection_index") == index
    assert answer["observation_id"] is None
    assert answer["failure_detail"]
    assert "scopes" not in answer
    return answer


@pytest.mark.req("SCOPE-040", "SCOPE-048", "SCOPE-029")
def test_the_scopes_in_the_order_asked(client, admin):
    target = source(client)
    answer = bundle(client, target, "inner", "other", "Box.first")
    assert {name: answer[name] for name in answer if name != "scopes"} == {
        "status": "observed_batch",
        "target_file_id": target,
        "target_version": 0,
        "target_current_hash": sha256(SOURCE),
        "engine": Engine().identity(),
        "language": "python",
        "observation_bundle_id": answer["observation_bundle_id"],
    }
    pieces = (
        "def inner():\n            return 2",
        'def other():\n    return "two"',
        'def first(self):\n        return "\U0001f600 one"',
    )
    for ordinal, (scope, text) in enumerate(zip(answer["scopes"], pieces, strict=True), 1):
        start = SOURCE.index(text)
        assert (scope["ordinal"], scope["text"]) == (ordinal, text)
        assert (scope["scope_start"], scope["scope_end"]) == (start, start + len(text))
        assert scope["observed_scope_hash"] == sha256(text)
        assert scope["observation_bundle_id"] == answer["observation_bundle_id"]
        assert scope["truncated"] is False
    rows = receipts(admin, target)
    assert [row["observation_id"] for row in rows] == [
        scope["observation_id"] for scope in answer["scopes"]
    ]
    assert len({row["observation_id"] for row in rows}) == 3
    for row in rows:
        assert (row["target_version"], row["target_current_hash"]) == (0, sha256(SOURCE))
        assert row["observation_bundle_id"] == answer["observation_bundle_id"]
        assert row["engine"] == answer["engine"]
    assert row_counts(admin, target)["target_scope_bundles"] == 1


@pytest.mark.req("SCOPE-040")
def test_kinds_choose_too(client, target):
    answer = observe(
        client,
        target,
        selections=[
            {"symbol_name": "first", "kind": "method"},
            {"symbol_name": "first", "kind": "function"},
            {"symbol_name": "other", "kind": None},
        ],
    )
    assert [scope["symbol"]["kind"] for scope in answer["scopes"]] == [
        "method", "function", "function",
    ]  # fmt: skip


@pytest.mark.req("SCOPE-038")
def test_from_1_to_32_scopes(client, admin):
    names = [f"f{place}" for place in range(33)]
    target = source(client, "\n".join(function(name, 40) for name in names))
    assert len(bundle(client, target, *names[:1])["scopes"]) == 1
    assert len(bundle(client, target, *names[:32])["scopes"]) == 32
    refused(admin, client, target, selections(*names), "invalid_argument")
    refused(admin, client, target, [], "invalid_argument")


@pytest.mark.req("SCOPE-039")
@pytest.mark.parametrize(
    "arguments",
    [
        {"symbol_name": "other"},
        {"query": "o"},
        {"kind": "function"},
        {"observation_id": UNKNOWN_ID},
        {"observation_id": "x"},
        {"offset": 1},
    ],
    ids=str,
)
def test_selections_stand_alone(client, admin, target, arguments):
    answer = refused(
        admin, client, target, selections("other"), "invalid_argument", None, None, **arguments
    )
    assert next(iter(arguments)) in answer["failure_detail"]


def test_an_offset_of_zero_is_none(client, target):
    nothing = {"symbol_name": None, "query": None, "kind": None, "observation_id": None}
    bundle(client, target, "other", offset=0, **nothing)


@pytest.mark.req("SCOPE-049")
@pytest.mark.parametrize(
    "item",
    [
        {},
        {"kind": "function"},
        {"symbol_name": None},
        {"symbol_name": ""},
        {"symbol_name": "\u2003 "},
        {"symbol_name": 7},
        {"symbol_name": ["other"]},
        {"symbol_name": "other", "kind": ""},
        {"symbol_name": "other", "kind": " "},
        {"symbol_name": "other", "kind": 7},
        {"symbol_name": "other", "query": "o"},
        {"symbol_name": "other", "offset": 0},
        {"symbol_name": "other", "Kind": "function"},
        {"name": "other"},
        "other",
        None,
        7,
        ["other"],
    ],
    ids=str,
)
def test_a_selection_has_a_name_and_perhaps_a_kind(client, service, admin, target, item):
    for caller in (client, ServiceCaller(service)):
        chosen = [*selections("other"), item]
        refused(admin, caller, target, chosen, "invalid_argument", None, 1)


@pytest.mark.req("SCOPE-049")
@pytest.mark.parametrize("value", ["other", 7, True, {}, {"symbol_name": "other"}])
def test_selections_are_a_list(client, service, admin, target, value):
    for caller in (client, ServiceCaller(service)):
        refused(admin, caller, target, value, "invalid_argument")


@pytest.mark.req("SCOPE-044", "SCOPE-021", "SCOPE-022")
@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_failing_selection_is_named(client, admin, target, index):
    good = ["other", "Box.first"]
    for name, status, code in (
        ("nothing", "not_found", "SCOPE_NOT_FOUND"),
        ("first", "ambiguous", "AMBIGUOUS_SCOPE_SELECTION"),
    ):
        chosen = selections(*good[:index], name, *good[index:])
        answer = refused(admin, client, target, chosen, status, code, index)
        assert answer["observation_bundle_id"] is None
        if status == "ambiguous":
            assert answer["total_candidates"] == 2
            assert len(answer["candidates"]) == 2


@pytest.mark.req("SCOPE-044")
def test_the_first_of_several_failing_selections_is_named(client, admin, target):
    chosen = selections("other", "first", "nothing")
    refused(admin, client, target, chosen, "ambiguous", "AMBIGUOUS_SCOPE_SELECTION", 1)


@pytest.mark.req("SCOPE-041", "SCOPE-042")
@pytest.mark.parametrize(
    ("names", "index"),
    [
        (["other", "other"], 1),
        (["other", ".other"], 1),
        (["Box", "Box.first"], 1),
        (["Box.first", "Box"], 1),
        (["other", "keep", "inner"], 2),
        (["inner", "other", "Box"], 2),
        (["<document>", "other"], 1),
    ],
)
def test_scopes_do_not_overlap(client, admin, target, names, index):
    refused(admin, client, target, selections(*names), "rejected", "OVERLAPPING_SCOPES", index)


def test_scopes_may_touch(client):
    target = source(client, "class A {}class B {}", "a.js")
    scopes = bundle(client, target, "B", "A")["scopes"]
    assert [(scope["scope_start"], scope["scope_end"]) for scope in scopes] == [(10, 20), (0, 10)]


class WithEmptyScope(Engine):
    """An engine that finds a symbol without text, as no parser of today does."""

    def structure(self, filename, content_type, text):
        structure = super().structure(filename, content_type, text)
        first, *others = structure.symbols
        hollow = first._replace(name="hollow", end=first.start)
        return replace(structure, symbols=(hollow, first, *others))


@pytest.mark.req("SCOPE-043", "SCOPE-044")
def test_an_empty_scope(admin):
    with WithEmptyScope() as engine:
        caller = ServiceCaller(Service(admin, engine=engine))
        target = source(caller)
        for index, names in enumerate((["hollow", "other"], ["other", "hollow"])):
            refused(admin, caller, target, selections(*names), "rejected", "EMPTY_SCOPE", index)


@pytest.mark.req("SCOPE-043")
def test_the_document_of_an_empty_text_is_no_scope(client, admin):
    target = source(client, "")
    chosen = [{"symbol_name": "<document>", "kind": "document"}]
    refused(admin, client, target, chosen, "not_found", "SCOPE_NOT_FOUND", 0)


@pytest.mark.req("SCOPE-045")
def test_a_bundle_has_65_536_code_points(client, admin):
    text = "\n".join((function("a", 32_768), function("b", 32_768), function("c", 32_769)))
    target = source(client, text)
    scopes = bundle(client, target, "a", "b")["scopes"]
    assert sum(scope["scope_length"] for scope in scopes) == 65_536
    chosen = selections("a", "c")
    refused(admin, client, target, chosen, "rejected", "BUNDLE_TOO_LARGE")
    refused(admin, client, target, chosen, "rejected", "BUNDLE_TOO_LARGE", max_chars=1)


@pytest.mark.req("SCOPE-045")
def test_code_points_count_not_bytes(client, admin):
    def astral(name, length):
        return function(name, length).replace("x", "\U0001f600")

    text = f"{astral('a', 32_768)}\n{astral('b', 32_768)}\n{astral('c', 32_769)}"
    target = source(client, text)
    assert len(bundle(client, target, "a", "b", max_chars=10)["scopes"]) == 2
    chosen = selections("a", "c")
    refused(admin, client, target, chosen, "rejected", "BUNDLE_TOO_LARGE", max_chars=10)


@pytest.mark.req("SCOPE-046")
def test_first_pages_have_32_768_code_points(client, admin):
    names = [f"f{place}" for place in range(5)]
    lengths = (8_000, 8_000, 8_000, 8_000, 768)
    pieces = [function(name, length) for name, length in zip(names, lengths, strict=True)]
    target = source(client, "\n".join([*pieces, function("more", 769)]))
    answer = bundle(client, target, *names, max_chars=8_000)
    assert sum(len(scope["text"]) for scope in answer["scopes"]) == 32_768
    assert not any(scope["truncated"] for scope in answer["scopes"])
    chosen = selections(*names[:4], "more")
    for max_chars in (8_000, 9_000):
        refused(
            admin, client, target, chosen, "rejected", "BUNDLE_RESPONSE_TOO_LARGE",
            max_chars=max_chars,
        )  # fmt: skip
    shorter = observe(client, target, selections=chosen, max_chars=7_999)
    assert sum(len(scope["text"]) for scope in shorter["scopes"]) == 32_765


@pytest.mark.req("SCOPE-047", "SCOPE-030", "SCOPE-012")
@pytest.mark.parametrize(
    ("max_chars", "page"), [(None, 4_000), (3, 3), (8_000, 8_000), (8_001, 8_000)]
)
def test_first_pages_and_the_ones_after(client, max_chars, page):
    texts = {"a": function("a", 9_001), "b": function("b", 4_000)}
    target = source(client, "\n\n".join(texts.values()))
    arguments = {} if max_chars is None else {"max_chars": max_chars}
    for scope in bundle(client, target, "b", "a", **arguments)["scopes"]:
        text = texts[scope["symbol"]["name"]]
        assert scope["text"] == text[:page]
        assert scope["truncated"] is (len(text) > page)
        assert scope["next_offset"] == (page if len(text) > page else None)
        joined, following = scope["text"], scope
        while following["next_offset"] is not None and len(joined) < 20_000:
            following = observe(
                client,
                target,
                observation_id=scope["observation_id"],
                offset=following["next_offset"],
                max_chars=8_000,
            )
            assert following["mode"] == "scope_page"
            joined += following["text"]
        assert joined == text
        assert scope["observed_scope_hash"] == sha256(text)


def test_line_starts_of_every_scope(client, target):
    answer = bundle(client, target, "other", "Box.first", include_line_starts=True)
    starts = [
        (line, sum(len(each) for each in SOURCE.splitlines(keepends=True)[: line - 1]))
        for line in range(1, 21)
    ]
    for scope in answer["scopes"]:
        inside = [
            (line, start)
            for line, start in starts
            if scope["scope_start"] <= start < scope["scope_end"]
        ]
        assert [(item["line"], item["start"]) for item in scope["line_starts"]] == inside
        assert inside


@pytest.mark.parametrize("bad", ["a\ud800", "a\0"])
def test_invalid_text_in_a_selection_is_an_invalid_argument(client, admin, bad):
    target = source(client)
    for selection in ({"symbol_name": bad}, {"symbol_name": "one", "kind": bad}):
        answer = client.call(
            "patchdiff_observe_scope",
            target_file_id=target,
            selections=[{"symbol_name": "one"}, selection],
        )
        assert (answer["status"], answer["selection_index"]) == ("invalid_argument", 1)
        assert row_counts(admin, target)["target_scope_bundles"] == 0
