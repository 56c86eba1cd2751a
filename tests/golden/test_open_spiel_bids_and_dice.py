"""Goofspiel, Oshi-Zumo and Pig against OpenSpiel's: the same legal actions, chances, ends and returns."""

from __future__ import annotations

import pyspiel
import pytest
from tests.golden.lockstep import play_in_lockstep

from anabranch.games.goofspiel import Goofspiel
from anabranch.games.oshi_zumo import OshiZumo
from anabranch.games.pig import Pig


# 10^5 plies of Goofspiel in all; orders and rewards share a compilation, numbers of cards and players do not.
@pytest.mark.parametrize(
    ("cards", "prizes", "players", "rewards", "plies"),
    [
        (13, "random", 2, "win", 40_000),
        (5, "ascending", 2, "points", 20_000),
        (5, "descending", 2, "win", 20_000),
        (5, "random", 3, "win", 15_000),
        (5, "descending", 3, "points", 5_000),
    ],
)
def test_goofspiel_equals_open_spiel(cards, prizes, players, rewards, plies):
    parameters = {
        "num_cards": cards,
        "points_order": prizes,
        "players": players,
        "returns_type": {"win": "win_loss", "points": "total_points"}[rewards],
        "imp_info": False,
    }
    finished = play_in_lockstep(
        Goofspiel(cards, prizes, players, rewards), pyspiel.load_game("goofspiel", parameters), plies
    )
    assert finished >= plies // (2 * cards)


@pytest.mark.parametrize(("target", "sides", "players"), [(20, 6, 2), (10, 3, 3)])
def test_pig_equals_open_spiel(target, sides, players):
    # OpenSpiel stops at a number of moves, we do not: with a horizon out of reach the rules are the same.
    parameters = {"winscore": target, "diceoutcomes": sides, "players": players, "horizon": 10**6}
    finished = play_in_lockstep(Pig(target, sides, players), pyspiel.load_game("pig", parameters), 10_000)
    assert finished > 20


@pytest.mark.parametrize(
    ("size", "coins", "min_bid", "horizon", "alesia"),
    [(3, 10, 1, None, False), (3, 10, 3, None, True), (3, 10, 0, 12, False), (1, 6, 0, 1000, True)],
)
def test_oshi_zumo_equals_open_spiel(size, coins, min_bid, horizon, alesia):
    parameters = {
        "size": size,
        "coins": coins,
        "min_bid": min_bid,
        "horizon": horizon or 10**6,  # which it always has; where every bid costs a coin games end without one
        "alesia": alesia,
    }
    ours = OshiZumo(size, coins, min_bid, horizon, alesia)
    assert play_in_lockstep(ours, pyspiel.load_game("oshi_zumo", parameters), 5_000) > 200
