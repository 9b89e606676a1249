"""Which requirements of tests/requirements.tsv the tests claim, read from their source texts.

A claim is ``@pytest.mark.req("ID", …)`` on a test function or class, that mark in ``pytestmark``
or in the ``marks`` of ``pytest.param``, or a line ``-- req: ID, …`` of a pgTAP file. Nothing is
imported and no database is asked: ``make contract [ISSUE=number]`` works at any time.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "tests" / "requirements.tsv"

_IDENTIFIER = re.compile(r"[A-Z][A-Z0-9]*-[0-9]{3}")
_SQL_CLAIM = re.compile(r"\s*--\s*req\b(?P<rest>.*)", re.IGNORECASE)
_SQL_IDENTIFIERS = re.compile(rf":\s*{_IDENTIFIER.pattern}(\s*,\s*{_IDENTIFIER.pattern})*\s*")


@dataclass(frozen=True)
class Requirement:
    """One line of the list: its id, the issue that delivers it, its area and its statement."""

    identifier: str
    issue: int
    area: str
    statement: str


@dataclass(frozen=True)
class Claim:
    """One claimed id and the place that claims it, ``path:line``."""

    identifier: str
    place: str


class MalformedClaim(ValueError):
    """A claim that cannot be read, or stands where pytest would never see it."""


def requirements(path: Path = REQUIREMENTS) -> list[Requirement]:
    """The requirements in the list's order.

    Raises ValueError for a line that is not id, issue, area and statement, or an id that comes
    twice.
    """
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    if header.split("\t") != ["id", "issue", "area", "statement"]:
        raise ValueError(f"{path.name}: the first line does not name id, issue, area and statement")
    listed: dict[str, Requirement] = {}
    for number, line in enumerate(lines, start=2):
        fields = line.split("\t")
        if len(fields) != 4 or not _IDENTIFIER.fullmatch(fields[0]) or not fields[1].isdecimal():
            raise ValueError(f"{path.name}:{number}: not a requirement: {line!r}")
        if fields[0] in listed:
            raise ValueError(f"{path.name}:{number}: {fields[0]} comes twice")
        listed[fields[0]] = Requirement(fields[0], int(fields[1]), fields[2], fields[3])
    return list(listed.values())


def _is_req_mark(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "req"
        and isinstance(node.func.value, ast.Attribute | ast.Name)
        and ast.unparse(node.func.value) in {"pytest.mark", "mark"}
    )


def _is_test(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name.startswith("test")
    return isinstance(node, ast.ClassDef) and node.name.startswith("Test")


def _marks_of(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions by which this node hangs marks on tests, lists of marks taken apart."""
    expressions: list[ast.expr] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and _is_test(node):
        expressions += node.decorator_list
    elif isinstance(node, ast.Assign):
        if any(ast.unparse(target).split(".")[-1] == "pytestmark" for target in node.targets):
            expressions.append(node.value)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"pytest.param", "param"}:
        expressions += [keyword.value for keyword in node.keywords if keyword.arg == "marks"]
    for expression in expressions:
        if isinstance(expression, ast.List | ast.Tuple):
            yield from expression.elts
        else:
            yield expression


def claims_in_python(source: str, path: str) -> list[Claim]:
    """The claims of one Python test file.

    Raises MalformedClaim when a ``req`` mark has no ids, an argument that is not a literal id, or
    stands where it marks no test.
    """
    tree = ast.parse(source, filename=path)
    effective = [mark for node in ast.walk(tree) for mark in _marks_of(node) if _is_req_mark(mark)]
    for node in ast.walk(tree):
        if _is_req_mark(node) and node not in effective:
            line = getattr(node, "lineno", 0)
            raise MalformedClaim(f"{path}:{line}: this req mark stands on no test")
    claims = []
    for mark in effective:
        assert isinstance(mark, ast.Call)
        place = f"{path}:{mark.lineno}"
        if not mark.args or mark.keywords:
            raise MalformedClaim(f"{place}: a req mark takes one or more ids")
        for argument in mark.args:
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                raise MalformedClaim(f"{place}: {ast.unparse(argument)} is not a literal id")
            claims.append(Claim(argument.value, place))
    return claims


def claims_in_sql(source: str, path: str) -> list[Claim]:
    """The claims of one pgTAP file.

    Raises MalformedClaim for a line that begins as ``-- req`` and does not go on as ``: ID, …``.
    """
    claims = []
    for number, line in enumerate(source.splitlines(), start=1):
        claim = _SQL_CLAIM.fullmatch(line)
        if claim is None:
            continue
        if not _SQL_IDENTIFIERS.fullmatch(claim["rest"]):
            raise MalformedClaim(f"{path}:{number}: not of the form -- req: ID, ID: {line.strip()}")
        found = _IDENTIFIER.findall(claim["rest"])
        claims += [Claim(identifier, f"{path}:{number}") for identifier in found]
    return claims


def all_claims(root: Path = ROOT) -> list[Claim]:
    """Every claim of the tests below root; raises as the two scans do."""
    claims = []
    for directory, suffix, scan in (
        ("tests", "*.py", claims_in_python),
        ("pgtap", "*.py", claims_in_python),
        ("pgtap", "*.sql", claims_in_sql),
    ):
        for path in sorted((root / directory).rglob(suffix)):
            if "fixtures" in path.parts:
                continue  # texts for the tests, in whatever syntax
            source = path.read_text(encoding="utf-8")
            claims += scan(source, path.relative_to(root).as_posix())
    return claims


def report(listed: Iterable[Requirement], claims: Iterable[Claim], issue: int | None = None) -> str:
    """The requirements nobody claims, by issue, and for each issue how many are claimed."""
    claimed = {claim.identifier for claim in claims}
    by_issue: dict[int, list[Requirement]] = {}
    for requirement in listed:
        if issue is None or requirement.issue == issue:
            by_issue.setdefault(requirement.issue, []).append(requirement)
    lines = []
    for number, group in sorted(by_issue.items()):
        open_ones = [each for each in group if each.identifier not in claimed]
        lines.append(f"issue {number}: {len(group) - len(open_ones)} of {len(group)} claimed")
        lines += [f"  {each.identifier}  {each.statement}" for each in open_ones]
    if not lines:
        lines.append(f"no requirement belongs to issue {issue}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Prints the report, of one issue when its number is given."""
    if len(arguments) > 1 or not all(argument.isdecimal() for argument in arguments):
        print("give one issue number, or nothing", file=sys.stderr)
        return 2
    print(report(requirements(), all_claims(), int(arguments[0]) if arguments else None))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
