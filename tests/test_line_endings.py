"""Recorded line endings of an upload, and the export formats."""

from __future__ import annotations

import hashlib

import pytest

from tests.support.documents import (
    UNKNOWN_ID,
    accepted,
    canonical,
    change,
    content_of,
    document,
    keys,
    overwrite,
    rejected,
    sha256,
)

FORMATS = ["original_text", "canonical_lf", "crlf", "original_eol"]


def export(client, target, **arguments):
    return client.call("patchdiff_export_target", target_file_id=target, **arguments)


def recorded(style, lf, crlf, cr):
    return {"style": style, "lf": lf, "crlf": crlf, "cr": cr}


@pytest.mark.req(
    "EOL-001", "EOL-002", "EOL-003", "EOL-004", "EOL-005", "EOL-006", "EOL-007", "EOL-008",
    "EOL-009", "EOL-010", "EOL-011", "EOL-012",
)  # fmt: skip
@pytest.mark.parametrize(
    ("upload", "expected"),
    [
        ("", recorded("none", 0, 0, 0)),
        ("no end, \u2028 \x85 \x0b \x0c", recorded("none", 0, 0, 0)),
        ("\n", recorded("lf", 1, 0, 0)),
        ("a\nb\n\n\xe9\U0001f600", recorded("lf", 3, 0, 0)),
        ("a\r\n", recorded("crlf", 0, 1, 0)),
        ("a\r\nb\r\n\r\n\u4e2d", recorded("crlf", 0, 3, 0)),
        ("\r", recorded("cr", 0, 0, 1)),
        ("a\rb\r\r\U0001f600", recorded("cr", 0, 0, 3)),
        ("a\nb\r\n", recorded("mixed", 1, 1, 0)),
        ("a\nb\rc", recorded("mixed", 1, 0, 1)),
        ("a\r\nb\rc", recorded("mixed", 0, 1, 1)),
        ("a\nb\r\nc\rd", recorded("mixed", 1, 1, 1)),
        ("\r\r\n", recorded("mixed", 0, 1, 1)),
        ("\n\r", recorded("mixed", 1, 0, 1)),
        ("\r\n\r", recorded("mixed", 0, 1, 1)),
        ("\n\r\n", recorded("mixed", 1, 1, 0)),
        ("10%\r20%\ndone\n", recorded("mixed", 2, 0, 1)),
        ("l1\r\r\nl2\n", recorded("mixed", 1, 1, 1)),
    ],
)
def test_recorded_facts(client, upload, expected):
    answer = document(client, upload)
    facts = answer["source_line_endings"]
    assert facts == {
        **expected,
        "normalized": canonical(upload) != upload,
        "source_code_points": len(upload),
        "source_utf8_bytes": len(upload.encode()),
        "source_sha256": hashlib.sha256(upload.encode()).hexdigest(),
    }
    assert facts["normalized"] is (facts["crlf"] + facts["cr"] > 0)
    assert content_of(client, answer["target_file_id"]) == canonical(upload)


@pytest.mark.req("EOL-013", "EOL-012")
def test_the_example_of_the_contract(client):
    facts = document(client, "alpha beta alpha\r\n")["source_line_endings"]
    assert facts == {
        "style": "crlf",
        "lf": 0,
        "crlf": 1,
        "cr": 0,
        "normalized": True,
        "source_code_points": 18,
        "source_utf8_bytes": 18,
        "source_sha256": hashlib.sha256(b"alpha beta alpha\r\n").hexdigest(),
    }
    assert facts["source_sha256"].startswith("0e66cb5c")


@pytest.mark.req("EOL-014")
@pytest.mark.parametrize("upload", ["", "x", "a\nb\n", "\u4e2d\n\U0001f600"])
def test_source_hash_of_an_lf_upload_is_the_current_hash(client, upload):
    answer = document(client, upload)
    assert (
        answer["source_line_endings"]["source_sha256"] == answer["current_hash"] == sha256(upload)
    )


@pytest.mark.req("EOL-015")
def test_recorded_facts_never_change(client):
    answer = document(client, "one\r\ntwo\r\n")
    target, facts = answer["target_file_id"], answer["source_line_endings"]
    accepted(client, target, change("one", "1\n2\r3\r\n4"))
    rejected(
        client, target, change("absent", "x"), reason="match_absent", expected_target_version=1
    )
    accepted(client, target, change("\n", "", occurrence_index=1), expected_target_version=1)
    saved = client.call("patchdiff_save", target_file_id=target, export_after_save=True)
    assert saved["export"]["source_line_endings"] == facts
    assert client.call("patchdiff_replay", target_file_id=target)["status"] == "success"
    for name in FORMATS:
        assert export(client, target, format=name)["source_line_endings"] == facts
    assert (
        client.call("patchdiff_get_target", target_file_id=target)["source_line_endings"] == facts
    )


@pytest.mark.req("EOL-016", "EOL-029")
def test_a_target_without_recorded_facts(client, admin):
    target = document(client, "a\r\nb")["target_file_id"]
    overwrite(admin, target, source_line_endings=None)
    assert client.call("patchdiff_get_target", target_file_id=target)["source_line_endings"] is None
    for name in ("original_text", "canonical_lf", "crlf"):
        answer = export(client, target, format=name)
        assert answer["status"] == "ok"
        assert answer["source_line_endings"] is None
    answer = export(client, target, format="original_eol")
    assert (answer["status"], answer["code"]) == ("invalid_argument", "source_line_endings_unknown")
    assert answer["failure_detail"]


@pytest.mark.req("EOL-017", "EOL-026")
def test_format_defaults_to_original_text(client):
    target = document(client, "a\r\nb")["target_file_id"]
    assert export(client, target) == export(client, target, format="original_text")
    assert export(client, target)["format"] == "original_text"
    result = client.call_tool("patchdiff_export_target", {"format": "crlf"})
    assert (result.is_error, result.payload["missing_arguments"]) == (True, ["target_file_id"])
    result = client.call_tool("patchdiff_export_target", {"target_file_id": target, "eol": "crlf"})
    assert (result.is_error, result.payload["unknown_arguments"]) == (True, ["eol"])


@pytest.mark.req("EOL-018", "EOL-019", "EOL-026", "EOL-027", "EOL-032", "EOL-033")
@pytest.mark.parametrize(
    ("name", "content", "content_eol"),
    [
        ("original_text", "a\n\u4e2d\n", "lf"),
        ("canonical_lf", "a\n\u4e2d\n", "lf"),
        ("crlf", "a\r\n\u4e2d\r\n", "crlf"),
        ("original_eol", "a\r\u4e2d\r", "cr"),
    ],
)
def test_export_answer(client, name, content, content_eol):
    created = document(client, "a\r\u4e2d\r", filename="f.md", content_type="text/markdown")
    answer = export(client, created["target_file_id"], format=name)
    canonical_hash = sha256("a\n\u4e2d\n")
    expected = {
        "status": "ok",
        "filename": "f.md",
        "content": content,
        "content_type": "text/markdown",
        "content_eol": content_eol,
        "content_sha256": sha256(content),
        "target_type": "text/markdown",
        "version": 0,
        "hash": canonical_hash,
        "current_hash": canonical_hash,
        "format": name,
        "source_line_endings": created["source_line_endings"],
    }
    assert answer == expected
    assert keys(answer) == keys(expected)


@pytest.mark.req(
    "EOL-020", "EOL-021", "EOL-022", "EOL-023", "EOL-024", "EOL-025", "EOL-027", "EOL-032",
    "EOL-033",
)  # fmt: skip
@pytest.mark.parametrize(
    ("upload", "original_end"),
    [
        ("", "\n"),
        ("no end", "\n"),
        ("a\n\nb\n", "\n"),
        ("a\r\n\r\nb", "\r\n"),
        ("\r\n", "\r\n"),
        ("a\r\rb\r", "\r"),
        ("\u2028\x85\x0b\U0001f600\r\n$\\1%s", "\r\n"),
    ],
)
def test_each_format_of_a_uniform_upload(client, upload, original_end):
    target = document(client, upload)["target_file_id"]
    text = canonical(upload)
    expected = {
        "original_text": (text, "lf"),
        "canonical_lf": (text, "lf"),
        "crlf": (text.replace("\n", "\r\n"), "crlf"),
        "original_eol": (
            text.replace("\n", original_end),
            {"\n": "lf", "\r\n": "crlf", "\r": "cr"}[original_end],
        ),
    }
    for name, (content, content_eol) in expected.items():
        answer = export(client, target, format=name)
        assert (answer["content"], answer["content_eol"]) == (content, content_eol), name
        assert answer["content_sha256"] == sha256(content)
        assert answer["hash"] == answer["current_hash"] == sha256(text)


@pytest.mark.req("EOL-022")
def test_crlf_export_twice_gives_the_same(client):
    target = document(client, "l1\r\r\nl2\n")["target_file_id"]
    first = export(client, target, format="crlf")
    assert first["content"] == "l1\r\n\r\nl2\r\n"
    assert export(client, target, format="crlf") == first


@pytest.mark.req("EOL-028")
@pytest.mark.parametrize(
    "upload", ["a\nb\r\n", "a\nb\rc", "a\r\nb\rc", "10%\r20%\ndone\n", "\r\r\n"]
)
def test_mixed_endings_are_unrecoverable(client, upload):
    target = document(client, upload)["target_file_id"]
    answer = export(client, target, format="original_eol")
    assert (answer["status"], answer["code"]) == ("invalid_argument", "original_eol_unrecoverable")
    assert answer["failure_detail"]
    assert "content" not in answer
    assert export(client, target, format="crlf")["content"] == canonical(upload).replace(
        "\n", "\r\n"
    )


@pytest.mark.req("EOL-030", "EOL-031")
@pytest.mark.parametrize(
    "name",
    [
        "CRLF",
        "Original_Text",
        "",
        " crlf",
        "crlf\n",
        "lf",
        "cr",
        "original",
        5,
        0,
        True,
        None,
        ["crlf"],
        {},
    ],
)
def test_any_other_format_is_unsupported(client, name):
    target = document(client, "a\r\nb")["target_file_id"]
    answer = export(client, target, format=name)
    assert (answer["status"], answer["code"]) == ("invalid_argument", "unsupported_export_format")
    assert answer["allowed_formats"] == FORMATS
    assert answer["failure_detail"]


@pytest.mark.req("EOL-034")
@pytest.mark.parametrize(
    "upload", ["a\r\nb\r\n", "\r\n\r\n", "\ufeff\u4e2d\r\n\U0001f600", "alpha\r\nbeta\r\n"]
)
def test_an_unedited_crlf_upload_comes_back_byte_for_byte(client, upload):
    created = document(client, upload)
    answer = export(client, created["target_file_id"], format="original_eol")
    assert answer["content"] == upload
    assert answer["content_sha256"] == created["source_line_endings"]["source_sha256"]


@pytest.mark.req("EOL-035")
@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_added_lines_take_the_recorded_style(client, end):
    target = document(client, f"one{end}two{end}")["target_file_id"]
    answer = accepted(client, target, change("two", "2a\n2b\r2c\r\n2d"))
    exported = export(client, target, format="original_eol")
    assert exported["content"] == end.join(["one", "2a", "2b", "2c", "2d", ""])
    assert exported["hash"] == answer["after_hash"] == sha256("one\n2a\n2b\n2c\n2d\n")
    assert exported["version"] == 1


@pytest.mark.req("EOL-036")
def test_export_of_unknown_and_malformed_ids(client):
    answer = export(client, UNKNOWN_ID)
    assert answer["status"] == "not_found"
    assert answer["failure_detail"]
    for value in ("x", "", UNKNOWN_ID.replace("-", ""), 5, None, True):
        answer = export(client, value)
        assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")
