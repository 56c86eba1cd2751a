"""`anabranch bench`, and the arithmetic of the benchmarks' tables."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from anabranch.cli import GOOD, USAGE, bench, main
from anabranch.search.diagnosis.signature import Signature
from anabranch.search.diagnosis.speed import GAMES, speeds

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def measure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_measure", FOLDER / "measure.py")
    assert spec
    assert spec.loader
    sys.modules["benchmark_measure"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_bench_prints_a_rate_for_every_game_and_evaluator(capsys):
    assert main(["bench", "--json", "--seconds", "0", "--simulations", "50"]) == GOOD
    rows = json.loads(capsys.readouterr().out)
    assert [(row["game"], row["evaluator"]) for row in rows] == [
        (game, evaluator) for game, _ in GAMES for evaluator in ("uniform", "rollout")
    ]
    assert all(row["per_second"] > 0 for row in rows)


def test_bench_prints_the_signature(capsys, monkeypatch):
    asked = []

    def quick(threads):
        asked.append(threads)
        return Signature(123, 45, (("take_away", 6),))

    monkeypatch.setattr(bench, "signature", quick)  # the real one is compared in golden/test_signature.py
    assert main(["bench", "--signature", "--threads", "4"]) == GOOD
    assert capsys.readouterr().out == "Signature: 123\n"
    assert main(["bench", "--signature", "--json"]) == GOOD
    assert json.loads(capsys.readouterr().out) == {"number": 123, "nodes": 45, "cases": [["take_away", 6]]}
    assert asked == [4, 1]


@pytest.mark.parametrize("flag", ["--threads=0", "--simulations=0", "--seconds=-1", "--seconds=nan", "--simulation=3x"])
def test_bench_refuses_nonsense(flag, capsys):
    assert main(["bench", flag]) == USAGE
    assert "error" in capsys.readouterr().err


def test_threads_search_as_many_roots():
    (uniform, rollout) = speeds(simulations=20, seconds=0.0, threads=2, chosen=[("tic_tac_toe", {})])
    assert (uniform.evaluator, rollout.evaluator) == ("uniform", "rollout")


def test_a_ratio_is_the_median_of_ratios_within_rounds(measure):
    """A machine that slows down for some rounds changes rates, not ratios."""
    rates = measure.Rates(["a", "b"], [[10.0, 5.0], [2.0, 1.0], [30.0, 10.0]], [[1.0, 1.0], [0.5, 0.6], [1.0, 0.9]])
    assert rates.ratio("a", "b") == 2.0
    assert rates.rate("a") == 10.0
    assert rates.fastest(["a", "b"]) == "a"
    assert rates.undisturbed((0.9, 0.9)).rounds == [[10.0, 5.0], [30.0, 10.0]]


def test_every_contender_is_called_in_every_round_and_preparing_is_not_timed(measure):
    calls = {"a": 0, "b": 0, "ready": 0}

    def call(name):
        calls[name] += 1

    contenders = [
        measure.Contender("a", lambda: call("a"), 1.0, prepare=lambda: call("ready")),
        measure.Contender("b", lambda: call("b"), 1.0),
    ]
    rates = measure.compare(contenders, rounds=4, slice_seconds=0.0)
    assert calls == {"a": 6, "b": 6, "ready": 6}  # two to warm up
    assert len(rates.rounds) == 4


def test_bars_are_lower_or_upper_limits(measure):
    row = measure.Row
    assert row("rate", 8.0, 2.0, 4.0, bar=4.0).ok is True
    assert row("rate", 7.0, 2.0, 3.5, bar=4.0).ok is False
    assert row("bytes", 180.0, bar=200.0, at_most=True).ok is True
    assert row("bytes", 201.0, bar=200.0, at_most=True).ok is False
    assert row("plain", 1.0).ok is None
    table = measure.table([row("rate", 1_234_567.0, 9_990.0, 123.6, 40.0)]).splitlines()
    assert table[1].split() == ["rate", "1.23", "M", "9.99", "k", "124", "≥", "40", "yes"]


def test_the_committed_table_is_of_all_benchmarks():
    latest = json.loads((FOLDER / "latest.json").read_text())
    assert len(latest["rows"]) >= 15
    assert {"processor", "python", "commit"} <= latest["machine"].keys()
