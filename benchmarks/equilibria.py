"""How near selectors come to equilibrium where players choose at once; tables for docs/simultaneous.md.

    .venv/bin/python benchmarks/equilibria.py [--only tables,games] [--largest 100000] [--seeds 5] [--write]

*Tables*: one-shot games, uniform priors: what the reported strategies leave to be gained and how far the value is off,
as shares of the range of payoffs. *Games*: Goofspiel with four cards and PyRat on 3×3 cells, which `ab.solve` solves
exactly: how far the root's value is off, how far those of all nodes are on average, and the exploitability of the
strategy that the graph holds, uniform where the search never came; means over seeds.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import measure
import numpy as np
import pages

import anabranch as ab
from anabranch.games.goofspiel import Goofspiel
from anabranch.games.matrix import Matrix
from anabranch.games.pyrat import PyRat
from anabranch.play.exploitability import exploitability_in
from anabranch.play.strategies import as_strategy
from anabranch.search.exact.progress import Teller
from anabranch.search.exact.response import WrittenGame, written_out
from anabranch.search.maths.matrix_game import equilibrium, exploitability
from anabranch.search.settings.config import SimultaneousSelector

PAGE = Path(__file__).resolve().parents[1] / "docs" / "simultaneous.md"
SELECTORS: dict[str, SimultaneousSelector] = {
    "regret matching+": ab.RegretMatching(),
    "matrix": ab.MatrixGame(),
    "Exp3": ab.Exp3(),
    **{f"PUCT {weights}": ab.Puct(weights=weights, ties="first") for weights in ("D", "A", "B", "C")},
    **{f"PUCT {weights}, random ties": ab.Puct(weights=weights, ties="random") for weights in ("D", "A", "B", "C")},
    "UCB1": ab.Ucb1(ties="first"),
    "UCB1, random ties": ab.Ucb1(ties="random"),
}
IN_GAMES = ("regret matching+", "matrix", "Exp3", "PUCT D", "PUCT C", "UCB1")
ONE_SHOT = {
    "matching pennies": [[1, -1], [-1, 1]],
    "[[2, −1], [−1, 1]]": [[2, -1], [-1, 1]],
    "biased RPS": [[0, -0.25, 0.5], [0.25, 0, -0.05], [-0.5, 0.05, 0]],
}
RANDOM = 50  # tables of 5×5
BUDGETS = (1_000, 10_000, 100_000, 1_000_000)
CHEESE = [(1, 1), (0, 2), (2, 0)]


@dataclass(frozen=True)
class Off:
    """How far a search of a one-shot game is from the truth, as shares of the range of payoffs."""

    gain: float
    value: float

    def __str__(self) -> str:
        return f"{self.gain:.4f} / {self.value:.4f}"


def one_shot(payoffs: Sequence[Sequence[float]], selector: SimultaneousSelector, playouts: int, seed: int) -> Off:
    config = ab.SearchConfig(simultaneous=selector, seed=seed)
    found = ab.search(Matrix(payoffs).start(), simulations=playouts, evaluator=ab.Uniform(), config=config)
    table = np.array(payoffs, float)
    rows, columns = found.policy[0, : len(table)], found.policy[1, : len(table[0])]
    width = float(np.ptp(table))
    gain = exploitability(table.tolist(), rows.tolist(), columns.tolist())
    return Off(gain / width, abs(float(found.value[0]) - equilibrium(table.tolist())[2]) / width)


def tables(playouts: int) -> str:
    drawn = np.random.default_rng(5).uniform(-1.0, 1.0, (RANDOM, 5, 5)).tolist()
    lines = [f"| {playouts:,} playouts | {' | '.join(ONE_SHOT)} | {RANDOM} random 5×5, mean | worst |"]
    lines.append("|---" * (len(ONE_SHOT) + 3) + "|")
    for name, selector in SELECTORS.items():
        measure.log(f"{name}, {playouts:,} playouts of one-shot games")
        shown = [one_shot(payoffs, selector, playouts, 0) for payoffs in ONE_SHOT.values()]
        many = [one_shot(payoffs, selector, playouts, seed) for seed, payoffs in enumerate(drawn)]
        mean = Off(statistics.fmean(off.gain for off in many), statistics.fmean(off.value for off in many))
        worst = Off(max(off.gain for off in many), max(off.value for off in many))
        lines.append(f"| {name} | {' | '.join(map(str, [*shown, mean, worst]))} |")
    return "\n".join(lines)


def positions() -> dict[str, ab.State]:
    """Positions with exact values: points are counted as leads, own less the other's, so that they are zero-sum."""
    points, win = Goofspiel(4, rewards="difference"), Goofspiel(4, rewards="win")
    even = PyRat(width=3, height=3, cheese=CHEESE, max_turns=8, rewards="difference")
    uneven = PyRat(width=3, height=3, cheese=CHEESE, max_turns=8, starts=((0, 0), (1, 2)), rewards="difference")
    return {
        "Goofspiel(4), points": points.start(),
        "Goofspiel(4), points, after bids (2, 1)": points.start().step((1, 0))[0],
        "Goofspiel(4), win": win.start(),
        "Goofspiel(4), win, after bids (2, 1)": win.start().step((1, 0))[0],
        "PyRat 3×3, symmetric": even.start(),
        "PyRat 3×3, asymmetric": uneven.start(),
    }


@dataclass(frozen=True)
class Known:
    """A position with its exact solution."""

    start: ab.State
    solution: ab.Solution
    written: WrittenGame


@dataclass(frozen=True)
class Errors:
    """How far a search of a game is from the truth."""

    root: float
    nodes: float
    gain: float

    def __str__(self) -> str:
        return f"{self.root:.4f} / {self.nodes:.4f} / {self.gain:.4f}"


def errors(known: Known, selector: SimultaneousSelector, playouts: int, seed: int) -> Errors:
    config = ab.SearchConfig(simultaneous=selector, seed=seed)
    found = ab.search(known.start, simulations=playouts, config=config)
    game = known.start.game
    nodes = [node for node in map(found.graph.node, range(len(found.graph))) if node.kind == "decision" and node.visits]
    off = [abs(float(node.value[0] - known.solution.value_of(node.state)[0])) for node in nodes]
    gain = exploitability_in(known.written, as_strategy(found, game)).exploitability
    return Errors(abs(float(found.value[0] - known.solution.value[0])), statistics.fmean(off), gain)


def games(budgets: Sequence[int], seeds: int, names: Sequence[str], only: str) -> dict[str, str]:
    """Return a table for each position whose title has some words."""
    parts = {}
    for title, start in positions().items():
        if only not in title:
            continue
        known = Known(start, ab.solve(start), written_out(start, 200_000, Teller(None)))
        value = float(known.solution.value[0]) + 0.0
        heading = f"{title}: {len(known.written):,} states, value {value:.3f}, {seeds} seeds"
        lines = [f"| {heading} | {' | '.join(f'{playouts:,}' for playouts in budgets)} |"]
        lines.append("|---" * (len(budgets) + 1) + "|")
        for name in names:
            cells = []
            for playouts in budgets:
                measure.log(f"{name}, {playouts:,} playouts of {title}")
                every = [errors(known, SELECTORS[name], playouts, seed) for seed in range(seeds)]
                means = (statistics.fmean(getattr(one, part) for one in every) for part in ("root", "nodes", "gain"))
                cells.append(str(Errors(*means)))
                measure.log(f"    {cells[-1]}")
            lines.append(f"| {name} | {' | '.join(cells)} |")
        parts[title] = "\n".join(lines)
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="tables,games", help="which of: tables, games")
    parser.add_argument("--largest", type=int, default=1_000_000, help="the most playouts of a search")
    parser.add_argument("--seeds", type=int, default=5, help="searches of each position")
    parser.add_argument("--selectors", default=",".join(IN_GAMES), help="in games; see SELECTORS")
    parser.add_argument("--positions", default="", help="games whose title has these words: PyRat")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.name}")
    given = parser.parse_args()
    measure.use_cores()
    made = {}
    if "tables" in given.only.split(","):
        budgets = [playouts for playouts in (1_000, 100_000) if playouts <= given.largest] or [given.largest]
        made["tables"] = "\n\n".join(map(tables, budgets))
    if "games" in given.only.split(","):
        budgets = [playouts for playouts in BUDGETS if playouts <= given.largest] or [given.largest]
        made |= games(budgets, given.seeds, given.selectors.split(","), given.positions)
    for name, table in made.items():
        print(table, end="\n\n")
        if given.write:
            pages.fill(name, table, PAGE)


if __name__ == "__main__":
    main()
