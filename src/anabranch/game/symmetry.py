"""Symmetries of a game: relabellings under which the rules stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Permutation = tuple[int, ...] | None


def image(permutation: Sequence[int] | None, index: int) -> int:
    """Return where `index` goes; no permutation is the identity."""
    return index if permutation is None else int(permutation[index])


@dataclass(frozen=True, kw_only=True)
class Symmetry:
    """One relabelling; every field is a permutation that says where index i goes, None for "stays".

    `cells` permutes the flattened observation: `after.flat[cells[i]] = before.flat[i]`. Where `players` is not the
    identity, the observation of seat p turns into the observation of seat `players[p]`.
    """

    actions: tuple[int, ...] | None = None
    cells: tuple[int, ...] | None = None
    players: tuple[int, ...] | None = None
    outcomes: tuple[int, ...] | None = None

    def observation(self, planes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return one player's observation, or a batch of them, as it looks after the relabelling."""
        if self.cells is None:
            return planes
        return moved(planes.reshape(-1, len(self.cells)), self.cells).reshape(planes.shape)

    def policy(self, policy: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return numbers over actions, `[A]` or `[…, A]`, as they look after the relabelling."""
        return moved(policy, self.actions)

    def seats(self, vector: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return numbers over players, `[P]` or `[…, P]`, as they look after the relabelling."""
        return moved(vector, self.players)

    def player(self, player: int) -> int:
        """Return the seat that a player sits in after the relabelling."""
        return image(self.players, player)

    @property
    def is_identity(self) -> bool:
        """Whether nothing goes anywhere."""
        parts = (self.actions, self.cells, self.players, self.outcomes)
        return all(part is None or part == tuple(range(len(part))) for part in parts)

    def inverse(self) -> Symmetry:
        """Return the relabelling that takes this one back."""
        return Symmetry(
            actions=_inverse(self.actions),
            cells=_inverse(self.cells),
            players=_inverse(self.players),
            outcomes=_inverse(self.outcomes),
        )

    def then(self, other: Symmetry) -> Symmetry:
        """Return this relabelling followed by another, as one."""
        return Symmetry(
            actions=_then(self.actions, other.actions),
            cells=_then(self.cells, other.cells),
            players=_then(self.players, other.players),
            outcomes=_then(self.outcomes, other.outcomes),
        )


def moved(array: npt.NDArray[Any], permutation: Sequence[int] | None, axis: int = -1) -> npt.NDArray[Any]:
    """Return an array whose entries along an axis went where a permutation says."""
    if permutation is None:
        return array
    return np.take(array, np.argsort(np.asarray(permutation)), axis)


def board_cells(grid: npt.NDArray[np.int64], planes: int) -> tuple[int, ...]:
    """Return `cells` for `planes` stacked boards, given where each cell of one board goes (`grid`, any shape)."""
    size = grid.size
    return tuple(int(plane * size + target) for plane in range(planes) for target in grid.reshape(-1))


def _inverse(part: Permutation) -> Permutation:
    return None if part is None else tuple(np.argsort(part).tolist())


def _then(first: Permutation, second: Permutation) -> Permutation:
    if first is None or second is None:
        return second if first is None else first
    return tuple(second[index] for index in first)
