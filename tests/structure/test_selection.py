"""Candidates and selection: which symbols a query, a name and a kind mean."""

import pytest

from patchdiff.structure.extract import extract
from patchdiff.structure.selection import candidates, select
from patchdiff.structure.symbols import Structure
from tests.structure.support import path_of

PYTHON = """
version = 1

@decorate
class A:
    version = 2

    @property
    def width(self): return 1

    @width.setter
    def width(self, value): pass

    class Inner:
        def m(self):
            def helper(): pass

class Other:
    def m(self): pass

def f(): pass

class Nested:
    def f(self): pass

def same():
    def same(): pass
"""

JSON = '{"a.b": {"c": 1, " name ": 2, "name": 3, "STRASSE": 4, "a%_b": 5}, "b": {"c": 6}}'


def selected(
    name: str, kind: str | None = None, text: str = PYTHON, language: str = "python"
) -> list[str]:
    return [path_of(symbol) for symbol in select(extract(language, text), text, name, kind)]


def listed(
    query: str | None, kind: str | None, text: str = PYTHON, language: str = "python"
) -> list[str]:
    return [symbol.name for symbol in candidates(extract(language, text), text, query, kind)]


@pytest.mark.req("SCOPE-011", "SCOPE-057")
@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("helper", ["A.Inner.m.helper"]),
        ("m.helper", ["A.Inner.m.helper"]),
        ("Inner.m.helper", ["A.Inner.m.helper"]),
        ("A.Inner.m.helper", ["A.Inner.m.helper"]),
        (".A.Inner.m.helper", ["A.Inner.m.helper"]),
        (".Inner.m.helper", []),
        ("nner.m.helper", []),
        ("A.m.helper", []),
        ("X.A.Inner.m.helper", []),
        ("..A", []),
        (".", []),
        ("A.", []),
        ("m", ["A.Inner.m", "Other.m"]),
        ("Other.m", ["Other.m"]),
        ("Inner.m", ["A.Inner.m"]),
        ("f", ["f", "Nested.f"]),
        (".f", ["f"]),
        ("Nested.f", ["Nested.f"]),
        ("version", ["version", "A.version"]),
        (".version", ["version"]),
        ("Version", []),
    ],
)
def test_a_name_means_every_path_that_ends_in_it(name: str, paths: list[str]) -> None:
    assert selected(name) == paths


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("a.b", ["a.b"]),
        (".a.b", ["a.b"]),
        ("b", ["b"]),
        ("c", ["a.b.c", "b.c"]),
        ("b.c", ["b.c"]),
        ("a.b.c", ["a.b.c"]),
        (".b.c", ["b.c"]),
    ],
)
def test_names_may_contain_dots(name: str, paths: list[str]) -> None:
    assert selected(name, None, JSON, "json") == paths


@pytest.mark.req("SCOPE-025")
def test_scopes_of_one_name_are_all_meant_and_none_is_preferred() -> None:
    assert selected("same") == ["same", "same.same"]
    assert selected("A.width") == ["A.width", "A.width"]


@pytest.mark.req("SCOPE-056")
def test_a_kind_has_to_be_equal() -> None:
    assert selected("helper", "function") == ["A.Inner.m.helper"]
    assert selected("helper", "method") == []
    assert selected("m", "method") == ["A.Inner.m", "Other.m"]
    assert selected("f", "function") == ["f"]
    assert selected("f", "Function") == []


@pytest.mark.req("SCOPE-010")
def test_candidates_have_the_kind() -> None:
    assert listed(None, "class") == ["A", "Inner", "Other", "Nested"]
    assert listed(None, "method") == ["width", "width", "m", "m", "f"]
    assert listed(None, "variable") == ["version", "version"]
    assert listed(None, "variabl") == []
    assert listed("e", "class") == ["Inner", "Other", "Nested"]


@pytest.mark.req("SCOPE-005", "SCOPE-008")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("NAME", [" name ", "name"]),
        (" name", [" name "]),
        (" name  ", []),
        ("straße", ["STRASSE"]),
        ("%", ["a%_b"]),
        ("a._b", []),
        (".", ["a.b"]),
        (".*", []),
    ],
)
def test_a_query_is_a_literal_part_of_the_name_in_any_case(query: str, names: list[str]) -> None:
    assert listed(query, None, JSON, "json") == names


@pytest.mark.req("SCOPE-008")
def test_names_are_not_trimmed() -> None:
    assert selected(" name ", None, JSON, "json") == ["a.b. name "]
    assert selected("name", None, JSON, "json") == ["a.b.name"]
    assert selected("helper ") == selected(" helper") == []
    assert selected("helper", " function") == []


@pytest.mark.req("SCOPE-004")
@pytest.mark.parametrize("name", ["What's `new` in 2.0?", "**Why** (not)?", "a: b, c."])
def test_a_heading_keeps_its_punctuation(name: str) -> None:
    text = f"# Top\n\n## {name}\n\nText.\n\n## Last\n"
    assert name in listed(None, "section", text, "markdown")
    [symbol] = select(extract("markdown", text), text, name, None)
    assert text[symbol.start : symbol.end] == f"## {name}\n\nText."


@pytest.mark.req("SCOPE-052")
def test_decorators_and_export_are_inside() -> None:
    [symbol] = select(extract("python", PYTHON), PYTHON, "A", None)
    assert PYTHON[symbol.start : symbol.end].startswith("@decorate\nclass A:")
    text = "import a from 'a';\n@decorate\nexport default class B {}\nexport const c = 1;\n"
    structure = extract("typescript", text)
    [decorated] = select(structure, text, "B", None)
    assert text[decorated.start : decorated.end] == "@decorate\nexport default class B {}"
    [exported] = select(structure, text, "c", None)
    assert text[exported.start : exported.end] == "export const c = 1;"


@pytest.mark.req("SCOPE-053")
def test_an_intact_symbol_beside_a_syntax_error_is_found() -> None:
    text = "def whole(): return 1\n\nx = = 2\n\ndef half(): return (2 +)\n\ndef last(): return 3\n"
    structure = extract("python", text)
    assert structure.has_errors
    for name in ("whole", "last"):
        [symbol] = select(structure, text, name, None)
        assert not symbol.has_error
        assert text[symbol.start : symbol.end].startswith(f"def {name}(): return")
    [damaged] = select(structure, text, "half", None)
    assert damaged.has_error


def test_a_name_inside_an_error_is_no_symbol() -> None:
    text = "function whole() {}\nfor (;;; { lost() {} }\n"
    structure = extract("javascript", text)
    assert structure.has_errors
    assert [symbol.name for symbol in structure.symbols] == ["whole"]


@pytest.mark.req("SCOPE-053")
def test_a_file_that_is_an_error_as_a_whole_keeps_its_declarations() -> None:
    lines = [
        "#ifdef __cplusplus",
        'extern "C" {',
        "void whole(void) { }",
        "#ifdef __cplusplus",
        'extern "C" {',
        "int cut(void) { return 0",
    ]
    text = "\n".join(lines)
    structure = extract("c", text)
    assert structure.has_errors
    assert [(symbol.name, symbol.has_error) for symbol in structure.symbols] == [("whole", False)]


@pytest.mark.req("SCOPE-054")
def test_a_text_without_symbols_has_the_document_only() -> None:
    text = "just words\n"
    structure = extract("text", text)
    assert (structure.language, structure.symbols) == ("text", ())
    [symbol] = candidates(structure, text, None, None)
    assert (symbol.name, symbol.kind) == ("<document>", "document")
    assert candidates(structure, text, "words", None) == []
    assert candidates(structure, text, None, "function") == []


@pytest.mark.req("SCOPE-055")
@pytest.mark.parametrize(
    ("language", "text"), [("python", PYTHON), ("text", " a \n"), ("json", JSON)]
)
def test_the_document_can_always_be_selected(language: str, text: str) -> None:
    for structure in (extract(language, text), Structure(language, False, ())):
        for kind in ("document", None):
            [symbol] = select(structure, text, "<document>", kind)
            assert (symbol.start, symbol.end) == (0, len(text))
        [symbol] = candidates(structure, text, None, "document")
        assert (symbol.start, symbol.end) == (0, len(text))


def test_the_document_is_not_listed_beside_other_symbols() -> None:
    assert "<document>" not in listed(None, None)
    assert listed("document", None) == []


def test_an_empty_text_has_no_document() -> None:
    structure = extract("text", "")
    assert candidates(structure, "", None, "document") == []
    assert select(structure, "", "<document>", "document") == []
