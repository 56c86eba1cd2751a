"""One sound, fast Monte-Carlo graph search for every kind of game and for learned models.

Names are loaded when first used, so `import anabranch` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anabranch import errors as errors
    from anabranch import games as games
    from anabranch.game.compiled import CompiledGame as CompiledGame
    from anabranch.game.game import Game as Game
    from anabranch.game.objects import ObjectGame as ObjectGame
    from anabranch.game.perft import PerftRow as PerftRow
    from anabranch.game.perft import perft as perft
    from anabranch.game.random import Random as Random
    from anabranch.game.random import below as below
    from anabranch.game.random import uniform as uniform
    from anabranch.game.record import copy as copy
    from anabranch.game.record import record as record
    from anabranch.game.state import State as State
    from anabranch.game.symmetry import Symmetry as Symmetry
    from anabranch.game.symmetry import board_cells as board_cells
    from anabranch.game.words import CHANCE as CHANCE
    from anabranch.game.words import IDLE as IDLE
    from anabranch.game.words import OVER as OVER
    from anabranch.game.words import player as player

_HOME = {
    "CHANCE": "game.words",
    "CompiledGame": "game.compiled",
    "Game": "game.game",
    "IDLE": "game.words",
    "ObjectGame": "game.objects",
    "OVER": "game.words",
    "PerftRow": "game.perft",
    "Random": "game.random",
    "State": "game.state",
    "Symmetry": "game.symmetry",
    "below": "game.random",
    "board_cells": "game.symmetry",
    "copy": "game.record",
    "perft": "game.perft",
    "player": "game.words",
    "record": "game.record",
    "uniform": "game.random",
}
_MODULES = ("errors", "games")

__all__ = [*sorted(_HOME), *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"anabranch.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"anabranch.{name}")
    raise AttributeError(f"module 'anabranch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
