"""What every game is, whichever way its rules were written: sizes, names, states."""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError, UnknownNameError, UsageError, shown
from anabranch.game.random import Random, key_of
from anabranch.game.spelling import misspelt
from anabranch.game.state import State
from anabranch.game.symmetry import Symmetry
from anabranch.game.words import OPTIONAL, REQUIRED

LONGEST_POSITION = 100_000  # letters of its text


class Rules(Protocol):
    """The verbs of a game on raw states (bytes or objects); everything above this line is written against it."""

    def setup(self, random: Random) -> Any: ...
    def turn(self, data: Any) -> int: ...
    def legal(self, data: Any, player: int) -> list[int]: ...
    def step(self, data: Any, actions: Sequence[int]) -> tuple[Any, list[float]]: ...
    def chance(self, data: Any) -> list[tuple[int, float]]: ...
    def draw(self, data: Any, random: Random) -> int: ...
    def same(self, data: Any, player: int, action: int) -> int: ...
    def key(self, data: Any) -> Any: ...
    def bounds(self, data: Any) -> tuple[list[float], list[float]]: ...
    def event(self, data: Any) -> tuple[int, ...]: ...
    def rollout_action(self, data: Any, player: int, random: Random) -> int: ...
    def heuristic(self, data: Any) -> list[float]: ...
    def observe(self, data: Any, player: int) -> npt.NDArray[np.float32]: ...


class GameType(ABCMeta):
    """Makes a game in two steps: the user's `__init__`, then `_seal`, which checks and freezes what it stored."""

    def __call__(cls, /, *args: Any, compiled: bool = True, **kwargs: Any) -> Any:
        signature = inspect.signature(cls.__init__)  # type: ignore[misc]
        try:
            signature.bind(None, *args, **kwargs)
        except TypeError as error:
            known = list(signature.parameters)[1:]
            unknown = [name for name in kwargs if name not in known]
            if unknown:
                raise UnknownNameError(f"parameter of {cls.__name__}", unknown[0], known) from None
            raise UsageError(f"{cls.__name__}: {error}; its parameters are: {', '.join(known) or 'none'}") from None
        game = super().__call__(*args, **kwargs)
        game._seal(compiled, args, kwargs)
        return game


class Game(metaclass=GameType):
    """Rules of play. Write one as `CompiledGame` (native speed) or `ObjectGame` (any Python)."""

    players: int
    actions: int
    outcomes: int = 0  # the most outcomes a chance state lists
    returns: tuple[float, float] = (-1.0, 1.0)  # the range of every player's total return
    rewards_along: bool = False  # whether rewards also come before the last step
    zero_sum: bool = False  # whether, of two players, one gets what the other pays, at every step
    discount: float = 1.0  # γ, per decision
    greedy: int = 0  # plies of a rollout in which a win in one is taken
    observation: tuple[int, ...] | None = None  # the shape of `planes` in `observe`
    cycles: str | float | None = None  # None, "bootstrap", or the value of a repetition
    fates: Mapping[str, tuple[int, ...]] = MappingProxyType({})  # names and shapes of what `fate` tells

    _sealed: bool = False
    _arguments: tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]] = ((), ())
    _verb_names: ClassVar[tuple[str, ...]] = ()

    def _seal(self, compiled: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        del compiled
        self._arguments = (args, tuple(sorted(kwargs.items())))
        for name in ("players", "actions"):
            value = getattr(self, name, None)
            if not isinstance(value, (int, np.integer)) or value < 1:
                slip = misspelt(self, Game) if value is None else None
                raise GameError(
                    f"{self.name}: __init__ must set self.{name} to a positive integer, found {value!r}"
                    + (f". {slip}" if slip else "")
                )
        if self.players > 62:
            raise GameError(f"{self.name}: at most 62 players, found {self.players}")
        if not _is_range(self.returns):
            raise GameError(
                f"{self.name}: self.returns must be two finite numbers (low, high), low ≤ high, e.g. (-1.0, 1.0); "
                f"found {self.returns!r}"
            )
        if not isinstance(self.discount, (int, float, np.number)) or not 0.0 <= self.discount <= 1.0:
            raise GameError(f"{self.name}: self.discount must lie in [0, 1], found {self.discount!r}")
        if (
            not isinstance(self.greedy, (int, np.integer))
            or isinstance(self.greedy, bool)
            or not 0 <= self.greedy <= 10**6
        ):
            raise GameError(f"{self.name}: self.greedy must be a number of plies, from 0 up, found {self.greedy!r}")
        if self.zero_sum and self.players != 2:
            raise GameError(f"{self.name}: self.zero_sum is a promise of games for two players, found {self.players}")
        if isinstance(self.cycles, str) and self.cycles != "bootstrap":
            raise GameError(f"{self.name}: self.cycles is None, 'bootstrap' or a number, found {self.cycles!r}")
        if not _are_shapes(self.fates):
            raise GameError(
                f"{self.name}: self.fates must say how large each of the things is that fate tells of, "
                f"e.g. {{'margin': (), 'ownership': (8, 8)}}; found {shown(self.fates)}"
            )
        for verb in REQUIRED:
            if not self.has(verb):
                slip = misspelt(self, Game)
                raise GameError(f"{self.name}: the verb {verb!r} is missing" + (f". {slip}" if slip else ""))
        if self.has("observe") and self.observation is None:
            raise GameError(f"{self.name}: observe needs self.observation, the shape of what it writes")
        slip = misspelt(self, Game)
        if slip:
            raise GameError(f"{self.name}: {slip}")
        self._sealed = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._sealed and not isinstance(getattr(type(self), name, None), cached_property):
            raise AttributeError(
                f"{self.name} is fixed once made, so self.{name} cannot be set: what changes in play belongs into the "
                f"state; to change a setting, make another game"
            )
        object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """The name it is loaded by, or its class."""
        return getattr(type(self), "title", type(self).__name__)

    @cached_property
    def rules(self) -> Rules:
        """The verbs on raw states."""
        raise GameError(
            f"{type(self).__name__} derives from ab.Game, which has no rules; derive it from ab.CompiledGame (states "
            f"are records) or ab.ObjectGame (states are Python objects)"
        )

    def has(self, verb: str) -> bool:
        """Whether the game defines an optional verb."""
        if verb not in REQUIRED + OPTIONAL:
            raise UsageError(f"{verb!r} is no verb; verbs are {', '.join(REQUIRED + OPTIONAL)}")
        return callable(getattr(type(self), verb, None))

    def start(self, seed: int = 0) -> State:
        """Return the first state; games with a random set-up draw it from the seed."""
        return State(self, self.rules.setup(Random(key_of((seed,)))))

    def position(self, text: str) -> State:
        """Return the state that a text shows: what `print(state)` shows, or what people type of it.

        Games read it by their `read`; a text that shows no possible position is a UsageError that says where and why.
        """
        if not isinstance(text, str):
            raise UsageError(f"{self.name}: a position is read from text, found {shown(text)}")
        if len(text) > LONGEST_POSITION:
            raise UsageError(f"{self.name}: the text of a position has at most {LONGEST_POSITION:,} letters")
        state = self.read(text)
        if not isinstance(state, State):
            raise GameError(f"{self.name}: read(text) must return a State, found {shown(state)}")
        return state

    def field(self, data: Any, name: str) -> Any:
        """Return a named part of a raw state."""
        return getattr(data, name)

    def replace(self, data: Any, **fields: Any) -> Any:
        """Return a raw state with some of its named parts changed; `State.replace` is this for states."""
        try:
            return data._replace(**fields) if hasattr(data, "_replace") else dataclasses.replace(data, **fields)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{self.name}: {error}; replace is for states with named fields") from None

    def playout(self, data: Any, random: Random, max_depth: int) -> Sequence[float] | npt.NDArray[np.float64] | None:
        """Return the rewards of one random game from a raw state, played in one go; None: it is played step by step.

        For games whose rules live in another library that can play on faster than Python can ask it to.
        """
        del data, random, max_depth
        return None

    def edge_discount(self, data: Any, declared: float) -> float:
        """What the step into a raw state is discounted by: as declared, unless a learned model has said otherwise."""
        del data
        return declared

    # What a game may say in plain Python, all optional.

    def symmetries(self) -> Sequence[Symmetry]:
        """Relabellings under which the rules stay the same: a group, of which the identity need not be listed."""
        return ()

    def agents(self) -> Mapping[str, Callable[[State, int], int]]:
        """Players that come with the game: names, as matches and commands know them, and functions of (state, seat)."""
        return {}

    def fate(self, states: Sequence[State], player: int) -> Mapping[str, Any]:
        """Tell what became of things: by the names in `fates`, numbers in [-1, 1], NaN where there is nothing to tell.

        `states` leads from a position to the end of the game, both included; it is the first of them that a network
        sees, with the eyes of `player`. Symmetries move whatever is as large as one plane of the observation as they
        move the first plane.
        """
        del states, player
        return {}

    def text(self, state: State) -> str:
        """Draw a state in characters."""
        return repr(state.data)

    def svg(self, state: State) -> str | None:
        """Draw a state as SVG text, one `<svg>` element with width and height; None: its text is shown instead."""
        return None

    def read(self, text: str) -> State:
        """Return the state that a text shows, the inverse of `text`; `position` calls it."""
        del text
        raise UsageError(
            f"{self.name} cannot read positions; give the moves that lead there, or write its read(self, text), which "
            f"returns a state"
        )

    def player_name(self, player: int) -> str:
        """What people call a player, in one word if possible: "x", "black", "rat"."""
        return f"player {player}"

    def action_name(self, action: int) -> str:
        """What people call an action."""
        return str(action)

    def move_name(self, state: State, player: int, action: int) -> str:
        """What people call a player's action in a state, where that says more than `action_name`."""
        del state, player
        return self.action_name(action)

    def parse_action(self, text: str) -> int:
        """Read what people call an action (the inverse of `action_name`)."""
        for action in range(self.actions):
            if self.action_name(action) == text:
                return action
        raise UnknownNameError("action", text, map(self.action_name, range(self.actions)), where=self.name)

    def outcome_name(self, outcome: int) -> str:
        """What people call an outcome of chance."""
        return str(outcome)

    def __repr__(self) -> str:
        args, kwargs = self._arguments
        inside = [repr(value) for value in args] + [f"{key}={value!r}" for key, value in kwargs]
        return f"{self.name}({', '.join(inside)})"

    @property
    def written_out(self) -> str:
        """How it prints itself where whatever is as usual is left out, and all else is named, in its own order.

        Games that were made by the same parameters, however these were given, have one such text.
        """
        args, kwargs = self._arguments
        signature = inspect.signature(type(self).__init__)
        given = signature.bind(None, *args, **dict(kwargs)).arguments
        told = [(name, repr(value)) for name, value in list(given.items())[1:]]
        inside = [f"{name}={value}" for name, value in told if value != repr(signature.parameters[name].default)]
        return f"{self.name}({', '.join(inside)})"

    def __str__(self) -> str:
        return repr(self).removesuffix("()")

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._identity() == other._identity())

    def __hash__(self) -> int:
        return hash((type(self), self._identity()))

    def _identity(self) -> Any:
        """What makes two instances of one class the same game."""
        return self._arguments

    # A game goes to another process as what it was made from, and is made again there.

    def __reduce__(self) -> tuple[Any, ...]:
        args, kwargs = self._arguments
        return _remade, (type(self), args, kwargs, getattr(self, "compiled", True))

    def __copy__(self) -> Self:
        return self  # it never changes

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def _remade(kind: type[Game], args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...], compiled: bool) -> Game:
    """Return a game made again."""
    game: Game = kind(*args, compiled=compiled, **dict(kwargs))  # type: ignore[call-arg]
    return game


def instead_of_a_game(given: Any) -> str:
    """Say what was given where a game is wanted, and how to get one from it."""
    if isinstance(given, State):
        return "found a state; its game is state.game"
    if isinstance(given, str):
        return f"found {shown(given)}; load it: ab.games.load({shown(given)})"
    if isinstance(given, type):
        return f"found the class {given.__name__}" + (f"; make one: {given.__name__}(…)" * issubclass(given, Game))
    return f"found {shown(given)}"


def _are_shapes(given: Any) -> bool:
    """Whether something names shapes."""
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and isinstance(shape, tuple) and all(isinstance(size, int) and size > 0 for size in shape)
        for name, shape in given.items()
    )


def _is_range(given: Any) -> bool:
    """Whether something is two finite numbers, of at most 1e100, the lower one first."""
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        return False
    return -1e100 <= low <= high <= 1e100
