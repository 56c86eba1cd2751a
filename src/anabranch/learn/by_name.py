"""Training as one call: a game by its name, settings in words, as the command takes them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from anabranch.errors import UnknownNameError, UsageError, shown
from anabranch.learn import train as training
from anabranch.learn.game_of_run import described
from anabranch.learn.settings import Method
from anabranch.learn.train import Changes, Say, Trained
from anabranch.search.settings.mapping import from_pairs


def train(
    game: str,
    folder: str | os.PathLike[str],
    *,
    options: Mapping[str, Any] | None = None,
    interpreted: bool = False,
    settings: Sequence[str] = (),
    method: Method | None = None,
    minutes: float | None = None,
    workers: int | None = None,
    ray: str | None = None,
    say: Say = print,
    progress: Callable[[Any], None] = lambda status: None,
) -> Trained:
    """Train a network for a game by self-play, as `anabranch train` does; called again, go on with the run.

    `game` is a name such as "connect_four" or "my_game.py:MyGame", `options` are the game's, and `interpreted` runs it
    without compiling. `settings` are words like "learner.rate=0.001", over the game's preset or the run's own settings.
    `minutes` are those of the whole run, `workers` the processes that play beside this one, `ray` a cluster whose
    actors play instead. `say` gets what is worth keeping, `progress` how far the run has come, again and again. Ctrl-C
    saves and returns. Needs torch.
    """
    if not isinstance(game, str):
        raise UsageError(
            f"a run remembers its game by name, such as 'connect_four' or 'my_game.py:MyGame', found {shown(game)}"
        )
    if game.startswith("__main__:") and (workers != 0 or ray is not None):
        raise UsageError(f"{game}: processes that play cannot load it from there; put it into a file, or workers=0")
    if method is not None and method not in get_args(Method):
        raise UnknownNameError("method", str(method), get_args(Method))
    if isinstance(settings, (str, Mapping)) or not all(isinstance(word, str) for word in settings):
        raise UsageError(f"settings are a list of words like 'learner.rate=0.001', found {shown(settings)}")
    for name, number in (("minutes", minutes), ("workers", workers)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, (int, float))):
            raise UsageError(f"{name} must be a number, found {shown(number)}")
    said = described(game, _plain(options or {}), compiled=not interpreted)
    changes = Changes(lambda usual: from_pairs(list(settings), base=usual, flag="settings"), method)
    return training.train(
        Path(folder), said, changes, minutes=minutes, workers=workers, ray=ray, say=say, progress=progress
    )


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a game as they are remembered on disk, and sent to processes that play."""
    if "compiled" in options:
        raise UsageError("compiled is no option of a game; interpreted=True runs it without compiling")
    plain: dict[str, Any] = {}
    for name, value in options.items():
        try:
            plain[name] = json.loads(json.dumps(value))
        except (TypeError, ValueError):
            raise UsageError(
                f"option {name}={shown(value)} cannot be remembered: numbers, texts, lists and dicts of them can"
            ) from None
    return plain
