"""Markdown: sections, tables and their rows, fenced code blocks, front matter."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from patchdiff.structure.symbols import Found

_LINE_FEED = re.compile("\n")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_CELL_END = re.compile(r"(?<!\\)\|")


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])  # what is inside a line is not read
    return parser


def find(text: str) -> tuple[list[Found], bool]:
    """Every section, table, row and fenced block, and the front matter. There are no errors."""
    # the parser ends lines at a carriage return too
    text = text.replace("\r", " ")
    starts = [0, *(match.end() for match in _LINE_FEED.finditer(text)), len(text)]
    found = []
    body = text
    front_matter = _FRONT_MATTER.match(text)
    if front_matter:
        found.append(Found("object", "frontmatter", 0, front_matter.end()))
        body = "\n" * front_matter[0].count("\n") + text[front_matter.end() :]
    sections: list[tuple[int, str, int]] = []
    tokens = _parser().parse(body)
    for place, token in enumerate(tokens):
        if token.map is None:
            continue
        if token.type == "fence":
            found.append(_code_block(text, starts, token))
        elif token.level == 0 and token.type == "heading_open":
            level, start = int(token.tag[1:]), starts[token.map[0]]
            found += _ended(sections, level, start)
            sections.append((level, tokens[place + 1].content, start))
        elif token.level == 0 and token.type == "table_open":
            found += _table(text, starts, token)
    found += _ended(sections, 1, len(text))
    return found, False


def _ended(sections: list[tuple[int, str, int]], level: int, end: int) -> list[Found]:
    """Takes the sections away that a heading of this level at ``end`` ends."""
    ended = []
    while sections and sections[-1][0] >= level:
        _, name, start = sections.pop()
        ended.append(Found("section", name, start, end))
    return ended


def _code_block(text: str, starts: list[int], token: Token) -> Found:
    assert token.map is not None
    first, after = token.map
    # in front of the fence there can only be marks of lists and quotes
    start = text.find(token.markup, starts[first])
    words = token.info.split(maxsplit=1)
    return Found("code_block", words[0] if words else "code", start, starts[after], numbered=True)


def _table(text: str, starts: list[int], token: Token) -> list[Found]:
    assert token.map is not None
    first, after = token.map
    header = _cells(text[starts[first] : starts[first + 1]])
    found = [Found("table", " | ".join(header), starts[first], starts[after])]
    for line in range(first + 2, after):
        start, end = starts[line], starts[line + 1]
        name = next(filter(None, _cells(text[start:end])[: len(header)]), "")
        found.append(Found("table_row", name, start, end))
    return found


def _cells(row: str) -> list[str]:
    """The cells of a table's row as written, with ``\\|`` for a bar in a cell."""
    cells = _CELL_END.split(row.strip())
    if cells[0] == "":
        del cells[0]
    if cells and cells[-1] == "":
        del cells[-1]
    return [cell.strip() for cell in cells]
