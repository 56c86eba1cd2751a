"""An agent made of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anabranch.errors import AgentError, UsageError
from anabranch.evaluate.contents import origin
from anabranch.game.state import State
from anabranch.play.agent import Agent, Turn, ask


class ScriptedAgent(Agent):
    """Plays what a function of (state, seat) returns: an action id."""

    def __init__(self, function: Callable[[State, int], int], name: str | None = None) -> None:
        if not callable(function):
            raise UsageError(f"a scripted agent takes a function of (state, seat), found {function!r}")
        self.function = function
        self.label = name

    @property
    def name(self) -> str:
        """The name it was given, else that of the function, with its file if it was loaded from one."""
        if self.label is not None:
            return self.label
        where, _, name = origin(self.function).rpartition(":")
        return f"{where}:{name}" if where.endswith(".py") else name

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        chosen = []
        for turn in turns:
            try:
                chosen.append(self.function(turn.state, turn.seat))
            except Exception as error:
                raise AgentError(
                    f"{self.name} raised {type(error).__name__}: {error}\nin seat {turn.seat}, after {turn.where()}"
                ) from error
        return chosen

    def probabilities(self, turns: Sequence[Turn]) -> list[dict[int, float]]:
        """Return that it plays what the function says, always."""
        return [{action: 1.0} for action in ask(self, turns)]
