"""Names and JSON types of a call's arguments, against what the contract says of each."""

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchdiff import Service
from patchdiff.arguments import clamp_integers, refuse_names, refuse_types, shown
from patchdiff.catalog import TOOLS

UUID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
HASH = "0123456789abcdef" * 4
HUGE = 10**4000

INTEGER_FROM_0 = ([0, 1, 8001, 2**63, HUGE], [-1, -HUGE])
INTEGER_FROM_1 = ([1, 2, 8001, 2**63, HUGE], [0, -1, -HUGE])
NOT_INTEGERS = [True, False, "1", "", 1.0, 5.0, 0.5, float("nan"), [], [1], {}]
NOT_BOOLEANS = [0, 1, "true", "false", "", None, 1.0, [], {}]
NOT_STRINGS = [0, 1, True, False, 1.5, [], ["a"], {}, {"a": "b"}]
BAD_TEXTS = ["\0", "a\0", "\ud800", "a\udfffb"]
BAD_UUIDS = [
    "",
    UUID.upper(),
    UUID.replace("-", ""),
    f"{{{UUID}}}",
    f" {UUID}",
    f"{UUID} ",
    f"{UUID}\n",
    f"{UUID}\0",
    UUID[:-1],
    f"{UUID}0",
    UUID.replace("a", "g"),
    f"urn:uuid:{UUID}",
    "\ud800",
]


def integers(
    bounds: tuple[list[int], list[int]], *, nullable: bool = False
) -> tuple[list[Any], list[Any]]:
    good, bad = bounds
    return [*good, *([None] if nullable else [])], [
        *bad,
        *NOT_INTEGERS,
        *([] if nullable else [None]),
    ]


BOOLEAN: tuple[list[Any], list[Any]] = ([True, False], NOT_BOOLEANS)
TARGET: tuple[list[Any], list[Any]] = ([UUID], [*BAD_UUIDS, *NOT_STRINGS, None])
TEXT = (["", "a", "\r\n", "\U0010ffff\u2028\x01", "x" * 2_000_000], [*BAD_TEXTS, *NOT_STRINGS])
ENTRIES = {
    "limit": integers(INTEGER_FROM_1, nullable=True),
    "before_sequence": integers(INTEGER_FROM_1, nullable=True),
}
FILENAME = (["t.txt", " ", "\u00e9"], ["", *BAD_TEXTS, *NOT_STRINGS, None])
SELECTOR = (["a", " ", "\u00e9\n", None], ["", *BAD_TEXTS, *NOT_STRINGS])
PROJECT = (
    [UUID, UUID.upper(), None],
    [*(uuid for uuid in BAD_UUIDS if uuid != UUID.upper()), *NOT_STRINGS],
)

# Per tool and argument: values to be accepted, values to be refused.
CASES: dict[str, dict[str, tuple[list[Any], list[Any]]]] = {
    "initialize_target": {
        "filename": FILENAME,
        "content": ([*TEXT[0], None], TEXT[1]),
        "content_type": (TEXT[0], [*TEXT[1], None]),
        "project_id": PROJECT,
        "from_workspace": BOOLEAN,
    },
    "handle_upload": {
        "filename": FILENAME,
        "content": (TEXT[0], [*TEXT[1], None]),
        "content_type": (TEXT[0], [*TEXT[1], None]),
        "project_id": PROJECT,
    },
    "get_target": {"target_file_id": TARGET},
    "export_target": {
        "target_file_id": TARGET,
        "format": (
            ["original_text", "canonical_lf", "crlf", "original_eol"],
            ["", "CRLF", "Crlf", "lf", "crlf\n", " crlf", "\0", "\ud800", None, *NOT_STRINGS],
        ),
    },
    "read_target": {
        "target_file_id": TARGET,
        "start": integers(INTEGER_FROM_0),
        "length": integers(INTEGER_FROM_1, nullable=True),
    },
    "read_lines": {
        "target_file_id": TARGET,
        "start_line": integers(INTEGER_FROM_1),
        "end_line": integers(INTEGER_FROM_1, nullable=True),
        "offset": integers(INTEGER_FROM_0),
        "max_chars": integers(INTEGER_FROM_1, nullable=True),
        "include_line_starts": BOOLEAN,
    },
    "find_occurrences": {
        "target_file_id": TARGET,
        "text": (["a", "\r", "\n", "%_"], ["", *BAD_TEXTS, *NOT_STRINGS, None]),
        "context_chars": integers(INTEGER_FROM_0),
        "start_occurrence": integers(INTEGER_FROM_1),
        "max_results": integers(INTEGER_FROM_1),
    },
    "submit_edits": {"include_correlation_id": BOOLEAN},
    "submit_operations": {"include_correlation_id": BOOLEAN},
    "submit_replacement": {"include_correlation_id": BOOLEAN},
    # judges its arguments itself, as a submission does
    "preview": {},
    # guards are judged by the database, and reject
    "save": {
        "target_file_id": TARGET,
        "export_after_save": BOOLEAN,
        "sync_workspace": (
            [*BOOLEAN[0], None],
            [value for value in BOOLEAN[1] if value is not None],
        ),
        "workspace_eol_format": (
            ["original_eol", "canonical_lf", "crlf"],
            ["", "original_text", "lf", "CRLF", "crlf\n", "\ud800", None, *NOT_STRINGS],
        ),
    },
    "replay": {"target_file_id": TARGET},
    "get_pdcp_log": {
        "target_file_id": TARGET,
        **ENTRIES,
        "status": (
            ["accepted", "rejected", None],
            ["", "Accepted", "accepted\n", "saved", "\ud800", *NOT_STRINGS],
        ),
        "content_hash": (
            [HASH, None, "", HASH.upper(), f"{HASH}0"],
            [*BAD_TEXTS, *NOT_STRINGS],
        ),
        "client_request_id": (
            ["", "k", "x" * 200, "\u00e9\t\n", None],
            [*BAD_TEXTS, *NOT_STRINGS],
        ),
        "include_content": BOOLEAN,
    },
    "get_manifest_ledger": {
        "target_file_id": TARGET,
        "include_previous_cycles": BOOLEAN,
        **ENTRIES,
    },
    "observe_scope": {
        "target_file_id": TARGET,
        "query": SELECTOR,
        "symbol_name": SELECTOR,
        "kind": SELECTOR,
        # paging judges the form of the id
        "observation_id": ([UUID, "x", "", None], [*BAD_TEXTS, *NOT_STRINGS]),
        "offset": integers(INTEGER_FROM_0),
        "max_chars": integers(INTEGER_FROM_1, nullable=True),
        "include_line_starts": BOOLEAN,
    },
    "submit_observed_operations": {"include_correlation_id": BOOLEAN},
}
REQUIRED: dict[str, dict[str, Any]] = {
    "initialize_target": {"filename": "t"},
    "handle_upload": {"filename": "t", "content": "", "content_type": "text/plain"},
    "find_occurrences": {"target_file_id": UUID, "text": "x"},
    "submit_edits": {"target_file_id": 1, "intent": 2, "edits": 3},
    "submit_operations": {"target_file_id": 1, "intent": 2, "operations": 3},
    "submit_replacement": {"target_file_id": 1, "intent": 2, "replacement": 3},
    "submit_observed_operations": {"target_file_id": 1, "intent": 2},
}
JUDGE_THEMSELVES = (
    "submit_edits", "submit_operations", "submit_replacement", "preview", "save",
    "submit_observed_operations",
)  # fmt: skip
CODES = {
    "target_file_id": "invalid_target_id",
    "include_correlation_id": "invalid_include_correlation_id",
    "format": "unsupported_export_format",
    "observation_id": "INVALID_OBSERVATION_ID",
}
# selections are judged one by one, so that a refusal can name the one at fault
ELSEWHERE = {"observe_scope": {"selections"}}

every_argument = pytest.mark.parametrize(
    ("method", "name"), [(method, name) for method, named in CASES.items() for name in named]
)


def refusal(method: str, **given: Any) -> dict[str, Any] | None:
    arguments = {**REQUIRED.get(method, {"target_file_id": UUID}), **given}
    return refuse_types(TOOLS[f"patchdiff_{method}"], arguments)


def test_the_table_names_every_argument() -> None:
    for method, named in CASES.items():
        tool = TOOLS[f"patchdiff_{method}"]
        if method not in JUDGE_THEMSELVES:
            elsewhere = ELSEWHERE.get(method, set())
            assert set(named) | elsewhere == set(tool.input_schema["properties"])
    assert {f"patchdiff_{method}" for method in CASES} == set(TOOLS)


@every_argument
def test_good_values_pass(method: str, name: str) -> None:
    for value in CASES[method][name][0]:
        assert refusal(method, **{name: value}) is None, value


class Untouched:
    """A connection that fails the test when it is used at all."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"a refused call used the connection's {name}")


@every_argument
@pytest.mark.req("MCP-013", "MCP-020", "MCP-021", "EOL-030", "EOL-031")
@pytest.mark.req("LIFE-012", "LIFE-020", "LIFE-025", "LIFE-026")
@pytest.mark.req("READ-004", "READ-005", "READ-017", "READ-044", "READ-045", "READ-049")
@pytest.mark.req("READ-051", "READ-052", "FIND-010", "FIND-013", "FIND-016", "FIND-020")
@pytest.mark.req("LOG-007", "LOG-009", "LOG-010", "LOG-019", "LOG-020", "LOG-036")
@pytest.mark.req("LEDG-006", "LEDG-007", "LEDG-013", "SCOPE-013", "SCOPE-015", "SCOPE-036")
def test_bad_values_are_refused_by_name(method: str, name: str) -> None:
    service = Service(cast("Any", Untouched()))
    bad = CASES[method][name][1]
    assert bad
    for value in bad:
        given = {**REQUIRED.get(method, {"target_file_id": UUID}), name: value}
        answer = getattr(service, method)(**given)
        assert answer["status"] == "invalid_argument", value
        assert answer.get("code") == CODES.get(name)
        assert answer["failure_detail"].startswith(name)
        assert answer["failure_detail"].isascii()
        assert len(answer["failure_detail"]) < 250
        fields = set(answer) - {"code", "status", "failure_detail"}
        if name == "format":
            assert answer["allowed_formats"] == CASES[method][name][0]
            assert fields == {"allowed_formats"}
        elif method in ("get_pdcp_log", "get_manifest_ledger"):
            assert fields == {"entries", "has_more", "next_sequence"}
            assert (answer["entries"], answer["has_more"], answer["next_sequence"]) == (
                [],
                False,
                None,
            )
        elif method == "observe_scope":
            assert fields == {"observation_id"}
            assert answer["observation_id"] is None
        else:
            assert fields == set()


@pytest.mark.parametrize(
    ("method", "given", "detail"),
    [
        ("read_target", {"start": "5"}, 'start must be an integer of at least 0, not "5".'),
        ("read_target", {"start": -1}, "start must be an integer of at least 0, not -1."),
        ("read_target", {"start": True}, "start must be an integer of at least 0, not true."),
        ("read_target", {"start": None}, "start must be an integer of at least 0, not null."),
        ("read_target", {"start": 5.0}, "start must be an integer of at least 0, not 5.0."),
        (
            "read_target",
            {"length": 0},
            "length must be an integer of at least 1 or null, not 0.",
        ),
        (
            "read_target",
            {"length": [1]},
            "length must be an integer of at least 1 or null, not an array.",
        ),
        (
            "read_lines",
            {"include_line_starts": "true"},
            'include_line_starts must be true or false, not "true".',
        ),
        ("find_occurrences", {"text": ""}, 'text must be a non-empty string, not "".'),
        (
            "find_occurrences",
            {"text": "ab\0"},
            "text is not valid PostgreSQL text: code point 2 is a NUL or a lone surrogate.",
        ),
        (
            "get_target",
            {"target_file_id": {"a": 1}},
            "target_file_id must be a UUID in lowercase with hyphens, not an object.",
        ),
        (
            "get_target",
            {"target_file_id": "x" * 41},
            (
                "target_file_id must be a UUID in lowercase with hyphens, "
                "not a string of 41 characters."
            ),
        ),
        (
            "get_pdcp_log",
            {"status": "new"},
            'status must be "accepted", "rejected" or null, not "new".',
        ),
        (
            "get_pdcp_log",
            {"content_hash": 7},
            "content_hash must be a string or null, not 7.",
        ),
        (
            "initialize_target",
            {"content": 3},
            "content must be a string or null, not 3.",
        ),
    ],
)
def test_the_message_says_what_was_expected_and_what_came(
    method: str, given: dict[str, Any], detail: str
) -> None:
    answer = refusal(method, **given)
    assert answer is not None
    assert answer["failure_detail"] == detail


def test_the_first_violation_in_the_schema_s_order_is_told() -> None:
    answer = refusal("read_lines", max_chars=0, start_line=0, target_file_id=UUID)
    assert answer is not None
    assert answer["failure_detail"].startswith("start_line ")
    answer = refusal("export_target", format="x", target_file_id="x")
    assert answer is not None
    assert answer["code"] == "invalid_target_id"


def test_a_submission_s_other_arguments_are_judged_elsewhere() -> None:
    given = {name: object() for name in TOOLS["patchdiff_submit_edits"].input_schema["properties"]}
    assert refusal("submit_edits", **{**given, "include_correlation_id": True}) is None


def test_names_that_are_not_the_tool_s_are_passed_over() -> None:
    assert refusal("get_target", nonsense=object()) is None


@pytest.mark.req("LIFE-001", "LIFE-009", "LIFE-010", "LIFE-021", "MCP-008")
def test_missing_names_are_listed_in_the_schema_s_order() -> None:
    def missing(method: str, *given: str) -> object:
        answer = refuse_names(TOOLS[f"patchdiff_{method}"], dict.fromkeys(given))
        return None if answer is None else (answer["code"], answer.get("missing_arguments"))

    assert missing("initialize_target") == ("missing_argument", ["filename"])
    assert missing("initialize_target", "filename") is None
    assert missing("handle_upload") == (
        "missing_argument",
        ["filename", "content", "content_type"],
    )
    assert missing("handle_upload", "content_type", "filename") == ("missing_argument", ["content"])
    assert missing("get_target") == ("missing_argument", ["target_file_id"])
    assert missing("submit_edits", "edits") == ("missing_argument", ["target_file_id", "intent"])
    answer = refuse_names(
        TOOLS["patchdiff_handle_upload"],
        dict.fromkeys(["from_workspace", "filename", "content", "content_type"]),
    )
    assert answer is not None
    assert answer["code"] == "unknown_argument"
    assert answer["unknown_arguments"] == ["from_workspace"]
    assert "missing_arguments" not in answer


@pytest.mark.req("MCP-007", "MCP-010")
def test_unknown_names_are_listed_in_the_call_s_order() -> None:
    answer = refuse_names(
        TOOLS["patchdiff_find_occurrences"], {"z": 1, "text": "x", "a": 2, "\ud800": 3}
    )
    assert answer == {
        "status": "invalid_argument",
        "code": "unknown_argument",
        "tool": "patchdiff_find_occurrences",
        "failure_detail": 'Unknown argument: "z", "a", "\\ud800". Missing argument: '
        '"target_file_id". patchdiff_find_occurrences takes target_file_id, text, context_chars, '
        "start_occurrence, max_results.",
        "unknown_arguments": ["z", "a", "\ud800"],
        "missing_arguments": ["target_file_id"],
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x" * 40, '"' + "x" * 40 + '"'),
        ("x" * 41, "a string of 41 characters"),
        ("\u00e9\ud800", '"\\u00e9\\ud800"'),
        ("\U0001f600" * 20, "a string of 20 characters"),
        (2**127, str(2**127)),
        (HUGE, "an integer beyond 128 bits"),
        (-HUGE, "an integer beyond 128 bits"),
        (float("nan"), "nan"),
        ([], "an array"),
        ({"password": "x"}, "an object"),
    ],
)
def test_values_are_shown_short_and_in_ascii(value: object, text: str) -> None:
    assert shown(value) == text


def test_integers_are_clamped_to_64_bits() -> None:
    given = {"a": 2**63 - 1, "b": 2**63, "c": -(2**63), "d": -(2**63) - 1, "e": True, "f": "x"}
    assert clamp_integers(given) == {
        "a": 2**63 - 1,
        "b": 2**63 - 1,
        "c": -(2**63),
        "d": -(2**63),
        "e": True,
        "f": "x",
    }
    assert clamp_integers({"e": True})["e"] is True


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters() | st.sampled_from("\0\ud800"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def acceptable(schema: dict[str, Any], value: object) -> bool:
    """Whether a value fits a schema of the catalog, written anew for numbers, flags and texts."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if value is None:
        return "null" in types
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int):
        return "integer" in types and value >= schema["minimum"]
    if isinstance(value, str):
        # No generated text is a UUID, a hash or one of the names of an enumeration.
        return (
            "string" in types
            and not {"enum", "pattern"} & set(schema)
            and len(value) >= schema.get("minLength", 0)
            and not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value)
        )
    return False


@pytest.mark.req("MCP-020", "MCP-021")
@given(st.data())
def test_exactly_the_acceptable_values_pass(data: st.DataObject) -> None:
    method = data.draw(st.sampled_from([name for name in CASES if name not in JUDGE_THEMSELVES]))
    properties = TOOLS[f"patchdiff_{method}"].input_schema["properties"]
    name = data.draw(st.sampled_from(sorted(set(properties) - ELSEWHERE.get(method, set()))))
    value = data.draw(ANY_JSON)
    answer = refusal(method, **{name: value})
    assert (answer is None) is acceptable(properties[name], value)
    if answer is not None:
        json.dumps(answer, allow_nan=False)
