"""patchdiff_replay and patchdiff.replay_spans: two roads from the first snapshot to the text."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchdiff import Service
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    canonical,
    change,
    content_of,
    document,
    row_counts,
    sha256,
    submit,
    texts,
)

CHECKS = (
    "content_matches",
    "stored_hash_matches",
    "recomputed_hash_matches",
    "version_matches",
)
# one text of each history: astral, combining, CJK, line ends
START = "alpha \U0001f600 beta\nline e\u0301 two\n\u4e2d\u6587 three\n"


@pytest.fixture
def caller(service) -> ServiceCaller:
    return ServiceCaller(service)


def replay(caller, target):
    return caller.call("patchdiff_replay", target_file_id=target)


def replay_spans(admin, target) -> dict[str, Any]:
    row = admin.execute("select patchdiff.replay_spans(%s)", [target]).fetchone()
    assert row is not None
    return row[0]


def span(text, start, end, replace, **fields):
    expected = text[start:end]
    return {
        "op": "span", "start": start, "end": end, "expected_text": expected, "replace": replace,
        **fields,
    }  # fmt: skip


def operations(caller, target, version, *items):
    answer = caller.call(
        "patchdiff_submit_operations",
        target_file_id=target,
        intent="t",
        operations=list(items),
        expected_target_version=version,
    )
    assert answer["status"] == "accepted", answer


def history(caller) -> tuple[str, list[str]]:
    """A target with a record of every protocol and runtime, rejections and saves between; the text
    of each version."""
    target = document(caller, START)["target_file_id"]
    versions = [START]
    assert submit(caller, target, change("beta", "BETA"), change("two", "2\r\n"))["status"] == (
        "accepted"
    )
    versions.append(content_of(caller, target))
    assert submit(caller, target, change("absent", "x"), expected_target_version=1)["status"] == (
        "rejected"
    )
    assert caller.call("patchdiff_save", target_file_id=target)["status"] == "saved"
    operations(
        caller, target, 1, span(versions[1], 6, 7, "\U0001f601\U0001f601"), {
            "op": "match", "match": "three", "replace": "3", "rationale": "shorter",
        },
    )  # fmt: skip
    versions.append(content_of(caller, target))
    operations(
        caller, target, 2, span(versions[2], 0, 0, ">", expected_after="alpha"),
    )  # fmt: skip
    versions.append(content_of(caller, target))
    answer = caller.call(
        "patchdiff_submit_replacement",
        target_file_id=target,
        intent="t",
        replacement="whole\r\nnew \U0001f600\r",
        expected_target_version=3,
    )
    assert answer["status"] == "accepted"
    versions.append(content_of(caller, target))
    assert submit(caller, target, change("new", ""), expected_target_version=4)["status"] == (
        "accepted"
    )
    versions.append(content_of(caller, target))
    assert versions[-2:] == ["whole\nnew \U0001f600\n", "whole\n \U0001f600\n"]
    return target, versions


@pytest.mark.req("REPL-002", "REPL-003", "REPL-004", "REPL-005", "REPL-006", "REPL-007", "REPL-008")
@pytest.mark.req("REPL-009", "REPL-022", "SQL-014")
def test_a_mixed_history_replays_by_both_roads(client, admin) -> None:
    target, versions = history(client)
    rows = admin.execute(
        "select protocol_version, runtime_version from patchdiff.append_only_pdcp_logs"
        " where target_file_id = %s and status = 'accepted' order by log_sequence",
        [target],
    ).fetchall()
    assert [(row[0][-1], row[1][-5:]) for row in rows] == [
        ("1", "0.2.2"), ("2", "0.3.0"), ("2", "0.5.0"), ("3", "0.4.0"), ("1", "0.2.2"),
    ]  # fmt: skip
    answer = replay(client, target)
    assert answer == {
        "status": "success",
        "target_file_id": target,
        "reconstructed_hash": sha256(versions[-1]),
        "current_hash": sha256(versions[-1]),
        "reconstructed_version": 5,
        "current_version": 5,
        "accepted_transactions_replayed": 5,
        "materialized_state_matches": True,
        "materialized_state_checks": dict.fromkeys(CHECKS, True),
    }
    assert replay_spans(admin, target) == answer
    for version, text in enumerate(versions):
        row = admin.execute("select patchdiff.content_at(%s, %s)", [target, version]).fetchone()
        assert row == (text,)
    fresh = document(client, "")["target_file_id"]
    answer = replay(client, fresh)
    assert (answer["accepted_transactions_replayed"], answer["materialized_state_matches"]) == (
        0,
        True,
    )
    assert replay_spans(admin, fresh) == answer


@pytest.mark.req("REPL-021")
def test_an_id_without_a_target(client) -> None:
    assert replay(client, UNKNOWN_ID)["status"] == "not_found"
    for malformed in ("", "x", UNKNOWN_ID + "0", None, 7, "\ud800"):
        answer = replay(client, malformed)
        assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")


TARGETS = "update patchdiff.cloud_target_files set {} where target_file_id = %(target)s"
LOG = (
    "update patchdiff.append_only_pdcp_logs set {} where target_file_id = %(target)s"
    " and after_version = {}"
)
LEDGER = (
    "update patchdiff.manifest_ledger set {} where target_file_id = %(target)s"
    " and after_version = {}"
)
RECORD = "pdcp_content = {0}, pdcp_content_hash = patchdiff._sha256_hex({0})"


def altered_record(expression: str) -> str:
    """Change a record together with its hash, as somebody would who covers his tracks."""
    return RECORD.format(expression)


# what is done to a stored history, and the checks that then do not hold, or None for a failure
TAMPERING: dict[str, tuple[str, set[str] | None]] = {
    "content": (
        TARGETS.format("current_content = 'x'"),
        {"content_matches", "recomputed_hash_matches"},
    ),
    "content got CR": (
        TARGETS.format(r"current_content = replace(current_content, E'\n', E'\r\n')"),
        {"content_matches"},
    ),
    "content got lone CR": (
        TARGETS.format(r"current_content = replace(current_content, E'\n', E'\r')"),
        {"content_matches"},
    ),
    "hash": (TARGETS.format("current_hash = repeat('0', 64)"), {"stored_hash_matches"}),
    "version": (TARGETS.format("version = 9"), {"version_matches"}),
    "hash and version": (
        TARGETS.format("current_hash = 'x', version = 4"),
        {"stored_hash_matches", "version_matches"},
    ),
    "line endings": (TARGETS.format("source_line_endings = '{}'"), set()),
    "warnings": (LOG.format("""diagnostic_json = '{"warnings": ["x"]}'""", 1), set()),
    "intent": (LOG.format("intent = 'x', intent_truncated = true", 2), set()),
    "record text": (LOG.format("pdcp_content = pdcp_content || ' '", 2), None),
    "record text emptied": (LOG.format("pdcp_content = ''", 3), None),
    "record hash": (LOG.format("pdcp_content_hash = 'x'", 3), None),
    "record and hash": (
        LOG.format(altered_record("replace(pdcp_content, 'BETA', 'GAMMA')"), 1),
        None,
    ),
    "record of another protocol": (
        LOG.format(altered_record("replace(pdcp_content, 'tx/1', 'tx/2')"), 1),
        None,
    ),
    "record is no JSON": (LOG.format(altered_record("'['"), 1), None),
    "record is nested deep": (LOG.format(altered_record("repeat('[', 100000)"), 1), None),
    "record is a list": (LOG.format(altered_record("'[1]'"), 4), None),
    "record without changes": (
        LOG.format(
            altered_record("""'{"protocol":"patchdiff-tx/1","intent":"t","edits":[]}'"""), 5
        ),
        None,
    ),
    "replacement": (LOG.format(altered_record("replace(pdcp_content, 'whole', 'w')"), 4), None),
    "protocol": (LOG.format("protocol_version = 'patchdiff-tx/3'", 1), None),
    "unknown protocol": (LOG.format("protocol_version = 'patchdiff-tx/4'", 1), None),
    "another pair's runtime": (LOG.format("runtime_version = 'patchdiff-mvp-0.3.0'", 1), None),
    "unknown runtime": (LOG.format("runtime_version = 'patchdiff-mvp-0.2.3'", 1), None),
    "no runtime": (LOG.format("runtime_version = null", 4), None),
    "context under 0.3.0": (LOG.format("runtime_version = 'patchdiff-mvp-0.3.0'", 3), None),
    "before_hash": (LOG.format("before_hash = 'x'", 2), None),
    "before_version": (LOG.format("before_version = 7", 2), None),
    "after_hash": (LOG.format("after_hash = 'x'", 2), None),
    "after_version": (LOG.format("after_version = 50", 5), None),
    "ledger span": (
        LEDGER.format("""derived = derived || '{"span_start": 1, "span_end": 5}'""", 1),
        None,
    ),
    "ledger span end": (LEDGER.format("""derived = derived || '{"span_end": 1}'""", 5), None),
    "ledger hash": (LEDGER.format("""derived = derived || '{"matched_sha256": "x"}'""", 3), None),
    "ledger fact added": (LEDGER.format("""derived = derived || '{"x": 1}'""", 3), None),
    "ledger fact gone": (LEDGER.format("derived = derived - 'matched_chars'", 3), None),
    "ledger facts emptied": (LEDGER.format("derived = '{}'", 4), None),
    "ledger rows swapped": (
        (
            "update patchdiff.manifest_ledger set change_index = 3 - change_index + 10"
            " where target_file_id = %(target)s and after_version = 1"
        ),
        None,
    ),
    "ledger row gone": (
        (
            "delete from patchdiff.manifest_ledger where target_file_id = %(target)s"
            " and after_version = 1 and change_index = 2"
        ),
        None,
    ),
    **{
        f"attempt {version} gone": (
            (
                "with gone as (delete from patchdiff.manifest_ledger"
                f" where target_file_id = %(target)s and after_version = {version})"
                " delete from patchdiff.append_only_pdcp_logs"
                f" where target_file_id = %(target)s and after_version = {version}"
            ),
            None,
        )
        for version in (1, 3, 5)
    },
    "rejected attempt gone": (
        (
            "delete from patchdiff.append_only_pdcp_logs where target_file_id = %(target)s"
            " and status = 'rejected'"
        ),
        None,
    ),
    "snapshot": (
        (
            "update patchdiff.target_snapshots set content = 'x' where target_file_id = %(target)s"
            " and version = 0"
        ),
        None,
    ),
    "snapshot and hash": (
        (
            "update patchdiff.target_snapshots set content = 'x', content_hash ="
            " patchdiff._sha256_hex('x') where target_file_id = %(target)s and version = 0"
        ),
        None,
    ),
    "snapshot of another version": (
        (
            "update patchdiff.target_snapshots set version = 9223372036854775807"
            " where target_file_id = %(target)s and version = 0"
        ),
        None,
    ),
    "snapshot gone": (
        "delete from patchdiff.target_snapshots where target_file_id = %(target)s and version = 0",
        None,
    ),
    "a save's snapshot": (
        (
            "update patchdiff.target_snapshots set content = 'x' where target_file_id = %(target)s"
            " and snapshot_reason = 'save_checkpoint'"
        ),
        set(),
    ),
}

UNSUPPORTED = (
    "unknown protocol", "another pair's runtime", "unknown runtime", "no runtime",
    "context under 0.3.0",
)  # fmt: skip


@pytest.mark.req("REPL-010", "REPL-011", "REPL-012", "REPL-013", "REPL-014", "REPL-015", "REPL-016")
@pytest.mark.req("REPL-017", "REPL-018", "REPL-019", "REPL-023", "TX2-042", "WARN-002")
@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_is_seen_by_both_roads(database_url: str, what: str) -> None:
    statement, unmet = TAMPERING[what]
    with psycopg.connect(database_url) as connection:
        caller = ServiceCaller(Service(connection))
        target, _ = history(caller)
        for table in ("append_only_pdcp_logs", "manifest_ledger"):
            connection.execute(f"alter table patchdiff.{table} disable trigger append_only")
        connection.execute("set constraints all deferred")
        done = connection.execute(statement, {"target": target})
        assert done.rowcount > 0
        counts = row_counts(connection, target)
        by_record, by_spans = replay(caller, target), replay_spans(connection, target)
        assert row_counts(connection, target) == counts
        connection.rollback()
    if unmet is None:
        for answer in (by_record, by_spans):
            assert (answer["status"], answer["failure_reason"]) == (
                "failed",
                "replay_protocol_invalid",
            ), answer
            assert answer["failure_detail"]
            assert answer["target_file_id"] == target
            assert "materialized_state_checks" not in answer
        if what in UNSUPPORTED:
            assert (by_record["code"], by_spans["code"]) == ("unsupported_runtime",) * 2
    else:
        assert by_record == by_spans
        assert by_record["status"] == "success"
        assert by_record["materialized_state_checks"] == {
            name: name not in unmet for name in CHECKS
        }
        assert by_record["materialized_state_matches"] is (not unmet)


def test_a_failure_names_the_attempt_and_leaves_the_caller_s_transaction_usable(
    database_url: str,
) -> None:
    with psycopg.connect(database_url) as connection:
        caller = ServiceCaller(Service(connection))
        target, _ = history(caller)
        connection.execute(
            "alter table patchdiff.append_only_pdcp_logs disable trigger append_only"
        )
        row = connection.execute(
            "update patchdiff.append_only_pdcp_logs set pdcp_content = 'x'"
            " where target_file_id = %s and after_version = 2 returning pdcp_log_id, log_sequence",
            [target],
        ).fetchone()
        assert row is not None
        for answer in (replay(caller, target), replay_spans(connection, target)):
            assert (answer["pdcp_log_id"], answer["log_sequence"]) == (str(row[0]), row[1])
            assert answer["code"] == "record_altered"
        # neither ended nor aborted
        assert content_of(caller, target)
        connection.rollback()


@pytest.mark.req("TX3-023")
def test_a_replacement_above_the_fresh_limits_replays(caller, admin) -> None:
    target = document(caller, "a")["target_file_id"]
    text = "\U0001f600" * 300_000
    record = json.dumps(
        {"protocol": "patchdiff-tx/3", "intent": "t", "replacement": text},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    assert len(text.encode()) > 1_048_576
    row = admin.execute(
        "select patchdiff.accept_attempt(%s, 0, %s, 'patchdiff-tx/3', %s,"
        """ '{"expected_target_version": 0}', '{0}', '{0}', %s)""",
        [target, sha256("a"), record, sha256(text)],
    ).fetchone()
    assert row is not None
    assert row[0]["outcome"] == "accepted"
    answer = replay(caller, target)
    assert (answer["status"], answer["reconstructed_hash"]) == ("success", sha256(text))
    assert answer["materialized_state_matches"] is True
    assert replay_spans(admin, target) == answer


@st.composite
def proposals(draw: st.DrawFn, text: str) -> tuple[str, list[dict[str, Any]] | str]:
    """Spans and matches over a text and what they leave, or a whole new text."""
    if draw(st.integers(0, 5)) == 0:
        return "replacement", draw(texts(20))
    items: list[dict[str, Any]] = []
    buffer = text
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(buffer)))
        end = draw(st.integers(start, min(len(buffer), start + 6)))
        new = draw(texts(6))
        expected = buffer[start:end]
        if expected and buffer.find(expected) == start and draw(st.booleans()):
            items.append({"op": "match", "match": expected, "replace": new, "occurrence_index": 1})
        else:
            items.append(span(buffer, start, end, new))
            before = buffer[max(0, start - 3) : start]
            if before and draw(st.booleans()):
                items[-1]["expected_before"] = before
        buffer = buffer[:start] + canonical(new) + buffer[end:]
    return "operations", items


@pytest.mark.req("REPL-022")
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_history_leads_to_its_text_by_both_roads(
    database_url: str, data: st.DataObject
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        caller = ServiceCaller(Service(connection))
        content = data.draw(texts(40))
        target = document(caller, content)["target_file_id"]
        versions = [canonical(content)]
        for version in range(data.draw(st.integers(0, 4))):
            kind, proposal = data.draw(proposals(versions[-1]))
            answer = caller.call(
                f"patchdiff_submit_{kind}",
                target_file_id=target,
                intent="t",
                expected_target_version=version,
                **{kind: proposal},
            )
            assert answer["status"] == "accepted", answer
            versions.append(content_of(caller, target))
            if data.draw(st.integers(0, 2)) == 0:
                assert caller.call("patchdiff_save", target_file_id=target)["status"] == "saved"
        answer = replay(caller, target)
        assert answer["materialized_state_matches"] is True
        assert answer["accepted_transactions_replayed"] == len(versions) - 1
        assert answer["reconstructed_hash"] == sha256(versions[-1])
        assert replay_spans(connection, target) == answer
        for version, text in enumerate(versions):
            row = connection.execute(
                "select patchdiff.content_at(%s, %s)", [target, version]
            ).fetchone()
            assert row == (text,)
