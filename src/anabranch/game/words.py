"""The words every rule book uses: whose turn it is, who sits out, what a verb is called."""

from __future__ import annotations

import functools
from collections.abc import Sequence

OVER = 0  #: `turn`: nobody acts any more
CHANCE = -1  #: `turn`: the dice act
IDLE = -(2**31)  #: in `step`: the entry of a player who is not acting (as an index out of bounds, never "the last")
EVENT_WORDS = 4  #: how many integers `event` may write

REQUIRED = ("turn", "legal", "step")
OPTIONAL = ("setup", "chance", "draw", "same", "key", "bounds", "event", "rollout_action", "heuristic", "observe")
VERBS = REQUIRED + OPTIONAL
VERB_ARGUMENTS = {  # of a compiled game, after `self`
    "turn": ("state",),
    "legal": ("state", "player", "actions"),
    "step": ("state", "actions", "rewards"),
    "setup": ("state", "random"),
    "chance": ("state", "outcomes", "chances"),
    "draw": ("state", "random"),
    "same": ("state", "player", "action"),
    "key": ("state", "key"),
    "bounds": ("state", "low", "high"),
    "event": ("state", "event"),
    "rollout_action": ("state", "player", "random"),
    "heuristic": ("state", "values"),
    "observe": ("state", "player", "planes"),
}


def player(seat: int) -> int:
    """Return the turn of one player; the sum of several is the turn of players who choose at once."""
    return 1 << seat


@functools.lru_cache(maxsize=4096)
def acting(turn: int) -> tuple[int, ...]:
    """Return the seats in a turn's bits, ascending; empty for OVER and CHANCE."""
    return tuple(seat for seat in range(turn.bit_length()) if turn >> seat & 1) if turn > 0 else ()


def as_row(players: int, seats: Sequence[int], choice: Sequence[int]) -> list[int]:
    """Return a move as `step` takes it, an entry per player, from one per acting seat; an outcome sits in seat 0."""
    row = [IDLE] * players
    for seat, action in zip(seats, choice, strict=True):
        row[seat] = action
    return row


def no_observations(name: str) -> str:
    """Say what a game needs before a network can see its positions."""
    return (
        f"{name} has no observe verb, so a network cannot see its positions. Say in __init__ how many numbers a player "
        "sees, e.g. self.observation = (34,), or (2, 6, 7) for two planes of a board, and write them in def "
        "observe(self, state, player, planes): planes is full of zeros, and whoever looks is `player`, so put its own "
        "things first; docs/rules.md has more, examples/games has three of them"
    )
