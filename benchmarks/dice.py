"""How to roll dice inside a search: regret, nodes and defaults; tables for docs/options.md.

    .venv/bin/python benchmarks/dice.py [--states 500] [--only yatzy,nodes,others] [--most 50000] [--late 200] [--write]

*yatzy*: mean regret (points, with standard error) of searches in seeded positions of solitaire Yatzy with one and with
two categories left, by how chance is treated, at equal simulations; exact values by `ab.solve` from each position. What
is not said is as by default. *nodes*: how large graphs get at 20,000 simulations, lines merged or not, afterstates
shared or dice rolled inside the transition. *others*: regret in per cent of the range of returns in Pig, 2048 on 2×2
cells and random games with dice, for what the defaults of `exact_up_to` and `backup` should be.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure  # noqa: F401  (first: it limits threads)
import numpy as np
import pages

import anabranch as ab
from anabranch.games.random_game import RandomGame
from anabranch.search.exact.oracle import SolvedOracle

OPTIONS = Path(__file__).resolve().parents[1] / "docs" / "options.md"
CATEGORIES = {"one": (42, 44), "two": (39, 41)}  # decisions before: every turn has three
SPREAD = ab.Chance(exact_up_to=0)
MODES: dict[str, ab.SearchConfig] = {
    "the defaults": ab.SearchConfig(),
    "spread": ab.SearchConfig(chance=SPREAD),
    "sampled": ab.SearchConfig(chance=ab.Chance(draw="sampled", exact_up_to=0)),
    "inside the transition": ab.SearchConfig(chance=ab.Chance(draw="in_transition")),
    "exact up to 6": ab.SearchConfig(chance=ab.Chance(exact_up_to=6)),
    "exact up to 56": ab.SearchConfig(chance=ab.Chance(exact_up_to=56)),
    "exact up to 252": ab.SearchConfig(chance=ab.Chance(exact_up_to=252)),
    "widening, c 2, α .6": ab.SearchConfig(chance=ab.Chance(widen=2.0, widen_power=0.6)),
    "no proofs": ab.SearchConfig(proofs="off"),
    "mean, spread": ab.SearchConfig(chance=SPREAD, backup="mean"),
    "mean, spread, no proofs": ab.SearchConfig(chance=SPREAD, backup="mean", proofs="off"),
    "mean, exact up to 21": ab.SearchConfig(chance=ab.Chance(exact_up_to=21), backup="mean"),
    "mean, inside": ab.SearchConfig(chance=ab.Chance(draw="in_transition"), backup="mean"),
}
BUDGETS = (200, 2_000, 50_000)
Row = list[str]


def said(lost: Sequence[float], digits: int = 3) -> str:
    return f"{np.mean(lost):.{digits}f} ± {np.std(lost) / len(lost) ** 0.5:.{digits}f}"


def yatzy(states: int, most: int, late: int) -> tuple[Row, list[Row]]:
    """Return the table of modes."""
    game = ab.games.load("yatzy")
    budgets = [budget for budget in BUDGETS if budget <= most]
    sets = {name: ab.fixed_set(game, states, decisions=wanted) for name, wanted in CATEGORIES.items()}
    oracles = {name: [SolvedOracle(ab.solve(state)) for state in found.states] for name, found in sets.items()}
    rows = []
    for evaluator in ("rollout", "uniform"):
        for title, config in MODES.items():
            row = [evaluator, title]
            for name, found in sets.items():
                for budget in budgets:
                    agent = ab.SearchAgent(simulations=budget, evaluator=evaluator, config=config)
                    began, turns = time.process_time(), found.turns()
                    if title != "the defaults":
                        turns = turns[:late]
                    chosen = agent.choose(turns)
                    asked = zip(oracles[name], turns, chosen, strict=False)
                    row.append(said([oracle.regret(turn.state, action) for oracle, turn, action in asked]))
                    print(f"{row[:2]} {name} {budget}: {row[-1]}, {time.process_time() - began:.0f} s", flush=True)
            rows.append(row)
    heads = [f"{name} left, {budget:,}" for name in sets for budget in budgets]
    return ["evaluator", "chance", *heads], rows


def nodes(states: int) -> tuple[Row, list[Row]]:
    """Return the table of sizes."""
    game, rows = ab.games.load("yatzy"), []
    tree, inside = ab.Transposition(merge=False), ab.Chance(draw="in_transition")
    plain: dict[str, Any] = {"backup": "mean", "proofs": "off"}  # which would end a search early
    contenders = {
        "merged, afterstates shared": ab.SearchConfig(chance=SPREAD, **plain),
        "merged, inside the transition": ab.SearchConfig(chance=inside, **plain),
        "tree": ab.SearchConfig(chance=SPREAD, transposition=tree, **plain),
        "tree, inside the transition": ab.SearchConfig(chance=inside, transposition=tree, **plain),
    }
    found = ab.fixed_set(game, states, decisions=CATEGORIES["two"]).states
    for title, config in contenders.items():
        results = [ab.search(state, simulations=20_000, config=config) for state in found]
        all_nodes = float(np.mean([result.nodes for result in results]))
        rolled = float(np.mean([result.chance.nodes for result in results]))
        sizes = np.mean([result.graph.bytes / 2**20 for result in results])
        rows.append([title, f"{all_nodes:,.0f}", f"{all_nodes - rolled:,.0f}", f"{rolled:,.0f}", f"{sizes:.2f}"])
        print(rows[-1], flush=True)
    return ["graph", "nodes", "of them decisions and ends", "chance nodes, or fans of edges", "MiB"], rows


def others(states: int) -> tuple[Row, list[Row]]:
    """Return the table of what other games say."""
    rows = []
    settings = {
        f"{backup}, {name}": ab.SearchConfig(chance=chance, backup=backup)  # type: ignore[arg-type]
        for backup in ("mean", "best")
        for name, chance in {
            "spread": SPREAD,
            "exact up to 6": ab.Chance(exact_up_to=6),
            "exact up to 21": ab.Chance(exact_up_to=21),
            "widening, c 2, α .6": ab.Chance(widen=2.0, widen_power=0.6),
        }.items()
    }
    subjects = {
        "Pig": _small("pig", states),
        "2048, 2×2": _small("2048", min(states, 200), rows=2),
        "random, one player": _random(states, 1),
        "random, zero sum": _random(states, 2),
    }
    for title, config in settings.items():
        row = [title]
        for subject in subjects.values():
            for budget in (20, 100):
                agent = ab.SearchAgent(simulations=budget, config=config)
                lost = []
                for number, (state, oracle) in enumerate(subject):
                    low, high = state.game.returns
                    (action,) = agent.choose([ab.Turn(state, state.turn[0], seed=number)])  # type: ignore[index]
                    lost.append(100 * oracle.regret(state, action) / (high - low))
                row.append(said(lost, 2))
        rows.append(row)
        print(row, flush=True)
    return ["backup, chance", *(f"{name}, {budget}" for name in subjects for budget in (20, 100))], rows


def _small(name: str, states: int, **options: Any) -> list[tuple[ab.State, SolvedOracle]]:
    game = ab.games.load(name, **options)
    found = ab.fixed_set(game, states).states
    return [(state, SolvedOracle(ab.solve(state))) for state in found]


def _random(states: int, players: int) -> list[tuple[ab.State, SolvedOracle]]:
    made: list[tuple[ab.State, SolvedOracle]] = []
    seed = 0
    while len(made) < states:
        game = RandomGame(
            seed, layers=5, width=5, choices=4, players=players, zero_sum=players == 2, chance=0.5,
            rewards_along=bool(seed % 2),
        )  # fmt: skip
        state = game.start()
        while state.turn == ab.CHANCE:
            state = state.step(state.draw(seed))[0]
        if isinstance(state.turn, tuple) and len(state.turn) == 1 and len(state.choices(state.turn[0])) > 1:
            made.append((state, SolvedOracle(ab.solve(state))))
        seed += 1
    return made


def table(heads: Row, rows: list[Row]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=500)
    parser.add_argument("--most", type=int, default=50_000, help="simulations at the most")
    parser.add_argument("--late", type=int, default=200, help="positions for all but the defaults")
    parser.add_argument("--only", default="yatzy,nodes,others")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/options.md")
    given = parser.parse_args()
    makers = {
        "yatzy": lambda: yatzy(given.states, given.most, given.late),
        "nodes": lambda: nodes(min(given.states, 50)),
        "others": lambda: others(given.states),
    }
    for name in given.only.split(","):
        made = table(*makers[name]())
        print(made)
        if given.write:
            pages.fill(f"dice {name}", made, OPTIONS)


if __name__ == "__main__":
    main()
