"""The engine alone, without the Python around it: what is compared with itself is timed this way."""

from __future__ import annotations

from typing import Any

from measure import Contender

import anabranch as ab
from anabranch import _native
from anabranch.search.engine.native import native_config, native_evaluator, native_rules
from anabranch.search.settings.resolved import resolved


def make(
    game: ab.Game,
    evaluator: Any,
    rules: Any = None,
    start: bytes | None = None,
    config: ab.SearchConfig = ab.SearchConfig(),  # noqa: B008  (it cannot be changed)
) -> Any:
    """Return a function that makes a fresh root; `rules` and `start` may replace the game's own."""
    found, owner = native_evaluator(evaluator, game)
    settings = native_config(resolved(config, game, evaluator), game)
    rules = native_rules(game) if rules is None else rules
    start = game.start().data if start is None else start
    return lambda: _native.Search(rules, settings, found, 0, start, owner)


def run(root: Any, goal: int) -> None:
    """Search until a root has so many visits."""
    answer: Any = _native.run([root], [goal], None, 1)
    assert answer[1] is None, answer[1]


def contender(name: str, new_root: Any, simulations: int) -> Contender:
    """Return making a root and searching it as one call."""
    return Contender(name, lambda: run(new_root(), simulations), float(simulations))
