"""What do rules in Python cost? Connect four compiled by Numba against the same rules in C++, in the same engine.

The C++ rules are a shared library whose addresses fill the same struct (`make bench-native` builds it), so nothing but
the rules differs.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import measure  # first: it limits threads
from engine import contender, make

import anabranch as ab
from anabranch import _native

SIMULATIONS = 800
BAR = 0.85
LIBRARY = Path(__file__).parents[1] / "build" / "benchmarks" / "libbenchmark_rules.so"


def native_rules(players: int, actions: int) -> tuple[Any, int]:
    """Return the C++ rules as the engine takes them, and the size of their states."""
    library = ctypes.CDLL(str(LIBRARY))
    size = library.connect_four_state_size()
    rules = _native.Rules(b"", state_size=size, key_size=0, planes=0, players=players, actions=actions, outcomes=0)
    for verb in ("turn", "legal", "step"):
        address = ctypes.cast(getattr(library, f"connect_four_{verb}"), ctypes.c_void_p).value
        assert address is not None
        rules.set(verb, address, library)
    return rules, size


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    game = ab.games.load("connect_four")
    rules, size = native_rules(game.players, game.actions)
    contenders = [
        contender("Numba", make(game, ab.Uniform()), SIMULATIONS),
        contender("C++", make(game, ab.Uniform(), rules, bytes(size)), SIMULATIONS),
    ]
    rates = measure.compare(contenders, rounds=41)
    name = f"connect four in Python, {SIMULATIONS} simulations"
    return [measure.versus(name, rates, "Numba", "C++", BAR, "the same rules in C++, same engine")]


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
