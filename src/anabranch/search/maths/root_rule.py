"""What only a root does: noise on its priors, visits its choices are forced to get, the plan of a Gumbel search.

A rule is made here, for reference and engine alike, and consulted where the node chosen at is the root. Nodes keep
their own priors throughout, so nothing has to be cleaned when the root moves on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.game.random import Random
from anabranch.search.maths.draws import Draws, Purpose
from anabranch.search.maths.gumbel import Plan, gumbel_noise, plan
from anabranch.search.maths.policies import noised
from anabranch.search.settings.config import Gumbel, RootNoise, SearchConfig, SimultaneousSelector

Priors = Sequence[Sequence[float]]  # one row per acting player


@dataclass(frozen=True)
class RootRule:
    """One root's own rule, for as long as it is the root."""

    priors: Priors | None = None  # with noise, one row per acting player; None: those of the node
    forced: float = 0.0  # k of forced playouts; 0: none
    gumbel: Priors | None = None  # the noise that choices are sampled by, one row per acting player
    plans: Sequence[Plan] | None = None  # of the last run, one per acting player


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


def in_charge(config: SearchConfig, acting: Sequence[int]) -> SimultaneousSelector:
    """Return who chooses where these players act."""
    return config.selector if len(acting) <= 1 or config.simultaneous is None else config.simultaneous


def gumbel_rule(
    selector: Gumbel,
    priors: Priors,
    acting: Sequence[int],
    draws: Draws,
    key: int,
    before: RootRule,
    visits: Sequence[Sequence[int]],
    simulations: int,
) -> RootRule:
    """Return the rule of a root that Gumbel is in charge of, for a run of so many simulations; `visits` are N₀.

    Its noise is drawn once per root number; Dirichlet noise and forced visits have no part in it. A run of no
    simulations leaves the plan of the one before.
    """
    noise = before.gumbel
    if noise is None:
        rows = zip(priors, acting, strict=True)
        noise = [gumbel_noise(len(prior), Random(draws.key(Purpose.GUMBEL, seat, key, 0))) for prior, seat in rows]
    if simulations == 0 and before.plans:
        return before
    made = [
        plan(row, prior, counts, simulations, selector.considered, selector.noise)
        for row, prior, counts in zip(noise, priors, visits, strict=True)
    ]
    return RootRule(gumbel=noise, plans=made)


def noised_priors(priors: Priors, acting: Sequence[int], noise: RootNoise, draws: Draws, key: int) -> list[list[float]]:
    """Return the priors of all acting players with noise of their own, a function of seed, stream and root number."""
    return [
        noised(prior, noise, Random(draws.key(Purpose.NOISE, seat, key, 0)))
        for prior, seat in zip(priors, acting, strict=True)
    ]
