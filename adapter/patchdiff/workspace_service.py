"""What serves the profile `workspace`."""

from __future__ import annotations

from patchdiff.arguments import refuse_types
from patchdiff.catalog_workspace import IMPORT_TARGET, PUBLISHING_SAVE
from patchdiff.service import JsonObject, Service


class WorkspaceService(Service):
    """The service, but targets come from files of the workspace only, and saves publish."""

    def initialize_target(
        self,
        filename: str,
        content: str | None = None,
        content_type: str = "text/plain",
        project_id: str | None = None,
        from_workspace: bool = False,
    ) -> JsonObject:
        """Makes a target of the workspace's file at the path ``filename``; anything else is
        refused."""
        arguments = {
            "filename": filename,
            "content": content,
            "content_type": content_type,
            "project_id": project_id,
            "from_workspace": from_workspace,
        }
        return refuse_types(IMPORT_TARGET, arguments) or super().initialize_target(
            filename, content, content_type, project_id, from_workspace
        )

    def save(
        self,
        target_file_id: str,
        expected_target_version: int | None = None,
        expected_current_hash: str | None = None,
        export_after_save: bool = False,
        sync_workspace: bool | None = None,
        workspace_eol_format: str = "original_eol",
    ) -> JsonObject:
        """Keeps a checkpoint and publishes the text to its file."""
        refusal = refuse_types(PUBLISHING_SAVE, {"sync_workspace": sync_workspace})
        return refusal or super().save(
            target_file_id,
            expected_target_version,
            expected_current_hash,
            export_after_save,
            sync_workspace=True,
            workspace_eol_format=workspace_eol_format,
        )
