"""An evaluator with a memory: states it was asked about before are answered without asking again."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import EvaluatorError, UsageError
from anabranch.evaluate.batch import LARGEST, Answer, Batch, as_evaluator
from anabranch.evaluate.native import Rollout
from anabranch.evaluate.rows import Array, Rows, ask, game_of, identities
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game

ENTRIES = 100_000  # kept when nobody says how many
TABLE_BYTES = 144  # of an entry in an ordered dictionary that has just grown; measured, rounded up


@dataclass(frozen=True)
class CacheStatistics:
    """What a cache has done since it was made or cleared; `hits` and `misses` count rows."""

    hits: int
    misses: int
    evictions: int
    entries: int
    bytes: int

    def __str__(self) -> str:
        asked = self.hits + self.misses
        share = f" ({self.hits / asked:.1%})" if asked else ""
        return (
            f"{self.hits:,} of {asked:,} rows known{share}; {self.entries:,} entries in {self.bytes / 1e6:.1f} MB, "
            f"{self.evictions:,} evicted"
        )


class Shelf:
    """The entries of one game: equal games share it, others have a number of their own in front of every key."""

    def __init__(self, owner: Hashable, number: int) -> None:
        self.owner = owner
        self.prefix = number.to_bytes(8, "little")
        self.entries = 0
        self.kept = True

    def key(self, identity: Hashable) -> Hashable:
        return self.prefix + identity if isinstance(identity, bytes) else (self.prefix, identity)


class Entry(NamedTuple):
    """One answer: the bytes of a record of values and, where there are any, logits."""

    shelf: Shelf
    layout: np.dtype[np.void]
    data: bytes


class Cached:
    """Remember the answers of an evaluator, bounded by a number of `entries`, of `bytes`, or both.

    Rows that are known are answered from memory; the others go to the evaluator as one smaller batch, in the same
    order, each state once. When it is full, what was not used for longest goes first. One cache may serve any number of
    searches, threads and games at a time; states are told apart by their bytes (or by equality, in object games) and
    by their game. `clear()` it when the network behind it has learned.

    Answers are those of the evaluator bit for bit, if its rows depend on their own states alone. Evaluators that read
    `batch.seeds`, as `Rollout` does, are refused: their answers belong to one search's seed, so remembering them would
    change results between searches, and within one search the graph asks about a state only once anyway.
    """

    def __init__(self, evaluator: Any, entries: int | None = None, bytes: int | None = None) -> None:  # noqa: A002
        for name, bound in (("entries", entries), ("bytes", bytes)):
            if bound is not None and (not isinstance(bound, (int, np.integer)) or bound < 1):
                raise UsageError(f"a cache keeps a positive number of {name}, found {bound!r}")
        self.evaluator = as_evaluator(evaluator)
        _refuse_rollouts(self.evaluator)
        self.entries = ENTRIES if entries is None and bytes is None else entries
        self.bytes = bytes
        self._lock = threading.Lock()  # never held while the evaluator works
        self._shelves: dict[Hashable, Shelf] = {}
        self._numbers = 0
        self._empty()

    def _empty(self) -> None:
        self._known: OrderedDict[Hashable, Entry] = OrderedDict()
        self._shelves.clear()
        self._recent: tuple[Game, Shelf] | None = None
        self._used = self._hits = self._misses = self._evictions = 0
        self._age = object()  # changes when everything is forgotten

    def __repr__(self) -> str:
        bounds = {"entries": self.entries, "bytes": self.bytes}
        text = ", ".join(f"{name}={bound}" for name, bound in bounds.items() if bound is not None)
        return f"Cached({self.evaluator!r}, {text})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Cached, (self.evaluator, self.entries, self.bytes)  # in another process it starts empty

    @property
    def statistics(self) -> CacheStatistics:
        """Rows known and not known, entries thrown out, and what is kept."""
        with self._lock:
            return CacheStatistics(self._hits, self._misses, self._evictions, len(self._known), self._used)

    def clear(self) -> None:
        """Forget every answer, and the statistics; answers on their way meanwhile are not kept."""
        with self._lock:
            self._empty()

    def evaluate(self, batch: Batch) -> Answer:
        if not len(batch):
            return self.evaluator.evaluate(batch)
        game, rows = game_of(batch), identities(batch)
        if self.bytes is not None and not isinstance(game, CompiledGame):
            raise UsageError(
                f"{game.name} is an object game, and nobody knows how many bytes its states take: bound the cache by "
                f"entries"
            )
        with self._lock:
            age, shelf = self._age, self._shelf(game)
            keys = [shelf.key(row) for row in rows]
            found = {key: self._known.get(key) for key in keys}
        answers = {key: entry for key, entry in found.items() if entry is not None}
        if len(answers) == len(found):
            self._remember(age, len(keys), list(answers), {})
            return unpacked([answers[key] for key in keys], batch)

        first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
        missing = [first[key] for key in found if key not in answers]
        asked = Rows(batch, missing)
        logits, values = ask(self.evaluator, asked)
        fresh = dict(zip((keys[row] for row in missing), packed(shelf, logits, values), strict=True))
        if is_sound(logits, values, asked):  # else the search is about to refuse it
            self._remember(age, len(keys), list(answers), fresh)
        if len(missing) == len(keys):
            return logits, values
        return unpacked([answers.get(key) or fresh[key] for key in keys], batch)

    def _shelf(self, game: Game) -> Shelf:
        if self._recent is not None and self._recent[0] is game and self._recent[1].kept:
            return self._recent[1]
        owner: Hashable = game
        try:
            hash(game)
        except TypeError:  # made from lists or arrays: the game is then equal to itself alone
            owner = _Itself(game)
        shelf = self._shelves.get(owner)
        if shelf is None:
            self._numbers += 1
            shelf = self._shelves[owner] = Shelf(owner, self._numbers)
        self._recent = (game, shelf)
        return shelf

    def _remember(self, age: object, rows: int, used: Sequence[Hashable], fresh: dict[Hashable, Entry]) -> None:
        """Count, move what was used to the end of the queue, and add what is new; then keep to the bounds."""
        with self._lock:
            if age is not self._age:
                return
            self._hits += rows - len(fresh)
            self._misses += len(fresh)
            for key in used:
                if key in self._known:  # another thread may have thrown it out
                    self._known.move_to_end(key)
            for key, entry in fresh.items():
                if key not in self._known:
                    self._used += _size(key, entry)
                    entry.shelf.entries += 1
                    self._known[key] = entry
                    self._trim()

    def _trim(self) -> None:
        while (self.entries is not None and len(self._known) > self.entries) or (
            self.bytes is not None and self._used > self.bytes and self._known
        ):
            key, entry = self._known.popitem(last=False)
            self._used -= _size(key, entry)
            self._evictions += 1
            shelf = entry.shelf
            shelf.entries -= 1
            if not shelf.entries and self._shelves.get(shelf.owner) is shelf:
                del self._shelves[shelf.owner]
                shelf.kept = False


class _Itself:
    """A game that cannot be hashed, as a key: equal to itself alone."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.game is other.game

    def __hash__(self) -> int:
        return id(self.game)


def _refuse_rollouts(evaluator: Any) -> None:
    inside = evaluator
    while inside is not None:
        if isinstance(inside, Rollout):
            raise UsageError(
                "rollouts depend on the seed of a search and not on the state alone: remembering them would give every "
                "search the luck of the first; use Rollout without Cached"
            )
        inside = getattr(inside, "evaluator", None)


def _size(key: Any, entry: Entry) -> int:
    """Return the memory an entry takes; of a state that is a Python object, only its outermost part is counted."""
    inner = sys.getsizeof(key[1]) if isinstance(key, tuple) else 0
    return sys.getsizeof(key) + inner + sys.getsizeof(entry) + sys.getsizeof(entry.data) + TABLE_BYTES


def is_sound(logits: Array | None, values: Array, batch: Batch) -> bool:
    """Whether the search will take these answers; those it refuses are not kept."""
    if not (np.abs(values.astype(np.float64)) <= LARGEST).all():
        return False
    if logits is None or np.isfinite(logits).all():
        return True
    if logits.ndim == 3 and not batch.joint:
        logits = logits[np.arange(len(batch)), batch.movers]
    return bool((np.isfinite(logits) | ~batch.legal).all())


@lru_cache(maxsize=256)
def layout_of(values: np.dtype[Any], players: int, logits: np.dtype[Any] | None, shape: tuple[int, ...]) -> Any:
    """Return the record an answer is kept in."""
    fields: list[Any] = [("values", values, (players,))]
    return np.dtype(fields if logits is None else [*fields, ("logits", logits, shape)])


def packed(shelf: Shelf, logits: Array | None, values: Array) -> list[Entry]:
    """Return the rows of an answer as entries."""
    kind = None if logits is None else logits.dtype
    layout = layout_of(values.dtype, values.shape[1], kind, () if logits is None else logits.shape[1:])
    table = np.empty(len(values), layout)
    table["values"] = values
    if logits is not None:
        table["logits"] = logits
    data, size = table.tobytes(), layout.itemsize
    return [Entry(shelf, layout, data[start : start + size]) for start in range(0, len(data), size)]


def unpacked(entries: Sequence[Entry], batch: Batch) -> tuple[Array | None, Array]:
    """Return entries as (logits, values) about the rows of a batch."""
    layout = entries[0].layout
    if all(entry.layout is layout for entry in entries):
        table = np.frombuffer(b"".join([entry.data for entry in entries]), layout)
        names = layout.names or ()
        return np.array(table["logits"]) if "logits" in names else None, np.array(table["values"])
    # Answers of different kinds meet: of a batch where players choose at once, and of one where they do not.
    rows = [np.frombuffer(entry.data, entry.layout)[0] for entry in entries]
    values = np.array([row["values"] for row in rows])
    shown = ["logits" in (entry.layout.names or ()) for entry in entries]
    if not any(shown):
        return None, values
    if not all(shown):
        raise EvaluatorError("the evaluator under Cached gave logits for some states and None for others; give either")
    players, actions = values.shape[1], rows[0]["logits"].shape[-1]
    logits = np.zeros((len(rows), players, actions), np.result_type(*(row["logits"].dtype for row in rows)))
    for number, (row, mover) in enumerate(zip(rows, batch.movers.tolist(), strict=True)):
        if row["logits"].ndim == 2:
            logits[number] = row["logits"]
        else:
            logits[number, mover] = row["logits"]
    return logits, values
