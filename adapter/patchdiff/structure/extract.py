"""The structure of a text, worked out in this process."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from patchdiff.structure.assembly import BYTE_ORDER_MARK, assemble
from patchdiff.structure.languages import TEXT
from patchdiff.structure.symbols import Found, Structure

Find = Callable[[str], tuple[list[Found], bool]]


def extract(language: str, text: str) -> Structure:
    """The structure of ``text``, a text without lone surrogates, in one of the languages.

    It may take long, much memory, or crash on a hostile text: `engine.Engine` confines that.
    Raises StructureLimitError for a text past a limit, and ImportError where the language's parser
    is not installed.
    """
    if language == TEXT:
        return Structure(language, False, ())
    module = import_module(f"patchdiff.structure.extractors.{language}")
    found, has_errors = cast("Find", module.find)(text.removeprefix(BYTE_ORDER_MARK))
    return assemble(language, text, found, has_errors)
