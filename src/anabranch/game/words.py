"""The words every rule book uses: whose turn it is, who sits out, what a verb is called."""

from __future__ import annotations

OVER = 0  #: `turn`: nobody acts any more
CHANCE = -1  #: `turn`: the dice act
IDLE = -(2**31)  #: in `step`: the entry of a player who is not acting (as an index it is out of bounds, never "the last")
EVENT_WORDS = 4  #: how many integers `event` may write

REQUIRED = ("turn", "legal", "step")
OPTIONAL = ("setup", "chance", "draw", "same", "key", "bounds", "event", "observe")
VERBS = REQUIRED + OPTIONAL


def player(seat: int) -> int:
    """Return the turn of one player; add several for players who choose at once: `player(0) + player(1)`."""
    return 1 << seat


def acting(turn: int) -> tuple[int, ...]:
    """Return the seats in a turn's bits, ascending; empty for OVER and CHANCE."""
    return tuple(seat for seat in range(turn.bit_length()) if turn >> seat & 1) if turn > 0 else ()
