"""What docs/observed-editing.md says holds: its example, its codes and its names."""

from __future__ import annotations

import re
from typing import Any

from patchdiff.catalog import TOOLS
from tests.test_docs import ROOT, first_column, section

PAGE = ROOT / "docs" / "observed-editing.md"


def test_the_example_runs(database_url: str) -> None:
    [program] = re.findall(r"```python\n(.*?)```", section(PAGE, "An example"), re.DOTALL)
    names: dict[str, Any] = {"url": database_url}
    exec(program, names)
    assert names["one"]["status"] == names["both"]["status"] == "accepted"
    assert names["used"]["status"] == "rejected"
    assert names["used"]["diagnostic"]["code"] == "OBSERVATION_ALREADY_CONSUMED"
    assert names["text"] == (
        "def area(w, h):\n    area = w * h\n    return area\n\n\n"
        "def v(width, height, depth):\n    return width * height * depth\n"
    )
    assert names["both"]["version"] == 2
    assert names["both"]["group_count"] == 2
    assert names["replayed"]["materialized_state_matches"] is True


def test_the_codes_are_those_of_the_error_page() -> None:
    listed = first_column(PAGE, "When it is refused")
    known = first_column(ROOT / "docs" / "errors.md", "Codes")
    assert set(listed) <= set(known)
    observed = {name for name in known if name.isupper()}
    assert observed <= set(listed)


def test_the_fields_are_those_of_the_tools() -> None:
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE.read_text(encoding="utf-8")))
    fields = {
        name
        for tool in ("patchdiff_observe_scope", "patchdiff_submit_observed_operations")
        for name in TOOLS[tool].input_schema["properties"]
    }
    assert {
        "target_file_id", "symbol_name", "observation_id", "observation_bundle_id", "max_chars",
        "expected_target_version", "expected_current_hash", "client_request_id",
    } <= named & (fields)  # fmt: skip
