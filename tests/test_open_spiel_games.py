"""Games of OpenSpiel behind our interface: searched soundly, or refused with the reason."""

from __future__ import annotations

import copy
import pickle
import random
import re

import numpy as np
import pyspiel
import pytest

import anabranch as ab
from anabranch.errors import MissingExtraError, UnknownNameError, UnsupportedGameError, UsageError
from anabranch.evaluate.native import rollout
from anabranch.games.open_spiel_text import PLAYERS, board_text, player_names

# Turn-based, simultaneous, with dice, for one player, two, three and four, paid at the end and on the way.
GAMES = [
    "tic_tac_toe",
    "connect_four",
    "breakthrough(rows=5,columns=4)",
    "othello",
    "nim",
    "dots_and_boxes",
    "hex(board_size=4)",
    "go(board_size=4,max_game_length=20)",
    "clobber",
    "ultimate_tic_tac_toe",
    "misere(game=tic_tac_toe())",
    "pig(winscore=20)",
    "pig(players=3,winscore=15)",
    "yacht(players=3)",
    "einstein_wurfelt_nicht",
    "catch",
    "cliff_walking(horizon=30)",
    "2048",
    "maedn(players=4)",
    "chinese_checkers(players=3,max_moves=40)",
    "goofspiel(num_cards=5)",
    "goofspiel(num_cards=4,players=3,points_order=descending,returns_type=total_points)",
    "matrix_rps",
    "matching_pennies_3p",
    "blotto(players=3,coins=4)",
    "oshi_zumo(coins=6,horizon=10)",
    "markov_soccer(horizon=10)",
    "laser_tag(horizon=10)",
    "snake(rows=5,columns=5,horizon=20,players=4)",
    "repeated_game(stage_game=matrix_pd(),num_repetitions=4)",
    "coop_box_pushing(fully_observable=true,horizon=8)",
]


@pytest.fixture(params=GAMES)
def game(request):
    return ab.games.load(f"open_spiel:{request.param}")


def test_searches_are_sound_and_say_legal_things(game):
    """200 simulations: as many visits, on legal actions only, values within the returns, an action that can be played.

    The graph keeps the engine's invariants.
    """
    state = game.start()
    while state.turn == ab.CHANCE:
        state, _ = state.step(state.sample(ab.Random(1)))
    result = ab.search(state, simulations=200)
    result.graph.check()
    for seat in range(game.players):
        legal = state.legal(seat)
        assert result.visits[seat].sum() == (200 if legal else 0)
        assert result.visits[seat].sum() == result.visits[seat][legal].sum()
        assert result.policy[seat].sum() == pytest.approx(1.0 if legal else 0.0)
    low, high = game.returns
    assert ((low <= result.value + 1e-9) & (result.value <= high + 1e-9)).all()
    state.step(result.action)


def test_rewards_add_up_to_returns(game):
    """Random games: what steps paid is what OpenSpiel says the game returned, and the game ends as declared."""
    dice = random.Random(3)
    for _ in range(2):
        state, total, steps = game.start(), np.zeros(game.players), 0
        while not state.over:
            if state.turn == ab.CHANCE:
                outcomes = state.outcomes()
                (move,) = dice.choices([o for o, _ in outcomes], [p for _, p in outcomes])
            else:
                move = [dice.choice(state.legal(seat)) for seat in state.turn]
            if not game.rewards_along:
                assert not total.any()
            steps += state.turn != ab.CHANCE
            state, rewards = state.step(move)
            total += rewards
        assert total == pytest.approx(state.spiel.returns(), abs=1e-9)
        assert steps <= game.spiel_game.max_game_length()


@pytest.mark.parametrize("name", ["tic_tac_toe", "goofspiel(num_cards=4)", "laser_tag(horizon=6)", "pig(winscore=10)"])
def test_the_laws_of_check_hold(name):
    ab.check(ab.games.load(f"open_spiel:{name}"), seconds=2, games=3).raise_if_failed()


@pytest.mark.parametrize(
    ("name", "moves", "options"),
    [
        ("tic_tac_toe", [4, 0], {}),
        ("connect_four", [3, 3, 2], {}),
        ("goofspiel", [(0, 2)], {}),
    ],
)
def test_native_rules_and_the_adapter_are_searched_alike(name, moves, options):
    """Rules that are the same give the same visits and values, whoever wrote them; only speed differs.

    Without merging, because the adapter tells states apart by their history and native rules do not.
    """
    native = ab.games.load(name, **options)
    theirs = {"goofspiel": {"num_cards": 4, "points_order": "descending"}}.get(name, options)
    adapted = ab.games.load(f"open_spiel:{name}", **theirs)
    config = ab.SearchConfig(selector=ab.Puct(ties="first"), transposition=ab.Transposition(merge=False))
    results = []
    for game in (native, adapted):
        state = game.start()
        for move in moves:
            state, _ = state.step(move)
        results.append(ab.search(state, simulations=400, evaluator=ab.Uniform(), config=config))
    assert results[0].visits.tolist() == results[1].visits.tolist()
    assert results[0].value.tolist() == results[1].value.tolist()
    assert results[0].nodes == results[1].nodes


def test_states_with_the_same_text_may_be_one_node():
    """On request and with a warning: tic-tac-toe keeps its value, and the graph is as small as that of native rules."""
    with pytest.warns(UserWarning, match="history"):
        by_text = ab.games.load("open_spiel:tic_tac_toe", key="state")
    by_history, native = ab.games.load("open_spiel:tic_tac_toe"), ab.games.load("tic_tac_toe")
    exact = [ab.solve(game).value.tolist() for game in (by_text, native)]
    assert exact[0] == exact[1] == [0.0, 0.0]
    few, many, same = (
        ab.search(game.start(), simulations=1500, evaluator=ab.Uniform()) for game in (by_text, by_history, native)
    )
    assert few.nodes == same.nodes < many.nodes
    assert few.visits.tolist() == same.visits.tolist()
    assert by_text != by_history
    one, other = (by_history.start().step(a)[0].step(4)[0].step(b)[0] for a, b in ((0, 8), (8, 0)))
    assert str(one) == str(other)
    assert one != other


def test_random_rollouts_are_those_of_the_rules():
    """OpenSpiel plays whole random games for us: the mean return of many is that of games played step by step."""
    state = ab.games.load("open_spiel:tic_tac_toe").start().step(4)[0]
    native = ab.games.load("tic_tac_toe").start().step(4)[0]
    means = [np.mean([rollout(s, ab.Random(k), ab.Rollout(greedy=0))[0] for k in range(3000)]) for s in (state, native)]
    assert means[0] == pytest.approx(means[1], abs=0.06)  # three standard errors of a difference


def test_rollouts_pay_what_is_still_to_come():
    """Half-way through a game that pays on the way, a rollout returns the rest and not the total."""
    game = ab.games.load("open_spiel:cliff_walking", horizon=4)
    state = game.start()
    for _ in range(3):
        state, rewards = state.step(1)  # up the wall
        assert rewards.tolist() == [-1.0]
    assert {rollout(state, ab.Random(k), ab.Rollout())[0] for k in range(20)} == {-1.0}
    short = ab.Rollout(max_depth=1)  # a short limit is kept
    assert {rollout(game.start(), ab.Random(k), short)[0] for k in range(20)} == {-1.0, -100.0}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kuhn_poker", "imperfect information"),
        ("goofspiel(imp_info=true)", "imp_info=False"),
        ("laser_tag(fully_obs=False)", "fully_obs=True"),
        ("turn_based_simultaneous_game(game=matrix_rps())", "load the game inside it"),
        ("mfg_crowd_modelling", "mean field"),
        ("stones_and_gems", "dice inside the state"),
        ("morpion_solitaire", "clone"),
        ("misere(game=morpion_solitaire())", "clone"),
    ],
)
def test_what_cannot_be_searched_soundly_is_refused_with_the_reason(name, reason):
    with pytest.raises(UnsupportedGameError, match=reason):
        ab.games.load(f"open_spiel:{name}")


@pytest.mark.parametrize(
    ("name", "options", "hint"),
    [
        ("conect_four", {}, "connect_four"),
        ("connect_four", {"row": 5}, "rows"),
        ("connect_four", {"rows": "many"}, "whole number"),
        ("connect_four", {"rows": 5.5}, "whole number"),
        ("connect_four(rows=5", {}, "form"),
        ("tic_tac_toe", {"key": "text"}, "state"),
    ],
)
def test_slips_are_named(name, options, hint):
    with pytest.raises(UsageError, match=hint) as caught:
        ab.games.load(f"open_spiel:{name}", **options)
    assert isinstance(caught.value, UnknownNameError) == ("number" not in hint and hint != "form")


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("nfg_game", {}, "filename"),
        ("efg_game", {}, "filename"),
        ("go", {"board_size": 100}, "up to 19"),
    ],
)
def test_what_open_spiel_cannot_make_is_said_when_it_is_loaded(name, options, reason):
    with pytest.raises(UsageError, match=reason):
        ab.games.load(f"open_spiel:{name}", **options)


def test_options_are_parameters_and_the_name_loads_again():
    game = ab.games.load("open_spiel:connect_four", rows="5", columns=6)
    assert (game.name, game.actions) == ("open_spiel:connect_four(columns=6,rows=5)", 6)
    again = ab.games.load(game.name)
    assert (again, hash(again)) == (game, hash(game))
    assert again != ab.games.load("open_spiel:connect_four")
    assert ab.games.load("open_spiel:go", board_size=5, komi=7).actions == 26  # a whole number for a real one


def test_states_are_values():
    """Stepping changes nothing; copies and pickles are equal to what they were made from."""
    game = ab.games.load("open_spiel:goofspiel", num_cards=4)
    start = game.start()
    text = str(start)
    state = start.step(2)[0].step((1, 3))[0]
    assert (str(start), start.history, state.history) == (text, (), (2, 1, 3))
    for twin in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert twin == state
        assert str(twin) == str(state)
    assert state != start.step(2)[0].step((3, 1))[0]


def test_names_are_open_spiels_own():
    rps = ab.games.load("open_spiel:matrix_rps")
    assert [rps.action_name(action) for action in range(3)] == ["Rock", "Paper", "Scissors"]
    assert rps.parse_action("Paper") == 1
    state = ab.games.load("open_spiel:breakthrough").start()
    assert state.game.action_name(100) == state.game.move_name(state, 0, 100) == "a7b6"
    assert state.game.parse_action("a7b6") == 100
    chess = ab.games.load("open_spiel:chess").start()
    assert chess.game.action_name(89) == "89"  # which piece it moves depends on the state
    assert chess.game.move_name(chess, 1, 89) == "a3"
    names = [ab.games.load("open_spiel:connect_four").action_name(column) for column in range(7)]
    assert names == list("0123456")  # x0 of one player, o0 of the other


@pytest.mark.parametrize("name", sorted(PLAYERS))
def test_players_are_called_as_the_board_shows_them(name):
    """Whoever moves, its own mark is what the move puts on the board; and who begins is who is said to begin."""
    spiel = pyspiel.load_game(name)
    state = spiel.new_initial_state()
    letters = {"black": "bx", "white": "wo"}
    for _ in range(8):
        while state.is_chance_node():
            state.apply_action(state.chance_outcomes()[0][0])
        seat, before = state.current_player(), stones(state)
        state.apply_action(state.legal_actions()[len(state.legal_actions()) // 2])
        placed = stones(state) - before
        called = player_names(spiel)[seat].lower()
        if name == "chess":  # capitals are white
            assert all(mark.isupper() == (called == "white") for _, mark in placed if mark.isalpha())
        elif name not in ("quoridor", "backgammon", "pentago"):  # where more than the move changes
            assert {mark.lower() for _, mark in placed if mark not in ".#"} <= set(letters.get(called, called))


def stones(state):
    """What lies where, by row and column of the text without colours, brackets and what is no board."""
    text = board_text(state, None).replace("[", " ").replace("]", " ")
    rows = [line for line in text.splitlines() if not re.search(r"[:/!]|State", line)]
    marks = [(row, column, mark) for row, line in enumerate(rows) for column, mark in enumerate(line)]
    return {((row, column), mark) for row, column, mark in marks if not mark.isspace() and mark not in "_\\|-"}


def test_boards_say_who_moves():
    state = ab.games.load("open_spiel:breakthrough").start()
    assert str(state).endswith("\nblack to move")
    assert str(state.step(state.legal()[0])[0]).endswith("\nwhite to move")
    chess = ab.games.load("open_spiel:chess").start()
    assert str(chess).startswith("8 r n b q k b n r\n7 p p p p p p p p\n6 . .")
    assert str(chess).endswith("\nwhite to move")
    assert "\x1b" not in str(ab.games.load("open_spiel:twixt").start())


def test_boards_are_drawn_letter_by_letter():
    """In columns that no font moves: the same letters as the text has, each column of them at one place."""
    state = ab.games.load("open_spiel:breakthrough").start()
    letters = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(.)</text>', state.game.svg(state) or "")
    assert "".join(letter for *_, letter in letters) == str(state).replace("black to move", "").translate(
        {10: None, 32: None}
    )
    assert len({x for x, *_ in letters}) == 9
    assert len({y for _, y, _ in letters}) == 9


def test_a_missing_open_spiel_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(MissingExtraError, match=r"anabranch\[interop\]"):
        ab.games.load("open_spiel:tic_tac_toe")


def test_every_game_said_to_be_open_loads():
    """All default-loadable games with perfect information or one shot, and no others, are taken."""
    perfect = (pyspiel.GameType.Information.PERFECT_INFORMATION, pyspiel.GameType.Information.ONE_SHOT)
    for kind in pyspiel.registered_games():
        if not kind.default_loadable or kind.short_name == "quoridor":  # which warns on stderr each time
            continue
        sampled = kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
        field = kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD
        if kind.short_name == "morpion_solitaire":  # refused above, for its copies
            continue
        if kind.information in perfect and not sampled and not field:
            assert ab.games.load(f"open_spiel:{kind.short_name}").players >= 1
        elif kind.information not in perfect or kind.short_name.startswith("mfg"):
            with pytest.raises(UnsupportedGameError):
                ab.games.load(f"open_spiel:{kind.short_name}")
