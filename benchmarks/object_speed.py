"""How fast are rules behind Python? A user's against OpenSpiel's Python bot, OpenSpiel's own against its C++ bot."""

from __future__ import annotations

import measure  # first: it limits threads
import pyspiel
from peers.adapters.open_spiel import PLAIN, native_bot, python_bot
from peers.adapters.ours import PlainTicTacToe, search

import anabranch as ab

SIMULATIONS = 800
BAR = 5.0
SPIEL_GAMES = (("breakthrough", 0.7), ("hex(board_size=7)", 0.5))  # with bars; both sides play OpenSpiel's rollouts


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
    for game, bar in SPIEL_GAMES:
        theirs = "OpenSpiel C++ UCT"
        rates = measure.compare(
            [
                search("anabranch", ab.games.load(f"open_spiel:{game}"), ab.Rollout(), SIMULATIONS),
                native_bot(theirs, pyspiel.load_game(game), SIMULATIONS, "UCT"),
            ],
            rounds=9,
        )
        name = f"open_spiel:{game}, one rollout, {SIMULATIONS} simulations"
        lines.append(measure.versus(name, rates, "anabranch", theirs, bar, theirs))
    return lines


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
