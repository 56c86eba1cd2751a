"""A network's values mixed with rollouts: the formula, and compiled rollouts equal to those played verb by verb."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.networks import Duet

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.evaluate.identity import identity
from anabranch.evaluate.load import load


def numbers(batch: Any) -> tuple[Any, Any]:
    """Logits and values that depend on the state alone."""
    low, high = (float(end) for end in batch.game.returns)
    rows = [np.random.default_rng(int(key) % 2**32) for key in batch.keys]
    wide = (batch.game.players, batch.game.actions) if batch.joint else (batch.game.actions,)
    return np.stack([row.normal(size=wide) for row in rows]), np.stack(
        [row.uniform(low, high, batch.game.players) for row in rows]
    )


class ByVerbs(ab.Mixed):
    """The same, with rollouts played in Python."""

    def evaluate(self, batch: Any) -> Any:
        logits, values = numbers(batch)
        return logits, (1 - self.share) * values + self.share * self.rollouts.evaluate(batch)[1]


@pytest.mark.parametrize("game", ["connect_four", "pig", "pyrat", "n_in_a_row", "interpreted", "objects"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_compiled_rollouts_are_those_of_the_verbs(game, share):
    """Bit for bit, with dice, where players choose at once, for three, and where nothing is compiled."""
    if game == "objects":
        played: ab.Game = Duet()
    else:
        played = ab.games.load("tic_tac_toe" if game == "interpreted" else game, compiled=game != "interpreted")
    how, config = ab.Rollout(count=3, max_depth=30), ab.SearchConfig(width=4, seed=7)
    found = [
        ab.search(played.start(), simulations=60, evaluator=kind(numbers, how, share), config=config)
        for kind in (ab.Mixed, ByVerbs)
    ]
    assert found[0].visits.tolist() == found[1].visits.tolist()
    assert found[0].value.tolist() == found[1].value.tolist()


def test_without_a_share_it_is_the_network():
    game = ab.games.load("connect_four")
    found = [
        ab.search(game.start(), simulations=80, evaluator=each) for each in (numbers, ab.Mixed(numbers, share=0.0))
    ]
    assert found[0].visits.tolist() == found[1].visits.tolist()


def test_a_rollout_that_fails_is_told_as_the_game_raised_it():
    class Breaks(Duet):
        def playout(self, data: Any, random: Any, max_depth: int) -> Any:
            raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        ab.search(Breaks().start(), simulations=10, evaluator=ab.Mixed(numbers))


def test_its_name_says_all_of_it(tmp_path):
    from anabranch import nets
    from anabranch.nets.registry import build
    from anabranch.nets.shape import shape_of

    assert identity(ab.Mixed(ab.Uniform(), 2, 0.25)).text == ("mixed(uniform;rollout:count=2;share=0.25)")
    game = ab.games.load("tic_tac_toe")
    path = nets.save(tmp_path / "net.safetensors", build("mlp", shape_of(game), {"width": 4, "layers": 1}, seed=1))
    made = load(f"{path}:rollouts=3,share=0.25", game)
    assert isinstance(made, ab.Mixed)
    assert (made.rollouts.count, made.share) == (3, 0.25)
    assert isinstance(load(f"{path}:rollouts=3"), ab.Mixed)
    assert not isinstance(load(str(path)), ab.Mixed)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "half", True])
def test_a_share_is_a_share(share):
    with pytest.raises(UsageError, match="from 0 to 1"):
        ab.Mixed(ab.Uniform(), share=share)


@pytest.mark.parametrize("around", [ab.Cached, ab.Symmetric])
def test_what_cannot_be_around_it_says_so(around):
    """Answers of one search's seed are not to be kept; and images of positions are no states to play on from."""
    game = ab.games.load("tic_tac_toe")
    with pytest.raises(UsageError):
        ab.search(game.start(), simulations=10, evaluator=around(ab.Mixed(numbers)))
