"""The flags that name a game, shared by the commands that take one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, UseAppendAction, arg

from anabranch.errors import UsageError
from anabranch.game.game import Game

NAMES_OF_GAMES = "a built-in name, package.module:Name, path/to/file.py:Name, or open_spiel:NAME"


@dataclass(frozen=True)
class GameFlags:
    """A game by name with the arguments it is made with."""

    game: Annotated[Positional[str], arg(metavar="GAME", help=NAMES_OF_GAMES)]
    option: Annotated[
        UseAppendAction[tuple[str, ...]],
        arg(metavar="KEY=VALUE", help="an argument of the game, e.g. rows=5; the value is JSON or a word"),
    ] = ()
    interpreted: Annotated[bool, arg(help="run the rules as ordinary Python instead of compiling them")] = False
    json: Annotated[bool, arg(help="print for machines")] = False

    def load(self) -> Game:
        """Make the game."""
        from anabranch import games

        return games.load(self.game, compiled=not self.interpreted, **read_options(self.option))


def read_options(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return `key=value` texts as arguments; a value that is no JSON is taken as a word."""
    options: dict[str, Any] = {}
    for pair in pairs:
        key, separator, text = pair.partition("=")
        if not separator or not key.isidentifier():
            raise UsageError(f"--option {pair!r} is not of the form key=value, e.g. --option rows=5")
        if key == "compiled":
            raise UsageError("compiled is no argument of a game; --interpreted runs it without compiling")
        try:
            options[key] = json.loads(text)
        except json.JSONDecodeError:
            options[key] = text
    return options


def flags_of(said: Mapping[str, Any]) -> list[str]:
    """Return the flags that make a game which a run remembers again, beside its name."""
    options = [word for name, value in said["options"].items() for word in ("--option", option_of(name, value))]
    return options if said["compiled"] else [*options, "--interpreted"]


def option_of(key: str, value: Any) -> str:
    """Return the `key=value` that `read_options` reads as this; a word that is no JSON needs no quotes."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except json.JSONDecodeError:
            return f"{key}={value}"
    return f"{key}={json.dumps(value)}"
