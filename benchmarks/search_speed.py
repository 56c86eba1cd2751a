"""How fast is the search itself? Connect four with an evaluator that costs nothing, against OpenSpiel's Python PUCT."""

from __future__ import annotations

import measure  # first: it limits threads
import pyspiel
from peers.adapters.open_spiel import python_bot
from peers.adapters.ours import search

import anabranch as ab

SIMULATIONS = 800
BAR = 40.0


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    rates = measure.compare(
        [
            search("anabranch", ab.games.load("connect_four"), ab.Uniform(), SIMULATIONS),
            python_bot("OpenSpiel Python PUCT", pyspiel.load_game("connect_four"), SIMULATIONS, "uniform", "PUCT"),
        ]
    )
    name = f"connect four, uniform, {SIMULATIONS} simulations"
    return [measure.versus(name, rates, "anabranch", "OpenSpiel Python PUCT", BAR, "OpenSpiel Python PUCT")]


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
