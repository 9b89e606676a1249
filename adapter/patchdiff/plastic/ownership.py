"""The loaded base of a file: which revision it is, proved before and after its export.

`fileinfo`, `ls` and the status must agree on it, and the exported bytes must have the recorded
hash. Nothing else ever stands in for a base: no changeset number, no bare id, no second query.
"""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import Final, TypeVar

from patchdiff.plastic import metadata
from patchdiff.plastic.client import Client
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.metadata import FileInfo, ListedItem
from patchdiff.plastic.observations import Observations
from patchdiff.plastic.process import Capture

_Item = TypeVar("_Item", FileInfo, ListedItem)
_STATUSES: Final = frozenset({"controlled", "checked-out", "moved", "replaced"})
_FILE_TYPES: Final = frozenset({"txt", "bin"})
_ALGORITHMS: Final = {"MD5": 16, "SHA1": 20}
_UNFIT_NAME: Final = re.compile(r"[;\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Base:
    """A loaded revision whose ownership is verified, not yet its bytes."""

    repository: str
    server: str
    revision_id: int
    item_id: int
    changeset: int
    server_path: str
    algorithm: str
    algorithm_source: str
    hash: str

    @property
    def selector(self) -> str:
        """The complete selector of the revision."""
        return f"revid:{self.revision_id}@rep:{self.repository}@repserver:{self.server}"

    def verify(self, content: bytes) -> None:
        """Raise Failure `base_changed` unless the bytes have the recorded hash."""
        digest = hashlib.new(self.algorithm.lower(), content, usedforsecurity=False).digest()
        if base64.b64encode(digest).decode("ascii") != self.hash:
            raise Failure("base_changed", "export")

    def as_json(self) -> dict[str, object]:
        """The `identity` of a side whose bytes were verified."""
        return {
            "repository": self.repository,
            "server": self.server,
            "revisionId": str(self.revision_id),
            "itemId": str(self.item_id),
            "changeset": self.changeset,
            "serverPath": self.server_path,
            "hashAlgorithm": self.algorithm,
            "hashAlgorithmSource": self.algorithm_source,
            "hash": self.hash,
            "hashVerified": True,
        }


def qualify(
    client: Client,
    observations: Observations,
    path: str,
    *,
    removed: bool,
    captures: list[Capture],
) -> Base:
    """The loaded base of `path`; with `removed`, of an item that is removed from control.

    The captures of its two commands are appended to `captures`. Raises Failure at the stage
    ownership, and starts nothing after a disagreement.
    """
    info = _info(client, path, removed, captures)
    item = _item(client, observations, path, info if removed else None, captures)
    _agree(observations, path, info, item, client, removed)
    repository, server = item.repository.removeprefix("rep:").split("@", 1)
    algorithm, source = _algorithm(item)
    assert item.revision_id is not None
    assert item.item_id is not None
    assert item.changeset is not None
    return Base(
        repository=repository,
        server=server,
        revision_id=item.revision_id,
        item_id=item.item_id,
        changeset=item.changeset,
        server_path=info.server_path,
        algorithm=algorithm,
        algorithm_source=source,
        hash=item.hash,
    )


def _info(client: Client, path: str, removed: bool, captures: list[Capture]) -> FileInfo:
    capture = client.file_info(path)
    captures.append(capture)
    capture.admit("ownership")
    info = _only(metadata.file_infos(bytes(capture.stdout)))
    if info.type not in _FILE_TYPES or info.under_xlink or info.is_xlink:
        raise _unavailable()
    if info.status not in (frozenset({"deleted"}) if removed else _STATUSES):
        raise _unavailable()
    if info.changeset is None or info.changeset < 0 or not info.hash or not info.server_path:
        raise _unavailable()
    if not (info.repository_spec or removed):
        raise _unavailable()
    if info.client_path and info.client_path != f"{client.workspace}/{path}":
        raise Failure("malformed_metadata", "ownership")
    return info


def _item(
    client: Client,
    observations: Observations,
    path: str,
    removed: FileInfo | None,
    captures: list[Capture],
) -> ListedItem:
    if removed is None:
        capture = client.listing(path)
    else:
        header = observations.header
        if _UNFIT_NAME.search(header.repository + header.server) or not (
            removed.server_path.startswith("/")
        ):
            raise _unavailable()
        tree = f"cs:{header.changeset}@{header.repository}@{header.server}"
        capture = client.tree_listing(removed.server_path, tree)
    captures.append(capture)
    capture.admit("ownership")
    return _only(metadata.listed_items(bytes(capture.stdout)))


def _agree(
    observations: Observations,
    path: str,
    info: FileInfo,
    item: ListedItem,
    client: Client,
    removed: bool,
) -> None:
    places = {info.server_path} if removed else {info.server_path, f"{client.workspace}/{path}"}
    if item.current_path not in places:
        raise _unavailable()
    if item.type not in _FILE_TYPES or item.symlink_target:
        raise _unavailable()
    if not (item.revision_id and item.item_id and item.revision_id > 0 and item.item_id > 0):
        raise _unavailable()
    repository, at, server = item.repository.removeprefix("rep:").partition("@")
    if not (item.repository.startswith("rep:") and at and repository and server):
        raise _unavailable()
    if server != item.server or repository != observations.header.repository:
        raise _unavailable()
    if info.repository_spec and info.repository_spec != f"{repository}@{server}":
        raise _unavailable()
    # a semicolon would begin the name of a file to write
    if _UNFIT_NAME.search(item.repository):
        raise _unavailable()
    if item.changeset != info.changeset or item.hash != info.hash:
        raise Failure("base_changed", "ownership")


def _algorithm(item: ListedItem) -> tuple[str, str]:
    """The algorithm of an item's hash, and whether its metadata or its length told."""
    try:
        length = len(base64.b64decode(item.hash, validate=True))
    except (binascii.Error, ValueError):
        raise Failure("malformed_metadata", "ownership") from None
    if item.hash_algorithm:
        if _ALGORITHMS.get(item.hash_algorithm.upper()) != length:
            raise _unavailable()
        return item.hash_algorithm.upper(), "metadata"
    for name, expected in _ALGORITHMS.items():
        if expected == length:
            return name, "length"
    raise _unavailable()


def _only(items: list[_Item]) -> _Item:
    if not items:
        raise _unavailable()
    if len(items) > 1:
        raise Failure("malformed_metadata", "ownership")
    return items[0]


def _unavailable() -> Failure:
    return Failure("base_unavailable", "ownership")
