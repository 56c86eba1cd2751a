"""Which candidates self-play uses: the one place where a run decides about weights."""

from __future__ import annotations

from typing import Any

from anabranch.game.game import Game
from anabranch.learn.export import agent_of
from anabranch.learn.settings import Export
from anabranch.play.gate import gate


def admits(
    candidate: Any, current: Any, game: Game, settings: Export, *, simulations: int, seed: int
) -> tuple[bool, dict[str, Any] | None]:
    """Return whether self-play goes on with a candidate's weights, and what was found out about them.

    "always" costs nothing and is what most runs want. "test" plays pairs until it is known whether the candidate is
    better (`ab.gate`); where that stays open, the weights in use stay in use.
    """
    if settings.gate == "always" or current is None or game.players < 2:
        return True, None
    agents = [agent_of(each, simulations) for each in (candidate, current)]
    found = gate(game, *agents, most=settings.gate_pairs, seed=seed)
    return found.promoted, {"verdict": found.verdict, "pairs": found.pairs, "score": found.score}
