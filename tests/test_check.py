"""`check` finds every lie with the law and the shortest line that shows it, and believes honest games."""

from __future__ import annotations

import json
import re
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.lies import LIES, Duel, Pile, Stones, interpreted

import anabranch as ab
from anabranch.errors import CheckFailedError, UsageError
from anabranch.game.check import run, shrink, subject
from anabranch.game.check.law import LAWS
from anabranch.games import matrix, n_in_a_row, pyrat


@pytest.fixture(autouse=True)
def own_time(monkeypatch):
    """Let `seconds` be the processor's, so that what is found does not depend on what else runs on the machine."""
    for module in (run, shrink, subject):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=time.thread_time))


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_found_with_its_law_and_shortest_line(name):
    lie = LIES[name]
    begun = time.thread_time()
    report = ab.check(lie.make(), seconds=lie.seconds, games=3)
    assert time.thread_time() - begun < 10.0
    found = {violation.law: violation for violation in report.violations}
    assert lie.law in found, str(report)
    assert set(found) <= {lie.law, *lie.others} or "…" in lie.others, str(report)
    violation = found[lie.law]
    assert len(violation.sequence) == lie.moves, str(report)
    assert lie.seen in violation.seen
    assert violation.sentence == LAWS[lie.law].sentence


@pytest.mark.parametrize("game", [interpreted(Duel), Stones()], ids=repr)
def test_the_honest_versions_are_believed(game):
    report = ab.check(game, seconds=6.0, games=5)
    assert report.ok, str(report)
    report.raise_if_failed()


class DrawnLead(Duel):
    """The start is drawn, so that a symmetry need not map it to itself."""

    def setup(self, state: Any, random: Any) -> None:
        state.lead = ab.below(random, 3) - 1


class DrawnStones(Stones):
    """The number of stones grows by what a chance that cannot be listed gives; later rewards count for less."""

    def __init__(self) -> None:
        super().__init__()
        self.discount, self.rewards_along, self.returns = 0.5, True, (-2.0, 2.0)

    def setup(self, random: Any) -> Any:
        return Pile(0, 2)

    def turn(self, state: Any) -> int:
        return ab.CHANCE if state.mover == 2 else super().turn(state)

    def draw(self, state: Any, random: Any) -> int:
        return 2 + ab.below(random, 3)

    def step(self, state: Any, actions: Any) -> Any:
        if state.mover == 2:
            return Pile(actions[0], 0), [0.0, 0.0]
        after, rewards = super().step(state, actions)
        return after, rewards if after.stones == 0 else [1.0, -1.0]


@pytest.mark.parametrize(("game", "idle"), [(DrawnLead, "symmetry"), (DrawnStones, "draw")])
def test_unusual_honest_games_are_believed(game, idle):
    report = ab.check(interpreted(game), seconds=6.0, games=12)
    assert report.ok, str(report)
    assert report.laws[idle] == 0


SMALL: dict[str, dict[str, Any]] = {"n_in_a_row": {"size": 4, "line": 3}, "othello": {"size": 6}}


@pytest.mark.parametrize("name", ab.games.names())
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("seconds", [0.25, 1.0], ids=["short", "long"])
def test_built_in_games_keep_the_laws(name, compiled, seconds):
    options = {} if compiled else SMALL.get(name, {})  # interpreted rules see more of a small board in the same time
    game = ab.games.load(name, compiled=compiled, **options)
    report = ab.check(game, seconds=seconds)
    assert report.ok, str(report)
    assert report.laws["step"] > 0
    assert bool(report.laws["compiled"]) == (compiled and isinstance(game, ab.CompiledGame))


SIZES: list[tuple[str, dict[str, Any]]] = [
    *(("n_in_a_row", {"preset": preset}) for preset in n_in_a_row.PRESETS),
    ("n_in_a_row", {"players": 2}),
    *(("pyrat", {"preset": preset}) for preset in pyrat.PRESETS),
    *(("matrix", {"payoffs": payoffs, "rounds": 3}) for payoffs in matrix.PRESETS),
]


@pytest.mark.hard
@pytest.mark.parametrize(("name", "options"), SIZES, ids=str)
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
def test_presets_keep_the_laws(name, options, compiled):
    report = ab.check(ab.games.load(name, compiled=compiled, **options), seconds=0.3)
    assert report.ok, str(report)


class Wraps(Duel):
    """Counts past 64 bits, where Python goes on and compiled code starts again."""

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        if state.prize == 2:
            state.last = (actions[0] + 1 << 62) * 4 >> 64
            state.round += 1
            state.prize = 0
        elif state.prize == 1:
            state.round += 1
            state.prize = 0
        else:
            state.prize = actions[0]


def test_compiled_play_that_differs_is_found():
    """2^62 · 4 is 2^64: one more than a machine word holds, so that compiled code goes on with 0."""
    report = ab.check(Wraps(), seconds=4.0, games=5)
    assert [violation.law for violation in report.violations] == ["compiled"], str(report)
    assert len(report.violations[0].sequence) == 2
    assert report.violations[0].sequence[0] == 2


class CannotBeCompiled(Duel):
    def legal(self, state: Any, player: int, actions: Any) -> int:
        for bid in range(3):
            actions[bid] = json.loads(str(bid))
        return 3


def test_a_game_that_cannot_be_compiled_is_named_so_and_the_rest_is_checked():
    report = ab.check(CannotBeCompiled(), seconds=4.0, games=5)
    assert [violation.law for violation in report.violations] == ["compiled"], str(report)
    assert "legal" in report.violations[0].seen
    assert report.laws["legal"] > 10


def test_a_sequence_leads_back_to_what_was_seen():
    """The line of a violation can be played on states, and what was seen is there."""
    lie = LIES["ObservationIsInfinite"]
    violation = ab.check(lie.make(), seconds=4.0, games=3).violations[0]
    state = lie.make().start(violation.seed)
    for move in violation.sequence:
        assert np.isfinite(state.observe(0)).all()
        state, _ = state.step(move)
    assert not np.isfinite(state.observe(0)).all()
    assert violation.names[1] == "bid 0 + bid 1"


def test_a_verb_that_raises_is_shown_with_its_own_line():
    report = ab.check(LIES["ObserveRaises"].make(), seconds=4.0, games=3)
    with pytest.raises(CheckFailedError, match=r"observe raised KeyError: 2 \(.*lies\.py:\d+, in observe\)"):
        report.raise_if_failed()


def test_deep_lies_are_shortened():
    """Thirty moves of luck are not needed where one kind of move, five times, shows it."""

    class Clicks(ab.ObjectGame):
        def __init__(self) -> None:
            self.players, self.actions = 1, 30

        def setup(self, random: Any) -> Any:
            return (0, 0)

        def turn(self, state: Any) -> int:
            return ab.OVER if state[0] == 60 else ab.player(0)

        def legal(self, state: Any, player: int) -> Any:
            return range(30)

        def step(self, state: Any, actions: Any) -> Any:
            return (state[0] + 1, state[1] + (actions[0] == 7)), [0.0]

        def text(self, state: Any) -> str:
            return "" if state.data[1] == 3 else "…"

    (violation,) = ab.check(Clicks(), seconds=3.0).violations
    assert violation.law == "text"
    assert violation.sequence == (7, 7, 7)


def test_equal_seeds_give_equal_reports():
    reports = [ab.check(interpreted(Duel), seconds=20.0, seed=3, games=3) for _ in range(2)]
    assert reports[0].laws == reports[1].laws
    assert (reports[0].plies, reports[0].states) == (reports[1].plies, reports[1].states)


def test_time_is_kept():
    begun = time.thread_time()
    ab.check(ab.games.load("othello", compiled=False), seconds=1.0)
    assert time.thread_time() - begun < 2.5


def test_check_wants_a_game_and_some_time():
    with pytest.raises(UsageError, match="takes a game"):
        ab.check("tic_tac_toe")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"found the class Stones; make one: Stones\(…\)"):
        ab.check(Stones)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="seconds"):
        ab.check(Stones(), seconds=0.0)


class BeginsOver(Stones):
    def turn(self, state: Any) -> int:
        return 0


class MayBeginOver(Stones):
    """Some draws of the start leave nothing to take."""

    def setup(self, random: Any) -> Any:
        return Pile(ab.below(random, 3), 0)


def test_a_game_that_begins_over_is_found_and_says_what_it_could_not_test():
    report = ab.check(BeginsOver(), seconds=1.0)
    assert [violation.law for violation in report.violations] == ["start"], str(report)
    assert "turn returned 0 = ab.OVER; a mover is ab.player(i)" in report.violations[0].seen
    assert {"legal", "step"} <= set(report.unmet)
    assert "could not be tested  legal, step" in str(report)


class TurnIsNonsense(Stones):
    def turn(self, state: Any) -> int:
        return 77


def test_a_report_says_what_was_really_played_and_is_no_wider_than_the_terminal(monkeypatch):
    """Games that broke at once were begun, not played; and a law that failed had something to test."""
    monkeypatch.setenv("COLUMNS", "60")
    report = ab.check(TurnIsNonsense(), seconds=1.0)
    head, *lines = str(report).splitlines()
    assert "1 law broken (200 random games begun, all broken off, 1 state, 0 moves" in head
    assert report.broken_off == report.games == 200
    first = next(at for at, line in enumerate(lines) if line.startswith("  nothing to test for"))
    assert not re.search(r"\bturn\b", "".join(lines[first:]))
    assert all(len(line) <= 60 for line in lines[first:])
    assert "broken off" not in str(ab.check(Stones(), seconds=3.0, games=3))


@pytest.mark.parametrize("seed", range(6))
def test_a_start_that_is_drawn_may_be_an_end(seed):
    assert ab.check(MayBeginOver(), seconds=3.0, seed=seed, games=5).ok


@pytest.mark.parametrize("verb", ["turn", "legal", "step", "observe", "setup"])
@pytest.mark.parametrize("answer", [None, "nonsense", (1, 2, 3), -7, float("nan"), [[]]], ids=repr)
def test_nonsense_never_stops_the_check(verb, answer):
    """Whatever one verb of an object game answers, there is a report, and it has something to report."""
    lying = type("Lying", (Stones,), {verb: lambda self, *arguments: answer})
    report = ab.check(lying(), seconds=0.5, games=2)
    assert not report.ok
