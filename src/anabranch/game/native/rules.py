"""The verbs of one instance, run natively; what goes wrong there is shown as it happens interpreted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from anabranch import _native
from anabranch.errors import GameError, MismatchError
from anabranch.game.interpreted import InterpretedRules, draw_from
from anabranch.game.native.unit import load_unit
from anabranch.game.random import Random
from anabranch.game.words import VERBS

if TYPE_CHECKING:
    from anabranch.game.native.loader import Loaded

APART = ("heuristic", "observe")  # compiled when first asked for: rules are ready sooner, and many searches never ask


class NativeRules:
    """Compiled verbs over record bytes, checked as strictly as interpreted ones.

    A native call that raised or broke a promise answers None. It is then repeated interpreted on the same bytes, so the
    user sees the exception of their own line; if nothing is raised there, compiled and interpreted play differ, and
    that is the error.
    """

    def __init__(self, game: Any) -> None:
        self.game = game
        self.interpreted = InterpretedRules(game)
        self.native = _native.Rules(
            game.instance.tobytes(),
            state_size=game.state.itemsize,
            key_size=game.key_record.itemsize if game.has("key") else 0,
            planes=int(np.prod(game.observation)) if game.has("observe") else 0,
            players=game.players,
            actions=game.actions,
            outcomes=game.outcomes,
        )
        self._load(verb for verb in VERBS if game.has(verb) and verb not in APART)
        self._has_key, self._has_same, self._has_draw = game.has("key"), game.has("same"), game.has("draw")
        self._apart: set[str] = set()

    @cached_property
    def rollout(self) -> Loaded:
        """A whole random game as one function; compiled when first asked for."""
        from anabranch.game.native.rollout import load_rollout

        return load_rollout(self.game)

    def _load(self, verbs: Any) -> None:
        loaded = load_unit(self.game, verbs)
        for verb, address in loaded.addresses.items():
            self.native.set(verb, address, loaded.owner)

    def setup(self, random: Random) -> bytes:
        answer = self.native.setup(random.word)
        if answer is None:
            self._repeat("setup", Random(random.word))
        data, random.word = answer
        return data

    def turn(self, data: bytes) -> int:
        turn = self.native.turn(data)
        if turn is None:
            self._repeat("turn", data)
        return turn

    def legal(self, data: bytes, player: int) -> list[int]:
        actions = self.native.legal(data, player)
        if actions is None:
            self._repeat("legal", data, player)
        return actions

    def step(self, data: bytes, actions: Sequence[int]) -> tuple[bytes, list[float]]:
        answer = self.native.step(data, actions)
        if answer is None:
            self._repeat("step", data, actions)
        return answer

    def chance(self, data: bytes) -> list[tuple[int, float]]:
        if not self.game.has("chance"):
            raise GameError(f"{self.game.name}: a chance state, but the game has no chance verb")
        pairs = self.native.chance(data)
        if pairs is None:
            self._repeat("chance", data)
        return pairs

    def draw(self, data: bytes, random: Random) -> int:
        if not self._has_draw:
            return draw_from(self.chance(data), random)
        answer = self.native.draw(data, random.word)
        if answer is None:
            self._repeat("draw", data, Random(random.word))
        outcome, random.word = answer
        return outcome

    def same(self, data: bytes, player: int, action: int) -> int:
        if not self._has_same:
            return action
        representative = self.native.same(data, player, action)
        if representative is None:
            self._repeat("same", data, player, action)
        return representative

    def key(self, data: bytes) -> bytes:
        if not self._has_key:
            return data
        key = self.native.key(data)
        if key is None:
            self._repeat("key", data)
        return key

    def bounds(self, data: bytes) -> tuple[list[float], list[float]]:
        answer = self.native.bounds(data)
        if answer is None:
            self._repeat("bounds", data)
        return answer

    def event(self, data: bytes) -> tuple[int, ...]:
        words = self.native.event(data)
        if words is None:
            self._repeat("event", data)
        return words

    def rollout_action(self, data: bytes, player: int, random: Random) -> int:
        answer = self.native.rollout_action(data, player, random.word)
        if answer is None:
            self._repeat("rollout_action", data, player, Random(random.word))
        action, random.word = answer
        return action

    def prepare(self, verb: str) -> None:
        """Compile a verb that is compiled apart, unless that was done."""
        if verb not in self._apart:
            self._load((verb,))
            self._apart.add(verb)

    def heuristic(self, data: bytes) -> list[float]:
        self.prepare("heuristic")
        values = self.native.heuristic(data)
        if values is None:
            self._repeat("heuristic", data)
        return values

    def observe(self, data: bytes, player: int) -> npt.NDArray[np.float32]:
        self.prepare("observe")
        planes = np.zeros(self.game.observation, np.float32)
        if not self.native.observe(data, player, planes):
            self._repeat("observe", data, player)
        return planes

    def _repeat(self, verb: str, *arguments: Any) -> NoReturn:
        """Raise what the same call raises interpreted."""
        answer = getattr(self.interpreted, verb)(*arguments)
        raise MismatchError(
            f"{self.game.name}: compiled and interpreted play differ: {verb} failed compiled, but interpreted it gave "
            f"{answer!r}; usual causes are numbers beyond 64 bits and uint64 mixed with signed integers; "
            f"the arguments were {arguments!r}"
        )
