"""The package multimcts: a tree in Cython over a user's states."""

from __future__ import annotations

from typing import Any

from measure import Contender
from multimcts import MCTS

from peers.adapters import EXPLORATION
from peers.adapters.states import starts
from peers.questions import Question


class Position:
    """A state with the methods the package calls.

    Not a subclass of its GameState: that one's own `suggest_move` returns None, and is called where it exists.
    """

    __slots__ = ("state",)

    def __init__(self, state: Any) -> None:
        self.state = state

    def get_current_team(self) -> int:
        """Return who acts."""
        player: int = self.state.current_player()
        return player

    def get_legal_moves(self) -> Any:
        """Return the legal actions."""
        return self.state.legal_actions()

    def make_move(self, move: int) -> Position:
        """Return the state that follows."""
        return Position(self.state.child(move))

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        over: bool = self.state.is_terminal()
        return over

    def get_reward(self) -> dict[int, float]:
        """Return what each player got."""
        first, second = self.state.returns()
        return {0: first, 1: second}


def make(question: Question, variant: str) -> Contender:
    """Return its search."""
    bot = MCTS(exploration_bias=EXPLORATION)
    start = starts(question)
    found: list[Any] = [None]

    def call() -> None:
        found[0] = bot.search(Position(start()), max_iterations=question.simulations, return_type="node")

    return Contender("multimcts", call, question.units, counted=lambda: float(found[0].get_parent().get_visits()))
