"""Training beside others, without the others: processor time by hand, answers over the pipe, the referee, the table."""

from __future__ import annotations

import importlib
import sys
import textwrap
from typing import Any

import pytest
from tests.sources import ROOT

import anabranch as ab
from anabranch.errors import AgentError

FOLDER = ROOT / "benchmarks"


def load(name: str) -> Any:
    """Import a module of benchmarks/, whose scripts find each other beside themselves."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def bench() -> Any:
    return load("learning_peers")


@pytest.fixture(scope="module")
def game() -> ab.Game:
    return ab.games.load("tic_tac_toe")


class Scripted:
    """A process that answers by a function of the moves."""

    def __init__(self, move: Any) -> None:
        self.move = move
        self.asked: list[list[int]] = []

    def ask(self, doing: str, limit: float, *, do: str, games: list[list[int]]) -> Any:
        assert (doing, do) == ("choosing", "choose")
        self.asked += games
        return [self.move(moves) for moves in games]


def stat(name: str, session: int, *times: int) -> str:
    """Return a line of /proc/PID/stat with user, system, children's user and children's system time."""
    return f"7 ({name}) S 1 1 {session} 0 0 0 0 0 0 0 {' '.join(map(str, times))} 0 0"


def test_a_session_costs_what_its_processes_and_their_children_did():
    """By hand, with a name that looks like fields and a process of another session."""
    training = load("peers.training")
    lines = [stat("a b) 5 (c", 5, 1, 20, 300, 4000), stat("d", 5, 50_000, 0, 0, 0), stat("other", 6, 9, 9, 9, 9), ""]
    assert training.session_seconds(lines, 5) * training.TICKS == 54_321


BUSY = """
import signal, sys
going = True
def stop(*_):
    global going
    going = False
if sys.argv[1] == "saves":
    signal.signal(signal.SIGINT, stop)
print("begun", flush=True)
while going:
    sum(range(1000))
open("saved", "w").close()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processor time is read from /proc")
@pytest.mark.parametrize("saves", [True, False])
def test_a_run_ends_when_its_processor_time_is_used_up(saves, tmp_path, monkeypatch):
    """One that can be interrupted saves; the other is ended as it is; both used what they were given."""
    training = load("peers.training")
    monkeypatch.setattr(training, "POLL", 0.02)
    (tmp_path / "busy.py").write_text(textwrap.dedent(BUSY))
    folder = tmp_path / "run"
    command = [sys.executable, tmp_path / "busy.py", "saves" if saves else "dies"]
    took = training.run(command, folder, 0.1, saves=saves)
    assert took.ended == "time"
    assert took.processor >= 0.1
    assert (folder / "output.txt").read_text() == "begun\n"
    assert (folder / "saved").exists() == saves


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processor time is read from /proc")
def test_a_run_that_breaks_says_so(tmp_path):
    work = "sum(range(5_000_000)); raise SystemExit(3)"  # /proc counts in hundredths of a second
    took = load("peers.training").run([sys.executable, "-c", work], tmp_path / "run", 1e6, saves=True)
    assert took.ended == "by itself, with 3"
    assert took.processor > 0  # of a process that was over before it was looked at again


def test_openings_are_all_of_two_plies_and_positions_all_that_are_not_over(bench, game):
    """9·8 openings; 4,520 positions that are not over, as is known of tic-tac-toe; their moves lead to them."""
    openings, every = bench.lines(game, 2), bench.lines(game)
    assert (len(openings), len(every)) == (72, 4_520)
    for text, moves in [*openings.items(), *list(every.items())[::97]]:
        state = game.start()
        for move in moves:
            state = state.step(move)[0]
        assert str(state) == text
        assert every[text] == moves or len(moves) == 2


def test_a_distant_player_is_told_the_whole_game_and_the_referee_refuses_what_is_illegal(bench, game):
    """It is asked after the moves of the opening and of the game; a taken cell is its fault and nobody else's."""
    openings = bench.lines(game, 2)
    first_free = Scripted(lambda moves: next(cell for cell in range(9) if cell not in moves))
    distant = bench.Distant(first_free, "distant", openings)
    found = ab.match(game, distant, "random", games=8, openings=list(openings)[:4])
    assert found.standings[0].games == 8
    assert {tuple(moves[:2]) for moves in first_free.asked} == set(map(tuple, list(openings.values())[:4]))
    assert {len(moves) for moves in first_free.asked} <= set(range(2, 9))
    boards = [(frozenset(moves[::2]), frozenset(moves[1::2])) for moves in first_free.asked]
    assert len(boards) == len(set(boards))  # a position is asked once

    stubborn = bench.Distant(Scripted(lambda moves: moves[0]), "stubborn", openings)
    with pytest.raises(AgentError, match=r"stubborn chose \d, which is not legal"):
        ab.match(game, stubborn, "random", games=2, openings=list(openings)[:1])


@pytest.mark.parametrize("answer", [None, "1, 2", [1], [1, 2, 3], [1, 2.0], [1, True], [1, None]])
def test_an_answer_is_a_whole_number_for_every_game(bench, answer):
    with pytest.raises(load("peers.remote").FailedError, match="was asked for 2 moves and answered"):
        bench.answered(answer, 2)
    assert bench.answered([4, 0], 2) == [4, 0]


def test_how_far_a_run_came_is_read_from_its_checkpoints(bench, tmp_path):
    """One that was still being written does not count; a run without any has failed."""
    spiel, zero = tmp_path / "spiel", tmp_path / "zero"
    for name in ("checkpoint-0", "checkpoint-9", "checkpoint-10", "checkpoint-11.orbax-checkpoint-tmp"):
        (spiel / name).mkdir(parents=True)
    assert bench.made(spiel) == (10, "round")
    (zero / "run" / "ckpt").mkdir(parents=True)
    with pytest.raises(load("peers.remote").FailedError, match="wrote no checkpoint"):
        bench.made(zero)
    for name in ("iteration_0.pth.tar", "iteration_1250.pth.tar", "ckpt_best.pth.tar"):
        (zero / "run" / "ckpt" / name).touch()
    assert bench.made(zero) == (1250, "step")


def test_a_run_is_a_line_once_and_one_that_did_not_play_has_dashes(bench):
    """Ours stands above the first of the others and not again; who did not play has dashes."""
    result = {"games": 4, "wins": 1, "draws": 3, "losses": 0, "score": 0.625, "low": 0.5, "high": 0.75}
    side = {"simulations": 25, "made": "90 steps", "losing": [0, 2], "oracle": result}
    time = {"processor": 120.0, "wall": 600.0, "ended": "time"}
    rows = [
        {
            "peer": peer,
            "minutes": 2.0,
            "seed": 0,
            "took": {"ours_alphazero": time, peer: time},
            "ours": side,
            "theirs": {"simulations": 40, "made": "0 rounds"} if peer == "open_spiel" else side,
            "matches": [] if peer == "open_spiel" else [{"ours": 25, "theirs": 100} | result],
        }
        for peer in ("open_spiel", "lightzero_alphazero")
    ]
    grid = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in bench.table(rows, "alphazero").split("\n")
    ]
    names = [line[0] for line in grid if len(line) == 8]
    assert [name.partition(",")[0] for name in names[2:]] == ["anabranch", "OpenSpiel 2.0.2", "LightZero 0.2.0"]
    by_name = {line[0]: line[1:] for line in grid if len(line) == 8}
    told = "1 / 3 / 0: 0.625 (0.500 to 0.750)"
    assert by_name["anabranch, alphazero"] == ["0", "2.0", "10.0", "90 steps", "25", "0, 2", told]
    assert by_name["OpenSpiel 2.0.2, its example"] == ["0", "2.0", "10.0", "0 rounds", "40", "–", "–"]
    matches = [line for line in grid if len(line) == 7][2:]
    assert matches == [["LightZero 0.2.0, its AlphaZero example", "0", "2", "25", "100", "4", told]]
    assert "LightZero" not in bench.table(rows, "muzero")
