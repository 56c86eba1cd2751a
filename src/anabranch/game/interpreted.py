"""A compiled game's verbs run as ordinary Python: for debugging, for `check`, and to find the user's own exception."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError
from anabranch.game.random import Random, uniform
from anabranch.game.record import RecordView, cells
from anabranch.game.words import CHANCE, EVENT_WORDS

LARGEST_REWARD = float(np.finfo(np.float32).max)


class InterpretedRules:
    """Verbs of one instance over record bytes; what they return is checked as strictly as compiled play checks it."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.layout: np.dtype[np.void] = game.state

    def _view(self, data: bytes | None = None) -> RecordView:
        return RecordView(self.layout, bytearray(data if data is not None else self.layout.itemsize))

    def setup(self, random: Random) -> bytes:
        view = self._view()
        if self.game.has("setup"):
            self.game.setup(view, random)
        return bytes(view)

    def turn(self, data: bytes) -> int:
        return checked_turn(self.game, self.game.turn(self._view(data)))

    def legal(self, data: bytes, player: int) -> list[int]:
        buffer = cells(np.zeros(self.game.actions, np.int32))
        return _written(
            self.game, "legal", buffer, self.game.legal(self._view(data), player, buffer), self.game.actions
        )

    def step(self, data: bytes, actions: Sequence[int]) -> tuple[bytes, list[float]]:
        view, rewards = self._view(data), np.zeros(self.game.players)
        answer: Any = self.game.step(view, cells(np.array(actions, np.int32)), rewards)
        if answer is not None:
            must = "step works in place and returns nothing: change state.field, write into rewards[player]"
            raise broken(self.game, "step", f"{must}; it returned {answer!r}")
        return bytes(view), checked_rewards(self.game, rewards)

    def chance(self, data: bytes) -> list[tuple[int, float]]:
        if not self.game.has("chance"):
            raise GameError(f"{self.game.name}: a chance state, but the game has no chance verb")
        outcomes, chances = cells(np.zeros(self.game.outcomes, np.int32)), np.zeros(self.game.outcomes)
        count = self.game.chance(self._view(data), outcomes, chances)
        ids = _written(self.game, "chance", outcomes, count, None)
        return checked_chances(self.game, list(zip(ids, chances[: len(ids)].tolist(), strict=True)))

    def draw(self, data: bytes, random: Random) -> int:
        if self.game.has("draw"):
            return checked_integer(self.game, "draw", self.game.draw(self._view(data), random))
        return draw_from(self.chance(data), random)

    def same(self, data: bytes, player: int, action: int) -> int:
        if not self.game.has("same"):
            return action
        return checked_integer(self.game, "same", self.game.same(self._view(data), player, action))

    def key(self, data: bytes) -> bytes:
        if not self.game.has("key"):
            return data
        view = RecordView(self.game.key_record, bytearray(self.game.key_record.itemsize))
        self.game.key(self._view(data), view)
        return bytes(view)

    def bounds(self, data: bytes) -> tuple[list[float], list[float]]:
        low, high = np.zeros(self.game.players), np.zeros(self.game.players)
        self.game.bounds(self._view(data), low, high)
        return low.tolist(), high.tolist()

    def event(self, data: bytes) -> tuple[int, ...]:
        words = cells(np.zeros(EVENT_WORDS, np.int64))
        self.game.event(self._view(data), words)
        return tuple(words.tolist())

    def rollout_action(self, data: bytes, player: int, random: Random) -> int:
        answer = self.game.rollout_action(self._view(data), player, random)
        return checked_integer(self.game, "rollout_action", answer)

    def heuristic(self, data: bytes) -> list[float]:
        values = np.zeros(self.game.players)
        self.game.heuristic(self._view(data), values)
        return checked_values(self.game, "heuristic", values)

    def observe(self, data: bytes, player: int) -> npt.NDArray[np.float32]:
        planes = np.zeros(self.game.observation, np.float32)
        self.game.observe(self._view(data), player, planes)
        return planes


# What rules may return; compiled play and object games are held to the same.


def broken(game: Any, verb: str, what: str) -> GameError:
    """Return the error of a verb that answered nonsense; nothing was raised in it, so its first line is the place."""
    code = getattr(getattr(type(game), verb, None), "__code__", None)
    place = f" ({verb} is at {code.co_filename}:{code.co_firstlineno})" if code else ""
    return GameError(f"{game.name}: {what}{place}")


def checked_turn(game: Any, turn: Any) -> int:
    """Return a turn that names OVER, CHANCE or existing players."""
    if not isinstance(turn, (int, np.integer)) or not CHANCE <= turn < 1 << game.players:
        must = f"it must be ab.OVER, ab.CHANCE, or ab.player(i) with i < {game.players}"
        raise broken(game, "turn", f"turn returned {turn!r}; {must}")
    return int(turn)


def checked_integer(game: Any, verb: str, answer: Any) -> int:
    """Return an answer that is an id, an integer of 32 bits; None and floats are slips."""
    if not isinstance(answer, (int, np.integer)):
        raise broken(game, verb, f"{verb} must return an integer, found {answer!r}")
    if not -(2**31) <= answer < 2**31:
        raise broken(game, verb, f"{verb} must return an integer of 32 bits, found {answer}")
    return int(answer)


def checked_values(game: Any, verb: str, answer: Any) -> list[float]:
    """Return what a state is worth: finite numbers, one per player."""
    values = [float(x) for x in answer]
    if len(values) != game.players or not all(map(math.isfinite, values)):
        raise broken(game, verb, f"{verb} must give {game.players} finite numbers, found {values}")
    return values


def checked_ids(game: Any, verb: str, ids: Sequence[Any], limit: int | None) -> list[int]:
    """Return ids that ascend strictly and stay below the limit."""
    for previous, current in zip([-1, *ids], ids, strict=False):
        if not previous < current:
            raise broken(game, verb, f"{verb} must write ids from 0 up, strictly ascending, found {list(ids)}")
    if limit is not None and ids and ids[-1] >= limit:
        raise broken(game, verb, f"{verb} wrote id {ids[-1]}, but ids must be below {limit}")
    return [int(i) for i in ids]


def checked_rewards(game: Any, rewards: Any) -> list[float]:
    """Return finite rewards, one per player; they are kept in float32, so that is how large they may be."""
    try:
        values = [float(x) for x in rewards]
    except TypeError:
        raise broken(game, "step", f"step must give {game.players} rewards, found {rewards!r}") from None
    if len(values) != game.players or not all(map(math.isfinite, values)):
        raise broken(game, "step", f"step must give {game.players} finite rewards, found {values}")
    if not all(abs(x) <= LARGEST_REWARD for x in values):
        raise broken(
            game,
            "step",
            f"step gave the rewards {values}: finite, but larger than {LARGEST_REWARD:.3g}, the largest float32, which "
            f"is what rewards are kept in; pay smaller ones, e.g. between -1 and 1",
        )
    return values


def checked_chances(game: Any, pairs: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return a distribution: distinct outcomes, positive probabilities, sum 1 to 1e-6."""
    if not pairs or not all(p > 0.0 for _, p in pairs) or abs(sum(p for _, p in pairs) - 1.0) > 1e-6:
        raise broken(game, "chance", f"chance must give positive probabilities that sum to 1, found {pairs}")
    if len({outcome for outcome, _ in pairs}) < len(pairs):
        raise broken(game, "chance", f"chance listed an outcome twice: {pairs}")
    return [(int(outcome), float(p)) for outcome, p in pairs]


def draw_from(pairs: Sequence[tuple[int, float]], random: Random) -> int:
    """Return the first outcome whose cumulative probability exceeds a uniform draw, the last if none does."""
    threshold, total = uniform(random), 0.0
    for outcome, p in pairs:
        total += p
        if total > threshold:
            return outcome
    return pairs[-1][0]


def _written(game: Any, verb: str, buffer: Any, count: Any, limit: int | None) -> list[int]:
    """Return the ids a verb wrote into its buffer, given how many it claims."""
    if not isinstance(count, (int, np.integer)) or not 0 <= count <= len(buffer):
        must = f"it must return how many it wrote, 0 to {len(buffer)}"
        raise broken(game, verb, f"{verb} returned {count!r}; {must}")
    ids = buffer[: int(count)].tolist()
    return checked_ids(game, verb, ids, limit) if limit is not None else [int(i) for i in ids]
