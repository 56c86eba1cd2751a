"""A few plies played interpreted before anything is compiled: a slip is then an ordinary exception on its own line."""

from __future__ import annotations

from typing import Any

from anabranch.game.interpreted import InterpretedRules
from anabranch.game.random import Random, below, key_of
from anabranch.game.words import CHANCE, IDLE, OVER, acting

GAMES, PLIES = 2, 10


def play(game: Any) -> None:
    """Play short random games, calling every verb the game has; whatever goes wrong is raised as it is."""
    rules = InterpretedRules(game)
    for number in range(GAMES):
        random = Random(key_of((number,)))
        data = rules.setup(random)
        for _ in range(PLIES):
            turn = rules.turn(data)
            _ask(game, rules, data, turn)
            if turn == OVER:
                break
            row = [IDLE] * game.players
            if turn == CHANCE:
                row[0] = rules.draw(data, random)
            for seat in acting(turn):
                legal = rules.legal(data, seat)
                if not legal:  # a broken promise, but for others to tell: it compiles
                    return
                row[seat] = legal[below(random, len(legal))]
                if game.has("same"):
                    rules.same(data, seat, row[seat])
            data, _ = rules.step(data, row)


def _ask(game: Any, rules: InterpretedRules, data: bytes, turn: int) -> None:
    """Call the verbs that only look."""
    if turn == CHANCE and game.has("chance"):
        rules.chance(data)
    for verb in ("key", "bounds", "event"):
        if game.has(verb):
            getattr(rules, verb)(data)
    if game.has("heuristic") and turn > OVER:
        rules.heuristic(data)
    if game.has("observe"):
        for seat in acting(turn) or (0,):
            rules.observe(data, seat)
