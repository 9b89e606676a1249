"""What the demo edits: a text file that was read whole, and edits that fit whatever it says."""

import mimetypes
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import metadata
from pathlib import Path

from patchdiff.printable import printable, shortened

MAXIMUM_BYTES = 4 * 1024 * 1024
"""Largest file that the demo takes, in bytes; the tools themselves have no such bound."""

FIRST_NOTE = " (first edit of the demo)"
SECOND_NOTE = " (second edit of the demo)"
_LONGEST_MATCH = 60
_CONTEXT_LINES = 3
_LONGEST_DIFF_LINE = 200


class UnusableFileError(Exception):
    """A file that the demo cannot edit; the message is one line that says why."""


@dataclass(frozen=True)
class Document:
    """A text as it lies in its file, line endings untouched, with its name and MIME type."""

    filename: str
    content_type: str
    content: str


def read_document(file: Path | None) -> Document:
    """Reads the file, or takes this distribution's own README when there is none.

    Raises UnusableFileError for what is missing, unreadable, no regular file, over MAXIMUM_BYTES,
    no UTF-8 text, with NUL, or without a line to edit.
    """
    if file is None:
        readme = metadata("patchdiff-pg").json.get("description")
        return Document("README.md", "text/markdown", _editable("the README", str(readme or "")))
    name = printable(str(file))
    try:
        status = file.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UnusableFileError(f"{name} is a directory: name a text file")
        if not stat.S_ISREG(status.st_mode):
            raise UnusableFileError(f"{name} is not a regular file: name a text file")
        if status.st_size > MAXIMUM_BYTES:
            raise UnusableFileError(
                f"{name} has {status.st_size:,} bytes: the demo takes at most {MAXIMUM_BYTES:,}"
            )
        content = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnusableFileError(
            f"{name} is not UTF-8 text: byte {error.start} cannot be read; convert it first"
        ) from None
    except FileNotFoundError:
        raise UnusableFileError(f"{name} does not exist: name a text file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnusableFileError(f"{name} cannot be read: {reason}") from None
    filename = printable(file.name)
    content_type = mimetypes.guess_type(filename)[0] or "text/plain"
    return Document(filename, content_type, _editable(name, content))


def _editable(name: str, content: str) -> str:
    if "\0" in content:
        raise UnusableFileError(
            f"{name} has a NUL at code point {content.index(chr(0))}: PostgreSQL has no such text"
        )
    if not content.strip():
        raise UnusableFileError(
            f"{name} has no line with text: there is nothing that an edit could replace"
        )
    return content


def _occurrences(text: str, match: str) -> Iterator[int]:
    """Start of every exact occurrence in code points, overlapping ones too."""
    start = text.find(match)
    while start >= 0:
        yield start
        start = text.find(match, start + 1)


def _edit(text: str, start: int, match: str, replace: str, rationale: str) -> dict[str, object]:
    """The edit of the occurrence at start: with its number where the text occurs more than once."""
    edit: dict[str, object] = {"match": match, "replace": replace, "rationale": rationale}
    starts = list(_occurrences(text, match))
    if len(starts) > 1:
        edit["occurrence_index"] = starts.index(start) + 1
    return edit


def _head(line: str) -> str:
    """The line, or its first words when it is long."""
    if len(line) <= _LONGEST_MATCH:
        return line
    line = line[:_LONGEST_MATCH]
    return line.rpartition(" ")[0].rstrip() or line


def _tail(line: str) -> str:
    """The line, or its last words when it is long."""
    if len(line) <= _LONGEST_MATCH:
        return line
    line = line[-_LONGEST_MATCH:]
    return line.partition(" ")[2].lstrip() or line


def choose_edits(text: str) -> tuple[list[dict[str, object]], str]:
    """Two edits, of the first and of the last line with text, and the text they should leave.

    The second is chosen on what the first leaves, as a transaction is evaluated. Where both lines
    are one, the second rewrites what the first wrote. Neither adds or removes a line end.
    """
    stripped = text.lstrip()
    start = len(text) - len(stripped)
    match = _head(stripped.partition("\n")[0].rstrip())
    first = _edit(text, start, match, match + FIRST_NOTE, "The first line with text gets a note.")
    noted = text[:start] + match + FIRST_NOTE + text[start + len(match) :]

    end = len(noted.rstrip())
    line_start = noted.rfind("\n", 0, end) + 1
    if line_start <= start:
        match = FIRST_NOTE
        start = noted.index(FIRST_NOTE, start + len(str(first["match"])))
        replace = FIRST_NOTE + SECOND_NOTE
        rationale = "The text has one line only: the second edit works on what the first one left."
    else:
        match = _tail(noted[line_start:end].strip())
        start = end - len(match)
        replace = match + SECOND_NOTE
        rationale = "The last line with text gets a note in the same transaction."
    second = _edit(noted, start, match, replace, rationale)
    return [first, second], noted[:start] + replace + noted[start + len(match) :]


def choose_ambiguous(before: str, after: str) -> str:
    """A text that occurs twice or more in after: a repeated word of before, or of the notes."""
    words = Counter(re.findall(r"\b[^\W\d_]{4,40}\b", before))
    repeated = sorted((word for word, count in words.items() if count > 1), key=words.__getitem__)
    # an edit in the middle of a long line may have cut one occurrence in two
    return next((word for word in repeated if after.count(word) > 1), "edit of the demo")


def unified_diff(before: str, after: str, filename: str) -> Iterator[str]:
    """Lines of a unified diff of two texts with equally many lines, long lines cut in the middle.

    Raises ValueError when the numbers of lines differ.
    """
    sides = (side.removesuffix("\n").split("\n") for side in (before, after))
    pairs = list(zip(*sides, strict=True))
    changed = [index for index, (old, new) in enumerate(pairs) if old != new]
    yield f"--- {filename}, version 0"
    yield f"+++ {filename}, version 1"
    while changed:
        group = [changed.pop(0)]
        while changed and changed[0] - group[-1] <= 2 * _CONTEXT_LINES:
            group.append(changed.pop(0))
        start = max(group[0] - _CONTEXT_LINES, 0)
        end = min(group[-1] + _CONTEXT_LINES + 1, len(pairs))
        yield f"@@ -{start + 1},{end - start} +{start + 1},{end - start} @@"
        for index in range(start, end):
            old, new = (shortened(side, _LONGEST_DIFF_LINE) for side in pairs[index])
            if index in group:
                yield f"-{old}"
                yield f"+{new}"
            else:
                yield f" {old}"
