"""The child process of the engine: reads texts from its standard input and answers with symbols.

It ends when its input does, which is when its parent ends, however that happens.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
from contextlib import suppress
from typing import Any

from patchdiff.descriptors import claim
from patchdiff.structure.extract import extract
from patchdiff.structure.frames import HEADER_BYTES, LARGEST_FRAME, decode, encode
from patchdiff.structure.identity import identity
from patchdiff.structure.symbols import Structure, StructureLimitError

ADDRESS_SPACE = 1_073_741_824
"""Bytes of memory that the process may map."""

ALARM_SECONDS = 10.0
"""A pass of this length ends the process, for the case that the parent cannot do that any more."""

OBJECTS_BETWEEN_COLLECTIONS = 250_000
"""A pass makes many objects, none of them in a cycle: to look for cycles only slows it down."""


def main() -> None:
    """Answers until the input ends."""
    _confine()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    read_descriptor, write_descriptor = claim()
    with (
        os.fdopen(read_descriptor, "rb") as requests,
        os.fdopen(write_descriptor, "wb") as answers,
        suppress(BrokenPipeError),
    ):
        answers.write(encode({"identity": identity()}))
        answers.flush()
        while len(header := requests.read(HEADER_BYTES)) == HEADER_BYTES:
            body = requests.read(int.from_bytes(header))
            signal.setitimer(signal.ITIMER_REAL, ALARM_SECONDS)
            answer = _answer(body)
            del body
            answers.write(answer)
            answers.flush()
            signal.setitimer(signal.ITIMER_REAL, 0)


def _confine() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # some systems have no such limit
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def _answer(body: bytes) -> bytes:
    try:
        language, text = decode(body)
        answer = encode(_plain(extract(language, text)))
        if len(answer) > LARGEST_FRAME:
            raise StructureLimitError(f"the symbols need more than {LARGEST_FRAME:,} bytes")
    except StructureLimitError as error:
        return _failure("STRUCTURE_LIMIT", str(error))
    except MemoryError:
        return _failure("STRUCTURE_LIMIT", f"the text needs more than {ADDRESS_SPACE:,} bytes")
    except ImportError:
        return _failure("STRUCTURE_UNAVAILABLE", f"no parser of {language} can be loaded")
    except Exception as error:  # noqa: BLE001 - the parent is told, whatever it is
        return _failure("STRUCTURE_CRASHED", f"the parser raised {type(error).__name__}")
    return answer


def _failure(code: str, detail: str) -> bytes:
    return encode({"code": code, "detail": detail})


def _plain(structure: Structure) -> dict[str, Any]:
    """A structure for JSON: containers as places in the list, before what they contain."""
    places = {id(symbol): place for place, symbol in enumerate(structure.symbols)}
    return {
        "has_errors": structure.has_errors,
        "symbols": [
            (*fields, None if container is None else places[id(container)])
            for *fields, container in structure.symbols
        ],
    }
