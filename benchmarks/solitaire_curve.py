"""How well a run of solitaire Yatzy played at each of its checkpoints, beside the oracle.

    .venv/bin/python benchmarks/solitaire_curve.py RUN [--games 200] [--last 10000] [--every 2] [--write]
                                                       [--cpu-minutes 5]

The policy alone and searches as self-play made them, without noise. What an agent is worth is measured in two ways: the
points of whole games, and 248.44 less what its choices lose by the oracle, added up over a game. Both have the same
mean, the second a tenth of the first one's variance or less: luck of the dice is left out. Beside it the share of
choices that lose nothing, of games with the bonus, and the error of the root's value. `--write` puts the table into
docs/training.md. Intervals are 95 %.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import measure  # first: it limits threads
import numpy as np
import pages

import anabranch as ab
from anabranch.evaluate.batch import Batch
from anabranch.games.scores import UPPER
from anabranch.learn.export import exported
from anabranch.learn.game_of_run import game_of
from anabranch.learn.run_folder import RunFolder
from anabranch.nets.files import read
from anabranch.search.exact.oracle import EQUAL
from anabranch.search.settings.config import Gumbel, SearchConfig

PAGE = Path(__file__).resolve().parents[1] / "docs" / "training.md"
ABREAST = 500  # games played at once
Player = Callable[[Sequence[ab.State]], tuple[list[int], Any]]  # states → actions and values


def policy_alone(evaluator: Any) -> Player:
    """Return a player that takes the choice the network likes best."""

    def choose(states: Sequence[ab.State]) -> tuple[list[int], Any]:
        logits, values = evaluator.evaluate(Batch(states, [0] * len(states)))
        best = [
            max(state.choices(0), key=lambda action: row[action]) for state, row in zip(states, logits, strict=True)
        ]
        return best, values[:, 0]

    return choose


def searching(game: ab.Game, evaluator: Any, config: SearchConfig, simulations: int) -> Player:
    """Return a player that searches every state anew, without noise."""
    assert isinstance(config.selector, Gumbel)
    quiet = dataclasses.replace(config, selector=dataclasses.replace(config.selector, noise=0.0), cap=None)
    searcher = ab.Searcher(game, evaluator, quiet, threads=1)

    def choose(states: Sequence[ab.State]) -> tuple[list[int], Any]:
        results = searcher.run([searcher.root(state) for state in states], simulations=simulations)
        return [result.action for result in results], np.array([result.value[0] for result in results])  # type: ignore[misc]

    return choose


def played(game: Any, known: ab.Oracle, player: Player, games: int, seed: int) -> list[Any]:
    """Play games abreast; return what each lost by regrets, points, share of best choices, bonus; values' errors."""
    states, lost, right, errors = [game.start() for _ in range(games)], np.zeros(games), np.zeros(games), []
    while not states[0].over:  # all games of one player are as long
        if states[0].turn == ab.CHANCE:
            states = [state.step(state.draw(seed * 1_000_000 + number))[0] for number, state in enumerate(states)]
            continue
        actions, values = player(states)
        errors.append(values - known.values_of(states)[:, 0])
        regrets = np.array([known.regret(state, action) for state, action in zip(states, actions, strict=True)])
        lost += regrets
        right += regrets <= EQUAL
        states = [state.step(action)[0] for state, action in zip(states, actions, strict=True)]
    points = np.array([int(state.points[0]) for state in states])
    bonus = np.array([int(state.upper[0]) >= UPPER for state in states])
    return [lost, points, right / len(errors), bonus, np.concatenate(errors)]


def measured(game: Any, known: ab.Oracle, player: Player, games: int) -> list[str]:
    """Return the cells of a player: worth by regrets, points, choices that lose nothing, bonuses, error of values."""
    parts = [
        played(game, known, player, min(ABREAST, games - begin), 1 + begin // ABREAST)
        for begin in range(0, games, ABREAST)
    ]
    lost, points, right, bonus, errors = (np.concatenate(column) for column in zip(*parts, strict=True))
    best = float(known.value(game.start()))
    return [
        f"{best - lost.mean():.1f} ± {1.96 * lost.std(ddof=1) / games**0.5:.1f}",
        f"{points.mean():.1f} ± {1.96 * points.std(ddof=1) / games**0.5:.1f}",
        f"{right.mean():.3f}",
        f"{bonus.mean():.2f}",
        "–" if np.isnan(errors).any() else f"{np.sqrt(np.mean(np.square(errors))):.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument(
        "--last", type=int, help="games of the last checkpoint, the greedy player and the oracle, if more"
    )
    parser.add_argument("--every", type=int, default=1, help="score every so many-th checkpoint, and the last")
    parser.add_argument("--cpu-minutes", type=float, help="of the whole run, to be told beside wall minutes")
    parser.add_argument("--write", action="store_true", help="into docs/training.md")
    flags = parser.parse_args()
    with RunFolder.open(flags.run) as run:
        config, game = run.config, game_of(run)
        models = run.ledger.rows["models"]
        chosen = models[flags.every - 1 :: flags.every]
        chosen += [] if chosen and chosen[-1] is models[-1] else [models[-1]]
        nets = [read(row["file"], run.read(row["file"], row["sha256"]), game) for row in chosen]
    known, simulations = ab.oracle(game), config.rating.simulations
    columns = ("worth by regrets", "points", "best choices", "bonus", "error of values")
    lines = ["| positions | steps | player | " + " | ".join(columns) + " |", "| ---: | ---: | --- |" + " ---: |" * 5]
    best = known.best_of

    def add(row: dict[str, Any] | None, name: str, player: Player) -> None:
        facts = f"| {row['positions']:,} | {row['step']:,} |" if row else "| | |"
        games = flags.last if flags.last and (row is None or row is chosen[-1]) else flags.games
        lines.append(f"{facts} {name} | " + " | ".join(measured(game, known, player, games)) + " |")
        print(lines[-1], flush=True)

    for row, net in zip(chosen, nets, strict=True):
        evaluator = exported(net, game, "onnx")[0]
        add(row, "policy alone", policy_alone(evaluator))
        add(row, f"{simulations} simulations", searching(game, evaluator, config.search, simulations))
        measure.log(f"  {row['positions']:,} positions")
    greedy = game.agents()["greedy"]
    add(None, "greedy", lambda states: ([greedy(state, 0) for state in states], np.full(len(states), np.nan)))
    add(None, "oracle", lambda states: (best(states), known.values_of(states)[:, 0]))
    spent = f", {flags.cpu_minutes:.1f} processor minutes in all" if flags.cpu_minutes else ""
    more = f", {flags.last:,} in rows of the last checkpoint and without one" if flags.last else ""
    note = f"Seed {config.seed}, {flags.games} games a row{more}{spent}."
    note += f" The first {config.teacher.positions:,} positions are the teacher's."
    print(note)
    if flags.write:
        pages.fill("training_yatzy", "\n".join([*lines, "", note]), PAGE)


if __name__ == "__main__":
    main()
