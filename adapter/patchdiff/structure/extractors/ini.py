"""INI files and their kin, .env and .properties: sections and the items in them."""

from __future__ import annotations

import re

from patchdiff.structure.extractors.source_text import unquoted
from patchdiff.structure.symbols import Found

_SPACE = " \t\r\f\v"
_HEADER = re.compile(r"""\[ ((?: [^\]"] | "(?: [^"\\] | \\. )*+" )*+) \]""", re.VERBOSE)
_PLAIN_HEADER = re.compile(r"\[([^\]]*)\]")
_KEY = re.compile(r"((?:[^=:\\]|\\.)*+)[=:]")
_EXPORT = re.compile(r"export[ \t]+(?=[A-Za-z_])")
_COMMENT_BEHIND = re.compile(r"[ \t][#;]")


def find(text: str) -> tuple[list[Found], bool]:
    """Every section, from its header through its last item, and every item.

    A line that is indented deeper than the item before it continues that item, over blank lines and
    comments too; so does a line without ``=`` or ``:`` after a backslash. A header without an end
    and an item without a name are the syntax errors.
    """
    scanner = _Scanner()
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        scanner.line(text[start:end], start)
        start = end + 1
    scanner.end_section()
    return scanner.found, scanner.has_errors


class _Scanner:
    def __init__(self) -> None:
        self.found: list[Found] = []
        self.has_errors = False
        self._section: tuple[str, int, int] | None = None
        self._item: tuple[str, int, int] | None = None
        self._indent = 0
        self._open = False  # the last line of the item ends in a backslash

    def line(self, line: str, start: int) -> None:
        """Takes the next line, which begins at the code point ``start``."""
        content = line.strip(_SPACE)
        if not content or content[0] in "#;":
            self._open = False
            return
        indent = len(line) - len(line.lstrip(_SPACE))
        begin, end = start + indent, start + indent + len(content)
        key = None if content[0] == "[" else _KEY.match(content)
        bare = content[0] != "[" and key is None
        if self._item is not None and (indent > self._indent or (self._open and bare)):
            self._item = (*self._item[:2], end)
        elif content[0] == "[":
            self._header(content, begin)
        else:
            name = key[1] if key else _COMMENT_BEHIND.split(content, maxsplit=1)[0]
            self._begin_item(name, begin, end, indent)
        self._open = self._item is not None and _ends_in_backslash(content)

    def end_section(self) -> None:
        """Makes symbols of the item and the section that are not complete yet."""
        self._end_item()
        if self._section is not None:
            name, start, end = self._section
            self.found.append(Found("section", name, start, end))
            self._section = None

    def _header(self, content: str, start: int) -> None:
        header = _HEADER.match(content) or _PLAIN_HEADER.match(content)
        self.end_section()
        if header is None:
            self.has_errors = True
        else:
            name = unquoted(header[1].strip(_SPACE))
            self._section = (name, start, start + header.end())

    def _begin_item(self, name: str, start: int, end: int, indent: int) -> None:
        self._end_item()
        exported = _EXPORT.match(name)
        name = unquoted(name[exported.end() if exported else 0 :].strip(_SPACE))
        if not name:
            self.has_errors = True
        self._item = (name, start, end)
        self._indent = indent

    def _end_item(self) -> None:
        if self._item is None:
            return
        name, start, end = self._item
        self._item = None
        if not name:
            return
        self.found.append(Found("config_item", name, start, end))
        if self._section is not None:
            self._section = (*self._section[:2], end)


def _ends_in_backslash(content: str) -> bool:
    return (len(content) - len(content.rstrip("\\"))) % 2 == 1
