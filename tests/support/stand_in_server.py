"""The MCP server with a stand-in for the service: real transport, catalog and protocol.

No database is needed.
`patchdiff_find_occurrences` takes an order in its `text`; other tools answer what they were given.
Run as `python -m tests.support.stand_in_server` from the repository's root.
"""

import logging
import os
import sys
import time
import warnings

from patchdiff.arguments import refuse_types
from patchdiff.catalog import Tool
from patchdiff.descriptors import claim
from patchdiff.profiles import PROFILES
from patchdiff.protocol import Answer, Session, build_server, run

performed: list[str] = []


def dispatch(tool: Tool, arguments: dict[str, object]) -> Answer:
    """Perform one call of the stand-in."""
    refusal = refuse_types(tool, arguments)
    if refusal is not None:
        return Answer(refusal)
    if tool.name != "patchdiff_find_occurrences":
        performed.append(tool.name)
        return Answer({"status": "ok", "tool": tool.name, "given": arguments})
    order, _, rest = str(arguments["text"]).partition(" ")
    performed.append(f"{order} {rest}".strip())
    if order == "sleep":
        time.sleep(float(rest))
    elif order == "raise":
        raise RuntimeError(rest + "\ud800")
    elif order == "print":
        print("a line printed to stdout")
        os.write(1, b"a line written to descriptor 1\n")
        os.system("echo a line of a child process")
        warnings.warn("a warning", stacklevel=1)
        logging.getLogger("stand-in").error("a log line with \u2713 and \ud800")
    elif order == "object":
        return Answer({"status": "ok", "value": object()})
    elif order == "nan":
        return Answer({"status": "ok", "value": float("nan")})
    elif order == "surrogate":
        return Answer({"status": "ok", "value": "\u00e9 \ud800"})
    elif order == "performed":
        return Answer({"status": "ok", "performed": performed[:-1]})
    return Answer({"status": "ok", "text": arguments["text"]})


if __name__ == "__main__":
    sys.exit(run(build_server(Session(PROFILES["reader"], dispatch)), claim()))
