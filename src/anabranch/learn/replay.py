"""The window of positions that are learnt from: the newest ones, more of them the more there are."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError
from anabranch.evaluate.seats import to_mover
from anabranch.game.game import Game
from anabranch.game.group import symmetry_group
from anabranch.game.random import key_of
from anabranch.learn.fates import NOTHING, Shapes
from anabranch.learn.records import GameRecord, seats_of
from anabranch.learn.settings import Replay as Settings
from anabranch.learn.settings import Targets
from anabranch.learn.targets import Rows, Steps, rows_of, steps_of, unrolled
from anabranch.learn.weights import chances, corrections, drawn, weights_of

Columns: TypeAlias = dict[str, npt.NDArray[Any]]
COLUMNS = tuple(field.name for field in fields(Rows) if not field.kw_only)
MORE = tuple(field.name for field in fields(Steps) if not field.kw_only)
WEIGHTS = "weights"  # a column only where samples are drawn by them
RENEWED = ("policy", "values", "searched", "valued", "auxiliary.reply", WEIGHTS)  # what another search may change


def window_size(positions: int, settings: Settings) -> int:
    """Return how many of so many positions are learnt from: all of the first w, then w·(n/w)^growth (Wu 2019)."""
    first = settings.window
    return positions if positions <= first else int(first * (positions / first) ** settings.growth)


class Replay:
    """Rows of the newest games, as columns with room at the end; what has left the window is overwritten now and then.

    What players saw is recomputed once, when a game comes in, and kept as small whole numbers where it is such. With
    `unroll` above 0 all decisions of a game are rows, and a sample is a row with as many that follow it; what is seen
    at these is part of it only if `ahead` asks for that.
    """

    def __init__(
        self,
        game: Game,
        settings: Settings,
        targets: Targets,
        unroll: int = 0,
        *,
        ahead: bool = False,
        auxiliary: Shapes = NOTHING,
    ) -> None:
        self.auxiliary = auxiliary
        self.game, self.settings, self.targets, self.unroll, self.ahead = game, settings, targets, unroll, ahead
        self.weighted = settings.weights != "none"
        self._told = MORE if unroll else (*COLUMNS, *(f"auxiliary.{name}" for name in auxiliary))
        self.names = (*self._told, *([WEIGHTS] if self.weighted else []))
        self.total = 0  # rows that ever came in
        self._columns: Columns = {}
        self._first = self._end = 0
        self._moved = 0  # the number of the row in the first place, counted from the first that was kept
        self._small = True  # whether all observations so far are whole numbers of eight bits
        group = symmetry_group(game) if settings.symmetries else symmetry_group(game)[:1]
        self._symmetries = _Tables(game, group, auxiliary)

    def __len__(self) -> int:
        return self._end - self._first

    def add(self, record: GameRecord) -> int:
        """Take a game in, and return how many rows it brought; the oldest rows leave the window."""
        rows = self._rows(record)
        if rows is None:
            return 0
        if not np.isfinite(rows["observations"]).all():
            _refuse(record, self.game)
        count = len(rows["seats"])
        self.total += count
        self._append(rows)
        self._first = max(self._first, self._end - window_size(self.total, self.settings))
        return count

    def _rows(self, record: GameRecord) -> Columns | None:
        """Return what a game teaches as columns, and how much its rows weigh if samples are drawn by that."""
        if self.unroll:
            rows: Rows | None = steps_of(record, self.game, self.targets)
        else:
            rows = rows_of(record, self.game, self.targets, self.auxiliary)
        if rows is None:
            return None
        found: Columns = {name: rows.column(name) for name in self._told}
        if self.weighted:
            weights = weights_of(record, rows, self.settings, self.targets, float(self.game.discount))
            found[WEIGHTS] = weights.astype(np.float32)
        return found

    @property
    def numbers(self) -> range:
        """The numbers of the rows in the window, in the order in which they came in."""
        return range(self._moved + self._first, self._moved + self._end)

    def renew(self, first: int, record: GameRecord) -> None:
        """Learn something else from a game whose rows, of which this is the first's number, are all in the window."""
        rows = self._rows(record)
        assert rows is not None
        assert first in self.numbers
        place = first - self._moved
        for name in RENEWED:
            if name in self.names:
                self._columns[name][place : place + len(rows["seats"])] = rows[name]

    def skip(self, rows: int) -> None:
        """Count rows that are no longer in the window and need not be read."""
        self.total += rows

    def _append(self, rows: Columns) -> None:
        seen, count = rows["observations"], len(rows["seats"])
        if self._small and not ((np.abs(seen) <= 127).all() and (seen == np.rint(seen)).all()):
            self._small = False
            if self._columns:
                self._columns["observations"] = self._columns["observations"].astype(np.float32)
        if not self._columns or self._end + count > len(self._columns["seats"]):
            self._make_room(rows)
        for name in self.names:
            self._columns[name][self._end : self._end + count] = rows[name]
        self._end += count

    def _make_room(self, rows: Columns) -> None:
        size = max(1024, 2 * (len(self) + len(rows["seats"])))
        for name in self.names:
            given = rows[name]
            kind = np.int8 if name == "observations" and self._small else given.dtype
            fresh = np.empty((size, *given.shape[1:]), kind)
            if len(self):
                fresh[: len(self)] = self._columns[name][self._first : self._end]
            self._columns[name] = fresh
        self._moved += self._first
        self._first, self._end = 0, len(self)

    def sample(self, count: int, seed: int, step: int, unroll: int | None = None) -> dict[str, npt.NDArray[Any]]:
        """Return rows drawn at random under random symmetries, values from each row's own seat on.

        `unroll` says how many rows that follow are part of a sample, where that is not all that can be.
        """
        random = np.random.default_rng(key_of((seed, step, 0x7265706C)))
        places, counts = self._drawn(count, random)
        if self.unroll:
            steps = self.unroll if unroll is None else unroll
            nearer = self._nearer(places, random, steps)
            rows = self._imagined(np.where(nearer < 0, places, nearer), random, steps)
            return rows if counts is None else rows | {WEIGHTS: np.where(nearer < 0, counts, np.float32(1.0))}
        rows = {name: self._columns[name][places] for name in self._told}
        rows["observations"] = rows["observations"].astype(np.float32)
        rows = self._symmetries.applied(rows, random)
        rows["values"] = to_mover(rows["values"], rows.pop("seats"))
        return rows if counts is None else rows | {WEIGHTS: counts}

    def _drawn(
        self, count: int, random: np.random.Generator
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32] | None]:
        """Return places, and how much the losses of what is there count where they do not count alike.

        Surprise is not made up for: how often a position is shown says nothing about its policy, and is to say more
        about where the network is wrong. A priority looks at what came of a game: of a position where a die fell either
        way it shows the rarer result too often, and a value would be learnt that is not the mean.
        """
        if not self.weighted:
            return self._first + random.integers(0, len(self), count), None
        settings = self.settings
        likely = chances(self._columns[WEIGHTS][self._first : self._end], settings.weighted, settings.power)
        rows = drawn(likely, random.random(count))
        if settings.weights == "surprise":
            return self._first + rows, None
        return self._first + rows, corrections(likely[rows], len(self), settings.correction).astype(np.float32)

    def _nearer(self, places: npt.NDArray[np.int64], random: np.random.Generator, steps: int) -> npt.NDArray[np.int64]:
        """Return for a share of places others near the end of a game, where all that is rare happens; −1 elsewhere.

        The end is as often the last imagined step as the first: what no sample shows after five steps is not learnt.
        """
        last = self._columns["left"][self._first : self._end] <= steps
        near = self._first + np.flatnonzero(last & self._columns["finished"][self._first : self._end])
        replaced = random.random(len(places)) < self.settings.endings
        if not len(near) or not replaced.any():
            return np.full(len(places), -1)
        return np.where(replaced, near[random.integers(0, len(near), len(places))], -1)

    def _imagined(
        self, places: npt.NDArray[np.int64], random: np.random.Generator, steps: int
    ) -> dict[str, npt.NDArray[Any]]:
        """Return rows `[N, K + 1, …]` and the steps between them, `[N, K, …]`, each from the seat of who decides."""
        fill = random.integers(0, self.game.actions, (len(places), steps))
        rows = unrolled(self._columns, places, steps, fill)
        at = rows.pop("at")
        rows["observations"] = self._columns["observations"][at if self.ahead else at[:, :1]].astype(np.float32)
        rows = self._symmetries.applied(rows, random)
        seats = rows.pop("seats")
        players = self.game.players
        rows["values"] = to_mover(rows["values"].reshape(-1, players), seats.reshape(-1)).reshape(*seats.shape, players)
        before = seats[:, :-1]
        rewards = rows["rewards"].reshape(-1, players)
        rows["rewards"] = to_mover(rewards, before.reshape(-1)).reshape(*before.shape, players)
        rows["movers"] = (seats[:, 1:] - before) % players
        return rows


def _refuse(record: GameRecord, game: Game) -> NoReturn:
    """Say at which position of a game players see what nothing can be learnt from."""
    for t, state in enumerate(record.states(game)):
        for seat in seats_of(state):
            if not np.isfinite(state.observe(seat)).all():
                raise GameError(
                    f"{game.name}: observe gave numbers that are not finite, to player {seat} after {t} decisions "
                    f"of game {record.id}:\n{state}"
                )
    raise GameError(f"{game.name}: observe gave numbers that are not finite, and others when it was asked again")


class _Tables:
    """A group of symmetries as tables of where each entry comes from, to apply a different one to every row."""

    def __init__(self, game: Game, group: Any, auxiliary: Shapes = NOTHING) -> None:
        cells = int(np.prod(game.observation or (1,)))
        self.count = len(group)
        self._cells = _sources([symmetry.cells for symmetry in group], cells)
        self._actions = _sources([symmetry.actions for symmetry in group], game.actions)
        self._players = _sources([symmetry.players for symmetry in group], game.players)
        self._seats = np.argsort(self._players, axis=1)  # where each seat goes
        self._auxiliary = {
            f"auxiliary.{name}": table
            for name, shape in auxiliary.items()
            if (table := self._actions if name == "reply" else _plane(game, group, name, shape)) is not None
        }

    def applied(self, rows: dict[str, npt.NDArray[Any]], random: np.random.Generator) -> dict[str, npt.NDArray[Any]]:
        """Return rows, each under a symmetry drawn for it."""
        if self.count == 1:
            return rows
        chosen = random.integers(0, self.count, len(rows["seats"]))
        made = dict(rows)
        seen = rows["observations"]
        steps = seen.shape[: rows["seats"].ndim]  # rows alone, or rows and steps
        flat = _taken(seen.reshape(*steps, -1), self._cells[chosen])
        made["observations"] = np.ascontiguousarray(flat.reshape(seen.shape))
        for name, sources in (
            *(("legal", self._actions), ("policy", self._actions)),
            *(("values", self._players), ("rewards", self._players)),
        ):
            if name in rows:
                made[name] = _taken(rows[name], sources[chosen])
        for name, sources in self._auxiliary.items():
            told = rows[name]
            made[name] = _taken(told.reshape(len(told), -1), sources[chosen]).reshape(told.shape)
        made["seats"] = _moved(self._seats[chosen], rows["seats"])
        if "actions" in rows:
            made["actions"] = _moved(np.argsort(self._actions, axis=1)[chosen], rows["actions"])
        return made


def _plane(game: Game, group: Any, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.int64] | None:
    """Return where each entry of a fate comes from under every symmetry; None if there is one only, or none at all.

    What is as large as one plane of the observation moves as the cells of the first plane do.
    """
    if len(group) == 1 or not shape:
        return None
    planes, cells = game.observation or (), math.prod(shape)
    if shape != tuple(planes[1:]):
        raise GameError(
            f"{game.name}: {name} has the shape {shape}; in a game with symmetries a fate is one number, of shape (), "
            f"or as large as a plane of the observation, {tuple(planes[1:])}, so that it can be moved as this is"
        )
    images = [np.asarray(each.cells[:cells] if each.cells is not None else range(cells)) for each in group]
    if any((image // cells != image[0] // cells).any() for image in images):
        raise GameError(f"{game.name}: a symmetry tears the observation's first plane apart, so {name} cannot be moved")
    return _sources([image % cells for image in images], cells)


def _taken(entries: npt.NDArray[Any], sources: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Return `[N, E]` or `[N, K, E]` with entries of each row taken from where its symmetry says."""
    if entries.ndim == 3:
        sources = np.broadcast_to(sources[:, None], entries.shape)
    return np.take_along_axis(entries, sources, -1)


def _moved(places: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where numbers, `[N]` or `[N, K]`, go under the symmetry of their row."""
    flat = numbers.reshape(len(numbers), -1)
    return np.take_along_axis(places, flat, 1).reshape(numbers.shape)


def _sources(permutations: list[Any], size: int) -> npt.NDArray[np.int64]:
    """Return for each permutation, which says where i goes, where each entry comes from."""
    plain = range(size)
    return np.stack([np.argsort(np.asarray(each if each is not None else plain, np.int64)) for each in permutations])
