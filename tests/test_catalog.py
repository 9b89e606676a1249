"""The advertised catalog: schemas, texts, annotations, profiles and size."""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from patchdiff import Service
from patchdiff.catalog import TOOLS, Tool
from patchdiff.catalog_schemas import PATTERN_MEANINGS
from patchdiff.preview import NOT_GIVEN
from patchdiff.profiles import PROFILES
from tests.support.pipes import Child

CONTRACT_ORDER = [
    "patchdiff_initialize_target",
    "patchdiff_handle_upload",
    "patchdiff_get_target",
    "patchdiff_export_target",
    "patchdiff_read_target",
    "patchdiff_read_lines",
    "patchdiff_find_occurrences",
    "patchdiff_submit_edits",
    "patchdiff_submit_operations",
    "patchdiff_submit_replacement",
    "patchdiff_preview",
    "patchdiff_save",
    "patchdiff_replay",
    "patchdiff_get_pdcp_log",
    "patchdiff_get_manifest_ledger",
    "patchdiff_observe_scope",
    "patchdiff_submit_observed_operations",
]
OBSERVED = "patchdiff_submit_observed_operations"
SUBMISSIONS = [
    "patchdiff_submit_edits",
    "patchdiff_submit_operations",
    "patchdiff_submit_replacement",
]
READER = [
    "patchdiff_get_target",
    "patchdiff_export_target",
    "patchdiff_read_target",
    "patchdiff_read_lines",
    "patchdiff_find_occurrences",
    "patchdiff_preview",
    "patchdiff_replay",
    "patchdiff_get_pdcp_log",
    "patchdiff_get_manifest_ledger",
]
REQUEST = (
    "expected_target_version expected_current_hash client_request_id parent_pdcp_log_id attempt "
    "source include_correlation_id"
)
PARAMETERS = {
    "patchdiff_initialize_target": "filename! content content_type project_id from_workspace",
    "patchdiff_handle_upload": "filename! content! content_type! project_id",
    "patchdiff_get_target": "target_file_id!",
    "patchdiff_export_target": "target_file_id! format",
    "patchdiff_read_target": "target_file_id! start length",
    "patchdiff_read_lines": "target_file_id! start_line end_line offset max_chars "
    "include_line_starts",
    "patchdiff_find_occurrences": "target_file_id! text! context_chars start_occurrence "
    "max_results",
    "patchdiff_submit_edits": f"target_file_id! intent! edits! {REQUEST}",
    "patchdiff_submit_operations": f"target_file_id! intent! operations! {REQUEST}",
    "patchdiff_submit_replacement": f"target_file_id! intent! replacement! {REQUEST}",
    "patchdiff_preview": "target_file_id! format! expected_target_version expected_current_hash "
    "intent edits operations replacement",
    "patchdiff_save": "target_file_id! expected_target_version expected_current_hash "
    "export_after_save sync_workspace workspace_eol_format",
    "patchdiff_replay": "target_file_id!",
    "patchdiff_get_pdcp_log": "target_file_id! limit before_sequence status content_hash "
    "client_request_id include_content",
    "patchdiff_get_manifest_ledger": "target_file_id! include_previous_cycles limit "
    "before_sequence",
    "patchdiff_observe_scope": "target_file_id! query symbol_name kind observation_id offset "
    "max_chars include_line_starts selections",
    OBSERVED: "target_file_id! intent! observation_id operations observation_bundle_id groups "
    f"{REQUEST}",
}
SPAN = (
    "op! start! end! expected_text! replace! change_id rationale risk expected_before "
    "expected_after"
)
EDIT = "match! replace! change_id rationale risk occurrence_index anchor_before anchor_after"

every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.method)


def spelled(schema: dict[str, Any]) -> set[str]:
    required = schema["required"]
    return {f"{name}!" if name in required else name for name in schema["properties"]}


def properties(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property of a schema, nested ones too, with its path."""
    for name, inner in schema.get("properties", {}).items():
        yield f"{path}{name}", inner
        yield from properties(inner, f"{path}{name}.")
    if "items" in schema:
        yield from properties(schema["items"], f"{path}[].")
    for alternative in schema.get("oneOf", []):
        yield from properties(alternative, path)


def schemas() -> list[dict[str, Any]]:
    return [tool.input_schema for tool in TOOLS.values()]


@pytest.mark.req("CAT-001", "CAT-002", "CAT-003", "CAT-004", "CAT-005", "CAT-006")
def test_the_tools() -> None:
    assert list(TOOLS) == CONTRACT_ORDER
    assert len(TOOLS) == 17


@every_tool
@pytest.mark.req("CAT-019")
def test_the_root_of_a_schema_is_a_plain_closed_object(tool: Tool) -> None:
    extension = {"x-patchdiff-capabilities"} if tool.name in SUBMISSIONS[1:] else set()
    plain = {"type", "properties", "required", "additionalProperties"}
    assert set(tool.input_schema) - {"examples"} == plain | extension
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    Draft202012Validator.check_schema(tool.input_schema)


@every_tool
@pytest.mark.req("LIFE-009", "LIFE-021", "LOG-001", "LEDG-001", "SAVE-001", "REPL-001")
@pytest.mark.req("SCOPE-001", "OBS-005", "BATCH-001")
def test_the_parameters_are_the_contract_s(tool: Tool) -> None:
    assert spelled(tool.input_schema) == set(PARAMETERS[tool.name].split())
    assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])


@pytest.mark.req("CAT-031")
def test_the_edit_item_and_the_least_number_of_edits() -> None:
    edits = TOOLS["patchdiff_submit_edits"].input_schema["properties"]["edits"]
    assert (edits["type"], edits["minItems"]) == ("array", 1)
    assert spelled(edits["items"]) == set(EDIT.split())
    assert edits["items"]["additionalProperties"] is False


@every_tool
@pytest.mark.req("CAT-021")
def test_every_parameter_has_a_description_of_one_line(tool: Tool) -> None:
    for path, schema in properties(tool.input_schema):
        description = schema["description"]
        assert description == description.strip(), path
        assert len(description.splitlines()) == 1, path
        assert 10 <= len(description) <= 160, path
        assert description.isascii(), path


@every_tool
def test_titles_descriptions_and_annotations(tool: Tool) -> None:
    assert tool.title
    assert tool.description.isascii()
    assert len(tool.description.splitlines()) == 1
    assert re.fullmatch(r"patchdiff_[a-z_]+", tool.name)
    assert tool.read_only is (tool.name in READER)
    assert tool.idempotent is tool.read_only
    assert tool.destructive is (tool.name in [*SUBMISSIONS, OBSERVED])


@pytest.mark.req("CAT-022")
@pytest.mark.parametrize("name", [*SUBMISSIONS, "patchdiff_preview"])
def test_a_submission_tool_states_the_guard_rule_in_prose(name: str) -> None:
    assert (
        "At least one of expected_target_version and expected_current_hash is required"
        in TOOLS[name].description
    )


@pytest.mark.req("CAT-022", "CAT-030")
def test_the_observed_submission_states_its_rules_in_prose() -> None:
    description = TOOLS[OBSERVED].description
    for rule in (
        "Both expected_target_version and expected_current_hash are required",
        "spans count code points of the whole text",
        "in each group matches and spans count inside its own scope alone",
        "strictly inside the scope with expected_before and expected_after",
        "client_request_id",
    ):
        assert rule in description


@pytest.mark.req("SCOPE-017", "SCOPE-038", "SCOPE-049")
def test_selections_are_objects_of_name_and_kind() -> None:
    properties = TOOLS["patchdiff_observe_scope"].input_schema["properties"]
    chosen = properties["selections"]
    assert (chosen["minItems"], chosen["maxItems"]) == (1, 32)
    assert spelled(chosen["items"]) == {"symbol_name!", "kind"}
    assert chosen["items"]["additionalProperties"] is False
    for schema in (properties, chosen["items"]["properties"]):
        assert schema["symbol_name"]["minLength"] == schema["kind"]["minLength"] == 1
    assert properties["query"]["minLength"] == 1


@pytest.mark.req("BATCH-004", "BATCH-006", "BATCH-007")
def test_groups_are_objects_of_receipt_and_operations() -> None:
    properties = TOOLS[OBSERVED].input_schema["properties"]
    groups = properties["groups"]
    assert (groups["minItems"], groups["maxItems"]) == (1, 32)
    assert spelled(groups["items"]) == {"observation_id!", "operations!"}
    assert groups["items"]["additionalProperties"] is False
    operations_of_a_group = groups["items"]["properties"]["operations"]
    assert operations_of_a_group["minItems"] == properties["operations"]["minItems"] == 1
    assert operations_of_a_group["items"] == properties["operations"]["items"]


@pytest.mark.req("CAT-023")
def test_the_operations_are_described_as_matches_and_spans() -> None:
    operations = TOOLS["patchdiff_submit_operations"].input_schema["properties"]["operations"]
    match, span = operations["items"]["oneOf"]
    assert (match["properties"]["op"]["const"], span["properties"]["op"]["const"]) == (
        "match",
        "span",
    )
    assert spelled(match) == {"op!", *EDIT.split()}
    assert spelled(span) == set(SPAN.split())
    assert match["additionalProperties"] is span["additionalProperties"] is False


@pytest.mark.req("CAT-024", "CAT-025", "CAT-026", "CAT-027")
def test_the_newer_submissions_state_their_capabilities() -> None:
    operations, replacement = (
        TOOLS[name].input_schema["x-patchdiff-capabilities"] for name in SUBMISSIONS[1:]
    )
    assert operations == {
        "protocol": "patchdiff-tx/2",
        "runtime": "patchdiff-mvp-0.3.0",
        "operations": ["match", "span"],
        "coordinates": "sequential canonical code points, end exclusive",
        "insertion": "span with start equal to end and an empty expected_text",
        "span_context": {
            "fields": ["expected_before", "expected_after"],
            "runtime": "patchdiff-mvp-0.5.0",
        },
    }
    assert replacement == {
        "protocol": "patchdiff-tx/3",
        "runtime": "patchdiff-mvp-0.4.0",
        "operations": ["replace_all"],
        "size_limits": {"code_points": 1_000_000, "utf8_bytes": 1_048_576},
    }


@every_tool
@pytest.mark.req("CAT-016")
def test_a_pattern_that_ends_in_a_dollar_refuses_a_trailing_lf(tool: Tool) -> None:
    for path, schema in properties(tool.input_schema):
        if "pattern" in schema:
            assert schema["pattern"].startswith("^"), path
            assert schema["pattern"].endswith("$"), path
            assert schema["not"] == {"type": "string", "pattern": "\\n$"}, path
            assert schema["pattern"] in PATTERN_MEANINGS, path


UUID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
GOOD = {
    "target_file_id": UUID,
    "project_id": UUID,
    "parent_pdcp_log_id": UUID,
    "expected_current_hash": "a" * 64,
    "content_hash": "0" * 64,
    "client_request_id": "~" * 128,
    "edits.[].change_id": "A.b_c-" + "9" * 58,
    "operations.[].change_id": "A.b_c-" + "9" * 58,
    "observation_id": UUID,
    "observation_bundle_id": UUID,
    "groups.[].observation_id": UUID,
    "groups.[].operations.[].change_id": "A.b_c-" + "9" * 58,
}


@every_tool
def test_strings_that_fit_a_pattern_do_so_to_their_very_end(tool: Tool) -> None:
    for path, schema in properties(tool.input_schema):
        if "pattern" not in schema:
            continue
        judge = Draft202012Validator(schema)
        good = GOOD[path]
        assert judge.is_valid(good), path
        for bad in (good + "\n", "\n" + good, good + " ", good + "\0", good[:-1] + "\u0660", ""):
            assert not judge.is_valid(bad), (path, bad)


@every_tool
@pytest.mark.req("CAT-018")
def test_nullable_fields_accept_null_and_default_to_it(tool: Tool) -> None:
    for path, schema in properties(tool.input_schema):
        nullable = isinstance(schema.get("type"), list)
        assert Draft202012Validator(schema).is_valid(None) is nullable, path
        if nullable:
            assert schema["type"][1:] == ["null"], path
            assert schema["default"] is None, path


@every_tool
def test_a_default_fits_its_schema(tool: Tool) -> None:
    for path, schema in properties(tool.input_schema):
        if "default" in schema:
            assert Draft202012Validator(schema).is_valid(schema["default"]), path


@every_tool
@pytest.mark.req("EOL-017", "LIFE-005", "LIFE-012")
def test_the_service_s_method_has_the_same_parameters_and_defaults(tool: Tool) -> None:
    signature = inspect.signature(getattr(Service, tool.method))
    parameters = {name: p for name, p in signature.parameters.items() if name != "self"}
    assert set(parameters) == set(tool.input_schema["properties"])
    for name, parameter in parameters.items():
        schema = tool.input_schema["properties"][name]
        if name in tool.input_schema["required"]:
            assert parameter.default is parameter.empty, name
            assert "default" not in schema, name
        elif "default" in schema:
            assert json.dumps(parameter.default) == json.dumps(schema["default"]), name
        else:
            # a field of one format: left out is something else than null
            assert tool.name == "patchdiff_preview", name
            assert parameter.default is NOT_GIVEN, name


def test_no_schema_has_an_upper_bound_where_the_service_clamps() -> None:
    spans = {
        f"{operations}.{end}"
        for operations in ("operations", "operations[]", "groups[].operations[]")
        for end in ("start", "end")
    }
    for schema in schemas():
        for path, inner in properties(schema):
            assert "maximum" not in inner or path.replace(".[]", "[]") in spans, path


@pytest.mark.req("CAT-007", "CAT-014")
def test_the_listing_on_the_wire_is_the_catalog_and_small() -> None:
    child = Child()
    child.send_message(id=1, method="tools/list")
    first = child.line()
    child.send_message(id=1, method="tools/list", params={})
    assert child.line() == first
    assert child.end()[0] == 0
    listed = json.loads(first)["result"]["tools"]
    for tool, given in zip(PROFILES["reader"].tools, listed, strict=True):
        assert given == {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "annotations": {
                "title": tool.title,
                "readOnlyHint": tool.read_only,
                "destructiveHint": tool.destructive,
                "idempotentHint": tool.idempotent,
                "openWorldHint": False,
            },
        }


@pytest.mark.req("CAT-007")
def test_the_full_listing_is_at_most_64_kib() -> None:
    from patchdiff.protocol import listing

    payload = listing(PROFILES["full"].tools).model_dump(
        by_alias=True, mode="json", exclude_none=True
    )
    text = json.dumps({"tools": payload["tools"]}, ensure_ascii=True, separators=(",", ":"))
    assert len(payload["tools"]) == len(CONTRACT_ORDER)
    assert len(text) <= 65_536
