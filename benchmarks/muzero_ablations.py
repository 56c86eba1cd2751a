"""What pays in learning the rules of tic-tac-toe: one setting changed at a time, some seeds, equal processor minutes.

    .venv/bin/python benchmarks/muzero_ablations.py [--cpu-minutes 1] [--seeds 0 1 2] [--only preset …] [--write]

Every run plays and learns in one process until its processor time is used up. Its newest network, and the one that was
newest when half of the time was used up, plan with the preset's simulations, and lines that lose are counted by trying
every reply, moving first and second. Errors of the model are those on held-out games, after one imagined step and after
all of them. A cell is the mean over seeds, and the reach of its 95 % interval by Student's t over seeds. Runs that were
made before, with as many minutes, are read from benchmarks/results/muzero_ablations.jsonl, so a table can be made in
pieces. `--write` puts it into docs/muzero.md.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import measure  # first: it limits threads
import pages
from ablations import said, until
from muzero import PAGE, losing_lines

import anabranch as ab
from anabranch.learn.game_of_run import described
from anabranch.learn.presets import preset
from anabranch.learn.rating import rated_agent
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.settings import TrainConfig
from anabranch.learn.train import train
from anabranch.play.interval import student_quantile

KEPT = measure.RESULTS / "muzero_ablations.jsonl"
GAME = "tic_tac_toe"
VARIANTS: dict[str, Callable[[TrainConfig], TrainConfig]] = {
    "preset": said(),
    "`unroll.consistency` 1": said("unroll.consistency=1"),
    "`unroll.legal` 0": said("unroll.legal=0"),
    "`learner.reuse` 16": said("learner.reuse=16"),
    "`learner.reuse` 60": said("learner.reuse=60"),
    "`replay.reanalysed` .05": said("replay.reanalysed=0.05"),
    "`search.selector.scale` node": said("search.selector.scale=node"),
    "`unroll.reward`, `unroll.end` 1": said("unroll.reward=1", "unroll.end=1"),
}
LINES = ("lines lost at half time", "lines lost at the end")
ERRORS = {f"{part} {steps}": (part, at) for part in ("reward", "end", "legal") for steps, at in (("1", 0), ("5", -1))}


def run(name: str, seed: int, minutes: float) -> dict[str, Any]:
    """Train once and judge what came of it."""
    game = ab.games.load(GAME)
    config = replace(preset(game, "muzero"), seed=seed, workers=0, minutes=1e6)
    config = VARIANTS[name](replace(config, rating=replace(config.rating, models=0, positions=0)))
    config = replace(config, export=replace(config.export, checkpoints=2))  # one near half time
    begun, stop = time.process_time(), until(minutes)
    half = [0]  # the last step in the first half

    def progress(status: Any) -> None:
        if time.process_time() - begun < 30 * minutes:
            half[0] = getattr(status, "step", 0)
        stop(status)

    with tempfile.TemporaryDirectory() as folder:
        train(Path(folder) / "run", described(GAME, {}), config, progress=progress)
        spent = (time.process_time() - begun) / 60
        with RunFolder.look(Path(folder) / "run", print) as kept:
            models = kept.ledger.rows["models"]
            early = [row for row in models if row["step"] <= half[0]]
            if not early:
                raise SystemExit(f"{minutes} minutes are too few: there was no checkpoint in the first half of them")
            metrics = next(row for row in kept.ledger.rows["metrics"] if row["step"] == models[-1]["step"])
            lost = [_lost(kept, game, row["version"]) for row in (early[-1], models[-1])]
    return {
        "variant": name,
        "seed": seed,
        "minutes": minutes,
        "cpu_minutes": spent,
        "games": metrics["games"],
        "steps": models[-1]["step"],
        "half": early[-1]["step"],
        "lost": lost,
        "model": metrics["model"],
    }


def _lost(run: RunFolder, game: ab.Game, version: int) -> list[int]:
    """Return how many lines a model loses, moving first and second."""
    agent = rated_agent(run, game, version, run.config.rating.simulations)
    return [losing_lines(agent, game, seat) for seat in (0, 1)]


def cell(values: list[float], digits: int) -> str:
    """Return a mean and the reach of its interval."""
    if len(values) < 2:
        return f"{values[0]:.{digits}f}" if values else ""
    reach = student_quantile(0.975, len(values) - 1) * stdev(values) / len(values) ** 0.5
    return f"{fmean(values):.{digits}f} ± {reach:.{digits}f}"


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table of all runs, those of one variant in a line."""
    head = ["changed", "seeds", "CPU minutes", "games", "steps", *LINES, "of single seeds", *ERRORS]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name in VARIANTS:
        of = sorted((row for row in rows if row["variant"] == name), key=lambda row: row["seed"])
        if of:
            counts = [f"{len(of)}", f"{fmean(row['cpu_minutes'] for row in of):.2f}"]
            counts += [f"{fmean(row[key] for row in of):,.0f}" for key in ("games", "steps")]
            lost = [cell([float(sum(row["lost"][at])) for row in of], 0) for at in (0, 1)]
            single = ", ".join(str(sum(row["lost"][1])) for row in of)
            told = [[row["model"][part][at] for row in of] for part, at in ERRORS.values()]
            errors = [cell([one for one in each if one is not None], 3) for each in told]
            lines.append([name, *counts, *lost, single, *errors])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cpu-minutes", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--write", action="store_true", help="into docs/muzero.md")
    flags = parser.parse_args()
    KEPT.parent.mkdir(exist_ok=True)
    known = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    rows = [row for row in known if row["minutes"] == flags.cpu_minutes]
    for seed in flags.seeds:
        for name in flags.only:
            if any((row["variant"], row["seed"]) == (name, seed) for row in rows):
                continue
            rows.append(run(name, seed, flags.cpu_minutes))
            print(json.dumps(rows[-1]), flush=True)
            with KEPT.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(table(rows))
    if flags.write:
        pages.fill("muzero_ablations", table(rows), PAGE)


if __name__ == "__main__":
    main()
