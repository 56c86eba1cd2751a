"""The conformance vectors: explicit games with the options of a search and the visits and values it must have."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import anabranch as ab
from anabranch.games.explicit import Explicit

HERE = Path(__file__).parent


class Case(NamedTuple):
    """One case of a file.

    `options` are gamma (already the game's discount), epsilon, c_init, c_log, c_base, c_off, scale,
    first_play [name, k], w0, weights, on_transposition, rho, chance, u0, simulations. `expected` has root_visits per
    acting player and choice, root_Q per player, node_visits and node_Q by node id.
    """

    id: int
    game: Explicit
    options: dict[str, Any]
    expected: dict[str, Any]

    @property
    def evaluator(self) -> Evaluations:
        """The evaluator of the case's table."""
        return Evaluations(self.game)


@functools.cache
def _read(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return cases


def case_ids(name: str = "puct") -> list[int]:
    """Return the ids of a file's cases, for parametrised tests."""
    return [case["id"] for case in _read(name)]


def load_case(number: int, name: str = "puct", compiled: bool = False) -> Case:
    """Return one case by its id."""
    for case in _read(name):
        if case["id"] == number:
            options: Any = {"discount": case["options"]["gamma"], "compiled": compiled}
            game = Explicit(case["game"], **options)
            return Case(number, game, case["options"], case["expected"])
    raise KeyError(number)


class Evaluations:
    """An evaluator that says what a table says: its U, and the logarithms of its priors.

    `logits` is `[B, A]` where all states of a batch have one acting player each, else `[B, P, A]`; ids without a choice
    behind them get 0, which nobody may read.
    """

    def __init__(self, game: Explicit) -> None:
        self.game = game

    def evaluate(self, batch: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return (logits, values) of `batch.states`."""
        states: list[ab.State] = list(batch.states)
        logits = np.zeros((len(states), self.game.players, self.game.actions))
        values = np.zeros((len(states), self.game.players))
        movers = []
        for row, state in enumerate(states):
            assert isinstance(state.turn, tuple), f"only decisions are evaluated, found {state!r}"
            movers.append(state.turn[0])
            evaluation, priors = self.game.evaluations[self.game.id_of(state)]
            values[row] = evaluation
            for seat, prior in zip(state.turn, priors, strict=True):
                logits[row, seat, : len(prior)] = np.log(prior)
        if any(len(state.turn) > 1 for state in states if isinstance(state.turn, tuple)):
            return logits, values
        return logits[np.arange(len(states)), movers], values
