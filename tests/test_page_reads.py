"""What a page of the log or the ledger reads: rows through indexes, and no record without need."""

from __future__ import annotations

import itertools
import random
import string

import psycopg
import pytest

from patchdiff import Service
from patchdiff.schema import migrate
from tests.support.documents import ServiceCaller, change, document
from tests.support.histories import counted, forget_intents, lengthen
from tests.support.proposals import EDITS, OPERATIONS, REPLACEMENT, admitted, propose, span

ATTEMPTS = 20_000
SHORT = 4_000
LIMIT = 50
# LIMIT + 1 rows, each found at most three times, each time through at most four blocks of table and
# index; the tables have thousands
BLOCKS = 4 * 3 * (LIMIT + 1)

PLAN_MODES = ["auto", "force_generic_plan", "force_custom_plan"]
LOG = "patchdiff_get_pdcp_log"
LEDGER = "patchdiff_get_manifest_ledger"


def pages_to_ask_for(every):
    """Each set of filters, from the top and from deep down; every are the attempts of one record
    whose newest one has a key."""
    sample = every[0]
    filters = {
        "status": sample["status"],
        "content_hash": sample["pdcp_content_hash"],
        "client_request_id": sample["client_request_id"],
    }
    depths = [None, sample["log_sequence"] + 1, every[-1]["log_sequence"] + 1, 1]
    for size in range(len(filters) + 1):
        for names in itertools.combinations(filters, size):
            for depth in depths:
                chosen = {name: filters[name] for name in names}
                yield LOG, {**chosen, "before_sequence": depth}
    yield LOG, {"include_content": True}
    for previous, depth in itertools.product([False, True], depths):
        yield LEDGER, {"include_previous_cycles": previous, "before_sequence": depth}


@pytest.mark.parametrize("analyzed", [False, True], ids=["unknown to the planner", "analyzed"])
def test_every_page_finds_its_rows_through_indexes(fresh_database_url, analyzed):
    """One long history among many short ones, in tables that grew from nothing in the sessions'
    lifetime, with and without statistics."""
    with psycopg.connect(fresh_database_url) as connection:
        migrate(connection)
    sessions = [psycopg.connect(fresh_database_url, autocommit=True) for _ in PLAN_MODES]
    try:
        callers = [ServiceCaller(Service(session)) for session in sessions]
        target = document(callers[0], "a\n")["target_file_id"]
        early = {
            "status": "accepted", "pdcp_content_hash": "0" * 64, "client_request_id": "none",
            "log_sequence": 1,
        }  # fmt: skip
        for mode, session, caller in zip(PLAN_MODES, sessions, callers, strict=True):
            session.execute(f"set plan_cache_mode = {mode}")
            for _ in range(8):  # more often than a session plans anew
                for tool, arguments in pages_to_ask_for([early]):
                    caller.call(tool, target_file_id=target, **arguments)
        query = (
            "select patchdiff.initialize_target('t', 'a') ->> 'target_file_id'"
            " from generate_series(1, %s)"
        )
        short = [row[0] for row in sessions[0].execute(query, [SHORT])]
        lengthen(sessions[0], short, 2)
        lengthen(sessions[0], [target], ATTEMPTS)
        if analyzed:
            sessions[0].execute("vacuum analyze")
        newest = callers[0].call(LOG, target_file_id=target, limit=1)["entries"][0]
        every = callers[0].call(
            LOG, target_file_id=target, content_hash=newest["pdcp_content_hash"], limit=200
        )["entries"]
        assert len(every) == ATTEMPTS // 100

        def read_all(most_blocks):
            for session, caller in zip(sessions, callers, strict=True):
                for tool, arguments in pages_to_ask_for(every):
                    with counted(session) as reads:
                        page = caller.call(tool, target_file_id=target, limit=LIMIT, **arguments)
                    case = (tool, arguments, reads)
                    assert reads.sequential_scans == 0, case
                    assert 0 < reads.blocks <= most_blocks, case
                    yield len(page["entries"])

        assert set(read_all(BLOCKS)) >= {0, 1, LIMIT}
        with counted(sessions[0]) as reads:
            sessions[0].execute("select from patchdiff.append_only_pdcp_logs where intent = ''")
        assert reads.sequential_scans == 1
        assert reads.blocks > 2 * BLOCKS
        for table in ("append_only_pdcp_logs", "manifest_ledger"):
            forget_intents(sessions[0], target, table)
        assert set(read_all(2 * BLOCKS)) >= {0, 1, LIMIT}
    finally:
        for session in sessions:
            session.close()


def noise(seed, length):
    """A text that no compression makes short."""
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=length))


@pytest.mark.req("LEDG-029")
def test_records_are_read_only_for_rows_that_lack_their_intents(admin):
    caller = ServiceCaller(Service(admin))
    target = document(caller, "a\n")["target_file_id"]
    text = "a\n"
    for version in range(12):
        longer = noise(version, 40_000)
        proposals = {
            EDITS: [change(text, longer, rationale="r")],
            OPERATIONS: [span(0, len(text), text, longer, rationale="r")],
            REPLACEMENT: longer,
        }
        tool = list(proposals)[version % 3]
        admitted(caller, tool, target, proposals[tool], expected_target_version=version)
        propose(caller, tool, target, proposals[tool], expected_target_version=version)
        text = longer

    def read(tool, **arguments):
        with counted(admin) as reads:
            page = caller.call(tool, target_file_id=target, **arguments)
        return page, reads.record_blocks

    whole = {}
    for tool, count in ((LOG, 24), (LEDGER, 12)):
        page, blocks = read(tool, limit=200)
        assert (len(page["entries"]), blocks) == (count, 0), tool
        whole[tool] = page
    for status, content_hash in itertools.product(
        (None, "accepted", "rejected"), (None, whole[LOG]["entries"][0]["pdcp_content_hash"])
    ):
        page, blocks = read(LOG, status=status, content_hash=content_hash, limit=7)
        assert page["entries"]
        assert blocks == 0
    assert read(LOG, limit=1, include_content=True)[1] > 0

    one = whole[LOG]["entries"][5]
    forget_intents(admin, target, "append_only_pdcp_logs", log_sequence=one["log_sequence"])
    page, blocks_of_one = read(LOG, limit=200)
    assert page == whole[LOG]
    # at most 80,000 bytes in pieces of 2,000, and their index
    assert 0 < blocks_of_one < 60
    above, below = one["log_sequence"] + 1, one["log_sequence"]
    assert read(LOG, before_sequence=below)[1] == 0
    assert 0 < read(LOG, before_sequence=above, limit=1)[1] <= blocks_of_one

    for entry in whole[LEDGER]["entries"]:
        with admin.transaction(force_rollback=True):
            forget_intents(
                admin, target, "manifest_ledger", ledger_sequence=entry["ledger_sequence"]
            )
            page, blocks = read(LEDGER, limit=200)
        assert page == whole[LEDGER]
        # the intent of a whole replacement is its change's
        assert (blocks == 0) is (entry["transaction_intent"] == entry["intent"]), entry
        assert blocks < 60


@pytest.mark.req("LEDG-029")
def test_a_record_is_read_once_for_all_its_changes(admin):
    caller = ServiceCaller(Service(admin))
    words = [noise(number, 2_000) for number in range(40)]
    target = document(caller, "".join(words))["target_file_id"]
    edits = [change(word, "", rationale=f"why {number}") for number, word in enumerate(words)]
    admitted(caller, EDITS, target, edits)
    whole = caller.call(LEDGER, target_file_id=target, limit=200)
    forget_intents(admin, target, "manifest_ledger", change_index=1)
    with counted(admin) as once:
        assert caller.call(LEDGER, target_file_id=target, limit=200) == whole
    forget_intents(admin, target, "manifest_ledger")
    with counted(admin) as reads:
        assert caller.call(LEDGER, target_file_id=target, limit=200) == whole
    assert reads.record_blocks == once.record_blocks > 0
