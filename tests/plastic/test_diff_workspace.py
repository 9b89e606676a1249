"""Mode workspace: selection, counts, partial evidence, and what fits into an answer."""

import json
import os
import threading
from typing import Any

import pytest

from patchdiff import cancellation
from tests.plastic.kit import Workspace, error

COUNTS = [
    "parsed", "eligible", "selected", "attempted", "completed", "failed", "skipped",
    "unattempted", "limited", "returned", "omitted",
]  # fmt: skip


def counts(envelope: dict[str, Any], *names: str) -> list[int]:
    return [envelope["data"]["counts"][name] for name in names]


def paths(envelope: dict[str, Any]) -> list[str]:
    return [outcome["path"] for outcome in envelope["data"]["outcomes"]]


@pytest.mark.req("PDIFF-063", "PDIFF-064", "PDIFF-067", "PDIFF-068")
def test_a_whole_selection(workspace: Workspace) -> None:
    workspace.change("a.txt", b"a\n", b"A\n")
    workspace.delete("b.txt", b"b\n")
    workspace.add("c.txt", b"c\n")
    envelope = workspace.pending()
    data = envelope["data"]
    assert list(data) == [
        "mode", "scope", "workspace", "counts", "excludedPrivate", "unmatched", "captures",
        "cleanup", "outcomes",
    ]  # fmt: skip
    assert data["scope"] == {
        "paths": [],
        "allPending": True,
        "includePrivate": False,
        "maxFiles": 3,
    }
    assert data["workspace"] == {
        "repository": "game",
        "server": "server.example:8087",
        "changeset": 7,
        "configType": "Branch",
        "configName": "/main",
    }
    assert sorted(data["counts"]) == sorted(COUNTS)
    assert [data["counts"][name] for name in COUNTS] == [3, 3, 3, 3, 3, 0, 0, 0, 0, 3, 0]
    assert (data["excludedPrivate"], data["unmatched"]) == (0, [])
    assert paths(envelope) == ["a.txt", "b.txt", "c.txt"]
    assert [each["state"] for each in data["outcomes"]] == ["completed"] * 3
    assert envelope["completeness"] == {"read": "complete", "projection": "complete"}
    assert envelope["ok"] is True
    assert [capture["command"] for capture in data["captures"]] == ["status"]
    assert workspace.commands().count("status") == 1


def test_a_clean_workspace(workspace: Workspace) -> None:
    workspace.load("a.txt", b"a\n")
    envelope = workspace.pending()
    assert envelope["ok"]
    assert set(envelope["data"]["counts"].values()) == {0}
    assert envelope["completeness"]["read"] == "complete"


@pytest.mark.req("PDIFF-015")
def test_all_pending_takes_three_by_default(workspace: Workspace) -> None:
    for name in "abcd":
        workspace.add(f"{name}.txt", b"x\n")
    envelope = workspace.pending()
    assert counts(envelope, "eligible", "selected", "limited") == [4, 3, 1]
    assert paths(envelope) == ["a.txt", "b.txt", "c.txt"]
    assert envelope["ok"]
    assert envelope["completeness"]["read"] == "incomplete"
    assert counts(workspace.pending(maxFiles=1), "selected", "limited") == [1, 3]


@pytest.mark.req("PDIFF-016", "PDIFF-067")
def test_scoped_paths_take_twenty_by_default(workspace: Workspace) -> None:
    for number in range(21):
        workspace.add(f"d/{number:02}.txt", b"")
    envelope = workspace.pending("d")
    assert counts(envelope, "eligible", "selected", "limited", "returned") == [21, 20, 1, 20]
    assert paths(envelope) == [f"d/{number:02}.txt" for number in range(20)]


@pytest.mark.req("PDIFF-013")
def test_twenty_paths_are_looked_for(workspace: Workspace) -> None:
    names = [f"{number:02}.txt" for number in range(20)]
    for name in names:
        workspace.add(name, b"")
    assert paths(workspace.pending(*names)) == names


@pytest.mark.req("PDIFF-017", "PDIFF-018", "PDIFF-068")
def test_a_directory_selects_what_is_below_it_and_its_row_is_skipped(
    workspace: Workspace,
) -> None:
    workspace.pend("AD", "d", revisionType="enDirectory")
    (workspace.root / "d").mkdir()
    workspace.add("d/a.txt", b"a\n")
    workspace.add("d/e/b.txt", b"b\n")
    workspace.add("da.txt", b"x\n")
    workspace.private("d/p.txt", b"p\n")
    envelope = workspace.pending("d")
    assert paths(envelope) == ["d/a.txt", "d/e/b.txt", "d/p.txt"]
    assert counts(envelope, "parsed", "eligible", "selected", "skipped") == [5, 4, 3, 1]
    assert envelope["ok"]
    assert envelope["completeness"]["read"] == "incomplete"
    assert envelope["data"]["unmatched"] == []


def test_a_directory_row_without_its_kind_is_looked_up(workspace: Workspace) -> None:
    (workspace.root / "d").mkdir()
    workspace.pend("PR", "d", revisionType="")
    workspace.write("f.txt", b"f\n")
    workspace.pend("AD", "f.txt", revisionType="")
    envelope = workspace.pending(includePrivate=True)
    assert counts(envelope, "selected", "skipped", "completed") == [1, 1, 1]


@pytest.mark.parametrize("code", ["MV", "LM"])
@pytest.mark.req("PDIFF-019")
def test_a_move_is_one_observation_by_either_name(workspace: Workspace, code: str) -> None:
    workspace.move("old/a.txt", "new/b.txt", b"a\n", b"b\n", local=code == "LM")
    for scope in (["old/a.txt"], ["new/b.txt"], ["old"], ["new"], ["old", "new", "new/b.txt"]):
        envelope = workspace.pending(*scope)
        [outcome] = envelope["data"]["outcomes"]
        assert (outcome["path"], outcome["sourcePath"]) == ("new/b.txt", "old/a.txt")
        assert envelope["data"]["unmatched"] == []
        assert envelope["completeness"]["read"] == "complete"


@pytest.mark.req("PDIFF-011", "PDIFF-064")
def test_private_files_are_left_out_and_counted(workspace: Workspace) -> None:
    workspace.add("a.txt", b"a\n")
    workspace.private("p.txt", b"p\n")
    workspace.private("q.txt", b"q\n")
    without = workspace.pending()
    assert paths(without) == ["a.txt"]
    assert without["data"]["excludedPrivate"] == 2
    assert counts(without, "parsed", "eligible") == [3, 1]
    with_them = workspace.pending(includePrivate=True)
    assert paths(with_them) == ["a.txt", "p.txt", "q.txt"]
    assert with_them["data"]["excludedPrivate"] == 0


@pytest.mark.req("PDIFF-037", "PDIFF-088")
def test_a_named_private_file_is_selected(workspace: Workspace) -> None:
    workspace.private("p.txt", b"p\n")
    envelope = workspace.pending("p.txt")
    assert counts(envelope, "selected", "completed") == [1, 1]
    assert envelope["data"]["excludedPrivate"] == 0
    [outcome] = envelope["data"]["outcomes"]
    assert outcome["comparison"]["left"]["origin"] == "synthetic-empty"


@pytest.mark.req("PDIFF-064", "PDIFF-068")
def test_paths_that_match_nothing_are_named(workspace: Workspace) -> None:
    workspace.change("a.txt", b"a\n", b"b\n")
    workspace.load("same.txt", b"a\n")
    envelope = workspace.pending("same.txt", "a.txt", "none/x", "a.txt", "./a.txt")
    assert envelope["data"]["scope"]["paths"] == ["same.txt", "a.txt", "none/x"]
    assert envelope["data"]["unmatched"] == ["same.txt", "none/x"]
    assert envelope["ok"]
    assert envelope["completeness"]["read"] == "incomplete"


def test_the_root_selects_everything(workspace: Workspace) -> None:
    workspace.add("a.txt", b"a\n")
    workspace.private("d/p.txt", b"p\n")
    assert paths(workspace.pending(".")) == ["a.txt", "d/p.txt"]


@pytest.mark.req("PDIFF-065", "PDIFF-066", "PDIFF-067", "PDIFF-068", "PDIFF-069")
def test_a_file_that_fails_keeps_its_outcome_and_the_others_theirs(workspace: Workspace) -> None:
    for name in "abc":
        workspace.change(f"{name}.txt", b"1\n", b"2\n")
    workspace.fault("cat", nth=1, exit=1)
    envelope = workspace.pending()
    assert error(envelope) == ("partial_comparison", "compare")
    assert envelope["ok"] is False
    first, second, third = envelope["data"]["outcomes"]
    assert [each["state"] for each in (first, second, third)] == [
        "completed", "failed", "completed",
    ]  # fmt: skip
    assert second["comparison"] is None
    assert (second["error"]["code"], second["error"]["stage"]) == ("command_failed", "export")
    assert first["comparison"]["status"] == third["comparison"]["status"] == "changed"
    assert counts(envelope, "attempted", "completed", "failed", "returned") == [3, 2, 1, 3]
    assert envelope["completeness"] == {"read": "incomplete", "projection": "complete"}


@pytest.mark.req("PDIFF-069")
def test_when_every_file_fails_there_are_no_comparisons(workspace: Workspace) -> None:
    workspace.change("a.txt", b"1\n", b"2\n")
    workspace.write("cp.txt", b"c\n")
    workspace.pend("CP", "cp.txt")
    workspace.pend("AD", "link.txt", revisionType="enSymLink")
    (workspace.root / "link.txt").symlink_to("a.txt")
    workspace.fault("fileinfo", exit=1)
    envelope = workspace.pending()
    assert error(envelope) == ("partial_comparison", "compare")
    outcomes = envelope["data"]["outcomes"]
    assert [each["comparison"] for each in outcomes] == [None] * 3
    assert [each["error"]["code"] for each in outcomes] == [
        "command_failed", "unsupported_status", "unsafe_path",
    ]  # fmt: skip
    assert [each["pendingKind"] for each in outcomes] == ["changed", None, "added"]


def test_a_row_of_the_client_s_own_directory_is_not_read(workspace: Workspace) -> None:
    workspace.pend("PR", ".plastic/plastic.selector")
    envelope = workspace.pending(includePrivate=True)
    [outcome] = envelope["data"]["outcomes"]
    assert outcome["error"]["code"] == "unsafe_path"


def test_a_failed_status_is_no_selection(workspace: Workspace) -> None:
    workspace.add("a.txt", b"a\n")
    workspace.fault("status", exit=1)
    envelope = workspace.pending()
    assert error(envelope) == ("command_failed", "status")
    assert envelope["data"] is None


@pytest.mark.parametrize("path", ["../x", "linked/a.txt", ".plastic", "fifo"])
def test_one_unfit_path_refuses_the_call(workspace: Workspace, path: str) -> None:
    workspace.add("a.txt", b"a\n")
    (workspace.root / "linked").symlink_to("..")
    os.mkfifo(workspace.root / "fifo")
    envelope = workspace.pending("a.txt", path)
    assert envelope["error"]["stage"] == "request"
    assert workspace.calls() == []


def test_a_cleanup_that_fails_keeps_the_comparison(workspace: Workspace) -> None:
    workspace.change("a.txt", b"1\n", b"2\n")
    workspace.change("b.txt", b"1\n", b"2\n")
    workspace.use_stand_in_diff()
    workspace.fault("diff-program", nth=0, replaceOwned=True)
    envelope = workspace.pending()
    first, second = envelope["data"]["outcomes"]
    assert (first["state"], first["error"]["code"]) == ("failed", "cleanup_failed")
    assert first["comparison"]["status"] == "changed"
    assert second["state"] == "completed"
    assert error(envelope) == ("partial_comparison", "compare")
    cleanup = envelope["data"]["cleanup"]
    assert cleanup == first["comparison"]["cleanup"]
    link = workspace.temporary / cleanup["recoveryDirectory"]
    workspace.retained = [link, link.with_name(f"{link.name}-aside")]


@pytest.mark.req("PDIFF-067", "PDIFF-068")
def test_a_call_that_is_cancelled_leaves_the_rest_unattempted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        workspace.change(f"{name}.txt", b"1\n", b"2\n")
    workspace.fault("cat", nth=1, sleep=30)
    wanted = threading.Event()

    def is_cancelled() -> bool:
        if workspace.commands().count("cat") == 2:
            wanted.set()
        return wanted.is_set()

    monkeypatch.setattr(cancellation, "is_cancelled", is_cancelled)
    envelope = workspace.pending()
    assert error(envelope) == ("aborted", "compare")
    assert counts(envelope, "selected", "attempted", "completed", "failed", "unattempted") == [
        3, 2, 1, 1, 1,
    ]  # fmt: skip
    assert envelope["data"]["outcomes"][1]["error"]["code"] == "aborted"
    assert envelope["completeness"]["read"] == "incomplete"


def size(envelope: dict[str, Any]) -> int:
    return len(json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))


@pytest.mark.req("PDIFF-076", "PDIFF-080", "PDIFF-081")
def test_whole_outcomes_are_left_out_from_the_end(workspace: Workspace) -> None:
    names = [f"{number:02}-" + "\u6f22" * 60 + ".txt" for number in range(8)]
    for name in names:
        workspace.add(name, "\u6f22".encode() * 9_000 + b"\n")
    envelope = workspace.pending(*names, maxChars=8_000)
    returned = len(envelope["data"]["outcomes"])
    assert 0 < returned < 8
    assert counts(envelope, "attempted", "returned", "omitted") == [8, returned, 8 - returned]
    assert paths(envelope) == names[:returned]
    assert envelope["data"]["scope"]["paths"] == names
    one = size(envelope["data"]["outcomes"][0])
    assert 131_072 - one - 1 < size(envelope) <= 131_072
    assert envelope["completeness"] == {"read": "complete", "projection": "omitted"}
    assert all(
        outcome["comparison"]["excerpt"]["truncated"] for outcome in envelope["data"]["outcomes"]
    )


@pytest.mark.req("PDIFF-081", "PDIFF-076")
def test_names_that_do_not_fit_are_not_clipped(workspace: Workspace) -> None:
    names = [f"{number:02}" + "/\u6f22" * 2_046 for number in range(20)]
    envelope = workspace.pending(*names)
    assert error(envelope) == ("projection_limit", "project")
    assert envelope["data"] is None
    assert envelope["completeness"] == {"read": "none", "projection": "omitted"}


@pytest.mark.req("PDIFF-022", "PDIFF-075")
def test_an_excerpt_of_3000_characters_is_the_default(workspace: Workspace) -> None:
    workspace.add("a.txt", b"a" * 5_000 + b"\n")
    workspace.add("b.txt", b"b\n")
    envelope = workspace.pending()
    first, second = (each["comparison"]["excerpt"] for each in envelope["data"]["outcomes"])
    assert (len(first["text"]), first["truncated"]) == (3_000, True)
    assert second["truncated"] is False
    assert envelope["completeness"] == {"read": "complete", "projection": "truncated"}
