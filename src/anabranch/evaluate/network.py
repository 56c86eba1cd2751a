"""A network as an evaluator, whatever computes it: what players see goes in, evaluations in seat order come out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import EvaluatorError, UsageError, shown
from anabranch.evaluate.batch import Batch
from anabranch.evaluate.rows import game_of
from anabranch.evaluate.seats import View, checked_view, seated
from anabranch.game.game import Game

Observations = npt.NDArray[np.float32]


class NetworkEvaluator(ABC):
    """What networks share. One says what its rows are worth in `run`; the rest is here.

    Where one player acts, a row is what that player sees. Where players choose at once, a network is asked once for
    each acting player, who gets the logits; each of them values everybody, and the position's is
    their mean.
    """

    view: View
    _checked = False

    @abstractmethod
    def run(self, observations: Observations) -> tuple[Any, Any]:
        """Return (logits `[N, A]`, values) of N observations."""

    def check(self, game: Game) -> None:
        """Raise an error that says why this network cannot evaluate a game; asked once, before the first batch."""
        del game

    def evaluate(self, batch: Batch) -> tuple[Any, Any]:
        """Return (logits, values in seat order) of a batch."""
        if not self._checked:
            self.check(game_of(batch))
            self._checked = True
        if not batch.joint:
            logits, values = self._ask(batch.observations)
            return logits, self._seated(values, batch.movers, game_of(batch))
        places = [(row, seat) for row, seats in enumerate(batch.seats) for seat in seats]
        rows, movers = np.array(places, np.int64).T
        observations = batch.observations
        logits, values = self._ask(np.ascontiguousarray(observations[rows, movers]))
        if logits.ndim != 2 or len(logits) != len(rows):
            raise EvaluatorError(f"logits have shape {logits.shape}, expected a row for each of {len(rows)} players")
        values = self._seated(values, movers, game_of(batch))
        spread = np.zeros((len(batch), observations.shape[1], logits.shape[1]), logits.dtype)
        spread[rows, movers] = logits
        total = np.zeros((len(batch), values.shape[1]), np.float64)
        np.add.at(total, rows, values)
        return spread, total / np.bincount(rows, minlength=len(batch))[:, None]

    def _seated(self, values: npt.NDArray[Any], movers: npt.NDArray[np.int64], game: Game) -> npt.NDArray[Any]:
        """Return values in seat order; one number a row, where there are two players, is told from a slip."""
        if self.view != "scalar" and game.players == 2 and values.size == len(movers):
            raise EvaluatorError(
                f"{self}: values have shape {values.shape}, expected {(len(movers), 2)}, the mover's and the other "
                "player's; view='scalar' is for a network that answers with the mover's alone"
            )
        return seated(values, movers, self.view)

    def _ask(self, observations: Observations) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        answer = self.run(observations)
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise EvaluatorError(f"{self} must return (logits, values), found {type(answer).__name__}")
        logits, values = (np.asarray(part) for part in answer)
        if values.shape[:1] != (len(observations),):
            raise EvaluatorError(
                f"{self}: values have shape {values.shape}, expected a row of each of {len(observations)} observations"
            )
        return logits, values


class Network(NetworkEvaluator):
    """Any function `observations [N, …] → (logits [N, A], values [N, P])` of NumPy arrays as an evaluator.

    `view` says how the function speaks: "mover" for values of (me, next, …), the usual way; "seats" for player 0 first;
    "scalar" for one number a row, the mover's, in a game of two players where one wins what the other loses.
    """

    def __init__(self, function: Callable[[Observations], tuple[Any, Any]], *, view: str = "mover") -> None:
        if not callable(function) or isinstance(function, type):
            raise UsageError(f"Network takes a function of observations, found {shown(function)}")
        self.function = function
        self.view = checked_view(view)

    def run(self, observations: Observations) -> tuple[Any, Any]:
        return self.function(observations)

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return f"Network({name})"
