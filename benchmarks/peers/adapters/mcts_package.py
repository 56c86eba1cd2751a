"""The package `mcts`, whose module hides behind monte-carlo-tree-search's of the same name: loaded by its file."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from typing import Any

from measure import Contender

from peers.adapters import EXPLORATION
from peers.adapters.states import sign, starts
from peers.questions import Question


class Position:
    """A state with the methods the package calls."""

    __slots__ = ("state",)

    def __init__(self, state: Any) -> None:
        self.state = state

    def getCurrentPlayer(self) -> int:  # noqa: N802
        """Return 1 or −1."""
        return sign(self.state)

    def getPossibleActions(self) -> Any:  # noqa: N802
        """Return the legal actions."""
        return self.state.legal_actions()

    def takeAction(self, action: int) -> Position:  # noqa: N802
        """Return the state that follows."""
        return Position(self.state.child(action))

    def isTerminal(self) -> bool:  # noqa: N802
        """Whether the game is over."""
        over: bool = self.state.is_terminal()
        return over

    def getReward(self) -> float:  # noqa: N802
        """Return what the first player got."""
        reward: float = self.state.returns()[0]
        return reward


def module() -> Any:
    """Load mcts.py of the distribution `mcts`."""
    [file] = [file for file in importlib.metadata.files("mcts") or () if str(file) == "mcts.py"]
    spec = importlib.util.spec_from_file_location("mcts_1", str(file.locate()))
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def no_rollout(state: Position) -> float:
    """Return 0 where the game goes on: the evaluator that costs nothing."""
    return state.getReward() if state.isTerminal() else 0.0


def make(question: Question, variant: str) -> Contender:
    """Return its search."""
    policy = {} if question.evaluator == "rollout" else {"rolloutPolicy": no_rollout}
    bot = module().mcts(iterationLimit=question.simulations, explorationConstant=EXPLORATION, **policy)
    start = starts(question)
    return Contender(
        "mcts",
        lambda: bot.search(Position(start())),
        question.units,
        counted=lambda: float(bot.root.numVisits),
    )
