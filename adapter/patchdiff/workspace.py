"""The managed workspace: importing a target from a file, and a save that publishes to one.

A publication is one order of steps: the database locks, judges and records in an open transaction,
the file is installed, every handle is closed, and only then is the transaction committed. Whatever
fails before the installation rolls back and leaves the file as it was; whatever fails after it
leaves the new file in place and is reported as partial (contract, "Publication outcomes").
"""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from patchdiff import database
from patchdiff.workspace_files import Baseline, Installation, import_bytes, install
from patchdiff.workspace_paths import WorkspaceRefusal, closing_handle, components, open_root

JsonObject = dict[str, Any]

logger = logging.getLogger(__name__)

_PARTIAL_DETAILS = {
    "workspace_durability_uncertain": (
        "whether the directory keeps it through a crash of the machine is uncertain"
    ),
    "workspace_post_install_error": "closing what was opened for it failed",
    "workspace_checkpoint_uncertain": (
        "whether the database has committed the checkpoint is uncertain"
    ),
}


class ImportedFile(NamedTuple):
    """A file's text, and the root directory it was found below."""

    text: str
    root_device: int
    root_inode: int


class Workspace:
    """The files below one root directory. Every operation opens the root anew, by its path."""

    def __init__(self, root: Path | None = None, *, sync_on_save: bool = False) -> None:
        """`root` is an absolute path; None refuses every operation. With `sync_on_save` a save
        publishes unless its call says otherwise."""
        self._root = root
        self.sync_on_save = sync_on_save

    def read(self, filename: str) -> ImportedFile | JsonObject:
        """The text of the file at a path relative to the root, or the refusal of its import."""
        try:
            parts = components(filename)
            with closing_handle(self._opened()) as root:
                identity = os.fstat(root)
                content = import_bytes(root, parts)
            return ImportedFile(_decoded(content), identity.st_dev, identity.st_ino)
        except WorkspaceRefusal as refusal:
            return _import_refusal(refusal)
        except FileNotFoundError:
            return _import_refusal(
                WorkspaceRefusal("workspace_file_missing", "There is no file at this path.")
            )
        except OSError as problem:
            return _import_refusal(_io_refusal(problem))

    def publish(
        self,
        connection: psycopg.Connection[Any],
        *,
        target_file_id: str,
        guards: JsonObject,
        export_after_save: bool,
        workspace_eol_format: str,
    ) -> JsonObject:
        """Saves a target and publishes its text, in a transaction on the idle `connection`.

        Returns the tool's answer. Raises psycopg.Error when the database fails before anything was
        installed.
        """
        opened: database.OpenedPublication | None = None
        receipt: JsonObject = {}
        progress = Installation()
        try:
            with connection.transaction(), closing_handle(self._opened()) as root:
                identity = os.fstat(root)
                opened = database.open_publication(
                    connection,
                    target_file_id=target_file_id,
                    guards=guards,
                    export_after_save=export_after_save,
                    workspace_eol_format=workspace_eol_format,
                    root_device=identity.st_dev,
                    root_inode=identity.st_ino,
                )
                if opened.relative_path is None:
                    return opened.answer
                content = opened.content.encode("utf-8")
                receipt = {
                    "synced_path": opened.relative_path,
                    "disk_sha256": hashlib.sha256(content).hexdigest(),
                    "bytes_written": len(content),
                    "content_eol": opened.content_eol,
                }
                install(
                    root, components(opened.relative_path), content, _baseline(opened), progress
                )
        except (WorkspaceRefusal, OSError) as problem:
            if not progress.installed:
                refusal = problem if isinstance(problem, WorkspaceRefusal) else _io_refusal(problem)
                return _save_refusal(refusal, target_file_id, opened)
            logger.error("a publication failed after installation: %s", type(problem).__name__)
            code = (
                "workspace_post_install_error"
                if progress.durable
                else "workspace_durability_uncertain"
            )
        except psycopg.Error as problem:
            if not progress.installed:
                raise
            logger.error("the commit of a publication failed: %s", problem)
            code = "workspace_checkpoint_uncertain"
        else:
            return opened.answer | {"workspace_sync": receipt | _state(progress)}
        return _partial(code, opened, receipt | _state(progress))

    def _opened(self) -> int:
        if self._root is None:
            raise WorkspaceRefusal(
                "workspace_not_configured",
                "This server has no managed workspace: set PATCHDIFF_WORKSPACE_ROOT, or do without"
                " from_workspace and sync_workspace.",
            )
        return open_root(self._root)


def content_conflict() -> JsonObject:
    """The refusal of an import that is given content as well."""
    return _invalid(
        WorkspaceRefusal(
            "workspace_content_conflict",
            "from_workspace takes the text from the file: leave content out or pass null.",
        )
    )


def owned_transaction_required(target_file_id: str) -> JsonObject:
    """The refusal of a publishing save in a transaction of the caller's."""
    return _save_refusal(
        WorkspaceRefusal(
            "workspace_requires_owned_transaction",
            "A save that publishes commits by itself: end the open transaction first, or pass"
            " sync_workspace false.",
        ),
        target_file_id,
        None,
    )


def _decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise WorkspaceRefusal(
            "workspace_not_text",
            f"The file is not UTF-8: byte {problem.start} does not fit. Only text is imported.",
        ) from None
    if "\0" in text:
        raise WorkspaceRefusal(
            "workspace_not_text",
            f"Byte {content.index(0)} of the file is a NUL. Only text is imported.",
        )
    return text


def _baseline(opened: database.OpenedPublication) -> Baseline | None:
    if opened.baseline_sha256 is None:
        return None
    return Baseline(opened.baseline_sha256, opened.baseline_bytes)


def _state(progress: Installation) -> JsonObject:
    return {
        "publication": "installed",
        "durability": "confirmed" if progress.durable else "uncertain",
    }


def _io_refusal(problem: OSError) -> WorkspaceRefusal:
    # its own text would name paths
    return WorkspaceRefusal(
        "workspace_io_error",
        f"The operating system refused a step: {os.strerror(problem.errno or 0)}. No file was"
        " changed.",
    )


def _invalid(refusal: WorkspaceRefusal) -> JsonObject:
    return {
        "status": "invalid_argument",
        "code": refusal.code,
        "failure_detail": refusal.detail,
    }


def _import_refusal(refusal: WorkspaceRefusal) -> JsonObject:
    if refusal.code in ("workspace_not_configured", "workspace_path_unsafe"):
        return _invalid(refusal)
    return {
        "status": "rejected",
        "failure_reason": refusal.code,
        "code": refusal.code,
        "failure_detail": refusal.detail,
    }


def _save_refusal(
    refusal: WorkspaceRefusal, target_file_id: str, opened: database.OpenedPublication | None
) -> JsonObject:
    if refusal.code == "workspace_not_configured":
        return _invalid(refusal)
    known = {} if opened is None else opened.answer
    return {
        "status": "rejected",
        "target_file_id": target_file_id,
        "failure_reason": refusal.code,
        "code": refusal.code,
        "failure_detail": refusal.detail,
        "snapshot_id": None,
        "closed_editing_cycle_id": None,
        "new_editing_cycle_id": None,
        **{name: known[name] for name in ("current_hash", "version") if name in known},
    }


def _partial(
    code: str, opened: database.OpenedPublication | None, workspace_sync: JsonObject
) -> JsonObject:
    known = {} if opened is None else opened.answer
    return {
        "status": "partial",
        "target_file_id": known["target_file_id"],
        "code": code,
        "failure_detail": f"The file was installed and stays, but {_PARTIAL_DETAILS[code]}. The"
        " answer names no checkpoint. Compare file and target, then go on with what you find or"
        " initialize a new target from the file.",
        "current_hash": known["current_hash"],
        "version": known["version"],
        "workspace_sync": workspace_sync,
    }
