"""Noise on a root's priors: drawn in one place for reference and engine, once per root number."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.game.random import Random
from anabranch.search.maths.draws import Draws, Purpose
from anabranch.search.maths.policies import noised
from anabranch.search.settings.config import RootNoise


def noised_priors(
    priors: Sequence[Sequence[float]], acting: Sequence[int], noise: RootNoise, draws: Draws, key: int
) -> list[list[float]]:
    """Return the priors of all acting players with noise of their own, a function of seed, stream and root number."""
    return [
        noised(prior, noise, Random(draws.key(Purpose.NOISE, seat, key, 0)))
        for prior, seat in zip(priors, acting, strict=True)
    ]
