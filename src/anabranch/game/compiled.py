"""Games written as verbs over fixed-size records: ordinary Python to read, native code to run."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError, UnknownNameError, UsageError, shown
from anabranch.game.game import Game, Rules
from anabranch.game.interpreted import InterpretedRules
from anabranch.game.random import Random
from anabranch.game.record import RecordView, cells, pack
from anabranch.game.state import State
from anabranch.game.words import VERB_ARGUMENTS, VERBS

_OWN = ("state", "key_record", "compiled", "zero_sum")


class CompiledGame(Game):
    """Rules that run at native speed. `__init__` fixes sizes and contents; verbs are ordinary methods.

    Compiled, `self` is a read-only record of the numbers and arrays `__init__` stored; `state` is the record declared
    in `self.state`. `Game(…, compiled=False)` runs the same source interpreted. Type checkers do not see that keyword,
    which belongs to every game and to no `__init__`; `Game(…).interpreted()` is the same for them.
    """

    state: np.dtype[np.void]
    key_record: np.dtype[np.void] | None = None
    compiled: bool = True

    if TYPE_CHECKING:

        def turn(self, state: Any) -> int: ...
        def legal(self, state: Any, player: int, actions: Any) -> int: ...
        def step(self, state: Any, actions: Any, rewards: Any) -> None: ...

    def _seal(self, compiled: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        layout = getattr(self, "state", None)
        if not isinstance(layout, np.dtype) or layout.names is None:
            raise GameError(f"{self.name}: __init__ must set self.state = ab.record(…), found {layout!r}")
        if self.has("key") and self.key_record is None:
            raise GameError(f"{self.name}: the key verb needs self.key_record = ab.record(…)")
        if (self.has("chance")) and self.outcomes < 1:
            raise GameError(f"{self.name}: the chance verb needs self.outcomes, the most outcomes it lists")
        for verb in VERBS:
            if self.has(verb):
                _check_arguments(self, verb)
        for name, value in self._stored().items():
            if isinstance(value, np.ndarray):
                frozen = cells(value.copy())  # items as Python ints: interpreted rules count like compiled ones
                frozen.flags.writeable = False
                object.__setattr__(self, name, frozen)
        self.compiled = compiled
        super()._seal(compiled, args, kwargs)

    @cached_property
    def rules(self) -> Rules:
        if not self.compiled:
            return InterpretedRules(self)
        from anabranch.game.native.rules import NativeRules

        return NativeRules(self)

    def interpreted(self) -> Self:
        """Return the same game with its verbs run as ordinary Python."""
        args, kwargs = self._arguments
        return type(self)(*args, compiled=False, **dict(kwargs))  # type: ignore[call-arg]

    def _stored(self) -> dict[str, Any]:
        """Return what `__init__` stored, and what the class body did under other names."""
        stored: dict[str, Any] = {}
        for kind in reversed(type(self).__mro__):
            if issubclass(kind, CompiledGame) and kind is not CompiledGame:
                stored.update(vars(kind))
        return stored | vars(self)

    @cached_property
    def instance(self) -> npt.NDArray[np.void]:
        """`self` as verbs see it when compiled: one record of every number and array that it or its class stores."""
        values = {name: _storable(value) for name, value in self._stored().items() if not name.startswith("_")}
        for name in ("players", "actions", "outcomes", "discount"):
            values[name] = _storable(getattr(self, name))
        kept = {name: value for name, value in sorted(values.items()) if value is not None and name not in _OWN}
        instance = np.zeros((), pack({name: (value.dtype, value.shape) for name, value in kept.items()}))
        for name, value in kept.items():
            instance[name] = value
        instance.flags.writeable = False
        return instance

    def field(self, data: bytes, name: str) -> Any:
        if name not in (self.state.names or ()):
            raise AttributeError(
                f"{self.name} states have no {name!r}; the record has {', '.join(self.state.names or ())}"
            )
        value = np.frombuffer(data, self.state)[0][name]
        # With items as Python ints, as interpreted verbs see them: `text` may use the same helpers, 100 + 100 is 200.
        return cells(value.copy()) if isinstance(value, np.ndarray) else value.item()

    def text(self, state: State) -> str:
        """Draw a state in characters: its fields, if the game knows nothing better."""
        return repr(RecordView(self.state, bytearray(state.data)))

    def replace(self, data: bytes, **fields: Any) -> bytes:
        """Return record bytes with some fields changed; a value that does not fit its field is refused."""
        array = np.frombuffer(bytearray(data), self.state)
        for name, value in fields.items():
            if name not in (self.state.names or ()):
                raise UnknownNameError(f"field of a state of {self.name}", name, self.state.names or ())
            try:
                array[name] = value
                fits = np.array_equal(array[name][0], np.broadcast_to(np.asarray(value), array[name][0].shape))
            except (TypeError, ValueError, OverflowError):
                fits = False
            if not fits:
                kind = self.state[name]
                shape = f" of shape {kind.shape}" if kind.shape else ""
                raise UsageError(f"{self.name}: {name} is {kind.base}{shape}, which cannot hold {shown(value)}")
        return array.tobytes()

    def _identity(self) -> Any:
        # Not the arguments: they may be lists or arrays, which neither hash nor compare, and verbs cannot see them.
        return (repr(self.instance.dtype.descr), self.instance.tobytes(), self.state)


def _check_arguments(game: CompiledGame, verb: str) -> None:
    """Refuse a verb that cannot be called with what verbs are given."""
    method, given = getattr(type(game), verb), ("self", *VERB_ARGUMENTS[verb])
    code = getattr(method, "__code__", None)
    if code is None:
        return
    needed = code.co_argcount - len(method.__defaults__ or ())
    if not needed <= len(given) <= code.co_argcount or code.co_kwonlyargcount > len(method.__kwdefaults__ or ()):
        found = ", ".join(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        raise GameError(
            f"{game.name}: {verb} takes ({', '.join(given)}), found ({found}), {code.co_filename}:{code.co_firstlineno}"
        )


def _storable(value: Any) -> npt.NDArray[Any] | None:
    """Return a number, array or tuple of numbers as an array the instance record can hold, None if it cannot."""
    if isinstance(value, (bool, int, float, np.number, np.bool_, np.ndarray)) or (
        isinstance(value, (tuple, list)) and all(isinstance(x, (bool, int, float, np.number)) for x in value)
    ):
        array = np.asarray(value)
        if array.dtype.kind in "biuf" and array.size:
            return array
    return None


def random_words(random: Random) -> npt.NDArray[np.uint64]:
    """Return a `Random` as compiled verbs hold it: one word of memory."""
    return np.array([random.word], np.uint64)
