"""The package mcts-simple: its UCT, step by step."""

from __future__ import annotations

from typing import Any

import mcts_simple
from measure import Contender

from peers.adapters import EXPLORATION
from peers.adapters.states import starts
from peers.questions import Question


class Position(mcts_simple.Game):  # type: ignore[misc]
    """A state with the methods the package calls; copied by cloning, the cheapest way there is."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def __deepcopy__(self, memo: Any) -> Position:
        return Position(self.state.clone())

    def get_state(self) -> str:
        """Return what tells positions apart."""
        return str(self.state)

    def number_of_players(self) -> int:
        """Return two."""
        return 2

    def current_player(self) -> int:
        """Return who acts; somebody also at the end."""
        return max(int(self.state.current_player()), 0)

    def possible_actions(self) -> Any:
        """Return the legal actions."""
        return self.state.legal_actions()

    def take_action(self, action: int) -> None:
        """Move."""
        self.state.apply_action(action)

    def has_outcome(self) -> bool:
        """Whether the game is over."""
        over: bool = self.state.is_terminal()
        return over

    def winner(self) -> list[int]:
        """Return who won, or both."""
        first = self.state.returns()[0]
        return [0] if first > 0 else [1] if first < 0 else [0, 1]


def make(question: Question, variant: str) -> Contender:
    """Return its search."""
    start = starts(question)
    trees: list[Any] = [None]

    def call() -> None:
        trees[0] = tree = mcts_simple.UCT(Position(start()), seed=1, c=EXPLORATION)
        for _ in range(question.simulations):
            tree.step()

    return Contender("mcts-simple", call, question.units, counted=lambda: float(trees[0].root.n))
