"""Games of Python objects: the same verbs as pure functions of immutable, hashable states."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError
from anabranch.game.game import Game, Rules
from anabranch.game.interpreted import (
    broken,
    checked_chances,
    checked_ids,
    checked_integer,
    checked_rewards,
    checked_turn,
    checked_values,
    draw_from,
)
from anabranch.game.random import Random


class ObjectGame(Game):
    """Any Python as rules: prototypes, adapters, teaching. States are immutable, hashable; verbs return, never write.

    setup(random) → state · turn(state) → int · legal(state, player) → ids · step(state, actions) → (state, rewards) ·
    chance(state) → [(outcome, p)] · draw(state, random) → outcome · same(state, player, action) → action ·
    key(state) → hashable · bounds(state) → (low, high) · event(state) → ints · heuristic(state) → values ·
    observe(state, player) → array
    """

    if TYPE_CHECKING:

        def setup(self, random: Random) -> Hashable: ...
        def turn(self, state: Any) -> int: ...
        def legal(self, state: Any, player: int) -> Iterable[int]: ...
        def step(self, state: Any, actions: Sequence[int]) -> tuple[Hashable, Sequence[float]]: ...

    def _seal(self, compiled: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not callable(getattr(type(self), "setup", None)):
            raise GameError(f"{self.name}: an object game needs setup(random), which returns the first state")
        super()._seal(compiled, args, kwargs)

    @cached_property
    def rules(self) -> Rules:
        return ObjectRules(self)


class ObjectRules:
    """Calls an object game's verbs and checks what they return."""

    def __init__(self, game: Any) -> None:
        self.game = game

    def setup(self, random: Random) -> Any:
        state = self.game.setup(random)
        try:
            hash(state)
        except TypeError:
            raise GameError(
                f"{self.game.name}: setup returned {type(state).__name__}, which is not hashable; states are shared "
                f"and compared, so return something that cannot change: a tuple, a frozen dataclass"
            ) from None
        return state

    def turn(self, data: Any) -> int:
        return checked_turn(self.game, self.game.turn(data))

    def legal(self, data: Any, player: int) -> list[int]:
        return checked_ids(self.game, "legal", list(self.game.legal(data, player)), self.game.actions)

    def step(self, data: Any, actions: Sequence[int]) -> tuple[Any, list[float]]:
        answer = self.game.step(data, tuple(actions))
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise broken(self.game, "step", f"step must return (state, rewards), found {answer!r}")
        state, rewards = answer
        return state, checked_rewards(self.game, rewards)

    def chance(self, data: Any) -> list[tuple[int, float]]:
        if not self.game.has("chance"):
            raise GameError(f"{self.game.name}: a chance state, but the game has no chance verb")
        return checked_chances(self.game, list(self.game.chance(data)))

    def draw(self, data: Any, random: Random) -> int:
        if self.game.has("draw"):
            return checked_integer(self.game, "draw", self.game.draw(data, random))
        return draw_from(self.chance(data), random)

    def same(self, data: Any, player: int, action: int) -> int:
        if not self.game.has("same"):
            return action
        return checked_integer(self.game, "same", self.game.same(data, player, action))

    def key(self, data: Any) -> Any:
        return self.game.key(data) if self.game.has("key") else data

    def bounds(self, data: Any) -> tuple[list[float], list[float]]:
        low, high = self.game.bounds(data)
        return [float(x) for x in low], [float(x) for x in high]

    def event(self, data: Any) -> tuple[int, ...]:
        return tuple(int(word) for word in self.game.event(data))

    def rollout_action(self, data: Any, player: int, random: Random) -> int:
        return checked_integer(self.game, "rollout_action", self.game.rollout_action(data, player, random))

    def heuristic(self, data: Any) -> list[float]:
        return checked_values(self.game, "heuristic", self.game.heuristic(data))

    def collected(self, answer: Any) -> list[float]:
        """Return what a playout collected: finite numbers, one per player."""
        return checked_values(self.game, "playout", answer)

    def observe(self, data: Any, player: int) -> npt.NDArray[np.float32]:
        planes = np.asarray(self.game.observe(data, player), dtype=np.float32)
        if planes.shape != tuple(self.game.observation):
            shapes = f"observe gave shape {planes.shape}, declared {self.game.observation}"
            raise broken(self.game, "observe", shapes)
        return planes
