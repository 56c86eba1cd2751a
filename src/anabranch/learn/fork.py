"""A new run that begins with the network of another: its weights, fresh games, and other settings if wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anabranch.errors import UsageError
from anabranch.learn import checkpoint
from anabranch.learn.game_of_run import described, game_of, name_here, placed
from anabranch.learn.learner import new_learner
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.settings import TrainConfig
from anabranch.nets.files import read, written


def fork(source: Path, target: Path, *, model: int | None = None, config: TrainConfig | None = None) -> dict[str, Any]:
    """Make a run whose learner begins with a model of another run, the newest if none is named; return its row.

    Games, steps, the optimiser's moments and auxiliary heads begin anew. The network's sizes must stay as they are.
    """
    with RunFolder.open(source) as run:
        rows = run.ledger.rows["models"]
        if not rows:
            raise UsageError(f"{source} has no model yet")
        number = len(rows) if model is None else model
        if not 1 <= number <= len(rows):
            raise UsageError(f"{source} has the models 1 to {len(rows)}, found {number}")
        row, settings, game = rows[number - 1], config or run.config, game_of(run)
        said = described(name_here(run), run.game["options"], compiled=run.game["compiled"])
        net = read(row["file"], run.read(row["file"], row["sha256"]), game)
    learner = new_learner(game, settings)
    if net.sizes != learner.net.sizes or type(net) is not type(learner.net):
        raise UsageError(f"model {number} is a {net.architecture} with {net.sizes}, and the settings want another one")
    learner.begin_with(net)
    facts = {"step": 0, "exports": 0, "seconds": 0.0, "positions": 0, "score": None}
    with RunFolder.create(target, placed(said, target), settings) as run:
        run.add("events", {"forked": str(source), "model": number, "sha256": row["sha256"]})
        return run.commit_model(written(learner.average), checkpoint.written(learner), facts)
