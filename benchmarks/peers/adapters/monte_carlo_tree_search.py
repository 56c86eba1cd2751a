"""The package monte-carlo-tree-search (imported as `mcts`)."""

from __future__ import annotations

from typing import Any

from mcts.base.base import BaseState
from mcts.searcher.mcts import MCTS
from measure import Contender

from peers.adapters import EXPLORATION
from peers.adapters.states import sign, starts
from peers.questions import Question


class Position(BaseState):  # type: ignore[misc]
    """A state with the methods the package calls."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def get_current_player(self) -> int:
        """Return 1 or −1."""
        return sign(self.state)

    def get_possible_actions(self) -> Any:
        """Return the legal actions."""
        return self.state.legal_actions()

    def take_action(self, action: int) -> Position:
        """Return the state that follows."""
        return Position(self.state.child(action))

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        over: bool = self.state.is_terminal()
        return over

    def get_reward(self) -> float:
        """Return what the first player got."""
        reward: float = self.state.returns()[0]
        return reward


def no_rollout(state: Position) -> float:
    """Return 0 where the game goes on: the evaluator that costs nothing."""
    return state.get_reward() if state.is_terminal() else 0.0


def make(question: Question, variant: str) -> Contender:
    """Return its search."""
    policy = {} if question.evaluator == "rollout" else {"rollout_policy": no_rollout}
    bot = MCTS(iteration_limit=question.simulations, exploration_constant=EXPLORATION, **policy)
    start = starts(question)
    return Contender(
        "monte-carlo-tree-search",
        lambda: bot.search(Position(start())),
        question.units,
        counted=lambda: float(bot.root.numVisits),
    )
