"""SQL scripts for PostgreSQL, MySQL and their kin: what their CREATE statements make.

There is no grammar of so many dialects. Statements are told apart by their ends, so that only
quotes, comments, compound bodies and the directives of psql and mysql have to be understood.
"""

from __future__ import annotations

import re

from patchdiff.structure.extractors.source_text import unquoted
from patchdiff.structure.symbols import Found

_KINDS = {
    "DATABASE": "database",
    "EXTENSION": "extension",
    "FUNCTION": "function",
    "INDEX": "index",
    "POLICY": "policy",
    "PROCEDURE": "function",
    "ROLE": "role",
    "SCHEMA": "schema",
    "SEQUENCE": "sequence",
    "TABLE": "table",
    "TRIGGER": "trigger",
    "TYPE": "type",
    "VIEW": "view",
}
_MODIFIERS = frozenset(
    (
        "OR", "REPLACE", "ALTER", "GLOBAL", "LOCAL", "TEMP", "TEMPORARY", "UNLOGGED", "FOREIGN",
        "EXTERNAL", "VIRTUAL", "MATERIALIZED", "RECURSIVE", "UNIQUE", "FULLTEXT", "SPATIAL",
        "CLUSTERED", "NONCLUSTERED", "COLUMNSTORE", "BITMAP", "CONSTRAINT", "EDITIONABLE",
        "NONEDITIONABLE", "AGGREGATE", "ALGORITHM", "UNDEFINED", "MERGE", "TEMPTABLE", "SQL",
        "SECURITY", "INVOKER", "=",
    )
)  # fmt: skip
_BEFORE_NAME = frozenset(("CONCURRENTLY", "IF", "NOT", "EXISTS"))
_HEAD_TOKENS = 40

_MYSQL = re.compile(
    r"""
    ^ [ \t]* DELIMITER [ \t]+ \S
    | \b AUTO_INCREMENT \b
    | \b ENGINE [ \t]* = [ \t]* \w
    | \b (?: DATABASE | EXISTS | FROM | FUNCTION | INTO | JOIN | PROCEDURE | TABLE | TRIGGER
         | UPDATE | USE | VIEW ) [ \t]+ `
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_LETTER = r"[A-Za-z_\u0080-\U0010ffff]"
_POSTGRES_TOKENS = rf"""
    (?P<space> [ \t\r\n\f\v]++ | --[^\n]*+ )
    | (?P<comment> /\* )
    | (?P<string> [eE]'(?: [^'\\]++ | \\. | '' )*+' | '(?: [^']++ | '' )*+' )
    | (?P<word> {_LETTER}[\w$\u0080-\U0010ffff]*+ )
    | (?P<quoted> "(?: [^"]++ | "" )*+" | `(?: [^`]++ | `` )*+` )
    | (?P<dollar> \$(?: {_LETTER}[\w\u0080-\U0010ffff]*+ )?\$ )
    | (?P<bracket> \[[^\]\n]{{1,128}}\] )
    | (?P<unclosed> ['"`] )
    | (?P<other> \d[\w.]*+ | . )
    """
_MYSQL_TOKENS = rf"""
    (?P<space> [ \t\r\n\f\v]++ | --[^\n]*+ | \#[^\n]*+ )
    | (?P<comment> /\* )
    | (?P<string> '(?: [^'\\]++ | \\. | '' )*+' )
    | (?P<word> {_LETTER}[\w\u0080-\U0010ffff]*+(?: \$[\w\u0080-\U0010ffff]++ )*+ )
    | (?P<quoted> "(?: [^"\\]++ | \\. | "" )*+" | `(?: [^`]++ | `` )*+` )
    | (?P<unclosed> ['"`] )
    | (?P<other> \d[\w.]*+ | . )
    """
_FLAGS = re.VERBOSE | re.DOTALL
_POSTGRES_TOKEN = re.compile(_POSTGRES_TOKENS, _FLAGS)
_MYSQL_TOKEN = re.compile(_MYSQL_TOKENS, _FLAGS)
_COMMENT_MARK = re.compile(r"/\*|\*/")
_COPIED_ROWS_END = re.compile(r"^\\\.[ \t\r]*$", re.MULTILINE)
_REST_OF_LINE = re.compile(r"[^\n]*+")
_TRANSACTION = re.compile(r"\s++(?:TRAN|TRANSACTION|WORK)\b", re.IGNORECASE)
_END_OF_CONTROL = re.compile(r"\s++(?:IF|LOOP|WHILE|REPEAT|FOR)\b", re.IGNORECASE)


def find(text: str) -> tuple[list[Found], bool]:
    """What every CREATE statement makes, from CREATE to before the statement's delimiter.

    A quote, comment or compound body without an end is a syntax error that takes the rest of the
    text with it.
    """
    scanner = _Scanner(text)
    scanner.scan()
    return scanner.found, scanner.has_errors


class _Scanner:
    def __init__(self, text: str) -> None:
        self.found: list[Found] = []
        self.has_errors = False
        self._text = text
        self._mysql = _MYSQL.search(text) is not None
        self._token = _MYSQL_TOKEN if self._mysql else _POSTGRES_TOKEN
        self._delimiter = ";"
        self._copied_rows_may_end = True
        self._begin_statement()

    def scan(self) -> None:
        """Reads the whole text."""
        text, match = self._text, self._token.match
        place, line_begins, after_operand = 0, True, False
        while place < len(text):
            if text.startswith(self._delimiter, place) and (
                self._delimiter != ";" or not self._depth
            ):
                place = self._end_statement(place + len(self._delimiter))
                line_begins = after_operand = False
                continue
            token = match(text, place)
            assert token is not None
            kind, end = token.lastgroup, token.end()
            if kind == "space":
                line_begins = line_begins or "\n" in token[0]
                place, after_operand = end, False
                continue
            if kind == "comment":
                place = self._after_comment(place)
                after_operand = False
                continue
            written = token[0]
            if kind == "dollar":
                closing = text.find(written, end)
                end = -1 if closing < 0 else closing + len(written)
            elif kind == "unclosed":
                end = -1
            elif kind == "bracket" and after_operand:
                kind, written, end = "other", "[", place + 1
            if end < 0:
                self._broken()
                self._last_end = place = len(text)
                continue
            if line_begins:
                after_directive = self._directive(kind, written, place, end)
                if after_directive:
                    place = after_directive
                    continue
            self._take(kind, written, place, end)
            after_operand = kind in ("word", "quoted", "string") or written in ("]", ")")
            place, line_begins = end, False
        if self._depth:
            self._broken()
        self._end_statement(place)

    def _begin_statement(self) -> None:
        self._start = -1
        self._last_end = 0
        self._first = ""
        self._copies_rows = False
        self._kind: str | None = None
        self._reads_modifiers = False
        self._reads_definer = False
        self._is_event = False
        self._name: list[tuple[str | None, str]] = []
        self._tokens = 0
        self._compound = False
        self._depth = 0
        self._previous = ""
        self._has_error = False

    def _end_statement(self, place: int) -> int:
        """Makes a symbol of the statement before ``place``. Gives where the next one begins."""
        if self._kind is not None:
            *qualifiers, name = _name_parts(self._kind, self._name) or [""]
            self.found.append(
                Found(
                    _KINDS[self._kind],
                    name,
                    self._start,
                    self._last_end,
                    tuple(qualifiers),
                    has_error=self._has_error,
                )
            )
        if self._copies_rows and self._copied_rows_may_end:
            rows_end = _COPIED_ROWS_END.search(self._text, place)
            if rows_end:
                place = rows_end.end()
            else:
                self._copied_rows_may_end = False
        self._begin_statement()
        return place

    def _broken(self) -> None:
        self.has_errors = self._has_error = True

    def _after_comment(self, place: int) -> int:
        """Where a comment that may contain comments ends."""
        depth = 0
        for mark in _COMMENT_MARK.finditer(self._text, place):
            depth += 1 if mark[0] == "/*" else -1
            if depth == 0:
                return mark.end()
        self._broken()
        return len(self._text)

    def _directive(self, kind: str | None, written: str, start: int, end: int) -> int:
        """Obeys a line for the client alone. Gives where the line ends; 0 for any other line."""
        if kind == "other":
            is_directive = written == "\\" and self._start < 0
        else:
            word = written.upper() if kind == "word" else ""
            is_directive = word == "GO" or (self._mysql and word == "DELIMITER")
        if not is_directive:
            return 0
        line = _REST_OF_LINE.match(self._text, end)
        assert line is not None
        rest = line[0].split()
        if written == "\\":
            return line.end()
        if written.upper() == "DELIMITER":
            if rest:
                self._end_statement(start)
                self._delimiter = rest[0]
                return line.end()
        elif not rest or rest[0].isdecimal():
            self._end_statement(start)
            return line.end()
        return 0

    def _take(self, kind: str | None, written: str, start: int, end: int) -> None:
        """Takes the next token of the statement."""
        self._last_end = end
        if self._start < 0:
            self._start = start
            self._first = written.upper() if kind == "word" else ""
            self._reads_modifiers = self._first == "CREATE"
        elif self._reads_modifiers:
            self._take_modifier(written.upper())
        elif self._kind is not None and len(self._name) < _HEAD_TOKENS:
            self._name.append((kind, written))
        if kind == "word":
            if self._compound:
                self._take_word(written.upper(), end)
            elif self._first == "COPY" and written.upper() == "STDIN":
                self._copies_rows = True
        self._previous = written.upper() if len(written) < 9 else ""

    def _take_modifier(self, word: str) -> None:
        self._tokens += 1
        kind = _KINDS.get(word)
        if self._is_event and kind != "trigger":
            self._reads_modifiers = False
        elif kind is not None:
            self._reads_modifiers = False
            self._kind = word
            self._compound = kind in ("function", "trigger")
        elif word == "EVENT":
            self._is_event = self._compound = True
        elif word == "DEFINER":
            self._reads_definer = True
        elif not self._reads_definer and word not in _MODIFIERS:
            self._reads_modifiers = False
        if self._tokens > _HEAD_TOKENS:
            self._reads_modifiers = False

    def _take_word(self, word: str, end: int) -> None:
        """Follows compound bodies, in which ``;`` ends no statement."""
        if self._previous == ".":
            return
        if word == "BEGIN":
            self._depth += not _TRANSACTION.match(self._text, end)
        elif word == "CASE":
            self._depth += self._previous != "END"
        elif word == "END" and self._depth and not _END_OF_CONTROL.match(self._text, end):
            self._depth -= 1


def _name_parts(kind: str, tokens: list[tuple[str | None, str]]) -> list[str]:
    """The parts of the dotted name that the tokens after the kind begin with."""
    parts: list[str] = []
    dotted = True
    for kind_of_token, written in tokens:
        word = written.upper() if kind_of_token == "word" else ""
        if not parts and (
            word in _BEFORE_NAME or (kind == "SCHEMA" and word == "AUTHORIZATION")
        ):
            continue
        if written == "." and not dotted:
            dotted = True
        elif dotted and kind_of_token in ("word", "quoted", "bracket", "string"):
            if kind == "INDEX" and word == "ON" and not parts:
                break
            parts.append(_identifier(written))
            dotted = False
        else:
            break
    return parts


def _identifier(written: str) -> str:
    return written[1:-1] if written[0] == "[" else unquoted(written, "\"'`")
