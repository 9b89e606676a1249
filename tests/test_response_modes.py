"""Detailed and compact answers: what is projected, what never is, and that storage is the same."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from patchdiff import ExternalMCPAdapter
from patchdiff.settings import SettingsError
from tests.support.commands import assert_refused, run, settings
from tests.support.documents import attempts, change, document, ledger
from tests.support.observations import (
    OBSERVE,
    SOURCE,
    SUBMIT,
    batch,
    group,
    guards,
    receipts,
    selections,
    single,
)
from tests.support.stdio import StdioClient, ToolResult

MODES = ("detailed", "compact")
CANDIDATE = {"name", "kind", "parent", "start_line", "end_line"}
DETAILS = {"start", "end", "has_error"}
SCOPE_PAGE = {"start", "end", "max_chars", "next_start", "start_line", "end_line"}
GENERATED = {
    "target_file_id", "observation_id", "observation_bundle_id", "pdcp_log_id", "snapshot_id",
    "closed_editing_cycle_id", "new_editing_cycle_id", "active_editing_cycle_id", "log_sequence",
    "ledger_sequence", "created_at", "editing_cycle_id", "consumed_by_pdcp_log_id", "consumed_at",
    "parent_pdcp_log_id", "request_fingerprint", "correlation_id", "next_sequence",
    "cycle_id", "bundle_id",
}  # fmt: skip

Sessions = dict[str, StdioClient]


@pytest.fixture(scope="module")
def sessions(database_url: str) -> Iterator[Sessions]:
    opened = {
        mode: StdioClient(
            {"PATCHDIFF_DATABASE_URL": database_url, "PATCHDIFF_MCP_RESPONSE_MODE": mode}
        )
        for mode in MODES
    }
    yield opened
    for client in opened.values():
        client.close()


def settled(value: Any) -> Any:
    """The value with everything that two runs cannot have in common left out."""
    if isinstance(value, dict):
        return {name: settled(inner) for name, inner in value.items() if name not in GENERATED}
    if isinstance(value, list):
        return [settled(inner) for inner in value]
    return value


def hash_free(value: Any) -> Any:
    """The value without hashes of records that name receipts, which are never the same twice."""
    if isinstance(value, dict):
        return {
            name: hash_free(inner)
            for name, inner in value.items()
            if name not in ("pdcp_content_hash", "row_hash", "previous_row_hash")
        }
    if isinstance(value, list | tuple):
        return [hash_free(inner) for inner in value]
    return value


def source(client: StdioClient, content: str = SOURCE) -> str:
    target = document(client, content, filename="t.py")["target_file_id"]
    assert isinstance(target, str)
    return target


def both(
    sessions: Sessions, arguments: Callable[[StdioClient], tuple[str, dict[str, Any]]]
) -> tuple[ToolResult, ToolResult]:
    """The answers of a detailed and of a compact session to one call each, made alike."""
    detailed, compact = (sessions[mode].call_tool(*arguments(sessions[mode])) for mode in MODES)
    return detailed, compact


def test_compact_text_has_no_optional_space(sessions: Sessions) -> None:
    for client in sessions.values():
        answer = client.call_tool(OBSERVE, {"target_file_id": source(client)})
        literal = json.dumps(answer.payload, ensure_ascii=False, separators=(",", ":"))
        assert answer.text == literal


@pytest.mark.req("RESP-015", "RESP-018", "RESP-019", "RESP-020")
def test_candidates(sessions: Sessions) -> None:
    detailed, compact = both(sessions, lambda client: (OBSERVE, {"target_file_id": source(client)}))
    full, short = settled(detailed.payload), settled(compact.payload)
    assert short.pop("presentation") == {"mode": "compact", "omitted": ["candidate_details"]}
    assert "presentation" not in full
    assert len(short["candidates"]) == 6
    for entry in full["candidates"]:
        assert set(entry) == CANDIDATE | DETAILS
        for name in DETAILS:
            del entry[name]
    assert short == full
    assert list(compact.payload["candidates"][0]) == [
        "name", "kind", "parent", "start_line", "end_line",
    ]  # fmt: skip
    assert compact.text == json.dumps(compact.payload, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.req("RESP-019")
def test_no_omission_is_named_where_nothing_was_left_out(sessions: Sessions) -> None:
    _, compact = both(
        sessions,
        lambda client: (OBSERVE, {"target_file_id": source(client), "query": "no such name"}),
    )
    assert compact.payload["candidates"] == []
    assert compact.payload["presentation"] == {"mode": "compact", "omitted": []}


@pytest.mark.req("RESP-015", "RESP-025")
def test_a_long_list_of_candidates_keeps_its_truncation(sessions: Sessions) -> None:
    content = "".join(f"def f{number}():\n    pass\n" for number in range(201))
    detailed, compact = both(
        sessions, lambda client: (OBSERVE, {"target_file_id": source(client, content)})
    )
    for answer in (detailed.payload, compact.payload):
        assert len(answer["candidates"]) == 200
        assert (answer["total_candidates"], answer["candidates_truncated"]) == (201, True)
    names = [entry["name"] for entry in compact.payload["candidates"]]
    assert names == [entry["name"] for entry in detailed.payload["candidates"]]


@pytest.mark.req("RESP-016", "RESP-017", "RESP-018", "RESP-019", "RESP-025")
def test_the_scopes_of_a_bundle(sessions: Sessions) -> None:
    long = "def long():\n" + "    x = 1\n" * 900
    content = f"{SOURCE}\n\n{long}"

    def call(client: StdioClient) -> tuple[str, dict[str, Any]]:
        chosen = selections(".first", ".long")
        return OBSERVE, {
            "target_file_id": source(client, content),
            "selections": chosen,
            "include_line_starts": True,
        }

    detailed, compact = both(sessions, call)
    full, short = settled(detailed.payload), settled(compact.payload)
    assert short.pop("presentation") == {"mode": "compact", "omitted": ["duplicate_page_metadata"]}
    for scope in full["scopes"]:
        assert set(scope) >= SCOPE_PAGE
        for name in SCOPE_PAGE:
            del scope[name]
    assert short == full
    last = compact.payload["scopes"][1]
    assert (last["offset"], last["truncated"], last["next_offset"]) == (0, True, 4_000)
    assert last["text"] == long.rstrip("\n")[:4_000]
    assert last["line_starts"]
    for name in ("observation_id", "ordinal", "symbol", "scope_start", "scope_end",
                 "scope_length", "observed_scope_hash"):  # fmt: skip
        assert name in last


def submitted(client: StdioClient, *, many: bool, key: str = "k") -> tuple[str, dict[str, Any]]:
    """An acceptable observed submission on a new target; the text that is inserted splits a
    character, so that the answer has warnings."""
    target = source(client)
    chosen = selections(".first", ".other")
    one = {"op": "match", "match": "one", "replace": "o\u0301ne"}
    if many:
        seen = client.call(OBSERVE, target_file_id=target, selections=chosen)
        first, second = seen["scopes"]
        two = {"op": "match", "match": "two", "replace": "two"}
        return SUBMIT, batch(seen, [group(first, one), group(second, two)], key)
    seen = client.call(OBSERVE, target_file_id=target, symbol_name=".first")
    same = {"op": "match", "match": "def", "replace": "def", "occurrence_index": 1}
    return SUBMIT, single(
        seen, {**one, "occurrence_index": 1}, same, client_request_id=key,
        include_correlation_id=True,
    )  # fmt: skip


@pytest.mark.req("RESP-013", "RESP-014", "RESP-018", "RESP-019")
@pytest.mark.parametrize("many", [False, True])
def test_an_accepted_submission(sessions: Sessions, many: bool) -> None:
    detailed, compact = both(sessions, lambda client: submitted(client, many=many))
    full, short = settled(detailed.payload), settled(compact.payload)
    omitted = ["evidence", "groups"] if many else ["evidence"]
    assert short.pop("presentation") == {"mode": "compact", "omitted": omitted}
    for name in omitted:
        assert full.pop(name)
    assert short == full
    assert set(compact.payload) - {"presentation"} == set(detailed.payload) - set(omitted)
    assert short["warning_count"] == len(short["warnings"]) == len(short["warning_details"]) == 1
    kept = "warnings_truncated validity manifest_entries_added deduplicated before_hash after_hash"
    assert {*kept.split(), "current_hash", "version", "current_version"} <= set(short)


def other_calls(client: StdioClient) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls that answer alike in both modes: every tool, refusals and failures of the projected
    ones."""
    target = source(client, SOURCE)
    of = {"target_file_id": target}
    seen = client.call(OBSERVE, **of, symbol_name="Box", max_chars=20)
    pair = client.call(OBSERVE, **of, selections=selections(".first", ".other"))
    absent = {"op": "match", "match": "absent", "replace": "x"}
    yield OBSERVE, {**of, "symbol_name": "Box", "max_chars": 20}
    yield OBSERVE, {**of, "observation_id": seen["observation_id"], "offset": 20}
    yield OBSERVE, {**of, "symbol_name": "first"}  # ambiguous, with candidates
    yield OBSERVE, {**of, "symbol_name": "no such symbol"}
    yield OBSERVE, {**of, "query": " "}
    yield OBSERVE, {**of, "selections": selections(".first", ".first")}
    yield OBSERVE, {**of, "selections": selections(".first", "first")}
    yield OBSERVE, {**of, "zz": 1}
    yield OBSERVE, {"target_file_id": "x"}
    yield SUBMIT, single(seen, absent)
    yield SUBMIT, {**single(seen, absent), "include_correlation_id": 1}
    yield SUBMIT, batch(pair, [group(pair["scopes"][0], absent)], "rejected")
    yield SUBMIT, {**single(seen, absent), "observation_id": "x"}
    yield SUBMIT, {"target_file_id": target}
    yield "patchdiff_get_target", of
    yield "patchdiff_export_target", of
    yield "patchdiff_read_target", of
    yield "patchdiff_read_lines", of
    yield "patchdiff_find_occurrences", {**of, "text": "def"}
    yield (
        "patchdiff_preview",
        {**of, "format": "patchdiff-tx/1", "intent": "t", "edits": [change("one", "1")],
         "expected_target_version": 0},
    )  # fmt: skip
    yield (
        "patchdiff_submit_edits",
        {**of, "intent": "t", "edits": [change("absent", "1")], "expected_target_version": 0},
    )
    yield (
        "patchdiff_submit_edits",
        {**of, "intent": "t", "edits": [change("two", "2")], "expected_target_version": 0},
    )
    yield (
        "patchdiff_submit_operations",
        {**of, "intent": "t", "operations": [{"op": "match", **change("class", "klass")}],
         "expected_target_version": 1},
    )  # fmt: skip
    yield (
        "patchdiff_submit_replacement",
        {**of, "intent": "t", "replacement": "x", "expected_target_version": 2},
    )
    yield "patchdiff_get_pdcp_log", of
    yield "patchdiff_get_manifest_ledger", of
    yield "patchdiff_replay", of
    yield "patchdiff_save", of
    yield "patchdiff_initialize_target", {"filename": "a", "content": "b"}
    yield "patchdiff_handle_upload", {"filename": "a", "content": "b", "content_type": "c"}
    yield "patchdiff_no_such_tool", of


@pytest.mark.req("RESP-007", "RESP-021", "RESP-022")
def test_everything_else_is_the_same_in_both_modes(sessions: Sessions) -> None:
    answers: dict[str, list[Any]] = {}
    for mode, client in sessions.items():
        answers[mode] = []
        for name, arguments in other_calls(client):
            result = client.call_tool(name, arguments)
            assert "presentation" not in result.payload, (mode, name)
            answers[mode].append((name, result.is_error, hash_free(settled(result.payload))))
    assert len(answers["detailed"]) == 31
    for detailed, compact in zip(answers["detailed"], answers["compact"], strict=True):
        assert detailed == compact


@pytest.mark.req("RESP-007")
def test_detailed_is_the_default(client: StdioClient, sessions: Sessions) -> None:
    for many in (False, True):
        default = client.call_tool(*submitted(client, many=many))
        detailed = sessions["detailed"].call_tool(*submitted(sessions["detailed"], many=many))
        assert settled(default.payload) == settled(detailed.payload)
        assert list(default.payload) == list(detailed.payload)
        assert "presentation" not in default.payload
    listing = ("tools/list", {})
    assert client.request(*listing)["result"] == sessions["detailed"].request(*listing)["result"]


@pytest.mark.req("RESP-010", "RESP-023")
def test_listings_differ_in_two_descriptions_only(sessions: Sessions) -> None:
    detailed, compact = (
        sessions[mode].request("tools/list", {})["result"]["tools"] for mode in MODES
    )
    for one, other in zip(detailed, compact, strict=True):
        assert "ompact" not in one["description"]
        if one["name"] in (OBSERVE, SUBMIT):
            assert other["description"].startswith(one["description"])
            assert "Compact presentation" in other["description"]
            other = {**other, "description": one["description"]}
        assert one == other


@pytest.mark.req("RESP-024")
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(("first", "second"), [MODES, MODES[::-1]])
def test_a_recovery_is_in_the_receiving_session_s_mode(
    sessions: Sessions, many: bool, first: str, second: str
) -> None:
    name, arguments = submitted(sessions[first], many=many)
    before = sessions[first].call(name, **arguments)
    again = sessions[second].call(name, **arguments)
    third = sessions[first].call(name, **arguments)
    assert (before["deduplicated"], again["deduplicated"]) == (False, True)
    assert again["pdcp_log_id"] == before["pdcp_log_id"] == third["pdcp_log_id"]
    omitted = {"evidence", "groups"} if many else {"evidence"}
    compact, detailed = (again, third) if second == "compact" else (third, again)
    assert set(compact["presentation"]["omitted"]) == omitted
    assert not omitted & set(compact)
    assert omitted <= set(detailed)
    assert "presentation" not in detailed


@pytest.mark.req("RESP-011")
def test_the_modes_store_the_same(sessions: Sessions, admin: Any) -> None:
    stored = {}
    for mode, client in sessions.items():
        rows = []
        for many in (False, True):
            name, arguments = submitted(client, many=many)
            assert client.call(name, **arguments)["status"] == "accepted"
            target = arguments["target_file_id"]
            columns = admin.execute(
                "select to_jsonb(l) - 'row_hash' - 'previous_row_hash' - 'pdcp_content'"
                " - 'pdcp_content_hash'"
                " from patchdiff.append_only_pdcp_logs as l where target_file_id = %s",
                [target],
            ).fetchall()
            rows.append(
                (
                    [row[0]["request_fingerprint"] is not None for row in columns],
                    settled(attempts(client, target)),
                    settled(ledger(client, target)),
                    settled(receipts(admin, target)),
                )
            )
        stored[mode] = hash_free(rows)
    assert stored["detailed"] == stored["compact"]
    assert stored["compact"][0][1][0]["status"] == "accepted"


@pytest.mark.req("RESP-008")
@pytest.mark.parametrize("mode", ["Compact", "short", "", "detailed,compact", "compact "])
def test_another_mode_stops_the_start(mode: str) -> None:
    line = assert_refused(
        run("mcp", PATCHDIFF_MCP_RESPONSE_MODE=mode), "PATCHDIFF_MCP_RESPONSE_MODE"
    )
    assert "detailed, compact" in line


@pytest.mark.req("RESP-009", "RESP-012")
def test_an_embedding_chooses_the_mode_once(
    database_url: str, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings(DATABASE_URL=database_url)
    target = source(sessions["compact"])
    with (
        ExternalMCPAdapter(chosen, response_mode="compact") as compact,
        ExternalMCPAdapter(chosen) as detailed,
    ):
        monkeypatch.setenv("PATCHDIFF_MCP_RESPONSE_MODE", "detailed")
        for adapter, session in (
            (compact, sessions["compact"]),
            (detailed, sessions["detailed"]),
        ):
            listed = session.request("tools/list", {})["result"]["tools"]
            assert adapter.list_tools() == {"tools": listed}
            calls: list[tuple[str, dict[str, Any]]] = [
                (OBSERVE, {"target_file_id": target}),
                (OBSERVE, {"target_file_id": target, "response_mode": "detailed"}),
                ("patchdiff_get_target", {"target_file_id": target}),
                ("patchdiff_nothing", {}),
            ]
            for name, arguments in calls:
                given = deepcopy(arguments)
                theirs = session.call_tool(name, arguments)
                mine = adapter.call_tool(name, given)
                assert mine == {
                    "content": [{"type": "text", "text": theirs.text}],
                    "isError": theirs.is_error,
                }
                assert given == arguments
        answer = json.loads(
            compact.call_tool(OBSERVE, {"target_file_id": target})["content"][0]["text"]
        )
        assert answer["presentation"]["mode"] == "compact"
    with pytest.raises(SettingsError, match="response_mode must be one of detailed, compact"):
        ExternalMCPAdapter(chosen, response_mode="short")
    monkeypatch.setenv("PATCHDIFF_DATABASE_URL", database_url)
    monkeypatch.setenv("PATCHDIFF_MCP_RESPONSE_MODE", "compact")
    with ExternalMCPAdapter() as adapter:
        monkeypatch.setenv("PATCHDIFF_MCP_RESPONSE_MODE", "detailed")
        listed = sessions["compact"].request("tools/list", {})["result"]["tools"]
        assert adapter.list_tools() == {"tools": listed}


@pytest.mark.req("RESP-025")
def test_compact_pages_have_the_exact_text(sessions: Sessions) -> None:
    content = "def long():\n" + "    x = '\U0001f600'\n" * 900
    target = source(sessions["compact"], content)
    seen = sessions["compact"].call(
        OBSERVE, target_file_id=target, selections=selections("long"), max_chars=8_000
    )
    scope = seen["scopes"][0]
    text = scope["text"]
    while scope["next_offset"] is not None:
        scope = sessions["compact"].call(
            OBSERVE,
            target_file_id=target,
            observation_id=scope["observation_id"],
            offset=scope["next_offset"],
            max_chars=8_000,
        )
        text += scope["text"]
    assert text == content.rstrip("\n")
    assert guards(seen)["expected_target_version"] == 0
