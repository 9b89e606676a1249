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
from typing import Final

from tree_sitter import Language, Node, Parser, Query, QueryCursor, TreeCursor

from patchdiff.structure.symbols import KINDS, Found, StructureLimitError

MATCH_LIMIT: Final = 65_536
"""Unfinished matches that a query may hold; above it, it would forget some."""

ERROR_CHILDREN_LIMIT: Final = 20_000
"""Children of one syntax error; queries take time in their square."""

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
        self._settings = [self._query.pattern_settings(pattern) for pattern in patterns]
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
        prefixes: list[Node] = []
        comments: dict[int, int] = {}
        imports: dict[tuple[int, int], Node] = {}
        wrappers: dict[tuple[int, int], Node] = {}
        single: dict[int, tuple[Node, list[Node]]] = {}
        openings: list[Node] = []
        continuations: list[Node] = []
        named: dict[tuple[int, int], Candidate] = {}
        matches.sort(key=lambda match: match[0])
        bodies = _outermost(captures["body"][0] for _, captures in matches if "body" in captures)
        for pattern, captures in matches:
            for capture, nodes in captures.items():
                if capture == "comment":
                    comments[nodes[0].start_byte] = nodes[0].end_byte
                elif capture == "prefix":
                    prefixes.append(nodes[0])
                elif capture == "wrapper":
                    wrapped = captures["wrapped"][0]
                    if "single" in self._settings[pattern]:
                        single.setdefault(nodes[0].id, (nodes[0], []))[1].append(wrapped)
                    else:
                        wrappers[wrapped.byte_range] = nodes[0]
                elif capture == "opening":
                    openings.append(nodes[0])
                elif capture == "continuation":
                    continuations.append(nodes[0])
                elif capture == "import":
                    node = nodes[0]
                    if not _inside(errors, node.start_byte):
                        imports.setdefault(node.byte_range, node)
                elif capture in KINDS:
                    local = bodies and _inside(bodies, nodes[0].start_byte)
                    if local and "not-local" in self._settings[pattern]:
                        continue
                    candidate = self._candidate(pattern, capture, nodes[0], captures, source)
                    if candidate is not None:
                        _merge(named, candidate, errors)
        gathered = [*named.values(), *_import_runs(imports, comments, source)]
        for wrapper, several in single.values():
            if len(several) == 1:
                wrappers[several[0].byte_range] = wrapper
        if wrappers:
            for candidate in gathered:
                _wrap(candidate, wrappers)
        for candidate in gathered:
            if candidate.terminated:
                candidate.end = _with_semicolon(source, candidate.end)
        if openings and len(openings) == len(continuations):
            _continue(gathered, openings, continuations)
        if prefixes:
            begins = _prefixed(prefixes, comments, source)
            for candidate in gathered:
                candidate.start = begins.get(candidate.start, candidate.start)
        return gathered

    def _candidate(
        self,
        pattern: int,
        kind: str,
        node: Node,
        captures: dict[str, list[Node]],
        source: bytes,
    ) -> Candidate | None:
        settings = self._settings[pattern]
        names = captures.get("name")
        name_node = names[0] if names else None
        start, end = captures.get("start"), captures.get("end")
        labels = captures.get("label")
        candidate = Candidate(
            kind,
            node,
            name_node,
            settings.get("name") or ("" if name_node is None else _name(source, name_node)),
            start[0].start_byte if start else node.start_byte,
            end[-1].end_byte if end else node.end_byte,
            tuple(_text(source, one) for one in captures.get("qualifier", ())),
            _text(source, labels[0]) if labels else None,
            "numbered" in settings,
            "terminated" in settings,
            captures,
            source,
        )
        if self._refine is not None and not self._refine(candidate):
            return None
        return candidate


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
    """The bytes of the outermost syntax errors, in their order.

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
            if node.end_byte > last_end or not ranges:
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


def _outermost(nodes: Iterable[Node]) -> list[tuple[int, int]]:
    """The bytes of the nodes that are in no other one, in their order."""
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(node.byte_range for node in nodes):
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


def _continue(
    candidates: list[Candidate], openings: list[Node], continuations: list[Node]
) -> None:
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
    imports: dict[tuple[int, int], Node], comments: dict[int, int], source: bytes
) -> list[Candidate]:
    runs: list[Candidate] = []
    row = column = -1
    for (start, end), node in sorted(imports.items(), key=lambda one: one[0]):
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
