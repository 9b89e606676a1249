"""Warnings of submissions: accepted all the same, stored with the row, and recovered with it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.documents import (
    ServiceCaller,
    accepted,
    attempts,
    change,
    content_of,
    document,
    sha256,
)

TEXT = "tea e\u0301 x x x\n"
SPLITTING = change("\u0301", "")
SAME = change("tea", "tea")


@pytest.fixture
def caller(service: Any) -> ServiceCaller:
    return ServiceCaller(service)


@pytest.fixture
def target(caller: ServiceCaller) -> str:
    identifier = document(caller, TEXT)["target_file_id"]
    assert isinstance(identifier, str)
    return identifier


def diagnostic_of(admin: Any, answer: dict[str, Any]) -> Any:
    query = "select diagnostic_json from patchdiff.append_only_pdcp_logs where pdcp_log_id = %s"
    return admin.execute(query, [answer["pdcp_log_id"]]).fetchone()[0]


def warnings_of(answer: dict[str, Any]) -> dict[str, Any]:
    names = ("warnings", "warning_details", "warning_count", "warnings_truncated")
    return {name: answer[name] for name in names}


@pytest.mark.req("WARN-001")
@pytest.mark.parametrize(
    ("edits", "after", "codes"),
    [
        ([SPLITTING], "tea e x x x\n", ["grapheme_boundary_split"]),
        (
            [change("x", "y", occurrence_index=1), change("x", "z", occurrence_index=2)],
            "tea e\u0301 y x z\n",
            ["occurrence_index_basis_shift"],
        ),
        ([SAME, change("x x x", "x")], "tea e\u0301 x\n", ["no_op_change"]),
        ([SAME], TEXT, ["no_op_change", "no_op_transaction"]),
    ],
)
def test_a_submission_with_warnings_is_accepted(
    caller: ServiceCaller, target: str, edits: list[Any], after: str, codes: list[str]
) -> None:
    answer = accepted(caller, target, *edits)
    assert [item["code"] for item in answer["warning_details"]] == codes
    assert [string.partition(": ")[0] for string in answer["warnings"]] == codes
    assert answer["validity"]["transaction_valid"] is True
    assert answer["version"] == 1
    assert content_of(caller, target) == after


@pytest.mark.req("WARN-004", "WARN-005")
def test_a_transaction_without_effect_still_advances_the_version(
    caller: ServiceCaller, target: str
) -> None:
    answer = accepted(caller, target, change("tea", "cup"), change("cup", "tea"))
    assert [item["code"] for item in answer["warning_details"]] == ["no_op_transaction"]
    assert "change_id" not in answer["warning_details"][0]
    assert answer["before_hash"] == answer["after_hash"] == sha256(TEXT)
    assert (answer["version"], answer["current_version"]) == (1, 1)
    assert accepted(caller, target, SAME, expected_target_version=1)["version"] == 2


@pytest.mark.req("WARN-026", "WARN-027", "WARN-028", "WARN-029", "WARN-031", "LOG-028")
@pytest.mark.parametrize(("count", "shown"), [(1, 1), (16, 16), (17, 16)])
def test_warnings_are_stored_and_recovered(
    caller: ServiceCaller, admin: Any, count: int, shown: int
) -> None:
    text = "".join(f"<{i}>" for i in range(count)) + "z"
    target = document(caller, text)["target_file_id"]
    edits = [*(change(f"<{i}>", f"<{i}>") for i in range(count)), change("z", "y")]
    answer = accepted(caller, target, *edits, client_request_id="k")
    assert len(answer["warnings"]) == len(answer["warning_details"]) == shown
    assert answer["warning_count"] == count
    assert answer["warnings_truncated"] is (count > shown)
    stored = diagnostic_of(admin, answer)
    assert stored == {
        "warnings": answer["warning_details"],
        "warning_count": count,
        "warnings_truncated": count > shown,
    }
    assert attempts(caller, target)[0]["diagnostic"] == stored
    again = accepted(caller, target, *edits, client_request_id="k")
    assert again["deduplicated"] is True
    assert warnings_of(again) == warnings_of(answer)


@pytest.mark.req("WARN-030", "WARN-032", "LOG-028")
def test_a_row_without_warnings_stores_and_recovers_none(
    caller: ServiceCaller, admin: Any, target: str
) -> None:
    edit = change("tea", "cup")
    answer = accepted(caller, target, edit, client_request_id="k")
    assert diagnostic_of(admin, answer) is None
    assert attempts(caller, target)[0]["diagnostic"] is None
    again = accepted(caller, target, edit, client_request_id="k")
    assert again["deduplicated"] is True
    nothing = {
        "warnings": [],
        "warning_details": [],
        "warning_count": 0,
        "warnings_truncated": False,
    }
    assert warnings_of(again) == warnings_of(answer) == nothing


def test_a_rejection_carries_no_warnings(caller: ServiceCaller, target: str) -> None:
    answer = caller.call(
        "patchdiff_submit_edits",
        target_file_id=target,
        intent="t",
        edits=[SAME, change("absent", "x")],
        expected_target_version=0,
    )
    assert answer["status"] == "rejected"
    assert not {"warnings", "warning_details", "warning_count"} & set(answer)
