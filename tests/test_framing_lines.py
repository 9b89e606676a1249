"""Single lines of the stdio transport: what is read, what is refused, what is written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from patchdiff.framing import decode, encode


def error_of(line: bytes) -> tuple[int, Any]:
    answer = decode(line)
    assert isinstance(answer, bytes), answer
    assert answer.isascii()
    assert answer.endswith(b"\n")
    assert answer.count(b"\n") == 1
    message = json.loads(answer)
    assert message["jsonrpc"] == "2.0"
    assert message["error"]["message"]
    return message["error"]["code"], message["id"]


@pytest.mark.parametrize(
    "line",
    [
        b"x",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}',
        b"{'jsonrpc':'2.0'}",
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xc0\xaf"}',
        b'{"jsonrpc":"2.0","id":1,"method":"a\tb"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e309}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-1e309}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1' + b"0" * 4300 + b"}}",
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-1' + b"0" * 4300 + b"}}",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 257 + b"1" + b"}" * 257,
        b"[" * 257 + b"]" * 257,
    ],
    ids=lambda line: repr(line[:60]),
)
@pytest.mark.req("MCP-015")
def test_a_line_that_is_not_json_is_a_parse_error_without_id(line: bytes) -> None:
    assert error_of(line) == (-32700, None)


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b"[]", None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None),
        (b"null", None),
        (b"1", None),
        (b'"ping"', None),
        (b"{}", None),
        (b'{"jsonrpc":"2.0","id":1}', 1),
        (b'{"id":1,"method":"ping"}', 1),
        (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', "a"),
        (b'{"jsonrpc":2.0,"id":1,"method":"ping"}', 1),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":null}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', 1),
        (b'{"jsonrpc":"2.0","method":"ping","params":3}', None),
        (b'{"jsonrpc":"2.0","id":1,"result":3}', None),
        (b'{"jsonrpc":"2.0","id":1,"error":3}', None),
        (b"[" * 256 + b"]" * 256, None),
    ],
    ids=lambda value: repr(value)[:70],
)
def test_json_that_is_no_message_is_an_invalid_request(line: bytes, request_id: object) -> None:
    assert error_of(line) == (-32600, request_id)


@pytest.mark.parametrize("line", [b"", b" ", b"\r", b" \t \r"])
def test_a_blank_line_is_ignored(line: bytes) -> None:
    assert decode(line) is None


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r', JSONRPCRequest),
        (b' {"jsonrpc":"2.0","id":"","method":"","params":{}}', JSONRPCRequest),
        (b'{"jsonrpc":"2.0","id":-9223372036854775809,"method":"x"}', JSONRPCRequest),
        (b'{"jsonrpc":"2.0","id":1' + b"0" * 4299 + b',"method":"x"}', JSONRPCRequest),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":null}', JSONRPCRequest),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"x":1e308}}', JSONRPCRequest),
        (b'{"jsonrpc":"2.0","method":"x"}', JSONRPCNotification),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', JSONRPCResponse),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}', JSONRPCError),
        (
            b'{"jsonrpc":"2.0","method":"x","params":{"x":' + b"[" * 254 + b"]" * 254 + b"}}",
            JSONRPCNotification,
        ),
        (
            # Many brackets in a text are no nesting.
            b'{"jsonrpc":"2.0","method":"x","params":{"x":"' + b"[{" * 5000 + b'"}}',
            JSONRPCNotification,
        ),
    ],
    ids=lambda value: repr(value)[:70],
)
def test_a_message_at_the_bound_is_read(line: bytes, kind: type) -> None:
    assert isinstance(decode(line), kind)


@pytest.mark.parametrize("character", ["\0", "\ud800", "\u2028", "\U0001f600", "\x7f"])
def test_every_character_survives_the_way_in_and_out(character: str) -> None:
    line = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": character,
            "method": character,
            "params": {character: [character, {character: character}]},
        }
    ).encode()
    message = decode(line)
    assert isinstance(message, JSONRPCRequest)
    assert (message.id, message.method) == (character, character)
    assert message.params == {character: [character, {character: character}]}
    written = encode(JSONRPCResponse(jsonrpc="2.0", id=character, result={character: character}))
    assert written.isascii()
    assert json.loads(written)["id"] == character
    assert json.loads(written)["result"] == {character: character}


def test_a_reply_that_is_not_json_becomes_an_internal_error() -> None:
    for value in (object(), float("nan"), b"bytes"):
        line = encode(JSONRPCResponse(jsonrpc="2.0", id=7, result={"value": value}))
        message = json.loads(line)
        assert (message["id"], message["error"]["code"]) == (7, -32603)


@given(
    st.binary(max_size=200) | st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_give_a_message_an_error_line_or_nothing(line: bytes) -> None:
    answer = decode(line)
    if isinstance(answer, bytes):
        assert error_of(line)[0] in (-32700, -32600)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters()),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
        max_leaves=20,
    )
)
def test_any_json_value_arrives_as_it_was_sent(value: object) -> None:
    line = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"value": value}}
    ).encode()
    message = decode(line)
    assert isinstance(message, JSONRPCRequest)
    assert message.params == {"value": value}
