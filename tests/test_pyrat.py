"""PyRat's rules against GAMES.md's numbers, cases by hand and a second, slower writing of the rules; its mazes."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.games.mazes import draw_maze
from anabranch.games.pyrat import PRESETS, PyRat
from anabranch.search.settings.config import SimultaneousSelector

UP, RIGHT, DOWN, LEFT, STAY = range(5)
HALF = Fraction(1, 2)
TIES: tuple[Literal["first", "random"], ...] = ("first", "random")
WEIGHTS: tuple[Literal["A", "B", "C", "D"], ...] = ("A", "B", "C", "D")
VALUES: tuple[Literal["strategy", "visits"], ...] = ("strategy", "visits")


def pyrat(*arguments, **options):
    """Make the game interpreted: many sizes are tried, and every size is a compilation of its own."""
    return PyRat(*arguments, **options).interpreted()


def play(state, *joints):
    """Play joint actions; return the last state and each player's total reward."""
    total = np.zeros(2)
    for joint in joints:
        state, rewards = state.step(joint)
        total += rewards
    return state, total.tolist()


@pytest.mark.parametrize(
    ("cheese", "sequences", "distinct"),
    [
        ([(1, 1)], [9, 121, 961, 9025, 80089], [9, 36, 64, 81, 81]),
        ([(1, 1), (0, 2), (2, 0)], [9, 121, 1681, 24649, 331001], [9, 36, 210, 601, 915]),
    ],
)
def test_perft_on_three_by_three(cheese, sequences, distinct):
    rows = ab.perft(PyRat(width=3, height=3, cheese=cheese).start(), 5)
    assert [row.sequences for row in rows] == sequences
    assert [row.distinct for row in rows] == distinct


def test_crossing_mud_two_takes_three_turns():
    game = pyrat(width=3, height=3, cheese=[(0, 1), (2, 0)], mud={((0, 0), (0, 1)): 2})
    state, _ = game.start().step((UP, STAY))
    assert state.cell[0] == 3  # already there
    assert state.stuck.tolist() == [2, 0]
    assert list(state.choices(0)) == [STAY]
    state, rewards = state.step((RIGHT, STAY))  # an order that mud swallows
    assert rewards.tolist() == [0, 0]
    assert state.cell[0] == 3
    state, rewards = state.step((STAY, STAY))
    assert rewards.tolist() == [1, 0]
    assert state.cheese.tolist() == [0b10]  # cheese are numbered by column, then row: (0, 1) is bit 0


def test_mud_is_crossed_in_both_directions_at_the_same_cost():
    for there, back, starts in ((UP, DOWN, ((0, 0), (2, 2))), (DOWN, UP, ((0, 1), (2, 2)))):
        game = pyrat(width=3, height=3, cheese=[(2, 0)], mud={((0, 0), (0, 1)): 3}, starts=starts)
        state, _ = play(game.start(), *[(there, STAY)] * 4, (back, STAY))
        assert state.cell[0] == game.starts[0]
        assert state.stuck[0] == 3


def test_both_free_on_one_cheese_share_it():
    game = pyrat(width=3, height=1, cheese=[(1, 0)])
    state, rewards = game.start().step((RIGHT, LEFT))
    assert rewards.tolist() == [0.5, 0.5]
    assert state.score.tolist() == [1, 1]
    assert state.over


def test_a_stuck_player_does_not_share():
    game = pyrat(width=3, height=1, cheese=[(1, 0)], mud={((1, 0), (0, 0)): 2})
    state, rewards = game.start().step((RIGHT, LEFT))
    assert rewards.tolist() == [0, 1]
    assert state.over


def test_standing_on_cheese_collects_it():
    game = pyrat(width=3, height=1, cheese=[(0, 0), (1, 0), (2, 0)])
    _, rewards = game.start().step((STAY, LEFT))
    assert rewards.tolist() == [1, 1]


def test_more_than_half_of_the_cheese_ends_the_game():
    game = pyrat(width=5, height=1, cheese=[(1, 0), (2, 0), (3, 0), (4, 0)])
    state, total = play(game.start(), (RIGHT, STAY), (RIGHT, STAY))
    assert total == [2, 1]  # the other stood on a cheese
    assert not state.over  # two of four is not more than half
    state, rewards = state.step((RIGHT, STAY))
    assert rewards.tolist() == [1, 0]
    assert state.over
    assert state.bounds()[1].tolist() == [0, 0]


def test_turn_limit_ends_the_game():
    game = pyrat(width=3, height=3, cheese=[(1, 1)], max_turns=4)
    state, total = play(game.start(), *[(STAY, STAY)] * 3)
    assert not state.over
    state, rewards = state.step((STAY, STAY))
    assert state.over
    assert [*total, *rewards] == [0, 0, 0, 0]
    assert pyrat(width=3, height=3, cheese=[(1, 1)]).max_turns == 300


def test_walls_block_both_ways_and_blocked_moves_are_one_choice_with_staying():
    game = pyrat(width=2, height=2, cheese=[(0, 1)], walls=[((1, 0), (0, 0))], starts=((0, 0), (1, 0)))
    state = game.start()
    assert state.choices(0) == {UP: [UP], STAY: [RIGHT, DOWN, LEFT, STAY]}
    assert state.choices(1) == {UP: [UP], STAY: [RIGHT, DOWN, LEFT, STAY]}
    assert state.step((RIGHT, LEFT))[0] == state.step((STAY, STAY))[0]


def test_compiled_play_equals_interpreted_play_on_every_maze():
    dice = random.Random(3)
    for seed in range(5):
        game = PyRat("tiny", seed=seed, rewards=("points", "difference")[seed % 2])
        fast, slow = game.start(), game.interpreted().start()
        for _ in range(60):
            assert fast.data == slow.data
            assert fast.choices(0) == slow.choices(0)
            assert np.array_equal(fast.observe(1), slow.observe(1))
            assert [x.tolist() for x in fast.bounds()] == [x.tolist() for x in slow.bounds()]
            joint = (dice.randrange(5), dice.randrange(5))
            (fast, paid), (slow, owed) = fast.step(joint), slow.step(joint)
            assert paid.tolist() == owed.tolist()


class SlowPyRat:
    """The same game written a second time: sets and fractions, no tables, from GAMES.md alone."""

    def __init__(self, maze, max_turns):
        self.maze, self.limit, self.turn = maze, max_turns, 0
        self.blocked = {frozenset(pair) for pair in maze.walls}
        self.depth = {frozenset(pair): depth for pair, depth in maze.mud}
        self.cheese, self.total = set(maze.cheese), len(maze.cheese)
        self.place, self.timer = [(0, 0), (maze.width - 1, maze.height - 1)], [0, 0]
        self.score = [Fraction(0), Fraction(0)]

    def play(self, orders):
        for who, order in enumerate(orders):
            if self.timer[who]:
                self.timer[who] -= 1
                continue
            x, y = self.place[who]
            goal = {UP: (x, y + 1), RIGHT: (x + 1, y), DOWN: (x, y - 1), LEFT: (x - 1, y), STAY: (x, y)}[order]
            way = frozenset([(x, y), goal])
            if 0 <= goal[0] < self.maze.width and 0 <= goal[1] < self.maze.height and way not in self.blocked:
                self.place[who], self.timer[who] = goal, self.depth.get(way, 0)
        free = [who for who in (0, 1) if not self.timer[who] and self.place[who] in self.cheese]
        got = [Fraction(0), Fraction(0)]
        for who in free:
            got[who] = HALF if len(free) == 2 and self.place[0] == self.place[1] else Fraction(1)
            self.score[who] += got[who]
        self.cheese -= {self.place[who] for who in free}
        self.turn += 1
        return got

    @property
    def over(self):
        return max(self.score) > Fraction(self.total, 2) or not self.cheese or self.turn == self.limit


@pytest.mark.parametrize("difference", [False, True])
def test_random_play_equals_the_slow_rules(difference):
    dice = random.Random(7)
    scheme = "difference" if difference else "points"
    drawn = draw_maze(11, 7, 1, seed=5, mud_chance=0.4)
    everywhere = [(x, y) for x in range(11) for y in range(7)]  # more cheese than one word of the record holds
    crowded = pyrat(width=11, height=7, cheese=everywhere, walls=drawn.walls, mud=dict(drawn.mud), rewards=scheme)
    games = [
        pyrat(name, seed=seed, rewards=scheme) for name in ("open5", "open7", "tiny", "large") for seed in range(3)
    ]
    for game in [*games, crowded]:
        state, slow, path = game.start(), SlowPyRat(game.maze, game.max_turns), []
        while not slow.over:
            assert not state.over
            joint = (dice.randrange(5), dice.randrange(5))
            low, high = state.bounds()
            state, rewards = state.step(joint)
            first, second = slow.play(joint)
            assert rewards.tolist() == ([first - second, second - first] if difference else [first, second])
            places = [y * game.width + x for x, y in slow.place]
            assert (state.cell.tolist(), state.stuck.tolist()) == (places, slow.timer)
            assert [Fraction(int(score), 2) for score in state.score] == slow.score
            left = [place for number, place in enumerate(game.maze.cheese) if _bit(state, number)]
            assert set(left) == slow.cheese
            path.append((low, high, rewards))
        assert state.over
        to_come = np.zeros(2)
        for low, high, rewards in reversed(path):  # what came lay within the bounds at every state
            to_come += rewards
            assert (low <= to_come).all()
            assert (to_come <= high).all()
        assert game.returns[0] <= to_come.min()
        assert to_come.max() <= game.returns[1]


def _bit(state, number):
    return int(state.cheese[number // 63]) >> number % 63 & 1


@pytest.mark.parametrize("name", PRESETS)
def test_mazes_are_connected_symmetric_and_as_the_preset_says(name):
    for seed in range(8 if PRESETS[name].width > 15 else 25):
        game = pyrat(name, seed=seed)
        assert game.max_turns == PRESETS[name].max_turns
        check_maze(game.maze, PRESETS[name])


@pytest.mark.hard
@pytest.mark.parametrize("name", PRESETS)
def test_a_thousand_mazes_are_connected_symmetric_and_drawn_again_by_their_seed(name):
    size = PRESETS[name]
    chances = {"wall_chance": 0.0, "mud_chance": 0.0} if size.open else {}
    mazes = [draw_maze(size.width, size.height, size.cheese, seed, **chances) for seed in range(1000)]
    assert size.open or len(set(mazes)) == 1000  # open boards differ in their cheese alone, and some are drawn twice
    for seed, maze in enumerate(mazes):
        check_maze(maze, size)
        assert maze == draw_maze(size.width, size.height, size.cheese, seed, **chances)


def check_maze(maze, size):
    """Assert that a maze has the preset's sizes, looks the same after half a turn, and is connected."""

    def turned(place):
        return maze.width - 1 - place[0], maze.height - 1 - place[1]

    assert (maze.width, maze.height, len(maze.cheese)) == size[:3]
    assert {turned(place) for place in maze.cheese} == set(maze.cheese)
    assert ((size.width // 2, size.height // 2) in maze.cheese) == (size.cheese % 2 == 1)
    assert not {(0, 0), turned((0, 0))} & set(maze.cheese)
    assert {tuple(sorted(map(turned, pair))) for pair in maze.walls} == set(maze.walls)
    assert {tuple(sorted(map(turned, pair))): depth for pair, depth in maze.mud} == dict(maze.mud)
    assert {depth for _, depth in maze.mud} <= (set() if size.open else {2, 3})
    assert _reached_from_the_corner(maze) == size.width * size.height


def _reached_from_the_corner(maze):
    walls = set(maze.walls)
    seen, fresh = {(0, 0)}, [(0, 0)]
    while fresh:
        x, y = fresh.pop()
        for place in ((x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)):
            inside = 0 <= place[0] < maze.width and 0 <= place[1] < maze.height
            if inside and place not in seen and tuple(sorted(((x, y), place))) not in walls:
                seen.add(place)
                fresh.append(place)
    return len(seen)


def test_same_seed_same_maze_for_ever():
    mazes = [draw_maze(11, 9, 13, seed) for seed in range(20)]
    assert mazes == [draw_maze(11, 9, 13, seed) for seed in range(20)]
    assert len(set(mazes)) == 20
    assert hashlib.sha256(repr(mazes).encode()).hexdigest()[:16] == "276577f4cc2a941a"


def test_walls_and_mud_are_as_frequent_as_asked():
    """Cells in a tree have n − 1 passages, so at most about half of all can be walls; 3 in 10 start open."""
    passages = 31 * 20 + 30 * 21
    mazes = [draw_maze(31, 21, 85, seed) for seed in range(20)]
    opened = [passages - len(maze.walls) for maze in mazes]
    assert min(opened) >= 31 * 21 - 1
    assert 0.08 < sum(len(maze.mud) for maze in mazes) / sum(opened) < 0.12
    sparse = [draw_maze(31, 21, 85, seed, wall_chance=0.1, mud_chance=0.0) for seed in range(20)]
    walls = sum(len(maze.walls) for maze in sparse) / (20 * passages)  # hardly any wall has to be opened again
    assert 0.08 < walls < 0.11


def test_a_hundred_mazes_share_one_record_type():
    """Compiled code depends on the type of `self`'s record alone, so equal types are one compilation."""
    kinds = {pyrat("tiny", seed=seed).instance.dtype.descr.__repr__() for seed in range(100)}
    assert len(kinds) == 1


def test_half_turn_swaps_the_seats():
    game = pyrat("tiny", seed=4)
    (half_turn,) = game.symmetries()
    assert half_turn.players == (1, 0)
    dice = random.Random(1)
    state, mirror = game.start(), game.start()
    for _ in range(60):
        joint = (dice.randrange(5), dice.randrange(5))
        state, rewards = state.step(joint)
        mirror, turned = mirror.step((half_turn.actions[joint[1]], half_turn.actions[joint[0]]))
        assert turned.tolist() == rewards[::-1].tolist()
        for seat in range(2):
            seen = half_turn.observation(state.observe(seat))
            assert np.array_equal(seen, mirror.observe(1 - seat))


def test_symmetries_are_those_of_the_board():
    centre = {"width": 3, "height": 3, "cheese": [(1, 1)]}
    assert len(pyrat(**centre).symmetries()) == 3  # both diagonals and the half turn; the others move the starts
    assert len(pyrat(**centre, walls=[((0, 0), (1, 0))]).symmetries()) == 0
    assert (
        len(pyrat(**centre, starts=((1, 1), (1, 1))).symmetries()) == 15
    )  # all eight, each with seats kept or swapped


def test_observation_shows_the_board_from_ones_own_seat():
    game = pyrat(width=3, height=2, cheese=[(1, 1), (0, 1)], walls=[((0, 0), (1, 0))], mud={((0, 0), (0, 1)): 2})
    state, _ = game.start().step((UP, STAY))
    mine, other = state.observe(0), state.observe(1)
    assert np.argwhere(mine[0]).tolist() == [[1, 0]]
    assert np.argwhere(mine[1]).tolist() == [[1, 2]]
    assert np.array_equal(mine[:2], other[1::-1])
    assert np.argwhere(mine[2]).tolist() == [[1, 0], [1, 1]]
    assert mine[3, 0].tolist() == pytest.approx([1 / 3, 1, 1])  # up from the bottom row: mud, free, free
    assert mine[4, 0].tolist() == [0, 1, 0]  # to the right: wall, free, edge
    assert mine[7, 0, 0] == other[8, 0, 0] == pytest.approx(2 / 3)
    assert mine[11, 0, 0] == pytest.approx(299 / 300)


def test_text_draws_walls_mud_cheese_and_players():
    game = pyrat(width=3, height=2, cheese=[(1, 1), (2, 0)], walls=[((0, 0), (1, 0))], mud={((0, 0), (0, 1)): 2})
    state, _ = game.start().step((UP, DOWN))
    assert str(state).splitlines() == [
        "+---+---+---+",
        "|R    *     |",
        "+ 2 +   +   +",
        "|   |      P|",
        "+---+---+---+",
        "turn 1 of 300: R rat 0 (stuck for 2), P python 1",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "opne5"}, "open5"),
        ({"rewards": "diference"}, "difference"),
        ({"width": 3, "height": 3}, "needs width, height and cheese"),
        ({"width": 3, "height": 3, "cheese": []}, "at least one cheese"),
        ({"width": 3, "height": 3, "cheese": [(3, 0)]}, "not on the 3×3 board"),
        ({"width": 3, "height": 3, "cheese": [(1, 1)], "walls": [((0, 0), (1, 1))]}, "not neighbours"),
        ({"width": 3, "height": 3, "cheese": [(1, 1)], "mud": {((0, 0), (0, 1)): 1}}, "mud is 2 to"),
        ({"width": 3, "height": 3, "cheese": [(1, 1)], "preset": "tiny"}, "not both"),
        ({"max_turns": 0}, "max_turns"),
    ],
)
def test_wrong_boards_are_named(options, message):
    with pytest.raises(UsageError, match=message):
        pyrat(**options)


def test_unknown_preset_is_an_unknown_name():
    with pytest.raises(UnknownNameError):
        pyrat("gigantic")


def test_an_odd_number_of_cheese_needs_a_centre():
    with pytest.raises(UsageError, match="centre"):
        draw_maze(4, 4, 3, seed=0)


def test_actions_are_called_what_they_do():
    game = pyrat()
    assert [game.action_name(action) for action in range(5)] == ["up", "right", "down", "left", "stay"]
    assert all(game.parse_action(game.action_name(action)) == action for action in range(5))
    assert all(one != other for one, other in pairwise(map(game.action_name, range(5))))


SELECTORS: dict[str, SimultaneousSelector] = {
    **{f"PUCT {weights}, {ties}": ab.Puct(weights=weights, ties=ties) for weights in WEIGHTS for ties in TIES},
    "UCB1": ab.Ucb1(),
    **{f"regret matching+, {value}": ab.RegretMatching(value=value) for value in VALUES},
    **{f"matrix, {value}": ab.MatrixGame(value=value) for value in VALUES},
    "Exp3": ab.Exp3(),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_whoever_is_stuck_stays_and_nobody_walks_into_walls(name):
    """A stuck player stays with probability 1; blocked moves have no prior, visit or mass, with noise and in waves."""
    walls, mud = [((2, 2), (1, 2))], {((0, 0), (0, 1)): 2}
    game = PyRat(width=3, height=3, cheese=[(1, 1), (2, 0), (0, 2)], walls=walls, mud=mud)
    stuck, _ = game.start().step((UP, STAY))
    assert set(stuck.choices(1)) == {DOWN, STAY}  # in a corner, and beside a wall
    for evaluator in (ab.Uniform(), ab.Hashing(), ab.Heuristic()):
        alone = ab.SearchConfig(simultaneous=SELECTORS[name])
        for config in (alone, replace(alone, width=4, noise=ab.RootNoise(weight=0.5))):
            found = ab.search(stuck, simulations=200, evaluator=evaluator, config=config)
            assert found.policy[0].tolist() == found.prior[0].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
            assert found.visits[0].tolist() == [0, 0, 0, 0, 200]
            for mass in (found.policy[1], found.prior[1], found.visits[1]):
                assert mass[[UP, RIGHT, LEFT]].tolist() == [0, 0, 0]
            assert found.prior[1, [DOWN, STAY]].min() > 0
            for node in map(found.graph.node, range(len(found.graph))):
                for edge in node.edges:
                    assert all(action in node.state.choices(seat) for seat, action in enumerate(edge.action))


# Cheese that is drawn at every start


def test_drawn_cheese_lies_anywhere_half_of_the_times_and_else_as_symmetric_as_the_maze():
    game = ab.games.load("pyrat", drawn=True)
    boards = [game.start(seed) for seed in range(400)]
    even = 0
    for state in boards:
        cells = [cell for cell in range(25) if game.slots[cell] >= 0 and int(state.cheese[0]) >> game.slots[cell] & 1]  # type: ignore[attr-defined]
        assert len(cells) == 5
        assert not {0, 24} & {*cells}
        even += sorted(24 - cell for cell in cells) == cells
    assert 150 <= even <= 260  # half of them, and a few by chance; 20 is two standard deviations
    assert len({state.key for state in boards}) > 220  # there are 55 symmetric ones
    assert game.observation == ab.games.load("pyrat").observation
    assert len(game.symmetries()) == 3


def test_drawn_boards_keep_the_laws_and_greedy_plays_on_them():
    game = ab.games.load("pyrat", drawn=True)
    ab.check(game, seconds=0.5).raise_if_failed()
    assert ab.match(game, "greedy", "random", games=10).score > 0.8
    assert game.position(str(game.start(3))) == game.start(3)
    with pytest.raises(UsageError, match="do not fit"):
        ab.games.load("pyrat", width=3, height=1, cheese=[(0, 0), (1, 0)], drawn=True, compiled=False)
