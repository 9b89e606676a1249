"""Pages that are read while eight others write: no attempt is missed, none comes twice."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.types.json import Jsonb

from patchdiff import Service
from tests.support.documents import ServiceCaller, document, sha256
from tests.support.proposals import OPERATIONS, propose, span

WRITERS = 8
ATTEMPTS = 1_250
REST = 4  # a pager rests so many times as long as it reads: the writers need the processors too
TEXT = "text\n"
DIGEST = sha256(TEXT)

SUBMIT_SPANS = """
select patchdiff.submit_spans(
    target_file_id => %s, intent => 't', spans => %s, expected_current_hash => %s
)
"""


def write(database_url, target, index, barrier):
    """Submit ATTEMPTS spans, two of three fit to be accepted: they put the same text in place, so
    that the hash holds for all writers. Returns each attempt's id and whether it was accepted."""
    made = []
    with psycopg.connect(database_url, autocommit=True) as connection:
        caller = ServiceCaller(Service(connection))
        barrier.wait(60)
        for number in range(ATTEMPTS):
            fit = number % 3 > 0
            spans = [span(0, 2, "te" if fit else "xx", "te"), span(3, 5, "t\n", "t\n")]
            if index % 2:
                answer = connection.execute(
                    SUBMIT_SPANS, [target, Jsonb(spans), DIGEST]
                ).fetchone()[0]
            else:
                answer = propose(caller, OPERATIONS, target, spans, expected_current_hash=DIGEST)
            assert answer["status"] == ("accepted" if fit else "rejected"), answer
            made.append((answer["pdcp_log_id"], fit))
            if index == 0 and number % 100 == 50:
                assert caller.call("patchdiff_save", target_file_id=target)["status"] == "saved"
    return made


def traverse(caller, tool, target, sequence, **arguments):
    """Read every page from the newest to the oldest; returns (sequence, pdcp_log_id) of each
    entry, newest first."""
    found, before = [], None
    while True:
        page = caller.call(
            tool, target_file_id=target, limit=200, before_sequence=before, **arguments
        )
        entries = sorted(page["entries"], key=lambda entry: -entry[sequence])
        found += [(entry[sequence], entry["pdcp_log_id"]) for entry in entries]
        assert page["has_more"] is (page["next_sequence"] is not None)
        before = page["next_sequence"]
        if before is None:
            return found


def watch(database_url, target, stop, tool, sequence, arguments):
    """Traverse again and again until the writers are done, and once more; returns all of it."""
    traversals = []
    with psycopg.connect(database_url, autocommit=True) as connection:
        caller = ServiceCaller(Service(connection))
        while not stop.is_set():
            begin = time.monotonic()
            traversals.append(traverse(caller, tool, target, sequence, **arguments))
            stop.wait(REST * (time.monotonic() - begin))
        traversals.append(traverse(caller, tool, target, sequence, **arguments))
    return traversals


@pytest.mark.req("LOG-021", "LOG-022", "LEDG-012")
def test_traversals_while_eight_write(database_url, service, admin):
    target = document(ServiceCaller(service), TEXT)["target_file_id"]
    stop, barrier = threading.Event(), threading.Barrier(WRITERS)
    pagers = [
        ("patchdiff_get_pdcp_log", "log_sequence", {}),
        ("patchdiff_get_pdcp_log", "log_sequence", {"status": "rejected"}),
        ("patchdiff_get_manifest_ledger", "ledger_sequence", {"include_previous_cycles": True}),
    ]
    with ThreadPoolExecutor(WRITERS + len(pagers)) as threads:
        watching = [threads.submit(watch, database_url, target, stop, *pager) for pager in pagers]
        try:
            writing = [
                threads.submit(write, database_url, target, index, barrier)
                for index in range(WRITERS)
            ]
            made = dict(attempt for writer in writing for attempt in writer.result(300))
        finally:
            stop.set()
        traversals = [watcher.result(60) for watcher in watching]

    log, ledger = (
        admin.execute(query, [target]).fetchall()
        for query in (
            (
                "select log_sequence, pdcp_log_id::text, status"
                " from patchdiff.append_only_pdcp_logs where target_file_id = %s order by 1 desc"
            ),
            (
                "select ledger_sequence, pdcp_log_id::text"
                " from patchdiff.manifest_ledger where target_file_id = %s order by 1 desc"
            ),
        )
    )
    assert {pdcp_log_id: status == "accepted" for _, pdcp_log_id, status in log} == made
    assert len(log) == WRITERS * ATTEMPTS
    assert sum(made.values()) * 2 == len(ledger)
    every = [
        [row[:2] for row in log],
        [row[:2] for row in log if row[2] == "rejected"],
        ledger,
    ]
    for pager, rows, found in zip(pagers, every, traversals, strict=True):
        positions = {row: position for position, row in enumerate(rows)}
        for traversal in found:
            begin = positions[traversal[0]] if traversal else len(rows)
            assert traversal == rows[begin:], pager
        # several began while rows were being written, and the last one has everything
        assert len({len(traversal) for traversal in found}) > 3, pager
        assert found[-1] == rows
