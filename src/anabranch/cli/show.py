"""Print results: drawn tables on a terminal, plain lines elsewhere, JSON for machines."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from anabranch.cli import output


def print_json(value: Any) -> None:
    """Print plain data."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows; numbers to the right."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    right = [all(isinstance(row[index], int) for row in rows) for index in range(len(columns))]
    if sys.stdout.isatty():
        from rich import box
        from rich.console import Console
        from rich.table import Table

        table = Table(box=box.SIMPLE)
        for column, numeric in zip(columns, right, strict=True):
            table.add_column(column, justify="right" if numeric else "left")
        for row in cells:
            table.add_row(*row)
        Console().print(table, markup=False)
        return
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for row in [list(columns), *cells]:
        padded = [
            cell.rjust(width) if numeric else cell.ljust(width)
            for cell, width, numeric in zip(row, widths, right, strict=True)
        ]
        print("  ".join(padded).rstrip())


@contextlib.contextmanager
def busy(words: str) -> Iterator[None]:
    """Say on stderr what is going on while it lasts."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(words):
            yield
    else:
        output.say(words)
        yield
