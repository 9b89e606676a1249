"""The XML that `cm status`, `cm fileinfo` and `cm ls` print, read strictly.

Bytes are UTF-8 and begin with the document, after one byte order mark at most; there is no
DOCTYPE, no entity, no element twice where one belongs. What does not have this shape raises Failure
`malformed_metadata`, and `invalid_encoding` when it is no UTF-8.
"""

import re
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from patchdiff.plastic.failure import Failure

_DEEPEST: Final = 16
_DECIMAL: Final = re.compile(r"-?[0-9]{1,19}")
_ID: Final = re.compile(r"[0-9]{1,19}")
_LONGEST_TEXT: Final = 4096
_LONGEST_NAME: Final = 1024


@dataclass
class Element:
    """One element: its name, its children and the text directly inside it."""

    name: str
    children: list["Element"] = field(default_factory=list)
    text: str = ""

    def all(self, name: str) -> list["Element"]:
        """The children of this name."""
        return [child for child in self.children if child.name == name]

    def optional(self, name: str) -> "Element | None":
        """The child of this name, or None; raises ValueError when there are several."""
        found = self.all(name)
        if len(found) > 1:
            raise ValueError(name)
        return found[0] if found else None

    def one(self, name: str) -> "Element":
        """The child of this name; raises ValueError unless there is exactly one."""
        child = self.optional(name)
        if child is None:
            raise ValueError(name)
        return child

    def value(self, name: str, longest: int = _LONGEST_TEXT) -> str:
        """The text of the one child of this name, "" when it is left out or empty."""
        child = self.optional(name)
        text = "" if child is None else child.text
        if child is not None and child.children:
            raise ValueError(name)
        if len(text) > longest:
            raise ValueError(name)
        return text

    def number(self, name: str) -> int | None:
        """The integer in the child of this name; None when it is left out or empty."""
        text = self.value(name)
        if text and not _DECIMAL.fullmatch(text):
            raise ValueError(name)
        return int(text) if text else None


def parse(output: bytes, root: str, stage: str) -> Element:
    """The document element, which must be named `root`. Raises Failure as the module says."""
    try:
        output.decode("utf-8")
    except UnicodeDecodeError:
        raise Failure("invalid_encoding", stage) from None
    content = output.removeprefix(b"\xef\xbb\xbf")
    try:
        if not content.startswith(b"<"):
            raise ValueError("something precedes the document")
        element = _Builder().build(content)
        if element.name != root:
            raise ValueError(element.name)
    except (expat.ExpatError, ValueError):
        raise Failure("malformed_metadata", stage) from None
    return element


class _Builder:
    def __init__(self) -> None:
        self._open: list[Element] = [Element("")]

    def build(self, content: bytes) -> Element:
        parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = _refuse
        parser.ProcessingInstructionHandler = _refuse
        parser.buffer_text = True
        parser.Parse(content, True)
        return self._open[0].children[0]

    def _start(self, name: str, _attributes: object) -> None:
        if len(self._open) > _DEEPEST:
            raise ValueError("nested too deeply")
        element = Element(name)
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _name: str) -> None:
        element = self._open.pop()
        if element.children:
            if element.text.strip():
                raise ValueError("text between elements")
            element.text = ""

    def _text(self, data: str) -> None:
        self._open[-1].text += data


def _refuse(*_: object) -> None:
    raise ValueError("a document type or a processing instruction")


@dataclass(frozen=True)
class Change:
    """One row of the status: its codes, its paths as printed, and its kind of revision ("" when an
    old client leaves it out)."""

    codes: frozenset[str]
    path: str
    old_path: str
    revision_type: str


@dataclass(frozen=True)
class Status:
    """The header of a workspace's status, and its rows in the client's order."""

    repository: str
    server: str
    changeset: int
    config_type: str
    config_name: str
    changes: tuple[Change, ...]


def status(output: bytes) -> Status:
    """Read the status of a workspace."""
    root = parse(output, "StatusOutput", "status")
    try:
        workspace = root.one("WorkspaceStatus")
        header = workspace.one("Status")
        repository = header.one("RepSpec")
        place = root if root.optional("WkConfigType") is not None else workspace
        changes = root.optional("Changes")
        changeset = header.number("Changeset")
        if changeset is None or root.all("Changelists"):
            raise ValueError("Changeset")
        return Status(
            repository=_required(repository, "Name"),
            server=_required(repository, "Server"),
            changeset=changeset,
            config_type=_required(place, "WkConfigType"),
            config_name=_required(place, "WkConfigName"),
            changes=() if changes is None else tuple(_change(each) for each in changes.children),
        )
    except ValueError:
        raise Failure("malformed_metadata", "status") from None


def _change(element: Element) -> Change:
    if element.name != "Change":
        raise ValueError(element.name)
    codes = _required(element, "Type").split("+")
    if not all(codes):
        raise ValueError("Type")
    return Change(
        codes=frozenset(codes),
        path=_required(element, "Path", _LONGEST_TEXT),
        old_path=element.value("OldPath"),
        revision_type=element.value("RevisionType"),
    )


def _required(element: Element, name: str, longest: int = _LONGEST_NAME) -> str:
    text = element.value(name, longest)
    if not text:
        raise ValueError(name)
    return text


@dataclass(frozen=True)
class FileInfo:
    """What `cm fileinfo` says of one item; texts are "" where it says nothing."""

    client_path: str
    server_path: str
    type: str
    status: str
    hash: str
    changeset: int | None
    repository_spec: str
    under_xlink: bool
    is_xlink: bool


def file_infos(output: bytes) -> list[FileInfo]:
    """Read the items of `cm fileinfo`."""
    root = parse(output, "FileInfos", "ownership")
    try:
        return [_file_info(each) for each in root.children]
    except ValueError:
        raise Failure("malformed_metadata", "ownership") from None


def _file_info(element: Element) -> FileInfo:
    if element.name != "FileInfo":
        raise ValueError(element.name)
    return FileInfo(
        client_path=element.value("ClientPath"),
        server_path=element.value("ServerPath"),
        type=element.value("Type"),
        status=element.value("Status"),
        hash=element.value("Hash"),
        changeset=element.number("RevisionChangeset"),
        repository_spec=element.value("RepSpec"),
        under_xlink=_boolean(element, "IsUnderXlink"),
        is_xlink=_boolean(element, "IsXlink"),
    )


def _boolean(element: Element, name: str) -> bool:
    text = element.value(name)
    if text not in ("true", "false"):
        raise ValueError(name)
    return text == "true"


@dataclass(frozen=True)
class ListedItem:
    """What `cm ls` says of one item; numbers are None and texts "" where it says nothing."""

    current_path: str
    type: str
    changeset: int | None
    revision_id: int | None
    item_id: int | None
    repository: str
    server: str
    symlink_target: str
    hash: str
    hash_algorithm: str


def listed_items(output: bytes) -> list[ListedItem]:
    """Read the items of `cm ls`."""
    root = parse(output, "LsResults", "ownership")
    try:
        return [_listed_item(each) for each in root.one("LsItems").children]
    except ValueError:
        raise Failure("malformed_metadata", "ownership") from None


def _listed_item(element: Element) -> ListedItem:
    if element.name != "LsItem":
        raise ValueError(element.name)
    return ListedItem(
        current_path=element.value("CurrentPath"),
        type=element.value("Type"),
        changeset=element.number("Changeset"),
        revision_id=element.number("RevId"),
        item_id=element.number("ItemId"),
        repository=element.value("Repository"),
        server=element.value("Server"),
        symlink_target=element.value("SymlinkTarget"),
        hash=element.value("Hash"),
        hash_algorithm=element.value("HashAlgorithm"),
    )
