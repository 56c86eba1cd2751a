"""Training as one call: a game by its name, settings in words, as the command takes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anabranch.learn import train as training
from anabranch.learn.settings import Method
from anabranch.learn.train import Changes, Say, Trained, described
from anabranch.search.settings.mapping import from_pairs


def train(
    game: str,
    folder: str | os.PathLike[str],
    *,
    options: Mapping[str, Any] | None = None,
    settings: Sequence[str] = (),
    method: Method | None = None,
    minutes: float | None = None,
    workers: int | None = None,
    ray: str | None = None,
    say: Say = print,
    progress: Callable[[Any], None] = lambda status: None,
) -> Trained:
    """Train a network for a game by self-play, as `anabranch train` does; called again, go on with the run.

    `game` is a name such as "connect_four" or "my_game.py:MyGame", and `options` are the game's. `settings` are words
    like "learner.rate=0.001", over the game's preset or the run's own settings. `minutes` are those of the whole run,
    `workers` the processes that play beside this one, `ray` a cluster whose actors play instead. `say` gets what is
    worth keeping, `progress` how far the run has come, again and again. Ctrl-C saves and returns. Needs torch.
    """
    said = described(game, dict(options or {}))
    changes = Changes(lambda usual: from_pairs(list(settings), base=usual, flag="settings"), method)
    return training.train(
        Path(folder), said, changes, minutes=minutes, workers=workers, ray=ray, say=say, progress=progress
    )
