"""Players of OpenSpiel in our games, and our search in OpenSpiel's own loops."""

from __future__ import annotations

import random

import numpy as np
import pyspiel
import pytest

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.play.agent import ask
from anabranch.play.names import agent_by_name
from anabranch.play.open_spiel import mcts_agent
from anabranch.play.open_spiel_mirror import our_state, ours_of, their_state, twin_of

NATIVE = [
    ("tic_tac_toe", {}),
    ("connect_four", {"rows": 4, "columns": 5, "line": 3}),
    ("othello", {}),
    ("pig", {"target": 12, "players": 3}),
    ("goofspiel", {"cards": 5, "prizes": "random"}),
    ("goofspiel", {"cards": 4, "players": 3, "rewards": "points"}),
]


def random_game(game, seed):
    """Yield (state, moves so far) along a random game."""
    dice, state = random.Random(seed), game.start()
    moves: list[int | tuple[int, ...]] = []
    while True:
        yield state, tuple(moves)
        if state.over:
            return
        if state.turn == ab.CHANCE:
            move = dice.choice([outcome for outcome, _ in state.outcomes()])
        else:
            joint = tuple(dice.choice(state.legal(seat)) for seat in state.turn)
            move = joint if len(joint) > 1 else joint[0]
        state = state.step(move)[0]
        moves.append(move)


@pytest.mark.parametrize(("name", "options"), [*NATIVE, ("open_spiel:oshi_zumo", {"coins": 5, "horizon": 6})])
def test_both_boards_show_the_same_game(name, options):
    """Along random games OpenSpiel's state has our turn and legal actions, and leads back to our state."""
    game = ab.games.load(name, **options)
    twin = twin_of(game)
    for state, moves in random_game(game, 5):
        theirs = their_state(twin, state, moves, game.start())
        assert theirs.is_terminal() == state.over
        assert theirs.is_chance_node() == (state.turn == ab.CHANCE)
        for seat in range(game.players) if isinstance(state.turn, tuple) else ():
            assert theirs.legal_actions(seat) == state.legal(seat)
        again = our_state(game, theirs)
        assert again.key == state.key
    back = ours_of(twin)
    assert (type(back), back.players, back.actions) == (type(game), game.players, game.actions)


def test_seats_may_be_relabelled_where_they_are_alike():
    """In goofspiel OpenSpiel's MCTS always chooses first: seat 1 after (a, b) does what seat 0 would after (b, a)."""
    game, agent = ab.games.load("goofspiel", cards=6, prizes="descending"), mcts_agent(simulations=60)
    moves = [(0, 3), (5, 1)]
    chosen = []
    for seat in (0, 1):
        state = game.start()
        line = [pair if seat == 0 else pair[::-1] for pair in moves]
        for move in line:
            state, _ = state.step(move)
        chosen.append(ask(agent, [ab.Turn(state, seat, 9, line, game.start())])[0])
    assert chosen[0] == chosen[1]


def test_their_search_plays_ours_and_is_repeatable():
    """OpenSpiel's MCTS finds the move that wins, loses no tic-tac-toe to random play, and a match repeats exactly."""
    game = ab.games.load("connect_four")
    state = game.start()
    line = [3, 0, 3, 0, 3, 1]
    for move in line:
        state, _ = state.step(move)
    assert ask(mcts_agent(simulations=400), [ab.Turn(state, 0, 1, line, game.start())]) == [3]
    first, second = (
        ab.match(ab.games.load("tic_tac_toe"), "open_spiel:mcts:simulations=2000", "random", games=20, openings=0)
        for _ in range(2)
    )
    assert first == second
    assert first.standings[0].losses == 0
    assert first.score > 0.8


@pytest.mark.parametrize(
    "name", ["open_spiel:breakthrough(rows=4,columns=3)", "open_spiel:oshi_zumo(coins=4,horizon=6)", "open_spiel:pig"]
)
def test_their_bots_play_games_of_the_adapter(name):
    """Also simultaneous ones whose seats are not relabelled; illegal choices would be errors of the match."""
    game = ab.games.load(name, **({"winscore": 12} if name.endswith("pig") else {}))
    played = ab.match(game, "open_spiel:mcts:simulations=20", "open_spiel:random", games=6, openings=0)
    assert all(record.finished for record in played.records)


def test_a_clock_that_is_up_at_once_still_gives_a_move():
    """OpenSpiel's own `step` would follow a null pointer here."""
    game = ab.games.load("tic_tac_toe")
    action = ask(mcts_agent(seconds=1e-9), [ab.Turn(game.start(), 0, 0, (), game.start())])[0]
    assert action in range(9)


@pytest.mark.parametrize("text", ["tic_tac_toe", "connect_four(rows=4,columns=5)", "misere(game=tic_tac_toe())"])
def test_our_search_plays_in_their_loop(text):
    """`pyspiel.evaluate_bots`, in both seats: our search hardly ever loses to random play."""
    game = pyspiel.load_game(text)
    points = []
    for number in range(12):
        seat = number % 2
        bots = [pyspiel.make_uniform_random_bot(player, number) for player in range(2)]
        bots[seat] = ab.SearchBot(game, seat, simulations=150, seed=number)
        points.append(pyspiel.evaluate_bots(game.new_initial_state(), bots, number)[seat])
    assert np.mean(points) > 0.5


@pytest.mark.parametrize("text", ["goofspiel(num_cards=4)", "pig(winscore=15)", "pig(winscore=15,horizon=30)"])
def test_our_search_plays_at_once_and_with_dice(text):
    game = pyspiel.load_game(text)
    bots = [ab.SearchBot(game, seat, simulations=30) for seat in range(2)]
    returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, 4)
    assert sum(returns) == 0.0


def test_native_rules_are_searched_where_there_are_some():
    assert isinstance(ours_of(pyspiel.load_game("goofspiel")), ab.CompiledGame)
    for text in ("pig(horizon=30)", "goofspiel(num_turns=3)", "connect_four(rows=20,columns=20)", "breakthrough"):
        assert isinstance(ours_of(pyspiel.load_game(text)), ab.ObjectGame)


def test_policies_cover_the_legal_actions():
    game = pyspiel.load_game("tic_tac_toe")
    state = game.new_initial_state()
    state.apply_action(4)
    bot = ab.SearchBot(game, 1, simulations=50)
    policy, action = bot.step_with_policy(state)
    assert [a for a, _ in policy] == state.legal_actions()
    assert sum(p for _, p in policy) == pytest.approx(1.0)
    assert dict(policy)[action] == max(p for _, p in policy)
    assert action == bot.step(state)
    assert not ab.SearchBot(game, 0, "random").provides_policy()


def test_names():
    assert agent_by_name("open_spiel:mcts").name == "open_spiel:mcts:simulations=1000"
    name = "open_spiel:mcts:seconds=0.02,c=1.4,rollouts=3,solve=False"
    assert agent_by_name(name.replace("False", "false")).name == name
    with pytest.raises(UnknownNameError, match="mcts"):
        agent_by_name("open_spiel:mtcs")
    with pytest.raises(UnknownNameError, match="simulations"):
        agent_by_name("open_spiel:mcts:simulation=3")
    with pytest.raises(UsageError, match="one budget"):
        agent_by_name("open_spiel:mcts:simulations=3,seconds=1")
    with pytest.raises(UsageError, match="positive"):
        agent_by_name("open_spiel:mcts:seconds=0")
    with pytest.raises(UsageError, match="no game with the rules"):
        twin_of(ab.games.load("take_away"))
    later = ab.games.load("tic_tac_toe").start().step(1)[0]
    with pytest.raises(UsageError, match="first state"):
        their_state(pyspiel.load_game("tic_tac_toe"), later, (), None)
