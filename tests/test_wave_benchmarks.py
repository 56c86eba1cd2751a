"""The benchmarks of waves at tiny sizes: that they measure what they say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.networks import Network
from tests.test_benchmarks import load

import anabranch as ab

TOWER = {"channels": 4, "blocks": 1, "head": 2, "hidden": 8}


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(load("measure"), "RESULTS", tmp_path)
    monkeypatch.setattr("gc.collect", lambda: 0)  # before every timed call: half a second, once torch is there


def rows(tmp_path: Any, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((tmp_path / f"{name}.json").read_text())["rows"]
    return found


def test_strength_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys):
    """A cell of three chunks, played in one go and in two, has the same pairs, and no pair twice."""
    strength = load("wave_strength")
    monkeypatch.setattr(strength, "CHUNK", 4)
    terms = strength.Terms(simulations=12)
    whole = strength.Table(tmp_path / "whole.json", terms)
    whole.fill("visits", 4, 12)
    strength.Table(tmp_path / "parts.json", terms).fill("visits", 4, 4)
    parts = strength.Table(tmp_path / "parts.json", terms)
    assert parts.cells["visits", 4].games == 4
    parts.fill("visits", 4, 12)
    assert parts.cells == whole.cells
    assert whole.cells["visits", 4].games == 12
    assert strength.Table(tmp_path / "parts.json", strength.Terms(simulations=13)).cells == {}
    assert "| 4 | – | " in whole.markdown()


def test_strength_has_bars_and_a_table(tmp_path, monkeypatch, capsys):
    strength = load("wave_strength")
    monkeypatch.setattr(strength, "CHUNK", 2)
    asked = ["--games", "2", "--others", "2", "--only", "loss:4,off:2", "--simulations", "8"]
    assert set(strength.main([*asked, "--cells", str(tmp_path / "cells.json")])) == {"loss:4", "off:2"}
    assert [row["bar"] for row in rows(tmp_path, "wave_strength")] == [47.0, None]


def test_reuse_counts_what_an_evaluator_is_asked():
    """The graph's count of positions evaluated is the evaluator's own; a search that keeps asks for less."""
    reuse = load("reuse")
    network = Network(ab.games.load("connect_four"))
    asked = reuse.play(reuse.largest, None, games=2, visits=20, seed=3, evaluator=network)
    assert asked.kept + asked.fresh == sum(network.asked)
    assert 0.0 < asked.saved < 1.0


def test_reuse_judges_both_ways_of_playing(tmp_path, capsys):
    load("reuse").main(["--games", "2", "--visits", "16"])
    assert [row["bar"] for row in rows(tmp_path, "reuse")] == [25.0, 40.0]


def test_overhead_gives_the_session_the_sizes_that_occurred(tmp_path, monkeypatch, capsys):
    overhead = load("network_overhead")
    monkeypatch.setattr(overhead, "SETTINGS", ((1, 1), (4, 2)))
    given: list[list[int]] = []
    infer = overhead.Search.infer

    def noted(search: Any, sizes: Any) -> None:
        given.append(list(sizes))
        infer(search, sizes)

    monkeypatch.setattr(overhead.Search, "infer", noted)
    lines = overhead.rows(roots=3, simulations=4, rounds=1, seconds=0.0, threads=1, **TOWER)
    assert [line.name for line in lines] == [f"3 roots, width {w}, depth {d}" for w, d in overhead.SETTINGS]
    for line in lines:
        sizes = line.details["sizes"]
        assert sum(sizes) == 15  # three roots, and four more positions below each: nothing is over so early
        assert max(sizes) <= 3 * (4 if "width 4" in line.name else 1)
        assert sizes in given
    assert overhead.markdown(lines).count("\n") == 1 + len(lines)


def test_speed_has_a_line_for_every_width_and_depth(monkeypatch):
    speed = load("wave_speed")
    monkeypatch.setattr(speed, "WIDTHS", (1, 16))
    lines = speed.rows(playouts=4, rounds=1, seconds=0.0, **TOWER)
    assert [line.bar for line in lines].count(3.0) == 1
    assert len(speed.markdown(lines).splitlines()) == 2 + len(speed.WIDTHS)


SAMPLE = 60  # nodes that are looked at


@pytest.mark.parametrize("name", ["pyrat", "random_game"])
def test_staleness_finds_nodes_that_a_refresh_would_change(name):
    """Some where only the path is refreshed; none, where all ancestors are; the sample is of the size asked for."""
    staleness = load("staleness")
    [subject] = [each for each in staleness.SUBJECTS if each.name == name]
    state = staleness.walked(subject.game(3, **subject.late), 1, np.random.default_rng(3))
    found = {}
    for refresh in staleness.REFRESH:
        found[refresh] = 0
        for seed in range(8):  # one search more or less lucky says little
            result = staleness.searched(state, refresh, 450, seed=seed, evaluator="rollout")
            changes = staleness.changes(result.graph, SAMPLE, np.random.default_rng(1))
            assert len(changes) == SAMPLE
            found[refresh] += sum(change > staleness.STALE for change in changes)
    assert found["path"] > found["ancestors"] == 0
    assert found["path"] > found["sweep"] > 0  # the last sweep is fifty playouts ago


def test_staleness_asks_all_questions_of_every_setting(tmp_path, monkeypatch, capsys):
    staleness = load("staleness")
    page = tmp_path / "page.md"
    page.write_text("<!-- staleness:begin -->\n<!-- staleness:end -->\n")
    monkeypatch.setattr(staleness, "OPTIONS", page)
    monkeypatch.setattr(staleness, "SUBJECTS", (staleness.Subject("small", "tic_tac_toe", plies=1, opening=2),))
    tiny = {"playouts": 60, "long": 120, "late-playouts": 30, "positions": 2, "seeds": 1, "searches": 1, "sample": 9}
    asked = [word for name, number in tiny.items() for word in (f"--{name}", str(number))]
    table = staleness.main([*asked, "--rounds", "1", "--games", "2", "--seconds", "0.001", "--write"])
    assert [cell.refresh for cell in table["small"]] == list(staleness.REFRESH)
    assert [len(cell.pairs) for cell in table["small"]] == [0, 1, 1, 1]
    assert all(0.0 < cell.error < 2.0 and cell.ratio > 0.0 for cell in table["small"])
    assert page.read_text().count("| small |") == len(rows(tmp_path, "staleness")) == 4
    staleness.main([*asked, "--rounds", "1", "--games", "0", "--evaluator", "uniform", "--only", "tic_tac_toe"])
    assert [row["details"]["pairs"] for row in rows(tmp_path, "staleness")] == [[]] * 4


@pytest.mark.parametrize("logits", ["none", "zeros"])
def test_an_evaluator_that_does_nothing_is_asked_by_every_tree(logits):
    question = load("peers.questions").Question("batch", "connect_four", "uniform", 6, 3)
    contender = load("peers.adapters.asked").make(question, logits)
    contender.call()
    assert contender.counted() == 18.0


def test_tables_go_between_their_marks(tmp_path):
    pages = load("pages")
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n")
    pages.fill("x", "| \\1 |", page)
    assert page.read_text() == "a\n<!-- x:begin -->\n| \\1 |\n<!-- x:end -->\nb\n"
    with pytest.raises(SystemExit, match="'y'"):
        pages.fill("y", "", page)


def test_the_page_has_a_place_for_every_table():
    text = load("pages").PAGE.read_text(encoding="utf-8")
    for name in ("strength", "speed", "overhead", "batched", "reuse"):
        assert text.count(f"<!-- {name}:begin -->") == text.count(f"<!-- {name}:end -->") == 1
    text = load("staleness").OPTIONS.read_text(encoding="utf-8")
    assert text.count("<!-- staleness:begin -->") == text.count("<!-- staleness:end -->") == 1
