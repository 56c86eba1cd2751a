"""Nodes and edges as anybody may read them, one at a time, whichever graph they come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from anabranch.game.state import State

Action = int | tuple[int, ...]  # what State.step takes


@dataclass(frozen=True)
class EdgeView:
    """One edge: the action (joint action, outcome) it stands for, its visits, what it is worth, the child's number."""

    action: Action
    visits: int
    value: npt.NDArray[np.float64]
    child: int | None  # None where the edge is frozen
    probability: float  # of an outcome; 1 elsewhere
    reward: tuple[float, ...]  # what it pays every player


def paid(reward: Iterable[float]) -> tuple[float, ...]:
    """Return what an edge pays; where that is nothing, one tuple for all edges: results are sent with hundreds."""
    given = tuple(reward)
    return given if any(given) else _NOTHING.setdefault(len(given), given)


_NOTHING: dict[int, tuple[float, ...]] = {}


@dataclass(frozen=True)
class NodeView:
    """One node."""

    number: int
    kind: str  # decision, chance or over
    state: State
    visits: int
    value: npt.NDArray[np.float64]
    edges: list[EdgeView]
    evaluation: tuple[float, ...]  # what the evaluator said it is worth; 0 where nobody was asked
    exact: bool = False  # of chance: whether all outcomes were enumerated, so that its value is their expectation
    interval: npt.NDArray[np.float64] | None = None  # [P, 2]: what is certain of the exact values; None: proofs are off
    proven: bool = False  # whether these are points


class ReadableGraph(Protocol):
    """What is drawn and tabled: the engine's graph or the reference's."""

    def __len__(self) -> int: ...
    def node(self, number: int) -> NodeView:
        """Return a node by its number; 0 is the root."""
        ...

    @property
    def limited(self) -> bool:
        """Whether the limit of nodes or bytes kept positions out of the graph."""
        ...
