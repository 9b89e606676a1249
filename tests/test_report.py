"""`patchdiff report`: what its page says and how its file is written."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from patchdiff import Service
from tests.support.commands import assert_refused, run
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    accepted,
    attempts,
    change,
    document,
    submit,
)
from tests.support.shown_histories import HOSTILE, damage, rich_history

_VOID: Final = {"meta", "col", "br", "img", "link"}
_EMPTY: Final = {"line", "circle", "path"}


class Page(HTMLParser):
    """The elements of a page with their attributes and texts; every element must be closed."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[dict[str, Any]] = []
        self.elements: list[dict[str, Any]] = []
        self.feed(content)
        self.close()
        assert [element["tag"] for element in self.open] == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = {"tag": tag, "text": "", "parents": [e["tag"] for e in self.open], **dict(attrs)}
        self.elements.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _EMPTY
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element["text"] += data

    def all(self, tag: str, **attributes: str) -> list[dict[str, Any]]:
        return [
            element
            for element in self.elements
            if element["tag"] == tag
            and all(element.get(name) == value for name, value in attributes.items())
        ]


@pytest.fixture(scope="module")
def caller(database_url: str) -> Iterator[ServiceCaller]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield ServiceCaller(Service(connection))


@pytest.fixture(scope="module")
def write(database_url: str) -> Any:
    """Writes the report of a target to standard output and returns the content."""

    def report(target: str, *options: str) -> str:
        told = run("report", target, "--html", "-", *options, PATCHDIFF_DATABASE_URL=database_url)
        assert (told.returncode, told.stderr) == (0, "")
        return told.stdout

    return report


@pytest.fixture(scope="module")
def target(caller: ServiceCaller) -> str:
    return rich_history(caller)


@pytest.fixture(scope="module")
def content(write: Any, target: str) -> str:
    text = write(target)
    assert isinstance(text, str)
    return text


def test_the_page_needs_and_runs_nothing(content: str) -> None:
    page = Page(content)
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & {
        element["tag"] for element in page.elements
    }
    for element in page.elements:
        assert not [name for name in element if name.startswith("on")]
        for name in ("src", "href", "action", "xlink:href", "style"):
            assert (element.get(name) or "#").startswith("#"), element
    assert not re.search(r"url\(|@import", content)
    [policy] = [e for e in page.all("meta") if e.get("http-equiv") == "Content-Security-Policy"]
    assert policy["content"].startswith("default-src 'none';")


def test_every_character_is_visible(content: str) -> None:
    assert [c for c in content if not c.isprintable() and c != "\n"] == []
    assert "&lt;script&gt;alert(1)" in content
    for escape in ("\\u202e", "\\x1b", "\\x07", "\\u200b", "\\u2028", "\\x85"):
        assert f"<span class=escape>{escape}</span>" in content


def test_the_heading_tells_the_target(content: str, caller: ServiceCaller, target: str) -> None:
    page = Page(content)
    read = caller.call("patchdiff_get_target", target_file_id=target)
    assert page.all("h1")[0]["text"] == "story.txt"
    assert page.all("title")[0]["text"] == "story.txt · history"
    facts = dict(
        zip((e["text"] for e in page.all("dt")), (e["text"] for e in page.all("dd")), strict=True)
    )
    assert facts == {
        "Version": "3",
        "Attempts": "5",
        "Accepted": "3",
        "Rejected": "2",
        "SHA-256 of the text": read["current_hash"],
        "Size": "26 code points, 2 lines",
        "Line endings of the upload": "30 LF",
    }
    assert target in page.all("header")[0]["text"]
    assert "History intact" in content


def test_every_attempt_is_there_and_the_timeline_leads_to_it(
    content: str, caller: ServiceCaller, target: str
) -> None:
    page = Page(content)
    entries = attempts(caller, target)
    articles = page.all("article")
    assert [e["id"] for e in articles] == [f"attempt-{e['log_sequence']}" for e in entries]
    for article, e in zip(articles, entries, strict=True):
        for text in (e["pdcp_log_id"], e["status"], e["created_at"].replace("T", " ")[:19]):
            assert text in article["text"]
        if e["failure_reason"]:
            assert e["failure_reason"] in article["text"]
            assert e["failure_detail"] in article["text"]
    assert [name for name in ("dave", "carol", "bob", "alice") if f"by {name}" in content] == [
        "dave", "carol", "bob", "alice",
    ]  # fmt: skip
    marks = page.all("a", **{"class": "mark"})
    assert [m["href"] for m in marks] == [f"#attempt-{e['log_sequence']}" for e in entries[::-1]]
    assert [m["text"].split(",")[0].split(" 20")[0] for m in marks] == [
        "Version 1", "Rejected", "Version 2", "Rejected", "Version 3",
    ]  # fmt: skip
    [saved] = page.all("g", **{"class": "checkpoint"})
    assert saved["text"] == "Saved at version 2"
    drawing = next(e for e in page.all("svg") if "aria-labelledby" in e)
    named = {e.get("id"): e["text"] for e in page.elements if e["tag"] in ("title", "desc")}
    title, desc = named[drawing["aria-labelledby"]], named[drawing["aria-describedby"]]
    assert title == "Timeline of 5 attempts"
    assert "3 accepted attempts on the line, 2 rejected above it, 1 checkpoint" in desc


def test_the_changes_stand_side_by_side(content: str) -> None:
    page = Page(content)
    [table] = page.all("table", **{"aria-label": "Change 2: before and after"})
    assert [e["text"] for e in page.all("th")[:4]] == [
        "Line before", "Text before", "Line after", "Text after",
    ]  # fmt: skip
    start = page.elements.index(table)
    cells = [e["text"] for e in page.elements[start:] if e["tag"] == "td"]
    rows = [cells[n : n + 4] for n in range(0, 28, 4)]
    assert rows == [
        ["17", "line 17 of the text", "17", "line 17 of the text"],
        ["18", "line 18 of the text", "18", "line 18 of the text"],
        ["19", "line 19 of the text", "19", "line 19 of the text"],
        ["removed 20 −", "line 20 of the text", "", ""],
        ["21", "line 21 of the text", "20", "line 21 of the text"],
        ["22", "line 22 of the text", "21", "line 22 of the text"],
        ["23", "line 23 of the text", "22", "line 23 of the text"],
    ]
    assert "<del>line <mark>10</mark> of the text</del>" in content
    assert "<ins>line <mark>ten</mark> of the text</ins>" in content


def test_spaces_of_the_text_are_kept(caller: ServiceCaller, write: Any) -> None:
    spaced = document(caller, "  two\n\tone \n   x  y\n")["target_file_id"]
    accepted(caller, spaced, change("x  y", "x   y"))
    texts = [e["text"] for e in Page(write(spaced)).all("td")]
    assert texts[1::2][:4] == ["  two", "  two", "\tone ", "\tone "]
    assert texts[9] == "   x  y"
    assert texts[11] == "   x   y"


def test_the_integrity_is_told(content: str, target: str, database_url: str) -> None:
    page = Page(content)
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            "select patchdiff.verify_target(%s), patchdiff.verify_chain(%s)", [target, target]
        ).fetchone()
    assert row is not None
    verification, chain = row
    results = {}
    for heading in page.all("th", scope="row"):
        n = page.elements.index(heading)
        results[heading["text"]] = [e["text"] for e in page.elements[n:] if e["tag"] == "td"][1]
    assert results.pop("chain head") == "5 attempts ✓ verified"
    assert results == dict.fromkeys(verification["checks"], "✓ holds")
    assert chain["head_hash"] in content
    assert f"sequence {chain['head_sequence']}, hash" in content


def test_damage_is_told(caller: ServiceCaller, write: Any, admin: psycopg.Connection[Any]) -> None:
    broken = rich_history(caller)
    damage(admin, "append_only_pdcp_logs", "pdcp_content = '{'", broken, "after_version = 2")
    content = write(broken)
    page = Page(content)
    assert "History damaged" in content
    assert "✗ does not hold" in content
    assert "The stored record is no transaction of its protocol" in content
    assert len(page.all("article")) == 5
    # the change before the damage is in its place, the ones after it cannot be
    assert "<mark>ten</mark>" in content
    assert "its texts are not known" in content
    [sequence] = [e["log_sequence"] for e in attempts(caller, broken) if e["after_version"] == 2]
    assert [e for e in page.all("a", href=f"#attempt-{sequence}") if "log sequence" in e["text"]]


def test_a_fresh_target_and_one_without_recorded_line_endings(
    caller: ServiceCaller, write: Any, admin: psycopg.Connection[Any]
) -> None:
    fresh = document(caller, "", filename=HOSTILE)["target_file_id"]
    admin.execute(
        "update patchdiff.cloud_target_files set source_line_endings = null"
        " where target_file_id = %s",
        [fresh],
    )
    content = write(fresh)
    page = Page(content)
    assert "Nobody has tried to edit this document yet." in content
    assert "not recorded" in content
    assert page.all("article") == []
    assert "\\u202e" in page.all("title")[0]["text"]


def test_the_limit_is_stated(caller: ServiceCaller, write: Any) -> None:
    many = document(caller, "0")["target_file_id"]
    for n in range(3):
        accepted(caller, many, change(f"{n}", f"{n + 1}"), expected_target_version=n)
    content = write(many, "--limit", "2")
    assert [e["id"] for e in Page(content).all("article")] == [
        f"attempt-{e['log_sequence']}" for e in attempts(caller, many)[:2]
    ]
    assert "This page shows the newest 2 attempts of 3." in content
    # the line before the window is reconstructed
    assert "<mark>2</mark>" in content
    assert "This page shows" not in write(many, "--limit", "3")


def test_many_attempts_in_rows(caller: ServiceCaller, write: Any) -> None:
    many = document(caller, "x")["target_file_id"]
    for _ in range(45):
        submit(caller, many, change("y", "z"))
    page = Page(write(many))
    heights = {e["cy"] for e in page.all("circle", **{"class": "cross-ground", "r": "11"})}
    assert len(heights) == 3


def test_large_texts_are_bounded_and_what_is_cut_is_counted(
    caller: ServiceCaller, write: Any
) -> None:
    line = "x" * 1_000_000
    large = document(caller, f"{line}a{line}\n" + "short\n" * 100_000)["target_file_id"]
    accepted(
        caller,
        large,
        change("xax", "xbx"),
        change("short\n" * 200, "long\n", occurrence_index=1),
    )
    accepted(caller, large, change(f"{line}b", f"{line}c"), expected_target_version=1)
    start = time.monotonic()
    content = write(large)
    assert time.monotonic() - start < 30
    assert len(content) < 200_000
    Page(content)
    assert re.search(r"… [\d,]+ more …", content)
    assert "more lines of this change not shown" in content


def test_many_changes_are_counted(caller: ServiceCaller, write: Any) -> None:
    words = document(caller, "".join(f"w{n}.\n" for n in range(51)))["target_file_id"]
    accepted(caller, words, *(change(f"w{n}.", f"v{n}.") for n in range(51)))
    content = write(words)
    assert len(Page(content).all("table", **{"class": "diff"})) == 50
    assert "1 more change of this attempt not shown." in content


def test_the_file_appears_whole_and_replaces_another(
    tmp_path: Path, database_url: str, target: str
) -> None:
    given = {"PATCHDIFF_DATABASE_URL": database_url}
    file = tmp_path / "report.html"
    umask = os.umask(0o022)
    try:
        told = run("report", target, "--html", str(file), **given)
    finally:
        os.umask(umask)
    assert (told.returncode, told.stdout) == (0, "")
    assert told.stderr == f"Wrote {file}: 5 attempts, history intact.\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    Page(file.read_text("utf-8"))
    file.write_text("other")
    file.chmod(0o600)
    link = tmp_path / "link.html"
    link.symlink_to(file)
    inode = file.stat().st_ino
    assert run("report", target, "--html", str(link), **given).returncode == 0
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # another file took the name: nobody ever saw half of it
    assert file.stat().st_ino != inode
    Page(file.read_text("utf-8"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.html", "report.html"]


@pytest.mark.parametrize("name", ["", "missing/report.html", "x" * 300], ids=lambda name: name[:9])
def test_a_file_that_cannot_be_written(
    tmp_path: Path, database_url: str, target: str, name: str
) -> None:
    told = run(
        "report", target, "--html", f"{tmp_path}/{name}", PATCHDIFF_DATABASE_URL=database_url
    )
    assert_refused(told, "cannot write")
    assert list(tmp_path.iterdir()) == []


def test_unknown_targets_and_wrong_usage(tmp_path: Path, database_url: str, target: str) -> None:
    given = {"PATCHDIFF_DATABASE_URL": database_url}
    file = tmp_path / "report.html"
    assert_refused(run("report", UNKNOWN_ID, "--html", str(file), **given), "No target")
    assert not file.exists()
    told = run("report", target, **given)
    assert (told.returncode, told.stdout) == (2, "")
    assert "--html" in told.stderr
    assert run("report", target, "--html", "-", "--limit", "0", **given).returncode == 2
