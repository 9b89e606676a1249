"""What it takes to observe the symbols of a text, against parsing it alone.

The texts are the test fixtures of each language, repeated up to 65,536 code points, with letters of
other scripts, combining marks and emoji in them. See bench/README.md for how to read the table.
"""

import platform
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from patchdiff.structure.engine import Engine
from patchdiff.structure.extract import extract
from patchdiff.structure.languages import LANGUAGES

CODE_POINTS = 65_536
ROUNDS = 9
GOAL_MILLISECONDS = 40.0

FIXTURES = Path(__file__).parents[1] / "tests" / "structure" / "fixtures"
SCRIPTS = "naïve 漢字 e\u0301 🙂 🇩🇪"
COMMENTS = {
    **dict.fromkeys(("bash", "ini", "python", "ruby", "toml", "yaml"), "# {}\n"),
    **dict.fromkeys(("c", "cpp", "csharp", "go", "java", "javascript", "json"), "// {}\n"),
    **dict.fromkeys(("php", "rust", "tsx", "typescript"), "// {}\n"),
    "css": "/* {} */\n",
    "html": "<!-- {} -->\n",
    "markdown": "{}\n",
    "sql": "-- {}\n",
}


def text_of(language: str) -> str:
    """The fixtures of a language, one after the other again and again, with a comment between.

    Fixtures with errors, and what an opened fence or an end mark would swallow, are left out.
    """
    parts = [
        path.read_text(encoding="utf-8").removeprefix("\ufeff")
        for path in sorted((FIXTURES / language).iterdir())
        if not path.name.endswith(".expected.json") and "broken" not in path.name
    ]
    comment = COMMENTS[language].format(SCRIPTS)
    if language == "json":  # one value is a whole text
        item = f"\n{comment}{parts[0].strip()},"
        items = item * ((CODE_POINTS - 3) // len(item))
        return f"[{items}0{' ' * (CODE_POINTS - 3 - len(items))}]"
    ends = {"markdown": "``` js", "ruby": "__END__", "yaml": "..."}
    between = "---\n" if language == "yaml" else ""
    cycle = "".join(
        f"{part.partition(chr(10) + ends.get(language, chr(0)))[0]}\n{comment}{between}"
        for part in parts
    )
    text = cycle * (CODE_POINTS // len(cycle))
    return text + (comment * (CODE_POINTS // len(comment)))[: CODE_POINTS - len(text)]


def milliseconds(call: Callable[[int], object]) -> float:
    """The median time of a call after two that do not count; it is given the round's number."""
    times = []
    for round_number in range(ROUNDS + 2):
        started = time.perf_counter()
        call(round_number)
        times.append(time.perf_counter() - started)
    return statistics.median(times[2:]) * 1000


def bare_parse(language: str, text: str) -> float | None:
    """The time of a language's parser alone; None where there is none to be had alone."""
    grammars = [
        name for name in LANGUAGES[language].distributions if name.startswith("tree-sitter-")
    ]
    if not grammars:
        return None
    from tree_sitter import Language, Parser

    module = import_module(grammars[0].replace("-", "_"))
    names = {"php": "language_php", "tsx": "language_tsx", "typescript": "language_typescript"}
    parser = Parser(Language(getattr(module, names.get(language, "language"))()))
    source = text.encode()
    return milliseconds(lambda _: parser.parse(source))


def main() -> None:
    """Prints the table and which languages miss the goal."""
    table = Table(title=f"Symbols of {CODE_POINTS:,} code points, medians in ms")
    for column in ("language", "symbols", "parse", "extract", "ratio", "observe"):
        table.add_column(column, justify="left" if column == "language" else "right")
    missed = []
    with Engine() as engine:
        for language in sorted(LANGUAGES):
            text = text_of(language)
            symbols = len(engine.structure("text", language, text).symbols)
            parsed = bare_parse(language, text)
            extracted = milliseconds(lambda _, key=language, body=text: extract(key, body))  # type: ignore[misc]
            observed = milliseconds(
                lambda number, key=language, body=text: engine.structure(  # type: ignore[misc]
                    "text", key, body + "\n" * (number + 1)
                )
            )
            if observed > GOAL_MILLISECONDS:
                missed.append(language)
            ratio = "-" if parsed is None else f"{extracted / parsed:.2f}"
            shown = "-" if parsed is None else f"{parsed:.1f}"
            table.add_row(
                language, f"{symbols:,}", shown, f"{extracted:.1f}", ratio, f"{observed:.1f}"
            )
    console = Console(width=100)
    console.print(table)
    console.print(f"Python {platform.python_version()}, {platform.machine()}")
    if missed:
        console.print(f"above {GOAL_MILLISECONDS:g} ms: {', '.join(missed)}")


if __name__ == "__main__":
    main()
