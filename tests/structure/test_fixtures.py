"""Every symbol of one small file and more per language, against lists written by hand."""

import json
from pathlib import Path

import pytest

from patchdiff.structure.extract import extract
from patchdiff.structure.languages import language_of

FIXTURES = Path(__file__).parent / "fixtures"
SOURCES = sorted(path for path in FIXTURES.glob("*/*") if not path.name.endswith(".expected.json"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.relative_to(FIXTURES).as_posix())
def test_the_symbols_of_a_file(source: Path) -> None:
    text = source.read_bytes().decode()
    language = language_of(source.name, None, text)
    assert language == source.parent.name
    expected = json.loads(
        source.with_name(f"{source.stem}.expected.json").read_text(encoding="utf-8")
    )
    structure = extract(language, text)
    found = [
        [one.kind, one.name, one.parent, text[one.start : one.end]] for one in structure.symbols
    ]
    assert found == expected
