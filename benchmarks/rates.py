"""How fast is search here, by the public names? Simulations per second of a few games; no bars, machines differ."""

from __future__ import annotations

import measure  # first: it limits threads
from peers.adapters.ours import search

import anabranch as ab

GAMES = {"tic_tac_toe": {}, "connect_four": {}, "othello": {}, "pig": {}, "pyrat": {"preset": "open7"}}
SIMULATIONS = (800, 10_000)


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    lines = []
    for name, options in GAMES.items():
        game = ab.games.load(name, **options)
        for words, evaluator in (("uniform", ab.Uniform()), ("one rollout", ab.Rollout())):
            contenders = [search(str(count), game, evaluator, count) for count in SIMULATIONS]
            rates = measure.compare(contenders, rounds=9, seconds=2.0)
            lines += [
                measure.Row(f"{name.replace('_', ' ')}, {words}, {count:,} simulations", rates.rate(str(count)))
                for count in SIMULATIONS
            ]
            measure.log(f"  {lines[-1].name}: {measure.figure(lines[-1].ours)}/s")
    return lines


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
