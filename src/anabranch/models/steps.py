"""Transitions asked of a model outside of the engine: rows out, answers in, every one checked."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anabranch.errors import ModelError
from anabranch.models.arrays import Latents
from anabranch.models.model import Shape
from anabranch.models.said import by_seat, checked_column, checked_tuple
from anabranch.search.engine.failure import spelled

TAKEN = -1  # as the engine says it
# What the engine may find wrong with a row, in the order it numbers them.
WRONG = (
    "",
    "value is not finite, or beyond 1e100",
    "reward is not a finite number of float32",
    "discount does not lie in [0, 1]",
    "mover is none of the players",
    "legal has no action; where it ends, discount is 0",
    "logits are not finite (-inf is right only where an action is not legal)",
    "chances are not probabilities that sum to 1",
)


class Columns(NamedTuple):
    """What the engine is told, a row each; values and rewards by seat."""

    logits: Any
    value: Any
    reward: Any
    discount: Any = None
    mover: Any = None
    legal: Any = None
    chances: Any = None


class Steps:
    """One plan's roots on their way to their goals. Whatever fails drops all waves in flight: graphs are as before."""

    def __init__(self, native: Any, model: Any, shape: Shape, latents: Latents, masks: bool) -> None:
        self.native, self.model, self.shape, self.latents, self.masks = native, model, shape, latents, masks
        self._indices = latents.index

    @property
    def bytes(self) -> int:
        """Memory of the latents."""
        return self.latents.bytes

    def run(self, goals: list[int], depth: int, deadline: float | None) -> None:
        """Ask the model until all roots are done."""
        self.native.aim(goals)
        try:
            if depth == 1 and deadline is None and self.shape.players == 1 and not self.shape.stochastic:
                self._run_alone()
            else:
                self._run(depth, deadline)
        except BaseException as error:
            self._note(error)
            self.native.drop()
            raise

    def _run(self, depth: int, deadline: float | None) -> None:
        native = self.native
        pending: deque[Columns] = deque()
        while True:
            late = deadline is not None and time.perf_counter() >= deadline
            rows = native.gather(late) if len(pending) < depth else 0
            if rows:
                columns = self._checked(self._ask(rows), rows)
                if depth > 1:  # the model may write its next answer into the same arrays
                    columns = Columns(*(None if each is None else each.copy() for each in columns))
                pending.append(columns)
            if pending and (depth == 1 or not rows):
                native.answer(*pending.popleft())
            elif not rows:
                return

    def _run_alone(self) -> None:
        """The same for one player, one wave at a time: nothing is turned around the table, and steps follow fast."""
        native, latents, index = self.native, self.latents, self.latents.index
        gather, answer, recurrent, plain = native.gather, native.answer, self.model.recurrent, latents.plain
        before, least, put = 0, 5 if self.shape.discount is None else 4, latents.put
        while rows := gather(False):
            if rows != before:  # the engine fills the same arrays again while there are as many rows
                before, parents, actions = rows, native.parents, native.actions
            if plain is not None:
                told = recurrent(plain.array.take(parents, 0), actions)
            else:
                told = recurrent(latents.rows(index(parents)), index(actions))
            if type(told) is tuple and len(told) == 4 == least:
                following, reward, logits, value = told
                put(native.first, following, rows)
                columns: tuple[Any, ...] = (logits, value, reward)
            else:
                columns = self._told(told, rows)
            try:
                row, _ = answer(*columns)
            except TypeError:
                row = 0
            if row != TAKEN:
                answer(*self._checked(Columns(*columns), rows))

    def _ask(self, rows: int) -> Columns:
        """Let the model answer what was gathered, and keep the latents it makes."""
        if self.shape.stochastic:
            return self._ask_stochastic(rows)
        native, index = self.native, self.latents.index
        return self._told(self.model.recurrent(self.latents.rows(index(native.parents)), index(native.actions)), rows)

    def _told(self, told: Any, rows: int) -> Columns:
        """Keep the latents of a transition and return the rest."""
        checked_tuple(self.shape.name, "recurrent", told, 4, 7)
        self.latents.put(self.native.first, told[0], rows)
        return self._columns(told, rows)

    def _columns(self, told: Any, rows: int) -> Columns:
        """Take a transition apart, values and rewards in seat order."""
        columns = self._apart("recurrent", told)
        if self.shape.players == 1:
            return columns
        return self._seated("recurrent", columns, self.native.movers)

    def _apart(self, verb: str, told: Any) -> Columns:
        """Return what a transition says beside its latent."""
        _, reward, logits, value, *more = told
        discount, legal, mover = (*more, None, None, None)[:3]
        name, known = self.shape.name, self.shape.discount
        if discount is None and known is None:
            raise ModelError(
                f"{name}: {name}.discount is None, so {verb} says it step by step, and it gave none; give discount, 0 "
                f"where it ends, or set {name}.discount to a number"
            )
        if discount is not None and known is not None:
            raise ModelError(
                f"{name}: {verb} gave a discount, but {name}.discount is {known}; set it to None to let {verb} say it "
                f"step by step"
            )
        return Columns(logits, value, reward, discount, mover, legal)

    def _seated(self, verb: str, columns: Columns, before: npt.NDArray[np.int64]) -> Columns:
        """Return the same with values from the seat of who moves then, and rewards of who moved before, by seat."""
        shape, rows = self.shape, len(before)
        mover, after = columns.mover, (before + 1) % shape.players
        if mover is not None:
            mover = after = checked_column(f"{shape.name}: {verb}", "mover", mover, (rows,))
        reward = None if columns.reward is None else by_seat(shape, verb, "reward", columns.reward, before)
        return columns._replace(value=by_seat(shape, verb, "value", columns.value, after), reward=reward, mover=mover)

    def _ask_stochastic(self, rows: int) -> Columns:
        """Ask for afterstates where the parent is a decision, for what follows an outcome where chance decided."""
        native, shape, model = self.native, self.shape, self.model
        after = native.after.astype(bool)
        parents, actions, first = native.parents, native.actions, native.first
        chances = np.zeros((rows, shape.outcomes))
        made: dict[str, Any] = {
            "reward": np.zeros((rows, shape.players)),
            "value": np.zeros((rows, shape.players)),
            "logits": np.zeros((rows, shape.actions), np.float32),
            "discount": np.full(rows, 1.0 if shape.discount is None else shape.discount),
            "mover": np.zeros(rows, np.int64),
            "legal": np.ones((rows, shape.actions), bool),
        }
        given = dict.fromkeys(made, False)
        places = np.flatnonzero(after)
        if len(places):
            told = model.afterstate(self.latents.rows(self._indices(parents[places])), self._indices(actions[places]))
            latent, odds, reward = (*checked_tuple(shape.name, "afterstate", told, 2, 3), None)[:3]
            self._scatter(first, places, latent)
            where, wanted = f"{shape.name}: afterstate", (len(places), shape.outcomes)
            chances[places] = checked_column(where, "chances", odds, wanted)
            if reward is not None:
                given["reward"] = True
                made["reward"][places] = by_seat(shape, "afterstate", "reward", reward, native.movers[places])
        places = np.flatnonzero(~after)
        if len(places):
            told = model.chance(self.latents.rows(self._indices(parents[places])), self._indices(actions[places]))
            checked_tuple(shape.name, "chance", told, 4, 7)
            self._scatter(first, places, told[0])
            for name, column in self._after_chance(told, places)._asdict().items():
                if column is not None:
                    given[name] = True
                    if name == "logits" and column.dtype == np.float64:
                        made[name] = made[name].astype(np.float64)
                    made[name][places] = column
        if not given["mover"]:
            made["mover"] = (native.movers + 1) % shape.players
        return Columns(
            made["logits"] if given["logits"] else None,
            made["value"],
            made["reward"] if given["reward"] else None,
            made["discount"] if shape.discount is None else None,
            made["mover"],
            made["legal"] if self.masks else None,
            chances,
        )

    def _after_chance(self, told: Any, places: npt.NDArray[np.int64]) -> Columns:
        """Return what follows outcomes as the engine reads it; a row to blame is told by its place in the whole."""
        try:
            columns = self._seated("chance", self._apart("chance", told), self.native.movers[places])
            return self._plain("chance", columns, len(places))
        except ModelError as error:
            error.row = None if error.row is None else int(places[error.row])
            raise

    def _scatter(self, first: int, places: npt.NDArray[np.int64], latent: Any) -> None:
        self.latents.put_at(self._indices(places + first), latent, int(first) + int(places[-1]) + 1, len(places))

    def _checked(self, columns: Columns, rows: int) -> Columns:
        """Return answers to what was gathered last as the engine takes them; refuse what it cannot use."""
        try:
            row, wrong = self.native.look(*columns)
        except TypeError:  # no arrays, or not in this processor's memory
            row, wrong = 0, -1
        if row != TAKEN and wrong < 0:  # other types or shapes than the engine reads at once
            columns = self._plain("recurrent", columns, rows)
            row, wrong = self.native.look(*columns)
        if row != TAKEN:
            assert wrong > 0
            action = int(self.native.actions[row])
            raise ModelError(f"{self.shape.name}: {WRONG[wrong]}: row {row}, after action {action}", row)
        return columns

    def _plain(self, verb: str, columns: Columns, rows: int) -> Columns:
        """Return the columns as the engine reads them, or say which has a shape or type that cannot be."""
        shape, name = self.shape, self.shape.name
        if columns.legal is not None and not self.masks:
            raise ModelError(
                f"{name}: {verb} says what is legal, but nothing did at the roots; let initial do so too, or give "
                f"legal= to plan"
            )
        wide = {"logits": shape.actions, "legal": shape.actions, "chances": shape.outcomes}
        made: dict[str, Any] = {}
        for column, given in columns._asdict().items():
            if given is None and column != "value":
                made[column] = None
            else:
                wanted = (rows,) if column in ("discount", "mover") else (rows, wide.get(column, shape.players))
                made[column] = checked_column(f"{name}: {verb}", column, given, wanted)
        return Columns(**made)

    def _note(self, error: BaseException) -> None:
        """Say where in the search a model was asked when something went wrong."""
        rows = len(self.native.parents)
        if rows and isinstance(error, Exception):
            row = error.row if isinstance(error, ModelError) else None
            root = self.native.root_of(row or 0)
            line = spelled(self.native.searches[root].line())
            error.add_note(
                f"while {self.shape.name} was asked for {rows} {'transition' if rows == 1 else 'transitions'}; "
                f"actions from root {root}: {line}"
            )
