"""What assembly makes of findings: spans, names, parents, methods, numbers and order."""

import pytest

from patchdiff.structure.assembly import assemble, document_symbol
from patchdiff.structure.symbols import Found
from tests.structure.support import path_of


def found(text: str, part: str, kind: str, name: str, **more: object) -> Found:
    start = text.index(part)
    return Found(kind, name, start, start + len(part), **more)  # type: ignore[arg-type]


def test_a_span_is_trimmed_and_its_lines_are_those_of_its_first_and_last_character() -> None:
    text = "a\n \t\x0b\x0c\nbody 🙂\nend\n\n"
    [symbol] = assemble("python", text, [Found("function", "f", 1, len(text))], False).symbols
    assert text[symbol.start : symbol.end] == "body 🙂\nend"
    assert (symbol.start_line, symbol.end_line) == (3, 4)


def test_other_blanks_are_part_of_a_span() -> None:
    text = "\u00a0x\u2003"
    [symbol] = assemble("python", text, [Found("function", "f", 0, 3)], False).symbols
    assert (symbol.start, symbol.end) == (0, 3)


def test_a_span_of_white_space_is_no_symbol() -> None:
    findings = [Found("section", "a", 0, 2), Found("section", "b", 2, 2)]
    assert assemble("ini", " \n\n", findings, False).symbols == ()


def test_a_byte_order_mark_counts_in_the_offsets_only() -> None:
    [symbol] = assemble("python", "\ufeffdef", [Found("function", "f", 0, 3)], False).symbols
    assert (symbol.start, symbol.end, symbol.start_line) == (1, 4, 1)


def test_white_space_in_names_is_collapsed_but_not_removed() -> None:
    names = ["a \n\t b", " lead", "no\u00a0break", "x" * 512, "x" * 513, ""]
    findings = [Found("rule", name, 0, 4) for name in names]
    symbols = assemble("css", "text", findings, False).symbols
    assert [symbol.name for symbol in symbols] == ["a b", " lead", "no\u00a0break", "x" * 512]


def test_what_lies_in_a_construct_without_a_usable_name_belongs_to_the_one_around_it() -> None:
    text = "outer(unnamed(inner))"
    findings = [
        Found("class", "outer", 0, len(text)),
        found(text, "unnamed(inner)", "class", "n" * 513),
        found(text, "inner", "function", "inner"),
    ]
    symbols = assemble("python", text, findings, False).symbols
    assert [(one.name, one.parent) for one in symbols] == [("outer", None), ("inner", "outer")]


def test_the_order_is_start_then_larger_then_as_found() -> None:
    text = "abcdef"
    findings = [
        Found("variable", "late", 3, 4),
        Found("variable", "same one", 0, 2),
        Found("variable", "same two", 0, 2),
        Found("class", "whole", 0, 6),
    ]
    symbols = assemble("python", text, findings, False).symbols
    assert [one.name for one in symbols] == ["whole", "same one", "same two", "late"]
    assert [one.parent for one in symbols] == [None, "whole", "whole", "whole"]


def test_what_is_in_two_of_the_same_span_belongs_to_the_first() -> None:
    findings = [
        Found("class", "a", 0, 6),
        Found("class", "b", 0, 6),
        Found("function", "f", 1, 3),
    ]
    symbols = assemble("python", "abcdef", findings, False).symbols
    assert [one.parent for one in symbols] == [None, None, "a"]


@pytest.mark.parametrize("kind", ["config_item", "table", "table_row", "code_block"])
def test_some_kinds_are_no_parents(kind: str) -> None:
    findings = [Found(kind, "outer", 0, 6), Found("object", "inner", 1, 3)]
    assert assemble("json", "abcdef", findings, False).symbols[1].parent is None


@pytest.mark.parametrize("kind", ["class", "interface", "struct", "trait", "impl", "enum", "union"])
def test_a_function_of_a_type_is_a_method(kind: str) -> None:
    findings = [
        Found(kind, "T", 0, 9),
        Found("function", "f", 1, 8),
        Found("function", "inner", 2, 4),
    ]
    symbols = assemble("rust", "abcdefghi", findings, False).symbols
    assert [one.kind for one in symbols] == [kind, "method", "function"]


def test_a_function_elsewhere_is_none_unless_it_is_qualified() -> None:
    findings = [
        Found("module", "m", 0, 9),
        Found("function", "f", 1, 3),
        Found("function", "g", 4, 6, qualifiers=("A", "B")),
    ]
    symbols = assemble("cpp", "abcdefghi", findings, False).symbols
    assert [(one.kind, one.parent) for one in symbols] == [
        ("module", None),
        ("function", "m"),
        ("method", "B"),
    ]
    assert [path_of(one) for one in symbols] == ["m", "m.f", "m.A.B.g"]


def test_a_label_stands_for_the_name_in_parents_and_paths() -> None:
    findings = [
        Found("impl", "impl Display for P<T>", 0, 9, label="P"),
        Found("function", "fmt", 1, 3),
    ]
    symbols = assemble("rust", "abcdefghi", findings, False).symbols
    assert [(one.name, one.parent) for one in symbols] == [
        ("impl Display for P<T>", None),
        ("fmt", "P"),
    ]
    assert path_of(symbols[1]) == "P.fmt"


def test_numbers_count_the_same_name_in_the_same_container() -> None:
    text = "0123456789"
    findings = [
        Found("import", "imports", 0, 1, numbered=True),
        Found("function", "f", 1, 5),
        Found("import", "imports", 2, 3, numbered=True),
        Found("import", "imports", 6, 7, numbered=True),
        Found("function", "imports", 7, 8),
        Found("import", "imports", 8, 9, numbered=True),
    ]
    symbols = assemble("python", text, findings, False).symbols
    assert [(one.name, one.parent) for one in symbols] == [
        ("imports", None),
        ("f", None),
        ("imports", "f"),
        ("imports[1]", None),
        ("imports", None),
        ("imports[2]", None),
    ]


@pytest.mark.parametrize(
    ("text", "last_line"), [("a", 1), ("a\n", 1), ("\n\n", 2), ("a\nb", 2), ("a\r\u2028b\n", 1)]
)
def test_the_document_is_the_whole_text(text: str, last_line: int) -> None:
    symbol = document_symbol(text)
    assert (symbol.name, symbol.kind, symbol.parent) == ("<document>", "document", None)
    assert (symbol.start, symbol.end) == (0, len(text))
    assert (symbol.start_line, symbol.end_line) == (1, last_line)


def test_ten_thousand_levels_and_siblings_take_little_time() -> None:
    text = "x" * 40_000
    nested = [Found("class", f"n{level}", level, 20_000 - level) for level in range(10_000)]
    spread = [Found("variable", f"v{place}", 20_000, 40_000) for place in range(10_000)]
    symbols = assemble("python", text, [*spread, *nested], False).symbols
    assert [one.parent for one in symbols[:3]] == [None, "n0", "n1"]
    assert {one.parent for one in symbols[10_000:]} == {None}
