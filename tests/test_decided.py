"""Games that are decided: played to their ends with fewer visits, and only while their searches say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.laws.test_planned_self_play import Opinions, SeenRules
from tests.test_training import SAID, tiny

import anabranch as ab
from anabranch.cli import GOOD, main
from anabranch.learn.decided import cap_after, certainty, decided_before
from anabranch.learn.presets import preset
from anabranch.learn.records import Decision, GameRecord
from anabranch.learn.selfplay import Worker
from anabranch.learn.settings import SelfPlay, TrainConfig
from anabranch.learn.statistics import spared
from anabranch.learn.train import train

GAME = ab.games.load("tic_tac_toe")
CAP = ab.PlayoutCap(full=16, fast=8, chance=0.5)
LESS = {16: 4, 8: 2}


class Sure(Opinions):
    """Opinions that player 0 wins, from the third move on."""

    def evaluate(self, batch: ab.Batch) -> tuple[Any, Any]:
        logits, values = super().evaluate(batch)
        late = np.array([state.observe(0).sum() >= 2 for state in batch.states])[:, None]
        return logits, np.where(late, [[0.99, -0.99]], values / 2)


def config(method: Any = "alphazero", **changes: Any) -> TrainConfig:
    made = preset(GAME, "muzero")
    return replace(
        made,
        method=method,
        net=made.net if method == "muzero" else replace(made.net, architecture="mlp"),
        search=ab.SearchConfig(selector=ab.Gumbel(scale="range"), cap=CAP, proofs="off"),
        self_play=replace(made.self_play, abreast=5, random_games=1, keep="nothing", **changes),
    )


def played(settings: TrainConfig, evaluator: Any, games: int = 12) -> list[GameRecord]:
    with Worker(GAME, settings, evaluator) as worker:
        found = [record for ended in worker.play(iter(range(games))) for record in ended]
    return sorted(found, key=lambda record: record.id)


# By hand


@pytest.mark.parametrize(
    ("totals", "low", "high", "expected"),
    [
        ((1.0, -1.0), -1.0, 1.0, 1.0),
        ((0.9, -0.9), -1.0, 1.0, 0.9),
        ((0.0, 0.0), -1.0, 1.0, 0.0),
        ((1.0, -0.2, -1.0), -1.0, 1.0, 0.2),  # who is second is still open
        ((475.0,), 0.0, 500.0, 0.9),
        ((3.0,), 3.0, 3.0, 0.0),
    ],
)
def test_certainty_by_hand(totals, low, high, expected):
    assert certainty(totals, low, high) == pytest.approx(expected)


def test_so_many_searches_in_a_row_decide_and_one_that_differs_ends_it():
    values = [0.95, 0.95, 0.2, -0.95, 0.95, -0.95, 0.95, 0.5, 0.95]
    visits = [8, 8, 8, 8, 8, 8, 0, 8, 8]  # a move that was not searched says nothing
    decisions = [Decision((0,), (), (0.0, 0.0), (v, -v), visits=n) for v, n in zip(values, visits, strict=True)]
    found = [list(decided_before(decisions, SelfPlay(decided=0.9, decided_searches=n), GAME)) for n in (1, 2, 3)]
    assert np.flatnonzero(found[0]).tolist() == [1, 2, 4, 5, 6, 9]
    assert np.flatnonzero(found[1]).tolist() == [2, 5, 6]
    assert np.flatnonzero(found[2]).tolist() == [6]
    assert not any(decided_before(decisions, SelfPlay(), GAME))


def test_what_was_paid_counts():
    """A root is worth what is left: +.5 and nothing left to win is not decided, +1 and nothing left is."""
    for paid, expected in ((0.5, False), (1.0, True)):
        first = Decision((0,), (), (paid, -paid), (0.0, 0.0), visits=8)
        rest = Decision((0,), (), (0.0, 0.0), (0.0, 0.0), visits=8)
        found = list(decided_before([first, rest, rest], SelfPlay(decided=0.9, decided_searches=2), GAME))
        assert found == [False, False, False, expected]


def test_a_decided_game_has_a_share_of_the_visits_and_of_the_chance():
    sure = [Decision((0,), (), (0.0, 0.0), (1.0, -1.0), visits=8)] * 3
    settings = SelfPlay(decided=0.9)
    assert cap_after(sure, CAP, settings, GAME) == ab.PlayoutCap(full=4, fast=2, chance=0.05)
    assert cap_after(sure[:2], CAP, settings, GAME) == CAP
    assert cap_after(sure, CAP, SelfPlay(), GAME) == CAP
    assert cap_after(sure, CAP, replace(settings, decided_visits=0.0), GAME).fast == 1


# Games


@pytest.mark.parametrize("method", ["alphazero", "muzero"])
def test_games_are_played_to_their_ends_with_fewer_visits_where_they_are_decided(method):
    settings = config(method, decided=0.6, decided_searches=2, decided_chance=0.0)
    records = played(settings, SeenRules(GAME, Sure()) if method == "muzero" else Sure())
    seen = {True: 0, False: 0}
    for record in records:
        state = GAME.start(record.seed)
        for decision, decided in zip(
            record.decisions, decided_before(record.decisions, settings.self_play, GAME), strict=False
        ):
            state, _ = state.step(list(decision.actions))
            if not decision.visits:
                continue
            seen[decided] += 1
            usual = 16 if decision.full else 8
            assert decision.visits == (LESS[usual] if decided else usual)
            assert not (decided and decision.full)
        assert state.over
        assert record.finished
    assert min(seen.values()) > 10


@pytest.mark.parametrize("method", ["alphazero", "muzero"])
def test_games_that_are_never_decided_are_as_without(method):
    evaluator = SeenRules(GAME, Opinions()) if method == "muzero" else Opinions()
    assert played(config(method, decided=1.0, decided_searches=1), evaluator, 6) == played(config(method), evaluator, 6)


def test_what_was_spared_is_counted():
    """Two searches of 10 visits and two of 4 after the game was decided: 12 of 40 visits were spared."""
    sure = replace(Decision((0,), (), (0.0, 0.0), (1.0, -1.0)), visits=10)
    record = GameRecord(0, 0, (), (sure, sure, replace(sure, visits=4), replace(sure, visits=4)))
    assert spared([record], SelfPlay(decided=0.9, decided_searches=2), GAME) == pytest.approx((0.5, 0.3))
    assert spared([record], SelfPlay(), GAME) == (0.0, 0.0)
    assert spared([], SelfPlay(decided=0.9), GAME) == (0.0, 0.0)


def test_stats_say_what_was_spared(tmp_path, capsys):
    pairs = ("most_steps=6", "rating.models=0", "rating.positions=0", "self_play.decided=0")
    train(tmp_path / "run", SAID, tiny(*pairs))
    assert main(["stats", str(tmp_path / "run")]) == GOOD
    assert "of the searches were of decided games, which spared " in capsys.readouterr().out
