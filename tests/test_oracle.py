"""Oracles: against recursion, the exact solver and published optima; files that are damaged; agents and evaluators."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.cli import GOOD, main
from anabranch.errors import IllegalActionError, UsageError
from anabranch.games.dice import HANDS, MASKS, number_of
from anabranch.games.yahtzee import Yahtzee
from anabranch.games.yatzy import Yatzy
from anabranch.search.exact import kept_values
from anabranch.search.exact.turn_oracle import TurnOracle
from anabranch.search.exact.turn_solver import solve_turns


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A folder of its own for values; compiled games stay where they are."""
    monkeypatch.setattr(kept_values, "folder", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (Yatzy, {"categories": "ones,chance", "upper": 62}),
        (Yatzy, {"categories": "house,yatzy"}),
        (Yatzy, {"categories": "sixes,fives", "upper": 20}),
        (Yahtzee, {"categories": "full_house,yahtzee", "jokers": "forced"}),
        (Yahtzee, {"categories": "twos,yahtzee", "jokers": "free", "upper": 60}),
    ],
)
def test_endgames_equal_the_exact_solver(make, options, own_cache):
    """Every state of a line of play, chance states too: values and what choices are worth, as `ab.solve` has them."""
    game = make(**options).interpreted()
    known, exact = ab.oracle(game), ab.solve(make(**options))
    assert isinstance(known, TurnOracle)
    for seed in range(4):
        state, random = game.start(), ab.Random(seed)
        while not state.over:
            there = ab.State(exact.game, state.data)
            assert known.value(state) == pytest.approx(exact.value_of(there)[0], abs=1e-9)
            if state.turn == ab.CHANCE:
                state, _ = state.step(state.sample(random))
                continue
            worth = exact.action_values_of(there)[0]
            assert known.action_values(state) == pytest.approx({a: worth[a] for a in there.choices(0)}, abs=1e-9)
            assert known.best_actions(state) == exact.best_of(there)[0]
            legal = state.legal()
            state, _ = state.step(legal[ab.below(random, len(legal))])
        assert known.value(state) == 0.0


def test_values_of_single_categories(own_cache):
    """As an independent program has them (GAMES.md)."""
    for category, value in (("ones", 2.106481), ("chance", 23.333333), ("yatzy", 2.301432)):
        assert ab.oracle(Yatzy(categories=category)).value(Yatzy(categories=category).start()) == pytest.approx(
            value, abs=5e-7
        )


def test_one_step_of_play_keeps_values(own_cache):
    """V at chance is the mean over rolls, V of a choice is what it pays and what follows: 5 categories, one line."""
    game = Yatzy(categories="twos,sixes,house,chance,yatzy", upper=44).interpreted()
    known, state, random = ab.oracle(game), game.start(), ab.Random(3)
    while not state.over:
        if state.turn == ab.CHANCE:
            rolls = [(state.step(roll)[0], chance) for roll, chance in state.outcomes()]
            values = known.values_of([after for after, _ in rolls])[:, 0]
            assert known.value(state) == pytest.approx(float(np.dot(values, [p for _, p in rolls])), abs=1e-9)
            state, _ = state.step(state.sample(random))
            continue
        worth = known.action_values(state)
        assert known.value(state) == pytest.approx(max(worth.values()), abs=1e-12)
        for action, value in worth.items():
            after, rewards = state.step(action)
            assert value == pytest.approx(rewards[0] + known.value(after), abs=1e-9)
        assert known.regret(state, known.best(state)) == 0.0
        assert known.best_of([state, state]) == [known.best(state)] * 2
        state, _ = state.step(known.best(state))


def test_published_optima():
    """Solitaire Yatzy 248.4400; Yahtzee without jokers and extra bonus 245.87 (Verhoeff's talk on solitaire Yahtzee).

    With jokers that are not forced 254.5896 (Verhoeff 1999, whose rules these are).
    """
    assert solve_turns(Yatzy())[0, -1, 0] == pytest.approx(248.44, abs=1e-4)
    assert solve_turns(Yahtzee())[0, -1, 0] == pytest.approx(245.87, abs=5e-3)
    assert solve_turns(Yahtzee(jokers="free"))[0, -1, 0] == pytest.approx(254.5896, abs=5e-5)


def test_threads_make_no_difference():
    game = Yatzy(categories="ones,sixes,pair,house,chance")
    assert np.array_equal(solve_turns(game, threads=1), solve_turns(game, threads=4), equal_nan=True)


def test_progress_comes_to_all_scorecards():
    said: list[Any] = []
    solve_turns(Yatzy(categories="ones,sixes,chance"), progress=said.append)
    assert max(each.solved for each in said) == said[0].scorecards == 7


def test_two_players_for_points_do_not_meet(own_cache):
    single = Yatzy(categories="sixes,chance")
    alone, state = ab.oracle(single), single.start()
    value = alone.value(state)
    for rewards, expected in (("points", [value, value]), ("difference", [0.0, 0.0])):
        pair = Yatzy(players=2, rewards=rewards, categories="sixes,chance")
        known = ab.oracle(pair)
        assert known.values(pair.start()).tolist() == pytest.approx(expected)
        rolled = pair.start().step(number_of((6, 6, 1, 2, 3)))[0]
        theirs = alone.action_values(single.start().step(number_of((6, 6, 1, 2, 3)))[0])
        less = value if rewards == "difference" else 0.0
        assert known.action_values(rolled) == pytest.approx({a: v - less for a, v in theirs.items()})
    to_win = Yatzy(players=2, categories="chance")
    assert not isinstance(ab.oracle(to_win), TurnOracle)
    assert ab.oracle(to_win, goal="points").best(to_win.start().step(HANDS)[0]) == 0  # five ones: roll them all


# Files


def test_values_are_kept_and_read_back(own_cache, monkeypatch):
    game = Yahtzee(categories="ones,chance")
    known = TurnOracle(game)
    values = solve_turns(game)
    kept_values.write(known.kept_as, values)

    def never(*arguments, **options):
        raise AssertionError("solved again")

    monkeypatch.setattr("anabranch.search.exact.turn_oracle.solve_turns", never)
    assert np.array_equal(TurnOracle(game).starts, values, equal_nan=True)
    path = kept_values.path_of(known.kept_as)
    whole = path.read_bytes()
    assert len(whole) < values.nbytes / 10
    for damaged in (b"", whole[:-1], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], whole + b"x"):
        path.write_bytes(damaged)
        assert kept_values.read(known.kept_as, values.shape) is None
    path.write_bytes(whole)
    assert kept_values.read(known.kept_as, (1, 2, 3)) is None
    assert TurnOracle(Yatzy()).kept_as != TurnOracle(Yahtzee()).kept_as != TurnOracle(Yahtzee(jokers="free")).kept_as
    assert TurnOracle(Yahtzee(players=2, rewards="points")).kept_as == TurnOracle(Yahtzee()).kept_as


def test_a_folder_that_cannot_be_written_to_is_a_warning(own_cache, monkeypatch):
    blocked = own_cache / "file"
    blocked.write_text("no folder")
    monkeypatch.setattr(kept_values, "folder", lambda: blocked)
    with pytest.warns(RuntimeWarning, match="ANABRANCH_CACHE"):
        kept_values.write("x", np.zeros(3))


# Other games


def test_pig_and_small_2048_by_the_general_solver():
    pig = ab.games.load("pig", target=12)
    known, exact = ab.oracle(pig), ab.solve(pig)
    state = pig.start()
    assert known.value(state) == exact.value[0]
    rolled, _ = state.step(0)
    assert known.values(rolled)[0] == pytest.approx(known.action_values(state)[0], abs=1e-9)
    assert known.regret(state, 1) == pytest.approx(2 * exact.value[0], abs=1e-9)  # hold with nothing: the other begins
    small = ab.games.load("2048", rows=2)
    assert ab.oracle(small).value(small.start()) == pytest.approx(66.96414946, abs=1e-8)


def test_what_an_oracle_is_not_asked():
    game = Yatzy(categories="chance").interpreted()
    known, state = ab.oracle(game), game.start()
    with pytest.raises(UsageError, match="where one player moves"):
        known.action_values(state)
    rolled, _ = state.step(HANDS)
    with pytest.raises(IllegalActionError, match="not legal"):
        known.regret(rolled, MASKS)
    with pytest.raises(UsageError, match="more categories are open"):
        known.value(rolled.replace(open=[3]))
    with pytest.raises(UsageError, match="belongs to"):
        known.value(Yahtzee().interpreted().start())
    with pytest.raises(UsageError, match="goal"):
        ab.oracle(game, goal="win")
    with pytest.raises(UsageError, match="leave goal out"):
        ab.oracle(ab.games.load("tic_tac_toe"), goal="points")
    with pytest.raises(UsageError, match="an oracle is of a game"):
        ab.oracle(3)  # type: ignore[arg-type]


# Searches with the oracle's values


def most_valued(result, state):
    """Return the choice of the highest q among those that were visited."""
    return max(state.choices(0), key=lambda action: result.q[0, action])


def test_one_visit_per_choice_with_exact_values_finds_best_play(own_cache):
    """Exact chance, one visit each, argmax q: no regret; benchmarks/oracle.py does 10,000 states of whole games."""
    game = Yatzy(categories="fours,house,chance", upper=50)
    known = ab.oracle(game)
    config = ab.SearchConfig(chance=ab.Chance(exact_up_to=252), selector=ab.Ucb1())
    random, asked = ab.Random(1), 0
    for _ in range(2):
        state = game.start()
        while not state.over:
            if state.turn == ab.CHANCE:
                state, _ = state.step(state.sample(random))
                continue
            choices = list(state.choices(0))
            result = ab.search(state, visits=len(choices), evaluator=ab.OracleValue(known), config=config)
            assert (result.visits[0, choices] == 1).all()
            assert known.regret(state, most_valued(result, state)) <= 1e-6  # q adds rewards as float32
            asked += 1
            state, _ = state.step(choices[ab.below(random, len(choices))])
    assert asked == 18


# Agents and commands


def test_the_oracle_plays_matches(own_cache):
    pig = ab.games.load("pig", target=8)
    found = ab.match(pig, "oracle", "random", games=20)
    assert found.score > 0.5
    pair = Yatzy(players=2, categories="chance,yatzy")
    assert ab.match(pair, "oracle:goal=points", "greedy", games=4).agents[0].startswith("oracle")


def test_the_perfect_player_of_tic_tac_toe_draws_with_itself_and_loses_to_nobody():
    game = ab.games.load("tic_tac_toe")
    assert ab.match(game, "oracle", "oracle", games=2, openings=0).standings[0].draws == 2
    found = ab.match(game, "oracle", "random", games=60, openings=0).standings[0]
    assert found.losses == 0
    assert found.wins > 40


def test_commands(own_cache, capsys):
    assert main(["oracle", "solve", "yatzy", "--option", "categories=chance", "--interpreted", "--json"]) == GOOD
    solved = json.loads(capsys.readouterr().out)
    assert solved["values"][0] == pytest.approx(23.333333, abs=1e-6)
    words = ["oracle", "query", "yatzy", "--option", "categories=yatzy", "--interpreted", "--moves", "11344"]
    assert main([*words, "--json"]) == GOOD
    asked = json.loads(capsys.readouterr().out)
    assert asked["actions"][0]["name"] in ("keep_11", "keep_44")
    assert asked["actions"][0]["regret"] == 0.0
    assert main(words) == GOOD
    assert "keep_44" in capsys.readouterr().out
    assert main(["oracle", "solve", "2048", "--interpreted", "--states", "100"]) != GOOD
    assert "Raise --states" in capsys.readouterr().err
