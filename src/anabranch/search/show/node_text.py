"""The words in a node's card where a game draws no board: wrapped, and only what tells the nodes drawn apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

import numpy as np

from anabranch.game.compiled import CompiledGame
from anabranch.game.state import State

WIDTHS = (14, 18, 22, 26)  # letters across; the least is taken that keeps all nodes to a few lines
FEW_LINES, MOST_LINES = 5, 10
SMALL_ARRAY = 8  # items of an array that is shown whole


def node_texts(states: Sequence[State]) -> list[list[str]]:
    """Return the lines of each state, the first of which is the root."""
    kind = type(states[0].game)
    if issubclass(kind, CompiledGame) and kind.text is CompiledGame.text:
        written = _records(states)
    else:
        written = [str(state) for state in states]
    longest = max(len(part) for text in written for row in text.splitlines() or [""] for part in _parts(row))
    texts: list[list[str]] = []
    for width in WIDTHS:
        texts = [wrapped(text, width) for text in written]
        if max(map(len, texts)) <= FEW_LINES and longest <= width:
            break
    return texts if any(map(is_drawing, written)) else distinguishing(texts)


def is_drawing(words: str) -> bool:
    """Whether a text is a board in characters: rows of one length, one below the other."""
    lengths = [(length, len(list(same))) for length, same in groupby(map(len, words.splitlines()))]
    return max((rows for length, rows in lengths if length), default=0) >= 3


def wrapped(words: str, width: int) -> list[str]:
    """Break text into lines: where spaces are wide if there are such, else at spaces and after commas.

    A drawing in characters is left as it is.
    """
    rows = words.expandtabs().rstrip().splitlines() or [""]
    if is_drawing(words):
        return rows
    return [line for row in rows for line in _broken(row, width)]


def distinguishing(texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Shorten long texts by leaving out the lines that are the same in all of them, with … in their place."""
    if max(map(len, texts)) <= MOST_LINES:
        return [list(lines) for lines in texts]
    differs = [len(set(column)) > 1 for column in zip_longest(*texts)]
    shown = []
    for lines in texts:
        kept: list[str] = []
        for line, differ in zip(lines, differs, strict=False):
            if differ or len(texts) == 1:
                kept.append(line)
            elif kept[-1:] != ["…"]:
                kept.append("…")
        shown.append(kept if len(kept) <= MOST_LINES else [*kept[: MOST_LINES - 1], "…"])
    return shown


def _broken(row: str, width: int) -> Iterator[str]:
    """Break one line; what does not fit even so is cut between letters, never left out."""
    indent = row[: len(row) - len(row.lstrip())]
    line = ""
    for part in _parts(row) if len(row) > width else [row.rstrip()]:
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


def _parts(row: str) -> list[str]:
    """Split a line where spaces are wide; an indent stays with what follows it."""
    return re.split(r"(?<=\S)\s{2,}", row.rstrip())


def _records(states: Sequence[State]) -> list[str]:
    """Write the fields of records, one a line: all of the root's, of the others those that are not everywhere the same.

    Of large arrays only the items that are not the root's.
    """
    game = states[0].game
    assert isinstance(game, CompiledGame)
    written: list[list[str]] = [[] for _ in states]
    for name in game.state.names or ():
        values = [np.asarray(game.field(state.data, name)) for state in states]
        varies = any(not np.array_equal(value, values[0]) for value in values)
        for at, (lines, value) in enumerate(zip(written, values, strict=True)):
            if value.size <= SMALL_ARRAY:
                lines += [f"{name} {value.tolist()}"] * (varies or at == 0)
            elif at == 0:
                lines.append(f"{name} {' × '.join(map(str, value.shape))}")
            else:
                changed = np.argwhere(value != values[0]).tolist()
                lines += [f"{name}[{', '.join(map(str, place))}] {value[tuple(place)]}" for place in changed]
    return ["\n".join(lines) for lines in written]
