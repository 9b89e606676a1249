"""The engine's child process: what it answers, what it survives, and what it is given."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import patchdiff
from patchdiff.structure import engine as engine_module
from patchdiff.structure.engine import LARGEST_TEXT, Engine, StructureError
from patchdiff.structure.extract import extract
from patchdiff.structure.languages import language_of
from patchdiff.structure.worker_process import WorkerProcess
from tests.structure.support import FIXTURES, SOURCES, plain, text_of

PROC = Path("/proc/self/statm").exists()
needs_proc = pytest.mark.skipif(not PROC, reason="the system does not show its processes")

SMALL = "class A:\n    def f(self): pass\n"
PACKAGE = Path(patchdiff.__file__).parent


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as one:
        yield one


def names(engine: Engine, text: str = SMALL, filename: str = "a.py") -> list[str]:
    return [symbol.name for symbol in engine.structure(filename, None, text).symbols]


def fresh(text: str) -> str:
    """The text with a comment that no earlier text had: it is in no cache."""
    fresh.count += 1  # type: ignore[attr-defined]
    return f"{text}\n# {fresh.count}\n"  # type: ignore[attr-defined]


fresh.count = 0  # type: ignore[attr-defined]


def large_text() -> str:
    """Python that takes a few hundred milliseconds."""
    line = "value = [call(a, b)[c] for a, b in {1: 2, 3: (4, 5)}.items() if not a < b]\n"
    return fresh(line * (1_000_000 // len(line)))


def failure(engine: Engine, text: str, filename: str = "a.py") -> StructureError:
    with pytest.raises(StructureError) as caught:
        engine.structure(filename, None, text)
    return caught.value


def run(program: str, *arguments: str, **options: object) -> str:
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,  # type: ignore[call-overload]
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    return str(finished.stdout)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.relative_to(FIXTURES).as_posix())
def test_the_engine_gives_what_is_extracted(engine: Engine, source: Path) -> None:
    text = text_of(source)
    structure = engine.structure(source.name, None, text)
    expected = extract(language_of(source.name, None, text), text)
    assert (structure.language, structure.has_errors) == (expected.language, expected.has_errors)
    assert plain(structure) == plain(expected)


def test_the_server_s_process_imports_no_parser() -> None:
    program = (
        "import sys; from patchdiff.structure.engine import Engine\n"
        "with Engine() as engine: engine.structure('a.py', None, 'a = 1')\n"
        "parsers = ('tree_sitter', 'yaml', 'markdown')\n"
        "print([name for name in sys.modules if name.startswith(parsers)])"
    )
    assert run(program) == "[]\n"


def test_a_text_of_another_language_starts_no_process() -> None:
    with Engine() as engine:
        structure = engine.structure("notes.txt", None, "x" * (LARGEST_TEXT + 1))
        assert (structure.language, structure.symbols) == ("text", ())
        assert engine.worker_pid is None


@pytest.mark.parametrize("letter", ["a", "é", "🙂"])
def test_the_size_limit_counts_utf8_bytes(engine: Engine, letter: str) -> None:
    length = len(letter.encode())
    text = (
        "x = 1\n#" + "a" * ((LARGEST_TEXT - 7) % length) + letter * ((LARGEST_TEXT - 7) // length)
    )
    assert len(text.encode()) == LARGEST_TEXT
    assert names(engine, text) == ["x"]
    error = failure(engine, text + "a")
    assert error.code == "FILE_TOO_LARGE"
    assert "1,048,577" in error.detail
    assert "1,048,576" in error.detail


def test_a_lone_surrogate_is_no_text(engine: Engine) -> None:
    with pytest.raises(UnicodeEncodeError):
        engine.structure("a.py", None, "a = '\ud800'")
    assert names(engine, fresh(SMALL)) == ["A", "f"]


# ---- cache and identity


def test_the_last_64_results_are_kept() -> None:
    with Engine() as engine:
        texts = [fresh(SMALL) for _ in range(65)]
        first = [engine.structure("a.py", None, text) for text in texts[:64]]
        assert [engine.structure("b.py", None, text) for text in texts[:64]] == first
        engine.structure("a.py", None, texts[64])
        engine.close()
        assert engine.structure("a.py", None, texts[63]) is first[63]
        assert engine.worker_pid is None
        assert engine.structure("a.py", None, texts[0]) is not first[0]
        assert engine.worker_pid is not None


def test_the_cache_is_bounded_in_symbols_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "CACHED_SYMBOLS", 5)
    with Engine() as engine:
        texts = [fresh(SMALL) for _ in range(3)]
        kept = [engine.structure("a.py", None, text) for text in texts]
        assert engine.structure("a.py", None, texts[1]) is kept[1]
        assert engine.structure("a.py", None, texts[0]) is not kept[0]
        large = fresh("a = 1\n" * 10)
        assert engine.structure("a.py", None, large) is engine.structure("a.py", None, large)


def test_the_same_text_in_another_language_is_another_result(engine: Engine) -> None:
    text = "class A { }\n"
    assert engine.structure("a.js", None, text).language == "javascript"
    assert engine.structure("a.ts", None, text).language == "typescript"


def test_the_identity_has_its_form_and_is_that_of_every_process() -> None:
    identity = Engine().identity()
    assert re.fullmatch(r"patchdiff-symbols@1\+[0-9a-f]{12}", identity)
    program = "from patchdiff.structure.engine import Engine; print(Engine().identity())"
    assert run(program, env={**os.environ, "PYTHONHASHSEED": "7"}) == f"{identity}\n"


FROM_A_COPY = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import patchdiff
assert Path(patchdiff.__file__).is_relative_to(Path(sys.argv[1]).absolute())
from patchdiff.structure.engine import Engine, StructureError
with Engine() as engine:
    print(engine.identity())
    for change in sys.argv[2:]:
        query = Path(sys.argv[1], "patchdiff/structure/queries/python.scm")
        query.write_text(query.read_text() + change)
    try:
        print([one.name for one in engine.structure("a.py", None, "a = 1").symbols])
    except StructureError as error:
        print(error.code)
"""


def copied(directory: Path) -> str:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, directory / "patchdiff", ignore=ignored)
    return str(directory)


def test_the_child_imports_the_package_that_its_parent_has(tmp_path: Path) -> None:
    path = copied(tmp_path)
    before = run(FROM_A_COPY, path)
    assert before == f"{Engine().identity()}\n['a']\n"
    # a relative entry of the import path means what it meant in the parent
    assert run(FROM_A_COPY, tmp_path.name, cwd=tmp_path.parent) == before


@pytest.mark.parametrize("changed", ["queries/python.scm", "assembly.py", "extractors/tsx.py"])
def test_another_source_is_another_identity(tmp_path: Path, changed: str) -> None:
    path = copied(tmp_path)
    with (tmp_path / "patchdiff" / "structure" / changed).open("a") as source:
        source.write("\n")
    identity, symbols = run(FROM_A_COPY, path).splitlines()
    assert identity != Engine().identity()
    assert symbols == "['a']"


def test_a_parser_of_another_version_is_another_identity() -> None:
    program = (
        "import importlib.metadata as metadata\n"
        "real = metadata.version\n"
        "metadata.version = lambda name: '9' if name == 'tree-sitter-go' else real(name)\n"
        "from patchdiff.structure.identity import identity; print(identity())"
    )
    identity = run(program).strip()
    assert re.fullmatch(r"patchdiff-symbols@1\+[0-9a-f]{12}", identity)
    assert identity != Engine().identity()


def test_an_engine_that_was_changed_under_way_is_not_used(tmp_path: Path) -> None:
    identity, answer = run(FROM_A_COPY, copied(tmp_path), "; changed\n").splitlines()
    assert identity == Engine().identity()
    assert answer == "STRUCTURE_UNAVAILABLE"


def test_hash_seeds_do_not_matter() -> None:
    program = (
        "import hashlib, sys\n"
        "from tests.structure.support import SOURCES, plain, text_of\n"
        "from patchdiff.structure.extract import extract\n"
        "digest = hashlib.sha256()\n"
        "for source in SOURCES:\n"
        "    digest.update(repr(plain(extract(source.parent.name, text_of(source)))).encode())\n"
        "print(digest.hexdigest())"
    )
    root = Path(__file__).parents[2]
    here = hashlib.sha256()
    for source in SOURCES:
        here.update(repr(plain(extract(source.parent.name, text_of(source)))).encode())
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    assert run(program, env=environment, cwd=root) == f"{here.hexdigest()}\n"


# ---- limits


@pytest.mark.req("SCOPE-059")
def test_a_text_that_takes_too_long_is_given_up_and_the_next_is_not() -> None:
    with Engine(pass_seconds=0.05) as engine:
        error = failure(engine, large_text())
        assert error.code == "STRUCTURE_TIMEOUT"
        assert "0.05 seconds" in error.detail
        assert engine.worker_pid is None
    with Engine() as engine:
        assert names(engine, fresh(SMALL)) == ["A", "f"]


@pytest.mark.req("SCOPE-060")
@pytest.mark.parametrize("filename", ["A.java", "a.cs"])
def test_a_text_that_takes_too_much_memory_is_given_up(filename: str) -> None:
    with Engine() as engine:
        names(engine)
        started = time.monotonic()
        error = failure(engine, "a<" * 32_000, filename)
        assert time.monotonic() - started < 5.5
        assert error.code == "STRUCTURE_LIMIT"
        assert "memory" in error.detail
        assert names(engine, fresh(SMALL)) == ["A", "f"]


@pytest.mark.parametrize("filename", ["a.py", "a.js"])
def test_a_syntax_error_of_too_many_parts_is_given_up(engine: Engine, filename: str) -> None:
    names(engine, fresh(SMALL))
    started = time.monotonic()
    error = failure(engine, "(" * 65_536, filename)
    assert time.monotonic() - started < 1
    assert error.code == "STRUCTURE_LIMIT"
    assert names(engine, fresh(SMALL)) == ["A", "f"]


@pytest.mark.req("SCOPE-061")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_process_that_dies_on_a_text_is_replaced(number: signal.Signals) -> None:
    with Engine() as engine:
        names(engine)
        pid = engine.worker_pid
        assert pid is not None
        killer = threading.Timer(0.05, os.kill, (pid, number))
        killer.start()
        error = failure(engine, large_text())
        killer.join()
        assert error.code == "STRUCTURE_CRASHED"
        assert engine.worker_pid is None
        assert names(engine, fresh(SMALL)) == ["A", "f"]
        assert engine.worker_pid not in (None, pid)


def test_a_process_that_died_between_two_texts_is_noticed(engine: Engine) -> None:
    names(engine, fresh(SMALL))
    assert engine.worker_pid is not None
    os.kill(engine.worker_pid, signal.SIGKILL)
    assert failure(engine, fresh(SMALL)).code == "STRUCTURE_CRASHED"
    assert names(engine, fresh(SMALL)) == ["A", "f"]


def test_a_thousand_texts_make_a_new_process() -> None:
    with Engine() as engine:
        names(engine)
        pid = engine.worker_pid
        for _ in range(999):
            names(engine, fresh("a = 1"))
        assert engine.worker_pid == pid
        names(engine, fresh("a = 1"))
        assert engine.worker_pid not in (None, pid)


@needs_proc
def test_memory_stays_as_it_is() -> None:
    texts = [(source.parent.name, text_of(source)) for source in SOURCES]
    worker = WorkerProcess()
    try:
        worker.hear(30)

        def resident() -> int:
            return int(Path(f"/proc/{worker.pid}/statm").read_text().split()[1]) * 4_096

        for _ in range(5):
            for language, text in texts:
                worker.ask((language, text * 5), 5)
        before = resident()
        for _ in range(15):
            for language, text in texts:
                worker.ask((language, text * 5), 5)
        assert resident() - before < 2_000_000
    finally:
        worker.kill()


# ---- the process


@needs_proc
def test_the_process_is_confined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHDIFF_DATABASE_URL", "postgresql://secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    read_end, write_end = os.pipe()
    os.set_inheritable(read_end, True)
    os.set_inheritable(write_end, True)
    try:
        with Engine() as engine:
            names(engine)
            pid = engine.worker_pid
            assert pid is not None
            process = Path(f"/proc/{pid}")
            opened = sorted(str(entry.readlink()) for entry in (process / "fd").iterdir())
            assert [name.partition(":")[0] for name in opened] == ["/dev/null"] * 3 + ["pipe"] * 2
            own = {os.fstat(one).st_ino for one in (read_end, write_end)}
            assert not own & {int(name[6:-1]) for name in opened if name.startswith("pipe")}
            limits = (process / "limits").read_text()
            assert re.search(r"Max core file size +0 +0 ", limits)
            assert re.search(r"Max address space +1073741824 +1073741824 ", limits)
            assert os.getsid(pid) == pid
            assert b"secret" not in (process / "environ").read_bytes()
            assert (process / "cwd").readlink() == Path("/")
    finally:
        os.close(read_end)
        os.close(write_end)


def test_an_interrupt_does_not_reach_the_process() -> None:
    with Engine() as engine:
        names(engine)
        pid = engine.worker_pid
        assert pid is not None
        os.kill(pid, signal.SIGINT)
        assert names(engine, fresh(SMALL)) == ["A", "f"]
        assert engine.worker_pid == pid


STARTS_AND_WAITS = """
import sys, time
from patchdiff.structure.engine import Engine
engine = Engine()
engine.structure("a.py", None, "a = 1")
print(engine.worker_pid, flush=True)
if sys.argv[1:]:
    sys.exit()
time.sleep(60)
"""


def gone(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if PROC and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True  # nobody waits for it where the first process of a container does not
        time.sleep(0.02)
    return False


def test_the_process_ends_with_its_parent_however_that_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_WAITS], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    assert gone(pid, 5)
    assert gone(int(run(STARTS_AND_WAITS, "leave")), 5)


def test_an_engine_that_is_forgotten_leaves_no_process() -> None:
    engine = Engine()
    names(engine)
    pid = engine.worker_pid
    assert pid is not None
    del engine
    assert gone(pid, 5)


def test_threads_may_share_an_engine(engine: Engine) -> None:
    texts = [fresh(f"def f{number}(): pass") for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda text: names(engine, text), texts))
    assert results == [[f"f{number}"] for number in range(40)]


def test_a_fork_of_the_parent_gets_a_process_of_its_own() -> None:
    program = """
import os
from patchdiff.structure.engine import Engine
engine = Engine()
engine.structure("a.py", None, "a = 1")
pid = engine.worker_pid
child = os.fork()
found = [one.name for one in engine.structure("a.py", None, f"b = 2 # {child}").symbols]
assert found == ["b"]
if child == 0:
    assert engine.worker_pid != pid
    engine.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0
engine.structure("a.py", None, "c = 3")
assert engine.worker_pid == pid
"""
    assert run(program) == ""


def test_the_protocol_s_output_stays_clean() -> None:
    program = """
import os
from patchdiff.descriptors import claim
_, answers = claim()
from patchdiff.structure.engine import Engine
with Engine() as engine:
    engine.structure("a.py", None, "a = 1")
os.write(answers, b"the answer")
"""
    assert run(program, stdin=subprocess.DEVNULL) == "the answer"


def test_a_parent_without_standard_input_and_output_has_an_engine() -> None:
    program = """
import os
os.close(0)
os.close(1)
from patchdiff.structure.engine import Engine
with Engine() as engine:
    found = [one.name for one in engine.structure("a.py", None, "a = 1").symbols]
os._exit(0 if found == ["a"] else 1)
"""
    assert run(program) == ""


@pytest.mark.parametrize("interpreter", ["", "/nonexistent/python"])
def test_without_an_interpreter_the_engine_says_so(
    monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    monkeypatch.setattr(sys, "executable", interpreter)
    with Engine() as engine:
        error = failure(engine, SMALL)
    assert error.code == "STRUCTURE_UNAVAILABLE"
    assert interpreter == "" or interpreter not in error.detail


def test_a_process_that_cannot_start_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with Engine() as engine:
        assert failure(engine, SMALL).code == "STRUCTURE_UNAVAILABLE"


def test_a_parser_that_is_missing_is_unavailable() -> None:
    program = (
        "import importlib.metadata as metadata\n"
        "real = metadata.version\n"
        "def version(name):\n"
        "    if name == 'tree-sitter-go': raise metadata.PackageNotFoundError(name)\n"
        "    return real(name)\n"
        "metadata.version = version\n"
        "from patchdiff.structure.engine import Engine, StructureError\n"
        "try: Engine().structure('a.py', None, 'a = 1')\n"
        "except StructureError as error: print(error)"
    )
    expected = "STRUCTURE_UNAVAILABLE: the package tree-sitter-go is not installed\n"
    assert run(program) == expected
