"""What settings left open mean for a game and an evaluator, settled before a search begins; results hold the outcome.

A match behind the numbers: docs/options.md, "Exploration".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from anabranch.evaluate.batch import has_priors
from anabranch.evaluate.native import Uniform
from anabranch.game.game import Game
from anabranch.search.settings.config import (
    NOISY,
    SURE,
    Backup,
    Chance,
    FirstPlay,
    Gumbel,
    Puct,
    Scale,
    SearchConfig,
    Ucb1,
)

Part = TypeVar("Part")
FEW_OUTCOMES = 21  # two dice


def resolved(config: SearchConfig, game: Game, evaluator: Any) -> SearchConfig:
    """Return settings that say how values are backed up, how far every selector explores and by which scale."""
    made = replace(
        config,
        selector=_selector(config.selector, game, evaluator),
        simultaneous=_together(config, game, evaluator),
        chance=_chance(config.chance, evaluator),
        backup=_backup(config.backup, game, evaluator),
        refresh=_by_cycles(config.refresh, game, "sweep", "path"),
        proofs="on" if config.proofs == "auto" else config.proofs,
    )
    return config if made == config else made


def _together(config: SearchConfig, game: Game, evaluator: Any) -> Any:
    """Return the selector of states where several choose at once: with rollouts, where the game pays, scale `node`."""
    own, chosen = config.selector if config.simultaneous is None else config.simultaneous, config.simultaneous
    if isinstance(own, (Puct, Ucb1)) and own.scale == "auto" and game.rewards_along and not _is_sure(evaluator):
        chosen = replace(own, scale="node")
    return _selector(chosen, game, evaluator)


def _is_sure(evaluator: Any) -> bool:
    """Whether evaluations come without noise to explore against, or with priors."""
    return has_priors(evaluator) or isinstance(evaluator, Uniform)


def _selector(selector: Part, game: Game, evaluator: Any) -> Part:
    if isinstance(selector, (Puct, Ucb1)) and selector.scale == "auto":
        selector = replace(selector, scale=resolved_scale(selector.scale, game))
    if isinstance(selector, (Puct, Ucb1)) and selector.first_play.kind == "auto":
        first = FirstPlay.reduced(0.2) if has_priors(evaluator) else FirstPlay.parent_minus(-0.3)
        selector = replace(selector, first_play=first)
    if isinstance(selector, Gumbel) and selector.scale == "auto":
        tight = resolved_scale("auto", game) == "range"
        selector = replace(selector, scale="range" if tight else "node")
    if isinstance(selector, Puct) and selector.c_init is None:
        selector = replace(selector, c_init=SURE if _is_sure(evaluator) else NOISY)
    return selector


def _chance(chance: Chance, evaluator: Any) -> Chance:
    """Return how dice are rolled: few outcomes are enumerated where evaluations are cheap (docs/options.md, "Dice")."""
    if chance.exact_up_to is not None:
        return chance
    limited = chance.draws > 1 or chance.widen is not None or chance.widen_cap is not None
    enumerates = chance.draw != "in_transition" and not limited and not has_priors(evaluator)
    return replace(chance, exact_up_to=FEW_OUTCOMES if enumerates else 0)


def _backup(given: Backup, game: Game, evaluator: Any) -> Backup:
    """Return what `auto` means: with dice and nobody else, what was only tried should not count (docs/options.md)."""
    rolls = game.has("chance") or game.has("draw")
    if given == "auto" and game.players == 1 and rolls and not has_priors(evaluator):
        return "best"
    return _by_cycles(given, game, "best", "mean")


def _by_cycles(given: Part, game: Game, looping: Part, other: Part) -> Part:
    """Return what `auto` means for a game: where values go round in loops, means crawl and states off the path lag."""
    if given != "auto":
        return given
    return looping if game.cycles == "bootstrap" else other


def resolved_scale(kind: Scale, game: Game) -> Scale:
    """Return the scale that `auto` means for a game: `range` where ends alone pay, else what was seen, `graph`.

    Bounds of what may still come can be far wider than what will: in 2048 thousands of times as wide.
    """
    if kind != "auto":
        return kind
    return "graph" if game.rewards_along else "range"
