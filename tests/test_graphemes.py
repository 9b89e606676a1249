"""Grapheme boundaries against tables of the test's own, Unicode names and a plain model."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from patchdiff.graphemes import splits_cluster

PAGE = Path(__file__).resolve().parents[1] / "docs" / "graphemes.md"

ZWJ = "\u200d"
FLAG_HALF = "\U0001f1e9"


def code_points() -> Iterator[str]:
    """Every code point that a text can hold, and NUL."""
    return (chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000)


def splits(text: str) -> list[int]:
    """Every offset at which the code under test sees a split, offsets outside the text included."""
    return [offset for offset in range(-1, len(text) + 2) if splits_cluster(text, offset)]


def named(*prefixes: str) -> set[str]:
    return {point for point in code_points() if unicodedata.name(point, "").startswith(prefixes)}


@pytest.mark.req("WARN-012", "WARN-013", "WARN-014", "WARN-015", "WARN-016", "WARN-019")
def test_exactly_these_code_points_split_before_them() -> None:
    expected = {
        point for point in code_points() if unicodedata.category(point) in ("Mn", "Mc", "Me")
    }
    expected |= named(
        "VARIATION SELECTOR-",
        "MONGOLIAN FREE VARIATION SELECTOR ",
        "EMOJI MODIFIER FITZPATRICK TYPE-",
    )
    expected.add(unicodedata.lookup("ZERO WIDTH JOINER"))
    expected |= named("TAG ", "CANCEL TAG")
    assert {point for point in code_points() if splits_cluster(f"a{point}b", 1)} == expected


@pytest.mark.req("WARN-013")
def test_only_a_joiner_splits_after_it() -> None:
    assert [point for point in code_points() if splits_cluster(f"{point}b", 1)] == [ZWJ]


@pytest.mark.req("WARN-020")
def test_start_end_and_after_line_feed_never_split() -> None:
    for point in "\u0301\u0903\u200d\ufe0f\U0001f3fb\U000e0020\U0001f1e9\u11a8":
        assert splits(point) == []
        assert splits(f"\n{point}") == []
        assert splits(f"a\n{point}") == []
        assert not splits_cluster(f"a{point}", 2)
    assert splits(ZWJ) == splits("a\n") == splits("\n") == splits("") == []
    # after a joiner it is the joiner that counts
    assert splits(f"{ZWJ}\n") == [1]


@pytest.mark.req("WARN-012", "WARN-013", "WARN-014", "WARN-015", "WARN-016", "WARN-018", "WARN-019")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("e\u0301", [1], id="acute accent"),
        pytest.param("e\u0323\u0301x", [1, 2], id="two marks"),
        pytest.param("1\u20e3", [1], id="enclosing keycap"),
        pytest.param("\u00e9x", [], id="a composed letter"),
        pytest.param("a\u00adb\u200cc\u200bd", [], id="soft hyphen, non-joiner, zero width space"),
        pytest.param("\U0001f469\u200d\U0001f467", [1, 2], id="joined emoji"),
        pytest.param("a\u200db", [1, 2], id="joined letters"),
        pytest.param("a\u200d\u200db", [1, 2, 3], id="two joiners"),
        pytest.param("\u2764\ufe0fx", [1], id="VS16"),
        pytest.param("\u6f22\U000e0100", [1], id="VS17"),
        pytest.param("\u6f22\U000e01ef", [1], id="VS256"),
        pytest.param("\u6f22\U000e01f0", [], id="past VS256"),
        pytest.param("\U0001f44d\U0001f3fa", [], id="an amphora"),
        pytest.param("\U0001f44d\U0001f3fb", [1], id="lightest"),
        pytest.param("\U0001f44d\U0001f3ff", [1], id="darkest"),
        pytest.param("\U0001f44d\U0001f400", [], id="a rat"),
        pytest.param("\U0001f3f4\U000e001f", [], id="before tags"),
        pytest.param("\U0001f3f4\U000e0020", [1], id="tag space"),
        pytest.param("\U0001f3f4\U000e0067\U000e0062\U000e007f", [1, 2, 3], id="tags"),
        pytest.param("\U0001f3f4\U000e0080", [], id="past tags"),
        pytest.param("\u1112\u1161\u11ab", [1, 2], id="L V T"),
        pytest.param("\u1161\u1112", [], id="V before L"),
        pytest.param("\ud55c\uae00", [], id="two syllables"),
        pytest.param("\u1112\u1112", [1], id="L L"),
        pytest.param("\u1161\u1161", [1], id="V V"),
        pytest.param("\u11ab\u11ab", [1], id="T T"),
        pytest.param("\uac00\u11a8", [1], id="LV T"),
        pytest.param("\u0915\u093f", [1], id="a spacing mark"),
    ],
)
def test_known_clusters(text: str, expected: list[int]) -> None:
    assert splits(text) == expected


@pytest.mark.req("WARN-017")
@pytest.mark.parametrize("length", [*range(1, 9), 15, 16, 17, 18, 47, 48, 49, 50, 200, 201])
@pytest.mark.parametrize("before", ["", "a", "\n", "\U0001f1e5", "\U0001f200", "ab" * 40])
def test_regional_indicators_count_in_pairs(length: int, before: str) -> None:
    text = before + "".join(chr(0x1F1E6 + i % 26) for i in range(length)) + "z"
    assert splits(text) == [len(before) + i for i in range(1, length, 2)]


@pytest.mark.req("WARN-017")
def test_a_run_of_regional_indicators_starts_anew_after_anything_else() -> None:
    assert splits(FLAG_HALF * 3 + "a" + FLAG_HALF * 2) == [1, 5]
    # the mark ends the first run, and is a split of its own
    assert splits(FLAG_HALF + "\u0301" + FLAG_HALF * 2) == [1, 3]


# the rules of UAX #29 for Hangul: what each class joins with when it follows
JOINS = {
    "L": {"L", "V", "LV", "LVT"},
    "V": {"V", "T"},
    "T": {"T"},
    "LV": {"V", "T"},
    "LVT": {"T"},
}
JAMO_NAMES = {"CHOSEONG": "L", "JUNGSEONG": "V", "JONGSEONG": "T"}


def hangul_classes() -> dict[str, str]:
    """The class of every conjoining jamo by its name, and of every syllable by its parts."""
    classes = {}
    for point in code_points():
        words = unicodedata.name(point, "").split()
        if words[:2] == ["HANGUL", "SYLLABLE"]:
            classes[point] = "LVT" if len(unicodedata.normalize("NFD", point)) == 3 else "LV"
        elif words[:1] == ["HANGUL"] and words[1] in JAMO_NAMES:
            classes[point] = JAMO_NAMES[words[1]]
    return classes


@pytest.mark.req("WARN-018", "WARN-019")
def test_every_jamo_and_syllable_joins_as_its_class_does() -> None:
    classes = hangul_classes()
    assert len(classes) == 11_172 + 256 + 29 + 72
    samples = {"L": "\u1100", "V": "\u1161", "T": "\u11a8", "LV": "\uac00", "LVT": "\uac01"}
    for point, own in classes.items():
        for other, sample in samples.items():
            assert splits_cluster(point + sample, 1) == (other in JOINS[own]), (point, other)
            assert splits_cluster(sample + point, 1) == (own in JOINS[other]), (other, point)
        assert not splits_cluster(f"{point}a", 1)
        assert not splits_cluster(f"\u3131{point}", 1)  # a compatibility jamo does not conjoin


# one or two members of every class, and neighbours that belong to none
AWKWARD = {
    "a": "other",
    " ": "other",
    "\n": "line feed",
    "\u00e9": "other",
    "\U0001f600": "other",
    "\u3131": "other",
    "\u0301": "extends",
    "\u0903": "extends",
    "\u20e3": "extends",
    "\ufe0f": "extends",
    "\u180f": "extends",
    "\U0001f3fd": "extends",
    "\U000e0067": "extends",
    ZWJ: "joiner",
    "\U0001f1e6": "half",
    FLAG_HALF: "half",
    "\U0001f1ff": "half",
    "\u1100": "L",
    "\ua97c": "L",
    "\u1160": "V",
    "\ud7c6": "V",
    "\u11a8": "T",
    "\ud7fb": "T",
    "\uac00": "LV",
    "\ud788": "LV",
    "\uac01": "LVT",
    "\ud7a3": "LVT",
}


def modelled(text: str) -> list[int]:
    """The splits of a text by reading it once from its start."""
    found = []
    halves = 0
    previous = "line feed"  # the start of the text never splits, as after LF
    for offset, point in enumerate(text):
        own = AWKWARD[point]
        if previous != "line feed" and (
            own in ("extends", "joiner")
            or previous == "joiner"
            or own in JOINS.get(previous, ())
            or (own == "half" and halves % 2 == 1)
        ):
            found.append(offset)
        halves = halves + 1 if own == "half" else 0
        previous = own
    return found


@pytest.mark.req("WARN-012", "WARN-013", "WARN-014", "WARN-015", "WARN-016", "WARN-017")
@pytest.mark.req("WARN-018", "WARN-019", "WARN-020")
@given(st.text(alphabet=list(AWKWARD), max_size=40))
@example("".join(AWKWARD))
def test_any_text_agrees_with_the_plain_model(text: str) -> None:
    assert splits(text) == modelled(text)


@given(
    st.lists(
        st.sampled_from(["\U0001f1e6", "\U0001f1ff", "\U0001f1ff" * 7, "a", "\u0301"]), max_size=30
    )
)
def test_long_runs_of_regional_indicators_agree_with_the_plain_model(parts: list[str]) -> None:
    text = "".join(parts)
    assert splits(text) == modelled(text)


def documented(title: str, row: str) -> set[str]:
    """The code points that a row of the page's table under a heading names."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    line = re.search(rf"^\| {row} \|.*$", rest.split("\n## ")[0], re.MULTILINE)
    assert line, f"{title}: no row {row}"
    points: set[str] = set()
    for first, last in re.findall(r"U\+([0-9A-F]+)(?:\.\.U\+([0-9A-F]+))?", line[0]):
        points |= {chr(point) for point in range(int(first, 16), int(last or first, 16) + 1)}
    return points


def test_the_page_has_the_sets_that_are_used() -> None:
    before = "A split before one of these"
    rows = ("Zero width joiner", "Variation selectors", "Emoji modifiers", "Tag characters")
    sets = [documented(before, row) for row in rows]
    assert all(sets)
    marks = {point for point in code_points() if unicodedata.category(point)[0] == "M"}
    used = {point for point in code_points() if splits_cluster(f"a{point}", 1)}
    assert used == marks.union(*sets)
    hangul = "A split inside a Hangul sequence"
    classes = hangul_classes()
    for name in ("L", "V", "T"):
        assert documented(hangul, name) == {p for p, own in classes.items() if own == name}
    for name in ("LV", "LVT"):
        assert documented(hangul, f"{name}") == {
            p for p, own in classes.items() if own in ("LV", "LVT")
        }
