"""Small games that pay on the way and have no `bounds`, with exact values: what the scale of values is measured on."""

from __future__ import annotations

from typing import Any

import numpy as np

import anabranch as ab
from anabranch.games.goofspiel import Goofspiel
from anabranch.games.pyrat import PyRat


class Auction(Goofspiel):
    """Goofspiel that pays points as they are taken, and does not say what can still be won."""

    bounds = None  # type: ignore[assignment]


class Maze(PyRat):
    """PyRat that does not say what can still be won."""

    bounds = None  # type: ignore[assignment]


class Turns(ab.CompiledGame):
    """Dice: in each of so many turns roll as often as you like; holding pays the sum, a 1 ends the turn for nothing."""

    title = "turns"
    HIGHEST = 20  # the sum at which one must hold

    def __init__(self, turns: int = 4) -> None:
        self.turns = turns
        self.players, self.actions, self.outcomes = 2, 2, 6
        most = float((turns + 1) // 2 * (self.HIGHEST + 5))
        self.returns, self.rewards_along = (-most, most), True
        self.state = ab.record(sum=np.int8, turn=np.int8, rolling=np.int8)

    def setup(self, state: Any, random: Any) -> None:
        pass

    def turn(self, state: Any) -> int:
        if state.rolling:
            return ab.CHANCE
        return ab.OVER if state.turn == self.turns else ab.player(state.turn & 1)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        actions[0], actions[1] = 0, 1
        if state.sum == 0:
            return 1
        if state.sum >= self.HIGHEST:
            actions[0] = 1
            return 1
        return 2

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        for face in range(6):
            outcomes[face], chances[face] = face, 1 / 6
        return 6

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.turn & 1
        if state.rolling:
            state.rolling = 0
            if actions[0] == 0:
                state.sum, state.turn = 0, state.turn + 1
            else:
                state.sum += actions[0] + 1
        elif actions[mover] == 0:
            state.rolling = 1
        else:
            rewards[mover], rewards[1 - mover] = state.sum, -state.sum
            state.sum, state.turn = 0, state.turn + 1

    def text(self, state: ab.State) -> str:
        return f"turn {state.turn + 1} of {self.turns}, sum {state.sum}"

    def action_name(self, action: int) -> str:
        return ("roll", "hold")[action]

    def outcome_name(self, outcome: int) -> str:
        return str(outcome + 1)


GAMES = {
    "Goofspiel, 4 cards, points": lambda: Auction(cards=4, prizes="random", rewards="difference"),
    "PyRat 3×3, three cheese": lambda: Maze(
        width=3, height=3, cheese=[(0, 2), (1, 1), (2, 0)], max_turns=8, rewards="difference"
    ),
    "dice, four turns": Turns,
}


def positions(game: ab.Game, count: int, seed: int = 1) -> list[ab.State]:
    """Return different positions in which somebody has a choice, met by random play."""
    rng, found = np.random.default_rng(seed), dict[bytes, ab.State]()
    for _ in range(200 * count):
        state = game.start()
        while state.turn != ab.OVER and len(found) < count:
            if state.turn == ab.CHANCE:
                outcomes = state.outcomes()
                move: Any = outcomes[int(rng.integers(len(outcomes)))][0]
            else:
                if rng.random() < 0.3 and any(len(state.legal(player)) > 1 for player in state.turn):
                    found.setdefault(state.data, state)
                chosen = [int(rng.choice(state.legal(player))) for player in state.turn]
                move = chosen[0] if len(chosen) == 1 else tuple(chosen)
            state, _ = state.step(move)
    return list(found.values())
