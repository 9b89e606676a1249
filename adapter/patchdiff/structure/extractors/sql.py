"""SQL scripts for PostgreSQL, MySQL and their kin: what their CREATE statements make.

There is no grammar of so many dialects. Statements are told apart by their ends, so that only
quotes, comments, compound bodies and the directives of psql and mysql have to be understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

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
_COMPOUND = frozenset(("FUNCTION", "PROCEDURE", "TRIGGER"))
_NAMES = frozenset(("bracket", "quoted", "string", "word"))
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
_SENDS_STATEMENT = re.compile(r"g|watch\b|crosstabview\b")
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
    """Cuts a script into tokens and statements."""

    def __init__(self, text: str) -> None:
        self.found: list[Found] = []
        self.has_errors = False
        self._text = text
        self._mysql = _MYSQL.search(text) is not None
        self._token = _MYSQL_TOKEN if self._mysql else _POSTGRES_TOKEN
        self._delimiter = ";"
        self._copied_rows_may_end = True
        self._statement = _Statement()

    def scan(self) -> None:
        """Reads the whole text."""
        text, match = self._text, self._token.match
        place, line_begins, after_operand = 0, True, False
        while place < len(text):
            if text.startswith(self._delimiter, place) and (
                self._delimiter != ";" or not self._statement.depth
            ):
                place = self._end_statement(place + len(self._delimiter))
                line_begins = after_operand = False
                continue
            token = match(text, place)
            assert token is not None
            kind, written, end = token.lastgroup, token[0], token.end()
            if kind == "space":
                line_begins = line_begins or "\n" in written
                place, after_operand = end, False
                continue
            if kind == "comment":
                place, after_operand = self._comment_end(place), False
                continue
            if kind == "bracket" and after_operand:
                kind, written, end = "other", "[", place + 1
            after_directive = self._directive(kind, written, place, end, line_begins)
            if after_directive:
                place, line_begins = after_directive, False
                continue
            if kind == "dollar":
                closing = text.find(written, end)
                end = self._broken() if closing < 0 else closing + len(written)
            elif kind == "unclosed":
                end = self._broken()
            self._statement.take(kind, written, place, end, text)
            after_operand = kind in ("word", "quoted", "string") or written in ("]", ")")
            place, line_begins = end, False
        if self._statement.depth:
            self._broken()
        self._end_statement(place)

    def _end_statement(self, place: int) -> int:
        """Makes a symbol of the statement before ``place``. Gives where the next one begins."""
        statement, self._statement = self._statement, _Statement()
        symbol = statement.symbol()
        if symbol is not None:
            self.found.append(symbol)
        if statement.copies_rows and self._copied_rows_may_end:
            rows_end = _COPIED_ROWS_END.search(self._text, place)
            if rows_end:
                return rows_end.end()
            self._copied_rows_may_end = False
        return place

    def _broken(self) -> int:
        """Notes an error that goes on to the end of the text, and gives that end."""
        self.has_errors = self._statement.has_error = True
        return len(self._text)

    def _comment_end(self, place: int) -> int:
        """Where a comment that may contain comments ends."""
        depth = 0
        for mark in _COMMENT_MARK.finditer(self._text, place):
            depth += 1 if mark[0] == "/*" else -1
            if depth == 0:
                return mark.end()
        return self._broken()

    def _directive(
        self, kind: str | None, written: str, start: int, end: int, line_begins: bool
    ) -> int:
        """Obeys a directive to the client, if there is one. Gives where it ends, else 0."""
        if written == "\\":
            return self._psql_directive(end)
        if not line_begins or kind != "word":
            return 0
        word = written.upper()
        if word != "GO" and (word != "DELIMITER" or not self._mysql):
            return 0
        line = _REST_OF_LINE.match(self._text, end)
        assert line is not None
        rest = line[0].split()
        if word == "GO" and (not rest or rest[0].isdecimal()):
            self._end_statement(start)
        elif word == "DELIMITER" and rest:
            self._end_statement(start)
            self._delimiter = rest[0]
        else:
            return 0
        return line.end()

    def _psql_directive(self, place: int) -> int:
        """Passes what follows a backslash: the rest of the line, but for ``\\;``."""
        if self._text.startswith(";", place):
            return place + 1
        line = _REST_OF_LINE.match(self._text, place)
        assert line is not None
        if _SENDS_STATEMENT.match(line[0]):
            self._end_statement(place)
        return line.end()


@dataclass(slots=True)
class _Statement:
    """A statement as far as it has been read. ``end`` is where its last token ends.

    ``depth`` counts compound bodies and CASEs that are open, in which ``;`` ends no statement.
    """

    start: int = -1
    end: int = 0
    kind: str | None = None
    has_error: bool = False
    copies_rows: bool = False
    depth: int = 0
    _first: str = ""
    _previous: str = ""
    _name: list[tuple[str | None, str]] = field(default_factory=list)
    _modifiers_left: int = 0
    _reads_definer: bool = False
    _is_event: bool = False
    _compound: bool = False

    def take(self, kind: str | None, written: str, start: int, end: int, text: str) -> None:
        """Takes the next token, from ``start`` to ``end`` in ``text``."""
        self.end = end
        word = written.upper() if kind == "word" else ""
        if self.start < 0:
            self.start = start
            self._first = word
            self._modifiers_left = _HEAD_TOKENS if word == "CREATE" else 0
        elif self._modifiers_left:
            self._take_modifier(word or written)
        elif self.kind is not None and len(self._name) < _HEAD_TOKENS:
            self._name.append((kind, written))
        if word:
            if self._compound:
                self._take_word(word, end, text)
            elif self._first == "COPY" and word == "STDIN":
                self.copies_rows = True
        self._previous = word or ("." if written == "." else "")

    def symbol(self) -> Found | None:
        """What the statement makes; None when that has no name or is none of the kinds."""
        if self.kind is None:
            return None
        parts = _name_parts(self.kind, self._name)
        if not parts:
            return None
        *schema, name = parts
        return Found(
            _KINDS[self.kind],
            name,
            self.start,
            self.end,
            tuple(schema),
            has_error=self.has_error,
        )

    def _take_modifier(self, word: str) -> None:
        """Takes what stands between CREATE and the kind."""
        self._modifiers_left -= 1
        if self._is_event and word != "TRIGGER":
            self._modifiers_left = 0
        elif word in _KINDS:
            self._modifiers_left = 0
            self.kind = word
            self._compound = word in _COMPOUND
        elif word == "EVENT":
            self._is_event = self._compound = True
        elif word == "DEFINER":
            self._reads_definer = True
        elif not self._reads_definer and word not in _MODIFIERS:
            self._modifiers_left = 0

    def _take_word(self, word: str, end: int, text: str) -> None:
        if self._previous == ".":
            return
        if word == "BEGIN":
            self.depth += not _TRANSACTION.match(text, end)
        elif word == "CASE":
            self.depth += self._previous != "END"
        elif word == "END" and self.depth and not _END_OF_CONTROL.match(text, end):
            self.depth -= 1


def _name_parts(kind: str, tokens: list[tuple[str | None, str]]) -> list[str]:
    """The parts of the dotted name that the tokens after the kind begin with."""
    parts: list[str] = []
    expected = True
    for group, written in tokens:
        word = written.upper() if group == "word" else ""
        if not parts and (word in _BEFORE_NAME or (kind == "SCHEMA" and word == "AUTHORIZATION")):
            continue
        if not parts and kind == "INDEX" and word == "ON":
            break
        if written == "." and not expected:
            expected = True
        elif expected and group in _NAMES:
            parts.append(written[1:-1] if group == "bracket" else unquoted(written, "\"'`"))
            expected = False
        else:
            break
    return parts
