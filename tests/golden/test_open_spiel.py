"""Our rules against OpenSpiel's: the same legal actions, ends and returns on 10^5 random plies of each game."""

from __future__ import annotations

import pyspiel
import pytest
from tests.golden.lockstep import play_in_lockstep

import anabranch as ab

PLIES = 100_000

# Ids agree: tic-tac-toe and Othello number cells row by row from the top left, Othello passes with 64, connect four
# numbers columns from the left. OpenSpiel's player 0 is x, black, x.
CASES = ["tic_tac_toe", "connect_four", "othello"]


@pytest.mark.parametrize("name", CASES)
def test_random_play_equals_open_spiel(name):
    finished = play_in_lockstep(ab.games.load(name), pyspiel.load_game(name), PLIES)
    assert finished > PLIES / 100
