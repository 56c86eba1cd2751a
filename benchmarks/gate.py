"""How often a gate is wrong, and how many pairs it takes, by simulation; a table for docs/matches.md.

    .venv/bin/python benchmarks/gate.py [--runs 3000] [--write]

Pairs of two games with the given mean score and share of draws; `alike` is the probability that the second game of a
pair comes out as the first did, as where dice decide much. Each gate has 2,000 pairs at the most.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import measure  # noqa: F401  (first: it limits threads)
import numpy as np
import pages

from anabranch.play.gate import MOST_PAIRS
from anabranch.play.sequential import decide

MATCHES = Path(__file__).resolve().parents[1] / "docs" / "matches.md"


def scores(mean: float, draws: float, alike: float, dice: np.random.Generator) -> np.ndarray:
    wins = mean - draws / 2

    def games() -> np.ndarray:
        points = dice.random(MOST_PAIRS)
        return np.where(points < wins, 1.0, np.where(points < wins + draws, 0.5, 0.0))

    first = games()
    return (first + np.where(dice.random(MOST_PAIRS) < alike, first, games())) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3_000)
    parser.add_argument("--write", action="store_true", help="write the table into docs/matches.md")
    given = parser.parse_args()
    lines = [
        "| true mean score | draws | alike | promoted | undecided | mean number of pairs | of 90 % at most |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, (draws, alike) in enumerate([(0.0, 0.0), (0.0, 0.7), (0.6, 0.0)]):
        for mean in (0.45, 0.5, 0.525, 0.55, 0.6, 0.7):
            dice = np.random.default_rng([number, round(1000 * mean)])
            gates = [decide(scores(mean, draws, alike, dice)) for _ in range(given.runs)]
            promoted = sum(bets.verdict == "promoted" for bets in gates) / given.runs
            open_still = sum(bets.verdict == "undecided" for bets in gates) / given.runs
            pairs = [bets.pairs for bets in gates]
            lines.append(
                f"| {mean:g} | {draws:.0%} | {alike:g} | {promoted:.1%} | {open_still:.1%} "
                f"| {np.mean(pairs):.0f} | {np.quantile(pairs, 0.9):.0f} |"
            )
            print(lines[-1], flush=True)
    if given.write:
        pages.fill("gate", "\n".join(lines), MATCHES)


if __name__ == "__main__":
    main()
