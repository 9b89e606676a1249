"""How the demo shows itself in a terminal of 80 columns or more: calls, answers, tables, a diff."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from patchdiff.printable import printable, shortened

_NAME_COLUMNS = 31
_LEAST_ROOM = 40
_LONGEST_ANSWER = 300
_STYLES = {"accepted": "bold green", "ok": "bold green", "rejected": "bold red"}


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class View:
    """Writes the demo's steps, one after the other, to a console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.steps = 0
        """How many steps have begun."""

    def headline(self, title: str, lines: Iterable[str]) -> None:
        """The title of the whole and what it is about."""
        self._console.print(Text(title, style="bold"))
        self.say(*lines)

    def step(self, title: str) -> None:
        """Begins the next step."""
        self.steps += 1
        self._console.print()
        self._console.print(Rule(Text(f"{self.steps}. {title}", style="bold"), align="left"))

    def say(self, *lines: str) -> None:
        """Sentences between calls and answers."""
        for line in lines:
            self._console.print(Text(line))

    def call(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """The call that goes out: the tool's name, and a line for each argument and part of one."""
        self._console.print(Text.assemble(("→ ", "cyan"), (tool, "bold cyan")))
        rows: dict[str, str] = {}
        for name, value in arguments.items():
            if not isinstance(value, list):
                rows[name] = _value(value)
                continue
            for number, item in enumerate(value):
                rows |= {f"{name}[{number}].{key}": _value(part) for key, part in item.items()}
        room = max(self._console.width - _NAME_COLUMNS, _LEAST_ROOM)
        self._rows({name: shortened(text, room) for name, text in rows.items()}, "cyan")

    def answer(self, fields: Mapping[str, Any]) -> None:
        """Fields of the answer that came back, sentences whole."""
        rows = {name: shortened(_value(value), _LONGEST_ANSWER) for name, value in fields.items()}
        self._rows(rows, "green")

    def _rows(self, rows: Mapping[str, str], name_style: str) -> None:
        table = Table.grid(padding=(0, 1, 0, 2), pad_edge=True)
        table.add_column(width=_NAME_COLUMNS - 3, no_wrap=True, style=name_style)
        table.add_column(overflow="fold")
        for name, text in rows.items():
            table.add_row(name, Text(text, style=_STYLES.get(text, "")))
        self._console.print(table)

    def numbered_lines(self, text: str, first: int) -> None:
        """Lines of a document with their numbers."""
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=first):
            room = max(self._console.width - 8, _LEAST_ROOM)
            self._console.print(Text.assemble((f"{number:>5}  ", "dim"), shortened(line, room)))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A table of short values; the last column takes what room there is."""
        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
        for column in columns[:-1]:
            table.add_column(column, no_wrap=True)
        table.add_column(columns[-1], overflow="fold", ratio=1)
        for row in rows:
            cells = [printable("" if value is None else str(value)) for value in row]
            table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in cells))
        self._console.print(table)

    def diff(self, lines: Iterable[str]) -> None:
        """A unified diff in colours."""
        self._console.print(
            Syntax(
                "\n".join(lines),
                "diff",
                theme="ansi_dark",
                background_color="default",
                word_wrap=True,
            )
        )
