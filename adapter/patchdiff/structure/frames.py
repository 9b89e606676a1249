"""Messages between the engine and its child process: JSON behind its length in four bytes."""

from __future__ import annotations

import json
from typing import Any

HEADER_BYTES = 4

LARGEST_FRAME = 64 * 1_048_576
"""Bytes of the largest message, without its length."""


def encode(message: Any) -> bytes:
    """``message`` in UTF-8 with its length in front, the most significant byte first."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    return len(body).to_bytes(HEADER_BYTES) + body


def decode(body: bytes | bytearray) -> Any:
    """The message of a frame without its length."""
    return json.loads(body)
