"""What pays in training: one setting changed at a time, several seeds, as many processor minutes each.

    .venv/bin/python benchmarks/ablations.py [--cpu-minutes 3] [--seeds 0 1 2] [--only nothing "no teacher" …] [--write]
    .venv/bin/python benchmarks/ablations.py --game othello [--cpu-minutes 2] [--seeds 0 1] [--write]

Every run plays and learns in one process until its processor time is used up; then its newest network is scored. In
connect four: best moves on solved positions from random and from strong play, by the policy alone and with 100
simulations, and a match at 200 simulations against a search with 1,000 rollouts a move, the library's own, which take a
win in one. In Othello 6×6 the same on endings that its oracle solves, and a match against as many plain rollouts as
simulations; in PyRat such a match alone. All begin with settings for short runs; the tables of the last two say what
auxiliary heads are worth there.

A cell is the mean over seeds, and the reach of its 95 % interval by Student's t over seeds: what another seed may
change is in it. Runs that were made before, with as many minutes, are read from benchmarks/results/ablations.jsonl, so
a table can be made in pieces.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import measure  # first: it limits threads
import pages

import anabranch as ab
from anabranch.learn.evaluation import scored
from anabranch.learn.export import exported, mixed
from anabranch.learn.frozen_set import Sets, frozen_positions, stored
from anabranch.learn.game_of_run import described
from anabranch.learn.presets import preset
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.settings import TrainConfig
from anabranch.learn.train import train
from anabranch.nets.files import read
from anabranch.play.interval import student_quantile
from anabranch.search.settings.mapping import from_pairs

KEPT = measure.RESULTS / "ablations.jsonl"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "training.md"
PLAIN = "evaluator=rollout:greedy=0+policy=uniform"
OPPONENT = f"search:simulations=1000,c=3,{PLAIN}"
GAME = "connect_four"
SIMULATIONS = 200


def said(*pairs: str) -> Callable[[TrainConfig], TrainConfig]:
    """Return what changes settings as `--set` does."""
    return lambda config: from_pairs(list(pairs), base=config)


def gumbel(config: TrainConfig) -> TrainConfig:
    """Let Gumbel search with half as many simulations, every move of it recorded."""
    cap = ab.PlayoutCap(full=48, fast=48, chance=1.0)
    search = replace(config.search, selector=ab.Gumbel(considered=7), noise=None, cap=cap, forced=None)
    return replace(config, search=search)


VARIANTS: dict[str, Callable[[TrainConfig], TrainConfig]] = {
    "nothing": said(),
    "no teacher": said("teacher.positions=0"),
    "20,000 positions of the teacher": said("teacher.positions=20000"),
    "no rollouts in values": said("self_play.rollouts=0"),
    "neither": said("teacher.positions=0", "self_play.rollouts=0"),
    "batch 512": said("learner.batch=512"),
    "4 samples a position": said("learner.reuse=4"),
    "8 samples a position": said("learner.reuse=8"),
    "16 samples a position": said("learner.reuse=16"),
    "λ 0": said("targets.mix=0"),
    "λ 1": said("targets.mix=1"),
    "Gumbel 48": gumbel,
    "a tree": said("search.transposition.merge=false"),
    "evaluations kept": said("self_play.keep=evaluations"),
    "nothing kept": said("self_play.keep=nothing"),
    "a cache of 100,000": said("self_play.cache=100000"),
    "256 games abreast": said("self_play.abreast=256"),
    "float": said("export.evaluator=onnx"),
    "5 × 48": said("net.channels=48"),
    "3 × 32": said("net.blocks=3"),
    "proofs": said("search.proofs=on"),
    "opponent's reply .15": said("auxiliary.reply=0.15"),
    "half of the samples by surprise": said("replay.weights=surprise"),
    "decided games .9": said("self_play.decided=0.9"),
}
SETS = ("random, policy", "random, 100", "strong, policy", "strong, 100")


def until(minutes: float) -> Callable[[Any], None]:
    """Return what ends a run, as `progress` of `train`, once so many minutes of the processor from now on are used."""
    begun, asked = time.process_time(), False

    def progress(status: Any) -> None:
        nonlocal asked
        if not asked and time.process_time() - begun > 60 * minutes:
            asked = True  # a second Ctrl-C would end it at once, and nothing would be saved
            os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C does: it saves and ends

    return progress


@dataclass(frozen=True)
class Study:
    """A game, the settings that variants change, and who a match is against at how many simulations."""

    name: str
    options: dict[str, Any]
    base: Callable[[TrainConfig], TrainConfig]
    variants: dict[str, Callable[[TrainConfig], TrainConfig]]
    opponent: str
    simulations: int
    sets: Callable[[ab.Game], Sets]  # of solved positions
    block: str  # of the page

    @property
    def figures(self) -> tuple[str, ...]:
        """What a run is scored by."""
        return (*(SETS if self.sets is not no_sets else ()), "score")

    def settings(self, variant: str) -> TrainConfig:
        """Return the settings of a variant."""
        return self.variants[variant](self.base(preset(self.game)))

    @property
    def game(self) -> ab.Game:
        """The game."""
        return ab.games.load(self.name, **self.options)


def no_sets(game: ab.Game) -> Sets:
    """Return nothing, where no oracle solves positions."""
    return {}


@cache
def endings(game: ab.Game) -> Sets:
    """Return endings that the game's oracle solves, of random and of strong play."""
    return frozen_positions(game, 300)


BEFORE = (
    "net.channels=32",
    "learner.reuse=6",
    "self_play.keep=graph",
)  # what the preset had until its table decided it
SHORT = ("teacher.positions=5000", "learner.warm_up=100", "learner.steps=500", *BEFORE)
BRIEF = ("learner.batch=256", "learner.warm_up=50", "learner.steps=500", "replay.least=1000", "export.evaluator=torch")
STUDIES = {
    GAME: Study(GAME, {}, said(*SHORT), VARIANTS, "search:simulations=1000,c=3", SIMULATIONS, stored, "ablations"),
    "othello": Study(
        "othello",
        {"size": 6},
        said(*BRIEF, "net.channels=32", "net.blocks=3", "teacher.positions=6000"),
        {
            "no heads": said(),
            "ownership .5, margin .25": said("auxiliary.fates=ownership=0.5 margin=0.25"),
            "opponent's reply .15": said("auxiliary.reply=0.15"),
            "all three": said("auxiliary.fates=ownership=0.5 margin=0.25", "auxiliary.reply=0.15"),
        },
        f"search:simulations=100,c=3,{PLAIN}",
        100,
        endings,
        "ablations_othello",
    ),
    "pyrat": Study(
        "pyrat",
        {"drawn": True},
        said(*BRIEF, "teacher.positions=10000"),
        {
            "no heads": said(),
            "cheese .5": said("auxiliary.fates=cheese=0.5"),
            "opponent's reply .15": said("auxiliary.reply=0.15"),
        },
        f"search:simulations=64,{PLAIN}",
        64,
        no_sets,
        "ablations_pyrat",
    ),
}


def run(study: Study, name: str, seed: int, minutes: float, games: int) -> dict[str, Any]:
    """Train once and score what came of it."""
    game = study.game
    config = replace(study.settings(name), seed=seed, workers=0, minutes=1e6)
    config = replace(config, rating=replace(config.rating, models=0, positions=0))
    sets = study.sets(game)
    begun = time.process_time()

    with tempfile.TemporaryDirectory() as folder:
        done = train(Path(folder) / "run", described(study.name, study.options), config, progress=until(minutes))
        spent = (time.process_time() - begun) / 60
        with RunFolder.look(Path(folder) / "run", print) as kept:
            row = kept.ledger.rows["models"][-1]
            net = read(row["file"], kept.read(row["file"], row["sha256"]), game)
    alone = exported(net, game, config.export.evaluator)[0]
    agent = ab.SearchAgent(simulations=study.simulations, evaluator=mixed(alone, config.self_play), threads=1)
    score = ab.match(game, agent, study.opponent, games=games, seed=seed).score
    shares = []
    if sets:
        found = scored(sets, alone, 100)
        shares = [getattr(found.sets[kind], how) for kind in ("random", "strong") for how in ("policy", "search")]
    return {
        "game": study.name,
        "variant": name,
        "seed": seed,
        "minutes": minutes,
        "games": games,
        "cpu_minutes": spent,
        "positions": done.positions,
        "steps": done.step,
        **dict(zip(study.figures, [*shares, score], strict=True)),
    }


def cell(values: list[float]) -> str:
    """Return a mean and the reach of its interval, both in per cent."""
    if len(values) < 2:
        return f"{100 * values[0]:.1f}"
    reach = student_quantile(0.975, len(values) - 1) * stdev(values) / len(values) ** 0.5
    return f"{100 * fmean(values):.1f} ± {100 * reach:.1f}"


def table(study: Study, rows: list[dict[str, Any]]) -> str:
    """Return the table of all runs, those of one variant in a line."""
    head = ["changed", "seeds", "processor min", "positions", "steps", *study.figures]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name in study.variants:
        of = [row for row in rows if row["variant"] == name]
        if of:
            counts = [f"{len(of)}", f"{fmean(row['cpu_minutes'] for row in of):.1f}"]
            counts += [f"{fmean(row[key] for row in of):,.0f}" for key in ("positions", "steps")]
            lines.append([name, *counts, *(cell([row[figure] for row in of]) for figure in study.figures)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cpu-minutes", type=float, default=3.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--game", choices=STUDIES, default=GAME)
    parser.add_argument("--only", nargs="+", default=None, help="variants, all unless named")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--write", action="store_true", help="into docs/training.md")
    flags = parser.parse_args()
    study = STUDIES[flags.game]
    if unknown := set(flags.only or ()) - set(study.variants):
        parser.error(f"{flags.game} has the variants {', '.join(study.variants)}, not {', '.join(unknown)}")
    KEPT.parent.mkdir(exist_ok=True)
    known = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    told = {"game": flags.game, "minutes": flags.cpu_minutes, "games": flags.games}
    rows = [row for row in known if {"game": GAME, **row}.items() >= told.items()]
    for seed in flags.seeds:
        for name in flags.only or study.variants:
            if any((row["variant"], row["seed"]) == (name, seed) for row in rows):
                continue
            rows.append(run(study, name, seed, flags.cpu_minutes, flags.games))
            print(json.dumps(rows[-1]), flush=True)
            with KEPT.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(table(study, rows))
    if flags.write:
        pages.fill(study.block, table(study, rows), PAGE)


if __name__ == "__main__":
    main()
