"""docs/audit.md: it lists the codes there are, and its anchor finds what a chain cannot show."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from patchdiff import Service
from patchdiff.embedded_account import installation
from patchdiff.schema import migrate
from tests.support.documents import ServiceCaller, accepted, change, document, submit

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")

REWRITTEN = """
do $$
declare
    v_row patchdiff.append_only_pdcp_logs;
    v_hash text := '';
begin
    for v_row in
        select l.* from patchdiff.append_only_pdcp_logs as l
        where l.target_file_id = current_setting('test.target')::uuid order by l.log_sequence
    loop
        v_row.previous_row_hash := v_hash;
        v_hash := patchdiff._log_row_hash(v_row, (
            select jsonb_agg(m.derived order by m.change_index) from patchdiff.manifest_ledger as m
            where m.target_file_id = v_row.target_file_id and m.pdcp_log_id = v_row.pdcp_log_id
        ));
        update patchdiff.append_only_pdcp_logs as l
        set previous_row_hash = v_row.previous_row_hash, row_hash = v_hash
        where l.target_file_id = v_row.target_file_id and l.log_sequence = v_row.log_sequence;
    end loop;
    update patchdiff.cloud_target_files as t
    set log_head_hash = v_hash, log_head_sequence = coalesce(v_row.log_sequence, (
        select max(l.log_sequence) from patchdiff.append_only_pdcp_logs as l
        where l.target_file_id = t.target_file_id
    ))
    where t.target_file_id = current_setting('test.target')::uuid;
end
$$
"""
"""A superuser makes the chain anew after whatever was altered."""


def section(title: str) -> str:
    _, _, rest = PAGE.partition(f"# {title}\n")
    assert rest
    return re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(title: str) -> list[str]:
    return re.findall(r"^```sql\n(.*?)^```$", section(title), re.MULTILINE | re.DOTALL)


def listed(title: str, column: int) -> set[str]:
    """The names in backticks in a column of a section's table."""
    rows = [line.split("|") for line in section(title).splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row[column])}


def found(*names: str) -> set[str]:
    """The codes in the source of functions."""
    texts = [(ROOT / "db" / "functions" / f"{name}.sql").read_text("utf-8") for name in names]
    pattern = r"'(\w+_(?:differs|missing|unexpected|unreadable|unknown|closed|order|not_active))'"
    return set(re.findall(pattern, "".join(texts)))


def test_the_page_lists_the_codes() -> None:
    assert listed("What verify_chain finds", 1) == found("verify_chain")
    checks = ("replay", "ledger", "log_intent", "snapshot", "cycle")
    codes = found(*(f"_{check}_failures" for check in checks))
    assert listed("What verify_target finds", 3) == codes
    assert len(codes) > 20


def test_the_page_lists_the_checks(service: Service, admin: psycopg.Connection[Any]) -> None:
    target = document(ServiceCaller(service), "a")["target_file_id"]
    answer = admin.execute("select patchdiff.verify_target(%s)", [target]).fetchone()
    assert answer is not None
    assert listed("What verify_target finds", 1) == set(answer[0]["checks"])


class Anchored:
    """A database whose heads were written to a file, and which can then be tampered with."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        with psycopg.connect(url, autocommit=True) as connection:
            migrate(connection)
            caller = ServiceCaller(Service(connection))
            self.targets = []
            for _ in range(3):
                target = document(caller, "a")["target_file_id"]
                accepted(caller, target, change("a", "b"))
                submit(caller, target, change("x", "y"), expected_target_version=1)
                accepted(caller, target, change("b", "c"), expected_target_version=1)
                self.targets.append(target)
            document(caller, "no attempt")
        writing, self.checking = blocks("Anchoring it outside")
        self.psql(writing)

    def psql(self, statements: str) -> str:
        command = [installation() / "bin" / "psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1"]
        told = subprocess.run(
            [*command, self.url, "-f", "-"],
            input=statements,
            capture_output=True,
            encoding="utf-8",
            check=False,
            cwd=self.folder,
        )
        assert (told.returncode, told.stderr) == (0, "")
        return told.stdout

    def tamper(self, target: str, *statements: str) -> str:
        """What verify_chain says of a target after this."""
        with psycopg.connect(self.url) as connection:
            for table in ("append_only_pdcp_logs", "manifest_ledger"):
                connection.execute(
                    f"alter table patchdiff.{table} disable trigger append_only".encode()
                )
            connection.execute("set local session_replication_role = replica")
            connection.execute("select set_config('test.target', %s, true)", [target])
            for statement in statements:
                connection.execute(statement.encode())
            row = connection.execute("select patchdiff.verify_chain(%s)", [target]).fetchone()
            assert row is not None
            return str(row[0]["status"])

    def contradicted(self) -> list[list[str]]:
        """Target, sequence and finding of what the anchor contradicts."""
        return [line.split("|") for line in self.psql(self.checking).splitlines()]

    def sequences(self, target: str) -> list[str]:
        with psycopg.connect(self.url) as connection:
            rows: list[tuple[Any, ...]] = connection.execute(
                "select log_sequence from patchdiff.append_only_pdcp_logs"
                " where target_file_id = %s order by 1",
                [target],
            ).fetchall()
        return [str(sequence) for (sequence,) in rows]


@pytest.fixture
def anchored(fresh_database_url: str, tmp_path: Path) -> Anchored:
    return Anchored(fresh_database_url, tmp_path)


OF_TARGET = "where target_file_id = current_setting('test.target')::uuid"
ALTERED = f"update patchdiff.append_only_pdcp_logs set source = 'somebody else' {OF_TARGET}"
NEWEST = f"select max(log_sequence) from patchdiff.append_only_pdcp_logs {OF_TARGET}"
LAST = f"and log_sequence = ({NEWEST})"


def test_an_anchor_is_a_line_for_each_target_with_attempts(anchored: Anchored) -> None:
    lines = (anchored.folder / "anchor.csv").read_text().splitlines()
    assert lines[0] == "target_file_id,log_head_sequence,log_head_hash"
    assert {line.split(",")[0] for line in lines[1:]} == set(anchored.targets)


def test_an_anchor_does_not_contradict_what_was_only_added(anchored: Anchored) -> None:
    assert anchored.contradicted() == []
    with psycopg.connect(anchored.url, autocommit=True) as connection:
        caller = ServiceCaller(Service(connection))
        accepted(caller, anchored.targets[0], change("c", "d"), expected_target_version=2)
    assert anchored.contradicted() == []
    # and says nothing of what came after it
    assert anchored.tamper(anchored.targets[0], f"{ALTERED} {LAST}") == "broken"
    assert anchored.contradicted() == []


def test_an_anchor_finds_a_chain_that_was_made_anew(anchored: Anchored) -> None:
    target = anchored.targets[1]
    assert anchored.tamper(target, ALTERED, REWRITTEN) == "intact"
    last = anchored.sequences(target)[-1]
    assert anchored.contradicted() == [[target, last, "the attempt is another one"]]


def test_an_anchor_finds_attempts_that_were_cut_off(anchored: Anchored) -> None:
    target = anchored.targets[1]
    last = anchored.sequences(target)[-1]
    # the ledger first: the last attempt is looked up in the log
    tables = ("manifest_ledger", "append_only_pdcp_logs")
    cut = [f"delete from patchdiff.{table} {OF_TARGET} {LAST}" for table in tables]
    assert anchored.tamper(target, *cut, REWRITTEN) == "intact"
    assert anchored.contradicted() == [[target, last, "the attempt is gone"]]


def test_an_anchor_finds_a_target_that_was_removed(anchored: Anchored) -> None:
    target = anchored.targets[2]
    last = anchored.sequences(target)[-1]
    tables = ("manifest_ledger", "append_only_pdcp_logs", "target_snapshots", "editing_cycles")
    removal = [f"delete from patchdiff.{table} {OF_TARGET}" for table in tables]
    removal.append(f"delete from patchdiff.cloud_target_files {OF_TARGET}")
    assert anchored.tamper(target, *removal) == "not_found"
    assert anchored.contradicted() == [[target, last, "the target is gone"]]


def test_an_anchor_finds_a_row_before_its_head(anchored: Anchored) -> None:
    target = anchored.targets[0]
    first, *_, last = anchored.sequences(target)
    assert anchored.tamper(target, f"{ALTERED} and log_sequence = {first}") == "broken"
    assert anchored.contradicted() == [[target, last, f"the chain breaks at {first}"]]
