"""Python's own parser as the oracle: its standard library, definition by definition."""

import ast
import sysconfig
import unicodedata
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from patchdiff.structure.extract import extract
from patchdiff.structure.symbols import Structure

FILES = 320
"""Files that are looked at, spread evenly over the library."""

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def library() -> list[Path]:
    root = Path(sysconfig.get_path("stdlib"))
    paths = sorted(path for path in root.rglob("*.py") if "site-packages" not in path.parts)
    return [path for path in paths if 0 < path.stat().st_size < 200_000]


def definitions(tree: ast.Module) -> Iterator[tuple[str, str, str | None, int, int]]:
    """Kind, name, parent, first and last line of every definition, in the order of the source."""
    waiting: list[tuple[ast.AST, Definition | None]] = [(tree, None)]
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, Definition):
            in_class = isinstance(around, ast.ClassDef)
            kind = (
                "class" if isinstance(node, ast.ClassDef) else "method" if in_class else "function"
            )
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            assert node.end_lineno is not None
            yield kind, node.name, around.name if around else None, first, node.end_lineno
            around = node
        waiting.extend((child, around) for child in reversed(list(ast.iter_child_nodes(node))))


def found(structure: Structure) -> Iterator[tuple[str, str, str | None, int, int]]:
    for one in structure.symbols:
        if one.kind in {"class", "function", "method"}:
            name = unicodedata.normalize("NFKC", one.name)
            parent = one.parent and unicodedata.normalize("NFKC", one.parent)
            yield one.kind, name, parent, one.start_line, one.end_line


def test_the_standard_library_has_the_definitions_that_python_sees() -> None:
    paths = library()
    compared = damaged = total = 0
    for path in paths[:: max(1, len(paths) // FILES)]:
        try:
            text = path.read_text(encoding="utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue  # made for the library's own tests
        structure = extract("python", text)
        if structure.has_errors:
            damaged += 1
            continue
        compared += 1
        expected = sorted(definitions(tree), key=lambda one: one[3])
        actual = sorted(found(structure), key=lambda one: one[3])
        assert [one[:4] for one in actual] == [one[:4] for one in expected], path
        lines = text.split("\n")
        for (*_, ours), (*_, pythons) in zip(actual, expected, strict=True):
            rest = lines[pythons:ours]
            assert ours >= pythons, path
            assert all(not line.strip() or line.lstrip().startswith("#") for line in rest), path
        total += len(expected)
    if compared < 300:
        pytest.fail(f"only {compared} files were compared")
    assert total > 5_000
    assert damaged <= compared // 100
