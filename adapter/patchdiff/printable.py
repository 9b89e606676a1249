"""Texts of strangers, made fit for a terminal or a page: nothing in them is obeyed or unseen."""

import re

_PLAIN = re.compile(r"[\t -~]*")


def is_plain(character: str) -> bool:
    """Whether a character shows as itself: no control, no direction mark, nothing invisible."""
    return character.isprintable() or character == "\t"


def printable(text: str) -> str:
    """The text with every character that a terminal could obey or not show as its escape."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(
        character if is_plain(character) else ascii(character)[1:-1] for character in text
    )


def shortened(text: str, width: int) -> str:
    """The text in at most width code points on one line, cut in the middle where it is longer."""
    text = printable(text)
    if len(text) <= width:
        return text
    tail = (width - 3) // 2
    return f"{text[: width - 3 - tail]} … {text[-tail:]}"
