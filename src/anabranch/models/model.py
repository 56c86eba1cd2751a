"""What a learned model is: sizes, `initial`, `recurrent`, and what they may answer."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from anabranch.errors import UsageError, shown
from anabranch.evaluate.seats import View, checked_view

Array: TypeAlias = Any  # of NumPy, torch, JAX or anything else that follows the array API


class Initial(NamedTuple):
    """What a model makes of observations; one row each."""

    latent: Any  # an array, or a tuple of arrays, with one row per observation
    logits: Array | None  # [B, actions]; None: every action is equally likely
    value: Array  # [B, players], or [B] for one player or a scalar model
    legal: Array | None = None  # [B, actions], bool; None: every action is
    mover: Array | None = None  # [B]; None: player 0


class Transition(NamedTuple):
    """Where an action leads: `value` and `logits` are of the state after it, `reward` is what the step pays."""

    latent: Any
    reward: Array | None
    logits: Array | None
    value: Array
    discount: Array | None = None  # [B], 0 where it ends; only where `Model.discount` is None
    legal: Array | None = None
    mover: Array | None = None  # [B]; None: the next player


class Afterstate(NamedTuple):
    """Where an action of a stochastic model leads before chance decides."""

    latent: Any
    chances: Array  # [B, outcomes], probabilities
    reward: Array | None = None


@runtime_checkable
class Model(Protocol):
    """A learned model, batched.

    `initial` and `recurrent` may return plain tuples in the order of `Initial` and `Transition`. Optional attributes:
    `players` (1), `discount` (1.0; None: `recurrent` says), `view` ("mover"), `returns` ((-1, 1)), `name`. A stochastic
    model has `outcomes`, `afterstate(latent, action)` and `chance(latent, outcome)` in place of `recurrent`.
    """

    actions: int

    def initial(self, observations: Any) -> Any: ...


class Shape(NamedTuple):
    """The sizes and habits of a model, checked."""

    name: str
    players: int
    actions: int
    outcomes: int
    discount: float | None
    view: View
    returns: tuple[float, float]

    @property
    def stochastic(self) -> bool:
        """Whether chance decides where actions lead."""
        return self.outcomes > 0


def shape_of(model: Any) -> Shape:
    """Read a model's sizes; whatever is missing or cannot be is named."""
    if isinstance(model, type):
        raise UsageError(f"a model is an object, found the class {model.__name__}; make one: {model.__name__}(…)")
    name = str(getattr(model, "name", type(model).__name__))
    outcomes = getattr(model, "outcomes", 0)
    verbs = ("initial", "afterstate", "chance") if outcomes else ("initial", "recurrent")
    for verb in verbs:
        if not callable(getattr(model, verb, None)):
            raise UsageError(
                f"{name}: a model has {', '.join(f'{each}(…)' for each in verbs)}, and {verb} is missing; see "
                f"docs/models.md"
            )
    sizes: dict[str, Any] = {
        "players": getattr(model, "players", 1),
        "actions": getattr(model, "actions", None),
        "outcomes": outcomes,
    }
    for size, value in sizes.items():
        least = 0 if size == "outcomes" else 1
        most = 62 if size == "players" else 2**24
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not least <= value <= most:
            raise UsageError(f"{name}.{size} must be a whole number from {least} to {most}, found {shown(value)}")
    view = checked_view(getattr(model, "view", "mover"))
    if view == "scalar" and sizes["players"] != 2:
        raise UsageError(f"{name}.view is 'scalar', which is for two players; it has {sizes['players']}")
    returns = getattr(model, "returns", (-1.0, 1.0))
    ends = tuple(returns) if isinstance(returns, (tuple, list, np.ndarray)) else ()
    if not (len(ends) == 2 and all(map(_number, ends)) and -math.inf < ends[0] <= ends[1] < math.inf):
        raise UsageError(f"{name}.returns must be two numbers, the lowest and the highest, found {shown(returns)}")
    return Shape(
        name,
        int(sizes["players"]),
        int(sizes["actions"]),
        int(outcomes),
        discount_of(model, name),
        view,
        (float(ends[0]), float(ends[1])),
    )


def discount_of(model: Any, name: str) -> float | None:
    """Return a model's discount; None where `recurrent` says it."""
    discount = getattr(model, "discount", 1.0)
    if discount is not None and not (_number(discount) and 0.0 <= discount <= 1.0):
        raise UsageError(
            f"{name}.discount must lie in [0, 1], or be None where recurrent says it step by step; found "
            f"{shown(discount)}"
        )
    return None if discount is None else float(discount)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
