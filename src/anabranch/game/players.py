"""Players by the names their game has for them, and by number."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.errors import UnknownNameError
from anabranch.game.game import Game


def together(game: Game, seats: Sequence[int]) -> str:
    """Return what several players are called: rat and python, or players 0, 1 and 2 where they have no names."""
    names = [game.player_name(seat) for seat in seats]
    if len(names) > 1 and names == [f"player {seat}" for seat in seats]:
        names = [f"players {seats[0]}", *map(str, seats[1:])]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def seat_named(game: Game, text: str) -> int:
    """Return the seat that a text names: x, black, player 0, or 0."""
    names = {game.player_name(seat).lower(): seat for seat in range(game.players)}
    names = {form: seat for seat in range(game.players) for form in (str(seat), f"player {seat}")} | names
    if text.lower() not in names:
        known = [form for seat in range(game.players) for form in (str(seat), game.player_name(seat))]
        raise UnknownNameError(f"player of {game.name}", text, known)
    return names[text.lower()]
