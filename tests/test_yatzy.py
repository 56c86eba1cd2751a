"""Yatzy and Yahtzee: dice by counting, rules by hand, values from outside."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from math import comb

import numpy as np
import pytest
from tests.test_position import random_states

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.games import dice, scores
from anabranch.games.dice import FIRST, HANDS, KEPT, MASKS, MULTISETS, number_of
from anabranch.games.yahtzee import Yahtzee
from anabranch.games.yatzy import Yatzy


def yatzy(**options):
    return Yatzy(**options).interpreted()


def yahtzee(**options):
    return Yahtzee(**options).interpreted()


def rolled(state, *faces):
    """Return the state after a roll."""
    return state.step(number_of(faces))[0]


def marked(state, category):
    """Return the state after a mark, and what it gave to the one who marked."""
    seat = state.turn[0]
    after, rewards = state.step(MASKS + state.game.category_names.index(category))
    return after, rewards[seat]


def turn_of(state, *faces):
    """Return the state after three rolls, the last two of no dice."""
    state = rolled(state, *faces)
    for _ in range(2):
        state = state.step(MASKS - 1)[0].step(0)[0]
    return state


# Dice


def test_rolls_are_counted_and_add_up():
    """C(k + 5, 5) rolls of k dice; probabilities are those of counting all 6^k, and sum to 1."""
    assert [FIRST[size + 1] - FIRST[size] for size in range(6)] == [1, 6, 21, 56, 126, 252]
    for size in range(6):
        counted = Counter(tuple(sorted(roll)) for roll in product(range(1, 7), repeat=size))
        assert counted.total() == 6**size
        assert len(counted) == comb(size + 5, 5)
        for number in range(FIRST[size], FIRST[size + 1]):
            assert dice.CHANCES[number] == pytest.approx(counted[MULTISETS[number]] / 6**size, rel=1e-14)


def test_there_are_4368_different_keeps():
    assert sum(len(set(row)) for row in KEPT.tolist()) == 4368
    game = yatzy()
    start = game.start()
    assert sum(len(rolled(start, *hand).choices(0)) for hand in MULTISETS[HANDS:]) == 4368


def test_a_mask_keeps_sorted_dice_from_the_left():
    state = rolled(yatzy().start(), 6, 2, 3, 3, 5)
    for mask, faces in ((0b10000, (2,)), (0b01100, (3, 3)), (0b00001, (6,)), (0b00000, ()), (0b11111, (2, 3, 3, 5, 6))):
        kept, _ = state.step(mask)
        assert MULTISETS[kept.hand] == faces
        assert kept.turn == ab.CHANCE
        assert len(kept.outcomes()) == comb(5 - len(faces) + 5, 5)
    assert state.choices(0)[0b00100] == [0b00100, 0b01000]  # either three


def test_equal_keeps_of_different_hands_are_one_state():
    start = yatzy().start()
    first, _ = rolled(start, 3, 3, 1, 2, 6).step(0b00110)
    other, _ = rolled(start, 3, 3, 4, 5, 5).step(0b11000)
    assert MULTISETS[first.hand] == (3, 3)
    assert first.key == other.key


# Rules

COUNTS = [  # faces, then what they count in pair, two pairs, three, four alike, straights, house, chance, yatzy
    ((1, 1, 2, 5, 5), (10, 12, 0, 0, 0, 0, 0, 14, 0)),
    ((4, 4, 4, 4, 2), (8, 0, 12, 16, 0, 0, 0, 18, 0)),
    ((3, 3, 3, 6, 6), (12, 18, 9, 0, 0, 0, 21, 21, 0)),
    ((5, 5, 5, 5, 5), (10, 0, 15, 20, 0, 0, 0, 25, 50)),
    ((1, 2, 3, 4, 5), (0, 0, 0, 0, 15, 0, 0, 15, 0)),
    ((2, 3, 4, 5, 6), (0, 0, 0, 0, 0, 20, 0, 20, 0)),
    ((1, 2, 3, 4, 6), (0, 0, 0, 0, 0, 0, 0, 16, 0)),
]


@pytest.mark.parametrize(("faces", "counts"), COUNTS)
def test_what_dice_count_below(faces, counts):
    row = scores.points_table(scores.YATZY)[number_of(faces) - HANDS]
    assert tuple(row[6:].tolist()) == counts
    assert row[:6].tolist() == [face * faces.count(face) for face in range(1, 7)]


YAHTZEE_COUNTS = [  # three, four alike, full house, straights, yahtzee, chance
    ((3, 3, 3, 6, 6), (21, 0, 25, 0, 0, 0, 21)),
    ((4, 4, 4, 4, 2), (18, 18, 0, 0, 0, 0, 18)),
    ((1, 2, 3, 4, 6), (0, 0, 0, 30, 0, 0, 16)),
    ((2, 3, 4, 5, 6), (0, 0, 0, 30, 40, 0, 20)),
    ((5, 5, 5, 5, 5), (25, 25, 0, 0, 0, 50, 25)),
]


@pytest.mark.parametrize(("faces", "counts"), YAHTZEE_COUNTS)
def test_what_dice_count_below_in_yahtzee(faces, counts):
    assert tuple(scores.points_table(scores.YAHTZEE)[number_of(faces) - HANDS, 6:].tolist()) == counts


def test_a_turn():
    state = yatzy().start()
    assert len(state.outcomes()) == 252
    state = rolled(state, 1, 3, 3, 4, 6)
    assert state.legal() == list(range(32))
    state = rolled(state.step(0b01100)[0], 3, 5, 5)
    state = rolled(state.step(0b11100)[0], 3, 1)
    assert [state.game.action_name(action) for action in state.legal()] == list(scores.YATZY)
    state, gained = marked(state, "threes")
    assert (gained, state.upper[0], state.points[0], state.turn) == (12, 12, 12, ab.CHANCE)


def test_the_bonus_comes_once_when_63_are_reached():
    state, gains = yatzy(categories="ones,fours,sixes", upper=36).start(), []
    for category, faces in (("sixes", (6, 6, 6, 6, 1)), ("fours", (4, 1, 2, 3, 5)), ("ones", (1, 1, 1, 2, 3))):
        state, gained = marked(turn_of(state, *faces), category)
        gains.append(gained)
    assert gains == [24, 54, 3]  # 60, then 64 with the bonus, then ones alone
    assert state.over
    assert state.points[0] == 81


def test_two_players_take_turns_and_the_higher_total_wins():
    state = yatzy(players=2, categories="chance").start()
    state, _ = marked(turn_of(state, 1, 2, 3, 4, 6), "chance")
    assert (state.mover, state.over) == (1, False)
    for faces, reward in (((6, 6, 6, 6, 6), 1.0), ((1, 1, 1, 1, 1), -1.0), ((4, 4, 4, 3, 1), 0.0)):
        after, gained = marked(turn_of(state, *faces), "chance")
        assert after.over
        assert gained == reward


def test_points_and_difference_are_paid_as_they_are_scored():
    for rewards, other in (("points", 0.0), ("difference", -16.0)):
        state = turn_of(yatzy(players=2, rewards=rewards).start(), 1, 2, 3, 4, 6)
        _, paid = state.step(MASKS + state.game.category_names.index("chance"))
        assert paid.tolist() == [16.0, other]


# Jokers


def after_yahtzee(jokers, first, *closed):
    """Return a state of Yahtzee whose yahtzee was marked with 50 or 0 points, other boxes closed."""
    game = yahtzee(jokers=jokers)
    names = game.category_names
    opened = sum(1 << number for number, name in enumerate(names) if name not in ("yahtzee", *closed))
    return game.start().replace(open=[opened], fifty=[first == 50])


def test_a_joker_goes_to_the_box_of_its_face_first():
    state = turn_of(after_yahtzee("forced", 50), 4, 4, 4, 4, 4)
    assert [state.game.action_name(action) for action in state.legal()] == ["fours"]
    assert marked(state, "fours")[1] == 120
    free = turn_of(after_yahtzee("free", 50), 4, 4, 4, 4, 4)
    assert len(free.legal()) == 12
    assert marked(free, "large_straight")[1] == 100  # no joker while fours are open


def test_a_joker_counts_in_full_below_once_its_box_is_gone():
    for jokers, first, extra in product(("forced", "free"), (50, 0), (100,)):
        state = turn_of(after_yahtzee(jokers, first, "fours"), 4, 4, 4, 4, 4)
        names = [state.game.action_name(action) for action in state.legal()]
        assert ("ones" in names) == (jokers == "free")
        extra = extra if first == 50 else 0
        for name, points in (("full_house", 25), ("small_straight", 30), ("large_straight", 40), ("chance", 20)):
            assert marked(state, name)[1] == points + extra


def test_a_joker_with_nothing_left_below_takes_a_zero_above():
    below = [name for name in scores.YAHTZEE if name not in scores.FACES]
    state = turn_of(after_yahtzee("forced", 50, "fours", *below), 4, 4, 4, 4, 4)
    assert [state.game.action_name(action) for action in state.legal()] == ["ones", "twos", "threes", "fives", "sixes"]
    assert marked(state, "ones")[1] == 100


# Values


def test_values_of_single_categories():
    """Computed by an independent program (GAMES.md): ones 2.106481, chance 23.333333, yatzy 2.301432."""
    for category, value in (("ones", 2.106481), ("chance", 23.333333), ("yatzy", 2.301432)):
        assert ab.solve(Yatzy(categories=category)).value[0] == pytest.approx(value, abs=5e-7)


def test_bounds_are_reached():
    """The best and the worst line of play of an endgame get exactly what the bounds say, in every state."""
    game = yatzy(categories="fives,three_alike", upper=50)
    rules, known = game.rules, {}

    def span(data):
        key = rules.key(data)
        if key not in known:
            turn = rules.turn(data)
            if turn == ab.OVER:
                known[key] = (0.0, 0.0)
            else:
                moves = [o for o, _ in rules.chance(data)] if turn == ab.CHANCE else rules.legal(data, 0)
                after = [rules.step(data, [move]) for move in moves]
                spans = [(gain[0] + span(next_)[0], gain[0] + span(next_)[1]) for next_, gain in after]
                known[key] = (min(low for low, _ in spans), max(high for _, high in spans))
            low, high = rules.bounds(data)
            assert (low[0], high[0]) == known[key], str(ab.State(game, data))
        return known[key]

    last_roll = [game.start().replace(hand=number, rolls=2) for number in range(HANDS)]
    last_hand = [game.start().replace(hand=number, rolls=3, rolling=False) for number in range(HANDS, FIRST[-1])]
    for state in (*last_roll[::7], *last_hand[::7]):
        if not state.rolling:
            state = marked(state, "fives")[0].replace(hand=state.hand, rolls=3, rolling=False)
            span(state.data)
            continue
        span(state.replace(open=[1 << 4]).data)
        span(state.replace(open=[1 << 8]).data)


def test_bounds_know_when_two_players_have_decided_it():
    state = yatzy(players=2, categories="chance").start().replace(points=[0, 26])
    assert [end.tolist() for end in state.bounds()] == [[-1, 1], [-1, 1]]
    assert [end.tolist() for end in state.replace(points=[26, 0]).bounds()] == [[1, -1], [1, -1]]
    assert [end.tolist() for end in state.replace(points=[25, 0]).bounds()] == [[0, -1], [1, 0]]


def test_returns_hold_the_highest_total():
    assert yatzy().returns == (5, 374)
    assert yahtzee(jokers="forced").returns[1] == 1575  # the known maximum of the game in the shops


# Events


def test_dice_belong_to_player_round_and_roll():
    """Whoever keeps what: the first die rolled is the same, and so on."""
    game = yatzy()
    state = rolled(game.start(), 1, 2, 3, 4, 6)
    for seed in range(30):
        rolls = [MULTISETS[state.step(mask)[0].draw(seed)] for mask in (0, 0b00001, 0b10001, 0b11001, 0b11101)]
        for more, fewer in pairwise(rolls):
            assert not Counter(fewer) - Counter(more)
    kept, _ = state.step(0)
    assert kept.draw(1) == rolled(game.start(), 5, 5, 5, 5, 5).step(0)[0].draw(1)
    assert game.rules.event(kept.data) == (0, 0, 1, 0)
    later, _ = marked(turn_of(state.replace(hand=0, rolls=0, rolling=True), 1, 1, 1, 1, 1), "ones")
    assert game.rules.event(later.data) == (0, 1, 0, 0)
    assert len({kept.draw(seed) for seed in range(50)}) > 20


def test_drawn_dice_have_the_chances_of_the_list():
    state, _ = rolled(yatzy().start(), 1, 1, 1, 1, 2).step(0b11100)
    seen = Counter(state.draw(seed) for seed in range(5_000))
    statistic = sum((seen[roll] - 5_000 * p) ** 2 / (5_000 * p) for roll, p in state.outcomes())
    assert statistic < 52.4  # chi-square with 20 degrees of freedom, one in ten thousand


# Text and names


@pytest.mark.parametrize(
    "make",
    [
        lambda: yatzy(),
        lambda: yatzy(players=2),
        lambda: yatzy(categories="ones,yatzy", upper=30),
        lambda: yahtzee(jokers="forced"),
    ],
)
def test_what_is_printed_reads_back(make):
    game = make()
    states = list(random_states(game, 2))
    for state in states[:: 1 + len(states) // 100]:
        assert game.position(str(state)) == state


def test_moves_and_rolls_have_names():
    state = rolled(yatzy().start(), 2, 3, 3, 5, 6)
    game = state.game
    assert game.move_name(state, 0, 0b01100) == "keep_33"
    assert game.move_name(state, 0, 0) == "keep_none"
    assert game.parse_action("two_pairs") == MASKS + 7
    assert game.outcome_name(number_of((6, 1, 1))) == "116"
    assert str(state).splitlines()[0] == "after roll 1 of 3: [2] [3] [3] [5] [6]"
    assert game.svg(state).count("<circle") == 2 + 3 + 3 + 5 + 6


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("hello", UsageError, "write a position as it is printed"),
        ("roll 1 of 3: [1] [ ] [ ] [ ] [ ]\n0 points, 0 of 63 above; open: ones", UsageError, "before the first none"),
        ("after roll 1 of 3: [1] [ ] [ ] [ ] [ ]\n0 points, 0 of 63 above; open: ones", UsageError, "all five dice"),
        ("roll 1 of 3: [ ] [ ] [ ] [ ] [ ]\n9 points, 7 of 63 above; open: yatzy, sixes, fives", None, ""),
        ("roll 1 of 3: [ ] [ ] [ ] [ ] [ ]\n5 points, 7 of 63 above; open: yatzy", UsageError, "less than the 7"),
        (
            "roll 1 of 3: [ ] [ ] [ ] [ ] [ ]\n9 points, 7 of 63 above; open: ones, twos, threes, fours",
            UsageError,
            "cannot be",
        ),
        ("roll 1 of 3: [ ] [ ] [ ] [ ] [ ]\n9 points, 0 of 63 above; open: yatzi", UnknownNameError, "yatzy"),
        ("over\n9 points, 0 of 63 above; open: ones", UsageError, "over once no category"),
    ],
)
def test_what_cannot_be_is_refused(text, error, says):
    game = yatzy()
    if error is None:
        assert str(game.position(text)).splitlines()[1].startswith("9 points, 7 of 63")
        return
    with pytest.raises(error, match=says):
        game.position(text)


def test_parameters_are_checked():
    for options, says in (
        ({"categories": "twoes"}, "twos"),
        ({"rewards": "win"}, "one player plays for points"),
        ({"players": 3}, "players"),
        ({"upper": 64}, "upper"),
        ({"categories": ""}, "category"),
    ):
        with pytest.raises(UsageError, match=says):
            yatzy(**options)


def test_greedy_and_the_rollout_policy_are_one_player():
    game = Yatzy()
    state = game.start()
    greedy = game.agents()["greedy"]
    while not state.over:
        if state.turn == ab.CHANCE:
            state, _ = state.step(state.draw(5))
            continue
        action = greedy(state, 0)
        assert action == game.rules.rollout_action(state.data, 0, ab.Random(1))
        assert action in state.legal()
        state, _ = state.step(action)
    assert state.points[0] > 100


def test_observation():
    state = rolled(yatzy(players=2).start(), 1, 1, 4, 5, 6).replace(upper=[21, 0], points=[30, 10])
    seen = state.observe(0)
    assert seen.shape == state.game.observation == (2 * 19 + 1 + 11 + 2 * 15,)
    assert seen[:15].tolist() == [1] * 15
    assert seen[15:19].tolist() == pytest.approx([21 / 63, 1, 21 / 20, (21 + 105 - 63) / 40])
    assert state.replace(upper=[63, 0]).observe(0)[15:19].tolist() == [1, 0, 0, 0]  # earned
    assert seen[38] == np.float32(0.2)
    assert state.observe(1)[38] == np.float32(-0.2)
    assert seen[39:45].tolist() == pytest.approx([0.4, 0, 0, 0.2, 0.2, 0.2])
    assert seen[45:50].tolist() == [1, 0, 0, 0, 1]
    assert seen[50:65].tolist() == pytest.approx(
        [count / 50 for count in (2, 0, 0, 4, 5, 6, 2, 0, 0, 0, 0, 0, 0, 17, 0)]
    )
    more = 2 + 3 * (1 - (5 / 6) ** 2) - 5 * (1 - (5 / 6) ** 3)  # ones that two ones promise, less those of a whole turn
    assert seen[65] == pytest.approx(2 * more / 20, abs=1e-3)
