"""Whether the call in progress is still wanted, for work that waits for other processes.

Work that never asks runs to its end.
"""

import asyncio
import threading
from typing import Final

from anyio import NoEventLoopError, from_thread

_ENDING: Final = threading.Event()


def end_all() -> None:
    """Say that this process is about to end, whatever is in progress."""
    _ENDING.set()


def process_is_ending() -> bool:
    """Whether this process is about to end, so that only moments are left."""
    return _ENDING.is_set()


def is_cancelled() -> bool:
    """Whether the answer of the call in this worker thread is no longer wanted."""
    if _ENDING.is_set():
        return True
    try:
        from_thread.check_cancelled()
    except asyncio.CancelledError:
        return True
    except NoEventLoopError:
        # not called through the server
        return False
    return False
