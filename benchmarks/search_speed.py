"""How fast is the search itself? Connect four with an evaluator that costs nothing, against OpenSpiel's Python PUCT."""

from __future__ import annotations

import measure  # first: it limits threads
import pyspiel
from peers import open_spiel_python, ours

import anabranch as ab

SIMULATIONS = 800
BAR = 40.0


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    rates = measure.compare(
        [
            ours("anabranch", ab.games.load("connect_four"), ab.Uniform(), SIMULATIONS),
            open_spiel_python("OpenSpiel Python PUCT", pyspiel.load_game("connect_four"), SIMULATIONS),
        ]
    )
    name = f"connect four, uniform, {SIMULATIONS} simulations"
    return [measure.versus(name, rates, "anabranch", "OpenSpiel Python PUCT", BAR, "OpenSpiel Python PUCT")]


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
