"""Whatever a text is, the engine answers in time and answers the next one."""

import time
from collections.abc import Iterator

import pytest

from patchdiff.structure.engine import Engine, StructureError
from patchdiff.structure.languages import LANGUAGES
from tests.structure.hostile import nested, texts

PASS_SECONDS = 5.0
CODES = {"STRUCTURE_LIMIT", "STRUCTURE_TIMEOUT", "STRUCTURE_CRASHED"}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(PASS_SECONDS) as one:
        yield one


def answer(engine: Engine, language: str, text: str) -> str:
    """How many symbols, or the code of the failure; checks the spans and the time."""
    started = time.monotonic()
    try:
        structure = engine.structure("hostile", language, text)
    except StructureError as error:
        outcome = error.code
        assert outcome in CODES, (language, error)
    else:
        outcome = str(len(structure.symbols))
        assert structure.language == language
        for symbol in structure.symbols:
            assert 0 <= symbol.start < symbol.end <= len(text)
            assert text[symbol.start] not in " \t\n\f\v"
            assert text[symbol.end - 1] not in " \t\n\f\v"
            assert 1 <= len(symbol.name) <= 512
    # a new process takes a moment
    assert time.monotonic() - started < PASS_SECONDS + 2, language
    return outcome


@pytest.mark.parametrize("language", LANGUAGES)
def test_ten_thousand_levels(engine: Engine, language: str) -> None:
    for text in nested(language, 10_000):
        assert answer(engine, language, text) != "STRUCTURE_TIMEOUT"


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_texts(engine: Engine, language: str) -> None:
    outcomes = {
        name: answer(engine, language, text) for name, text in texts(2_048, language).items()
    }
    assert [name for name, outcome in outcomes.items() if not outcome.isdigit()] == []


@pytest.mark.soak
@pytest.mark.parametrize("size", [65_536, 1_000_000])
@pytest.mark.parametrize("language", LANGUAGES)
def test_large_hostile_texts(engine: Engine, language: str, size: int) -> None:
    outcomes = {
        name: answer(engine, language, text) for name, text in texts(size, language).items()
    }
    print(language, size, {name: one for name, one in outcomes.items() if not one.isdigit()})
    assert engine.structure("fine.py", None, f"a = {size}").symbols
