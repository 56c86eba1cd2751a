"""Which game a run is of: its name, options, and where the file of a user's own rules lies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anabranch import games
from anabranch.game.game import Game
from anabranch.learn.run_folder import RunFolder


def described(name: str, options: Mapping[str, Any], *, compiled: bool = True) -> dict[str, Any]:
    """Return what makes a game again."""
    return {"name": name, "options": dict(options), "compiled": compiled}


def load_game(said: Mapping[str, Any]) -> Game:
    """Make a game from what `described` or `RunFolder.game` says."""
    return games.load(said["name"], compiled=said["compiled"], **said["options"])


def placed(said: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return what a new run in a folder remembers of a game: of a file also where it is, and where beside the run."""
    file = _file_of(said["name"])
    if file is None:
        return dict(said)
    return {**said, "file": str(file.resolve()), "from_run": os.path.relpath(file.resolve(), folder.resolve())}


def game_of(run: RunFolder) -> Game:
    """Return the game of a run, from whichever folder it is looked at."""
    return load_game(described(name_here(run), run.game["options"], compiled=run.game["compiled"]))


def name_here(run: RunFolder) -> str:
    """Return the name of a run's game in the folder that is the current one."""
    name: str = run.game["name"]
    file = rules_of(run)
    if file is None or file.resolve() == Path(name.rpartition(":")[0]).resolve():
        return name
    return f"{os.path.relpath(file)}:{name.rpartition(':')[2]}"


def rules_of(run: RunFolder) -> Path | None:
    """Return the file of a run's rules, or where it was if it is gone; None for a game that is no file."""
    places = _places(run)
    return next((place.resolve() for place in places if place.is_file()), places[-1]) if places else None


def same_game(said: Mapping[str, Any], run: RunFolder) -> bool:
    """Whether a game is that of a run: a file may be named by another path."""
    if any(said[key] != run.game[key] for key in ("options", "compiled")):
        return False
    here, there = _file_of(said["name"]), _places(run)
    if here is None or not there:
        return bool(said["name"] == run.game["name"])
    same_class: bool = said["name"].rpartition(":")[2] == run.game["name"].rpartition(":")[2]
    return same_class and here.resolve() in [place.resolve() for place in there]


def named(said: Mapping[str, Any]) -> str:
    """Return a game's name and options, as a message says them."""
    options = ", ".join(f"{key}={value!r}" for key, value in said["options"].items())
    return f"{said['name']}({options})" + ("" if said["compiled"] else ", interpreted")


def _file_of(name: str) -> Path | None:
    """Return the file in a game's name, if it is one of `path/to/file.py:Name`."""
    path, separator, _ = name.rpartition(":")
    return Path(path) if separator and path.endswith(".py") else None


def _places(run: RunFolder) -> list[Path]:
    """Return where the file of a run's rules may be: moved with the run, where it was, or as older runs say."""
    file = _file_of(run.game["name"])
    if file is None:
        return []
    folder = run.folder.resolve()
    if "file" in run.game:
        return [folder / run.game["from_run"], Path(run.game["file"])]
    return [folder.parent / file, file]
