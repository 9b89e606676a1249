"""Every symbol of one small file and more per language, against lists written by hand."""

from pathlib import Path

import pytest

from patchdiff.structure.extract import extract
from patchdiff.structure.languages import LANGUAGES, language_of
from tests.structure.support import FIXTURES, SOURCES, expected_of, text_of


@pytest.mark.req("SCOPE-058")
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.relative_to(FIXTURES).as_posix())
def test_the_symbols_of_a_file(source: Path) -> None:
    text = text_of(source)
    language = language_of(source.name, None, text)
    assert language == source.parent.name
    structure = extract(language, text)
    assert structure.language == language
    found = [
        [one.kind, one.name, one.parent, text[one.start : one.end]] for one in structure.symbols
    ]
    assert found == expected_of(source)


@pytest.mark.req("SCOPE-058")
def test_every_language_has_a_file() -> None:
    assert {source.parent.name for source in SOURCES} == set(LANGUAGES)
