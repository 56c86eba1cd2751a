"""Ours, by the public names, as it comes but for the selector and one thread: equal positions are shared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from measure import Contender

import anabranch as ab
from peers.adapters import EXPLORATION
from peers.questions import Question
from peers.rules import Board, free_cells, is_over, payoffs, play

SELECTORS = {"PUCT": ab.Puct(), "UCT": ab.Ucb1(c=EXPLORATION)}
EVALUATORS = {"uniform": ab.Uniform(), "rollout": ab.Rollout()}


class PlainTicTacToe(ab.ObjectGame):
    """The rules in plain Python as an object game."""

    def __init__(self) -> None:
        self.players, self.actions = 2, 9

    def setup(self, random: ab.Random) -> Board:
        """Return the empty board."""
        return (0, 0, 0)

    def turn(self, state: Board) -> int:
        """Return who acts."""
        return ab.OVER if is_over(state) else ab.player(state[2] & 1)

    def legal(self, state: Board, player: int) -> list[int]:
        """Return the free cells."""
        return free_cells(state)

    def step(self, state: Board, actions: Sequence[int]) -> tuple[Board, list[float]]:
        """Return the next board and the rewards."""
        following = play(state, actions[state[2] & 1])
        return following, payoffs(following) if is_over(following) else [0.0, 0.0]


def search(
    name: str,
    game: ab.Game,
    evaluator: Any,
    simulations: int,
    config: ab.SearchConfig | None = None,
    trees: int = 1,
) -> Contender:
    """Return searching a game from its start, each time on new graphs; the searcher is made once, as users do."""
    searcher = ab.Searcher(game, evaluator, config, threads=1)
    found: list[ab.Result] = []

    def call() -> None:
        roots = [searcher.root(game.start()) for _ in range(trees)]
        found[:] = searcher.run(roots, simulations=simulations)

    def counted() -> float:
        return float(sum(sum(result.visits[0]) for result in found))

    def evaluated() -> float:
        return float(sum(result.nodes for result in found))  # the ends among them cost no rollout

    return Contender(name, call, float(simulations * trees), counted=counted, evaluated=evaluated)


def make(question: Question, variant: str) -> Contender:
    """Return our search; `variant` is "PUCT" or "UCT"."""
    game = PlainTicTacToe() if question.task == "python" else ab.games.load(question.game)
    config = ab.SearchConfig(selector=SELECTORS[variant])
    evaluator = EVALUATORS[question.evaluator]
    return search(f"anabranch {variant}", game, evaluator, question.simulations, config, question.trees)
