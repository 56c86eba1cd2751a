"""An agent that plays what an oracle says."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.play.agent import Agent, Turn
from anabranch.play.names import read_options
from anabranch.search.exact.oracle import Oracle, oracle


class OracleAgent(Agent):
    """Plays the best choice, the lowest id of those that are equally good.

    The oracle is the one given, or that of the first game it is asked to play; `goal="points"` lets it play Yatzy for
    points where others play to win.
    """

    def __init__(self, given: Oracle | None = None, *, goal: str | None = None) -> None:
        self.oracle, self.goal = given, goal

    @property
    def name(self) -> str:
        return "oracle" if self.goal is None else f"oracle:goal={self.goal}"

    def check(self, game: Game) -> None:
        if self.oracle is None:
            self.oracle = oracle(game, goal=self.goal)
        if self.oracle.game != game:
            raise UsageError(f"this agent knows {self.oracle.game!r}, and is to play {game!r}; give each game its own")

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        states = [turn.state for turn in turns]
        self.check(states[0].game)
        assert self.oracle is not None
        return self.oracle.best_of(states)

    def probabilities(self, turns: Sequence[Turn]) -> list[dict[int, float]]:
        """Return that it plays the best choice, always."""
        return [{action: 1.0} for action in self.choose(turns)]


def make_oracle(text: str) -> Agent:
    """Make the agent called `oracle`, with `goal=points` or without."""
    return OracleAgent(**read_options(text, ["goal"], "oracle"))
