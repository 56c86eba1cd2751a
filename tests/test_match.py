"""Matches: the same games however many run abreast and however often interrupted, and intervals that are honest."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import re
import subprocess
import sys
import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

import anabranch as ab
from anabranch.errors import AgentError, DataError, UsageError
from anabranch.play.interval import interval, student_quantile
from anabranch.play.match import Progress, Series
from anabranch.play.opening import opened, usual_plies
from anabranch.play.record import GameRecord, rotations

GAMES = {name: ab.games.load(name) for name in ("tic_tac_toe", "take_away", "pig", "goofspiel", "pyrat", "matrix")}


def first(state, seat):
    return state.legal(seat)[0]


def last(state, seat):
    return state.legal(seat)[-1]


class ThreePiles(ab.ObjectGame):
    """Three players in turn add 0, 1 or 2 to their own pile, twice; everybody is paid their pile."""

    returns = (0.0, 4.0)

    def __init__(self):
        self.players, self.actions = 3, 3

    def setup(self, random):
        return (0, 0, 0, 0)

    def turn(self, state):
        return ab.OVER if state[0] == 6 else ab.player(state[0] % 3)

    def legal(self, state, player):
        return [0, 1, 2]

    def step(self, state, actions):
        ply, *piles = state
        piles[ply % 3] += actions[ply % 3]
        return (ply + 1, *piles), [float(pile) for pile in piles] if ply == 5 else [0.0] * 3


class Endless(ab.ObjectGame):
    """Two players pass for ever."""

    def __init__(self):
        self.players, self.actions = 2, 1

    def setup(self, random):
        return 0

    def turn(self, state):
        return ab.player(state % 2)

    def legal(self, state, player):
        return [0]

    def step(self, state, actions):
        return state + 1, [0.0, 0.0]


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_match_is_the_same_again_and_however_many_run_abreast(game):
    one = ab.match(game, "search:simulations=15", "random", games=12, seed=3)
    again = ab.match(game, "search:simulations=15,threads=1", "random", games=12, seed=3, abreast=1)
    between = ab.match(game, "search:simulations=15", "random", games=12, seed=3, abreast=5)
    other = ab.match(game, "search:simulations=15", "random", games=12, seed=4)
    assert one == again == between
    assert one.records != other.records


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_swapping_the_agents_mirrors_the_match(game):
    """Even where both draw: what an agent draws belongs to the seat and the move, not to the agent."""
    one = ab.match(game, "search:simulations=15", "random", games=12)
    other = ab.match(game, "random", "search:simulations=15", games=12)
    assert [r.moves for r in one.records] == [r.moves for pair in _pairs(other) for r in reversed(pair)]
    assert one.pair_scores(0) == other.pair_scores(1)
    assert one.pair_scores(1) == other.pair_scores(0)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_an_agent_scores_exactly_half_against_itself(game):
    assert set(ab.match(game, "random", "random", games=20).pair_scores()) == {0.5}


def _pairs(match):
    return [[r for r in match.records if r.pair == pair] for pair in sorted({r.pair for r in match.records})]


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_record_plays_the_game_again(game):
    match = ab.match(game, "random", first, games=6, openings=None)
    for pair in _pairs(match):
        for record in pair:
            states = record.states(game)
            assert states[-1].over
            assert record.finished
            total, weight = np.zeros(2), 1.0
            for state, move in zip(states[:-1], record.moves, strict=True):
                total += weight * state.step(move)[1]
                weight *= game.discount if isinstance(state.turn, tuple) else 1.0
            assert record.returns == tuple(total)
        assert pair[0].moves[: pair[0].opening] == pair[1].moves[: pair[1].opening]
        assert [record.seats for record in pair] == [(0, 1), (1, 0)]


def test_games_that_name_their_rolls_see_the_same_dice_in_both_seats():
    """Two equal players in Pig: both games of a pair are one game, roll for roll; other pairs have other dice."""
    pairs = _pairs(ab.match(GAMES["pig"], first, first, games=8, openings=0))
    assert all(one.moves == other.moves for one, other in pairs)
    assert len({one.moves for one, _ in pairs}) == 4


def test_every_choice_has_random_numbers_of_its_own():
    """Other pair, other move or other seat: other numbers. The games of a pair share theirs, whoever sits there."""
    seeds: list[list[int]] = []

    class Notes(ab.RandomAgent):
        def choose(self, turns):
            seeds[-1] += [turn.seed for turn in turns]
            return super().choose(turns)

    for agents in ((Notes(), "random"), ("random", Notes())):
        seeds.append([])
        ab.match(GAMES["goofspiel"], *agents, games=20)
    together = seeds[0] + seeds[1]
    assert len(set(together)) == len(together) / 2  # each twice: in both games of its pair
    assert len(set(seeds[0])) == len(seeds[0])


def test_search_beats_random_at_tic_tac_toe():
    match = ab.match(GAMES["tic_tac_toe"], "search:simulations=200", "random", games=200, openings=0)
    assert match.score >= 0.9
    assert match.interval[0] >= 0.85
    assert "search:simulations=200" in str(match)


def test_scores_are_wins_draws_and_losses():
    """Tic-tac-toe by hand: 'first' fills a3 b3 c3 … and as first player wins in seven plies; as second it loses."""
    match = ab.match(GAMES["tic_tac_toe"], first, first, games=2, openings=0)
    assert [record.returns for record in match.records] == [(1.0, -1.0), (1.0, -1.0)]
    assert [record.score(0) for record in match.records] == [1.0, 0.0]
    assert (match.standings[0].wins, match.standings[0].draws, match.standings[0].losses) == (1, 0, 1)
    assert match.score == 0.5
    assert match.standings[0].mean_return == 0.0


def record_of(seats: Sequence[int], returns: Sequence[float]) -> GameRecord:
    return GameRecord(0, tuple(seats), 0, 0, 0, (), tuple(returns), True)


def test_the_score_of_many_players_is_the_share_beaten():
    three = record_of([0, 1, 2], [3.0, 1.0, 1.0])
    assert [three.score(agent) for agent in range(3)] == [1.0, 0.25, 0.25]
    one_against_two = record_of([1, 0, 1], [3.0, 2.0, 1.0])
    assert [one_against_two.score(agent) for agent in range(2)] == [0.5, 0.5]


def test_every_agent_sits_in_every_seat():
    assert rotations(2, 2) == [(0, 1), (1, 0)]
    assert sorted(rotations(3, 3)) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert rotations(3, 2) == [(0, 1, 1), (1, 0, 1), (1, 1, 0)]


def test_three_players():
    game = ThreePiles()
    match = ab.match(game, last, first, "random", games=30, openings=1)
    assert len(match.records) == 30
    assert match.standings[0].wins > match.standings[2].wins > match.standings[1].wins
    assert match.standings[0].score + match.standings[1].score + match.standings[2].score == pytest.approx(1.5)
    alone = ab.match(game, last, first, games=9, openings=0)
    assert alone.score == 1.0
    assert alone.standings[1].score == 0.0
    assert alone.standings[0].mean_return == 4.0


@pytest.mark.parametrize("plies", [0, 1, 3])
def test_openings_are_as_long_as_asked_and_not_over(plies):
    game = GAMES["tic_tac_toe"]
    openings = [opened(game, 0, pair, plies) for pair in range(30)]
    assert all(len(played.moves) == plies and not played.state.over for played in openings)
    assert plies == 0 or len({tuple(played.moves) for played in openings}) > 5


def test_openings_that_must_end_the_game_are_refused():
    """Nine plies of tic-tac-toe always do, and so does one of a matrix game."""
    with pytest.raises(UsageError, match="random openings of 9 plies ended the game"):
        ab.match(GAMES["tic_tac_toe"], first, last, games=2, openings=9)


@pytest.mark.parametrize(
    ("game", "plies"),
    [("matrix", 0), ("tic_tac_toe", 0), ("connect_four", 2), ("othello", 4)],
)
def test_openings_are_at_most_a_tenth_of_a_game(game, plies):
    """Tic-tac-toe has nine plies at most, random connect four about 21; of Othello's 60 it is four."""
    made = GAMES.get(game) or ab.games.load(game, compiled=False)
    assert usual_plies(made) == plies
    lengths = [len(record.moves) for record in ab.match(made, "random", "random", games=40, openings=0).records]
    assert plies <= sorted(lengths)[20] / 10


def test_a_game_without_an_end_is_cut_off():
    match = ab.match(Endless(), first, last, games=4, longest=50)
    assert [len(record.moves) for record in match.records] == [50] * 4
    assert not any(record.finished for record in match.records)
    assert match.score == 0.5
    assert "4 cut off" in str(match)


def test_an_illegal_action_ends_the_match_with_the_moves():
    corner = ab.ScriptedAgent(lambda state, seat: 0, "corner")
    with pytest.raises(AgentError, match=r"corner chose 0, which is not legal in seat 1, after a3"):
        ab.match(GAMES["tic_tac_toe"], corner, corner, openings=0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"games": 0}, "games must be a whole number, at least 1, found 0"),
        ({"games": 2.5}, "games"),
        ({"abreast": 0}, "abreast"),
        ({"openings": -1}, "openings"),
        ({"seed": "x"}, "seed"),
        ({"longest": 0}, "longest"),
    ],
)
def test_wrong_arguments_are_named(arguments, named):
    with pytest.raises(UsageError, match=named):
        ab.match(GAMES["tic_tac_toe"], first, last, **arguments)


def test_agents_and_players_must_fit():
    with pytest.raises(UsageError, match="2 players: give 2 agents, found 3"):
        ab.match(GAMES["tic_tac_toe"], first, first, first)
    with pytest.raises(UsageError, match="a match is played on a game"):
        ab.match("tic_tac_toe", first, first)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"found the class int$"):
        ab.match(int, first, first)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"2048 is for one player; .* `anabranch regret`"):
        ab.match(ab.games.load("2048", compiled=False), first, first)
    with pytest.raises(UsageError, match=r"e\.g\. search:simulations=100$"):
        ab.match(GAMES["tic_tac_toe"], "search:100", first)


def test_json_holds_everything():
    match = ab.match(GAMES["goofspiel"], first, "random", games=4)
    facts = json.loads(match.to_json())
    assert facts["standings"][0]["score"] == match.score
    assert [tuple(game["returns"]) for game in facts["records"]] == [record.returns for record in match.records]


def test_progress_is_told():
    told: list[Progress] = []
    ab.match(GAMES["tic_tac_toe"], "random", "random", games=10, abreast=4, progress=told.append)
    assert [step.done for step in told] == sorted(step.done for step in told)
    assert told[-1].done == told[-1].games == 10
    assert told[-1].left == 0.0
    assert told[-1].score == 0.5


# Files

ARGUMENTS = {"games": 20, "seed": 5, "openings": 1, "abreast": 6}


def whole_match(file=None):
    return ab.match(GAMES["goofspiel"], "search:simulations=10", "random", file=file, **ARGUMENTS)  # type: ignore[arg-type]


class Counting:
    """Plays at random, counts its choices, and is interrupted when it is asked for the k-th time."""

    name = "random"

    def __init__(self, after=10**9):
        self.left, self.choices = after, 0

    def choose(self, turns):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        self.choices += len(turns)
        return ab.RandomAgent().choose(turns)


def counted_match(agent, file=None):
    return ab.match(GAMES["goofspiel"], "search:simulations=10", agent, file=file, **ARGUMENTS)  # type: ignore[arg-type]


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 7])
def test_interrupted_and_resumed_is_uninterrupted(tmp_path, after):
    """The games are the same, and none of their moves is chosen twice."""
    path = tmp_path / "match.jsonl"
    whole, before, after_it = Counting(), Counting(after), Counting()
    expected = counted_match(whole)
    with pytest.raises(KeyboardInterrupt):
        counted_match(before, path)
    resumed = counted_match(after_it, path)
    assert resumed == expected
    assert str(resumed) == str(expected)
    assert before.choices + after_it.choices == whole.choices
    assert counted_match(Counting(0), path) == expected  # nothing is left to choose


def test_interrupted_again_and_again_is_uninterrupted(tmp_path):
    """Asked once a run: every run goes on where the one before it was stopped."""
    path, expected = tmp_path / "match.jsonl", whole_match()
    for _ in range(100):
        try:
            assert counted_match(Counting(1), path) == expected
            break
        except KeyboardInterrupt:
            continue
    else:
        pytest.fail("the match never ended")


@pytest.mark.hard
def test_a_thousand_games_with_a_network_interrupted_and_resumed_are_those_of_one_run(tmp_path, monkeypatch):
    """Interrupted before the first move, between moves, and inside the network: the same games in the same file."""
    monkeypatch.chdir(tmp_path)
    game = GAMES["tic_tac_toe"]
    ab.nets.save("net.safetensors", ab.nets.make("mlp", game, width=8, layers=1))
    agents = (
        "search:simulations=12,width=4,evaluator=net.safetensors,keep=graph,noise.weight=0.5",
        "search:simulations=4",
    )
    whole = ab.match(game, *agents, games=1000, abreast=250, file="whole.jsonl")
    run, calls = ab.Torch.run, [0]

    def counting(self, observations):
        calls[0] -= 1
        if calls[0] == 0:
            raise KeyboardInterrupt
        return run(self, observations)

    monkeypatch.setattr(ab.Torch, "run", counting)
    points = [("call", 1), ("call", 6), ("moves", 300), ("call", 31), ("moves", 1), ("moves", 1500), ("call", 9)]
    for kind, count in points:
        calls[0] = count if kind == "call" else 10**9

        def stop(so_far, kind=kind, count=count):
            if kind == "moves" and so_far.moves >= count:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ab.match(game, *agents, games=1000, abreast=250, file="resumed.jsonl", progress=stop)
    calls[0] = 10**9
    resumed = ab.match(game, *agents, games=1000, abreast=250, file="resumed.jsonl")
    assert resumed == whole
    assert 0 < resumed.played < 1000

    def pairs(name):
        lines = [line for line in (tmp_path / name).read_bytes().splitlines() if b'"begun"' not in line]
        return lines[0], sorted(lines[1:])

    assert pairs("resumed.jsonl") == pairs("whole.jsonl")
    assert len(pairs("whole.jsonl")[1]) == 500


def test_a_network_for_another_game_is_refused_before_anything_is_played(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ab.nets.save("net.safetensors", ab.nets.make("mlp", GAMES["tic_tac_toe"], width=8, layers=1))
    wrapped = ab.SearchAgent(evaluator=ab.Cached(ab.Symmetric(ab.Torch(ab.nets.load("net.safetensors")))))
    for agent in ("search:evaluator=net.safetensors", wrapped):
        with pytest.raises(DataError, match="was made for tic_tac_toe"):
            ab.match(ab.games.load("connect_four"), agent, "random", file="match.jsonl")
    assert not (tmp_path / "match.jsonl").exists()


def test_a_file_torn_anywhere_resumes(tmp_path):
    path, expected = tmp_path / "match.jsonl", whole_match()
    whole_match(path)
    data = path.read_bytes()
    for keep in random.Random(0).sample(range(len(data)), 25):
        path.write_bytes(data[:keep])
        assert whole_match(path) == expected
        assert sorted(path.read_bytes().splitlines()) == sorted(data.splitlines())


def test_one_flipped_bit_is_seen_or_played_over(tmp_path):
    """In the last line it looks like a torn one, whose games are played again; elsewhere it is an error."""
    path, expected = tmp_path / "match.jsonl", whole_match()
    whole_match(path)
    data = path.read_bytes()
    last_line = data[:-1].rindex(b"\n") + 1
    dice, seen = random.Random(1), 0
    for _ in range(60):
        place, bit = dice.randrange(len(data)), dice.randrange(8)
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
        try:
            assert whole_match(path) == expected
            assert place >= last_line - 1
        except DataError:
            seen += 1
            assert place < last_line or data[place] == ord("\n")
    assert seen > 40


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 6}, "its seed is 5, this one's 6"),
        ({"openings": 0}, "its openings is 1, this one's 0"),
        ({"agents": ("search:simulations=11", "random")}, "agent 1 is search:simulations=10, this one is"),
        ({"game": ab.games.load("goofspiel", cards=5)}, "its game is 'goofspiel"),
    ],
)
def test_a_file_of_another_match_is_refused_and_left_alone(tmp_path, change, named):
    path = tmp_path / "match.jsonl"
    whole_match(path)
    data = path.read_bytes()
    arguments = {"game": GAMES["goofspiel"], "agents": ("search:simulations=10", "random"), **ARGUMENTS, **change}
    game, agents = arguments.pop("game"), arguments.pop("agents")
    with pytest.raises(DataError, match=named):
        ab.match(game, *agents, file=path, **arguments)
    assert path.read_bytes() == data


@pytest.mark.parametrize("text", ["notes on a match", "notes\n", '{"kind": "other"}\n', "{}"])
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=r"notes\.txt"):
        whole_match(path)
    assert path.read_text() == text


def sealed(body: bytes) -> bytes:
    return b'{"crc32":"%08x","line":%b}\n' % (zlib.crc32(body), body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"pair": 9, "games": "\xff\xfe"}',
        b"1" * 5000,
        b'{"pair":0,"games":[],"x":' + b"7" * 5000 + b"}",
        b"null",
        b'"begun"',
        b'{"begun": 3}',
        b'{"begun": [[-1, 0, []]]}',
        b'{"begun": [[0, -1, []]]}',
        b'{"begun": [[4, 0, [99]]]}',
        b'{"begun": [[4, 0, [[0, 0, 0]]]]}',
        b'{"begun": [[4, 0, [[0, 99]]]]}',
        b'{"begun": [[4, 0, [[0, 0], [0, 0], [0, 0]]]]}',
        b'{"pair": 0, "games": []}',
    ],
)
def test_a_line_with_a_right_checksum_and_nonsense_inside_is_an_error_of_the_file(tmp_path, body):
    path = tmp_path / "match.jsonl"
    whole_match(path)
    kept = b"".join(path.read_bytes().splitlines(keepends=True)[:3])
    path.write_bytes(kept + sealed(body))
    with pytest.raises(DataError, match=r"match\.jsonl"):
        whole_match(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r'"pair":\d+', b'"pair":-7'),
        (r'^\{"pair":\d+', b'{"pair":8'),
        (r'"returns":\[[^,]*', b'"returns":[NaN'),
        (r'"returns":\[[^,]*', b'"returns":[1e999'),
        (r'"returns":\[[^,]*,', b'"returns":['),
        (r'"seats":\[0,1\]', b'"seats":[0,0]'),
    ],
)
def test_a_pair_that_cannot_be_one_is_refused(tmp_path, old, new):
    path = tmp_path / "match.jsonl"
    whole_match(path)
    head, line, *_ = path.read_bytes().splitlines(keepends=True)
    body = line[len(b'{"crc32":"12345678","line":') : -2]
    assert sealed(body) == line
    changed = re.sub(old.encode(), new, body)
    assert changed != body
    path.write_bytes(head + sealed(changed))
    with pytest.raises(DataError, match=r"match\.jsonl"):
        whole_match(path)


def test_a_longer_match_goes_on_from_a_shorter_one(tmp_path):
    path = tmp_path / "match.jsonl"
    short = ab.match(GAMES["goofspiel"], first, "random", games=6, file=path)
    longer = ab.match(GAMES["goofspiel"], first, "random", games=10, file=path)
    assert longer.records[:6] == short.records
    assert longer.played == 4
    assert longer == ab.match(GAMES["goofspiel"], first, "random", games=10)
    assert ab.match(GAMES["goofspiel"], first, "random", games=6, file=path) == short


def test_two_processes_cannot_write_one_file(tmp_path):
    path = tmp_path / "match.jsonl"
    series = Series(GAMES["goofspiel"], (first, last), games=2)
    with series.open(path), pytest.raises(DataError, match="another process is writing"):
        Series(GAMES["goofspiel"], (first, last), games=2).open(path)


def test_a_killed_match_resumes(tmp_path):
    """By kill -9 in the middle: no finished pair is lost, and the rest comes out as it would have."""
    path = tmp_path / "match.jsonl"
    program = (
        "import sys, os, anabranch as ab\n"
        "def dies(progress):\n"
        "    if progress.done >= 8: os.kill(os.getpid(), 9)\n"
        "ab.match(ab.games.load('goofspiel'), 'search:simulations=10', 'random', file=sys.argv[1], progress=dies,"
        " games=20, seed=5, openings=1, abreast=6)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False, env=os.environ)
    assert done.returncode == -9
    assert len(path.read_bytes().splitlines()) > 2
    assert whole_match(path) == whole_match()


# Intervals


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 10, 30, 1000])
def test_students_quantile_is_scipys(freedom):
    assert student_quantile(0.975, freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=2e-3)


def test_wilsons_interval_is_the_limit():
    """Where pairs are won or lost whole, the variance seen is the largest: Wilson's interval, as SciPy has it."""
    low, high = interval([1.0] * 700 + [0.0] * 300)
    expected = stats.binomtest(700, 1000).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-4)


PAIRS = {  # chances of the pair scores 0, ¼, ½, ¾, 1
    "equal, no draws": (0.25, 0.0, 0.5, 0.0, 0.25),
    "equal, many draws": (0.1, 0.2, 0.4, 0.2, 0.1),
    "who starts wins": (0.05, 0.0, 0.9, 0.0, 0.05),
    "mostly draws": (0.0, 0.05, 0.9, 0.05, 0.0),
    "stronger": (0.09, 0.0, 0.42, 0.0, 0.49),
    "much stronger": (0.01, 0.0, 0.18, 0.0, 0.81),
    "nearly always": (0.0025, 0.0, 0.095, 0.0, 0.9025),
    "the opening decides": (0.5, 0.0, 0.0, 0.0, 0.5),
}


@pytest.mark.parametrize("chances", PAIRS.values(), ids=PAIRS)
def test_intervals_cover_the_truth_95_times_in_100(chances):
    """2,000 simulated matches of 200 games each: the true score is inside in 93 to 97 % of them (R12)."""
    scores = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    truth = float(scores @ chances)
    draws = np.random.default_rng(7).choice(scores, p=chances, size=(2000, 100))
    ends = [interval(row) for row in draws.tolist()]
    covered = np.mean([low <= truth <= high for low, high in ends])
    assert 0.93 <= covered <= 0.97


def test_an_interval_always_has_room():
    """A side that won every game so far may still lose one; one pair says nothing."""
    assert interval([1.0]) == (0.0, 1.0)
    low, high = interval([1.0] * 10)
    assert 0.6 < low < 0.8
    assert high == 1.0
    low, high = interval([0.5] * 10)
    assert low < 0.5 < high
    widths = [high - low for low, high in (interval([0.0, 1.0] * n) for n in (2, 8, 32, 128))]
    assert widths == sorted(widths, reverse=True)


# Given positions


def test_every_given_position_is_played_from_both_seats():
    """Pairs begin with the positions in turn, and records play again from there."""
    game = GAMES["tic_tac_toe"]
    texts = ["xo./.../...", "x../.o./..."]
    match = ab.match(game, first, last, games=8, openings=texts)
    assert [record.position for record in match.records] == [
        str(game.position(texts[pair % 2])) for pair in (0, 0, 1, 1) * 2
    ]
    assert "8 games in 4 pairs, from 2 given positions" in match.summary()
    assert "2 games in 1 pair, from 1 given position" in dataclasses.replace(match, records=match.records[:2]).summary()
    for record in match.records:
        states = record.states(game)
        assert states[0] == game.position(texts[record.pair % 2])
        assert states[-1].over
        assert record.text(game)
    assert match.openings == tuple(str(game.position(text)) for text in texts)
    assert json.loads(match.to_json())["openings"] == [*match.openings]
    assert ab.match(game, first, last, games=8, openings=[game.position(text) for text in texts]) == match


def test_a_match_from_given_positions_goes_on_in_its_file(tmp_path):
    game, path = GAMES["tic_tac_toe"], tmp_path / "match.jsonl"
    texts = ["xo./.../...", "x../.o./..."]
    half = ab.match(game, "random", "random", games=4, openings=texts, file=path)
    whole = ab.match(game, "random", "random", games=8, openings=texts, file=path)
    assert whole.played == 4
    assert whole.records[:4] == half.records
    with pytest.raises(DataError, match="its openings is"):
        ab.match(game, "random", "random", games=8, openings=texts[:1], file=path)


@pytest.mark.parametrize(
    ("openings", "named"),
    [
        ([], "openings is empty"),
        (["xxx/oo./..."], "opening 1 is a game that is over"),
        (["xx./.../..."], "there are 2 of x and 0 of o"),
        ([3], "opening 1 must be a text or a state, found 3"),
        ("xo./.../...", "openings must be a whole number"),
    ],
)
def test_openings_that_are_no_positions_are_refused(openings, named):
    with pytest.raises(UsageError, match=named):
        ab.match(GAMES["tic_tac_toe"], first, last, openings=openings)


def test_a_position_that_its_text_does_not_tell_is_refused():
    game = ab.games.load("go", size=3, compiled=False)
    state = game.start()
    for move in ("b2", "a1", "c3"):
        state, _ = state.step(game.parse_action(move))
    with pytest.raises(UsageError, match="more to it than its text tells"):
        ab.match(game, first, last, openings=[state])
    assert ab.match(game, first, last, games=2, openings=[str(state)]).records
