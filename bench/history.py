"""What a page of the log or the ledger costs above a bare select of the same columns.

The pages of two histories of 20 MB, and of targets with 10,000 to 1,000,000 attempts, with every
set of filters, on one embedded server in a temporary directory, taking turns in one run. Fails when
a page scans a table from end to end. See bench/README.md for how to read the table.
"""

import os
import platform
import random
import statistics
import string
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row
from rich.console import Console
from rich.table import Table

import patchdiff
from patchdiff.embedded import EmbeddedServer
from patchdiff.schema import migrate
from tests.support.histories import counted, lengthen

LONG = (10_000, 100_000, 1_000_000)
LIMIT = 50
ROUNDS = 200
WARM_UP = 20
SEED = 20_260_101
GOAL = 1.3

CREATED_AT = (
    """to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created_at"""
)
LOG_COLUMNS = f"""
    log_sequence, pdcp_log_id, status, protocol_version, runtime_version, before_version,
    after_version, before_hash, after_hash, failure_reason, failure_detail, failed_change_id,
    parent_pdcp_log_id, regeneration_attempt, regeneration_attempt as attempt, client_request_id,
    request_fingerprint, pdcp_content_hash, diagnostic_json as diagnostic, intent, intent_truncated,
    {CREATED_AT}
"""
LEDGER_COLUMNS = f"""
    ledger_sequence, pdcp_log_id, log_sequence, before_version, after_version, editing_cycle_id,
    change_index, change_id, intent, transaction_intent, rationale, input_state, output_state,
    affected_region, user_visible_change, risk, origin, derived, {CREATED_AT}
"""
SELECT = (
    "select {columns} from patchdiff.{table} where {where} order by {sequence} desc limit {limit}"
)
LOG = ("append_only_pdcp_logs", LOG_COLUMNS, "log_sequence")
LEDGER = ("manifest_ledger", LEDGER_COLUMNS, "ledger_sequence")

Connection = psycopg.Connection[Any]


@dataclass
class Page:
    """A page of one target's history: the arguments of the function, and the same as conditions of
    a select."""

    history: str
    name: str
    function: str
    target: str
    arguments: dict[str, object]
    conditions: dict[str, object]

    @property
    def values(self) -> dict[str, object]:
        """The function's arguments with the target."""
        return {"target_file_id": self.target, **self.arguments}


def noise(generator: random.Random, length: int) -> str:
    """A text that compresses little."""
    return "".join(generator.choices(string.ascii_letters + "    \n", k=length))


def whole_replacements(service: patchdiff.Service, generator: random.Random) -> str:
    """A target with 50 accepted whole replacements by 400 KB each."""
    target: str = service.initialize_target(filename="bench.txt", content="")["target_file_id"]
    for version in range(50):
        answer = service.submit_replacement(
            target_file_id=target,
            intent=f"Write chapter {version} anew",
            replacement=noise(generator, 400_000),
            expected_target_version=version,
        )
        assert answer["status"] == "accepted", answer
    return target


def long_edits(service: patchdiff.Service, generator: random.Random) -> str:
    """A target with 20 accepted attempts, each of three edits whose record takes 1 MB."""
    parts = [noise(generator, 174_000) for _ in range(3)]
    target: str = service.initialize_target(filename="bench.txt", content="".join(parts))[
        "target_file_id"
    ]
    for version in range(20):
        written = [noise(generator, 174_000) for _ in parts]
        answer = service.submit_edits(
            target_file_id=target,
            intent=f"Write chapter {version} anew",
            edits=[
                {"match": match, "replace": replace, "rationale": "It reads better."}
                for match, replace in zip(parts, written, strict=True)
            ],
            expected_target_version=version,
        )
        assert answer["status"] == "accepted", answer
        parts = written
    return target


def pages(service: patchdiff.Service, history: str, target: str) -> Iterator[Page]:
    """The first pages of both, and, where there are more, those in the middle and under filters."""
    cycle = service.get_target(target_file_id=target)["active_editing_cycle_id"]
    here: dict[str, object] = {"target_file_id =": target}
    in_cycle = {**here, "editing_cycle_id =": cycle}
    yield Page(history, "log", "get_pdcp_log", target, {}, here)
    yield Page(history, "ledger", "get_manifest_ledger", target, {}, in_cycle)
    every: dict[str, object] = {"include_previous_cycles": True}
    yield Page(history, "ledger, all cycles", "get_manifest_ledger", target, every, here)
    newest = service.get_pdcp_log(target_file_id=target, limit=2)["entries"]
    accepted, keyed = (
        next((entry for entry in newest if entry[name]), None)
        for name in ("after_hash", "client_request_id")
    )
    if accepted is None or keyed is None:
        return
    filters = {
        "status": ("status =", accepted["status"]),
        "content_hash": ("pdcp_content_hash =", accepted["pdcp_content_hash"]),
        "client_request_id": ("client_request_id =", keyed["client_request_id"]),
    }
    for names in (["status"], ["content_hash"], ["status", "content_hash"], ["client_request_id"]):
        arguments = {name: filters[name][1] for name in names}
        conditions = here | dict(filters[name] for name in names)
        yield Page(history, " and ".join(names), "get_pdcp_log", target, arguments, conditions)
    oldest = service.get_manifest_ledger(target_file_id=target, limit=1)["entries"][0]
    attempts = oldest["after_version"] * 3 // 2
    for name, function, sequence, of_all, rows in (
        ("log, middle", "get_pdcp_log", "log_sequence", here, attempts),
        ("ledger, middle", "get_manifest_ledger", "ledger_sequence", in_cycle, attempts * 2 // 3),
    ):
        middle = oldest[sequence] - rows // 2
        arguments = {"before_sequence": middle}
        conditions = {**of_all, f"{sequence} <": middle}
        yield Page(history, name, function, target, arguments, conditions)


def contestants(
    raw: Connection, editor: Connection, service: patchdiff.Service, page: Page
) -> dict[str, Callable[[], Any]]:
    """Calls that fetch the page: as columns, as one jsonb, by the function, through the service."""
    table, columns, sequence = LOG if page.function == "get_pdcp_log" else LEDGER
    select = SELECT.format(
        columns=columns,
        table=table,
        where=" and ".join(f"{condition} %s" for condition in page.conditions),
        sequence=sequence,
        limit=LIMIT,
    )
    values = list(page.conditions.values())
    call = sql.SQL("select patchdiff.{}({})").format(
        sql.Identifier(page.function),
        sql.SQL(", ").join(
            sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name))
            for name in page.values
        ),
    )
    query = call.as_bytes()

    def rows(statement: str) -> Any:
        with raw.cursor(row_factory=tuple_row) as cursor:
            return cursor.execute(statement, values).fetchall()  # type: ignore[call-overload]

    method = getattr(service, page.function)
    return {
        "columns": lambda: rows(select),
        "one jsonb": lambda: rows(f"select jsonb_agg(p) from ({select}) as p")[0][0],
        "function": lambda: editor.execute(query, page.values).fetchone()[0],  # type: ignore[index]
        "service": lambda: method(**page.values),
    }


def check(raw: Connection, page: Page, calls: dict[str, Callable[[], Any]]) -> tuple[int, int]:
    """How many entries the page has and how many blocks it reads.

    Raises RuntimeError when it is not the page that the select finds, or when a table is scanned.
    """
    expected = sorted(row[0] for row in calls["columns"]())
    entries = calls["service"]()["entries"]
    sequence = LOG[2] if page.function == "get_pdcp_log" else LEDGER[2]
    if sorted(entry[sequence] for entry in entries) != expected:
        raise RuntimeError(f"{page} lists other rows than the select")
    with counted(raw) as reads:
        getattr(patchdiff.Service(raw), page.function)(**page.values)
    if reads.sequential_scans:
        raise RuntimeError(f"{page} scans a table from end to end")
    return len(entries), reads.blocks


def measure(calls: dict[Any, Callable[[], Any]]) -> dict[Any, float]:
    """Median milliseconds of each call, taken in turns and in alternating order."""
    times: dict[Any, list[float]] = {name: [] for name in calls}
    for number in range(WARM_UP + ROUNDS):
        for name in calls if number % 2 else reversed(calls):
            begin = time.perf_counter()
            calls[name]()
            elapsed = (time.perf_counter() - begin) * 1_000
            if number >= WARM_UP:
                times[name].append(elapsed)
    return {name: statistics.median(taken) for name, taken in times.items()}


def run(console: Console, home: Path) -> None:
    """Measures every page on a fresh embedded server in home and prints the table."""
    generator = random.Random(SEED)
    with (
        EmbeddedServer(home) as server,
        closing(psycopg.connect(server.url(), autocommit=True)) as raw,
    ):
        migrate(raw)
        server_version = raw.info.parameter_status("server_version")
        with closing(
            psycopg.connect(server.url(role="patchdiff_editor"), autocommit=True)
        ) as editor:
            service = patchdiff.Service(editor)
            histories = {
                "50 x 400 KB tx/3": whole_replacements(service, generator),
                "20 x 1 MB tx/1": long_edits(service, generator),
            }
            for attempts in LONG:
                answer = service.initialize_target(filename="bench.txt", content="")
                lengthen(raw, [answer["target_file_id"]], attempts)
                histories[f"{attempts:,} attempts"] = answer["target_file_id"]
            raw.execute("vacuum analyze")
            found = [page for item in histories.items() for page in pages(service, *item)]
            calls = [contestants(raw, editor, service, page) for page in found]
            sizes = [check(raw, page, own) for page, own in zip(found, calls, strict=True)]
            medians = measure(
                {
                    (index, name): call
                    for index, own in enumerate(calls)
                    for name, call in own.items()
                }
            )
    report(console, found, sizes, medians)
    console.print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, patchdiff {patchdiff.__version__}, "
        f"PostgreSQL {server_version}, Python {platform.python_version()}, "
        f"psycopg {psycopg.__version__}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} CPUs, seed {SEED}, {ROUNDS} rounds"
    )


def report(
    console: Console,
    found: list[Page],
    sizes: list[tuple[int, int]],
    medians: dict[tuple[int, str], float],
) -> None:
    """Prints each page's medians and ratios, and how the longest target compares with the
    shortest."""
    table = Table(title=f"one page of at most {LIMIT} entries: medians in milliseconds")
    for column in ("history", "page"):
        table.add_column(column)
    names = ("columns", "one jsonb", "function", "service")
    for column in ("entries", "blocks", *names, "function / jsonb", "service / jsonb"):
        table.add_column(column, justify="right")
    full, met = 0, 0
    for index, (page, (entries, blocks)) in enumerate(zip(found, sizes, strict=True)):
        cost = {name: medians[index, name] for name in names}
        ratios = [cost[name] / cost["one jsonb"] for name in ("function", "service")]
        full += entries > 1
        met += entries > 1 and ratios[0] <= GOAL
        table.add_row(
            page.history,
            page.name,
            str(entries),
            str(blocks),
            *(f"{cost[name]:.2f}" for name in names),
            *(f"{ratio:.2f}" for ratio in ratios),
            end_section=index + 1 < len(found) and found[index + 1].history != page.history,
        )
    console.print(table)
    console.print(
        f"goal: function / jsonb at most {GOAL}: met by {met} of the {full} pages of several"
        " entries"
    )
    shortest, longest = (f"{attempts:,} attempts" for attempts in (LONG[0], LONG[-1]))
    function = {
        (page.history, page.name): medians[index, "function"] for index, page in enumerate(found)
    }
    growth = {
        page.name: function[longest, page.name] / function[shortest, page.name]
        for page in found
        if page.history == longest
    }
    console.print(
        f"goal: as fast with {longest} as with {shortest}: "
        + ", ".join(f"{name} x {ratio:.2f}" for name, ratio in growth.items())
    )


def main() -> None:
    """Runs the benchmark in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="patchdiff-bench-") as directory:
        run(Console(highlight=False, width=150), Path(directory) / "home")


if __name__ == "__main__":
    main()
