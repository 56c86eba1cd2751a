"""What do dice cost? Solitaire Yatzy in mid-game, with the library's defaults, against connect four."""

from __future__ import annotations

import measure  # first: it limits threads
from engine import contender, make

import anabranch as ab

SIMULATIONS = 1000
BAR = 0.25  # of connect four
DECISIONS = (18, 24)  # made before: of 45, so that six to eight of fifteen categories are marked


def rows() -> list[measure.Row]:
    """Measure and return the line of the table."""
    yatzy, connect_four = ab.games.load("yatzy"), ab.games.load("connect_four")
    [state] = ab.fixed_set(yatzy, 1, decisions=DECISIONS).states
    contenders = [
        contender("yatzy", make(yatzy, ab.Uniform(), start=state.data), SIMULATIONS),
        contender("connect four", make(connect_four, ab.Uniform()), SIMULATIONS),
    ]
    rates = measure.compare(contenders, rounds=41)
    name = f"yatzy in mid-game, uniform, {SIMULATIONS} simulations"
    return [measure.versus(name, rates, "yatzy", "connect four", BAR, "connect four in the same run")]


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
