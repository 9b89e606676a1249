"""The commands of the client `cm` that are ever run: status, fileinfo, ls, cat and patch.

No other one is: `cm diff` can open a window, and `cm patch` never gets the option that applies one.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchdiff.plastic.limits import CaptureLimits, Limits
from patchdiff.plastic.process import Capture, Command, run

WORKSPACE_LABEL: Final = "<workspace>"
OWNED_LABEL: Final = "<owned>"
TOOL_LABEL: Final = "<tool>"

_XML: Final = ("--xml", "--encoding=utf-8")
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/\s]*@")


def redacted(text: str) -> str:
    """The text without user names and passwords in front of a server."""
    return _CREDENTIALS.sub("<redacted>@", text)


def executable(program: str) -> str:
    """The absolute path of a program that is named as in a shell.

    When there is none, an absolute path all the same, so that its start fails whatever lies in the
    directory where it would run.
    """
    return str(Path(shutil.which(program) or program).absolute())


@dataclass(frozen=True)
class PatchOptions:
    """One `cm patch`: one or two specs, where its artifact goes, and its options."""

    source: str
    destination: str | None
    tool: str | None
    clean: bool
    integration: bool


@dataclass(frozen=True)
class Client:
    """The client in one workspace; each method runs one command once."""

    program: str
    workspace: Path
    limits: Limits

    def status(self) -> Capture:
        """The pending changes of the whole workspace."""
        options = ["--all", *_XML, "--fp"]
        return self._run(
            "status",
            [str(self.workspace), *options],
            [WORKSPACE_LABEL, *options],
            self.limits.command,
        )

    def file_info(self, path: str) -> Capture:
        """What the client knows of one path of the workspace."""
        return self._of_path("fileinfo", path)

    def listing(self, path: str) -> Capture:
        """The loaded revision of one path of the workspace."""
        return self._of_path("ls", path)

    def tree_listing(self, server_path: str, tree: str) -> Capture:
        """The revision of a path of the repository in a tree, `cs:N@repository@server`."""
        arguments = [server_path, f"--tree={tree}", *_XML]
        shown = [server_path, f"--tree={redacted(tree)}", *_XML]
        return self._run("ls", arguments, shown, self.limits.command)

    def export(self, selector: str, destination: Path) -> Capture:
        """Write a revision to a new file of ours."""
        return self._run(
            "cat",
            [selector, f"--file={destination}", "--raw"],
            [redacted(selector), f"--file={OWNED_LABEL}/{destination.name}", "--raw"],
            self.limits.command,
        )

    def patch(self, options: PatchOptions, artifact: Path) -> Capture:
        """Generate a patch into a new file of ours."""
        return self._run(
            "patch",
            patch_arguments(options, str(artifact), options.tool),
            patch_projection(options),
            self.limits.patch,
        )

    def _of_path(self, name: str, path: str) -> Capture:
        options = [*_XML, "--symlink"]
        return self._run(
            name,
            [f"{self.workspace}/{path}", *options],
            [f"{WORKSPACE_LABEL}/{path}", *options],
            self.limits.command,
        )

    def _run(
        self, name: str, arguments: list[str], shown: list[str], limits: CaptureLimits
    ) -> Capture:
        command = Command(
            name=name,
            arguments=[executable(self.program), name, *arguments],
            shown=["cm", name, *shown],
            directory=self.workspace,
            limits=limits,
        )
        return run(command)


def patch_arguments(options: PatchOptions, artifact: str, tool: str | None) -> list[str]:
    """What follows `cm patch`."""
    specs = [options.source]
    if options.destination is not None:
        specs.append(options.destination)
    switches = [f"--output={artifact}"]
    if tool is not None:
        switches.append(f"--tool={tool}")
    if options.clean:
        switches.append("--clean")
    if options.integration:
        switches.append("--integration")
    return [*specs, *switches]


def patch_projection(options: PatchOptions) -> list[str]:
    """What follows `cm patch`, as it is shown: paths by labels, no credentials."""
    tool = None if options.tool is None else TOOL_LABEL
    return [
        redacted(argument) for argument in patch_arguments(options, f"{OWNED_LABEL}/patch", tool)
    ]
