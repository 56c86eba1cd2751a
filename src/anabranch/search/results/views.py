"""Nodes and edges as anybody may read them, one at a time, whichever graph they come from."""

from __future__ import annotations

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
    reward: npt.NDArray[np.float64]  # what it pays every player


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
