"""A sheet as plain text, for terminals and files: aligned columns, nothing else."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import zip_longest

from anabranch.search.results.show.sheet import Sheet, Table


def sheet_text(sheet: Sheet) -> str:
    """Return a sheet as lines of text."""
    worth = ", ".join(f"{whom} {cell.lines[0]}" for whom, cell in sheet.values)
    parts = [f"{sheet.heading}; {sheet.summary}\nvalue: {worth}", *map(table_text, sheet.tables)]
    if sheet.certificate:
        parts.append(sheet.certificate)
    if sheet.line:
        parts.append(f"line: {sheet.line}")
    if sheet.dice:
        parts.append(f"dice: {sheet.dice}")
    if sheet.notes:
        parts.append("\n".join(f"note: {note}" for note in sheet.notes))
    return "\n\n".join(parts)


def table_text(table: Table) -> str:
    """Return a table with its columns aligned; cells of several lines take several lines."""
    lines: list[Sequence[str]] = [[column.title for column in table.columns]]
    breaks = []
    for number, row in enumerate(table.rows):
        if number in table.rules:
            breaks.append(len(lines))
        lines += zip_longest(*(cell.lines for cell in row), fillvalue="")
    widths = [max(map(_wide, column)) for column in zip(*lines, strict=True)]
    shown = [
        "  ".join(
            " " * (width - _wide(words)) + words if column.right else words + " " * (width - _wide(words))
            for words, width, column in zip(line, widths, table.columns, strict=True)
        ).rstrip()
        for line in lines
    ]
    for at in reversed(breaks):
        shown.insert(at, "")
    return "\n".join([*([table.title] if table.title else []), *shown, *([table.rest] if table.rest else [])])


def _wide(words: str) -> int:
    """Return how many places of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in words
    )
