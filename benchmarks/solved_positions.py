"""How often the search finds an optimal move in connect four: 300 positions with exact solutions of our own.

    .venv/bin/python benchmarks/solved_positions.py [--positions 300] [--write]

Positions come from random games after 20 to 26 plies, are not over, have at least two legal moves that differ in worth,
and are solved by `ab.solve`, which goes through everything that can follow (a million states at the most; larger
ones are left out). *Before* are the first defaults of 0.1, PUCT with c_init 1.25 and uniform rollouts; *after*
is `ab.search(state, simulations=n)`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import measure  # noqa: F401  (first: it limits threads)
import numpy as np
import pages

import anabranch as ab

OPTIONS = Path(__file__).resolve().parents[1] / "docs" / "options.md"
MOST_STATES = 1_000_000
BEFORE = {
    "config": ab.SearchConfig(selector=ab.Puct(c_init=1.25)),
    "evaluator": ab.Rollout(greedy=0, policy="uniform"),
}


def positions(count: int) -> list[tuple[ab.State, set[int]]]:
    """Return positions and their optimal moves."""
    game, rng = ab.games.load("connect_four"), np.random.default_rng(1)
    found: list[tuple[ab.State, set[int]]] = []
    while len(found) < count:
        state = game.start()
        for _ in range(int(rng.integers(20, 27))):
            if state.turn != ab.OVER:
                state, _ = state.step(int(rng.choice(state.legal())))
        if state.turn == ab.OVER or len(state.legal()) < 2:
            continue
        try:
            best = set(ab.solve(state, max_states=MOST_STATES).best_of(state)[state.turn[0]])  # type: ignore[index]
        except ab.errors.AnabranchError:
            continue
        if len(best) < len(state.legal()):
            found.append((state, best))
            if len(found) % 50 == 0:
                print(f"  {len(found)} of {count} positions solved", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--write", action="store_true", help="into docs/options.md")
    flags = parser.parse_args()
    solved = positions(flags.positions)
    lines = ["| simulations | before | after |", "| ---: | ---: | ---: |"]
    for simulations in (100, 1000, 20_000):
        right = {}
        for name, settings in (("before", BEFORE), ("after", {})):
            chosen = [ab.search(state, simulations=simulations, **settings).action in best for state, best in solved]  # type: ignore[arg-type]
            right[name] = 100 * sum(chosen) / len(solved)
        lines.append(f"| {simulations:,} | {right['before']:.1f} % | {right['after']:.1f} % |")
        print(lines[-1], flush=True)
    if flags.write:
        pages.fill("solved", "\n".join(lines), OPTIONS)


if __name__ == "__main__":
    main()
