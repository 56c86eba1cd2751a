"""An agent made of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anabranch.errors import AgentError, UsageError
from anabranch.game.state import State
from anabranch.play.agent import Agent, Turn


class ScriptedAgent(Agent):
    """Plays what a function of (state, seat) returns: an action id."""

    def __init__(self, function: Callable[[State, int], int], name: str | None = None) -> None:
        if not callable(function):
            raise UsageError(f"a scripted agent takes a function of (state, seat), found {function!r}")
        self.function = function
        self._name = name if name is not None else str(getattr(function, "__qualname__", type(function).__name__))

    @property
    def name(self) -> str:
        return self._name

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
