"""The built-in games by name, one file each: `ab.games.load("connect_four", rows=6)`."""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anabranch.errors import UnknownNameError, UsageError, shortened
from anabranch.game.game import Game
from anabranch.game.load import load_from
from anabranch.game.source import named_in_full

_BUILT_IN = {
    "2048": "Game2048",
    "connect_four": "ConnectFour",
    "dice_race": "DiceRace",
    "explicit": "Explicit",
    "go": "Go",
    "goofspiel": "Goofspiel",
    "matrix": "Matrix",
    "n_in_a_row": "NInARow",
    "oshi_zumo": "OshiZumo",
    "othello": "Othello",
    "pig": "Pig",
    "pyrat": "PyRat",
    "random_game": "RandomGame",
    "take_away": "TakeAway",
    "tic_tac_toe": "TicTacToe",
    "yahtzee": "Yahtzee",
    "yatzy": "Yatzy",
}
_FILES = {"2048": "game_2048"}  # where a name is no name of a module


def names() -> list[str]:
    """Return the names of the built-in games."""
    return sorted(_BUILT_IN)


def load(name: str, /, **options: Any) -> Game:
    """Make a game: a built-in name, `package.module:Name`, `path/to/file.py:Name`, or `open_spiel:name`.

    Options go to its `__init__`; of a game of OpenSpiel they are its parameters.
    """
    if name.startswith("open_spiel:"):
        from anabranch.games.open_spiel import OpenSpiel

        return OpenSpiel(name, **options)
    if name.partition(":")[0].lower().replace("-", "_") in ("openspiel", "open_spiel", "spiel", "pyspiel"):
        raise UnknownNameError("game", name, (), meant=[f"open_spiel:{name.partition(':')[2] or 'NAME'}"])
    where, separator, member = name.rpartition(":")
    if separator:
        return load_from(where, member, **options)
    if name.endswith(".py"):
        meant = shortened(" or ".join(named_in_full(Path(name))), 300)
        raise UsageError(f"which game of {shortened(name)}? Name its class too: {meant}")
    if name not in _BUILT_IN:
        raise UnknownNameError("game", name, _BUILT_IN, meant=_elsewhere(name))
    module = importlib.import_module(f"anabranch.games.{_FILES.get(name, name)}")
    game: Game = getattr(module, _BUILT_IN[name])(**options)
    return game


def _elsewhere(name: str) -> list[str]:
    """Return the full name of a game that is not built in: it is in a file of that name, or one of OpenSpiel."""
    path = Path(f"{name}.py")
    if os.path.isfile(path):
        return named_in_full(path)
    if find_spec("pyspiel") is None:
        return []
    from anabranch.games.open_spiel_load import pyspiel_module

    return [f"open_spiel:{name}"] if name in pyspiel_module().registered_names() else []
