"""What do simultaneous moves cost? PyRat 7×7 open by PUCT against connect four, and regret matching+ against PUCT."""

from __future__ import annotations

import measure  # first: it limits threads
from engine import contender, make

import anabranch as ab

SIMULATIONS = 1000
BAR = 0.3  # of connect four
BAR_OF_LEARNING = 0.6  # of PUCT
LEARNING = ab.SearchConfig(simultaneous=ab.RegretMatching())


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    pyrat, connect_four = ab.games.load("pyrat", preset="open7"), ab.games.load("connect_four")
    contenders = [
        contender("pyrat", make(pyrat, ab.Uniform()), SIMULATIONS),
        contender("connect four", make(connect_four, ab.Uniform()), SIMULATIONS),
        contender("regret matching+", make(pyrat, ab.Uniform(), config=LEARNING), SIMULATIONS),
    ]
    rates = measure.compare(contenders, rounds=41)
    name = f"pyrat open7, uniform, {SIMULATIONS} simulations"
    return [
        measure.versus(name, rates, "pyrat", "connect four", BAR, "connect four in the same run"),
        measure.versus(
            f"{name}, regret matching+", rates, "regret matching+", "pyrat", BAR_OF_LEARNING, "PUCT in the same run"
        ),
    ]


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
