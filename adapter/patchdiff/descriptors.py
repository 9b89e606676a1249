"""The process's standard input and output, taken for the protocol before anything else runs."""

import os
import sys


def claim() -> tuple[int, int]:
    """Take the process's standard input and output for the protocol alone.

    Returns duplicates of descriptors 0 and 1, which child processes do not inherit. Afterwards
    descriptor 0 is the null device and descriptor 1 is standard error, so that whatever else prints
    cannot reach the peer. To be called before anything that might print is imported.

    Raises OSError when standard input, output or error is closed.
    """
    read_descriptor, write_descriptor = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdout.flush()
    os.dup2(2, 1)
    return read_descriptor, write_descriptor
