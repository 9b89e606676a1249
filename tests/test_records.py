"""What a submission of typed edits leaves in storage: the record, its size, and who may write."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import psycopg
import pytest

from tests.support.documents import (
    TABLES,
    accepted,
    attempts,
    change,
    document,
    rejected,
    row_counts,
    sha256,
    submit,
)

ADAPTER = Path(__file__).resolve().parent.parent / "adapter" / "patchdiff"


def record_of(client, target):
    """The newest attempt with its record."""
    return attempts(client, target, limit=1, include_content=True)[0]


@pytest.mark.req("TX1-035")
def test_protocol_and_runtime(client):
    target = document(client, "a\n")["target_file_id"]
    accepted(client, target, change("a", "b"))
    rejected(client, target, change("x", "b"), reason="match_absent", expected_target_version=1)
    for entry in attempts(client, target):
        assert (entry["protocol_version"], entry["runtime_version"]) == (
            "patchdiff-tx/1",
            "patchdiff-mvp-0.2.2",
        )


@pytest.mark.req("TX1-038", "TX1-039", "TX1-040", "TX1-041", "TX1-042")
@pytest.mark.parametrize(
    ("intent", "edits", "record"),
    [
        (
            "t",
            [change("a", "b")],
            '{"protocol":"patchdiff-tx/1","intent":"t","edits":[{"match":"a","replace":"b"}]}',
        ),
        (
            "\xe9 \U0001f600",
            [{"match": "a", "replace": "\u4e2d\r\n\r\n", "rationale": None}],
            (
                '{"protocol":"patchdiff-tx/1","intent":"\xe9 \U0001f600",'
                '"edits":[{"match":"a","replace":"\u4e2d\\r\\n\\r\\n","rationale":null}]}'
            ),
        ),
    ],
)
def test_the_record(client, intent, edits, record):
    target = document(client, "a\n")["target_file_id"]
    accepted(client, target, *edits, intent=intent)
    entry = record_of(client, target)
    assert entry["pdcp_content"] == record
    assert entry["pdcp_content_hash"] == sha256(record)


@pytest.mark.req("TX1-038", "TX1-039", "TX1-040", "TX1-042")
@pytest.mark.parametrize("outcome", ["accepted", "rejected"])
def test_the_record_holds_what_was_sent_and_nothing_else(client, outcome):
    edits = [
        {
            "match": "a\r\n",
            "replace": "\rb",
            "change_id": None,
            "risk": "high",
            "occurrence_index": None,
        },
        {
            "match": "c",
            "replace": "",
            "anchor_before": "\r\n",
            "anchor_after": None,
            "change_id": "k",
        },
        {"match": "d", "replace": '"\\/\t\u2028\x7f\x01', "rationale": "", "occurrence_index": 1},
    ]
    target = document(client, "a\n\nc\nd" if outcome == "accepted" else "a\n\nc\n")[
        "target_file_id"
    ]
    answer = submit(client, target, *edits)
    assert answer["status"] == outcome
    entry = record_of(client, target)
    pairs = json.loads(entry["pdcp_content"], object_pairs_hook=list)
    assert [name for name, _ in pairs] == ["protocol", "intent", "edits"]
    parsed = json.loads(entry["pdcp_content"])
    assert parsed == {"protocol": "patchdiff-tx/1", "intent": "t", "edits": edits}
    assert entry["pdcp_content_hash"] == sha256(entry["pdcp_content"])
    outside_strings = re.sub(r'"(\\.|[^"\\])*"', "", entry["pdcp_content"])
    assert re.search(r"\s", outside_strings) is None, "the record is not compact"
    assert "\u2028" in entry["pdcp_content"]


@pytest.mark.req("TX1-042", "TX1-041")
def test_the_stored_column_is_the_hashed_text(client, admin):
    target = document(client, "a\n")["target_file_id"]
    accepted(client, target, change("a", "\U0001f600\xe9"))
    query = (
        "select encode(sha256(convert_to(pdcp_content, 'UTF8')), 'hex'),"
        " pdcp_content_hash, pdcp_content"
        " from patchdiff.append_only_pdcp_logs where target_file_id = %s"
    )
    computed, stored, record = admin.execute(query, [target]).fetchone()
    assert computed == stored
    assert '"\U0001f600\xe9"' in record


@pytest.mark.req("TX1-036")
def test_sizes_do_not_depend_on_the_target(client, admin):
    sizes = []
    for padding in ("", "\u4e2d\n" * 500_000):
        target = document(client, "one two\n" + padding)["target_file_id"]
        result = client.call_tool(
            "patchdiff_submit_edits",
            {
                "target_file_id": target,
                "intent": "t",
                "edits": [change("one", "1"), change("two", "2")],
                "expected_target_version": 0,
            },
        )
        assert result.payload["status"] == "accepted"
        stored = [
            admin.execute(
                "select sum(octet_length(to_jsonb(t)::text))"
                f" from patchdiff.{table} as t where target_file_id = %s",
                [target],
            ).fetchone()[0]
            for table in ("append_only_pdcp_logs", "manifest_ledger")
        ]
        assert row_counts(admin, target)["target_snapshots"] == 1
        sizes.append([len(result.text), *stored])
    small, large = sizes
    # sequence numbers and time stamps may differ by a few digits; the larger text has a million
    # characters more
    assert all(abs(one - other) < 60 for one, other in zip(small, large, strict=True)), sizes


@pytest.mark.req("TX1-047")
def test_the_adapter_holds_no_writing_sql():
    writing = re.compile(
        r"\b(insert\s+into|update\s+[\w.\"]+\s+(as\s+\w+\s+)?set|delete\s+from|merge\s+into)\b",
        re.IGNORECASE,
    )
    files = sorted(ADAPTER.rglob("*.py"))
    assert files
    found = [
        f"{path.name}:{node.lineno}: {node.value[:80]!r}"
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and writing.search(node.value)
    ]
    assert found == []


@pytest.mark.req("TX1-047")
@pytest.mark.parametrize("role", ["patchdiff_editor", "patchdiff_reader"])
@pytest.mark.parametrize(
    "statement",
    [
        "update {} set target_file_id = target_file_id where false",
        "insert into {} (target_file_id) select target_file_id from {} where false",
        "delete from {} where false",
    ],
)
@pytest.mark.parametrize("table", TABLES)
def test_the_roles_of_the_adapter_cannot_write_tables(admin, role, statement, table):
    with admin.transaction(force_rollback=True):
        admin.execute(f"set local role {role}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), admin.transaction():
            admin.execute(statement.replace("{}", f"patchdiff.{table}"))
