"""The network that comes with PyRat against the greedy player and rollouts, by how cheese lies.

    .venv/bin/python benchmarks/pyrat_network.py [--games 400] [--write]

Boards are drawn anew for every pair of games (`drawn=True`): half of them symmetric under a half turn, half anywhere.
Training draws from the same ones: all 55 symmetric boards of 5×5 were met there, and some of the 33,649 others.
Scores count wins and half of the draws, with 95 % intervals over pairs.
The network plays with other budgets and by regret matching as well, and a search of 2,000 simulations plays with the
game's own heuristic; what can be reached at all is in `benchmarks/pyrat_ceiling.py`. `--write` puts the table into
docs/games/pyrat.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure  # noqa: F401  (first: it limits threads)
import pages

import anabranch as ab
from anabranch.evaluate.ready import ready_model
from anabranch.play.interval import interval

PAGE = Path(__file__).resolve().parents[1] / "docs" / "games" / "pyrat.md"
OTHERS = ("best:simulations=128", "best:simulations=1000", "best:simultaneous=RegretMatching")


def symmetric(game: Any, seed: int) -> bool:
    """Whether the cheese of a start is the same after a half turn."""
    seen = game.start(seed).observe(0)[2]
    return bool((seen == seen[::-1, ::-1]).all())


def cells(records: Sequence[Any]) -> str:
    """Return games, score and interval over pairs, shares won and lost."""
    if not records:
        return "0 | | | "
    pairs: dict[int, list[float]] = {}
    for record in records:
        pairs.setdefault(record.pair, []).append(record.score(0))
    scores = [sum(own) / len(own) for own in pairs.values()]
    low, high = interval(scores)
    won, lost = (sum(record.score(0) == end for record in records) / len(records) for end in (1.0, 0.0))
    mean = sum(scores) / len(scores)
    return f"{len(records)} | {mean:.3f} ({low:.3f} to {high:.3f}) | {won:.1%} | {lost:.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--openings", type=int, default=0, help="random moves before agents choose")
    parser.add_argument("--write", action="store_true", help="into docs/games/pyrat.md")
    flags = parser.parse_args()
    game = ab.games.load("pyrat", drawn=True)
    model = ready_model(game)
    assert model is not None
    budget = next(pair for pair in model.log.agent.split(",") if pair.startswith("simulations="))
    lines = [
        "| agent | opponent | boards | games | score | won | lost |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    strong = "search:evaluator=heuristic,simulations=2000,simultaneous=RegretMatching,simultaneous.value=visits"
    rows = [
        ("`best`", "best", "greedy"),
        ("`best`", "best", f"search:{budget}"),
        *((f"`{agent}`", agent, "greedy") for agent in OTHERS),
        ("heuristic, 2,000 simulations", f"{strong},simultaneous_temperature=0", "greedy"),
    ]
    for name, agent, opponent in rows:
        result = ab.match(game, agent, opponent, games=flags.games, openings=flags.openings)
        even = {record.pair: symmetric(game, record.start) for record in result.records}
        for boards, wanted in (("all", None), ("symmetric", True), ("anywhere", False)):
            some = [record for record in result.records if wanted is None or even[record.pair] == wanted]
            lines.append(f"| {name} | `{opponent}` | {boards} | {cells(some)} |")
            print(lines[-1], flush=True)
    print("\n".join(lines))
    if flags.write:
        pages.fill("network", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
