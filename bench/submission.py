"""What one submission through the service costs, against the same rows written by raw SQL.

Both write to one embedded server with durability on, in a temporary directory, taking turns in one
run. See bench/README.md for how to read the table.
"""

import hashlib
import json
import os
import platform
import random
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import tuple_row
from rich.console import Console
from rich.table import Table

import patchdiff
from patchdiff.embedded import EmbeddedServer
from patchdiff.schema import migrate

SIZES = {"2 KB": 2_048, "64 KB": 65_536, "1 MB": 1_048_576}
ROUNDS = {"2 KB": 400, "64 KB": 300, "1 MB": 80}
WARM_UP = 20
SEED = 20_260_101
INTENT = "Advance the counter"

READ = """
select current_content, current_hash, version, active_editing_cycle_id
from patchdiff.cloud_target_files where target_file_id = %(target)s for update
"""
INSERT_LOG = """
insert into patchdiff.append_only_pdcp_logs (
    target_file_id, log_sequence, pdcp_log_id, status, protocol_version, runtime_version,
    editing_cycle_id, before_version, before_hash, after_version, after_hash, source,
    request_envelope, request_fingerprint, pdcp_content, pdcp_content_hash, intent, created_at,
    previous_row_hash, row_hash
) values (
    %(target)s, nextval('patchdiff.log_sequence'), %(log_id)s, 'accepted', 'patchdiff-tx/1',
    'patchdiff-mvp-0.2.2', %(cycle)s, %(before_version)s, %(before_hash)s, %(after_version)s,
    %(after_hash)s, 'model_response', %(envelope)s, %(fingerprint)s, %(record)s, %(record_hash)s,
    %(intent)s, now(), '', %(fingerprint)s
)
"""
INSERT_LEDGER = """
insert into patchdiff.manifest_ledger (
    target_file_id, ledger_sequence, pdcp_log_id, log_sequence, editing_cycle_id, before_version,
    after_version, change_index, change_id, intent, transaction_intent, origin, derived, created_at
) values (
    %(target)s, nextval('patchdiff.ledger_sequence'), %(log_id)s, currval('patchdiff.log_sequence'),
    %(cycle)s, %(before_version)s, %(after_version)s, 1, 'chg_001', %(intent)s, %(intent)s, 'typed',
    %(fact)s, now()
)
"""
UPDATE = """
update patchdiff.cloud_target_files
set current_content = %(text)s, current_hash = %(after_hash)s, version = %(after_version)s,
    log_head_sequence = currval('patchdiff.log_sequence'), log_head_hash = %(fingerprint)s
where target_file_id = %(target)s
"""

Submit = Callable[[str, str], None]
"""Replaces the one occurrence of the first text with the second."""


def sha256(text: str) -> str:
    """Lowercase hex SHA-256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def document(size: int) -> str:
    """Lines of words, ASCII, exactly size code points, with one counter in the middle."""
    generator = random.Random(SEED)
    words = [
        "".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=length))
        for length in range(2, 12)
    ]
    pieces: list[str] = []
    length = 0
    while length < size:
        piece = generator.choice(words) + generator.choice("     \n")
        pieces.append(piece)
        length += len(piece)
    text = "".join(pieces)[:size]
    counter = counter_text(0)
    middle = size // 2
    return text[:middle] + counter + text[middle + len(counter) :]


def counter_text(number: int) -> str:
    """A text that occurs once in the document: its length is the same for every number."""
    return f"<counter {number:08}>"


def compact(value: object) -> str:
    """The value as JSON text without spaces."""
    return json.dumps(value, separators=(",", ":"))


def fact(start: int, match: str, replace: str) -> dict[str, object]:
    """What the ledger keeps of one change."""
    return {
        "change_id": "chg_001",
        "change_index": 1,
        "span_start": start,
        "span_end": start + len(match),
        "matched_chars": len(match),
        "replacement_chars": len(replace),
        "matched_sha256": sha256(match),
        "replacement_sha256": sha256(replace),
    }


def through_service(service: patchdiff.Service, content: str) -> Submit:
    """A writer that submits one guarded edit to a target of its own."""
    target = service.initialize_target(filename="bench.txt", content=content)["target_file_id"]
    version = 0

    def submit(match: str, replace: str) -> None:
        nonlocal version
        answer = service.submit_edits(
            target_file_id=target,
            intent=INTENT,
            edits=[{"match": match, "replace": replace}],
            expected_target_version=version,
        )
        if answer["status"] != "accepted":
            raise RuntimeError(f"the service refused: {answer}")
        version += 1

    return submit


def through_raw_sql(
    connection: psycopg.Connection[Any], service: patchdiff.Service, content: str
) -> Submit:
    """A writer that puts the same rows into the same tables, for a target of its own."""
    target = service.initialize_target(filename="bench.txt", content=content)["target_file_id"]

    def submit(match: str, replace: str) -> None:
        edits = [{"match": match, "replace": replace}]
        record = compact({"protocol": "patchdiff-tx/1", "intent": INTENT, "edits": edits})
        with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
            row = cursor.execute(READ, {"target": target}).fetchone()
            assert row is not None
            text, before_hash, version, cycle = row
            start = text.index(match)
            text = text[:start] + replace + text[start + len(match) :]
            envelope = compact({"content": sha256(record), "expected_target_version": version})
            values = {
                "target": target,
                "log_id": uuid.uuid4(),
                "cycle": cycle,
                "before_version": version,
                "before_hash": before_hash,
                "after_version": version + 1,
                "after_hash": sha256(text),
                "envelope": envelope,
                "fingerprint": sha256(envelope),
                "record": record,
                "record_hash": sha256(record),
                "intent": INTENT,
                "fact": compact(fact(start, match, replace)),
                "text": text,
            }
            cursor.execute(INSERT_LOG, values)
            cursor.execute(INSERT_LEDGER, values)
            cursor.execute(UPDATE, values)

    return submit


def measure(writers: dict[str, Submit], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each submission of each writer, taken in turns and in alternating order."""
    times: dict[str, list[float]] = {name: [] for name in writers}
    for number in range(WARM_UP + rounds):
        order = list(writers) if number % 2 else list(reversed(writers))
        for name in order:
            match, replace = counter_text(number), counter_text(number + 1)
            begin = time.perf_counter()
            writers[name](match, replace)
            elapsed = (time.perf_counter() - begin) * 1_000
            if number >= WARM_UP:
                times[name].append(elapsed)
    return times


def run(console: Console, home: Path) -> None:
    """Measures every size on a fresh embedded server in home and prints the table."""
    table = Table(title="one submission: medians in milliseconds")
    for column in ("document", "rounds", "raw SQL", "service", "ratio"):
        table.add_column(column, justify="right")
    with (
        EmbeddedServer(home) as server,
        closing(psycopg.connect(server.url(), autocommit=True)) as raw,
    ):
        migrate(raw)
        server_version = raw.info.parameter_status("server_version")
        editor = server.url(role="patchdiff_editor")
        with closing(psycopg.connect(editor, autocommit=True)) as connection:
            service = patchdiff.Service(connection)
            for name, size in SIZES.items():
                content = document(size)
                writers = {
                    "raw": through_raw_sql(raw, service, content),
                    "service": through_service(service, content),
                }
                times = measure(writers, ROUNDS[name])
                base, cost = (statistics.median(times[writer]) for writer in ("raw", "service"))
                cells = (f"{base:.2f}", f"{cost:.2f}", f"{cost / base:.2f}")
                table.add_row(name, str(ROUNDS[name]), *cells)
    console.print(table)
    console.print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, patchdiff {patchdiff.__version__}, "
        f"PostgreSQL {server_version}, Python {platform.python_version()}, "
        f"psycopg {psycopg.__version__}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} CPUs, seed {SEED}"
    )


def main() -> None:
    """Runs the benchmark in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="patchdiff-bench-") as directory:
        run(Console(highlight=False), Path(directory) / "home")


if __name__ == "__main__":
    main()
