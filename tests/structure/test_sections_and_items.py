"""Sections, objects and items, compared with what other readers make of the same texts."""

import configparser
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from patchdiff.structure.extract import extract
from patchdiff.structure.selection import select
from patchdiff.structure.symbols import Structure, Symbol
from tests.structure.support import SOURCES, text_of

ROOT = Path(__file__).parents[2]
INDEX = re.compile(r"\[(\d+)\]")


def texts_by_name(text: str, structure: Structure) -> dict[str, str]:
    return {one.name: text[one.start : one.end] for one in structure.symbols}


# JSON ---------------------------------------------------------------------------------------------

keys = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
scalars = st.none() | st.booleans() | st.integers() | keys
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=25,
)


def expected_json(value: Any, key: str) -> list[tuple[str, str, Any]]:
    """The kind, name and value of all that a value contains, in the order of the text."""
    expected: list[tuple[str, str, Any]] = []
    if isinstance(value, dict):
        for name, item in value.items():
            written = re.sub("[ \t\n\f\v\r]+", " ", json.dumps(name, ensure_ascii=False)[1:-1])
            kind = "object" if isinstance(item, dict) else "config_item"
            expected += [(kind, written, {name: item}), *expected_json(item, written)]
    elif isinstance(value, list):
        for index, item in enumerate(value):
            written = f"{key}[{index}]"
            if isinstance(item, dict | list):
                kind = "object" if isinstance(item, dict) else "config_item"
                expected.append((kind, written, item))
            expected += expected_json(item, written)
    return expected


@given(values, st.sampled_from([None, 0, 2, "\t"]))
def test_json_is_cut_as_a_json_parser_reads_it(value: Any, indent: int | str | None) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    structure = extract("json", text)
    assert not structure.has_errors
    expected = expected_json(value, "")
    assert [(one.kind, one.name) for one in structure.symbols] == [one[:2] for one in expected]
    for symbol, (_, name, content) in zip(structure.symbols, expected, strict=True):
        part = text[symbol.start : symbol.end]
        is_element = part[0] != '"'
        assert json.loads(part if is_element else f"{{{part}}}") == content, name


@pytest.mark.req("SCOPE-053")
def test_what_is_intact_is_found_beside_an_error() -> None:
    text = '{"a": {"b": 1}, "c": [1, {"d": 2},], "e": tru, "f": 3}'
    structure = extract("json", text)
    assert structure.has_errors
    found = {one.name: (text[one.start : one.end], one.has_error) for one in structure.symbols}
    assert found["b"] == ('"b": 1', False)
    assert found["c"] == ('"c": [1, {"d": 2},]', True)
    assert found["d"] == ('"d": 2', False)
    assert found["f"] == ('"f": 3', False)


# TOML ---------------------------------------------------------------------------------------------


def toml_value(document: Any, symbol: Symbol) -> Any:
    """The value in the parsed document that the path of a symbol leads to."""
    path: list[str] = []
    one: Symbol | None = symbol
    while one is not None:
        path = [*one.qualifiers, one.name, *path]
        one = one.container
    for part in path:
        name = part[: part.index("[")] if INDEX.search(part) else part
        document = document[name]
        for index in INDEX.findall(part):
            document = document[int(index)]
    return document


@pytest.mark.parametrize("name", ["pyproject.toml", "tests/structure/fixtures/toml/project.toml"])
def test_toml_items_have_the_values_of_a_toml_parser(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    document = tomllib.loads(text)
    structure = extract("toml", text)
    assert not structure.has_errors
    for symbol in structure.symbols:
        part = text[symbol.start : symbol.end]
        value = toml_value(document, symbol)
        if part[0] == "[" and symbol.kind == "object":
            assert isinstance(value, dict)
            pairs = part[part.index("\n") + 1 :] if "\n" in part else ""
            parsed = tomllib.loads(pairs)
            assert {key: value[key] for key in parsed} == parsed
        elif "[" in symbol.name:
            assert tomllib.loads(f"x = {part}")["x"] == value
        else:
            parsed = tomllib.loads(part)
            for key in (*symbol.qualifiers, symbol.name):
                parsed = parsed[key]
            assert parsed == value


def test_toml_is_found_beside_an_error() -> None:
    text = "a = 1\nb = \n[c]\nd = 2\n e f = 3\ng = 4\n"
    structure = extract("toml", text)
    assert structure.has_errors
    found = texts_by_name(text, structure)
    assert {"a": "a = 1", "d": "d = 2", "g": "g = 4"}.items() <= found.items()
    assert "b" not in found
    assert "e" not in found


# YAML ---------------------------------------------------------------------------------------------

yaml_keys = st.text("abc é🙂:#-_.'\"", min_size=1, max_size=6)
yaml_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("abé🙂:#- \n'\"", max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(yaml_keys, inner, max_size=4),
    max_leaves=20,
)


def reads_as(text: str, symbol: Symbol) -> Any:
    """What a YAML parser reads in a symbol's text, put back into its column."""
    column = symbol.start - (text.rfind("\n", 0, symbol.start) + 1)
    return yaml.safe_load(" " * column + text[symbol.start : symbol.end])


def expected_yaml(value: Any, key: str) -> list[tuple[str, Any]]:
    """The kind and value of everything that a value contains, pairs as mappings of one."""
    expected: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        for name, item in value.items():
            kind = "object" if isinstance(item, dict) else "config_item"
            expected += [(kind, {name: item}), *expected_yaml(item, name)]
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict | list):
                kind = "object" if isinstance(item, dict) else "config_item"
                expected.append((kind, item))
            expected += expected_yaml(item, key)
    return expected


@given(yaml_values, st.sampled_from([None, True, False]), st.integers(2, 5))
def test_yaml_is_cut_as_a_yaml_parser_reads_it(value: Any, flow: bool | None, indent: int) -> None:
    text = yaml.safe_dump(
        value, default_flow_style=flow, indent=indent, allow_unicode=True, sort_keys=False
    )
    structure = extract("yaml", text)
    assert not structure.has_errors
    expected = expected_yaml(value, "")
    assert [one.kind for one in structure.symbols] == [kind for kind, _ in expected]
    for symbol, (_, content) in zip(structure.symbols, expected, strict=True):
        assert reads_as(text, symbol) == content


def test_yaml_with_an_error_has_no_symbols() -> None:
    structure = extract("yaml", "a: 1\nb: [\nc: 2\n")
    assert (structure.symbols, structure.has_errors) == ((), True)


def test_yaml_tags_construct_nothing() -> None:
    text = "a: !!python/object/apply:os.system ['exit 1']\nb: *nowhere\n"
    found = texts_by_name(text, extract("yaml", text))
    assert found == {
        "a": "a: !!python/object/apply:os.system ['exit 1']",
        "b": "b: *nowhere",
    }


def test_a_yaml_pair_in_a_list_ends_with_its_value() -> None:
    text = "a: [x: 1 # why\n, {y: 2 }, z: [3 ] ]\n"
    assert [text[one.start : one.end] for one in extract("yaml", text).symbols] == [
        "a: [x: 1 # why\n, {y: 2 }, z: [3 ] ]",
        "x: 1", "x: 1", "{y: 2 }", "y: 2", "z: [3 ]", "z: [3 ]",
    ]  # fmt: skip


# INI ----------------------------------------------------------------------------------------------

ini_lines = st.lists(
    st.sampled_from(
        [
            "[s{0}]", "[t {0}] # why", "k{0} = v", "k{0}=v = w", "k{0}: 1;2", "k{0} =",
            "  k{0} = v", "    more {0} = x", "\tmore: {0}", "", "   ", "# [c{0}]", "; k = {0}",
            "      # c", "[u.{0}]",
        ]
    ),
    max_size=25,
)  # fmt: skip


@given(ini_lines)
def test_ini_is_read_as_by_configparser(lines: list[str]) -> None:
    numbered = [line.format(number) for number, line in enumerate(lines)]
    text = "\n".join(["[first]", *numbered])
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    structure = extract("ini", text)
    assert not structure.has_errors
    sections = [one.name for one in structure.symbols if one.kind == "section"]
    assert sections == parser.sections()
    found = {(one.parent, one.name): one for one in structure.symbols if one.kind == "config_item"}
    assert list(found) == [
        (section, option) for section in sections for option in parser.options(section)
    ]
    for (section, option), symbol in found.items():
        assert section is not None
        key, *more = text[symbol.start : symbol.end].split("\n")
        value = [line.strip() for line in (re.split("[=:]", key, maxsplit=1)[1], *more)]
        assert [line for line in value if line and line[0] not in "#;"] == [
            line for line in parser.get(section, option).split("\n") if line
        ]


def test_a_header_or_name_that_is_not_there_is_an_error() -> None:
    assert extract("ini", "[open\na = 1").has_errors
    assert extract("ini", "= 1").has_errors
    assert not extract("ini", "[a]\nb = 1\nc").has_errors


# Markdown -----------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(1, 6), st.sampled_from(["", "text\n", "\n\n", "> # q\n\n"]))))
def test_a_section_ends_where_one_as_high_begins(parts: list[tuple[int, str]]) -> None:
    blocks = [f"{'#' * level} Part {place}\n{body}" for place, (level, body) in enumerate(parts)]
    text = "before\n\n" + "".join(blocks)
    levels = [level for level, _ in parts]
    expected = []
    for place, level in enumerate(levels):
        after = [other for other in range(place + 1, len(parts)) if levels[other] <= level]
        end = after[0] if after else len(parts)
        inside = [
            other for other in range(place) if min(levels[other + 1 : place + 1]) > levels[other]
        ]
        parent = f"Part {inside[-1]}" if inside else None
        expected.append((f"Part {place}", parent, "".join(blocks[place:end]).strip("\n")))
    found = [
        (one.name, one.parent, text[one.start : one.end])
        for one in extract("markdown", text).symbols
    ]
    assert found == expected


def test_a_row_has_no_more_cells_than_its_header() -> None:
    text = "|a|b|\n|-|-|\n| | |c|\n| |d|e|\n"
    structure = extract("markdown", text)
    assert [(one.kind, one.name) for one in structure.symbols] == [
        ("table", "a | b"),
        ("table_row", "d"),
    ]


@pytest.mark.req("SCOPE-004")
@pytest.mark.parametrize(
    "name",
    [
        "1.2 What's `a.b()`?",
        "C# & *more* (draft) [x](y)!",
        "Überblick: 🙂 — ½",
        "a \\# b #c",
        "&amp; <b>",
    ],
)
def test_a_heading_is_found_by_its_name_with_all_its_punctuation(name: str) -> None:
    text = f"# Other\n\n## {name} ##\n\nText.\n\n# {name.lower()}x\n"
    structure = extract("markdown", text)
    [symbol] = select(structure, text, name, "section")
    assert (symbol.name, text[symbol.start : symbol.end]) == (name, f"## {name} ##\n\nText.")
    assert select(structure, text, f"Other.{name}", None) == [symbol]
    for changed in (f" {name}", name.rstrip("?!:#½>c"), name.replace(" ", "-", 1)):
        assert select(structure, text, changed, None) == []


# SQL ----------------------------------------------------------------------------------------------


def test_every_function_of_the_schema_is_found() -> None:
    files = sorted((ROOT / "db" / "functions").glob("*.sql"))
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    structure = extract("sql", text)
    assert not structure.has_errors
    assert [(one.parent, one.name) for one in structure.symbols] == [
        ("patchdiff", file.stem) for file in files
    ]
    for file, symbol in zip(files, structure.symbols, strict=True):
        statement = text[symbol.start : symbol.end]
        assert statement.startswith("create or replace function")
        assert f"{statement};" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("create table a (b text default 'open", "open"),
        ("create table a (b int) /* open", "create table a (b int)"),
        ("create function a() as $x$ open $y$", "$y$"),
        ('create table "a', '"a'),
        ("create function a() returns int begin select 1;", "1;"),
    ],
)
def test_sql_without_its_end_is_an_error(text: str, end: str) -> None:
    structure = extract("sql", f"create view fine as select 1; {text}")
    assert structure.has_errors
    assert [(one.name, one.has_error) for one in structure.symbols][:1] == [("fine", False)]
    for symbol in structure.symbols[1:]:
        assert symbol.has_error
        assert f"create view fine as select 1; {text}"[: symbol.end].endswith(end)


@pytest.mark.parametrize(
    "statement",
    [
        "create table a (b text default x[']'])",
        "create table a (b text default [c;'d])",
        "create procedure a() begin begin transaction; commit; end",
        "create procedure a() begin if b then c; end if; end",
        "create procedure a() begin loop c; end\nloop; case d when 1 then e; end case; end",
        "create procedure a() begin set b = c.begin; set c.case = d.end; end",
        "create function a() returns int as 'begin; ''x'';' language plpgsql",
        "create function a(b int default $1) returns int as $$ ; $b$ ; $$ language sql",
        "create table a (b$c int, d int default e'\\';')",
        'create view a as select "b;""c"',
        "create table a (b int) -- ;\n/* ; */ inherits (c)",
    ],
)
def test_where_a_statement_ends(statement: str) -> None:
    text = f"select 1; {statement}; create view next as select 2;"
    structure = extract("sql", text)
    assert not structure.has_errors
    assert [(one.name, text[one.start : one.end]) for one in structure.symbols] == [
        ("a", statement),
        ("next", "create view next as select 2"),
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "create definer = root@localhost event a on schedule at b do drop table c",
        "create index on a (b)",
        "create domain a as table_name",
        "create user mapping for a server b",
        "create table",
        "drop table a",
        "explain create table a (b int)",
    ],
)
def test_a_statement_that_makes_nothing_of_these_kinds(statement: str) -> None:
    text = f"{statement}; create view next as select 2;"
    assert [one.name for one in extract("sql", text).symbols] == ["next"]


# All ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["ini", "json", "markdown", "sql", "toml", "yaml"])
def test_only_the_broken_files_have_errors(language: str) -> None:
    sources = [source for source in SOURCES if source.parent.name == language]
    broken = {source.name for source in sources if extract(language, text_of(source)).has_errors}
    assert broken == {source.name for source in sources if source.stem in ("broken", "server")}
