"""Solitaire Yatzy and 2048 by search with rollouts alone, whole games, beside what is known.

    .venv/bin/python benchmarks/whole_games.py [--game yatzy] [--games 200] [--simulations 1000] [--write]

Yatzy stands beside the greedy player, which is what its rollouts do, and the optimum of the oracle; 2048 (4×4) beside
random play. Searches have the library's defaults: no network, no table, nothing kept between moves. Dice of game g come
from (seed g, event), the same for every player. Intervals are 95 %, mean ± 1.96 standard errors. Games are searched
abreast. `--write` puts the table into the page of the game.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import measure  # first: it limits threads
import numpy as np
import pages

import anabranch as ab

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "games"
ABREAST = 25
Player = Callable[[Sequence[ab.State]], Sequence[int]]


def played(game: Any, player: Player, games: int, what: str) -> list[ab.State]:
    """Return how games end."""
    ended: list[ab.State] = []
    for first in range(0, games, ABREAST):
        some = {number: game.start() for number in range(first, min(games, first + ABREAST))}
        moves = 0
        while some:
            for number, state in some.items():
                while state.turn == ab.CHANCE:
                    state, _ = state.step(state.draw(number))
                some[number] = state
            ended += [state for state in some.values() if state.over]
            some = {number: state for number, state in some.items() if not state.over}
            if some:
                chosen = player(list(some.values()))
                some = {n: state.step(action)[0] for (n, state), action in zip(some.items(), chosen, strict=True)}
            moves += 1
            if moves % 10 == 0:
                measure.log(f"  {what}: {len(ended)} of {games} games, move {moves}")
    return ended


def searching(game: Any, simulations: int, evaluator: Any) -> Player:
    """Return a player that searches every state anew."""
    searcher = ab.Searcher(game, evaluator, threads=1)

    def choose(states: Sequence[ab.State]) -> list[int]:
        results = searcher.run([searcher.root(state) for state in states], simulations=simulations)
        return [result.action for result in results]  # type: ignore[misc]

    return choose


def scripted(function: Callable[[ab.State, int], int]) -> Player:
    """Return a player of a function."""
    return lambda states: [function(state, 0) for state in states]


def at_random() -> Player:
    """Return a player that chooses any choice alike."""
    random = ab.Random(1)

    def choose(state: ab.State, seat: int) -> int:
        choices = list(state.choices(seat))
        return choices[ab.below(random, len(choices))]

    return scripted(choose)


def interval(scores: Sequence[float]) -> str:
    """Return mean ± 1.96 standard errors."""
    return f"{np.mean(scores):,.1f} ± {1.96 * np.std(scores, ddof=1) / len(scores) ** 0.5:,.1f}"


def yatzy(games: int, simulations: int) -> list[str]:
    """Return the table of Yatzy."""
    game: Any = ab.games.load("yatzy")
    players: list[tuple[str, Player, int]] = [
        ("random", at_random(), 1000),
        ("greedy", scripted(game.agents()["greedy"]), 5000),
        (
            f"search, {simulations:,} uniform rollouts",
            searching(game, simulations, ab.Rollout(policy="uniform")),
            games,
        ),
        (f"search, {simulations:,} of the game's rollouts", searching(game, simulations, ab.Rollout()), games),
    ]
    lines = ["| player | games | mean points |", "| --- | ---: | ---: |"]
    for name, player, many in players:
        points = [int(state.points[0]) for state in played(game, player, many, name)]
        lines.append(f"| {name} | {len(points):,} | {interval(points)} |")
        print(lines[-1], flush=True)
    lines.append(f"| optimum (oracle) | | {ab.oracle(game).value(game.start()):.4f} |")
    return lines


def tiles(games: int, simulations: int) -> list[str]:
    """Return the table of 2048."""
    game: Any = ab.games.load("2048")
    players: list[tuple[str, Player, int]] = [
        ("random", at_random(), 1000),
        (f"search, {simulations:,} uniform rollouts", searching(game, simulations, ab.Rollout()), games),
    ]
    lines = ["| player | games | mean score | best tile of a game | best score |", "| --- | ---: | ---: | --- | ---: |"]
    for name, player, many in players:
        ended = played(game, player, many, name)
        scores = [int(state.score) for state in ended]
        largest = [1 << int(state.board.max()) for state in ended]
        counts = ", ".join(f"{tile:,}: {largest.count(tile)}" for tile in sorted(set(largest), reverse=True))
        lines.append(f"| {name} | {len(ended):,} | {interval(scores)} | {counts} | {max(scores):,} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--game", choices=("yatzy", "2048"), default="yatzy")
    parser.add_argument("--games", type=int, help="200 of Yatzy, 20 of 2048 if not given")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="into the game's page")
    flags = parser.parse_args()
    if flags.game == "yatzy":
        lines = yatzy(flags.games or 200, flags.simulations)
    else:
        lines = tiles(flags.games or 20, flags.simulations)
    print("\n".join(lines))
    if flags.write:
        pages.fill("whole", "\n".join(lines), FOLDER / f"{flags.game}.md")


if __name__ == "__main__":
    main()
