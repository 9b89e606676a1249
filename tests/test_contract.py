"""The list of requirements and the tests' claims to them."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.contract import (
    ROOT,
    MalformedClaim,
    Requirement,
    all_claims,
    claims_in_python,
    claims_in_sql,
    report,
    requirements,
)


def identifiers_in_python(source: str) -> list[str]:
    claims = claims_in_python(dedent(source), "sample.py")
    return sorted(claim.identifier for claim in claims)


def test_every_claim_names_a_requirement_of_the_list() -> None:
    listed = {requirement.identifier for requirement in requirements()}
    unknown = [claim for claim in all_claims() if claim.identifier not in listed]
    assert unknown == []


def test_the_scan_sees_this_repository_s_claims() -> None:
    files = {claim.place.split(":")[0] for claim in all_claims()}
    assert any(name.startswith("tests/test_") for name in files)
    assert any(name.startswith("pgtap/test_") and name.endswith(".sql") for name in files)


def test_the_list_is_one_line_a_requirement(tmp_path: Path) -> None:
    path = tmp_path / "requirements.tsv"
    path.write_text("id\tissue\tarea\tstatement\nAA-001\t2\tan area\tIt is so.\n", encoding="utf-8")
    assert requirements(path) == [Requirement("AA-001", 2, "an area", "It is so.")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\tissue\tstatement\n", "first line"),
        ("id\tissue\tarea\tstatement\nAA-001\t2\tan area\n", ":2: not a requirement"),
        ("id\tissue\tarea\tstatement\nAA-001\ttwo\tan area\tIt is so.\n", ":2: not a requirement"),
        ("id\tissue\tarea\tstatement\nAA001\t2\tan area\tIt is so.\n", ":2: not a requirement"),
        (
            "id\tissue\tarea\tstatement\nAA-001\t2\tan area\tIt is so.\nAA-001\t3\tan area\tNo.\n",
            ":3: AA-001 comes twice",
        ),
    ],
)
def test_a_broken_list_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "requirements.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        requirements(path)


def test_marks_on_tests_claim() -> None:
    source = """
        @pytest.mark.req("AA-001", "AA-002")
        @pytest.mark.req("AA-003")
        @pytest.mark.parametrize("number", [1])
        def test_something(number): ...

        @pytest.mark.req("AA-004")
        async def test_something_else(): ...

        @pytest.mark.req("AA-005")
        class TestGroup:
            @pytest.mark.req("AA-006")
            def test_inside(self): ...
    """
    assert identifiers_in_python(source) == [f"AA-00{number}" for number in range(1, 7)]


@pytest.mark.parametrize(
    "value",
    [
        'pytest.mark.req("AA-001")',
        '[pytest.mark.slow, pytest.mark.req("AA-001")]',
        'mark.req("AA-001"),',
    ],
)
@pytest.mark.parametrize("indentation", ["", "class TestGroup:\n    ", "TestGroup."])
def test_pytestmark_claims(value: str, indentation: str) -> None:
    assert identifiers_in_python(f"{indentation}pytestmark = {value}\n") == ["AA-001"]


def test_marks_of_parameters_claim() -> None:
    source = """
        CASES = [
            pytest.param(1, marks=pytest.mark.req("AA-001"), id="one"),
            pytest.param(2, marks=[pytest.mark.req("AA-002"), pytest.mark.slow]),
            pytest.param(3),
        ]
    """
    assert identifiers_in_python(source) == ["AA-001", "AA-002"]


def test_text_and_other_marks_claim_nothing() -> None:
    source = '''
        """@pytest.mark.req("AA-001")"""
        # @pytest.mark.req("AA-002")
        TEXT = "pytest.mark.req('AA-003')"

        @pytest.mark.other("AA-004")
        @other.req("AA-005")
        def test_something(): ...
    '''
    assert identifiers_in_python(source) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('REQ = pytest.mark.req("AA-001")', "sample.py:1: this req mark stands on no test"),
        (
            '@pytest.mark.req("AA-001")\ndef helper(): ...',
            "sample.py:1: this req mark stands on no test",
        ),
        (
            '@pytest.mark.req("AA-001")\nclass Helper: ...',
            "sample.py:1: this req mark stands on no test",
        ),
        (
            "\n@pytest.mark.req()\ndef test_it(): ...",
            "sample.py:2: a req mark takes one or more ids",
        ),
        ('@pytest.mark.req(id="AA-001")\ndef test_it(): ...', "takes one or more ids"),
        ("@pytest.mark.req(ID)\ndef test_it(): ...", "ID is not a literal id"),
        ("@pytest.mark.req(*IDS)\ndef test_it(): ...", "not a literal id"),
        ("@pytest.mark.req(1)\ndef test_it(): ...", "1 is not a literal id"),
    ],
)
def test_a_mark_that_could_not_count_is_refused(source: str, message: str) -> None:
    with pytest.raises(MalformedClaim, match=message):
        claims_in_python(source, "sample.py")


def test_lines_of_sql_files_claim() -> None:
    source = dedent(
        """\
        -- req: AA-001
        begin;
            -- req: AA-002, AA-003
        --req:AA-004,BBB2-105
        select 'req: AA-006'; -- about requirements: AA-007
        -- requirement AA-008 is told of, not claimed
        """
    )
    claims = claims_in_sql(source, "pgtap/test_sample.sql")
    assert [
        (claim.identifier, claim.place.removeprefix("pgtap/test_sample.sql:")) for claim in claims
    ] == [
        ("AA-001", "1"),
        ("AA-002", "3"),
        ("AA-003", "3"),
        ("AA-004", "4"),
        ("BBB2-105", "4"),
    ]


@pytest.mark.parametrize(
    "line",
    ["-- req AA-001", "-- req: AA-1", "-- req: AA-001 AA-002", "-- req: AA-001,", "-- REQ: aa-001"],
)
def test_an_unreadable_line_of_sql_is_refused(line: str) -> None:
    with pytest.raises(MalformedClaim, match=r"sample\.sql:2: not of the form"):
        claims_in_sql(f"begin;\n{line}\n", "sample.sql")


LISTED = [
    Requirement("AA-001", 1, "an area", "The first."),
    Requirement("AA-002", 1, "an area", "The second."),
    Requirement("BB-001", 2, "an area", "The third."),
]


def test_the_report_lists_what_nobody_claims() -> None:
    claims = claims_in_sql("-- req: AA-002\n-- req: AA-002", "sample.sql")
    assert report(LISTED, claims).splitlines() == [
        "issue 1: 1 of 2 claimed",
        "  AA-001  The first.",
        "issue 2: 0 of 1 claimed",
        "  BB-001  The third.",
    ]


def test_the_report_can_be_limited_to_an_issue() -> None:
    assert report(LISTED, [], 2) == "issue 2: 0 of 1 claimed\n  BB-001  The third."
    assert report(LISTED, [], 7) == "no requirement belongs to issue 7"


@pytest.mark.parametrize(
    ("arguments", "status", "beginning"),
    [(["1"], 0, "issue 1: "), ([], 0, "issue 1: "), (["one"], 2, "")],
)
def test_the_report_is_a_command(arguments: list[str], status: int, beginning: str) -> None:
    command = [sys.executable, "-m", "tests.support.contract", *arguments]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert finished.returncode == status
    assert finished.stdout.startswith(beginning)
    assert ("issue 2: " in finished.stdout) == (arguments == [])
