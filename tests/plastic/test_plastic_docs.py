"""What docs/plastic.md says: codes, stages, bounds, and what was never checked."""

import re
from pathlib import Path

import pytest

from patchdiff.plastic import limits
from patchdiff.plastic.failure import MESSAGES, STAGES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "plastic.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_code_and_stage_is_explained() -> None:
    cells = re.findall(r"^\| ([^|]*) \|", section("Codes"), re.MULTILINE)
    listed = [name for cell in cells[1:] for name in re.findall(r"`([^`]+)`", cell)]
    assert sorted(listed) == sorted(MESSAGES)
    told = section("Codes").partition("says where: ")[2]
    assert re.findall(r"\w+", told.replace(" or ", " ")) == list(STAGES)


def test_the_bounds_are_those_of_the_code() -> None:
    told = {int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", section("Bounds"))}
    bounds = limits.DEFAULT_LIMITS
    assert {
        limits.SIDE_BYTES,
        bounds.command.stdout_bytes,
        bounds.command.stderr_bytes,
        int(bounds.command.seconds),
        bounds.patch.stderr_bytes,
        int(bounds.patch.seconds),
        limits.LEAST_EXCERPT,
        limits.FILE_EXCERPT,
        limits.MOST_FILE_EXCERPT,
        limits.WORKSPACE_EXCERPT,
        limits.PATCH_EXCERPT,
        limits.CONTROL_CHARACTERS,
        limits.REQUEST_BYTES,
        bounds.diff_envelope_bytes,
        bounds.patch_envelope_bytes,
        bounds.diff_presentation,
        bounds.patch_presentation,
    } <= told


@pytest.mark.req("PPATCH-044")
def test_the_one_client_is_named_and_all_others_are_called_unverified() -> None:
    told = " ".join(section("What was checked").split())
    assert "one client, Windows cm 11.0.16.10371" in told
    assert "all other clients and platforms are unverified" in told
    assert "stand-in" in told
