"""How soon tic-tac-toe is played perfectly: runs by the preset, every checkpoint tried in every line and in games.

    .venv/bin/python benchmarks/perfect_play.py [--cpu-minutes 2] [--seeds 0 1 2] [--every 8] [--games 200] [--write]

One process plays and learns until its processor time is used up. The network as it begins, the first checkpoint, every
so-manieth after that and the last are judged in two ways, alone by its
policy and with 25 simulations: all replies of an opponent are tried, in both seats, and the moves with which a line is
lost are counted; and games are played against a perfect player, who draws from the moves that lose nothing.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import measure  # noqa: F401  (first: it limits threads)
import pages
from muzero import losing_lines

import anabranch as ab
from anabranch.evaluate.batch import Batch
from anabranch.game.random import below
from anabranch.learn.export import exported
from anabranch.learn.game_of_run import described
from anabranch.learn.learner import new_net
from anabranch.learn.presets import preset
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.train import train
from anabranch.nets.files import read
from anabranch.nets.shape import shape_of
from anabranch.play.agent import Turn

PAGE = Path(__file__).resolve().parents[1] / "docs" / "training.md"
GAME, SIMULATIONS = "tic_tac_toe", 25
HEAD = ("seed", "CPU minutes", "positions", "steps", "player", "losing lines first, second", "lost games")


class Alone(ab.Agent):
    """Plays the choice that a network likes best, without a search."""

    def __init__(self, evaluator: Any) -> None:
        self.evaluator = evaluator

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        if not turns:
            return []
        states = [turn.state for turn in turns]
        logits, _ = self.evaluator.evaluate(Batch(states, [turn.seat for turn in turns]))
        return [max(state.legal(), key=lambda action: row[action]) for state, row in zip(states, logits, strict=True)]


class Perfect(ab.Agent):
    """Draws from the moves that lose nothing."""

    def __init__(self, game: ab.Game) -> None:
        self.oracle = ab.oracle(game)

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        best = [self.oracle.best_actions(turn.state) for turn in turns]
        return [those[below(turn.random(), len(those))] for turn, those in zip(turns, best, strict=True)]


def trained(game: ab.Game, folder: Path, seed: int, minutes: float) -> list[tuple[int, float]]:
    """Train until so many processor minutes are used up; return how many were at each step."""
    config = replace(preset(game), seed=seed, workers=0, minutes=1e6)
    config = replace(config, rating=replace(config.rating, models=0, positions=0))
    begun, clock = time.process_time(), [(0, 0.0)]

    def progress(status: object) -> None:
        spent = (time.process_time() - begun) / 60.0
        stopped = clock[-1][1] >= minutes
        clock.append((getattr(status, "step", 0), spent))
        if spent >= minutes and not stopped:  # a second Ctrl-C would end it at once, and nothing would be saved
            os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C does: it saves and ends

    train(folder, described(GAME, {}), config, progress=progress)
    return clock


def judged(game: ab.Game, folder: Path, clock: list[tuple[int, float]], every: int, games: int) -> list[str]:
    """Return a line for each checkpoint that is looked at and each player."""
    lines = []
    with RunFolder.look(folder, print) as run:
        config, models = run.config, run.ledger.rows["models"]
        nets = [(0, 0, new_net(config.net, shape_of(game), config.seed))]
        for at, row in enumerate(models):
            if at % every == 0 or row is models[-1]:
                net = read(row["file"], run.read(row["file"], row["sha256"]), game)
                nets.append((row["positions"], row["step"], net))
    for positions, step, net in nets:
        evaluator = exported(net, game, config.export.evaluator)[0]
        searching = ab.SearchAgent(simulations=SIMULATIONS, evaluator=evaluator, threads=1)
        minutes = min((spent for reached, spent in clock if reached >= step), default=clock[-1][1])
        for name, agent in (("policy alone", Alone(evaluator)), (f"{SIMULATIONS} simulations", searching)):
            lines_lost = ", ".join(str(losing_lines(agent, game, seat)) for seat in (0, 1))
            match = ab.match(game, agent, Perfect(game), games=games, openings=0, seed=config.seed)
            lost = sum(played.returns[played.seats.index(0)] < 0 for played in match.records)
            cells = [str(config.seed), f"{minutes:.1f}", f"{positions:,}", f"{step:,}", name, lines_lost]
            lines.append("| " + " | ".join([*cells, f"{lost} of {games}"]) + " |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cpu-minutes", type=float, default=2.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--every", type=int, default=8, help="look at every so-manieth checkpoint")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--write", action="store_true", help="into docs/training.md")
    flags = parser.parse_args()
    game = ab.games.load(GAME)
    lines = ["| " + " | ".join(HEAD) + " |", "| ---: | ---: | ---: | ---: | --- | ---: | ---: |"]
    print("\n".join(lines), flush=True)
    for seed in flags.seeds:
        with tempfile.TemporaryDirectory() as folder:
            clock = trained(game, Path(folder) / "run", seed, flags.cpu_minutes)
            lines += judged(game, Path(folder) / "run", clock, flags.every, flags.games)
    if flags.write:
        pages.fill("training_tic_tac_toe", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
