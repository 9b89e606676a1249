"""What an envelope must be: its closed shape as a JSON schema, and the relations of its fields.

`validate` judges every answer before it leaves. Lengths of strings count UTF-16 code units, which
JSON schema does not; they are judged here with the relations.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from jsonschema import Draft202012Validator

from patchdiff.plastic.failure import MESSAGES, STAGES
from patchdiff.plastic.limits import PATCH_EXCERPT, SELECTOR_BYTES, SIDE_BYTES
from patchdiff.plastic.utf16 import units

Schema = dict[str, Any]

CONTROL: Final = 4096
ARGUMENT: Final = 5120
NAME: Final = 1024
LARGEST_INTEGER: Final = 2**53 - 1
EMPTY_SHA256: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

LONGEST: Final = "x-longestUtf16"
"""The keyword that bounds a string in UTF-16 code units."""


class EnvelopeError(ValueError):
    """An envelope has another shape, or fields that contradict each other."""


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _text(longest: int) -> Schema:
    return {"type": "string", LONGEST: longest}


def _integer(least: int = 0, most: int = LARGEST_INTEGER) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


def _array(items: Schema, most: int) -> Schema:
    return {"type": "array", "items": items, "maxItems": most}


def _pattern(pattern: str) -> Schema:
    return {"type": "string", "pattern": pattern}


_BOOLEAN: Final[Schema] = {"type": "boolean"}
_SHA: Final = _pattern("^[0-9a-f]{64}$")
_ID: Final = _pattern("^[0-9]{1,19}$")

CAPTURE: Final = _object(
    command={"enum": ["status", "fileinfo", "ls", "cat", "patch", "diff"]},
    argv=_array(_text(ARGUMENT), 12),
    terminal={"enum": ["exit", "signal", "spawn-failed", "timeout", "aborted", "unknown"]},
    exitCode=_or_null(_integer(0, 255)),
    signal=_or_null(_text(16)),
    stdoutBytes=_integer(),
    stderrBytes=_integer(),
    stdoutKept=_integer(),
    stderrKept=_integer(),
    truncated=_BOOLEAN,
    durationMs=_integer(),
    timeoutMs=_integer(),
    possiblyRunning=_BOOLEAN,
)

CLEANUP: Final = _object(
    attempted=_BOOLEAN,
    complete=_BOOLEAN,
    retained=_BOOLEAN,
    reason=_or_null({"enum": ["possibly-running", "remove-failed", "requested"]}),
    recoveryDirectory=_or_null(_text(CONTROL)),
)


def _excerpt(longest: int) -> Schema:
    return _object(
        text=_text(longest),
        sourceUtf16=_integer(),
        keptUtf16=_integer(),
        markerUtf16=_integer(),
        omittedUtf16=_integer(),
        truncated=_BOOLEAN,
    )


IDENTITY: Final = _object(
    repository=_text(NAME),
    server=_text(NAME),
    revisionId=_ID,
    itemId=_ID,
    changeset=_integer(),
    serverPath=_text(CONTROL),
    hashAlgorithm={"enum": ["MD5", "SHA1"]},
    hashAlgorithmSource={"enum": ["metadata", "length"]},
    hash=_pattern("^([A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{27}=)$"),
    hashVerified={"const": True},
)

SIDE: Final = _object(
    origin={"enum": ["loaded", "revision", "local", "synthetic-empty"]},
    path=_or_null(_text(CONTROL)),
    selector=_or_null(_text(CONTROL)),
    identity=_or_null(IDENTITY),
    bytes=_integer(0, SIDE_BYTES),
    sha256=_SHA,
    utf8=_BOOLEAN,
    binary=_BOOLEAN,
)

PENDING_KINDS: Final = (
    "none",
    "changed",
    "checked-out",
    "replaced",
    "added",
    "private",
    "deleted",
    "locally-deleted",
    "moved",
    "locally-moved",
)

COMPARISON: Final = _object(
    mode={"enum": ["file", "revisions", "workspace"]},
    pendingKind=_or_null({"enum": list(PENDING_KINDS)}),
    comparisonKind={
        "enum": [
            "loaded-local",
            "loaded-empty",
            "empty-local",
            "revision-local",
            "revision-revision",
        ]
    },
    status={
        "enum": [
            "unchanged",
            "changed",
            "added-empty",
            "deleted-empty",
            "binary-unchanged",
            "binary-different",
        ]
    },
    left=SIDE,
    right=SIDE,
    backend=_object(
        kind={"enum": ["gnu-diff", "byte-equality"]}, exitCode=_or_null(_integer(0, 1))
    ),
    hunks=_integer(),
    addedLines=_integer(),
    removedLines=_integer(),
    noNewlineMarkers=_integer(),
    excerpt=_or_null(_excerpt(20_000)),
    captures=_array(CAPTURE, 6),
    cleanup=CLEANUP,
)

ERROR: Final = _object(
    code={"enum": list(MESSAGES)}, message=_text(300), stage={"enum": list(STAGES)}
)

COUNTS: Final = (
    "parsed",
    "eligible",
    "selected",
    "attempted",
    "completed",
    "failed",
    "skipped",
    "unattempted",
    "limited",
    "returned",
    "omitted",
)

WORKSPACE: Final = _object(
    mode={"const": "workspace"},
    scope=_object(
        paths=_array(_text(CONTROL), 20),
        allPending=_BOOLEAN,
        includePrivate=_BOOLEAN,
        maxFiles=_integer(1, 20),
    ),
    workspace=_object(
        repository=_text(NAME),
        server=_text(NAME),
        changeset=_integer(-1),
        configType=_text(NAME),
        configName=_text(NAME),
    ),
    counts=_object(**dict.fromkeys(COUNTS, _integer())),
    excludedPrivate=_integer(),
    unmatched=_array(_text(CONTROL), 20),
    outcomes=_array(
        _object(
            path=_text(CONTROL),
            sourcePath=_or_null(_text(CONTROL)),
            pendingKind=_or_null({"enum": list(PENDING_KINDS)}),
            state={"enum": ["completed", "failed"]},
            comparison=_or_null(COMPARISON),
            error=_or_null(ERROR),
        ),
        20,
    ),
    captures=_array(CAPTURE, 1),
    cleanup=CLEANUP,
)

PATCH: Final = _object(
    preflight=_BOOLEAN,
    requested=_object(
        source=_text(CONTROL),
        destination=_or_null(_text(CONTROL)),
        output=_or_null(_text(CONTROL)),
        toolPath=_or_null(_text(CONTROL)),
        clean=_BOOLEAN,
        integration=_BOOLEAN,
        format={"enum": ["json", "text"]},
    ),
    effective=_object(
        source=_text(ARGUMENT),
        destination=_or_null(_text(ARGUMENT)),
        qualifiedFrom=_or_null({"const": "workspace-selector"}),
        selectorBytes=_or_null(_integer(0, SELECTOR_BYTES)),
        selectorSha256=_or_null(_SHA),
    ),
    backend=_object(
        origin={"enum": ["argument", "configured", "cm-default"]}, label=_or_null(_text(255))
    ),
    commandProjection=_array(_text(ARGUMENT), 8),
    generation=_or_null(_object(attempts={"const": 1}, capture=CAPTURE)),
    artifact=_or_null(
        _object(
            bytes=_integer(0, SIDE_BYTES),
            sha256=_SHA,
            encoding={"enum": ["utf-8", "opaque"]},
            utf8Characters=_or_null(_integer()),
            utf16Units=_or_null(_integer()),
            lines=_or_null(_integer()),
            excerpt=_or_null(_excerpt(PATCH_EXCERPT)),
        )
    ),
    publication=_or_null(
        _object(
            state={"enum": ["published", "refused", "failed", "not-attempted"]},
            path=_text(CONTROL),
            method={"const": "exclusive-hard-link"},
            sameInode=_or_null(_BOOLEAN),
        )
    ),
    cleanup=CLEANUP,
)


def _envelope(action: str, data: list[Schema]) -> Schema:
    return _object(
        version={"const": 1},
        action={"const": action},
        ok=_BOOLEAN,
        completeness=_object(
            read={"enum": ["complete", "incomplete", "none"]},
            projection={"enum": ["complete", "truncated", "omitted"]},
        ),
        data={"anyOf": [*data, {"type": "null"}]},
        error=_or_null(ERROR),
    )


DIFF_SCHEMA: Final = _envelope("diff", [COMPARISON, WORKSPACE])
PATCH_SCHEMA: Final = _envelope("patch", [PATCH])

_JUDGES: Final = {
    "diff": Draft202012Validator(DIFF_SCHEMA),
    "patch": Draft202012Validator(PATCH_SCHEMA),
}


def validate(envelope: dict[str, Any]) -> dict[str, Any]:
    """The envelope itself, when its shape and all its relations hold; otherwise EnvelopeError."""
    judge = _JUDGES.get(envelope.get("action", ""))
    if judge is None:
        raise EnvelopeError("the action is neither diff nor patch")
    problem = next(judge.iter_errors(envelope), None)
    if problem is not None:
        raise EnvelopeError(f"{problem.json_path} has another shape")
    for broken in _relations(envelope):
        raise EnvelopeError(broken)
    return envelope


def _relations(envelope: dict[str, Any]) -> Iterator[str]:
    """A sentence for each relation that does not hold."""
    data, error = envelope["data"], envelope["error"]
    if envelope["ok"] is not (error is None):
        yield "ok is the absence of an error"
    yield from _lengths(envelope, DIFF_SCHEMA if envelope["action"] == "diff" else PATCH_SCHEMA)
    if error is not None and error["message"] != MESSAGES[error["code"]]:
        yield "the message is that of the code"
    completeness = envelope["completeness"]
    if data is None:
        if error is None or completeness["read"] != "none":
            yield "no data needs an error, and read none"
    elif envelope["action"] == "patch":
        yield from _patch(data, envelope)
    elif data["mode"] == "workspace":
        yield from _workspace(data, envelope)
    else:
        yield from _comparison(data)
        cut = data["excerpt"] is not None and data["excerpt"]["truncated"]
        if completeness != {"read": "complete", "projection": "truncated" if cut else "complete"}:
            yield "completeness is that of the comparison"


def _lengths(value: Any, schema: Schema) -> Iterator[str]:
    if "anyOf" in schema:
        alternatives = [
            each for each in schema["anyOf"] if Draft202012Validator(each).is_valid(value)
        ]
        if len(alternatives) == 1:
            yield from _lengths(value, alternatives[0])
        return
    if isinstance(value, str) and LONGEST in schema and units(value) > schema[LONGEST]:
        yield f"a string is longer than {schema[LONGEST]} UTF-16 code units"
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _lengths(inner, schema["properties"][name])
    elif isinstance(value, list):
        for inner in value:
            yield from _lengths(inner, schema["items"])


def _capture(capture: dict[str, Any]) -> Iterator[str]:
    more = any(capture[f"{name}Bytes"] > capture[f"{name}Kept"] for name in ("stdout", "stderr"))
    less = any(capture[f"{name}Bytes"] < capture[f"{name}Kept"] for name in ("stdout", "stderr"))
    if less or capture["truncated"] is not more:
        yield "a capture is truncated when more was seen than is kept"
    if (capture["exitCode"] is not None) is not (capture["terminal"] == "exit"):
        yield "an exit has a code, and nothing else has"
    if (capture["signal"] is not None) is not (capture["terminal"] == "signal"):
        yield "a signal has a name, and nothing else has"


def _excerpt_relations(excerpt: dict[str, Any]) -> Iterator[str]:
    if excerpt["sourceUtf16"] != excerpt["keptUtf16"] + excerpt["omittedUtf16"]:
        yield "the source of an excerpt is what is kept and what is omitted"
    if units(excerpt["text"]) != excerpt["keptUtf16"] + excerpt["markerUtf16"]:
        yield "the text of an excerpt is what is kept and the marker"
    if excerpt["truncated"] is not (excerpt["omittedUtf16"] > 0):
        yield "an excerpt is truncated when something is omitted"


def _cleanup(cleanup: dict[str, Any]) -> Iterator[str]:
    retained = cleanup["retained"]
    if retained is cleanup["complete"]:
        yield "cleanup is complete, or something is retained"
    if retained is not (cleanup["recoveryDirectory"] is not None) or retained is not (
        cleanup["reason"] is not None
    ):
        yield "what is retained has a directory and a reason"


def _side(side: dict[str, Any]) -> Iterator[str]:
    origin = side["origin"]
    if (side["identity"] is not None) is not (origin == "loaded"):
        yield "a loaded side has an identity, and no other has"
    if (side["selector"] is not None) is not (origin in ("loaded", "revision")):
        yield "an exported side has a selector"
    if (side["path"] is not None) is not (origin in ("loaded", "local")):
        yield "a side of the workspace has a path"
    if (side["bytes"] == 0) is not (side["sha256"] == EMPTY_SHA256):
        yield "no bytes have the hash of nothing"
    if origin == "synthetic-empty" and side["bytes"]:
        yield "an empty side is empty"
    identity = side["identity"]
    if identity is not None:
        expected = {"MD5": 16, "SHA1": 20}[identity["hashAlgorithm"]]
        try:
            length = len(base64.b64decode(identity["hash"], validate=True))
        except binascii.Error:
            length = 0
        if length != expected:
            yield "a hash has the length of its algorithm"


def _comparison(data: dict[str, Any]) -> Iterator[str]:
    for capture in data["captures"]:
        yield from _capture(capture)
    left, right = data["left"], data["right"]
    for side in (left, right):
        yield from _side(side)
    yield from _cleanup(data["cleanup"])
    origins = {
        "loaded-local": ("loaded", "local"),
        "loaded-empty": ("loaded", "synthetic-empty"),
        "empty-local": ("synthetic-empty", "local"),
        "revision-local": ("revision", "local"),
        "revision-revision": ("revision", "revision"),
    }
    if (left["origin"], right["origin"]) != origins[data["comparisonKind"]]:
        yield "the origins are those of the kind of comparison"
    explicit = data["comparisonKind"] in ("revision-local", "revision-revision")
    if (data["pendingKind"] is None) is not explicit:
        yield "explicit revisions have no pending kind"
    opaque = any(side["binary"] or not side["utf8"] for side in (left, right))
    if opaque is not (data["backend"]["kind"] == "byte-equality"):
        yield "bytes are compared exactly when a side is no text"
    if opaque is not data["status"].startswith("binary-"):
        yield "the status is that of the backend"
    changed = data["status"] == "changed"
    exit_code = data["backend"]["exitCode"]
    if exit_code != (None if opaque else int(changed)):
        yield "the backend's exit is that of the status"
    same = left["sha256"] == right["sha256"]
    if same is not (data["status"] not in ("changed", "binary-different")):
        yield "the status is that of the sides"
    if data["status"] == "added-empty" and left["origin"] != "synthetic-empty":
        yield "an added file has no base"
    if data["status"] == "deleted-empty" and right["origin"] != "synthetic-empty":
        yield "a deleted file has no local side"
    counts = [data[name] for name in ("hunks", "addedLines", "removedLines", "noNewlineMarkers")]
    if (data["excerpt"] is not None) is not changed or (any(counts) and not changed):
        yield "only changed texts have hunks and an excerpt"
    if changed and not (data["hunks"] and data["addedLines"] + data["removedLines"]):
        yield "changed texts have hunks"
    if data["excerpt"] is not None:
        yield from _excerpt_relations(data["excerpt"])


def _workspace(data: dict[str, Any], envelope: dict[str, Any]) -> Iterator[str]:
    counts, outcomes = data["counts"], data["outcomes"]
    for capture in data["captures"]:
        yield from _capture(capture)
    yield from _cleanup(data["cleanup"])
    if bool(data["scope"]["paths"]) is data["scope"]["allPending"]:
        yield "the scope is paths or everything pending"
    sums = (
        counts["eligible"] == counts["selected"] + counts["limited"] + counts["skipped"],
        counts["eligible"] + data["excludedPrivate"] <= counts["parsed"],
        counts["selected"] <= data["scope"]["maxFiles"],
        counts["attempted"] == counts["completed"] + counts["failed"],
        counts["unattempted"] == counts["selected"] - counts["attempted"],
        counts["returned"] == len(outcomes),
        counts["omitted"] == counts["attempted"] - counts["returned"],
    )
    if not all(sums):
        yield "the counts agree with each other"
    if (envelope["error"] is not None) is not bool(counts["failed"] or counts["unattempted"]):
        yield "a failure or an interruption is an error"
    for outcome in outcomes:
        comparison, error = outcome["comparison"], outcome["error"]
        if (outcome["state"] == "failed") is not (error is not None):
            yield "a failed outcome has an error"
        if outcome["state"] == "completed" and comparison is None:
            yield "a completed outcome has a comparison"
        if comparison is not None:
            yield from _comparison(comparison)
    failed = sum(outcome["state"] == "failed" for outcome in outcomes)
    if failed > counts["failed"] or (not counts["omitted"] and failed != counts["failed"]):
        yield "the outcomes are those that were counted"
    lacking = [counts[name] for name in ("limited", "skipped", "unattempted", "failed")]
    complete = not any(lacking) and not data["unmatched"]
    cut = any(
        outcome["comparison"]
        and outcome["comparison"]["excerpt"]
        and outcome["comparison"]["excerpt"]["truncated"]
        for outcome in outcomes
    )
    projection = "omitted" if counts["omitted"] else "truncated" if cut else "complete"
    expected = {"read": "complete" if complete else "incomplete", "projection": projection}
    if envelope["completeness"] != expected:
        yield "completeness is that of the counts"


def _patch(data: dict[str, Any], envelope: dict[str, Any]) -> Iterator[str]:
    generation, artifact = data["generation"], data["artifact"]
    publication, cleanup = data["publication"], data["cleanup"]
    requested, effective = data["requested"], data["effective"]
    yield from _cleanup(cleanup)
    if generation is not None:
        yield from _capture(generation["capture"])
        if generation["capture"]["possiblyRunning"] and not cleanup["retained"]:
            yield "what a process may still write into is retained"
    if data["preflight"] and (generation, artifact, publication) != (None, None, None):
        yield "a preflight generates nothing"
    if (requested["destination"] is None) is not (effective["destination"] is None):
        yield "the effective selectors are as many as the requested ones"
    read = [effective[name] for name in ("qualifiedFrom", "selectorBytes", "selectorSha256")]
    if len({value is None for value in read}) != 1:
        yield "a selector file that was read has its evidence"
    if effective["qualifiedFrom"] is None and (
        (effective["source"], effective["destination"])
        != (requested["source"], requested["destination"])
        and envelope["ok"]
    ):
        yield "selectors change only by the workspace's selector"
    if (requested["toolPath"] is not None) is not (data["backend"]["origin"] == "argument"):
        yield "the backend of the argument goes first"
    if (data["backend"]["label"] is None) is not (data["backend"]["origin"] == "cm-default"):
        yield "a chosen backend has a label"
    captured = generation is not None and _is_clean(generation["capture"])
    if artifact is not None:
        if not captured:
            yield "an artifact comes from a complete capture"
        yield from _artifact(artifact)
    if publication is not None:
        yield from _publication(publication, artifact, captured, requested, envelope)
    elif envelope["ok"] and requested["output"] is not None and not data["preflight"]:
        yield "an output is published or refused"
    if envelope["ok"] and not data["preflight"] and artifact is None:
        yield "a success has an artifact"
    cut = artifact is not None and artifact["excerpt"] and artifact["excerpt"]["truncated"]
    expected = {
        "read": "none" if artifact is None else "complete",
        "projection": "truncated" if cut else "complete",
    }
    if envelope["completeness"] != expected:
        yield "completeness is that of the artifact"


def _is_clean(capture: dict[str, Any]) -> bool:
    return (
        capture["terminal"] == "exit"
        and capture["exitCode"] == 0
        and capture["stderrBytes"] == 0
        and not capture["truncated"]
        and not capture["possiblyRunning"]
    )


def _artifact(artifact: dict[str, Any]) -> Iterator[str]:
    metrics = [artifact[name] for name in ("utf8Characters", "utf16Units", "lines", "excerpt")]
    opaque = artifact["encoding"] == "opaque"
    if any((value is None) is not opaque for value in metrics):
        yield "an opaque artifact has no metrics of text, and another has all"
    elif not opaque:
        characters, utf16, lines, excerpt = metrics
        if not characters <= utf16 <= artifact["bytes"] <= 3 * utf16 or lines > characters:
            yield "characters, units and bytes agree"
        if excerpt["sourceUtf16"] != utf16:
            yield "the excerpt is of the artifact"
        yield from _excerpt_relations(excerpt)
    if (artifact["bytes"] == 0) is not (artifact["sha256"] == EMPTY_SHA256):
        yield "no bytes have the hash of nothing"


def _publication(
    publication: dict[str, Any],
    artifact: dict[str, Any] | None,
    captured: bool,
    requested: dict[str, Any],
    envelope: dict[str, Any],
) -> Iterator[str]:
    published = publication["state"] == "published"
    if requested["output"] is None:
        yield "only an output is published"
    if published and not (captured and artifact is not None and artifact["bytes"] > 0):
        yield "what is published was captured completely and is not empty"
    if published is not (publication["sameInode"] is True):
        yield "what is published is the artifact itself"
    if envelope["ok"] is True and not published:
        yield "a success has published its output"
