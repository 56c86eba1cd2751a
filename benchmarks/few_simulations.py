"""Gumbel against PUCT with few simulations; the table of docs/gumbel.md.

    .venv/bin/python benchmarks/few_simulations.py [--games 1000] [--others 200] [--only "range;node"]
                                                   [--simulations 8,16,200:400] [--write]

Leaves are evaluated by 20 random rollouts, so there are no priors; both sides have equal simulations. A score is the
share of points of the Gumbel search in pairs of games with swapped seats, with its 95 % interval, in per cent. PUCT has
its defaults. `--others` is the number of games of all variants but `range`, the default of games that pay at the end;
`200:400` are 200 simulations in 400 games at the most. Every cell says how many games it is made of.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import measure  # noqa: F401  (first: it limits threads)
import pages

import anabranch as ab

PAGE = Path(__file__).resolve().parents[1] / "docs" / "gumbel.md"
GAMES: dict[str, tuple[str, dict[str, int]]] = {
    "connect four": ("connect_four", {}),
    "Othello 6×6": ("othello", {"size": 6}),
}
DEFAULT = "range"
VARIANTS = {
    "range": ab.Gumbel(scale="range", noise=0.0),
    "node": ab.Gumbel(scale="node", noise=0.0),
    "range, noise 1": ab.Gumbel(scale="range"),
    "node, noise 1": ab.Gumbel(scale="node"),
}


def score(game: ab.Game, selector: ab.Gumbel, simulations: int, games: int) -> str:
    """Return the points of a Gumbel search against PUCT's."""
    evaluator = ab.Rollout(count=20)
    one, other = (
        ab.SearchAgent(simulations=simulations, evaluator=evaluator, config=config, threads=1)
        for config in (ab.SearchConfig(selector=selector), ab.SearchConfig(seed=7))
    )
    found = ab.match(game, one, other, games=games, seed=1).standings[0]
    return f"{100 * found.score:.0f} ({100 * found.low:.0f} to {100 * found.high:.0f}) of {games:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--others", type=int, default=200, help="games of the variants that are not the default")
    parser.add_argument("--only", default=";".join(VARIANTS), help="scales and noise, separated by ;")
    parser.add_argument("--simulations", default="8,16,32,64,200")
    parser.add_argument("--write", action="store_true", help="into docs/gumbel.md")
    flags = parser.parse_args()
    budgets = [tuple(map(int, f"{each}:{flags.games}".split(":")[:2])) for each in flags.simulations.split(",")]
    rows = []
    for title, (name, options) in GAMES.items():
        game = ab.games.load(name, **options)
        for variant in flags.only.split(";"):
            row, games = [title, variant], flags.games if variant == DEFAULT else flags.others
            for simulations, most in budgets:
                row.append(score(game, VARIANTS[variant], simulations, min(games, most)))
                print(f"{title}, {variant}, {simulations} simulations: {row[-1]}", flush=True)
            rows.append(row)
    lines = [["game", "scale", *(str(simulations) for simulations, _ in budgets)], ["---"] * (2 + len(budgets)), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    print(table)
    if flags.write:
        pages.fill("few", table, PAGE)


if __name__ == "__main__":
    main()
