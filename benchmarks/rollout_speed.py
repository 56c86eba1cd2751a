"""How fast is search with one random rollout per leaf? Against OpenSpiel's C++ bot, the faster of its UCT and PUCT."""

from __future__ import annotations

import measure  # first: it limits threads
import pyspiel
from peers.adapters.open_spiel import native_bot
from peers.adapters.ours import search

import anabranch as ab

# game, simulations, bar, rounds
QUESTIONS = (
    ("connect_four", 800, 12.0, 15),
    ("connect_four", 10_000, 12.0, 9),
    ("othello", 800, 50.0, 9),
    ("tic_tac_toe", 800, 2.0, 21),
    ("tic_tac_toe", 10_000, 2.0, 21),
)


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    lines = []
    for game, simulations, bar, rounds in QUESTIONS:
        theirs = [f"OpenSpiel C++ {policy}" for policy in ("UCT", "PUCT")]
        rates = measure.compare(
            [
                search("anabranch", ab.games.load(game), ab.Rollout(), simulations),
                *(native_bot(name, pyspiel.load_game(game), simulations, name.split()[-1]) for name in theirs),
            ],
            rounds=rounds,
        )
        best = rates.fastest(theirs)
        name = f"{game.replace('_', ' ')}, one rollout, {simulations} simulations"
        lines.append(measure.versus(name, rates, "anabranch", best, bar, best))
    return lines


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
