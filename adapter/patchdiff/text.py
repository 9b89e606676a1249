"""Text as the service stores it: what PostgreSQL can hold, canonical line ends, hashes."""

import hashlib
import re

_INVALID = re.compile("[\0\ud800-\udfff]")


def is_postgresql_text(text: str) -> bool:
    """Whether PostgreSQL can store `text` in a UTF-8 database: no lone surrogate and no NUL."""
    if "\0" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def invalid_offset(text: str) -> int | None:
    """Offset in code points of the first character PostgreSQL cannot store; None if it can all."""
    found = _INVALID.search(text)
    return None if found is None else found.start()


def canonical(text: str) -> str:
    """`text` with every CRLF pair and every lone CR as one LF; nothing else is changed."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def sha256_hex(text: str) -> str:
    """The SHA-256 of the UTF-8 bytes of `text`, as 64 lowercase hexadecimal digits.

    Raises UnicodeEncodeError for a lone surrogate, which has no UTF-8 form.
    """
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
