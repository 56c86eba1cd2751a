"""What is compiled of a game: for each verb an entry, a function whose arguments are plain C types.

An entry's argument is described by a NumPy dtype: a record is passed as a pointer to it, a sub-array (a dtype with a
shape) as a pointer to its first item, a number by value. `cpp/anabranch/rules.hpp` declares the same functions for C++.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from anabranch.game.words import EVENT_WORDS

Verbs = Mapping[str, Any]  # the game's methods by name


@dataclass(frozen=True)
class Layout:
    """The sizes and record types that compiled code has built in; instances that share them share the code."""

    players: int
    actions: int
    outcomes: int
    observation: tuple[int, ...]
    instance: np.dtype[np.void]
    state: np.dtype[np.void]
    key: np.dtype[np.void] | None

    @staticmethod
    def of(game: Any) -> Layout:
        """Return the layout of a compiled game."""
        return Layout(
            players=int(game.players),
            actions=int(game.actions),
            outcomes=int(game.outcomes),
            observation=tuple(int(size) for size in game.observation or ()),
            instance=game.instance.dtype,
            state=game.state,
            key=game.key_record,
        )


@dataclass(frozen=True)
class Entry:
    """One function of compiled code: the verbs it calls, the types it takes, and how it is made of them.

    `make` returns a plain function that has the verbs in its closure; it and all it reaches are compiled together, so
    it may call helpers too. `integer` says that it returns its verb's answer, an integer; others return 0.
    """

    verbs: tuple[str, ...]
    arguments: Callable[[Layout], tuple[np.dtype[Any], ...]]
    make: Callable[[Verbs], FunctionType]
    integer: bool = False


def _turn(verbs: Verbs) -> Any:
    verb = verbs["turn"]

    def turn(game, state):  # type: ignore[no-untyped-def]
        return verb(game, state)

    return turn


def _legal(verbs: Verbs) -> Any:
    verb = verbs["legal"]

    def legal(game, state, player, actions):  # type: ignore[no-untyped-def]
        return verb(game, state, np.int64(player), actions.cells)

    return legal


def _step(verbs: Verbs) -> Any:
    verb = verbs["step"]

    def step(game, state, actions, rewards):  # type: ignore[no-untyped-def]
        verb(game, state, actions.cells, rewards.cells)
        return 0

    return step


def _setup(verbs: Verbs) -> Any:
    verb = verbs["setup"]

    def setup(game, state, random):  # type: ignore[no-untyped-def]
        verb(game, state, random.cells)
        return 0

    return setup


def _chance(verbs: Verbs) -> Any:
    verb = verbs["chance"]

    def chance(game, state, outcomes, chances):  # type: ignore[no-untyped-def]
        return verb(game, state, outcomes.cells, chances.cells)

    return chance


def _draw(verbs: Verbs) -> Any:
    verb = verbs["draw"]

    def draw(game, state, random):  # type: ignore[no-untyped-def]
        return verb(game, state, random.cells)

    return draw


def _same(verbs: Verbs) -> Any:
    verb = verbs["same"]

    def same(game, state, player, action):  # type: ignore[no-untyped-def]
        return verb(game, state, np.int64(player), np.int64(action))

    return same


def _key(verbs: Verbs) -> Any:
    verb = verbs["key"]

    def key(game, state, key):  # type: ignore[no-untyped-def]
        verb(game, state, key)
        return 0

    return key


def _bounds(verbs: Verbs) -> Any:
    verb = verbs["bounds"]

    def bounds(game, state, low, high):  # type: ignore[no-untyped-def]
        verb(game, state, low.cells, high.cells)
        return 0

    return bounds


def _event(verbs: Verbs) -> Any:
    verb = verbs["event"]

    def event(game, state, words):  # type: ignore[no-untyped-def]
        verb(game, state, words.cells)
        return 0

    return event


def _rollout_action(verbs: Verbs) -> Any:
    verb = verbs["rollout_action"]

    def rollout_action(game, state, player, random):  # type: ignore[no-untyped-def]
        return verb(game, state, np.int64(player), random.cells)

    return rollout_action


def _heuristic(verbs: Verbs) -> Any:
    verb = verbs["heuristic"]

    def heuristic(game, state, values):  # type: ignore[no-untyped-def]
        verb(game, state, values.cells)
        return 0

    return heuristic


def _observe(verbs: Verbs) -> Any:
    verb = verbs["observe"]

    def observe(game, state, player, planes):  # type: ignore[no-untyped-def]
        verb(game, state, np.int64(player), planes.cells)
        return 0

    return observe


def _buffer(kind: Any, *shape: int) -> np.dtype[Any]:
    return np.dtype((kind, shape))


_INT32 = np.dtype(np.int32)
_RANDOM = _buffer(np.uint64, 1)


def _verb(name: str, make: Any, *more: Callable[[Layout], Any], integer: bool = False) -> Entry:
    """Return the entry of one verb: `self` and `state`, then what the verb takes besides."""

    def arguments(layout: Layout) -> tuple[np.dtype[Any], ...]:
        return (layout.instance, layout.state, *(argument(layout) for argument in more))

    return Entry(verbs=(name,), arguments=arguments, make=make, integer=integer)


def _seats(kind: Any) -> Callable[[Layout], np.dtype[Any]]:
    return lambda layout: _buffer(kind, layout.players)


ENTRIES: dict[str, Entry] = {
    "turn": _verb("turn", _turn, integer=True),
    "legal": _verb("legal", _legal, lambda _: _INT32, lambda layout: _buffer(np.int32, layout.actions), integer=True),
    "step": _verb("step", _step, _seats(np.int32), _seats(np.float64)),
    "setup": _verb("setup", _setup, lambda _: _RANDOM),
    "chance": _verb(
        "chance",
        _chance,
        lambda layout: _buffer(np.int32, layout.outcomes),
        lambda layout: _buffer(np.float64, layout.outcomes),
        integer=True,
    ),
    "draw": _verb("draw", _draw, lambda _: _RANDOM, integer=True),
    "same": _verb("same", _same, lambda _: _INT32, lambda _: _INT32, integer=True),
    "key": _verb("key", _key, lambda layout: layout.key),
    "bounds": _verb("bounds", _bounds, _seats(np.float64), _seats(np.float64)),
    "event": _verb("event", _event, lambda _: _buffer(np.int64, EVENT_WORDS)),
    "rollout_action": _verb("rollout_action", _rollout_action, lambda _: _INT32, lambda _: _RANDOM, integer=True),
    "heuristic": _verb("heuristic", _heuristic, _seats(np.float64)),
    "observe": _verb("observe", _observe, lambda _: _INT32, lambda layout: _buffer(np.float32, *layout.observation)),
}
