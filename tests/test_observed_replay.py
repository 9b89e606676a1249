"""Replay of observed records: by their receipts, which must be there unaltered, and without the
engine."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from patchdiff import Service
from patchdiff.structure.engine import Engine
from tests.support.documents import ServiceCaller, accepted, change, content_of, row_counts, sha256
from tests.support.observations import (
    SOURCE,
    SUBMIT,
    batch,
    bundle,
    group,
    receipt,
    receipts,
    single,
    source,
    submit_accepted,
    users,
    whole,
)
from tests.support.proposals import OPERATIONS, REPLACEMENT, admitted, match, rows, span


class Untouchable(Engine):
    """An engine that fails the test when it is asked anything at all."""

    def identity(self):
        raise AssertionError("the engine's identity was asked for")

    def structure(self, *_):
        raise AssertionError("the engine was given a text")


def replay(caller, target):
    return caller.call("patchdiff_replay", target_file_id=target)


def both_roads(connection, target) -> list[dict[str, Any]]:
    """The answers of replay and replay_spans, with an engine that must not be touched."""
    with Untouchable() as engine:
        by_record = replay(ServiceCaller(Service(connection, engine=engine)), target)
        assert engine.worker_pid is None
    row = connection.execute("select patchdiff.replay_spans(%s)", [target]).fetchone()
    return [by_record, row[0]]


def history(caller) -> tuple[str, list[str]]:
    """A target with records of every protocol and runtime, observed and not, rejections and a save
    between; and the text of each version."""
    target = source(caller)
    texts = [SOURCE]

    def now() -> dict[str, Any]:
        texts.append(content_of(caller, target))
        version = len(texts) - 1
        return {"expected_target_version": version, "expected_current_hash": sha256(texts[-1])}

    accepted(caller, target, change("Sizes", "Measures"))
    now()
    observed = receipt(caller, target, "other")
    spare = receipt(caller, target, "inner")
    start = texts[-1].index('"two"')
    rejection = caller.call(SUBMIT, **single(observed, span(start, start + 5, '"2"', "")))
    assert rejection["status"] == "rejected"
    operations = (span(start, start + 5, '"two"', '"\U0001f600\U0001f600"'), match("other", "two"))
    submit_accepted(caller, single(observed, *operations))
    now()
    assert spare["observation_id"]
    assert caller.call("patchdiff_save", target_file_id=target)["status"] == "saved"
    observed = bundle(caller, target, "keep", ".first", "two")
    first, second, _ = observed["scopes"]
    context = {"expected_before": "def", "expected_after": " first"}
    groups = [
        group(first, match("return inner", "return inner  # e\u0301")),
        group(second, span(3, 3, "", " " * 9, **context), match('"one"', "1")),
    ]
    submit_accepted(caller, batch(observed, groups))
    admitted(caller, OPERATIONS, target, [span(0, 3, '"""', "'''")], **now())
    admitted(caller, OPERATIONS, target, [span(0, 0, "", "#\n", expected_after="'''")], **now())
    admitted(caller, REPLACEMENT, target, "def f():\r\n    return 1\r\n", **now())
    now()
    observed = whole(caller, target)
    insertion = span(3, 3, "", " ", expected_before="def", expected_after=" f")
    submit_accepted(caller, single(observed, insertion))
    now()
    return target, texts


@pytest.mark.req("REPL-020", "OBS-039", "OBS-045", "BATCH-026", "OBS-006", "BATCH-024")
def test_a_mixed_history(client, admin):
    target, texts = history(client)
    recorded = [row for row in rows(admin, target) if row["status"] == "accepted"]
    pairs = [(row["protocol_version"], row["runtime_version"]) for row in recorded]
    assert pairs == [
        ("patchdiff-tx/1", "patchdiff-mvp-0.2.2"),
        ("patchdiff-tx/2", "patchdiff-mvp-0.3.0"),
        ("patchdiff-observed-batch/1", "patchdiff-observed-batch-r1"),
        ("patchdiff-tx/2", "patchdiff-mvp-0.3.0"),
        ("patchdiff-tx/2", "patchdiff-mvp-0.5.0"),
        ("patchdiff-tx/3", "patchdiff-mvp-0.4.0"),
        ("patchdiff-tx/2", "patchdiff-mvp-0.5.0"),
    ]
    answer = replay(client, target)
    assert answer["status"] == "success"
    assert answer["materialized_state_matches"] is True
    assert answer["reconstructed_hash"] == sha256(texts[-1])
    assert answer["reconstructed_version"] == answer["accepted_transactions_replayed"] == 7
    assert both_roads(admin, target) == [answer, answer]
    for version, text in enumerate(texts):
        row = admin.execute("select patchdiff.content_at(%s, %s)", [target, version]).fetchone()
        assert row == (text,)
    row = admin.execute("select patchdiff.verify_target(%s)", [target]).fetchone()
    assert row[0]["status"] == "intact"


RECEIPTS = "update patchdiff.target_scope_observations set {} where observation_id = %({})s"
BUNDLES = "update patchdiff.target_scope_bundles set {} where observation_bundle_id = %(bundle)s"
LOG = "update patchdiff.append_only_pdcp_logs set {} where pdcp_log_id = %({})s"
DELETE = "delete from patchdiff.target_scope_observations where observation_id = %({})s"
RECORD = "pdcp_content = {0}, pdcp_content_hash = patchdiff._sha256_hex({0})"
COPY = (
    "insert into patchdiff.target_scope_observations"
    " select (jsonb_populate_record(o, jsonb_build_object("
    "'observation_id', gen_random_uuid(), 'observation_bundle_id', null, 'ordinal', null))).*"
    " from patchdiff.target_scope_observations as o where o.observation_id = %({})s"
)
LINK = "consumed_by_pdcp_log_id = %({})s, consumed_at = now(), consumption = '{}'"

# %(single)s, %(first)s and %(second)s are receipts, %(single_log)s and so on attempts
EITHER_FORM = {
    "gone": DELETE,
    "start": RECEIPTS.replace("{}", "scope_start = scope_start + 1", 1),
    "start before": RECEIPTS.replace("{}", "scope_start = scope_start - 1", 1),
    "end": RECEIPTS.replace("{}", "scope_end = scope_end - 1", 1),
    "end past the text": RECEIPTS.replace("{}", "scope_end = scope_end + 100000", 1),
    "end past every number": RECEIPTS.replace("{}", "scope_end = 9223372036854775807", 1),
    "place": RECEIPTS.replace(
        "{}", "scope_start = scope_start + 1, scope_end = scope_end + 1", 1
    ),
    "hash": RECEIPTS.replace("{}", "observed_scope_hash = repeat('0', 64)", 1),
    "version": RECEIPTS.replace("{}", "target_version = target_version + 1", 1),
    "target's hash": RECEIPTS.replace("{}", "target_current_hash = repeat('0', 64)", 1),
    "cycle": RECEIPTS.replace("{}", "editing_cycle_id = %(other_cycle)s", 1),
    "target": RECEIPTS.replace("{}", "target_file_id = %(other_target)s", 1),
    "link to another attempt": RECEIPTS.replace("{}", "consumed_by_pdcp_log_id = %(edit_log)s", 1),
    "no link": RECEIPTS.replace(
        "{}", "consumed_by_pdcp_log_id = null, consumed_at = null, consumption = null", 1
    ),
    "its id": RECEIPTS.replace("{}", "observation_id = gen_random_uuid()", 1),
    "another claims the attempt": COPY,
}  # fmt: skip
MISSING = {
    "gone", "target", "link to another attempt", "no link", "its id", "another claims the attempt",
}  # fmt: skip
TAMPERING: dict[str, str] = {
    **{
        f"{what} of {which}": statement.replace("{}", which)
        for what, statement in EITHER_FORM.items()
        for which in ("single", "first", "second")
    },
    "form of a single one": RECEIPTS.format("consumption = 'batch'", "single"),
    "form of one in a batch": RECEIPTS.format("consumption = 'single'", "second"),
    "spare receipt links to the single one's attempt": RECEIPTS.format(
        LINK.format("single_log", "batch"), "spare"
    ),
    "spare receipt links to the batch": RECEIPTS.format(LINK.format("batch_log", "batch"), "left"),
    "spare receipt links to an unobserved attempt": RECEIPTS.format(
        LINK.format("edit_log", "single"), "spare"
    ),
    "attempt forgot its receipt": LOG.format("observation_id = null", "single_log"),
    "attempt names another receipt": LOG.format("observation_id = %(spare)s", "single_log"),
    "unobserved attempt names a receipt": LOG.format("observation_id = %(spare)s", "edit_log"),
    "batch names a receipt": LOG.format("observation_id = %(first)s", "batch_log"),
    "bundle of one": RECEIPTS.format("observation_bundle_id = null, ordinal = null", "second"),
    "bundle gone": (
        "delete from patchdiff.target_scope_bundles where observation_bundle_id = %(bundle)s"
    ),
    "bundle's id": BUNDLES.format("observation_bundle_id = gen_random_uuid()"),
    "bundle's version": BUNDLES.format("target_version = 1"),
    "bundle's hash": BUNDLES.format("target_current_hash = 'x'"),
    "bundle's cycle": BUNDLES.format("editing_cycle_id = %(other_cycle)s"),
    "bundle's engine": BUNDLES.format("engine = 'x'"),
    "bundle's language": BUNDLES.format("language = 'x'"),
    "groups exchanged": LOG.format(
        RECORD.format(
            "replace(replace(replace(pdcp_content, %(first)s, '#'), %(second)s, %(first)s),"
            " '#', %(second)s)"
        ),
        "batch_log",
    ),
    "order of groups": LOG.format(
        RECORD.format(
            "(select json_build_object('protocol', r -> 'protocol', 'intent', r -> 'intent',"
            " 'observation_bundle_id', r -> 'observation_bundle_id', 'groups',"
            " json_build_array(r -> 'groups' -> 1, r -> 'groups' -> 0))::text"
            " from (select pdcp_content::json as r) as s)"
        ),
        "batch_log",
    ),
    "a group gone": LOG.format(
        RECORD.format("(pdcp_content::jsonb #- '{groups,1}')::text"), "batch_log"
    ),
    "record names another bundle": LOG.format(
        RECORD.format("replace(pdcp_content, %(bundle)s, %(first)s)"), "batch_log"
    ),
    "record of a single one as batch": LOG.format(
        "protocol_version = 'patchdiff-observed-batch/1',"
        " runtime_version = 'patchdiff-observed-batch-r1'",
        "single_log",
    ),
    "record of a batch as single": LOG.format(
        "protocol_version = 'patchdiff-tx/2', runtime_version = 'patchdiff-mvp-0.5.0'", "batch_log"
    ),
    "runtime of a batch": LOG.format(
        "runtime_version = 'patchdiff-observed-batch-r2'", "batch_log"
    ),
    # the receipt tells a narrower scope throughout, and the record leaves it
    "a whole other scope": RECEIPTS.format(
        "scope_end = scope_start + 3, observed_scope_hash = patchdiff._sha256_hex('def')", "single"
    ),
}  # fmt: skip


def open_up(connection):
    """Take away what guards the tables, until the transaction is rolled back."""
    connection.execute("alter table patchdiff.append_only_pdcp_logs disable trigger append_only")
    constraints = connection.execute(
        "select conrelid::regclass::text, quote_ident(conname) from pg_constraint"
        " where contype in ('f', 'c') and conrelid in ("
        "'patchdiff.target_scope_observations'::regclass,"
        " 'patchdiff.target_scope_bundles'::regclass)"
        " and conname not like '%%scope_start%%'"
    ).fetchall()
    for table, name in constraints:
        connection.execute(f"alter table {table} drop constraint {name} cascade")
    connection.execute("drop index patchdiff.target_scope_observations_one_single")


def names_of(connection, target, other) -> dict[str, str]:
    """What the statements call receipts, attempts and the rest."""
    attempts = {row["after_version"]: row["pdcp_log_id"] for row in rows(connection, target)}
    by_name = {
        (row["symbol_name"], row["target_version"]): row["observation_id"]
        for row in receipts(connection, target)
    }
    [bundle_id] = {
        row["observation_bundle_id"]
        for row in receipts(connection, target)
        if row["observation_bundle_id"]
    }
    cycles = connection.execute(
        "select editing_cycle_id::text from patchdiff.editing_cycles where target_file_id = %s",
        [other],
    ).fetchall()
    return {
        "target": target,
        "other_target": other,
        "other_cycle": cycles[0][0],
        "single": by_name["other", 1],
        "spare": by_name["inner", 1],
        "first": by_name["keep", 2],
        "second": by_name["first", 2],
        "left": by_name["two", 2],
        "bundle": bundle_id,
        "edit_log": attempts[1],
        "single_log": attempts[2],
        "batch_log": attempts[3],
    }


@pytest.fixture(scope="module")
def recorded(database_url):
    """The target of a mixed history, and another one."""
    with psycopg.connect(database_url, autocommit=True) as connection, Engine() as engine:
        caller = ServiceCaller(Service(connection, engine=engine))
        return history(caller)[0], source(caller)


@pytest.mark.req("OBS-040", "OBS-041", "OBS-042", "OBS-045", "BATCH-025", "BATCH-026")
@pytest.mark.parametrize("what", TAMPERING)
def test_altered_evidence_is_seen_by_both_roads(database_url, recorded, what):
    target, other = recorded
    with psycopg.connect(database_url) as connection:
        names = names_of(connection, target, other)
        open_up(connection)
        done = connection.execute(TAMPERING[what], names)
        assert done.rowcount == 1
        counts = row_counts(connection, target)
        answers = both_roads(connection, target)
        assert row_counts(connection, target) == counts
        connection.rollback()
    for answer in answers:
        assert (answer["status"], answer["failure_reason"]) == (
            "failed",
            "replay_protocol_invalid",
        ), answer
        assert "materialized_state_checks" not in answer
        if what.rpartition(" of ")[0] in EITHER_FORM:
            expected = "missing" if what.rpartition(" of ")[0] in MISSING else "altered"
            which = "single_log" if what.endswith("single") else "batch_log"
            if what.startswith("link to another"):
                which = "edit_log"
            assert answer["code"] == f"receipt_{expected}"
            assert answer["pdcp_log_id"] == names[which]
    if "pdcp_content" not in TAMPERING[what] and "protocol" not in TAMPERING[what]:
        assert answers[0]["code"] == answers[1]["code"], answers


HARMLESS = {
    "nothing": "select 1",
    "unused receipt gone": DELETE.format("spare"),
    "unused receipt of the bundle gone": DELETE.format("left"),
    "unused receipt altered": RECEIPTS.format("observed_scope_hash = 'x'", "spare"),
    "when it was used": RECEIPTS.format("consumed_at = now()", "single"),
    "ordinal": RECEIPTS.format("ordinal = 9", "first"),
}


@pytest.mark.req("OBS-039", "OBS-044")
@pytest.mark.parametrize("what", HARMLESS)
def test_what_no_attempt_is_named_by_does_not_count(database_url, recorded, what):
    target, other = recorded
    with psycopg.connect(database_url) as connection:
        names = names_of(connection, target, other)
        open_up(connection)
        connection.execute(HARMLESS[what], names)
        answers = both_roads(connection, target)
        connection.rollback()
    assert [answer["status"] for answer in answers] == ["success"] * 2
    assert all(answer["materialized_state_matches"] for answer in answers)


@pytest.mark.req("OBS-043", "OBS-040")
def test_a_diagnostic_is_no_receipt(database_url, recorded):
    target, other = recorded
    with psycopg.connect(database_url) as connection:
        names = names_of(connection, target, other)
        open_up(connection)
        told = (
            "(select jsonb_build_object('observation', to_jsonb(o)) || to_jsonb(o)"
            " from patchdiff.target_scope_observations as o where o.observation_id = %(single)s)"
        )
        assert connection.execute(
            LOG.format(f"diagnostic_json = {told}", "single_log"), names
        ).rowcount
        assert [answer["status"] for answer in both_roads(connection, target)] == ["success"] * 2
        connection.execute(DELETE.format("single"), names)
        answers = both_roads(connection, target)
        connection.rollback()
    assert [answer["code"] for answer in answers] == ["receipt_missing"] * 2


@pytest.mark.req("OBS-044")
def test_unobserved_history_needs_no_receipt(client, admin):
    target = source(client)
    receipt(client, target)
    accepted(client, target, change("Sizes", "x"))
    admin.execute(
        "delete from patchdiff.target_scope_observations where target_file_id = %s", [target]
    )
    assert users(admin, target) == {}
    for answer in both_roads(admin, target):
        assert (answer["status"], answer["materialized_state_matches"]) == ("success", True)


@pytest.mark.req("OBS-045", "BATCH-026")
def test_a_newer_engine_changes_nothing_of_the_past(admin):
    class Newer(Engine):
        def identity(self):
            return "patchdiff-symbols@1+ffffffffffff"

    with Newer() as engine, Engine() as old:
        caller = ServiceCaller(Service(admin, engine=old))
        target, _ = history(caller)
        renewed = ServiceCaller(Service(admin, engine=engine))
        assert replay(renewed, target) == replay(caller, target)
        assert replay(renewed, target)["materialized_state_matches"] is True


def test_time_travel_to_before_an_observed_change(client, admin):
    target = source(client)
    observed = receipt(client, target)
    start = observed["scope_start"]
    submit_accepted(client, single(observed, span(start, start + 3, "def", "async def")))
    for version, text in ((0, SOURCE), (1, SOURCE.replace("def first()", "async def first()"))):
        row = admin.execute("select patchdiff.content_at(%s, %s)", [target, version]).fetchone()
        assert row == (text,)
