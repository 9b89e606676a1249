"""The laws of spans, over every file and what becomes of it by chance."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from patchdiff.structure.extract import extract
from patchdiff.structure.languages import LANGUAGES
from patchdiff.structure.symbols import StructureLimitError
from tests.structure.laws import check
from tests.structure.support import FIXTURES, SOURCES, plain, text_of

TEXTS = {
    language: [text_of(one) for one in SOURCES if one.parent.name == language]
    for language in LANGUAGES
}
PARTS = (
    "\n", "\n\n", " ", "    ", "\t", "\r", "\x0c", "\\", "\"", "'", "`", "\"\"\"", "```", "~~~",
    "(", ")", "[", "]", "{", "}", "<", ">", "[[", "]]", ":", ": ", ";", ",", ".", "=", "==",
    "===", "---", "- ", "# ", "## ", "//", "/*", "*/", "--", "<!--", "-->", "$$", "$a$", "|",
    "|-|\n", "&a ", "*a", "!!a ", "? ", "| ", ">-", "<<", "@", "%", "a", "class ", "function ",
    "def ", "end", "begin ", "case ", "create table ", "delimiter //\n", "export ", "é",
    "e\u0301", "漢", "🙂", "\ufeff", "\u2028", "\x85",
)  # fmt: skip

each_file = pytest.mark.parametrize(
    "source", SOURCES, ids=lambda path: path.relative_to(FIXTURES).as_posix()
)


def structure_of(source: Path, text: str) -> list[tuple[object, ...]]:
    return plain(extract(source.parent.name, text))


@pytest.mark.req("SCOPE-058")
@each_file
def test_the_laws_hold_of_a_file(source: Path) -> None:
    text = text_of(source)
    check(text, extract(source.parent.name, text))


@each_file
def test_a_byte_order_mark_moves_every_span_by_one(source: Path) -> None:
    text = text_of(source).removeprefix("\ufeff")
    without, marked = (extract(source.parent.name, one) for one in (text, f"\ufeff{text}"))
    assert [(one.kind, one.name, one.start + 1, one.end + 1) for one in without.symbols] == [
        (one.kind, one.name, one.start, one.end) for one in marked.symbols
    ]
    assert [one.start_line for one in without.symbols] == [one.start_line for one in marked.symbols]


@each_file
def test_lines_in_front_move_every_span_by_their_length(source: Path) -> None:
    if source.parent.name in ("markdown", "php", "yaml"):
        pytest.skip("what a text of this language begins with has a meaning there")
    text = text_of(source).removeprefix("\ufeff")
    before, after = (extract(source.parent.name, one) for one in (text, f"\n\n{text}"))
    assert [(one.kind, one.name, one.start + 2, one.end_line + 2) for one in before.symbols] == [
        (one.kind, one.name, one.start, one.end_line) for one in after.symbols
    ]


@each_file
def test_a_text_needs_no_line_feed_at_its_end(source: Path) -> None:
    text = text_of(source)
    assert structure_of(source, text.rstrip("\n")) == structure_of(source, text)


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "\ufeff\n", " \t\n\n", "\r\n"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_found_in_nothing(language: str, text: str) -> None:
    assert extract(language, text).symbols == ()


def test_two_processes_find_the_same() -> None:
    script = "from tests.structure.test_span_laws import digest\nprint(digest())"
    root = FIXTURES.parents[2]
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert digests == {digest()}


def digest() -> str:
    """Names everything that is found in the files."""
    everything = [(source.name, structure_of(source, text_of(source))) for source in SOURCES]
    return hashlib.sha256(repr(everything).encode()).hexdigest()


@st.composite
def changed(draw: st.DrawFn, texts: list[str]) -> str:
    """One of ``texts`` with parts removed, moved, doubled and put in."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        place = draw(st.integers(0, len(text)))
        kept = draw(st.booleans())
        part = draw(st.sampled_from(PARTS)) * draw(st.integers(1, 3))
        put_in = draw(st.sampled_from((part, text[start:end])))
        text = text[:place] + put_in + text[place:] if kept else text[:start] + put_in + text[end:]
    return text


@pytest.mark.req("SCOPE-058")
@pytest.mark.parametrize("language", LANGUAGES)
@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_the_laws_hold_whatever_happens_to_a_file(language: str, data: st.DataObject) -> None:
    text = data.draw(changed(TEXTS[language]))
    try:
        structure = extract(language, text)
    except StructureLimitError:
        return
    check(text, structure)
    assert plain(extract(language, text)) == plain(structure)
