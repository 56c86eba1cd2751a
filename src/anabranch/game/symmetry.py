"""Symmetries of a game: relabellings under which the rules stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


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
        """Return the observation as it looks after the relabelling."""
        if self.cells is None:
            return planes
        after = np.empty_like(planes)
        after.reshape(-1)[list(self.cells)] = planes.reshape(-1)
        return after

    def seats(self, vector: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a vector over players as it looks after the relabelling."""
        if self.players is None:
            return vector
        after = np.empty_like(vector)
        after[list(self.players)] = vector
        return after


def board_cells(grid: npt.NDArray[np.int64], planes: int) -> tuple[int, ...]:
    """Return `cells` for `planes` stacked boards, given where each cell of one board goes (`grid`, any shape)."""
    size = grid.size
    return tuple(int(plane * size + target) for plane in range(planes) for target in grid.reshape(-1))
