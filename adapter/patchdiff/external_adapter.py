"""The server of `patchdiff mcp`, as a class for trusted programs that embed it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack, closing
from functools import partial
from types import TracebackType
from typing import Any, Self, get_args

from pydantic import BaseModel

from patchdiff.connect import Database
from patchdiff.plastic.calls import PlasticCalls, programs_of
from patchdiff.profiles import PROFILES, profile_problem
from patchdiff.protocol import Session, build_server, run
from patchdiff.server import ServiceCalls
from patchdiff.settings import Settings, SettingsError, StartupError, load_settings
from patchdiff.workspace import Workspace

JsonObject = dict[str, Any]


class ExternalMCPAdapter:
    """The tools of one profile on its database, if it has one, in one response mode; all of it is
    fixed here.

    `list_tools` and `call_tool` answer what a session over stdio would, and `serve` is such a
    session. It is to be closed, or used as a context manager. Not for use by several threads at
    once.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        response_mode: str | None = None,
        profile: str | None = None,
    ) -> None:
        """Takes `settings`, by default the environment's; `response_mode` (detailed or compact)
        and `profile` replace theirs.

        Raises StartupError (SettingsError for a value that is not allowed) when `patchdiff mcp`
        would refuse to start. The database is not asked before the first call.
        """
        settings = _changed(
            load_settings() if settings is None else settings,
            mcp_response_mode=response_mode,
            mcp_profile=profile,
        )
        problem = profile_problem(settings)
        if problem is not None:
            raise StartupError(problem)
        self._profile = PROFILES[settings.mcp_profile]
        self._resources = ExitStack()
        self._calls = self._calls_of(settings)
        self._session = Session(self._profile, self._calls, settings.mcp_response_mode)

    def _calls_of(self, settings: Settings) -> ServiceCalls | PlasticCalls:
        if not self._profile.needs_database:
            return PlasticCalls(programs_of(settings))
        return ServiceCalls(
            self._resources.enter_context(closing(Database(settings))),
            partial(
                self._profile.service,
                strict_observation=settings.strict_observation,
                workspace=Workspace(
                    settings.workspace_root, sync_on_save=settings.workspace_sync_on_save
                ),
            ),
        )

    def list_tools(self) -> JsonObject:
        """The result of tools/list, a new object each time."""
        return {"tools": _wire(self._session.listing())["tools"]}

    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> JsonObject:
        """The result of tools/call: `content`, one text of JSON, and `isError`; in the profile
        `plastic` also `structuredContent`, and the text as the call's `format` wants it.

        Raises StartupError when the database cannot be used, at the first call only.
        """
        given = dict(arguments or {})
        result = self._session.refused(name, given)
        if result is None:
            self._calls.connect()
            result = self._session.performed(name, given)
        answer = _wire(result)
        names = ("content", "structuredContent", "isError")
        return {name: answer[name] for name in names if name in answer}

    def serve(self, descriptors: tuple[int, int]) -> int:
        """Serve one stdio session on (read, write) descriptors until it ends; the exit status.

        To be called in the main thread. Raises StartupError when the database cannot be used.
        """
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
        self._calls.connect()
        return run(build_server(self._session), descriptors)

    def close(self) -> None:
        """Close the connection and use the embedded server no more."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _changed(settings: Settings, **given: str | None) -> Settings:
    changes = {name: value for name, value in given.items() if value is not None}
    for name, value in changes.items():
        allowed = get_args(Settings.model_fields[name].annotation)
        if value not in allowed:
            raise SettingsError(f"{name.removeprefix('mcp_')} must be one of {', '.join(allowed)}")
    return settings.model_copy(update=changes)


def _wire(result: BaseModel) -> JsonObject:
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)
