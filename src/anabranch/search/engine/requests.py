"""A batch in the engine's memory: columns of the states that a wave asks about, made into more only when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from anabranch.errors import MismatchError, UsageError
from anabranch.evaluate.batch import Batch
from anabranch.evaluate.native import Rollout
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.game.words import acting, no_observations
from anabranch.search.engine.native import native_evaluator

OUTSIDE = -2  # as the engine says it
Twins: TypeAlias = dict[tuple[Rollout, int], tuple[Any, Any]]  # of rollouts of a game: the engine's, and their owner


class Requests(Batch):
    """What roots ask. States are made only for evaluators that look at them; observations come straight from rules."""

    def __init__(
        self, native: Any, games: Sequence[Game], kinds: Sequence[Game], within: tuple[float, float], twins: Twins
    ) -> None:
        game = games[native.first_root]
        vars(self).update(native=native, games=games, kinds=kinds, within=within, twins=twins, outside=False, game=game)

    native: Any
    games: Sequence[Game]  # of all roots, of which some ask
    kinds: Sequence[Game]  # the different ones among them
    within: tuple[float, float]  # where values may lie
    twins: Twins  # of rollouts that earlier batches asked for, too
    outside: bool  # whether one of the answer's did not; known once it was checked
    game: Game

    def __len__(self) -> int:
        return len(self.native)

    @cached_property
    def _compiled(self) -> bool:
        return isinstance(self.game, CompiledGame) and self.game.compiled

    @cached_property
    def records(self) -> npt.NDArray[np.uint8] | None:
        """The bytes of every state, `[B, bytes]`; None for object games."""
        records: npt.NDArray[np.uint8] = self.native.records
        return records if isinstance(self.game, CompiledGame) else None

    @cached_property
    def games_of_rows(self) -> list[Game]:
        """The game each row belongs to: instances may differ in contents."""
        asking = [self.games[root] for root in self.native.roots]
        return [asking[place] for place in self.native.root_of_rows]

    @cached_property
    def states(self) -> Sequence[State]:
        """The states themselves."""
        if self.records is None:
            found: list[Any] = self.native.states
        else:
            data, size = self.records.tobytes(), self.records.shape[1]
            found = [data[start : start + size] for start in range(0, len(data), size)]
        return [State(game, each) for game, each in zip(self.games_of_rows, found, strict=True)]

    @cached_property
    def keys(self) -> Sequence[int]:
        """The node key of each state."""
        keys: list[int] = self.native.keys.tolist()
        return keys

    @cached_property
    def seeds(self) -> Sequence[int]:
        """A seed for every row."""
        seeds: list[int] = self.native.seeds.tolist()
        return seeds

    @cached_property
    def turns(self) -> npt.NDArray[np.int64]:
        """The acting players of each state, as bits."""
        turns: npt.NDArray[np.int64] = self.native.turns
        return turns

    @cached_property
    def seats(self) -> list[tuple[int, ...]]:
        """The acting players of each state."""
        return [acting(turn) for turn in self.turns.tolist()]

    @cached_property
    def joint(self) -> bool:
        """Whether players choose at once anywhere in this batch."""
        return bool(self.native.joint)

    def can_use(self, logits: npt.NDArray[Any] | None, values: npt.NDArray[Any]) -> bool:
        """Whether an answer's numbers are finite, but for masks of illegal ids, and none is too large."""
        found = self.native.first_bad(logits, values, *self.within)
        vars(self)["outside"] = found == OUTSIDE
        return bool(found < 0)

    @cached_property
    def movers(self) -> npt.NDArray[np.int64]:
        """The first acting player of each state."""
        movers: npt.NDArray[np.int64] = self.native.movers
        return movers

    @cached_property
    def legal(self) -> npt.NDArray[np.bool_]:
        """Which ids are legal."""
        if not self._compiled:
            return super().legal
        mask, failed = self.native.legal(self.joint)
        if failed >= 0:
            self._repeat(failed, "legal")
        shape = (len(self), self.game.players, self.game.actions) if self.joint else (len(self), self.game.actions)
        shaped: npt.NDArray[np.bool_] = mask.reshape(shape)
        return shaped

    @cached_property
    def observations(self) -> npt.NDArray[np.float32]:
        """What is seen, written by the compiled rules straight into the array."""
        if not self._compiled:
            return super().observations
        if not self.game.has("observe"):
            raise UsageError(no_observations(self.game.name))
        for game in self.kinds:
            game.rules.prepare("observe")  # type: ignore[attr-defined]
        planes, failed = self.native.observe(self.joint)
        if failed >= 0:
            self._repeat(failed, "observe")
        rows = (len(self), self.game.players) if self.joint else (len(self),)
        shaped: npt.NDArray[np.float32] = planes.reshape((*rows, *tuple(self.game.observation or ())))
        return shaped

    def rolled_out(self, how: Rollout) -> npt.NDArray[np.float64]:
        """Return the mean of rollouts from each state, by compiled rules where these are compiled."""
        if not self._compiled or (len(self.kinds) > 1 and self._differently_rolled_out):
            return super().rolled_out(how)
        asked = how, id(self.game)  # which lives as long as the drive whose twins they are
        if asked not in self.twins:
            self.twins[asked] = native_evaluator(how, self.game)
        means, failed = self.native.roll_out(self.twins[asked][0], self.game.discount)
        if failed >= 0:
            return super().rolled_out(how)  # which finds where
        found: npt.NDArray[np.float64] = means
        return found

    @property
    def _differently_rolled_out(self) -> bool:
        return len({game.rules.rollout.addresses["rollout"] for game in self.kinds}) > 1  # type: ignore[attr-defined]

    def _repeat(self, row: int, verb: str) -> None:
        """Call a verb again that failed inside the engine: the user's own exception comes out."""
        state = self.states[row]
        for seat in range(self.game.players) if self.joint else self.seats[row][:1]:
            getattr(state, verb)(seat)
        raise MismatchError(
            f"{self.game.name}: {verb} failed for a batch, but not when it was called again on the same state; rules "
            f"must be functions of their state alone. The state:\n{state}"
        )
