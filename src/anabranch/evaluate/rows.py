"""What evaluators around other evaluators need: some rows of a batch, what a row is known by, a checked answer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import EvaluatorError, UsageError
from anabranch.evaluate.batch import Batch, Evaluator
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game
from anabranch.game.state import State

Array = npt.NDArray[Any]


def game_of(batch: Batch) -> Game:
    """Return the game a batch is about, without making states where the batch knows better."""
    game: Game | None = getattr(batch, "game", None)
    return batch.states[0].game if game is None else game


def identities(batch: Batch) -> Sequence[Hashable]:
    """Return what each row is known by: the bytes of its record, or the state of an object game itself.

    A batch may say so itself (`identities`), or have its records as one array (`records`, `[B, bytes]`).
    """
    known: Sequence[Hashable] | None = getattr(batch, "identities", None)
    if known is not None:
        return known
    records: npt.NDArray[np.uint8] | None = getattr(batch, "records", None)
    if records is None:
        return [state.data for state in batch.states]
    data, size = records.tobytes(), records.shape[1]
    return [data[start : start + size] for start in range(0, len(data), size)]


class Rows(Batch):
    """Some rows of another batch, for an evaluator whose answers are kept: it may read only what a state decides."""

    def __init__(self, whole: Batch, chosen: Sequence[int]) -> None:
        vars(self).update(whole=whole, chosen=chosen, game=game_of(whole))

    whole: Batch
    chosen: Sequence[int]
    game: Game

    def __len__(self) -> int:
        return len(self.chosen)

    @cached_property
    def states(self) -> Sequence[State]:
        """The states of these rows."""
        return [self.whole.states[row] for row in self.chosen]

    @property
    def keys(self) -> Sequence[int]:
        """The node keys of these rows, where states decide them."""
        if not isinstance(self.game, CompiledGame):
            raise UsageError(
                f"this evaluator reads batch.keys, and in {self.game.name}, an object game, those depend on the way to "
                f"a state: answers made of them cannot be cached; leave Cached out"
            )
        return [self.whole.keys[row] for row in self.chosen]

    @property
    def seeds(self) -> Sequence[int]:
        """Nothing: what depends on a search's seed is not to be kept."""
        raise UsageError(
            "this evaluator reads batch.seeds: its answers belong to one search's seed and not to a state, so they "
            "cannot be cached; leave Cached out"
        )

    @cached_property
    def seats(self) -> list[tuple[int, ...]]:
        """The acting players of these rows."""
        return [self.whole.seats[row] for row in self.chosen]

    @property
    def joint(self) -> bool:
        """Whether the whole batch has a row per player, whichever rows were chosen."""
        return self.whole.joint

    @cached_property
    def movers(self) -> npt.NDArray[np.int64]:
        """The first acting player of these rows."""
        return self.whole.movers[self.chosen]

    @cached_property
    def legal(self) -> npt.NDArray[np.bool_]:
        """Which ids are legal in these rows."""
        return super().legal if self._lazily("legal") else self.whole.legal[self.chosen]

    @cached_property
    def observations(self) -> npt.NDArray[np.float32]:
        """What is seen in these rows."""
        return super().observations if self._lazily("observations") else self.whole.observations[self.chosen]

    @cached_property
    def identities(self) -> list[Hashable]:
        """What these rows are known by."""
        known = identities(self.whole)
        return [known[row] for row in self.chosen]

    def _lazily(self, name: str) -> bool:
        """Whether to make it for these states alone: a plain batch would make it for every row, state by state."""
        return type(self.whole) is Batch and name not in vars(self.whole)


def ask(evaluator: Evaluator, batch: Batch) -> tuple[Array | None, Array]:
    """Return an evaluator's (logits, values) as arrays of the right shapes; what they hold is checked by the search."""
    answer = evaluator.evaluate(batch)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise EvaluatorError(f"evaluate must return (logits, values), found {type(answer).__name__}")
    game, rows = game_of(batch), len(batch)
    values = _numbers("values", answer[1])
    if values.shape != (rows, game.players):
        raise EvaluatorError(f"values have shape {values.shape}, expected {(rows, game.players)}")
    if answer[0] is None:
        return None, values
    logits = _numbers("logits", answer[0])
    single, several = (rows, game.actions), (rows, game.players, game.actions)
    if logits.shape != several and (logits.shape != single or batch.joint):
        expected = several if batch.joint else f"{single} or {several}"
        raise EvaluatorError(f"logits have shape {logits.shape}, expected {expected}")
    return logits, values


def _numbers(name: str, given: Any) -> Array:
    array = np.asarray(given)
    if array.dtype.kind not in "fiu":
        raise EvaluatorError(f"{name} have type {array.dtype}, expected real numbers")
    return array
