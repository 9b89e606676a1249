"""The intents that the log and the ledger show: cut or whole, stored or read from the record."""

from __future__ import annotations

import json

import psycopg
import pytest
from psycopg import sql

from tests.support.documents import (
    accepted,
    attempts,
    change,
    document,
    ledger,
    rejected,
    sha256,
    submit,
)
from tests.support.histories import forget_intents, overwrite_history
from tests.support.proposals import (
    EDITS,
    OPERATIONS,
    REPLACEMENT,
    TOOLS,
    admitted,
    match,
    propose,
    simple,
    span,
)

ASTRAL = "\U0001f600"
LOG = "append_only_pdcp_logs"
LEDGER = "manifest_ledger"
DEPTH = 100_000
DIGEST = sha256("a\n")

REJECT_DEEP = """
select patchdiff.reject_attempt(
    target_file_id => %(target)s, base_version => 0, base_hash => %(digest)s,
    protocol_version => 'patchdiff-tx/1', pdcp_content => %(record)s,
    request => jsonb_build_object('expected_target_version', 0),
    failure => '{"failure_reason": "protocol_invalid", "failure_detail": "Nested too deep."}',
    diagnostic => '{"retryable": true, "validation_stage": "protocol_validation"}'
)
"""


def shown(entries):
    """What the log shows of intents, newest first."""
    return [(entry["intent"], entry["intent_truncated"]) for entry in entries]


def changes_shown(entries):
    """What the ledger shows of intents, oldest first."""
    return [(entry["intent"], entry["transaction_intent"], entry["rationale"]) for entry in entries]


@pytest.mark.req("LOG-030", "LOG-031", "LOG-033")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("character", ["x", "\xe9", "\u4e2d", ASTRAL, "\u0301", "\r", "\\", '"'])
def test_an_intent_is_cut_at_256_code_points(client, admin, tool, character):
    target = document(client, "a\n")["target_file_id"]
    lengths = [1, 255, 256, 257, 258, 5000]
    for length in lengths:  # in turns accepted and rejected; the text and its hash stay the same
        intent = character * length
        proposal = simple(tool, "a\n", "a\n")
        admitted(client, tool, target, proposal, intent=intent, expected_current_hash=DIGEST)
        stale = propose(client, tool, target, proposal, intent=intent, expected_target_version=99)
        assert stale["failure_reason"] == "target_version_mismatch"
    expected = [
        (character * min(length, 256), length > 256) for length in reversed(lengths) for _ in "ar"
    ]
    assert shown(attempts(client, target)) == expected
    forget_intents(admin, target, LOG)
    assert shown(attempts(client, target)) == expected
    assert [entry["transaction_intent"] for entry in ledger(client, target)] == [
        character * length for length in lengths
    ]


@pytest.mark.req("LOG-034")
@pytest.mark.parametrize("length", [3, 256, 257])
def test_the_size_of_a_record_does_not_matter(client, admin, length):
    intent = ASTRAL * length
    target = document(client, "a\n")["target_file_id"]
    for size in (1, 65_536, 200_000):
        answer = submit(client, target, change("absent", "\xe9" * size), intent=intent)
        assert answer["failure_reason"] == "match_absent"
        stale = {"intent": intent, "expected_target_version": 9}
        propose(client, OPERATIONS, target, [match("absent", "\xe9" * size)], **stale)
        propose(client, REPLACEMENT, target, "\xe9" * size, **stale)
    expected = [(ASTRAL * min(length, 256), length > 256)] * 9
    assert shown(attempts(client, target)) == expected
    forget_intents(admin, target, LOG)
    assert shown(attempts(client, target)) == expected


@pytest.mark.req("LOG-032")
def test_rows_without_an_intent(client, admin):
    target = document(client, "a\n")["target_file_id"]
    for intent in (None, 5, True, ["x"], {"x": "y"}):
        rejected(client, target, change("a", "b"), reason="protocol_invalid", intent=intent)
    for intent, edit in (("\ud800", change("a", "b")), ("clean", change("a", "\0"))):
        answer = submit(client, target, edit, intent=intent)
        assert answer["failure_reason"] == "target_encoding_invalid"
    accepted(client, target, change("a", "b"), intent="")
    expected = [("", False), *[(None, False)] * 7]
    assert shown(attempts(client, target)) == expected
    forget_intents(admin, target, LOG)
    assert shown(attempts(client, target)) == expected


@pytest.mark.req("LOG-032")
@pytest.mark.parametrize(
    "record",
    [
        "", "nonsense", '{"intent": "x"', '"intent"', "[]", "null", '{"intent": "\\ud800"}',
        '{"intent": "\\u0000"}', '{"protocol": "patchdiff-invalid-input/1", "intent": "x"}',
        '{"intent": {"intent": "x"}}', '{"edits": [{"intent": "x"}]}',
        '{"intent":"x","edits":' + "[" * DEPTH + "]" * DEPTH + "}",
        "[" * DEPTH,
        '{"a":' * DEPTH + "1" + "}" * DEPTH,
    ],
)  # fmt: skip
def test_records_of_every_kind_can_be_listed(client, admin, record):
    target = document(client, "a\n")["target_file_id"]
    submit(client, target, change("absent", "x"), intent="before")
    submit(client, target, change("absent", "x"), intent="strange")
    submit(client, target, change("absent", "x"), intent="after")
    _, strange, _ = attempts(client, target)
    query = sql.SQL(
        "update patchdiff.append_only_pdcp_logs set pdcp_content = %s"
        " where target_file_id = %s and log_sequence = %s"
    )
    overwrite_history(admin, LOG, query, [record, target, strange["log_sequence"]])
    assert shown(attempts(client, target)) == [
        ("after", False), ("strange", False), ("before", False),
    ]  # fmt: skip
    forget_intents(admin, target, LOG)
    expected = [("after", False), (None, False), ("before", False)]
    assert shown(attempts(client, target)) == expected
    with_records = attempts(client, target, include_content=True)
    assert shown(with_records) == expected
    assert with_records[1]["pdcp_content"] == record


@pytest.mark.req("LOG-046")
def test_a_record_that_is_nested_deep(client, admin, database_url):
    target = document(client, "a\n")["target_file_id"]
    record = '{"protocol":"patchdiff-tx/1","intent":"x","edits":' + "[" * DEPTH + "]" * DEPTH + "}"
    with psycopg.connect(
        database_url, autocommit=True, options="-c role=patchdiff_editor"
    ) as connection:
        answer = connection.execute(
            REJECT_DEEP, {"target": target, "digest": DIGEST, "record": record}
        ).fetchone()[0]
    assert answer["outcome"] == "rejected", answer
    deep = "[" * DEPTH + "]" * DEPTH
    client.send_line(
        (
            '{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"' + EDITS + '",'
            f'"arguments":{{"target_file_id":"{target}","expected_target_version":0,"intent":"t",'
            f'"edits":[{{"match":"a","replace":"b","rationale":{deep}}}]}}}}}}'
        ).encode()
    )
    # a line that no parser should follow is answered and never becomes a proposal
    message = json.loads(client.read_line())
    assert message["error"]["code"] == -32700
    submit(client, target, change("absent", deep), intent=deep)
    [in_text, nested] = attempts(client, target, include_content=True)
    assert (nested["intent"], nested["intent_truncated"]) == (None, False)
    assert nested["pdcp_content"] == record
    assert (in_text["intent"], in_text["intent_truncated"]) == ("[" * 256, True)
    assert json.loads(in_text["pdcp_content"])["edits"] == [change("absent", deep)]


@pytest.mark.req("LEDG-024", "LEDG-025", "LEDG-026")
@pytest.mark.parametrize("tool", [EDITS, OPERATIONS])
@pytest.mark.parametrize("length", [1, 256, 257, 5000])
def test_the_intents_of_changes(client, admin, tool, length):
    intent = ASTRAL * length
    fields = [
        {"rationale": "why"}, {"rationale": None}, {"rationale": "\u4e2d" * (length + 1)},
        {"rationale": "\r\n"}, {},
    ]  # fmt: skip
    words = [f"w{number}." for number in range(len(fields))]
    target = document(client, "".join(words))["target_file_id"]
    proposal = []
    for word, more in zip(words, fields, strict=True):
        start = "".join(words).index(word)
        proposal.append(
            change(word, word.upper(), **more)
            if tool == EDITS
            else match(word, word.upper(), **more)
            if word == "w1."
            else span(start, start + len(word), word, word.upper(), **more)
        )
    admitted(client, tool, target, proposal, intent=intent)
    given = [more.get("rationale") for more in fields]
    expected = [(rationale or intent, intent, rationale) for rationale in given]
    assert changes_shown(ledger(client, target)) == expected
    forget_intents(admin, target, LEDGER)
    assert changes_shown(ledger(client, target)) == expected
    # a stored intent stays what it is
    query = sql.SQL("update patchdiff.manifest_ledger set intent = 'own' where target_file_id = %s")
    overwrite_history(admin, LEDGER, query, [target])
    assert changes_shown(ledger(client, target)) == [
        ("own", intent, rationale) for rationale in given
    ]


@pytest.mark.req("LEDG-027")
@pytest.mark.parametrize("length", [1, 256, 257, 5000])
def test_the_intents_of_a_whole_replacement(client, admin, length):
    intent = ASTRAL * length
    target = document(client, "a\n")["target_file_id"]
    admitted(client, REPLACEMENT, target, '{"rationale": "no"}', intent=intent)
    expected = [(intent, intent, None)]
    assert changes_shown(ledger(client, target)) == expected
    forget_intents(admin, target, LEDGER)
    assert changes_shown(ledger(client, target)) == expected
    query = sql.SQL("update patchdiff.manifest_ledger set intent = null where target_file_id = %s")
    overwrite_history(admin, LEDGER, query, [target])
    assert changes_shown(ledger(client, target)) == expected


@pytest.mark.req("LEDG-028")
@pytest.mark.parametrize(
    "record",
    [
        '{"protocol":"patchdiff-invalid-input/1","intent":"x","edits":[{"rationale":"y"}]}',
        "nonsense",
        '{"intent":"x","edits":[{"rationale":' + "[" * DEPTH + "]" * DEPTH + "}]}",
    ],
)
def test_ledger_rows_whose_record_has_no_intents(client, admin, record):
    target = document(client, "a b\n")["target_file_id"]
    accepted(client, target, change("a", "1", rationale="r"), intent="strange")
    accepted(client, target, change("b", "2"), intent="after", expected_target_version=1)
    strange, after = ledger(client, target)
    query = sql.SQL(
        "update patchdiff.append_only_pdcp_logs set pdcp_content = %s"
        " where target_file_id = %s and log_sequence = %s"
    )
    overwrite_history(admin, LOG, query, [record, target, strange["log_sequence"]])
    assert ledger(client, target) == [strange, after]
    forget_intents(admin, target, LEDGER)
    assert changes_shown(ledger(client, target)) == [(None, None, None), ("after", "after", None)]
    query = sql.SQL("update patchdiff.manifest_ledger set intent = 'own' where target_file_id = %s")
    overwrite_history(admin, LEDGER, query, [target])
    assert changes_shown(ledger(client, target)) == [("own", None, None), ("own", "after", None)]
