"""What PostgreSQL can store, canonical line ends, and hashes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchdiff.text import canonical, invalid_offset, is_postgresql_text, sha256_hex

ANY_TEXT = st.text(st.characters() | st.sampled_from("\0\r\n\ud800\udbff\udc00\udfff\U0001f600"))


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("", None),
        ("a\U0010ffff\ufffe\ufeff\ud7ff\ue000\x01\x7f", None),
        ("\0", 0),
        ("ab\0", 2),
        ("\ud800", 0),
        ("\U0001f600\udfff", 1),
        ("\udbff\udc00", 0),
    ],
)
def test_nul_and_lone_surrogates_cannot_be_stored(text: str, offset: int | None) -> None:
    assert is_postgresql_text(text) is (offset is None)
    assert invalid_offset(text) == offset


@given(ANY_TEXT)
def test_the_verdict_and_the_offset_agree_with_each_character(text: str) -> None:
    bad = [
        position
        for position, character in enumerate(text)
        if character == "\0" or 0xD800 <= ord(character) <= 0xDFFF
    ]
    assert is_postgresql_text(text) is (not bad)
    assert invalid_offset(text) == (bad[0] if bad else None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a\nb", "a\nb"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\nb"),
        ("\r\r\n", "\n\n"),
        ("\n\r", "\n\n"),
        ("\r\n\r\n\r", "\n\n\n"),
        ("\u2028\u2029\u0085\x0b\x0c\ufeff", "\u2028\u2029\u0085\x0b\x0c\ufeff"),
    ],
)
def test_crlf_and_cr_become_lf_and_nothing_else_changes(text: str, expected: str) -> None:
    assert canonical(text) == expected


@given(ANY_TEXT)
def test_canonical_text_has_no_cr_and_stays_as_it_is(text: str) -> None:
    result = canonical(text)
    assert result == re.sub("\r\n?", "\n", text)
    assert canonical(result) == result


def test_the_hash_is_that_of_the_utf8_bytes() -> None:
    # Known values: of nothing, of "abc", and (by sha256sum) of the bytes C3 A9 0A.
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sha256_hex("") == empty
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_hex("abc") == abc
    accented = "edd3a863872a04239eb29ad4bc12fc892b3d4ae57cc7e786a3697816f8e141c2"
    assert sha256_hex("\u00e9\n") == accented
    with pytest.raises(UnicodeEncodeError):
        sha256_hex("\ud800")
