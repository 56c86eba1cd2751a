"""What an evaluator is asked and what it may answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from anabranch.errors import EvaluatorError, UsageError
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.game.words import acting

Floats: TypeAlias = npt.NDArray[np.float64]
Answer: TypeAlias = tuple[Any, Any]
LARGEST = 1e100  # of a value; means of millions of them stay finite


@dataclass(frozen=True)
class Batch:
    """Decision states that need an evaluation. Everything but `states` is made when first asked for."""

    states: Sequence[State]
    keys: Sequence[int]  # the node key of each state
    seeds: Sequence[int] = ()  # mixed with its node key, a row's seed gives an evaluator numbers of its own

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, index: Any) -> NoReturn:
        """Say what to do with a function of observations, which takes a batch for an array."""
        raise TypeError(
            "a batch of states is no array: batch.observations is one; "
            "a function of observations becomes an evaluator by ab.Network(function)"
        )

    @cached_property
    def game(self) -> Game:
        """The game of the first state; others may be instances with other contents, but of equal sizes."""
        return self.states[0].game

    @cached_property
    def seats(self) -> list[tuple[int, ...]]:
        """The acting players of each state."""
        return [acting(state.turn_bits) for state in self.states]

    @property
    def joint(self) -> bool:
        """Whether players choose at once anywhere in this batch: then there is one row of logits per player."""
        return any(len(seats) > 1 for seats in self.seats)

    def can_use(self, logits: npt.NDArray[Any] | None, values: npt.NDArray[Any]) -> bool:
        """Whether an answer's numbers are all finite and none too large; masks are looked at where not."""
        fits = bool((np.abs(values, dtype=np.float64) <= LARGEST).all())
        return fits and (logits is None or bool(np.isfinite(logits).all()))

    @cached_property
    def movers(self) -> npt.NDArray[np.int64]:
        """The first acting player of each state."""
        return np.array([seats[0] for seats in self.seats], np.int64)

    @cached_property
    def legal(self) -> npt.NDArray[np.bool_]:
        """Which ids are legal: `[B, A]` for the mover, `[B, P, A]` where players choose at once."""
        game = self.game
        mask = np.zeros((len(self), game.players, game.actions), np.bool_)
        for row, (state, seats) in enumerate(zip(self.states, self.seats, strict=True)):
            for seat in seats:
                mask[row, seat, state.legal(seat)] = True
        return mask if self.joint else mask[np.arange(len(self)), self.movers]

    @cached_property
    def observations(self) -> npt.NDArray[np.float32]:
        """What the mover sees, `[B, …]`; where players choose at once, what each player sees, `[B, P, …]`."""
        if self.joint:
            players = range(self.game.players)
            return np.stack([np.stack([state.observe(p) for p in players]) for state in self.states])
        return np.stack([state.observe(int(p)) for state, p in zip(self.states, self.movers, strict=True)])

    def rolled_out(self, how: Any) -> npt.NDArray[np.float64]:
        """Return the mean of rollouts (an `ab.Rollout`) from each state, `[B, P]`."""
        means: npt.NDArray[np.float64] = how.evaluate(self)[1]
        return means


@runtime_checkable
class Evaluator(Protocol):
    """Positions in, (logits, values) out.

    `logits` is `[B, A]` for one acting player or `[B, P, A]`, or None where every choice is equally likely; `values` is
    `[B, P]` in seat order: the return each player can still expect.
    """

    def evaluate(self, batch: Batch) -> Answer: ...


class Function:
    """A plain function `batch → (logits, values)` as an evaluator."""

    def __init__(self, function: Callable[[Batch], Answer]) -> None:
        self.function = function

    def evaluate(self, batch: Batch) -> Answer:
        return self.function(batch)


def as_evaluator(given: Any) -> Evaluator:
    """Return an evaluator for an object with `evaluate`, a torch module, any function of a batch, or a name."""
    if isinstance(given, str):
        from anabranch.evaluate.load import load  # which needs this module

        return load(given)
    if isinstance(given, type):
        raise UsageError(f"an evaluator is an object, found the class {given.__name__}; make one: {given.__name__}()")
    if isinstance(given, Evaluator):
        return given
    if _is_torch_module(given):
        from anabranch.evaluate.torch import Torch  # which needs this module, and torch

        return Torch(given)
    if callable(given):
        return Function(given)
    raise UsageError(
        f"an evaluator has evaluate(batch) or is a function of a batch, or a name; found {type(given).__name__}"
    )


def has_priors(evaluator: Any) -> bool:
    """Whether an evaluator, or the one inside it, may prefer some choices to others; those that never do say so."""
    while evaluator is not None:
        if hasattr(evaluator, "priors"):
            return bool(evaluator.priors)
        evaluator = getattr(evaluator, "evaluator", None)
    return True


def _is_torch_module(given: Any) -> bool:
    """Whether something is a torch module; whoever has one has imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(given, torch.nn.Module)


@dataclass(frozen=True)
class Evaluation:
    """What an evaluator thinks of one state: logits over action ids per acting player (None: uniform), and values."""

    logits: tuple[Floats, ...] | None
    values: list[float]


def answers(evaluator: Evaluator, batch: Batch) -> tuple[Floats | None, Floats]:
    """Ask an evaluator and check its answer, logits and values as arrays of floats; errors name the row and state."""
    answer = evaluator.evaluate(batch)
    return checked(batch, answer)


def checked(batch: Batch, answer: Any) -> tuple[Floats | None, Floats]:
    """Check what an evaluator answered; every error names the row and the state."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise EvaluatorError(f"evaluate must return (logits, values), found {type(answer).__name__}")
    game = batch.game
    values = _floats("values", answer[1])
    if values.shape != (len(batch), game.players):
        raise EvaluatorError(f"values have shape {values.shape}, expected {(len(batch), game.players)}")
    logits = None if answer[0] is None else _floats("logits", answer[0])
    if logits is not None:
        single, several = (len(batch), game.actions), (len(batch), game.players, game.actions)
        if logits.shape != several and (logits.shape != single or batch.joint):
            expected = several if batch.joint else f"{single} or {several}"
            raise EvaluatorError(f"logits have shape {logits.shape}, expected {expected}")
    if not batch.can_use(logits, values):
        _refuse(batch, "values", ~np.isfinite(values))
        _refuse(batch, "values", np.abs(values, dtype=np.float64) > LARGEST, wrong=f"larger than {LARGEST:g}")
        if logits is not None:
            _check_masks(batch, logits)
    return logits, values


def _check_masks(batch: Batch, logits: Floats) -> None:
    """Refuse what is not finite, except −∞ where an id is illegal: so networks mask. Idle players are not looked at."""
    for row, seats in enumerate(batch.seats):
        for seat in seats:
            line = logits[row, seat] if logits.ndim == 3 else logits[row]
            masked = np.isneginf(line)
            masked[batch.states[row].legal(seat)] = False
            bad = ~np.isfinite(line) & ~masked
            if bad.any():
                _refuse(batch, f"logits of player {seat}", bad[None, :], row)


def evaluations(evaluator: Evaluator, batch: Batch) -> list[Evaluation]:
    """Ask an evaluator; one checked evaluation per state."""
    logits, values = answers(evaluator, batch)
    made = []
    for row, seats in enumerate(batch.seats):
        mine = None
        if logits is not None:
            mine = tuple(logits[row, seat] if logits.ndim == 3 else logits[row] for seat in seats)
        made.append(Evaluation(mine, values[row].tolist()))
    return made


def _floats(name: str, given: Any) -> Floats:
    try:
        array = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise EvaluatorError(f"{name} are no array: {error}") from None
    if array.dtype.kind not in "fiu":
        raise EvaluatorError(f"{name} have type {array.dtype}, expected real numbers")
    if array.dtype in (np.float32, np.float64):  # as the engine takes them
        return np.ascontiguousarray(array)
    return array.astype(np.float64)


def _refuse(
    batch: Batch, name: str, bad: npt.NDArray[np.bool_], row: int | None = None, wrong: str = "not finite"
) -> None:
    if bad.any():
        where, column = (int(i) for i in np.argwhere(bad)[0])
        row = where if row is None else row
        seen = vars(batch).get("observations")  # what a network was given, if it is one
        why = "" if seen is None or np.isfinite(seen[row]).all() else "; nor is what observe shows of it"
        raise EvaluatorError(f"{name} are {wrong}: row {row}, index {column}{why}, of the state\n{batch.states[row]}")
