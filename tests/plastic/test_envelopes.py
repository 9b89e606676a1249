"""Envelopes: what a schema judges, and what only the relations between fields do."""

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from patchdiff.plastic.envelopes import DIFF_SCHEMA, PATCH_SCHEMA, EnvelopeError, validate
from patchdiff.plastic.failure import MESSAGES
from patchdiff.plastic.limits import DEFAULT_LIMITS
from patchdiff.plastic.presentation import present
from patchdiff.plastic.projection import shrunk
from patchdiff.plastic.utf16 import excerpt, head, units
from tests.plastic.kit import Workspace

Edit = Callable[[dict[str, Any]], Any]
SOURCE = "br:/main/x@game@server.example:8087"


@pytest.fixture
def receipts(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """One valid envelope of each kind."""
    workspace.change("a.txt", b"a\n", b"b\n")
    workspace.add("b.bin", b"\0")
    workspace.branch_patch(SOURCE, content=b"patch\n")
    workspace.fault("ls", nth=1, exit=1)
    found = {
        "file": workspace.file("a.txt"),
        "binary": workspace.file("b.bin"),
        "workspace": workspace.pending(),
        "patch": workspace.patch(source=SOURCE),
        "published": workspace.patch(source="br:/main/x", output=str(workspace.base / "o.patch")),
        "opaque": None,
        "preflight": workspace.patch(source=SOURCE, preflight=True),
        "refused": workspace.diff(mode="none"),
    }
    workspace.state["patches"][0]["blob"] = workspace._blob(b"\xff")
    found["opaque"] = workspace.patch(source=SOURCE)
    assert all(found.values())
    return found  # type: ignore[return-value]


def objects(value: Any, path: str = "") -> list[str]:
    """The paths of all objects inside an envelope."""
    found = []
    if isinstance(value, dict):
        found.append(path)
        for name, inner in value.items():
            found += objects(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += objects(inner, f"{path}.{index}")
    return found


def at(envelope: Any, path: str) -> Any:
    for name in path.split(".")[1:]:
        envelope = envelope[int(name)] if isinstance(envelope, list) else envelope[name]
    return envelope


@pytest.mark.req("PDIFF-020", "PPATCH-048")
def test_every_object_is_closed_and_complete(receipts: dict[str, dict[str, Any]]) -> None:
    for kind, envelope in receipts.items():
        for path in objects(envelope):
            added = copy.deepcopy(envelope)
            at(added, path)["unknown"] = None
            with pytest.raises(EnvelopeError):
                validate(added)
            for name in at(envelope, path):
                lacking = copy.deepcopy(envelope)
                del at(lacking, path)[name]
                with pytest.raises(EnvelopeError, match=r".+"):
                    validate(lacking)
        assert validate(envelope) is envelope, kind


def put(path: str, value: Any) -> Edit:
    *above, name = path.split(".")

    def edit(envelope: dict[str, Any]) -> None:
        at(envelope, ".".join(["", *above]))[name] = value

    return edit


CAPTURE = "data.generation.capture"
BROKEN = [
    ("file", put("ok", False)),
    ("file", put("version", 2)),
    ("file", put("action", "patch")),
    ("file", put("action", "other")),
    ("file", put("completeness.read", "none")),
    ("file", put("completeness.projection", "truncated")),
    ("file", put("data.left.identity", None)),
    ("file", put("data.left.selector", None)),
    ("file", put("data.left.path", None)),
    ("file", put("data.left.sha256", hashlib.sha256(b"b\n").hexdigest())),
    ("file", put("data.left.sha256", "E" * 64)),
    ("file", put("data.left.bytes", 4_194_305)),
    ("file", put("data.left.bytes", 0)),
    ("file", put("data.left.binary", True)),
    ("file", put("data.left.identity.hash", "AAAA")),
    ("file", put("data.left.identity.hashAlgorithm", "SHA1")),
    ("file", put("data.left.identity.hashVerified", False)),
    ("file", put("data.left.identity.revisionId", 5)),
    ("file", put("data.pendingKind", None)),
    ("file", put("data.comparisonKind", "empty-local")),
    ("file", put("data.status", "unchanged")),
    ("file", put("data.backend.exitCode", 0)),
    ("file", put("data.backend.kind", "byte-equality")),
    ("file", put("data.hunks", 0)),
    ("file", put("data.excerpt", None)),
    ("file", put("data.excerpt.keptUtf16", 1)),
    ("file", put("data.excerpt.text", "x")),
    ("file", put("data.excerpt.truncated", True)),
    ("file", put("data.cleanup.retained", True)),
    ("file", put("data.cleanup.recoveryDirectory", "/x")),
    ("file", put("data.captures.0.truncated", True)),
    ("file", put("data.captures.0.stdoutKept", 10**6)),
    ("file", put("data.captures.0.exitCode", None)),
    ("file", put("data.captures.0.signal", "SIGKILL")),
    ("file", put("data.captures.0.terminal", "timeout")),
    ("file", put("data.right.path", "x" * 4097)),
    ("file", put("data.right.path", "\U0001f600" * 2049)),
    ("binary", put("data.status", "unchanged")),
    ("binary", put("data.hunks", 1)),
    ("binary", put("data.left.bytes", 1)),
    ("workspace", put("ok", True)),
    ("workspace", put("error", None)),
    ("workspace", put("error.message", "anything")),
    ("workspace", put("error.code", "anything")),
    ("workspace", put("completeness.read", "complete")),
    ("workspace", put("completeness.projection", "omitted")),
    ("workspace", put("data.counts.failed", 0)),
    ("workspace", put("data.counts.completed", 2)),
    ("workspace", put("data.counts.selected", 21)),
    ("workspace", put("data.counts.limited", 1)),
    ("workspace", put("data.counts.returned", 1)),
    ("workspace", put("data.counts.omitted", 1)),
    ("workspace", put("data.counts.unattempted", 1)),
    ("workspace", put("data.counts.parsed", 0)),
    ("workspace", put("data.scope.allPending", False)),
    ("workspace", put("data.outcomes.0.state", "completed")),
    ("workspace", put("data.outcomes.0.error", None)),
    ("workspace", put("data.outcomes.1.comparison", None)),
    ("patch", put("data.generation.attempts", 2)),
    ("patch", put(f"{CAPTURE}.exitCode", 1)),
    ("patch", put(f"{CAPTURE}.stderrBytes", 1)),
    ("patch", put(f"{CAPTURE}.possiblyRunning", True)),
    ("patch", put("data.generation", None)),
    ("patch", put("data.artifact", None)),
    ("patch", put("data.artifact.utf8Characters", 7)),
    ("patch", put("data.artifact.utf16Units", 5)),
    ("patch", put("data.artifact.bytes", 5)),
    ("patch", put("data.artifact.bytes", 19)),
    ("patch", put("data.artifact.lines", None)),
    ("patch", put("data.artifact.lines", 7)),
    ("patch", put("data.artifact.encoding", "opaque")),
    ("patch", put("data.artifact.excerpt.sourceUtf16", 7)),
    ("patch", put("data.preflight", True)),
    ("patch", put("data.requested.toolPath", "/bin/diff")),
    ("patch", put("data.requested.output", "/o")),
    ("patch", put("data.backend.label", "diff")),
    ("patch", put("data.effective.source", "br:/other")),
    ("patch", put("data.effective.destination", "br:/other")),
    ("patch", put("data.effective.selectorBytes", 5)),
    ("patch", put("completeness.read", "none")),
    ("patch", put("completeness.projection", "truncated")),
    ("opaque", put("data.artifact.utf16Units", 1)),
    ("opaque", put("data.artifact.encoding", "utf-8")),
    ("published", put(f"{CAPTURE}.exitCode", 1)),
    ("published", put(f"{CAPTURE}.terminal", "signal")),
    ("published", put("data.artifact.bytes", 0)),
    ("published", put("data.artifact", None)),
    ("published", put("data.publication.state", "refused")),
    ("published", put("data.publication.sameInode", None)),
    ("published", put("data.publication.method", "rename")),
    ("published", put("data.requested.output", None)),
    ("published", put("data.publication", None)),
    ("published", put("data.effective.selectorSha256", None)),
    ("preflight", put("data.preflight", False)),
    ("refused", put("completeness.read", "complete")),
    ("refused", put("error", None)),
]


@pytest.mark.req("PPATCH-040", "PPATCH-041", "PDIFF-023", "PDIFF-067", "PDIFF-068", "PDIFF-078")
def test_an_envelope_that_contradicts_itself_is_refused(
    receipts: dict[str, dict[str, Any]],
) -> None:
    for kind, edit in BROKEN:
        broken = copy.deepcopy(receipts[kind])
        edit(broken)
        assert broken != receipts[kind], BROKEN.index((kind, edit))
        try:
            validate(broken)
        except EnvelopeError:
            continue
        changed = [path for path in objects(broken) if at(broken, path) != at(receipts[kind], path)]
        pytest.fail(f"{kind}: a change in {changed[-1]} went unnoticed")


@pytest.mark.req("PPATCH-041")
def test_a_receipt_of_the_right_shape_can_be_wrong(receipts: dict[str, dict[str, Any]]) -> None:
    for edit, reason in (
        (put(f"{CAPTURE}.exitCode", 1), "complete capture"),
        (put("data.artifact.bytes", 0), "characters, units and bytes"),
    ):
        broken = copy.deepcopy(receipts["published"])
        edit(broken)
        with pytest.raises(EnvelopeError, match=reason):
            validate(broken)
    opaque = copy.deepcopy(receipts["published"])
    opaque["data"]["artifact"] = {
        **dict.fromkeys(("utf8Characters", "utf16Units", "lines", "excerpt")),
        "bytes": 0,
        "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "encoding": "opaque",
    }
    with pytest.raises(EnvelopeError, match="is not empty"):
        validate(opaque)


def test_the_messages_are_fixed_and_short() -> None:
    for code, message in MESSAGES.items():
        assert code.replace("_", "").isalpha()
        assert 20 < units(message) <= 300
        assert message.isascii()


def test_the_schemas_are_closed_everywhere() -> None:
    def walk(schema: Any) -> None:
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                assert schema["additionalProperties"] is False
                assert schema["required"] == list(schema["properties"])
            for inner in schema.values():
                walk(inner)
        elif isinstance(schema, list):
            for inner in schema:
                walk(inner)

    walk(DIFF_SCHEMA)
    walk(PATCH_SCHEMA)


@pytest.mark.req("PDIFF-021", "PDIFF-082", "PPATCH-005", "PPATCH-006")
def test_both_presentations_are_of_the_same_envelope(
    receipts: dict[str, dict[str, Any]],
) -> None:
    for envelope in receipts.values():
        before = copy.deepcopy(envelope)
        assert json.loads(present(envelope, "json", 24_000)) == envelope
        text = present(envelope, "text", 24_000)
        assert text.startswith(f"plastic_{envelope['action']}: ")
        assert envelope == before
        if envelope["error"] is not None:
            assert envelope["error"]["code"] in text
    assert "-a\n+b\n" in present(receipts["file"], "text", 24_000)
    assert "patch\n" in present(receipts["patch"], "text", 24_000)


@pytest.mark.req("PDIFF-077", "PDIFF-082")
def test_a_presentation_keeps_to_its_bound(workspace: Workspace) -> None:
    for name in "abcdef":
        workspace.add(f"{name}.txt", "\U0001f600".encode() * 4_000 + b"\n")
    envelope = workspace.pending(maxFiles=6, maxChars=8_000)
    assert DEFAULT_LIMITS.diff_presentation == 24_000
    text = present(envelope, "text", 24_000)
    assert 23_990 < units(text) <= 24_000
    text.encode("utf-8")
    assert text.endswith("see structuredContent]")
    pointer = json.loads(present(envelope, "json", 24_000))
    assert pointer == {
        "version": 1,
        "action": "diff",
        "ok": True,
        "completeness": envelope["completeness"],
        "error": None,
        "data": "see structuredContent",
    }
    whole = json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
    assert present(envelope, "json", units(whole)) == whole
    assert present(envelope, "json", units(whole) - 1) != whole


@pytest.mark.req("PDIFF-078", "PDIFF-079", "PPATCH-038")
def test_excerpts_by_an_independent_count() -> None:
    samples = ["a", "\u6f22", "\U0001f600", "e\u0301", "\r\n"]
    for length in range(60, 90):
        for sample in samples:
            text = (sample * length)[: length * 2]
            for limit in (64, 65, 66, 80):
                found = excerpt(text, limit)
                whole = len(text.encode("utf-16-le")) // 2
                assert found["sourceUtf16"] == whole == units(text)
                shown = str(found["text"])
                assert len(shown.encode("utf-16-le")) // 2 <= limit
                assert found["truncated"] is (whole > limit)
                kept = shown.encode("utf-16-le")[: 2 * int(str(found["keptUtf16"]))]
                assert text.startswith(kept.decode("utf-16-le"))
    assert head("a\U0001f600b", 2) == "a"
    assert head("a\U0001f600b", 3) == "a\U0001f600"
    assert head("\U0001f600", 0) == ""


@pytest.mark.req("PDIFF-076", "PPATCH-037")
def test_the_longest_excerpt_that_fits_is_found() -> None:
    def of(characters: int) -> dict[str, Any]:
        return {"text": "x" * characters}

    frame = len('{"text":""}')
    for fitting in (64, 65, 99, 100, 127, 128):
        assert shrunk(of, 128, fitting + frame) == of(min(fitting, 128))
    assert shrunk(of, 128, 63 + frame) is None
    assert DEFAULT_LIMITS.diff_envelope_bytes == 131_072
    assert DEFAULT_LIMITS.patch_envelope_bytes == 524_288
