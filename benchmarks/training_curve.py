"""How strong a run was at each of its checkpoints: optimal moves on solved positions, and matches against searches.

    .venv/bin/python benchmarks/training_curve.py build/training/connect_four-seed0 [--cpu-minutes 40] [--write]

Where an oracle or a solver knows positions (connect four; Othello's endings): the policy alone, 100 and 400
simulations, on those from random and from strong play. Then 200 simulations against searches of 1,000 with rollouts, c
= 3: plain ones, and the library's default ones, which take a win in one. Networks are read in eight bits, as self-play
used them, with the run's own share of rollouts. `--write` puts the table into docs/training.md and the chart into
docs/pictures.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import measure  # noqa: F401  (first: it limits threads)
import pages

import anabranch as ab
from anabranch.draw.chart import Series, chart
from anabranch.learn.evaluation import scored
from anabranch.learn.export import exported, mixed
from anabranch.learn.frozen_set import frozen_positions, stored
from anabranch.learn.game_of_run import game_of
from anabranch.learn.learner import new_net
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.settings import TrainConfig
from anabranch.nets.files import read
from anabranch.nets.shape import shape_of
from anabranch.play.search_agent import SearchAgent

DOCS = Path(__file__).resolve().parents[1] / "docs"
PLAIN = "search:simulations=1000,c=3,evaluator=rollout:greedy=0+policy=uniform"
USUAL = "search:simulations=1000,c=3"
SIMULATIONS = 200


def beside(game: ab.Game, config: TrainConfig) -> list[tuple[str, Any, tuple[int, int]]]:
    """Return who else looks at the positions: a network that has learnt nothing, and rollouts."""
    net = new_net(config.net, shape_of(game), config.seed)
    untrained = exported(net, game, "onnx")[0]
    return [
        ("untrained, alone", untrained, (100, 400)),
        ("default rollouts: 1,000, 10,000", ab.Rollout(), (1000, 10_000)),
        ("plain rollouts: 1,000, 10,000", ab.Rollout(greedy=0, policy="uniform"), (1000, 10_000)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--games", type=int, default=200)
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
    sets = stored(game) or frozen_positions(game, 200)
    lines = ["| minutes | positions |" + "".join(f" {name}: policy, 100, 400 |" for name in sets)]
    lines[0] += " plain rollouts, 1,000 | default rollouts, 1,000 |"
    lines.append("| ---: " * (4 + len(sets)) + "|")
    curves: dict[str, list[tuple[float, float, float]]] = {"plain rollouts, 1,000": [], "default rollouts, 1,000": []}
    for words, evaluator, budgets in beside(game, config):
        found = [scored(sets, evaluator, simulations) for simulations in budgets] if sets else []
        shares = [
            ", ".join(
                ["–" if "rollouts" in words else f"{found[0].sets[name].policy:.3f}"]
                + [f"{each.sets[name].search:.3f}" for each in found]
            )
            for name in sets
        ]
        lines.append(f"| {words} | | {' | '.join(shares)} | | |")
        print(lines[-1], flush=True)
    for row, net in zip(chosen, nets, strict=True):
        evaluator = mixed(exported(net, game, config.export.evaluator)[0], config.self_play)
        cells = [f"{row['seconds'] / 60:.1f}", f"{row['positions']:,}"]
        few, more = (scored(sets, evaluator, simulations) for simulations in (100, 400)) if sets else (None, None)
        for name in sets:
            assert few is not None
            assert more is not None
            shares = (few.sets[name].policy, few.sets[name].search, more.sets[name].search)
            cells.append(", ".join(f"{share:.3f}" for share in shares))
        for name, opponent in zip(curves, (PLAIN, USUAL), strict=True):
            agent = SearchAgent(simulations=SIMULATIONS, evaluator=evaluator, threads=1)
            found = ab.match(game, agent, opponent, games=flags.games)
            low, high = found.interval
            cells.append(f"{found.score:.3f} ({low:.3f} to {high:.3f})")
            curves[name].append((row["seconds"] / 60, 100 * found.score, 50 * (high - low)))
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    spent = f", {flags.cpu_minutes:.0f} processor minutes in all" if flags.cpu_minutes else ""
    processes = "as many processes as suit the cores" if config.workers is None else f"{config.workers} process(es)"
    note = (
        f"Seed {config.seed}, {processes} beside the learner, {flags.games} games a cell at "
        f"{SIMULATIONS} simulations{spent}."
    )
    print("\n".join([*lines, "", note]))
    if flags.write:
        name = f"training_{game.name}"
        series = [
            Series(key, [(x, y) for x, y, _ in points], [r for *_, r in points]) for key, points in curves.items()
        ]
        chart(f"{game.name}: score against searches, %", "minutes", series).save(DOCS / "pictures" / f"{name}.svg")
        pages.fill(
            name, "\n".join([*lines, "", note, "", f"![Score over time](pictures/{name}.svg)"]), DOCS / "training.md"
        )


if __name__ == "__main__":
    main()
