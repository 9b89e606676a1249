"""Reads, paging and search against plain Python, on random texts."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.documents import ServiceCaller, canonical, document, sha256, texts

RANDOM = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def model_of_lines(text):
    """The text's lines, each with its LF, the last one without: (start, line)."""
    pieces, start, lines = text.split("\n"), 0, []
    for number, piece in enumerate(pieces, 1):
        line = piece if number == len(pieces) else piece + "\n"
        lines.append((start, line))
        start += len(line)
    return lines


@pytest.mark.req(
    "LIFE-003", "LIFE-016", "EOL-002", "EOL-008", "EOL-010", "EOL-011", "EOL-012", "EOL-022",
    "EOL-034",
)  # fmt: skip
@RANDOM
@given(upload=texts())
def test_an_upload_and_its_exports(service, upload):
    caller = ServiceCaller(service)
    created = document(caller, upload)
    target, text, facts = (
        created["target_file_id"],
        canonical(upload),
        created["source_line_endings"],
    )
    assert created["current_hash"] == sha256(text)
    assert caller.call("patchdiff_get_target", target_file_id=target)["current_content"] == text
    crlf = len(upload.split("\r\n")) - 1
    counts = {"lf": upload.count("\n") - crlf, "crlf": crlf, "cr": upload.count("\r") - crlf}
    used = [name for name, count in counts.items() if count]
    style = {0: "none", 1: used[0] if used else ""}.get(len(used), "mixed")
    assert facts == {
        **counts,
        "style": style,
        "normalized": text != upload,
        "source_code_points": len(upload),
        "source_utf8_bytes": len(upload.encode()),
        "source_sha256": sha256(upload),
    }
    exported = caller.call("patchdiff_export_target", target_file_id=target, format="crlf")
    assert exported["content"] == text.replace("\n", "\r\n")
    original = caller.call("patchdiff_export_target", target_file_id=target, format="original_eol")
    if style == "mixed":
        assert original["code"] == "original_eol_unrecoverable"
    else:
        assert (original["content"], original["content_sha256"]) == (upload, facts["source_sha256"])


@pytest.mark.req(
    "READ-007", "READ-008", "READ-009", "READ-010", "READ-011", "READ-012", "READ-013", "READ-014",
)  # fmt: skip
@RANDOM
@given(text=texts(40), length=st.integers(1, 20), start=st.integers(0, 60))
def test_paging_by_offset(service, text, length, start):
    caller = ServiceCaller(service)
    target, text = document(caller, text)["target_file_id"], canonical(text)
    pages, position = [], 0
    while position is not None:
        page = caller.call(
            "patchdiff_read_target", target_file_id=target, start=position, length=length
        )
        assert page["text"] == text[position : position + length]
        assert (page["start"], page["end"], page["total_chars"]) == (
            position,
            position + len(page["text"]),
            len(text),
        )
        assert page["truncated"] is (page["end"] < len(text))
        assert page["next_start"] == (page["end"] if page["truncated"] else None)
        pages.append(page["text"])
        position = page["next_start"]
    assert "".join(pages) == text
    page = caller.call("patchdiff_read_target", target_file_id=target, start=start)
    assert page["status"] == ("ok" if start <= len(text) else "invalid_argument")
    assert page.get("text", "") == text[start:]


@pytest.mark.req(
    "READ-020", "READ-022", "READ-024", "READ-025", "READ-026", "READ-027", "READ-028", "READ-029",
    "READ-034", "READ-035", "READ-036", "READ-037", "READ-041", "READ-042", "READ-043",
)  # fmt: skip
@RANDOM
@given(text=texts(40), data=st.data())
def test_paging_by_lines(service, text, data):
    caller = ServiceCaller(service)
    target, text = document(caller, text)["target_file_id"], canonical(text)
    lines = model_of_lines(text)
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    max_chars = data.draw(st.integers(1, 12))
    selected = lines[first - 1 : last]
    whole = "".join(line for _, line in selected)
    begin = selected[0][0]
    end = begin + len(whole)
    pages, offset, starts = [], 0, []
    while offset is not None:
        page = caller.call(
            "patchdiff_read_lines", target_file_id=target, start_line=first, end_line=last,
            offset=offset, max_chars=max_chars, include_line_starts=True,
        )  # fmt: skip
        text_of_page = whole[offset : offset + max_chars]
        following = offset + len(text_of_page)
        more = following < len(whole)
        assert page == {
            "status": "ok",
            "target_file_id": target,
            "version": 0,
            "current_hash": sha256(text),
            "total_chars": len(text),
            "total_lines": len(lines),
            "start_line": first,
            "end_line": last,
            "range_start": begin,
            "range_end": end,
            "start": begin + offset,
            "end": begin + following,
            "text": text_of_page,
            "truncated": more,
            "next_offset": following if more else None,
            "next_start": begin + following if more else None,
            "line_starts": page["line_starts"],
        }
        for entry in page["line_starts"]:
            assert page["start"] <= entry["start"] <= page["end"]
            assert entry["start"] < page["end"] or not more
        starts += [(entry["line"], entry["start"]) for entry in page["line_starts"]]
        pages.append(page["text"])
        offset = page["next_offset"]
    assert "".join(pages) == whole
    # every selected line begins on exactly one page
    assert starts == [(first + index, start) for index, (start, _) in enumerate(selected)]


@pytest.mark.req(
    "FIND-004", "FIND-005", "FIND-006", "FIND-011", "FIND-017", "FIND-018", "FIND-019", "FIND-021",
    "FIND-022", "FIND-023", "FIND-024",
)  # fmt: skip
@RANDOM
@given(text=texts(40), data=st.data())
def test_search(service, text, data):
    caller = ServiceCaller(service)
    target, text = document(caller, text)["target_file_id"], canonical(text)
    place = data.draw(st.integers(0, max(0, len(text) - 1)))
    inside = text[place : place + data.draw(st.integers(1, 3))]
    wanted = data.draw(
        st.sampled_from([inside or "a", "a", "\n", "\r", "\u0301", "\U0001f600", "%", "_"])
    )
    context = data.draw(st.integers(0, 12))
    limit = data.draw(st.integers(1, 7))
    expected = [
        at for at in range(len(text) - len(wanted) + 1) if text[at : at + len(wanted)] == wanted
    ]
    found, index = [], 1
    while index is not None:
        page = caller.call(
            "patchdiff_find_occurrences", target_file_id=target, text=wanted, context_chars=context,
            start_occurrence=index, max_results=limit,
        )  # fmt: skip
        assert (page["occurrence_count"], page["start_occurrence"]) == (len(expected), index)
        assert (
            page["returned_count"]
            == len(page["occurrences"])
            == min(limit, max(0, len(expected) - index + 1))
        )
        assert page["truncated"] is (page["next_occurrence_index"] is not None)
        found += page["occurrences"]
        index = page["next_occurrence_index"]
    assert found == [
        {
            "occurrence_index": number,
            "start": at,
            "end": at + len(wanted),
            "before": text[max(0, at - context) : at],
            "after": text[at + len(wanted) : at + len(wanted) + context],
        }
        for number, at in enumerate(expected, 1)
    ]
    past = caller.call(
        "patchdiff_find_occurrences",
        target_file_id=target,
        text=wanted,
        start_occurrence=len(expected) + 1,
    )
    assert (past["occurrence_count"], past["returned_count"], past["occurrences"]) == (
        len(expected),
        0,
        [],
    )
