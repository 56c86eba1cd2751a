"""An evaluator that is asked about turned and mirrored positions, and its answers turned back."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from anabranch.errors import EvaluatorError, UnknownNameError, UsageError
from anabranch.evaluate.batch import Answer, Batch, as_evaluator
from anabranch.evaluate.rows import Array, ask, game_of, identities
from anabranch.game.game import Game
from anabranch.game.group import GroupTable
from anabranch.game.state import State

MODES = ("one", "all")
Indices = npt.NDArray[np.intp]


class Symmetric:
    """Ask an evaluator about images of each position under the symmetries of its game, and turn the answers back.

    `mode="one"` asks about one image. Which one is a function of `seed` and of what the mover sees, so that it does not
    depend on the batch, the search or the process. `mode="all"` asks about every image, in one batch, and averages the
    values and the *probabilities* of legal actions; its logits are their logarithms, −∞ where illegal. An average of
    logits would let one image veto an action that the others like.

    With "all" the answer about an image is exactly the image of the answer, bit for bit, if the rows of the inner
    evaluator depend on nothing but themselves: sums are made in an order that is the same whichever image was asked.

    The inner evaluator sees observations, legal ids, seats and movers of images. States and node keys it cannot see.
    """

    def __init__(self, evaluator: Any, mode: str = "one", seed: int = 0) -> None:
        if mode not in MODES:
            raise UnknownNameError("mode of Symmetric", str(mode), MODES)
        if not isinstance(seed, (int, np.integer)):
            raise UsageError(f"the seed of Symmetric is a whole number, found {seed!r}")
        self.evaluator = as_evaluator(evaluator)
        self.mode = mode
        self.seed = int(seed)

    def __repr__(self) -> str:
        return f"Symmetric({self.evaluator!r}, mode={self.mode!r}, seed={self.seed})"

    def evaluate(self, batch: Batch) -> Answer:
        if not len(batch):
            return self.evaluator.evaluate(batch)
        game = game_of(batch)
        table = group_of(game)
        rows = np.arange(len(batch))
        if self.mode == "one":
            images = Images(batch, game, table, rows, self.choices(batch, len(table)))
            logits, values = _turned_back(images, *self._ask(images))
            return logits, values
        count = len(table)
        images = Images(batch, game, table, np.repeat(rows, count), np.tile(np.arange(count), len(batch)))
        logits, values = self._ask(images)
        if logits is not None:
            logits = _log_probabilities(logits, images.legal)
        logits, values = _turned_back(images, logits, values.astype(np.float64))
        split = (len(batch), count)
        mean = _mean(values.reshape(*split, game.players))
        return None if logits is None else _mean_logarithm(logits.reshape(*split, *logits.shape[1:]), batch.legal), mean

    def choices(self, batch: Batch, count: int) -> Indices:
        """Return the number of the symmetry each row is asked under, in "one" mode."""
        seen = batch.observations
        if batch.joint:  # the mover's view alone: a state must not be turned otherwise because of its neighbours
            seen = seen[np.arange(len(batch)), batch.movers]
        secret = (self.seed & (1 << 64) - 1).to_bytes(8, "little")
        chosen = []
        for planes, mover in zip(np.ascontiguousarray(seen), batch.movers.tolist(), strict=True):
            digest = hashlib.blake2b(planes.tobytes(), digest_size=8, key=secret, salt=mover.to_bytes(8, "little"))
            chosen.append(int.from_bytes(digest.digest(), "little") * count >> 64)
        return np.array(chosen, np.intp)

    def _ask(self, images: Images) -> tuple[Array | None, Array]:
        """Return the inner evaluator's answer, with one row of logits per image where one player acts."""
        logits, values = ask(self.evaluator, images)
        if logits is None:
            return None, values
        if logits.ndim == 3 and not images.joint:
            logits = logits[np.arange(len(images)), images.movers]
        if not (np.isfinite(logits) | ~images.legal).all():
            row = int(np.argwhere(~np.isfinite(logits) & images.legal)[0][0])
            raise EvaluatorError(
                f"logits of legal actions are not finite: row {int(images.rows[row])} under symmetry "
                f"{int(images.which[row])} of {images.game.name}, which sees\n{images.observations[row]}"
            )
        return logits, values


def group_of(game: Game) -> GroupTable:
    """Return the symmetries of a game; a game that has none, or shows nothing, cannot be looked at from other sides."""
    if game.observation is None:
        raise UsageError(f"Symmetric turns observations, and {game.name} has no observe verb")
    table = GroupTable.of(game)
    if len(table) == 1:
        raise UsageError(f"{game.name} has no symmetries but the identity: use the evaluator without Symmetric")
    return table


class Images(Batch):
    """Rows of a batch as they look under symmetries; row i is the image of row `rows[i]` under number `which[i]`."""

    def __init__(self, source: Batch, game: Game, table: GroupTable, rows: Indices, which: Indices) -> None:
        vars(self).update(source=source, game=game, table=table, rows=rows, which=which)

    source: Batch
    game: Game
    table: GroupTable
    rows: Indices
    which: Indices

    def __len__(self) -> int:
        return len(self.rows)

    def _refuse(self) -> NoReturn:
        raise UsageError(
            "this evaluator needs states or node keys; symmetries map observations, legal ids and seats: let it look "
            "at batch.observations, or leave Symmetric out"
        )

    @property
    def states(self) -> Sequence[State]:
        """Nobody knows them."""
        self._refuse()

    @property
    def keys(self) -> Sequence[int]:
        """Nobody knows them."""
        self._refuse()

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds of the rows."""
        seeds = self.source.seeds
        return [seeds[row] for row in self.rows] if len(seeds) else ()

    @property
    def joint(self) -> bool:
        """Whether the rows have one row per player."""
        return self.source.joint

    @cached_property
    def seats(self) -> list[tuple[int, ...]]:
        """The acting players of the images."""
        seats, players = self.source.seats, self.table.players.tolist()
        return [
            tuple(sorted(players[number][seat] for seat in seats[row]))
            for row, number in zip(self.rows.tolist(), self.which.tolist(), strict=True)
        ]

    @cached_property
    def movers(self) -> npt.NDArray[np.int64]:
        """The first acting player of the images."""
        if self.joint:
            return np.array([seats[0] for seats in self.seats], np.int64)
        return self.table.players[self.which, self.source.movers[self.rows]].astype(np.int64)

    @cached_property
    def legal(self) -> npt.NDArray[np.bool_]:
        """Which ids are legal in the images."""
        return self._moved(self.source.legal, self.table.action_sources)

    @cached_property
    def observations(self) -> npt.NDArray[np.float32]:
        """What is seen in the images."""
        seen = self.source.observations
        shape = seen.shape[1:]
        flat = seen.reshape(len(seen), *shape[: int(self.joint)], -1)
        return self._moved(flat, self.table.cell_sources).reshape(len(self), *shape)

    @cached_property
    def identities(self) -> list[Hashable]:
        """What the images are known by: the position they are images of, and the symmetry."""
        known = identities(self.source)
        made: list[Hashable] = []
        for row, number in zip(self.rows.tolist(), self.which.tolist(), strict=True):
            one = known[row]
            made.append(one + number.to_bytes(4, "little") if isinstance(one, bytes) else (one, number))
        return made

    def _moved(self, array: Array, sources: Indices) -> Array:
        """Return the images of `[B, K]` or, a row per player, `[B, P, K]`."""
        made = np.empty((len(self), *array.shape[1:]), array.dtype)
        for number in np.unique(self.which).tolist():
            mine = self.which == number
            part = array[self.rows[mine]]
            if array.ndim == 3:
                part = part[:, self.table.player_sources[number]]
            made[mine] = part[..., sources[number]]
        return made


def _turned_back(images: Images, logits: Array | None, values: Array) -> tuple[Array | None, Array]:
    """Return answers about images as answers about what they are images of."""
    players, actions = images.table.players[images.which], images.table.actions[images.which]
    values = np.take_along_axis(values, players, 1)
    if logits is None:
        return None, values
    if logits.ndim == 2:
        return np.take_along_axis(logits, actions, 1), values
    rows = np.arange(len(images))[:, None, None]
    return logits[rows, players[:, :, None], actions[:, None, :]], values


# Floating-point sums depend on their order. A row of an image is summed as the image lies, which is the same whoever
# asks; sums over images are made in ascending order, entry by entry.


def _log_probabilities(logits: Array, legal: npt.NDArray[np.bool_]) -> Array:
    """Return log p(a) = l(a) − log Σ_b exp(l(b)) over the legal ids of each row, −∞ elsewhere."""
    masked = np.where(legal, logits.astype(np.float64), -np.inf)
    top = np.where(legal.any(-1, keepdims=True), masked.max(-1, keepdims=True), 0.0)
    total = np.exp(masked - top).sum(-1, keepdims=True)
    total[total == 0.0] = 1.0  # players who do not act have no legal ids
    shares: Array = masked - top - np.log(total)
    return shares


def _mean_logarithm(logarithms: Array, legal: npt.NDArray[np.bool_]) -> Array:
    """Return log( Σ_g exp(x_g) / G ) over the second axis for legal ids, −∞ elsewhere; nothing underflows."""
    ascending = np.sort(logarithms, axis=1)
    top = ascending[:, -1]
    with np.errstate(invalid="ignore"):  # −∞ minus −∞, where illegal
        total = np.exp(ascending[:, 0] - top)
        for number in range(1, ascending.shape[1]):
            total += np.exp(ascending[:, number] - top)
        return np.where(legal, top + np.log(total / ascending.shape[1]), -np.inf)


def _mean(numbers: Array) -> Array:
    """Return the mean over the second axis."""
    ascending = np.sort(numbers, axis=1)
    total: Array = ascending[:, 0].copy()
    for number in range(1, ascending.shape[1]):
        total += ascending[:, number]
    total /= ascending.shape[1]
    return total
