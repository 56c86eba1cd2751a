"""Models that are compiled functions: small networks, tables, exact laws, stepped through without Python.

A model derives from `ab.CompiledModel`. `initial` is ordinary NumPy and called once a plan. `recurrent` is compiled as
the verbs of games are (`game/native/`), by Numba, and called by the engine one transition at a time:

    def recurrent(self, latent, action, out):
        out.latent[0] = (31 * latent[0] + action + 1) % 64
        out.reward[0] = self.rewards[out.latent[0]]
        …

`self` is a read-only record of the numbers and arrays it has stored when a planner is made; `out` holds before every
call what holds where nothing is said: no reward, the model's discount, the next player, everything legal.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from anabranch.errors import MismatchError, ModelError, UsageError
from anabranch.game.native.entries import Entry, Verbs
from anabranch.models.model import Initial, Shape, Transition, shape_of
from anabranch.search.engine.failure import spelled

if TYPE_CHECKING:
    from anabranch.game.native.loader import Loaded


class CompiledModel:
    """A model whose `recurrent` runs natively. Set `actions`, `latent` (an example of one), what it computes with."""

    players: int = 1
    actions: int
    discount: float | None = 1.0
    view = "seats"
    outcomes = 0
    latent: npt.NDArray[Any]  # shape and type of one
    key_record = state = observation = None  # which games have

    def initial(self, observations: Any) -> Any:
        """Return `Initial`, or a tuple like it, for a batch of observations; in plain NumPy."""
        raise NotImplementedError

    if TYPE_CHECKING:

        def recurrent(self, latent: Any, action: Any, out: Any) -> None: ...

    @property
    def name(self) -> str:
        """What it is called."""
        return type(self).__name__

    @property
    def instance(self) -> npt.NDArray[np.void]:
        """`self` as the compiled function sees it, as it is now."""
        from anabranch.game.compiled import _storable
        from anabranch.game.record import pack

        stored: dict[str, Any] = {}
        for kind in reversed(type(self).__mro__):
            if issubclass(kind, CompiledModel) and kind is not CompiledModel:
                stored.update(vars(kind))
        stored.update(vars(self))
        stored.update(players=self.players, actions=self.actions)
        values = {name: _storable(value) for name, value in stored.items() if not name.startswith("_")}
        kept = {name: value for name, value in sorted(values.items()) if value is not None and name != "latent"}
        instance = np.zeros((), pack({name: (value.dtype, value.shape) for name, value in kept.items()}))
        for name, value in kept.items():
            instance[name] = value
        return instance

    @property
    def example(self) -> npt.NDArray[Any]:
        """One latent, checked."""
        latent = getattr(self, "latent", None)
        if not isinstance(latent, np.ndarray) or latent.ndim < 1 or latent.size < 1 or latent.dtype.kind not in "fiu":
            raise UsageError(
                f"{self.name}: set self.latent to an array of the shape and type of one latent, with an axis at least, "
                f"e.g. np.zeros(1, np.int64); found {latent!r}"
            )
        return latent

    @property
    def answer(self) -> np.dtype[np.void]:
        """The record that `recurrent` writes: as `cpp/anabranch/model.hpp` lays it out."""
        players, actions, latent = self.players, self.actions, self.example
        fields: list[tuple[str, Any, int]] = [
            ("reward", (np.float64, (players,)), 8 * players),
            ("value", (np.float64, (players,)), 8 * players),
            ("discount", np.float64, 8),
            ("mover", np.int64, 8),
            ("latent", (latent.dtype, latent.shape), latent.nbytes),
            ("logits", (np.float32, (actions,)), 4 * actions),
            ("legal", (np.bool_, (actions,)), actions),
        ]
        offsets, at = [], 0
        for _, _, size in fields:
            offsets.append(at)
            at += (size + 7) // 8 * 8
        names, formats = [name for name, _, _ in fields], [kind for _, kind, _ in fields]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": at})

    @cached_property
    def loaded(self) -> Loaded:
        """The compiled function."""
        from anabranch.game.native.unit import load_unit

        shape_of(self)
        self._try()
        latent, answer = self.example, self.answer
        entry = Entry(
            verbs=("recurrent",),
            arguments=lambda layout: (
                layout.instance,
                np.dtype((latent.dtype, latent.shape)),
                np.dtype(np.int32),
                answer,
            ),
            make=_entry,
        )
        return load_unit(self, ["recurrent"], {"recurrent": entry}, tried=True)

    def has(self, verb: str) -> bool:
        """Whether it has a verb of games: none."""
        del verb
        return False

    def give_to(self, native: Any) -> None:
        """Let the engine call the compiled function, with the numbers stored now."""
        loaded = self.loaded
        bytes_of_latent = (self.example.nbytes + 7) // 8 * 8
        native.compile(loaded.addresses["recurrent"], self.instance.tobytes(), bytes_of_latent, loaded.owner)
        if native.answer_size != self.answer.itemsize:
            raise MismatchError("the engine and the package lay out answers differently; build it again")

    def packed(self, latent: Any, rows: int) -> npt.NDArray[np.uint8]:
        """Return latents as the engine keeps them, `[B, bytes]`."""
        example, given = self.example, np.asarray(latent)
        if given.shape != (rows, *example.shape) or not np.can_cast(given.dtype, example.dtype, "same_kind"):
            raise ModelError(
                f"{self.name}: initial gave latents of shape {given.shape} and type {given.dtype}, expected "
                f"{(rows, *example.shape)} and {example.dtype}"
            )
        size = (example.nbytes + 7) // 8 * 8
        flat = np.ascontiguousarray(given, example.dtype).reshape(rows, -1).view(np.uint8).reshape(rows, example.nbytes)
        if size == example.nbytes:
            return flat
        made = np.zeros((rows, size), np.uint8)
        made[:, : example.nbytes] = flat
        return made

    def step(self, latent: npt.NDArray[Any], action: int, mover: int) -> Any:
        """Call `recurrent` as ordinary Python for one latent; return the record it wrote."""
        out = np.zeros(1, self.answer).view(np.recarray)[0]
        out.discount = 1.0 if self.discount is None else self.discount
        out.mover = (mover + 1) % self.players
        out.legal[:] = True
        self.recurrent(latent.copy(), int(action), out)
        return out

    def _try(self) -> None:
        """Step once interpreted before anything is compiled: a slip is then an ordinary exception on its own line."""
        self.step(np.zeros_like(self.example), 0, 0)

    def interpreted(self) -> Interpreted:
        """Return the same model as ordinary Python, batched: what the reference and tests plan in."""
        return Interpreted(self)


def _entry(verbs: Verbs) -> Any:
    verb = verbs["recurrent"]

    def recurrent(model, latent, action, out):  # type: ignore[no-untyped-def]
        verb(model, latent.cells, np.int64(action), out)
        return 0

    return recurrent


class Interpreted:
    """A compiled model's source run as ordinary Python, row by row. Latents bring their mover along."""

    view = "seats"

    def __init__(self, model: CompiledModel) -> None:
        self.model, self.name = model, model.name
        self.players, self.actions, self.discount = model.players, model.actions, model.discount

    def initial(self, observations: Any) -> Any:
        """What the model says, with the mover beside each latent."""
        told = Initial(*self.model.initial(observations))
        latent = np.asarray(told.latent, self.model.example.dtype)
        mover = np.zeros(len(latent), np.int64) if told.mover is None else np.asarray(told.mover, np.int64)
        return told._replace(latent=(latent, mover))

    def recurrent(self, latent: Any, action: Any) -> Transition:
        """Step row by row."""
        rows = [self.model.step(each, a, m) for each, m, a in zip(*latent, action, strict=True)]
        mover = np.array([row.mover for row in rows], np.int64)
        return Transition(
            (np.stack([row.latent for row in rows]), mover),
            np.stack([row.reward for row in rows]),
            np.stack([row.logits for row in rows]),
            np.stack([row.value for row in rows]),
            None if self.discount is not None else np.array([row.discount for row in rows]),
            self._legal(rows),
            mover,
        )

    def _legal(self, rows: list[Any]) -> npt.NDArray[np.bool_] | None:
        legal = np.stack([row.legal for row in rows])
        return None if not self.masks else legal

    @cached_property
    def masks(self) -> bool:
        """Whether the model says what is legal."""
        return bool(getattr(self.model, "masks", False))


class CompiledSteps:
    """Roots whose model the engine calls by itself."""

    bytes = 0  # latents lie in the graphs

    def __init__(self, native: Any, model: CompiledModel, shape: Shape, threads: int) -> None:
        self.native, self.model, self.shape, self.threads = native, model, shape, threads

    def run(self, goals: list[int], depth: int, deadline: float | None) -> None:
        """Search all roots to their goals."""
        del depth
        left = None if deadline is None else max(0.0, deadline - time.perf_counter())
        _, failure = self.native.run(goals, left, self.threads)
        if failure is not None:
            self._raise(failure)

    def _raise(self, failure: Any) -> NoReturn:
        """Call the model again as Python, where it raises as its author wrote it; else say what it answered."""
        from anabranch.models.steps import WRONG

        model, data = self.model, failure["state"]
        example = model.example
        at = len(data) - (example.nbytes + 7) // 8 * 8
        latent = np.frombuffer(data, example.dtype, example.size, at).reshape(example.shape)
        note = f"while planning in {model.name}; actions from root {failure['root']}: {spelled(failure['line'])}"
        wrong = int(failure["player"])
        try:
            model.step(latent, failure["action"], int(data[5]))
        except Exception as error:
            error.add_note(note)
            raise
        if wrong:
            refused = ModelError(f"{model.name}: {WRONG[wrong]}: after action {failure['action']}")
            refused.add_note(note)
            raise refused
        raise MismatchError(f"{model.name}: recurrent failed compiled, but not interpreted on the same latent. {note}")
