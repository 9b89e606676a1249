"""The report's page in a real browser: what is drawn, and what hostile texts can do to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from patchdiff import Service
from tests.support.browser import Browser
from tests.support.chromium import ChromiumUnavailableError
from tests.support.commands import run
from tests.support.documents import ServiceCaller, accepted, attempts, change, submit
from tests.support.shown_histories import HOSTILE, rich_history

_TAB = 9
_ENTER = 13

_MARKS = """
(() => {
  const view = document.querySelector('.timeline .scroll > svg').getBoundingClientRect();
  return [...document.querySelectorAll('.timeline a.mark')].map((mark) => {
    const box = mark.getBoundingClientRect();
    return {
      href: mark.getAttribute('href'),
      drawn: box.width > 0 && box.height > 0,
      inside: box.left >= view.left && box.right <= view.right
        && box.top >= view.top && box.bottom <= view.bottom,
      colour: getComputedStyle(mark.querySelector('circle')).fill,
    };
  });
})()
"""

_OVERFLOWING = """
[...document.querySelectorAll('body *')].filter((element) =>
  !element.closest('.scroll') && !element.matches('.unseen, .skip')
  && element.getBoundingClientRect().right > document.documentElement.clientWidth + 1
).map((element) => element.outerHTML.slice(0, 120))
"""

_CONTRAST = """
((selector) => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
      .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return colour === 'rgba(0, 0, 0, 0)' ? ground(element.parentElement) : colour;
  };
  return [...document.querySelectorAll(selector)].map((element) => {
    const pair = [getComputedStyle(element).color, ground(element)].map(luminance).sort();
    const [dark, light] = pair.sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  });
})
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    started = Browser()
    try:
        yield started
    finally:
        started.close()


@pytest.fixture(scope="module")
def caller(database_url: str) -> Iterator[ServiceCaller]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield ServiceCaller(Service(connection))


@pytest.fixture(scope="module")
def target(caller: ServiceCaller) -> str:
    """A history whose name, intents, sources and texts are hostile, with 26 attempts."""
    found = rich_history(caller)
    for n in range(20):
        submit(caller, found, change("absent", "x"), intent=f"Attempt {n} {HOSTILE}")
    accepted(
        caller, found, change("the end", f"{HOSTILE * 30}\n{'w' * 5000}"),
        expected_target_version=3, intent="W" * 256,
    )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def url(
    caller: ServiceCaller, database_url: str, target: str, tmp_path_factory: pytest.TempPathFactory
) -> str:
    file = tmp_path_factory.mktemp("report") / "report.html"
    told = run("report", target, "--html", str(file), PATCHDIFF_DATABASE_URL=database_url)
    assert told.returncode == 0, told.stderr
    return file.as_uri()


def complaints(browser: Browser) -> list[Any]:
    """What a page should never have made the browser say."""
    return [
        event
        for method in (
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Page.javascriptDialogOpening",
        )
        for event in browser.told(method)
    ]


def requests(browser: Browser) -> list[str]:
    return [sent["request"]["url"] for sent in browser.told("Network.requestWillBeSent")]


def test_a_browser_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHDIFF_TEST_CHROMIUM", "/no/such/program")
    with pytest.raises(ChromiumUnavailableError, match=r"PATCHDIFF_TEST_CHROMIUM .*/no/such"):
        Browser()


def test_the_browser_would_tell_of_a_hostile_page(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "hostile.html"
    file.write_text(
        f"<title>mine</title><p>{HOSTILE}</p><img src='missing.png'><script>nonsense()</script>",
        encoding="utf-8",
    )
    browser.open(file.as_uri())
    assert browser.evaluate("document.title") == "owned"
    told = {event["method"] for event in browser.events}
    assert "Page.javascriptDialogOpening" in told
    assert "Runtime.exceptionThrown" in told
    assert len(requests(browser)) > 1


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_in_both_schemes_and_sizes(
    browser: Browser, caller: ServiceCaller, target: str, url: str, width: int, dark: bool
) -> None:
    browser.open(url, width=width, dark=dark)
    assert complaints(browser) == []
    assert requests(browser) == [url]
    assert browser.evaluate("document.title") == "story.txt · history"
    assert browser.evaluate("document.querySelectorAll('script, img, iframe').length") == 0

    entries = attempts(caller, target)[::-1]
    marks = browser.evaluate(_MARKS)
    assert [mark["href"] for mark in marks] == [f"#attempt-{e['log_sequence']}" for e in entries]
    assert all(mark["drawn"] and mark["inside"] for mark in marks)
    # an accepted attempt does not look like a rejected one
    colours: dict[str, set[str]] = {"accepted": set(), "rejected": set()}
    for mark, e in zip(marks, entries, strict=True):
        colours[e["status"]].add(mark["colour"])
    assert len(colours["accepted"]) == len(colours["rejected"]) == 1
    assert colours["accepted"] != colours["rejected"]

    text = browser.evaluate("document.body.innerText")
    for expected in ("line ten of the text", "alice", "All anew", "match_ambiguous", target):
        assert expected in text
    assert "<script>alert(1);" in text

    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.evaluate(_OVERFLOWING) == []

    ground = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(15, 19, 24)" if dark else "rgb(244, 245, 247)")
    for selector in ("p", ".soft", ".meta li", "td", "mark", ".badge", ".reason", ".escape", "a"):
        ratios = browser.evaluate(f"{_CONTRAST}({selector!r})")
        assert ratios, selector
        assert min(ratios) >= 4.5, (selector, min(ratios))


def test_at_400_pixels_the_sides_stand_one_below_the_other(browser: Browser, url: str) -> None:
    places = """
    (() => {
      const row = [...document.querySelectorAll('.diff tr')].find((tr) =>
        tr.querySelector('del') && tr.querySelector('ins'));
      const [old, new_] = ['del', 'ins'].map((tag) =>
        row.querySelector(tag).closest('td').getBoundingClientRect());
      return [old.left < new_.left, old.bottom <= new_.top];
    })()
    """
    browser.open(url, width=1280)
    assert browser.evaluate(places) == [True, False]
    browser.open(url, width=400)
    assert browser.evaluate(places) == [False, True]


def test_the_keyboard_leads_from_the_timeline_to_an_attempt(
    browser: Browser, caller: ServiceCaller, target: str, url: str
) -> None:
    browser.open(url)
    focused = []
    for _ in range(4):
        browser.press("Tab", _TAB)
        focused.append(
            browser.evaluate(
                "(document.activeElement.getAttribute('href') || document.activeElement.className)"
            )
        )
    oldest = attempts(caller, target)[-1]["log_sequence"]
    assert focused == ["#attempts", "#integrity", "scroll", f"#attempt-{oldest}"]
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert browser.evaluate(outline) == "solid"
    browser.press("Enter", _ENTER)
    assert browser.evaluate("location.hash") == f"#attempt-{oldest}"
    assert browser.evaluate("document.querySelector(':target').id") == f"attempt-{oldest}"


def test_a_screen_reader_is_told_what_is_there(browser: Browser, url: str) -> None:
    browser.open(url)
    nodes = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in browser.accessibility_tree()
        if not node["ignored"] and "role" in node
    ]
    assert ("heading", "story.txt") in nodes
    assert ("heading", "Timeline") in nodes
    assert ("region", "Timeline, oldest attempt first") in nodes
    assert any(name == "Timeline of 26 attempts" for _, name in nodes)
    links = [name for role, name in nodes if role == "link"]
    assert sum(name.startswith(("Version ", "Rejected ")) for name in links) == 26
    headers = {name for role, name in nodes if role == "columnheader"}
    assert {"Line before", "Text before", "Line after", "Text after", "Check"} <= headers
    assert ("deletion", "") in nodes
    assert ("insertion", "") in nodes


def test_on_paper_it_is_light_and_complete(browser: Browser, url: str) -> None:
    browser.open(url, dark=True, print_=True)
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    heights = browser.evaluate(
        "[...document.querySelectorAll('details pre')].map((pre) => pre.checkVisibility())"
    )
    assert heights
    assert all(heights)
