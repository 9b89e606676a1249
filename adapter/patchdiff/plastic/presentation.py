"""The text beside an envelope: for people, or the same JSON; always within its bound."""

from typing import Any

from patchdiff.plastic.projection import compact
from patchdiff.plastic.utf16 import head, units


def present(envelope: dict[str, Any], form: str, most_characters: int) -> str:
    """The presentation of an envelope as `text` or `json`.

    JSON that is longer than `most_characters` is replaced by a short one that points to
    structuredContent; text is cut.
    """
    if form == "json":
        whole = compact(envelope)
        return whole if units(whole) <= most_characters else _pointer(envelope)
    text = "\n".join(_lines(envelope))
    if units(text) <= most_characters:
        return text
    marker = "\n[cut; see structuredContent]"
    return head(text, most_characters - units(marker)) + marker


def _pointer(envelope: dict[str, Any]) -> str:
    kept = ("version", "action", "ok", "completeness", "error")
    return compact({**{name: envelope[name] for name in kept}, "data": "see structuredContent"})


def _lines(envelope: dict[str, Any]) -> list[str]:
    data, error = envelope["data"], envelope["error"]
    completeness = envelope["completeness"]
    state = "ok" if envelope["ok"] else "not ok"
    read, projection = completeness["read"], completeness["projection"]
    lines = [f"plastic_{envelope['action']}: {state}, read {read}, projection {projection}"]
    if error is not None:
        lines.append(f"{error['code']} at {error['stage']}: {error['message']}")
    if data is None:
        return lines
    if envelope["action"] == "patch":
        lines += _patch(data)
    elif data["mode"] == "workspace":
        lines += _workspace(data)
    else:
        lines += _comparison(data)
    directory = data["cleanup"]["recoveryDirectory"]
    if directory is not None:
        lines.append(f"left behind: {directory}")
    return lines


def _comparison(data: dict[str, Any]) -> list[str]:
    lines = [f"{data['comparisonKind']}: {data['status']}"]
    lines += [f"{name}: {_side(data[name])}" for name in ("left", "right")]
    if data["excerpt"] is not None:
        lines.append(f"{data['hunks']} hunks, +{data['addedLines']} -{data['removedLines']}")
        lines.append(data["excerpt"]["text"])
    return lines


def _side(side: dict[str, Any]) -> str:
    named = side["path"] or side["selector"] or "nothing"
    return f"{side['origin']} {named}, {side['bytes']} bytes"


def _workspace(data: dict[str, Any]) -> list[str]:
    counts = ", ".join(f"{name} {number}" for name, number in data["counts"].items())
    lines = [counts, f"excluded private {data['excludedPrivate']}"]
    lines += [f"matches nothing: {path}" for path in data["unmatched"]]
    for outcome in data["outcomes"]:
        kind = outcome["pendingKind"] or "unsupported"
        lines.append(f"{outcome['path']} ({kind}): {outcome['state']}")
        if outcome["error"] is not None:
            lines.append(f"{outcome['error']['code']}: {outcome['error']['message']}")
        if outcome["comparison"] is not None:
            lines += _comparison(outcome["comparison"])
    return lines


def _patch(data: dict[str, Any]) -> list[str]:
    effective, artifact, publication = data["effective"], data["artifact"], data["publication"]
    specs = " and ".join(
        each for each in (effective["source"], effective["destination"]) if each is not None
    )
    lines = [f"{'preflight of' if data['preflight'] else 'patch of'} {specs}"]
    lines.append(" ".join(data["commandProjection"]))
    if publication is not None:
        lines.append(f"{publication['state']}: {publication['path']}")
    if artifact is not None:
        lines.append(f"{artifact['bytes']} bytes, {artifact['encoding']}, {artifact['sha256']}")
        if artifact["excerpt"] is not None:
            lines.append(artifact["excerpt"]["text"])
    return lines
