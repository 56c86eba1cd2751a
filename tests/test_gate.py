"""Gates: verdicts that are seldom wrong, however the scores are distributed, and the same again whatever happens."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.play.gate import GateSeries
from anabranch.play.match import Series
from anabranch.play.sequential import Bets, Rates, decide

PIG = ab.games.load("pig")


def pair_scores(mean: float, draws: float, shared: float, dice: np.random.Generator, count: int) -> np.ndarray:
    """Return scores of pairs whose two games come out alike with the given probability, else independently."""
    wins = mean - draws / 2

    def games() -> np.ndarray:
        points = dice.random(count)
        return np.where(points < wins, 1.0, np.where(points < wins + draws, 0.5, 0.0))

    first = games()
    return (first + np.where(dice.random(count) < shared, first, games())) / 2


@pytest.mark.parametrize("draws", [0.0, 0.6])
@pytest.mark.parametrize("shared", [0.0, 0.7])
def test_equal_agents_are_seldom_promoted_and_better_ones_mostly(draws, shared):
    """300 gates each; the bounds are the promised rates plus three standard errors. benchmarks/gate.py has more."""
    dice = np.random.default_rng(int(10 * draws + shared))
    runs = 300

    def promoted(mean: float) -> float:
        gates = (decide(pair_scores(mean, draws, shared, dice, 2000)) for _ in range(runs))
        return sum(bets.verdict == "promoted" for bets in gates) / runs

    assert promoted(0.5) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert promoted(0.55) >= 0.8 - 3 * math.sqrt(0.8 * 0.2 / runs)


@pytest.mark.parametrize("scores", [[0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 1.0], [0.5]])
def test_bets_are_fair_at_the_mean_they_bet_against(scores):
    """Over all futures of four pairs with mean m0 the expected winnings are 1: nothing is won by stopping at will."""
    rates = Rates(equal=0.5, better=0.6)

    even = dict.fromkeys(scores, 1 / len(scores))
    assert expected_after(rates, even, "better") == pytest.approx(1.0, abs=1e-12)
    if scores == [0.0, 1.0]:
        assert expected_after(rates, {0.0: 0.4, 1.0: 0.6}, "worse") == pytest.approx(1.0, abs=1e-12)


def expected_after(rates: Rates, chances: dict[float, float], name: str, length: int = 4) -> float:
    """Return the expected winnings of a bet after so many pairs, by going through all of them."""
    total = 0.0
    for number in range(len(chances) ** length):
        bets, probability = Bets(rates), 1.0
        for place in range(length):
            score = list(chances)[number // len(chances) ** place % len(chances)]
            bets.add(score)
            probability *= chances[score]
        total += probability * math.exp(getattr(bets, name))
    return total


def test_a_verdict_needs_more_pairs_the_nearer_the_agents_are():
    dice = np.random.default_rng(1)

    def pairs(mean: float) -> float:
        return float(np.mean([decide(pair_scores(mean, 0.0, 0.0, dice, 2000)).pairs for _ in range(100)]))

    assert pairs(0.55) > 2 * pairs(0.65) > 4 * pairs(0.9)


def test_a_gate_is_a_match_that_stops():
    """Its games are the first ones of the match of the same agents and seed."""
    found = ab.gate(PIG, "search:simulations=30", "random", seed=4)
    assert found.verdict == "promoted"
    assert found.promoted
    match = ab.match(PIG, "search:simulations=30", "random", games=2 * found.pairs, seed=4)
    assert found.match == match
    assert found.score == match.score


@pytest.mark.parametrize("abreast", [1, 2, 7])
def test_a_gate_is_the_same_however_many_run_abreast(abreast):
    one = ab.gate(PIG, "search:simulations=10", "random", seed=1)
    assert ab.gate(PIG, "search:simulations=10", "random", seed=1, abreast=abreast) == one


def test_a_gate_is_the_same_on_one_thread_and_on_four():
    gates = [ab.gate(PIG, ab.SearchAgent(simulations=20, threads=threads), "random", seed=2) for threads in (1, 4, 4)]
    assert gates[0].facts()["match"]["records"] == gates[1].facts()["match"]["records"]
    assert (gates[0].verdict, gates[0].better, gates[0].worse) == (gates[1].verdict, gates[1].better, gates[1].worse)
    assert gates[1] == gates[2]


def test_a_gate_goes_on_from_its_file_and_from_that_of_a_match(tmp_path):
    whole = ab.gate(PIG, "search:simulations=10", "random", seed=1)
    assert whole.pairs > 6
    begun = GateSeries(PIG, ("search:simulations=10", "random"), seed=1, most=3)
    with begun.open(tmp_path / "gate.jsonl"):
        begun.decide()
    assert begun.gate().verdict == "undecided"
    again = ab.gate(PIG, "search:simulations=10", "random", seed=1, file=tmp_path / "gate.jsonl")
    assert again == whole
    assert again.match.played < 2 * again.pairs + 128
    series = Series(PIG, ("search:simulations=10", "random"), seed=1, games=6)
    with series.open(tmp_path / "match.jsonl"):
        series.play()
    assert ab.gate(PIG, "search:simulations=10", "random", seed=1, file=tmp_path / "match.jsonl") == whole


def test_the_first_agent_must_be_better_not_only_as_good():
    found = ab.gate(PIG, "random", "random")
    assert (found.verdict, found.score) == ("not promoted", 0.5)


def test_pairs_that_are_not_enough_promote_nobody():
    found = ab.gate(PIG, "search:simulations=30", "random", most=2)
    assert (found.verdict, found.pairs, found.promoted) == ("undecided", 2, False)
    assert "so not promoted" in str(found)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"equal": 0.6}, "better must be above equal"),
        ({"wrongly_promoted": 0.0}, "between 0 and 1"),
        ({"better": 1.5}, "between 0 and 1"),
        ({"most": 0}, "most must be a whole number"),
    ],
)
def test_what_cannot_be_tested_is_refused(wrong, words):
    with pytest.raises(UsageError, match=words):
        ab.gate(PIG, "random", "random", **wrong)


def test_the_command_prints_what_the_library_finds(tmp_path):
    words = ["gate", "pig", "search:simulations=10", "random", "--seed", "1", "--json", "--out", str(tmp_path / "f")]
    done = subprocess.run([sys.executable, "-m", "anabranch", *words], capture_output=True, text=True, check=True)
    facts = json.loads(done.stdout)
    found = ab.gate(PIG, "search:simulations=10", "random", seed=1)
    assert facts["verdict"] == found.verdict
    assert facts["match"]["records"] == json.loads(found.to_json())["match"]["records"]
