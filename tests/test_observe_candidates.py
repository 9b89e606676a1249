"""patchdiff_observe_scope without a selector: the symbols that there are."""

from __future__ import annotations

import pytest

from patchdiff import Service
from patchdiff.catalog import TOOLS
from tests.support.documents import ServiceCaller, row_counts, sha256
from tests.support.observations import OBSERVE, SOURCE, function, observe, receipt, source

# kind, name, parent and lines of every symbol of SOURCE, counted by hand
SYMBOLS = [
    ("function", "first", None, 4, 5),
    ("function", "other", None, 8, 9),
    ("class", "Box", None, 12, 20),
    ("method", "first", "Box", 13, 14),
    ("method", "keep", "Box", 16, 20),
    ("function", "inner", "keep", 17, 18),
]
BLANK = ["", " ", "\t\n", "\u00a0", "\u2003\u3000", "\u2028"]


@pytest.fixture(scope="module")
def target(client):
    return source(client)


def listed(answer):
    assert answer["status"] == "candidates", answer
    return [
        (item["kind"], item["name"], item["parent"], item["start_line"], item["end_line"])
        for item in answer["candidates"]
    ]


@pytest.mark.req("SCOPE-001", "SCOPE-002", "SCOPE-018", "SCOPE-019", "SCOPE-056")
def test_the_symbols_of_a_text(client, admin, target):
    before = row_counts(admin)
    answer = observe(client, target)
    assert row_counts(admin) == before
    assert listed(answer) == SYMBOLS
    assert {key: answer[key] for key in answer if key != "candidates"} == {
        "status": "candidates",
        "target_file_id": target,
        "target_version": 0,
        "target_current_hash": sha256(SOURCE),
        "engine": answer["engine"],
        "language": "python",
        "observation_id": None,
        "has_errors": False,
        "total_candidates": 6,
        "candidates_truncated": False,
    }
    for item in answer["candidates"]:
        lines = SOURCE[item["start"] : item["end"]].splitlines()
        assert (item["name"] in lines[0], item["has_error"]) == (True, False)
        assert len(lines) == item["end_line"] - item["start_line"] + 1


@pytest.mark.req("SCOPE-001")
def test_only_the_target_is_required(client):
    assert TOOLS[OBSERVE].input_schema["required"] == ["target_file_id"]
    refused = client.call_tool(OBSERVE, {})
    assert refused.is_error is True
    assert refused.payload["missing_arguments"] == ["target_file_id"]


@pytest.mark.req("SCOPE-005", "SCOPE-008", "SCOPE-010")
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"query": "first"}, [0, 3]),
        ({"query": "FIRST"}, [0, 3]),
        ({"query": "o"}, [1, 2]),
        ({"query": "irs"}, [0, 3]),
        ({"query": "Box.first"}, []),
        ({"query": "%"}, []),
        ({"query": "_"}, []),
        ({"query": "f.rst"}, []),
        ({"query": " first"}, []),
        ({"query": "first "}, []),
        ({"kind": "function"}, [0, 1, 5]),
        ({"kind": "method"}, [3, 4]),
        ({"kind": "class"}, [2]),
        ({"kind": "Class"}, []),
        ({"kind": "clas"}, []),
        ({"kind": "class "}, []),
        ({"kind": "function", "query": "first"}, [0]),
        ({"kind": "nonsense", "query": "first"}, []),
    ],
)
def test_filters(client, target, filters, found):
    answer = observe(client, target, **filters)
    assert listed(answer) == [SYMBOLS[place] for place in found]
    assert answer["total_candidates"] == len(found)
    assert answer["observation_id"] is None


@pytest.mark.req("SCOPE-005", "SCOPE-008")
def test_a_name_s_own_characters_count(client):
    text = "class A { ' name '() { return 1 }\n '%_'() { return 2 } 'Name'() {} }\n"
    target = source(client, text, "a.js")

    def names(**filters):
        return [item["name"] for item in observe(client, target, **filters)["candidates"]]

    assert names(query="%") == ["%_"]
    assert names(query="_") == ["%_"]
    assert names(query="NAME") == [" name ", "Name"]
    assert names(query=" name ") == [" name "]
    assert receipt(client, target, " name ")["symbol"]["name"] == " name "
    for name in ("name", " name", "name "):
        assert observe(client, target, symbol_name=name)["status"] == "not_found"


@pytest.mark.req("SCOPE-006", "SCOPE-007")
@pytest.mark.parametrize("name", ["query", "symbol_name", "kind"])
def test_blank_selectors(client, service, target, name):
    for caller in (client, ServiceCaller(service)):
        for blank in BLANK:
            answer = observe(caller, target, **{name: blank})
            assert answer["status"] == "invalid_argument", blank
            assert name in answer["failure_detail"]
            assert answer["observation_id"] is None


@pytest.mark.req("SCOPE-006", "SCOPE-007")
def test_a_blank_selector_is_refused_beside_others(client, target):
    for arguments in (
        {"query": " ", "symbol_name": ".first"},
        {"kind": " ", "symbol_name": ".first"},
        {"symbol_name": " ", "query": "first"},
    ):
        assert observe(client, target, **arguments)["status"] == "invalid_argument"


@pytest.mark.req("SCOPE-009")
def test_null_is_absent(client, target):
    nothing = dict.fromkeys(("query", "symbol_name", "kind", "observation_id", "selections"))
    assert observe(client, target, **nothing) == observe(client, target)
    chosen = receipt(client, target, ".first", kind=None, query=None, observation_id=None)
    page = observe(
        client, target, observation_id=chosen["observation_id"], symbol_name=None, kind=None,
        query=None, max_chars=None,
    )  # fmt: skip
    assert (page["mode"], page["text"]) == ("scope_page", chosen["text"])


@pytest.mark.req("SCOPE-017")
def test_the_schema_refuses_empty_selectors():
    properties = TOOLS[OBSERVE].input_schema["properties"]
    for name in ("query", "symbol_name", "kind"):
        assert properties[name]["minLength"] == 1
        assert properties[name]["type"] == ["string", "null"]


@pytest.mark.req("SCOPE-020")
@pytest.mark.parametrize("number", [200, 201])
def test_at_most_200_candidates_are_listed(client, number):
    text = "".join(f"{function(f'f{place}', 30)}\n" for place in range(number))
    answer = observe(client, source(client, text))
    names = [item["name"] for item in answer["candidates"]]
    assert names == [f"f{place}" for place in range(200)]
    assert answer["total_candidates"] == number
    assert answer["candidates_truncated"] is (number > 200)


@pytest.mark.req("SCOPE-054", "SCOPE-055")
def test_a_text_of_an_unknown_type(client):
    target = source(client, "a\nb\n", "t.unknown")
    answer = observe(client, target)
    assert listed(answer) == [("document", "<document>", None, 1, 2)]
    assert answer["language"] == "text"
    assert [(item["start"], item["end"]) for item in answer["candidates"]] == [(0, 4)]


def test_an_empty_text_has_nothing_to_list(client):
    target = source(client, "")
    assert listed(observe(client, target)) == []
    assert observe(client, target, symbol_name="<document>")["status"] == "not_found"


@pytest.mark.req("SCOPE-037")
def test_an_id_without_a_target(client, service):
    for caller in (client, ServiceCaller(service)):
        unknown = observe(caller, "00000000-0000-4000-8000-000000000000")
        assert unknown["status"] == "not_found"
        for malformed in ("", "x", "0" * 36, None, 7, "\ud800", "\0"):
            answer = observe(caller, malformed)
            assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")


@pytest.mark.req("SCOPE-050")
def test_the_engine_is_named(client, target):
    engine = observe(client, target)["engine"]
    name, _, digest = engine.partition("+")
    assert name == "patchdiff-symbols@1"
    assert len(digest) == 12
    assert set(digest) <= set("0123456789abcdef")
    assert receipt(client, target)["engine"] == engine


def test_a_rolled_back_transaction_leaves_no_receipt(plain_connection, admin, service):
    target = source(ServiceCaller(service))
    caller = ServiceCaller(Service(plain_connection))
    plain_connection.execute("select 1")
    receipt(caller, target)
    plain_connection.rollback()
    assert row_counts(admin, target)["target_scope_observations"] == 0
