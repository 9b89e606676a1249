"""Texts of 65,536 code points that take a careless reader of their language a very long time."""

from collections.abc import Iterator

import pytest

from patchdiff.structure.engine import Engine
from tests.structure.laws import BLANKS

SIZE = 65_536
TRAPS = {
    "ini": {
        "a line that goes on": "a\\\n" * (SIZE // 3),
        "a header's quote without an end": '["' + '\\"' * (SIZE // 2),
        "quotes in a header": '["' * (SIZE // 2),
        "one item": "a = 1\n" + "  b\n" * (SIZE // 4),
    },
    "json": {
        "nested names": '{"a":' + "[" * (SIZE // 2) + "]" * (SIZE // 2) + "}",
        "nested objects": '{"a":' * (SIZE // 6) + "1" + "}" * (SIZE // 6),
        "pairs": "{" + '"a":1,' * (SIZE // 6) + '"a":1}',
    },
    "markdown": {
        "front matter without an end": "---\n" + "a\n" * (SIZE // 2),
        "a row of bars": "|" * (SIZE // 3) + "\n" + "|-" * (SIZE // 6) + "|\n" + "|" * (SIZE // 3),
        "a wide table": "|a" * 8_192 + "|\n" + "|-" * 8_192 + "|\n" + "|\n" * 16_000,
        "a heading of many lines": "a\n" * (SIZE // 2) + "===",
        "quotes in quotes": ">" * SIZE + "\n```\n",
        "titles of links": "[a]: b '" * (SIZE // 8),
    },
    "sql": {
        "brackets": "[" * SIZE,
        "brackets on lines": "[\n" * (SIZE // 2),
        "rows to copy": "copy a from stdin;\n" * (SIZE // 19),
        "dollars": "$a$ " * (SIZE // 4),
        "delimiters": "".join(f"delimiter a{number}\n" for number in range(SIZE // 15)),
        "comments in comments": "/*" * (SIZE // 2),
        "bodies": "create function a() " + "begin " * (SIZE // 6),
        "modifiers": "create " + "or " * (SIZE // 3),
        "dots": "create table " + "a." * (SIZE // 2),
        "spaces before engine": "engine" + " " * SIZE,
    },
    "toml": {
        "one long key": "[" + "a." * (SIZE // 2) + "a]\n",
        "long keys": ("[" + "a." * 50 + "a]\n") * (SIZE // 104),
        "arrays of tables": "[[a.b]]\n" * (SIZE // 8),
        "nested tables": "a=" + "{a=" * (SIZE // 4) + "1" + "}" * (SIZE // 4),
        "nested names": "a=" + "[" * (SIZE // 2) + "]" * (SIZE // 2),
    },
    "yaml": {
        "pairs in brackets": "[" + "a: b," * (SIZE // 5) + "]",
        "explicit keys": "? a\n\n" * (SIZE // 5),
        "aliases of aliases": "a0: &a0 [x]\n"
        + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, SIZE // 32)),
        "documents": "---\na: 1\n" * (SIZE // 9),
    },
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as one:
        yield one


@pytest.mark.parametrize(
    ("language", "name"), [(language, name) for language, one in TRAPS.items() for name in one]
)
def test_a_trap_is_passed_in_time(engine: Engine, language: str, name: str) -> None:
    text = TRAPS[language][name]
    structure = engine.structure("trap", language, text)
    assert structure.language == language
    for symbol in structure.symbols:
        assert 0 <= symbol.start < symbol.end <= len(text)
        assert text[symbol.start] not in BLANKS
        assert text[symbol.end - 1] not in BLANKS
