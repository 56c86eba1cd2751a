"""Positions as flags give them: a text, a file with one or more of them, or standard input."""

from __future__ import annotations

import os
import sys

from anabranch.errors import DataError, UsageError
from anabranch.files import read_file
from anabranch.game.game import Game
from anabranch.game.state import State

POSITION = "a text as the game prints it, with / between rows on one line, or a file of it"
OR_INPUT = "; - reads standard input"
LARGEST = 2**24  # bytes of a file


def given_position(game: Game, given: str, flag: str = "--position") -> State:
    """Return the position a flag gives."""
    text, where = _text(given, flag)
    return _read(game, text, where)


def given_positions(game: Game, given: str, flag: str) -> list[State]:
    """Return the positions a flag gives, with empty lines between them."""
    text, where = _text(given, flag)
    blocks = [""]
    for line in text.splitlines():
        if line.strip():
            blocks[-1] += f"{line}\n"
        elif blocks[-1]:
            blocks.append("")
    found = [block for block in blocks if block]
    if not found:
        raise UsageError(f"{where}: there is no position in it")
    return [_read(game, block, f"{where}, position {number}") for number, block in enumerate(found, 1)]


def _text(given: str, flag: str) -> tuple[str, str]:
    """Return what a flag means, and where it stands."""
    if given == "-":
        return sys.stdin.read(LARGEST), f"{flag} from standard input"
    try:
        there = os.path.isfile(given)
    except ValueError:  # no name of a file can be like that
        there = False
    if not there and not given.endswith((".txt", ".pos")):
        return given, flag
    data = read_file(given, LARGEST)
    try:
        return data.decode(), given
    except UnicodeDecodeError:
        raise DataError(f"{given} is no text in UTF-8, so there is no position in it") from None


def _read(game: Game, text: str, where: str) -> State:
    try:
        return game.position(text)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
