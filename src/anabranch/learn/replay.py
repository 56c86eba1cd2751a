"""The window of positions that are learnt from: the newest ones, more of them the more there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.evaluate.seats import to_mover
from anabranch.game.game import Game
from anabranch.game.group import symmetry_group
from anabranch.game.random import key_of
from anabranch.learn.records import GameRecord
from anabranch.learn.settings import Replay as Settings
from anabranch.learn.settings import Targets
from anabranch.learn.targets import Rows, rows_of

COLUMNS = ("observations", "legal", "policy", "values", "seats")


def window_size(positions: int, settings: Settings) -> int:
    """Return how many of so many positions are learnt from: all of the first w, then w·(n/w)^growth (Wu 2019)."""
    first = settings.window
    return positions if positions <= first else int(first * (positions / first) ** settings.growth)


class Replay:
    """Rows of the newest games, as columns with room at the end; what has left the window is overwritten now and then.

    What players saw is recomputed once, when a game comes in, and kept as small whole numbers where it is such.
    """

    def __init__(self, game: Game, settings: Settings, targets: Targets) -> None:
        self.game, self.settings, self.targets = game, settings, targets
        self.total = 0  # rows that ever came in
        self._columns: dict[str, npt.NDArray[Any]] = {}
        self._first = self._end = 0
        self._small = True  # whether all observations so far are whole numbers of eight bits
        group = symmetry_group(game) if settings.symmetries else symmetry_group(game)[:1]
        self._symmetries = _Tables(game, group)

    def __len__(self) -> int:
        return self._end - self._first

    def add(self, record: GameRecord) -> int:
        """Take a game in, and return how many rows it brought; the oldest rows leave the window."""
        rows = rows_of(record, self.game, self.targets)
        if rows is None:
            return 0
        self.total += len(rows)
        self._append(rows)
        self._first = max(self._first, self._end - window_size(self.total, self.settings))
        return len(rows)

    def skip(self, rows: int) -> None:
        """Count rows that are no longer in the window and need not be read."""
        self.total += rows

    def _append(self, rows: Rows) -> None:
        seen = rows.observations
        if self._small and not ((np.abs(seen) <= 127).all() and (seen == np.rint(seen)).all()):
            self._small = False
            if self._columns:
                self._columns["observations"] = self._columns["observations"].astype(np.float32)
        if not self._columns or self._end + len(rows) > len(self._columns["seats"]):
            self._make_room(rows)
        for name in COLUMNS:
            self._columns[name][self._end : self._end + len(rows)] = getattr(rows, name)
        self._end += len(rows)

    def _make_room(self, rows: Rows) -> None:
        size = max(1024, 2 * (len(self) + len(rows)))
        for name in COLUMNS:
            given = getattr(rows, name)
            kind = np.int8 if name == "observations" and self._small else given.dtype
            fresh = np.empty((size, *given.shape[1:]), kind)
            if len(self):
                fresh[: len(self)] = self._columns[name][self._first : self._end]
            self._columns[name] = fresh
        self._first, self._end = 0, len(self)

    def sample(self, count: int, seed: int, step: int) -> dict[str, npt.NDArray[Any]]:
        """Return rows drawn at random under random symmetries, values from each row's own seat on."""
        random = np.random.default_rng(key_of((seed, step, 0x7265706C)))
        places = self._first + random.integers(0, len(self), count)
        rows = {name: self._columns[name][places] for name in COLUMNS}
        rows["observations"] = rows["observations"].astype(np.float32)
        rows = self._symmetries.applied(rows, random)
        rows["values"] = to_mover(rows["values"], rows.pop("seats"))
        return rows


class _Tables:
    """A group of symmetries as tables of where each entry comes from, to apply a different one to every row."""

    def __init__(self, game: Game, group: Any) -> None:
        cells = int(np.prod(game.observation or (1,)))
        self.count = len(group)
        self._cells = _sources([symmetry.cells for symmetry in group], cells)
        self._actions = _sources([symmetry.actions for symmetry in group], game.actions)
        self._players = _sources([symmetry.players for symmetry in group], game.players)
        self._seats = np.argsort(self._players, axis=1)  # where each seat goes

    def applied(self, rows: dict[str, npt.NDArray[Any]], random: np.random.Generator) -> dict[str, npt.NDArray[Any]]:
        """Return rows, each under a symmetry drawn for it."""
        if self.count == 1:
            return rows
        chosen = random.integers(0, self.count, len(rows["seats"]))
        seen = rows["observations"]
        flat = np.take_along_axis(seen.reshape(len(seen), -1), self._cells[chosen], 1)
        return {
            "observations": np.ascontiguousarray(flat.reshape(seen.shape)),
            "legal": np.take_along_axis(rows["legal"], self._actions[chosen], 1),
            "policy": np.take_along_axis(rows["policy"], self._actions[chosen], 1),
            "values": np.take_along_axis(rows["values"], self._players[chosen], 1),
            "seats": self._seats[chosen, rows["seats"]],
        }


def _sources(permutations: list[Any], size: int) -> npt.NDArray[np.int64]:
    """Return for each permutation, which says where i goes, where each entry comes from."""
    plain = range(size)
    return np.stack([np.argsort(np.asarray(each if each is not None else plain, np.int64)) for each in permutations])
