"""Text broken into lines, with nothing left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby


def wrapped(words: str, width: int) -> list[str]:
    """Break text into lines: where spaces are wide if there are such, else at spaces and after commas.

    A drawing in characters is left as it is.
    """
    rows = words.expandtabs().rstrip().splitlines() or [""]
    if is_drawing(rows, wider=width):
        return rows
    return [line for row in rows for line in _broken(row, width)]


def is_drawing(rows: Sequence[str], *, wider: int = 0) -> bool:
    """Whether lines are a board in characters: three or more of one length, one below the other."""
    same = [(length, len(list(group))) for length, group in groupby(map(len, rows))]
    return any(count >= 3 and length > wider for length, count in same)


def parts_of(row: str) -> list[str]:
    """Split a line where spaces are wide; an indent stays with what follows it."""
    return re.split(r"(?<=\S)\s{2,}", row.rstrip())


def _broken(row: str, width: int) -> Iterator[str]:
    """Break one line; what does not fit even so is cut between letters, never left out."""
    if len(row) <= width:
        yield row.rstrip()
        return
    indent = row[: min(len(row) - len(row.lstrip()), width // 3)]
    row, line = indent + row.strip(), ""
    for part in parts_of(row):
        if line and len(line) + 2 + len(part) <= width:
            line += "  " + part
            continue
        if line:
            yield line
        line = part
        while len(line) > width:
            at = max(line.rfind(" ", len(indent) + 1, width + 1), *(line.rfind(mark, 1, width) + 1 for mark in ",;|"))
            at = at if at > len(indent) + 2 else width
            yield line[:at].rstrip()
            line = indent + " " + line[at:].lstrip()
    yield line
