"""The package mctspy."""

from __future__ import annotations

from typing import Any

from mctspy.tree.nodes import TwoPlayersGameMonteCarloTreeSearchNode
from mctspy.tree.search import MonteCarloTreeSearch
from measure import Contender

from peers.adapters.states import sign, starts
from peers.questions import Question


class Position:
    """A state with the methods the package calls."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.next_to_move = sign(state)

    @property
    def game_result(self) -> int | None:
        """Who won: 1, −1, 0 for nobody, None while the game goes on."""
        return int(self.state.returns()[0]) if self.state.is_terminal() else None

    def is_game_over(self) -> bool:
        """Whether the game is over."""
        over: bool = self.state.is_terminal()
        return over

    def move(self, action: int) -> Position:
        """Return the state that follows."""
        return Position(self.state.child(action))

    def get_legal_actions(self) -> Any:
        """Return the legal actions."""
        return self.state.legal_actions()


def make(question: Question, variant: str) -> Contender:
    """Return its search."""
    start = starts(question)
    roots: list[Any] = [None]

    def call() -> None:
        roots[0] = TwoPlayersGameMonteCarloTreeSearchNode(Position(start()))
        MonteCarloTreeSearch(roots[0]).best_action(question.simulations)

    return Contender("mctspy", call, question.units, counted=lambda: float(roots[0].n))
