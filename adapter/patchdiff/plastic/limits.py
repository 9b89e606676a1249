"""The bounds of both tools. Sizes are bytes, characters are UTF-16 code units, times seconds."""

from dataclasses import dataclass
from typing import Final

SIDE_BYTES: Final = 4 * 1024 * 1024
"""What is retained of one side, and the largest patch artifact."""

SELECTOR_BYTES: Final = 64 * 1024
"""The largest local selector file."""

CONTROL_CHARACTERS: Final = 4096
"""The longest string of a request."""

REQUEST_BYTES: Final = 32 * 1024
"""The largest patch request as compact JSON."""

WORKSPACE_PATHS: Final = 20
MOST_FILES: Final = 20
DEFAULT_FILES_SCOPED: Final = 20
DEFAULT_FILES_ALL_PENDING: Final = 3

LEAST_EXCERPT: Final = 500
FILE_EXCERPT: Final = 8_000
MOST_FILE_EXCERPT: Final = 20_000
WORKSPACE_EXCERPT: Final = 3_000
MOST_WORKSPACE_EXCERPT: Final = 8_000
PATCH_EXCERPT: Final = 60_000


@dataclass(frozen=True)
class CaptureLimits:
    """What one command may print, and how long it may run before it is stopped."""

    stdout_bytes: int
    stderr_bytes: int
    seconds: float


@dataclass(frozen=True)
class Limits:
    """The bounds that a whole call is held to."""

    command: CaptureLimits = CaptureLimits(1024 * 1024, 64 * 1024, 30.0)
    """Every command of a comparison."""

    patch: CaptureLimits = CaptureLimits(64 * 1024, 16 * 1024, 120.0)
    """The generation of a patch."""

    diff_envelope_bytes: int = 131_072
    patch_envelope_bytes: int = 524_288
    diff_presentation: int = 24_000
    patch_presentation: int = 72_000


DEFAULT_LIMITS: Final = Limits()
