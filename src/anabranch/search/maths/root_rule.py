"""What only a root does: noise on its priors, visits its choices are forced to get.

A rule is made here, for reference and engine alike, and consulted where the node chosen at is the root. Nodes keep
their own priors throughout, so nothing has to be cleaned when the root moves on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.game.random import Random
from anabranch.search.maths.draws import Draws, Purpose
from anabranch.search.maths.policies import noised
from anabranch.search.settings.config import RootNoise, SearchConfig

Priors = Sequence[Sequence[float]]  # one row per acting player


@dataclass(frozen=True)
class RootRule:
    """One root's own rule, for as long as it is the root."""

    priors: Priors | None = None  # with noise, one row per acting player; None: those of the node
    forced: float = 0.0  # k of forced playouts; 0: none


def root_rule(
    config: SearchConfig, priors: Priors, acting: Sequence[int], draws: Draws, key: int, before: RootRule
) -> RootRule:
    """Return the rule of a root for its next run.

    `config` are the settings in use: a search that does not explore has neither noise nor forced playouts. `priors` are
    the node's own, empty where nobody acts, and `before` is the rule of the run before: noise is drawn once per root
    number, so what was drawn stays.
    """
    in_use = before.priors
    if in_use is None and priors and config.noise is not None:
        in_use = noised_priors(priors, acting, config.noise, draws, key)
    return RootRule(in_use, 0.0 if config.forced is None else config.forced.k)


def noised_priors(priors: Priors, acting: Sequence[int], noise: RootNoise, draws: Draws, key: int) -> list[list[float]]:
    """Return the priors of all acting players with noise of their own, a function of seed, stream and root number."""
    return [
        noised(prior, noise, Random(draws.key(Purpose.NOISE, seat, key, 0)))
        for prior, seat in zip(priors, acting, strict=True)
    ]
