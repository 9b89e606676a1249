"""Runs the queries of a language over its tree and makes `Found`s of their matches.

What the captures of a pattern mean:

- `@name`: the node whose text is the name, less one pair of quotes. A pattern without one sets the
  name itself, `(#set! name "default")`, or leaves it to `refine`.
- a capture called like a kind, `@class`: the node that the symbol spans. When several patterns
  match the same name, the kind is that of the first pattern of the file and the span the largest.
- `@wrapped` and `@wrapper`, in patterns of their own: a symbol that spans the one spans the other,
  as a decorated definition around its class. A wrapper may be wrapped in turn. With
  `(#set! single)` a wrapper with more than one wrapped is none: a statement that declares several.
- `@start`, `@end`: the span begins, or ends, with this node instead.
- `@qualifier`: qualifiers written before the name, the outermost first. `@label`: see `Found`.
- `@import`: needs no name. Imports with nothing but white space, semicolons and comments between
  them, in one column or on one line, are one symbol named `imports`.
- `@prefix`: a node of its own that belongs to the declaration after it, as an attribute does.
- `@comment`: what may stand between imports, or between a prefix and its declaration.
- `(#set! numbered)`: see `Found`.
- `@body`: what begins in such a node is local, and no symbol by patterns with
  `(#set! not-local)`.
- `(#set! terminated)`: the span takes in a semicolon after it.
- `@opening` and `@continuation`, in patterns of their own: the n-th of the one goes on in the n-th
  of the other, as a heredoc on the lines after it. A span with the one takes in the other.

Every other capture is for `refine`, and only read there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, resources
from operator import itemgetter
from typing import Final, NamedTuple

from tree_sitter import Language, Node, Parser, Query, QueryCursor, TreeCursor

from patchdiff.structure.symbols import KINDS, Found, StructureLimitError

MATCH_LIMIT: Final = 65_536
"""Unfinished matches that a query may hold; above it, it would forget some."""

ERROR_CHILDREN_LIMIT: Final = 20_000
"""Children of one syntax error; queries take time in their square."""

_FIRST = itemgetter(0)
_ROLES = frozenset(("body", "comment", "continuation", "import", "opening", "prefix", "wrapper"))
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
_SPACE = b" \t\n\f\v\r"


@dataclass(slots=True)
class Candidate:
    """One match of a pattern, for a language's ``refine`` to complete or change.

    ``start`` and ``end`` are bytes of ``source``. ``name_node`` tells which matches are of the same
    symbol; without one it is the ``node`` that the symbol spans. ``captures`` are the pattern's
    nodes by the names of their captures.
    """

    kind: str
    node: Node
    name_node: Node | None
    name: str
    start: int
    end: int
    qualifiers: tuple[str, ...]
    label: str | None
    numbered: bool
    terminated: bool
    captures: Mapping[str, Sequence[Node]]
    source: bytes

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return _text(self.source, node)


class _Settings(NamedTuple):
    """What a pattern sets."""

    name: str
    numbered: bool
    terminated: bool
    not_local: bool
    single: bool


def _settings(written: Mapping[str, str | None]) -> _Settings:
    return _Settings(
        written.get("name") or "",
        "numbered" in written,
        "terminated" in written,
        "not-local" in written,
        "single" in written,
    )


_Match = tuple[str, int, dict[str, list[Node]]]
"""A capture that says what a match is for, the number of the pattern, and all captures."""

Refine = Callable[[Candidate], bool]
"""Completes a candidate in place; False leaves it out."""


class TreeSitterExtractor:
    """The extractor of a language with a grammar."""

    def __init__(
        self,
        grammar: str,
        queries: Sequence[str],
        *,
        function: str = "language",
        refine: Refine | None = None,
    ) -> None:
        """Loads a grammar and compiles the queries.

        ``grammar`` is a module, ``function`` that function in it which gives the language.
        ``queries`` are files of the directory queries, without ``.scm``, as if one after the other.
        Raises ImportError without the module.
        """
        self._language = Language(getattr(import_module(grammar), function)())
        self._query = Query(self._language, "\n".join(query_text(name) for name in queries))
        patterns = range(self._query.pattern_count)
        self._settings = [_settings(self._query.pattern_settings(pattern)) for pattern in patterns]
        self._refine = refine

    def find(self, text: str) -> tuple[list[Found], bool]:
        """What the queries find in ``text``, and whether the text has syntax errors.

        Raises StructureLimitError for a text that the queries cannot deal with.
        """
        source = text.encode()
        root = Parser(self._language).parse(source).root_node
        errors = _error_ranges(root) if root.has_error else []
        cursor = QueryCursor(self._query, match_limit=MATCH_LIMIT)
        matches = cursor.matches(root)
        if cursor.did_exceed_match_limit:
            raise StructureLimitError(
                f"the text keeps more than {MATCH_LIMIT:,} partial matches of a query open"
            )
        gathered = self._gathered(matches, source, errors)
        offsets = _code_points(source, len(text), gathered)
        found = [
            Found(
                one.kind,
                one.name,
                offsets[one.start] if offsets else one.start,
                offsets[one.end] if offsets else one.end,
                one.qualifiers,
                one.label,
                one.numbered,
                one.node.has_error,
            )
            for one in gathered
        ]
        return found, root.has_error

    def _gathered(
        self,
        matches: list[tuple[int, dict[str, list[Node]]]],
        source: bytes,
        errors: list[tuple[int, int]],
    ) -> list[Candidate]:
        """The candidates in the order of their patterns, one for each name."""
        by_role: dict[str, list[_Match]] = {}
        symbols: list[_Match] = []
        matches.sort(key=_FIRST)
        for pattern, captures in matches:
            for capture in captures:
                if capture in _ROLES:
                    by_role.setdefault(capture, []).append((capture, pattern, captures))
                elif capture in KINDS:
                    symbols.append((capture, pattern, captures))

        bodies = _outermost(by_role.get("body", ()))
        named: dict[tuple[int, int], Candidate] = {}
        for kind, pattern, captures in symbols:
            settings = self._settings[pattern]
            if bodies and settings.not_local and _inside(bodies, captures[kind][0].start_byte):
                continue
            candidate = _candidate(kind, settings, captures, source)
            if self._refine is None or self._refine(candidate):
                _merge(named, candidate, errors)

        comments = dict(
            captures["comment"][0].byte_range for _, _, captures in by_role.get("comment", ())
        )
        imports = [captures["import"][0] for _, _, captures in by_role.get("import", ())]
        gathered = [*named.values(), *_import_runs(imports, comments, source, errors)]
        if "wrapper" in by_role:
            wrappers = self._wrappers(by_role["wrapper"])
            for candidate in gathered:
                _wrap(candidate, wrappers)
        for candidate in gathered:
            if candidate.terminated:
                candidate.end = _with_semicolon(source, candidate.end)
        if "opening" in by_role:
            openings = [captures["opening"][0] for _, _, captures in by_role["opening"]]
            rests = [
                captures["continuation"][0] for _, _, captures in by_role.get("continuation", ())
            ]
            if len(openings) == len(rests):
                _continue(gathered, openings, rests)
        if "prefix" in by_role:
            prefixes = [captures["prefix"][0] for _, _, captures in by_role["prefix"]]
            begins = _prefixed(prefixes, comments, source)
            for candidate in gathered:
                candidate.start = begins.get(candidate.start, candidate.start)
        return gathered

    def _wrappers(self, matches: Iterable[_Match]) -> dict[tuple[int, int], Node]:
        """The wrappers by the bytes of what they wrap."""
        wrappers: dict[tuple[int, int], Node] = {}
        single: dict[int, tuple[Node, list[Node]]] = {}
        for _, pattern, captures in matches:
            wrapper, wrapped = captures["wrapper"][0], captures["wrapped"][0]
            if self._settings[pattern].single:
                single.setdefault(wrapper.id, (wrapper, []))[1].append(wrapped)
            else:
                wrappers[wrapped.byte_range] = wrapper
        for wrapper, several in single.values():
            if len(several) == 1:
                wrappers[several[0].byte_range] = wrapper
        return wrappers


def _candidate(
    kind: str, settings: _Settings, captures: dict[str, list[Node]], source: bytes
) -> Candidate:
    node = captures[kind][0]
    start, end = node.byte_range
    name_node, name = None, settings.name
    if "name" in captures:
        name_node = captures["name"][0]
        name = name or _name(source, name_node)
    qualifiers: tuple[str, ...] = ()
    label = None
    if len(captures) > 2:
        if "start" in captures:
            start = captures["start"][0].start_byte
        if "end" in captures:
            end = captures["end"][-1].end_byte
        if "qualifier" in captures:
            qualifiers = tuple(_text(source, one) for one in captures["qualifier"])
        if "label" in captures:
            label = _text(source, captures["label"][0])
    return Candidate(
        kind,
        node,
        name_node,
        name,
        start,
        end,
        qualifiers,
        label,
        settings.numbered,
        settings.terminated,
        captures,
        source,
    )


def query_text(name: str) -> str:
    """The text of a file of the directory queries, named without ``.scm``."""
    files = resources.files("patchdiff.structure")
    return files.joinpath("queries", f"{name}.scm").read_text("utf-8")


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode()


def _name(source: bytes, node: Node) -> str:
    name = _text(source, node)
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
        return name[1:-1]
    return name


def _error_ranges(root: Node) -> list[tuple[int, int]]:
    """The bytes of the outermost syntax errors below the root, in their order.

    A root that is one itself, as where a bracket is never closed, has whole declarations below.
    Raises StructureLimitError when a syntax error has too many children for a query.
    """
    ranges: list[tuple[int, int]] = []
    cursor = root.walk()
    last_end = 0
    while True:
        node = cursor.node
        assert node is not None
        if node.is_error:
            if node.child_count > ERROR_CHILDREN_LIMIT:
                raise StructureLimitError(
                    f"a syntax error has more than {ERROR_CHILDREN_LIMIT:,} parts"
                )
            if cursor.depth and (node.end_byte > last_end or not ranges):
                ranges.append(node.byte_range)
                last_end = node.end_byte
        if not (node.has_error and cursor.goto_first_child()) and not _goto_next(cursor):
            return ranges


def _goto_next(cursor: TreeCursor) -> bool:
    while not cursor.goto_next_sibling():
        if not cursor.goto_parent():
            return False
    return True


def _inside(ranges: list[tuple[int, int]], byte: int) -> bool:
    if not ranges:
        return False
    place = bisect_right(ranges, byte, key=lambda one: one[0]) - 1
    return place >= 0 and byte < ranges[place][1]


def _outermost(matches: Iterable[_Match]) -> list[tuple[int, int]]:
    """The bytes of the captured nodes that are in no other one, in their order."""
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(captures[role][0].byte_range for role, _, captures in matches):
        if not ranges or end > ranges[-1][1]:
            ranges.append((start, end))
    return ranges


def _merge(
    named: dict[tuple[int, int], Candidate],
    candidate: Candidate,
    errors: list[tuple[int, int]],
) -> None:
    """Adds a candidate, unless its name is missing or in an error; the largest span wins."""
    name_node = candidate.name_node or candidate.node
    if name_node.is_missing or _inside(errors, name_node.start_byte):
        return
    first = named.setdefault(name_node.byte_range, candidate)
    if candidate.end - candidate.start > first.end - first.start:
        first.start, first.end, first.node = candidate.start, candidate.end, candidate.node


def _wrap(candidate: Candidate, wrappers: dict[tuple[int, int], Node]) -> None:
    span = (candidate.start, candidate.end)
    while (wrapper := wrappers.get(span)) is not None and wrapper.byte_range != span:
        span = wrapper.byte_range
        candidate.start, candidate.end, candidate.node = *span, wrapper


def _continue(candidates: list[Candidate], openings: list[Node], continuations: list[Node]) -> None:
    starts = sorted(node.start_byte for node in openings)
    ends = sorted(node.end_byte for node in continuations)
    for candidate in candidates:
        place = bisect_right(starts, candidate.end - 1) - 1
        if place >= 0 and starts[place] >= candidate.start:
            candidate.end = max(candidate.end, ends[place])


def _with_semicolon(source: bytes, end: int) -> int:
    place = end
    while place < len(source) and source[place] in _SPACE:
        place += 1
    return place + 1 if source[place : place + 1] == b";" != source[end - 1 : end] else end


def _import_runs(
    imports: Iterable[Node],
    comments: dict[int, int],
    source: bytes,
    errors: list[tuple[int, int]],
) -> list[Candidate]:
    """One candidate for imports that follow each other."""
    runs: list[Candidate] = []
    row = column = -1
    for (start, end), node in sorted(
        {node.byte_range: node for node in imports}.items(), key=_FIRST
    ):
        if _inside(errors, start):
            continue
        point = node.start_point
        if (
            runs
            and (point.column == column or point.row == row)
            and _after_gap(source, runs[-1].end, comments, b";") == start
        ):
            runs[-1].end = end
        else:
            run = Candidate(
                "import", node, None, "imports", start, end, (), None, True, False, {}, source
            )
            runs.append(run)
            column = point.column
        row = node.end_point.row
    return runs


def _prefixed(prefixes: list[Node], comments: dict[int, int], source: bytes) -> dict[int, int]:
    """Where what follows a row of prefixes begins, with the start of the first of them."""
    begins: dict[int, int] = {}
    follows: dict[int, int] = {}
    for prefix in sorted(prefixes, key=lambda node: -node.start_byte):
        place = _after_gap(source, prefix.end_byte, comments, b"")
        place = follows.get(place, place)
        follows[prefix.start_byte] = place
        begins[place] = prefix.start_byte
    return begins


def _after_gap(source: bytes, place: int, comments: dict[int, int], skipped: bytes) -> int:
    """The first byte from ``place`` on that is no white space, comment or one of ``skipped``."""
    passed = _SPACE + skipped
    while True:
        while place < len(source) and source[place] in passed:
            place += 1
        if place not in comments:
            return place
        place = max(place + 1, comments[place])


def _code_points(source: bytes, characters: int, candidates: Iterable[Candidate]) -> dict[int, int]:
    """The code points of the bytes where candidates begin and end; empty when they are the same."""
    if len(source) == characters:
        return {}
    offsets: dict[int, int] = {}
    byte = code_point = 0
    for place in sorted({place for one in candidates for place in (one.start, one.end)}):
        code_point += len(source[byte:place].translate(None, _CONTINUATION_BYTES))
        byte = place
        offsets[place] = code_point
    return offsets
