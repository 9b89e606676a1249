"""The wheel carries everything, an installed copy works anywhere, no file names a place."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import psycopg
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree with the installed hatchling."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the installed wheel, and nothing of this tree beside it."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    command += ["--no-deps", "--no-index", "--target", str(folder), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def run_installed(
    installed: Path, *command: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command of the installed copy, from a directory that is not this tree."""
    return subprocess.run(
        command,
        cwd=installed.parent,
        env=os.environ | {"PYTHONPATH": str(installed)} | environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def project() -> dict[str, object]:
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(metadata, dict)
    return metadata


def test_the_wheel_carries_the_package_and_every_sql_file(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        f"patchdiff/{path.relative_to(ROOT / 'adapter' / 'patchdiff').as_posix()}"
        for path in (ROOT / "adapter" / "patchdiff").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    database = {
        f"patchdiff/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "db").rglob("*")
        if path.is_file()
    }
    assert {"patchdiff/py.typed", "patchdiff/cli.py"} <= sources
    assert {"patchdiff/db/bootstrap.sql", "patchdiff/db/install.sql"} <= database
    assert {name for name in names if name.startswith("patchdiff/")} == sources | database
    others = {name.split("/")[0] for name in names} - {"patchdiff"}
    assert others == {f"patchdiff_pg-{project()['version']}.dist-info"}


@pytest.mark.req("CMD-001")
def test_distribution_package_and_command_have_their_names(wheel: Path, installed: Path) -> None:
    assert wheel.name.startswith("patchdiff_pg-")
    (folder,) = installed.glob("*.dist-info")
    metadata = HeaderParser().parsestr((folder / "METADATA").read_text(encoding="utf-8"))
    assert metadata["Name"] == "patchdiff-pg"
    assert (installed / "patchdiff" / "__init__.py").is_file()
    assert (folder / "entry_points.txt").read_text(encoding="utf-8").split() == [
        "[console_scripts]",
        "patchdiff",
        "=",
        "patchdiff.cli:main",
    ]
    answer = run_installed(installed, str(installed / "bin" / "patchdiff"), "--version")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.split()[-1] == project()["version"]


def test_the_licence_is_whole_and_in_the_wheel(installed: Path) -> None:
    (folder,) = installed.glob("*.dist-info")
    text = (folder / "licenses" / "LICENSE").read_text(encoding="utf-8")
    assert text == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_an_installed_copy_installs_its_own_schema(
    installed: Path, fresh_database_url: str
) -> None:
    asked = "import patchdiff.schema as s; print(s.__file__); print(s.schema_directory())"
    where = run_installed(installed, sys.executable, "-P", "-c", asked)
    assert where.returncode == 0, where.stderr
    module, directory = where.stdout.splitlines()
    assert Path(module).is_relative_to(installed)
    assert Path(directory).is_relative_to(installed)

    command = str(installed / "bin" / "patchdiff")
    done = run_installed(installed, command, "migrate", PATCHDIFF_DATABASE_URL=fresh_database_url)
    assert done.returncode == 0, done.stderr
    with psycopg.connect(fresh_database_url) as connection:
        function = connection.execute("select to_regproc('patchdiff.initialize_target')").fetchone()
    assert function == ("patchdiff.initialize_target",)


def test_the_reports_are_where_the_audit_page_says(installed: Path) -> None:
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    [program] = re.findall(r"`python -c '([^`]*)'`", page)
    told = run_installed(installed, sys.executable, "-P", "-c", program)
    assert told.returncode == 0, told.stderr
    folder = Path(told.stdout.strip())
    assert folder.is_relative_to(installed)
    reports = {path.name for path in (ROOT / "db" / "audit").iterdir()}
    assert {path.name for path in folder.iterdir()} == reports
    assert "overview.sql" in reports


def test_the_installed_readme_is_what_the_demo_takes_without_a_file(installed: Path) -> None:
    asked = "from patchdiff.demo_document import read_document as r; print(r(None).content, end='')"
    shown = run_installed(installed, sys.executable, "-P", "-c", asked)
    assert shown.returncode == 0, shown.stderr
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert shown.stdout.strip() == readme.strip()


def committed_files() -> list[Path]:
    """What git has or would take; the whole tree but its caches where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
        return [ROOT / name for name in names if (ROOT / name).is_file()]
    hidden = re.compile(r"^\.(?!ci\b|gitignore)|__pycache__")
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not any(map(hidden.match, path.relative_to(ROOT).parts))
    ]


def test_no_file_names_a_machine_s_directory_or_a_package_source() -> None:
    places = [
        re.escape(str(ROOT) + "/"),
        r"(?<![\w.-])/(root|Users|workspace)/",
        r"\b(pypi|registry)\.[a-z.]+\w",
        r"pythonhosted",
        r"--(extra-)?index-(?=url)",
    ]
    pattern = re.compile("|".join(places))
    files = [path for path in committed_files() if path != Path(__file__)]
    assert ROOT / "README.md" in files
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := pattern.search(line))
    ]
    assert found == []


def test_every_requirement_of_a_lock_is_pinned_by_hash_and_the_locks_agree() -> None:
    pins: dict[str, dict[str, str]] = {}
    for name in ("requirements", "requirements-dev", "requirements-matrix"):
        text = (ROOT / f"{name}.lock").read_text(encoding="utf-8")
        entries = re.split(r"\n(?=\S)", text.strip())
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
        found = dict(re.findall(r"^([\w.\[\],-]+)==(\S+)", text, re.MULTILINE))
        assert len(found) == len(entries)
        pins[name] = found
    assert pins["requirements"].items() <= pins["requirements-dev"].items()
    assert pins["requirements-dev"].items() <= pins["requirements-matrix"].items()
