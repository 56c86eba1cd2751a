"""The words in a node's card where a game draws no board: wrapped, and only what tells the nodes drawn apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from anabranch.draw.words import is_drawing, parts_of, wrapped
from anabranch.game.compiled import CompiledGame
from anabranch.game.state import State

WIDTHS = (14, 18, 22, 26)  # letters across; the least is taken that keeps all nodes to a few lines
FEW_LINES, MOST_LINES = 5, 10
MOST_ROWS = 30  # of a board drawn in characters
SMALL_ARRAY = 8  # items of an array that is shown whole


def node_texts(states: Sequence[State]) -> list[list[str]]:
    """Return the lines of each state, the first of which is the root."""
    kind = type(states[0].game)
    bare = issubclass(kind, CompiledGame) and kind.text is CompiledGame.text
    written = _records(states) if bare else [str(state) for state in states]
    longest = max(len(part) for text in written for row in text.splitlines() or [""] for part in parts_of(row))
    texts: list[list[str]] = []
    for width in WIDTHS:
        texts = [wrapped(text, width) for text in written]
        if max(map(len, texts)) <= FEW_LINES and longest <= width:
            break
    whole = not bare and any(map(is_drawing, texts)) and max(map(len, texts)) <= MOST_ROWS
    return texts if whole else distinguishing(texts)


def distinguishing(texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Shorten long texts by leaving out the lines that are the same in all of them, with … in their place.

    They stay as long as it takes to tell them apart, within reason.
    """
    different = len({tuple(lines) for lines in texts})
    shown = [list(lines) for lines in texts]
    for most in (MOST_LINES, 2 * MOST_LINES, 4 * MOST_LINES):
        shown = _shortened(texts, most)
        if len({tuple(lines) for lines in shown}) == different:
            break
    return shown


def _shortened(texts: Sequence[Sequence[str]], most: int) -> list[list[str]]:
    if max(map(len, texts)) <= most:
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
        shown.append(kept if len(kept) <= most else [*kept[: most - 1], "…"])
    return shown


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
