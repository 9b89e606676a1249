"""What the README and docs/ say holds: names, tables, links, configurations, the psql tour."""

import hashlib
import json
import re
import subprocess
import tomllib
from pathlib import Path

import psycopg
import pytest

from patchdiff.catalog import TOOLS
from patchdiff.cli import main
from patchdiff.schema import migrate
from patchdiff.settings import Settings
from tests.support.postgres import server_binaries

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CHANGELOG.md", ROOT / "bench" / "README.md", *(ROOT / "docs").glob("*.md")]


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def section(page: Path, title: str) -> str:
    """The text below a heading of the second level, up to the next one."""
    _, _, rest = text_of(page).partition(f"\n## {title}\n")
    assert rest, f"{page.name} has no section {title}"
    return re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def block(page: Path, title: str, language: str) -> str:
    """The first code block of a language in a section."""
    match = re.search(
        rf"^```{language}\n(.*?)^```$", section(page, title), re.MULTILINE | re.DOTALL
    )
    assert match, f"{page.name}, {title}: no block of {language}"
    return match[1]


def first_column(page: Path, title: str) -> list[str]:
    """The names in backticks in the first column of a section's table."""
    cells = re.findall(r"^\| ([^|]*) \|", section(page, title), re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def source_texts(directory: str, suffix: str) -> str:
    return "\n".join(text_of(path) for path in sorted((ROOT / directory).rglob(f"*{suffix}")))


def test_the_readme_lists_the_tools_in_the_contract_s_order() -> None:
    assert first_column(README, "Tools") == list(TOOLS)


def test_the_readme_lists_the_commands() -> None:
    listed = first_column(README, "Commands")
    assert sorted(listed) == sorted(f"patchdiff {name}" for name in main.commands)


def test_the_readme_lists_the_settings() -> None:
    names = [str(field.validation_alias) for field in Settings.model_fields.values()]
    assert first_column(README, "Environment") == names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", text_of(page))
    local = [target for target in targets if not target.startswith("https://")]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_the_index_names_every_page() -> None:
    index = text_of(ROOT / "docs" / "README.md")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert pages <= set(re.findall(r"\]\(([\w-]+\.md)\)", index))


def test_every_make_target_that_is_named_exists_and_is_explained() -> None:
    makefile = text_of(ROOT / "Makefile")
    phony = set(re.findall(r"^\.PHONY: ([\w-]+)$", makefile, re.MULTILINE))
    explained = set(re.findall(r"^([\w-]+):.* ## \S", makefile, re.MULTILINE))
    assert phony == explained
    named = {name for page in PAGES for name in re.findall(r"\bmake ([a-z][\w-]*)", text_of(page))}
    assert {"demo", "test", "contract"} <= named
    assert named <= explained | {"it"}


def test_make_help_lists_the_targets() -> None:
    command = ["make", "--no-print-directory", "help"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    names = [line.split()[1] for line in listed.stdout.splitlines()]
    expected = [
        "setup",
        "demo",
        "test",
        "test-matrix",
        "lint",
        "bench",
        "soak",
        "clean",
        "contract",
    ]
    assert set(expected) <= set(names)


def test_the_host_configurations_start_patchdiff_mcp() -> None:
    host = "In your host"
    assert block(README, host, "sh").split(" -- ")[1].split() == ["patchdiff", "mcp"]
    codex = tomllib.loads(block(README, host, "toml"))["mcp_servers"]["patchdiff"]
    cursor = json.loads(block(README, host, "json"))["mcpServers"]["patchdiff"]
    assert codex == cursor == {"command": "patchdiff", "args": ["mcp"]}


def test_the_psql_tour_works_when_pasted(fresh_database_url: str) -> None:
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        migrate(connection)
    # the packages of the older servers come without psql
    psql = server_binaries("18") / "psql"
    command = [psql, "-X", "-v", "ON_ERROR_STOP=1", "-d", fresh_database_url, "-f", "-"]
    tour = subprocess.run(
        command,
        input=block(README, "From psql", "sql"),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (tour.returncode, tour.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in tour.stdout.splitlines()]
    assert lines[lines.index("beta +") + 1] == "gamma+"
    assert "filename | tour.txt" in lines
    assert "version | 0" in lines
    digest = hashlib.sha256(b"alpha\nbeta\ngamma\n").hexdigest()
    assert f"current_hash | {digest}" in lines
    assert "crlf" in lines
    assert tour.stdout.count('"entries": [') == 2
    assert tour.stdout.count('"has_more": false') == 2
    assert re.search(r"^ [0-9a-f-]{36} \| tour\.txt \| +0 \| ", tour.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("history.md", ["accepted", "saved", '"status": "success"', "beta"]),
        ("audit.md", ["dba", "alpha", "Alpha", "intact", "(0 rows)"]),
    ],
)
def test_the_sql_of_a_page_works_when_pasted(
    fresh_database_url: str, tmp_path: Path, page: str, expected: list[str]
) -> None:
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        migrate(connection)
    statements = "\n".join(
        re.findall(r"```sql\n(.*?)```", text_of(ROOT / "docs" / page), re.DOTALL)
    )
    psql = server_binaries("18") / "psql"
    command = [psql, "-X", "-v", "ON_ERROR_STOP=1", "-d", fresh_database_url, "-f", "-"]
    told = subprocess.run(
        command,
        input=statements,
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=tmp_path,
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert [part for part in expected if part not in told.stdout] == []


def test_the_audit_page_lists_the_views_and_the_reports() -> None:
    page = ROOT / "docs" / "audit.md"
    views = {f"patchdiff.{path.stem}" for path in (ROOT / "db" / "views").glob("*.sql")}
    reports = {path.name for path in (ROOT / "db" / "audit").glob("[!_]*.sql")}
    assert set(first_column(page, "Views")) == views
    assert set(first_column(page, "Reports")) == reports


def test_the_dba_s_statements_are_enough_for_a_user_without_createrole(
    fresh_database_url: str,
) -> None:
    statements = block(README, "A database of your own", "sql")
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        for role in ("editor", "reader", "owner"):
            assert f"create role patchdiff_{role} nologin;" in statements
        # the roles are the whole cluster's and exist already where another test has migrated
        name = connection.info.dbname
        deploy = f"deploy_{name}"
        connection.execute(f"create role {deploy} login")
        for statement in statements.split(";"):
            adapted = statement.replace("database documents", f"database {name}")
            adapted = adapted.replace("to deploy", f"to {deploy}").strip()
            if adapted.startswith("create role "):
                adapted = (
                    f"do $$ begin {adapted}; exception when duplicate_object then null; end $$"
                )
            if adapted:
                connection.execute(adapted)
    try:
        url = psycopg.conninfo.make_conninfo(fresh_database_url, user=deploy)
        with psycopg.connect(url, autocommit=True) as connection:
            assert migrate(connection).changed
    finally:
        with psycopg.connect(fresh_database_url, autocommit=True) as connection:
            connection.execute(f"drop owned by {deploy}")
            connection.execute(f"drop role {deploy}")


def test_the_error_page_lists_the_sqlstates() -> None:
    raised = set(re.findall(r"'(PD\d{3})'", source_texts("db", ".sql")))
    page = ROOT / "docs" / "errors.md"
    assert set(first_column(page, "SQLSTATEs of this project")) == raised


def test_the_error_page_lists_the_codes() -> None:
    python, sql = source_texts("adapter", ".py"), source_texts("db", ".sql")
    page = ROOT / "docs" / "errors.md"
    listed = first_column(page, "Codes") + first_column(page, "Warnings")
    produced = set(re.findall(r'"code": "(\w+)"', python))
    produced |= set(re.findall(r"_refusal\(\s*'\w+',\s*'(\w+)'", sql))
    produced |= set(re.findall(r"_request_failure\(\s*'\w+',\s*'(\w+)'", sql))
    assert produced - set(listed) == set()
    assert [name for name in listed if not re.search(rf"['\"]{name}['\"]", python + sql)] == []


def test_the_error_page_s_reasons_and_statuses_are_produced() -> None:
    texts = source_texts("adapter", ".py") + source_texts("db", ".sql")
    page = ROOT / "docs" / "errors.md"
    listed = first_column(page, "Status of an answer")
    listed += first_column(page, "Failure reasons of a rejection")
    assert len(listed) > 15
    assert [
        name
        for name in listed
        if not name.startswith("diagnostic.") and not re.search(rf"['\"]{name}['\"]", texts)
    ] == []


def test_the_python_of_the_readme_runs(database_url: str) -> None:
    [program] = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    names: dict[str, object] = {"url": database_url}
    exec(program, names)
    answer = names["answer"]
    assert isinstance(answer, dict)
    assert (answer["status"], answer["version"]) == ("accepted", 1)
