"""How fast are rules in plain Python? An object game against OpenSpiel's Python bot; the same rules, written once."""

from __future__ import annotations

import measure  # first: it limits threads
import pyspiel
from peers.adapters.open_spiel import PLAIN, python_bot
from peers.adapters.ours import PlainTicTacToe, search

import anabranch as ab

SIMULATIONS = 800
BAR = 1.5


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    lines = []
    for words, evaluator, kind, policy in (
        ("uniform", ab.Uniform(), "uniform", "PUCT"),
        ("one rollout", ab.Rollout(), "rollout", "UCT"),
    ):
        theirs = f"OpenSpiel Python {policy}"
        rates = measure.compare(
            [
                search("anabranch", PlainTicTacToe(), evaluator, SIMULATIONS),
                python_bot(theirs, pyspiel.load_game(PLAIN.short_name), SIMULATIONS, kind, policy),
            ],
            rounds=9,
        )
        name = f"object tic tac toe, {words}, {SIMULATIONS} simulations"
        lines.append(measure.versus(name, rates, "anabranch", theirs, BAR, theirs))
    return lines


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
