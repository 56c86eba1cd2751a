"""Laws of chance: draws are unbiased whatever the mode, and a tempting shortcut is not (docs/model.md section 6)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tables import OVER, chance, decision, table

import anabranch as ab
from anabranch.games.explicit import Explicit
from anabranch.search.reference.walk import Walker

WORTH = (1.0, -0.5, 0.25, -1.0, 0.75)
CHANCES = (0.4, 0.25, 0.2, 0.1, 0.05)
EXPECTED = float(np.dot(WORTH, CHANCES))


def dice():
    """Five outcomes with values of their own, each a state to be evaluated."""
    nodes = {f"s{i}": decision(0, (worth,), ("end", (worth,))) for i, worth in enumerate(WORTH)}
    nodes["roll"] = chance(*((p, f"s{i}", (0.0,)) for i, p in enumerate(CHANCES)))
    return Explicit(table(1, "roll", (-1.0, 1.0), **nodes, end=OVER)).interpreted()


def evaluation_of(game):
    """Return an evaluator that says what the table says, without a policy."""
    return lambda batch: (None, [game.evaluations[game.id_of(state)][0] for state in batch.states])


def mean_over_seeds(kind, config, simulations, seeds=800):
    game, values = dice(), []
    for seed in range(seeds):
        settings = ab.SearchConfig(chance=config, seed=seed)
        values.append(kind(game.start(), evaluation_of(game), settings).run(simulations=simulations).value[0])
    return float(np.mean(values)), float(np.std(values)) / seeds**0.5


@pytest.mark.parametrize(
    "config",
    [
        ab.Chance(),
        ab.Chance(draw="sampled"),
        ab.Chance(draws=4),
        ab.Chance(draw="sampled", widen_cap=2),
        ab.Chance(widen=1.0, widen_power=0.3),
    ],
    ids=["spread", "sampled", "draws", "sampled, two children", "spread, widening"],
)
def test_chance_value_is_unbiased(config):
    """The mean over seeds of the value after seven visits is the expectation (4.5 standard errors; 1 in 10^5)."""
    mean, error = mean_over_seeds(ab.Reference, config, 7)
    assert abs(mean - EXPECTED) < 4.5 * error + 1e-12


def test_exact_chance_value_is_the_expectation():
    mean, error = mean_over_seeds(ab.Reference, ab.Chance(exact_up_to=5), 1, seeds=3)
    assert mean == pytest.approx(EXPECTED, abs=1e-12)
    assert error == 0.0


class Redrawing(Walker):
    """Unsound: once the limit is reached, draw again until an outcome comes up that has a child."""

    def _outcome_index(self, node, number):
        limit = self.config.chance.limit(number)
        for attempt in range(10_000):
            index = super()._outcome_index(node, number + 1000 * attempt)
            if limit is None or sum(1 for _ in node.children()) < limit or (index,) in node.edges:
                return index
        raise AssertionError("no stored outcome was drawn")


class RedrawUntilStored(ab.Reference):
    walks_by = Redrawing


def test_redrawing_until_a_stored_outcome_comes_up_is_biased():
    """With room for one child, the first outcome drawn would speak for all: the error of a search never shrinks."""
    config = ab.Chance(draw="sampled", widen_cap=1)

    def errors(kind):
        """Return the mean error over a hundred seeds after 16 visits and after 256."""
        game, found = dice(), []
        for seed in range(100):
            search = kind(game.start(), evaluation_of(game), ab.SearchConfig(chance=config, seed=seed))
            found.append([abs(search.run(visits=visits).value[0] - EXPECTED) for visits in (16, 256)])
        return np.mean(found, axis=0)

    sound, redrawn = errors(ab.Reference), errors(RedrawUntilStored)
    assert sound[1] < 0.5 * sound[0]
    assert redrawn[1] > 0.9 * redrawn[0]
    assert redrawn[1] > 5.0 * sound[1]
