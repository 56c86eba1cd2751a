"""Count the lines of play from a state, depth by depth: the numbers by which rules are compared across programs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from anabranch.errors import UsageError
from anabranch.game.game import Game, Rules
from anabranch.game.state import State
from anabranch.game.words import CHANCE, OVER, acting, as_row


@dataclass(frozen=True)
class PerftRow:
    """What lies at one depth; a game that ended earlier is not continued and counts only at the depth it ended."""

    depth: int
    sequences: int  #: sequences of (joint) choices and outcomes; actions that are the same choice count once
    distinct: int  #: distinct states they lead to, told apart by their keys
    over: int  #: how many of the sequences end the game


def perft(root: State | Game, depth: int) -> list[PerftRow]:
    """Return one row for each depth from 1 to `depth`, fewer if every line of play ends before.

    Equal states at one depth are expanded once and carry the number of sequences that reach them, so the work is that
    of the distinct states while the counts are those of the tree.
    """
    state = root.start() if isinstance(root, Game) else root
    if depth < 0:
        raise UsageError(f"perft counts to a depth of 0 or more, found {depth}")
    rules, players = state.game.rules, state.game.players
    level: dict[Any, tuple[Any, int]] = {state.key: (state.data, 1)}
    rows: list[PerftRow] = []
    for ply in range(1, depth + 1):
        following: dict[Any, tuple[Any, int]] = {}
        for data, sequences in level.values():
            for joint in _joints(rules, data, players):
                after, _ = rules.step(data, joint)
                key = rules.key(after)
                first, count = following.get(key, (after, 0))
                following[key] = (first, count + sequences)
        if not following:
            break
        level = following
        over = sum(count for data, count in level.values() if rules.turn(data) == OVER)
        rows.append(PerftRow(ply, sum(count for _, count in level.values()), len(level), over))
    return rows


def _joints(rules: Rules, data: Any, players: int) -> Iterator[list[int]]:
    """Yield what may happen in a state, as rows for `step`: joint choices, or outcomes; nothing when it is over."""
    turn = rules.turn(data)
    if turn == CHANCE:
        for outcome, _ in rules.chance(data):
            yield as_row(players, (0,), (outcome,))
    elif turn != OVER:
        seats = acting(turn)
        choices = [sorted({rules.same(data, seat, action) for action in rules.legal(data, seat)}) for seat in seats]
        for joint in itertools.product(*choices):
            yield as_row(players, seats, joint)
