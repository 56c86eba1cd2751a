"""PyRat's race: turn costs by hand, the greedy player, and the heuristic as the outcome of two greedy players."""

from __future__ import annotations

import random

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.games.pyrat import PyRat
from anabranch.games.race import NEVER, greedy, most_raced
from anabranch.play.names import agent_by_name

UP, RIGHT, DOWN, LEFT, STAY = range(5)


def pyrat(*arguments, **options):
    """Make the game interpreted: every size is a compilation of its own."""
    return PyRat(*arguments, **options).interpreted()


def test_mud_costs_its_depth_and_one_more():
    game = pyrat(width=3, height=1, cheese=[(2, 0)], mud={((0, 0), (1, 0)): 4})
    assert game.costs[:3, 0].tolist() == [6, 1, 0]


def test_a_detour_is_taken_where_mud_costs_more():
    """Straight on is 1 + 4 turns, around it 3; with mud 2 both are 3, and the first action, up, is taken."""
    board = {"width": 2, "height": 2, "cheese": [(1, 0)], "starts": ((0, 0), (0, 1))}
    for depth, cost, action in ((4, 3, UP), (2, 3, UP)):
        game = pyrat(**board, mud={((0, 0), (1, 0)): depth})
        assert game.costs[0, 0] == cost
        assert greedy(game.start(), 0) == action
    assert greedy(pyrat(**board).start(), 0) == RIGHT


def test_of_equally_near_cheese_the_lowest_cell_is_the_goal():
    """(1, 0) is cell 1 and (0, 1) cell 3, although cheese are numbered by column and (0, 1) comes first."""
    assert greedy(pyrat(width=3, height=3, cheese=[(0, 1), (1, 0)]).start(), 0) == RIGHT
    assert greedy(pyrat(width=3, height=3, cheese=[(0, 1), (2, 0)]).start(), 0) == UP  # nearer


def test_of_equally_short_ways_the_first_action_is_taken():
    assert greedy(pyrat(width=3, height=3, cheese=[(1, 1)]).start(), 0) == UP
    assert greedy(pyrat(width=3, height=3, cheese=[(1, 1)]).start(), 1) == DOWN


def test_it_stays_in_mud_on_cheese_and_where_no_way_leads():
    stuck, _ = pyrat(width=4, height=1, cheese=[(2, 0)], mud={((0, 0), (1, 0)): 2}).start().step((RIGHT, STAY))
    assert greedy(stuck, 0) == STAY
    assert greedy(pyrat(width=3, height=1, cheese=[(0, 0), (1, 0)]).start(), 0) == STAY
    walled = pyrat(width=3, height=1, cheese=[(2, 0)], walls=[((0, 0), (1, 0))])
    assert walled.costs[0, 0] == NEVER
    assert greedy(walled.start(), 0) == STAY


@pytest.mark.parametrize("name", ["open5", "open7", "tiny", "small"])
def test_the_heuristic_is_what_two_greedy_players_get(name):
    dice = random.Random(name)
    for seed in range(5):
        state = pyrat(name, seed=seed).start()
        for _ in range(dice.randrange(20)):
            following, _ = state.step((dice.randrange(5), dice.randrange(5)))
            if following.over:
                break
            state = following
        said, got = state.game.rules.heuristic(state.data), np.zeros(2)
        while not state.over:
            state, rewards = state.step((greedy(state, 0), greedy(state, 1)))
            got += rewards
        assert said == got.tolist()


def test_the_heuristic_of_differences_is_that_of_points():
    for seed in range(4):
        points, difference = (pyrat("tiny", seed=seed, rewards=view).start() for view in ("points", "difference"))
        for _ in range(7):
            points, difference = points.step((UP, LEFT))[0], difference.step((UP, LEFT))[0]
        mine, others = points.game.rules.heuristic(points.data)
        assert difference.game.rules.heuristic(difference.data) == [mine - others, others - mine]


def test_large_boards_race_for_what_the_table_holds():
    """More cheese than the table has columns: the others count nothing, and the greedy player still goes for them."""
    assert most_raced(31 * 21, 126) == 126  # all cheese of the largest preset
    everywhere = [(x, y) for x in range(20) for y in range(10) if (x, y) not in ((0, 0), (19, 9))]
    game = pyrat(width=20, height=10, cheese=everywhere)
    assert game.raced == 126 < game.cheese
    state = game.start()
    assert 0.0 < min(game.rules.heuristic(state.data)) <= state.bounds()[1].min()
    assert greedy(state, 1) == DOWN


def test_a_game_brings_players_of_its_own():
    game = PyRat("open5")
    match = ab.match(game, "greedy", "random", games=4)
    assert match.agents == ("greedy", "random")
    assert match.score > 0.5
    with pytest.raises(UsageError, match="greedy has no options, found 'depth=3'"):
        agent_by_name("greedy:depth=3", game)
    with pytest.raises(UnknownNameError, match="greedy"):
        agent_by_name("gready", game)
    with pytest.raises(UnknownNameError):
        agent_by_name("greedy", ab.games.load("pig"))
