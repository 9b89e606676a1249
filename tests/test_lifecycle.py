"""Initialization and get_target, as the contract's section on target lifecycle tells them."""

from __future__ import annotations

import uuid

import pytest

from tests.support.documents import (
    UNKNOWN_ID,
    UUID_PATTERN,
    canonical,
    document,
    keys,
    row_counts,
    sha256,
)

INITIALIZE = "patchdiff_initialize_target"
UPLOAD = "patchdiff_handle_upload"
INVALID_TEXTS = ["\ud800", "a\udfffb", "nul \0 inside"]


def count_of_targets(admin) -> int:
    return row_counts(admin)["cloud_target_files"]


@pytest.mark.req("LIFE-001")
def test_filename_is_required(client):
    result = client.call_tool(INITIALIZE, {"content": "x"})
    assert result.is_error is True
    assert result.payload["status"] == "invalid_argument"
    assert result.payload["code"] == "missing_argument"
    assert result.payload["missing_arguments"] == ["filename"]


@pytest.mark.req("LIFE-002")
@pytest.mark.parametrize(
    "arguments",
    [{}, {"content": None}, {"from_workspace": False}, {"from_workspace": False, "content": None}],
)
def test_inline_initialization_needs_content(client, admin, arguments):
    before = count_of_targets(admin)
    answer = client.call(INITIALIZE, filename="a.txt", **arguments)
    assert answer["status"] == "invalid_argument"
    assert answer["failure_detail"]
    assert count_of_targets(admin) == before


@pytest.mark.req("LIFE-003")
@pytest.mark.parametrize(
    ("uploaded", "stored"),
    [
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\rb\r", "a\nb\n"),
        ("a\r\r\nb", "a\n\nb"),
        ("a\n\rb", "a\n\nb"),
        ("\r\r\r", "\n\n\n"),
        ("10%\r20%\ndone\n", "10%\n20%\ndone\n"),
        ("l1\r\r\nl2\n", "l1\n\nl2\n"),
    ],
)
def test_line_ends_are_stored_as_lf(client, uploaded, stored):
    target = document(client, uploaded)["target_file_id"]
    answer = client.call("patchdiff_get_target", target_file_id=target)
    assert answer["current_content"] == stored
    assert answer["current_hash"] == sha256(stored)


@pytest.mark.req("LIFE-004", "LIFE-015", "LIFE-013")
def test_an_empty_document_is_a_target(client):
    answer = document(client, "")
    assert (answer["status"], answer["version"]) == ("ok", 0)
    assert (
        answer["current_hash"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    page = client.call("patchdiff_read_target", target_file_id=answer["target_file_id"])
    assert (page["total_chars"], page["text"]) == (0, "")
    assert (
        client.call("patchdiff_get_target", target_file_id=answer["target_file_id"])["version"] == 0
    )


@pytest.mark.req("LIFE-005", "LIFE-006")
def test_content_type_becomes_target_type(client):
    assert document(client, "x")["target_type"] == "text/plain"
    for given in ("text/markdown", "python", "Text/X-Odd; charset=UTF-8 ", "\u4e2d/\U0001f600"):
        answer = document(client, "x", content_type=given)
        assert answer["target_type"] == given
        read = client.call("patchdiff_get_target", target_file_id=answer["target_file_id"])
        assert read["target_type"] == given


@pytest.mark.req("LIFE-007")
def test_project_id_is_optional_and_nullable(client, admin):
    project = str(uuid.uuid4())
    stored = []
    for arguments in ({}, {"project_id": None}, {"project_id": project}):
        target = document(client, "x", **arguments)["target_file_id"]
        query = (
            "select project_id::text from patchdiff.cloud_target_files where target_file_id = %s"
        )
        stored.append(admin.execute(query, [target]).fetchone()[0])
    assert stored == [None, None, project]


@pytest.mark.req("LIFE-008")
@pytest.mark.parametrize(
    "project_id",
    [
        "",
        "nope",
        "0000",
        UNKNOWN_ID + "0",
        "g" + UNKNOWN_ID[1:],
        5,
        True,
        ["x"],
        {},
        "\ud800",
        "\0",
    ],
)
@pytest.mark.parametrize("tool", [INITIALIZE, UPLOAD])
def test_project_id_must_be_a_uuid(client, admin, tool, project_id):
    before = count_of_targets(admin)
    answer = client.call(
        tool, filename="a", content="x", content_type="text/plain", project_id=project_id
    )
    assert answer["status"] == "invalid_argument"
    assert count_of_targets(admin) == before


@pytest.mark.req("LIFE-009")
def test_upload_requires_three_arguments(client):
    complete = {"filename": "a", "content": "x", "content_type": "text/plain"}
    assert client.call(UPLOAD, **complete)["status"] == "ok"
    for name in complete:
        result = client.call_tool(
            UPLOAD, {key: value for key, value in complete.items() if key != name}
        )
        assert result.is_error is True
        assert (result.payload["code"], result.payload["missing_arguments"]) == (
            "missing_argument",
            [name],
        )
    result = client.call_tool(UPLOAD, {})
    assert sorted(result.payload["missing_arguments"]) == sorted(complete)


@pytest.mark.req("LIFE-010")
def test_upload_has_no_from_workspace(client):
    arguments = {
        "filename": "a",
        "content": "x",
        "content_type": "text/plain",
        "from_workspace": False,
    }
    result = client.call_tool(UPLOAD, arguments)
    assert result.is_error is True
    assert result.payload["code"] == "unknown_argument"
    assert result.payload["unknown_arguments"] == ["from_workspace"]


@pytest.mark.req("LIFE-011")
def test_upload_answers_as_initialize(client):
    call = {
        "filename": "d.md",
        "content": "a\r\nb\U0001f600",
        "content_type": "text/markdown",
        "project_id": None,
    }
    first, second = client.call(INITIALIZE, **call), client.call(UPLOAD, **call)
    fresh = ("target_file_id", "active_editing_cycle_id")
    for name in fresh:
        assert first[name] != second[name]
        assert UUID_PATTERN.fullmatch(second[name])
    assert {**first, **dict.fromkeys(fresh)} == {**second, **dict.fromkeys(fresh)}
    assert list(first) == list(second)


@pytest.mark.req("LIFE-012")
def test_from_workspace_defaults_to_false_and_is_boolean(client, admin):
    assert document(client, "x")["status"] == "ok"
    assert document(client, "x", from_workspace=False)["status"] == "ok"
    before = count_of_targets(admin)
    for value in ("false", "true", 0, 1, None, 0.0, []):
        answer = client.call(INITIALIZE, filename="a", content="x", from_workspace=value)
        assert answer["status"] == "invalid_argument", value
    assert count_of_targets(admin) == before


@pytest.mark.req("LIFE-013", "LIFE-014", "LIFE-015", "LIFE-016", "LIFE-017")
def test_initialization_answer(client):
    answer = document(
        client, "alpha beta alpha\r\n", filename="doc.md", content_type="text/markdown"
    )
    assert keys(answer) == {
        "status",
        "target_file_id",
        "filename",
        "target_type",
        "version",
        "current_hash",
        "active_editing_cycle_id",
        "source_line_endings",
    }
    assert (answer["status"], answer["filename"], answer["version"]) == ("ok", "doc.md", 0)
    assert answer["current_hash"] == sha256("alpha beta alpha\n")
    assert answer["current_hash"].startswith("b22ebf77")
    for name in ("target_file_id", "active_editing_cycle_id"):
        assert UUID_PATTERN.fullmatch(answer[name])


@pytest.mark.req("LIFE-016")
@pytest.mark.parametrize(
    "content", ["", "\r", "e\u0301\xe9\u4e2d\U0001f600\u2028\r\n\ufeff", "a" * 9000 + "\r\n"]
)
def test_hash_is_of_the_utf8_bytes_of_the_lf_text(client, content):
    assert document(client, content)["current_hash"] == sha256(canonical(content))


@pytest.mark.req("LIFE-018", "LIFE-019")
def test_initialization_writes_snapshot_and_cycle_and_nothing_else(client, admin):
    answer = document(client, "a\r\nb")
    target = answer["target_file_id"]
    snapshots = admin.execute(
        "select snapshot_reason, version, content, content_hash, editing_cycle_id::text"
        " from patchdiff.target_snapshots where target_file_id = %s",
        [target],
    ).fetchall()
    cycle = answer["active_editing_cycle_id"]
    assert snapshots == [("initial", 0, "a\nb", sha256("a\nb"), cycle)]
    cycles = admin.execute(
        "select editing_cycle_id::text, closed_at"
        " from patchdiff.editing_cycles where target_file_id = %s",
        [target],
    ).fetchall()
    assert cycles == [(cycle, None)]
    for table in ("append_only_pdcp_logs", "manifest_ledger"):
        rows = admin.execute(
            f"select count(*) from patchdiff.{table} where target_file_id = %s", [target]
        )
        assert rows.fetchone()[0] == 0


@pytest.mark.req("LIFE-020")
@pytest.mark.parametrize("text", INVALID_TEXTS)
@pytest.mark.parametrize("name", ["filename", "content", "content_type"])
@pytest.mark.parametrize("tool", [INITIALIZE, UPLOAD])
def test_invalid_text_makes_no_target(client, admin, tool, name, text):
    before = count_of_targets(admin)
    arguments = {"filename": "a", "content": "x", "content_type": "text/plain", name: text}
    answer = client.call(tool, **arguments)
    assert answer["status"] == "invalid_argument"
    assert name in answer["failure_detail"]
    assert count_of_targets(admin) == before


@pytest.mark.req("LIFE-021")
def test_get_target_takes_the_id_alone(client):
    target = document(client, "x")["target_file_id"]
    result = client.call_tool("patchdiff_get_target", {})
    assert result.is_error is True
    assert (result.payload["code"], result.payload["missing_arguments"]) == (
        "missing_argument",
        ["target_file_id"],
    )
    result = client.call_tool("patchdiff_get_target", {"target_file_id": target, "version": 0})
    assert (result.is_error, result.payload["code"]) == (True, "unknown_argument")


@pytest.mark.req("LIFE-022")
def test_get_target_answer(client):
    created = document(client, "a\r\n\u4e2d", filename="n", content_type="x/y")
    answer = client.call("patchdiff_get_target", target_file_id=created["target_file_id"])
    assert answer == {**created, "current_content": "a\n\u4e2d"}
    assert keys(answer) == {
        "status",
        "target_file_id",
        "filename",
        "target_type",
        "current_content",
        "current_hash",
        "version",
        "active_editing_cycle_id",
        "source_line_endings",
    }


@pytest.mark.req("LIFE-023")
@pytest.mark.parametrize("length", [8000, 8001, 100_000])
def test_get_target_returns_the_whole_text(client, length):
    content = ("\U0001f600\u4e2dab\n" * (length // 5 + 1))[:length]
    target = document(client, content)["target_file_id"]
    assert client.call("patchdiff_get_target", target_file_id=target)["current_content"] == content


@pytest.mark.req("LIFE-024")
def test_get_target_of_an_unknown_target(client):
    answer = client.call("patchdiff_get_target", target_file_id=UNKNOWN_ID)
    assert answer["status"] == "not_found"
    assert answer["failure_detail"]


@pytest.mark.req("LIFE-025")
@pytest.mark.parametrize(
    "value", ["", "x", UNKNOWN_ID[:-1], UNKNOWN_ID + "0", 5, None, True, [], {}, "\ud800", "\0"]
)
def test_get_target_of_a_malformed_id(client, value):
    answer = client.call("patchdiff_get_target", target_file_id=value)
    assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")
    assert answer["failure_detail"]


@pytest.mark.req("LIFE-026")
@pytest.mark.parametrize(
    "spelling",
    [
        str.upper,
        lambda target: target.replace("-", ""),
        lambda target: "{" + target + "}",
        lambda target: " " + target,
        lambda target: target + " ",
        lambda target: target + "\n",
        lambda target: "urn:uuid:" + target,
        lambda target: target.replace("-", "", 1),
    ],
)
def test_another_spelling_of_an_existing_id_is_malformed(client, spelling):
    target = document(client, "x")["target_file_id"]
    while not any(
        character in "abcdef" for character in target
    ):  # or upper case would be the same string
        target = document(client, "x")["target_file_id"]
    for tool in (
        "get_target",
        "export_target",
        "read_target",
        "read_lines",
        "get_pdcp_log",
        "get_manifest_ledger",
    ):
        answer = client.call(f"patchdiff_{tool}", target_file_id=spelling(target))
        assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id"), tool


@pytest.mark.req("LIFE-027")
def test_a_byte_order_mark_is_an_ordinary_code_point(client):
    created = document(client, "\ufeffab\n")
    page = client.call("patchdiff_read_target", target_file_id=created["target_file_id"])
    assert (page["text"], page["total_chars"]) == ("\ufeffab\n", 4)
    assert created["current_hash"] == sha256("\ufeffab\n")
    facts = created["source_line_endings"]
    assert (facts["source_code_points"], facts["source_utf8_bytes"]) == (4, 6)


@pytest.mark.req("LIFE-028")
def test_only_lf_and_cr_are_line_ends(client):
    content = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei"
    created = document(client, content)
    facts = created["source_line_endings"]
    assert [facts[name] for name in ("style", "lf", "crlf", "cr", "normalized")] == [
        "none",
        0,
        0,
        0,
        False,
    ]
    lines = client.call("patchdiff_read_lines", target_file_id=created["target_file_id"])
    assert (lines["text"], lines["total_lines"]) == (content, 1)
