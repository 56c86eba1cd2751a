"""What does merging equal states save and gain in PyRat? How often trees repeat states, and graphs against trees.

    .venv/bin/python benchmarks/pyrat_merging.py [--only repeats,matches] [--mazes 20] [--scale 1.0] [--write]

*Repeats*: searches of `open7` from the start, as a tree: the share of its nodes whose state another node had before;
and how many distinct states tree and graph have reached after as many playouts. *Matches*: the player that
docs/games/pyrat.md names against itself without merging, at equal playouts, each pair of games on a maze of its own;
`--scale` plays fewer.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean

import measure  # first: it limits threads
import pages
from pyrat_tuning import SETTINGS, SIMULATIONS, agent, played

import anabranch as ab
from anabranch.play.interval import interval
from anabranch.search.settings.config import SimultaneousSelector

PAGE = Path(__file__).resolve().parents[1] / "docs" / "simultaneous.md"
PLAYOUTS = (50, 554, 2000)
SELECTORS: dict[str, SimultaneousSelector] = {
    "regret matching+, visits": ab.RegretMatching(value="visits"),
    "PUCT D": ab.Puct(),
}
MATCHES = {"tiny": (400, 0.53), "open7": (1000, 0.49)}  # games; the bar: of the score, of the interval's lower end


def states(start: ab.State, selector: SimultaneousSelector, playouts: int, *, merge: bool) -> tuple[int, int]:
    """Search, and return how many nodes there are and how many states they have."""
    config = ab.SearchConfig(simultaneous=selector, transposition=ab.Transposition(merge=merge))
    graph = ab.search(start, simulations=playouts, evaluator=ab.Heuristic(), config=config).graph
    return len(graph), len({graph.node(number).state.data for number in range(len(graph))})


def repeats(mazes: int) -> str:
    """Trees and graphs of the same positions, by playouts."""
    starts = [ab.games.load("pyrat", preset="open7", seed=seed, rewards="difference").start() for seed in range(mazes)]
    heads = (
        f"`open7`, mean of {mazes} mazes",
        "playouts",
        "tree: nodes that repeat a state",
        "its states",
        "graph: states",
    )
    lines = [f"| {' | '.join(heads)} |", "|---|---:|---:|---:|---:|"]
    for name, selector in SELECTORS.items():
        for playouts in PLAYOUTS:
            measure.log(f"{name}, {playouts:,} playouts")
            trees = [states(start, selector, playouts, merge=False) for start in starts]
            graphs = [states(start, selector, playouts, merge=True) for start in starts]
            again = fmean(1.0 - distinct / nodes for nodes, distinct in trees)
            reached = fmean(distinct for _, distinct in trees), fmean(distinct for _, distinct in graphs)
            lines.append(f"| {name} | {playouts:,} | {again:.0%} | {reached[0]:,.0f} | {reached[1]:,.0f} |")
    return "\n".join(lines)


def matches(scale: float) -> str:
    """The graph against the tree."""
    lines = ["| graph against tree | games | score | won | lost |", "|---|---:|---|---:|---:|"]
    graph, tree = agent(SETTINGS[0])[1], agent(f"{SETTINGS[0]},transposition.merge=false")[1]
    for board, (games, bar) in MATCHES.items():
        outcome = played(board, "difference", graph, tree, max(2, round(games * scale)))
        low, high = interval(outcome.pairs)
        held = (outcome.score if board == "tiny" else low) >= bar
        measure.log(f"{board}: {outcome}; the bar is {bar}: {'held' if held else 'MISSED'}")
        shares = (f"{count / outcome.games:.1%}" for count in (outcome.wins, outcome.losses))
        score = f"{outcome.score:.3f} ({low:.3f} to {high:.3f})"
        lines.append(f"| `{board}`, {SIMULATIONS:,} playouts | {outcome.games:,} | {score} | {' | '.join(shares)} |")
    return "\n".join(lines)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="repeats,matches")
    parser.add_argument("--mazes", type=int, default=20)
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the games")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.name}")
    flags = parser.parse_args()
    for name in flags.only.split(","):
        table = repeats(flags.mazes) if name == "repeats" else matches(flags.scale)
        print(table, end="\n\n", flush=True)
        if flags.write:
            pages.fill(name, table, PAGE)


if __name__ == "__main__":
    measure.use_cores(1)
    main()
