"""The benchmarks without their hours: ratios to peers, failures and tables; the engine alone; what ablations change."""

from __future__ import annotations

import importlib
import json
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sources import ROOT

import anabranch as ab
from anabranch.learn.fates import auxiliary_shapes
from anabranch.learn.presets import preset

FOLDER = ROOT / "benchmarks"


def load(name: str) -> Any:
    """Import a module of benchmarks/, whose scripts find each other beside themselves."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)


@pytest.fixture
def question() -> Any:
    return load("peers.questions").Question("rollout", "connect_four", "rollout", 10)


class Scripted:
    """A contender whose calls take given times, one a call."""

    version, ready, evaluated = "1.0", 0.5, 7.0

    def __init__(self, name: str, units: float, seconds: list[float]) -> None:
        self.name, self.units = name, units
        self.seconds = iter([seconds[0], seconds[0], *seconds])  # two calls to warm up

    def clocks(self, calls: int) -> list[tuple[float, float]]:
        assert calls == 1
        seconds = next(self.seconds)
        return [(2 * seconds, seconds)]  # others had half of the core


def test_a_ratio_is_the_median_over_rounds_of_calls_side_by_side(question):
    """The machine halves its speed for two rounds: rates change by it, the ratio does not."""
    race, catalogue = load("peers.race"), load("peers.catalogue")
    ours = Scripted("anabranch_uct", 10.0, [1.0, 2.0, 2.0, 1.0, 1.0])
    theirs = Scripted("mctspy", 10.0, [5.0, 10.0, 10.0, 5.0, 10.0])
    theirs.evaluated = 10.0
    peer = next(peer for peer in catalogue.PEERS if peer.name == "mctspy")
    outcome = race.pair(question, peer, ours, theirs, race.Patience(rounds=5))
    assert outcome.ratios == [5.0, 5.0, 5.0, 5.0, 10.0]
    assert outcome.ratio == 5.0
    assert (outcome.ours, outcome.theirs) == (10.0, 1.0)  # whose quotient is 10
    assert outcome.cores == [0.5, 0.5]
    assert outcome.evaluated == 7.0  # by our count, not theirs


ADAPTERS = """
import os, time
import measure

def make(question, variant):
    print("noise on stdout, as libraries make")
    calls = [0]

    def call():
        calls[0] += 1
        if variant == "raises":
            raise ValueError("no such move")
        if variant == "dies":
            os._exit(7)
        if variant == "hangs" and calls[0] > 1:
            time.sleep(60)
        sum(range(2000))

    made = 3.0 if variant == "skips" else question.units
    return measure.Contender(variant, call, question.units, counted=lambda: made)
"""


def test_a_peer_that_fails_is_a_line_with_the_reason_and_the_next_is_asked(question, tmp_path, monkeypatch):
    """Real processes, invented libraries: one cannot be imported, one raises, dies, hangs, does less than asked."""
    race, catalogue, measure = load("peers.race"), load("peers.catalogue"), load("measure")
    (tmp_path / "invented.py").write_text(textwrap.dedent(ADAPTERS))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(measure, "BEAT", 0.1)
    own = catalogue.Peer("anabranch_uct", "anabranch", "pytest", "invented", "ours")
    monkeypatch.setattr(race, "OURS", {"UCT": own})
    kinds = ["missing", "raises", "dies", "hangs", "skips", "works"]
    peers = [
        catalogue.Peer(kind, kind, "pytest", "absent" if kind == "missing" else "invented", kind, tasks=("rollout",))
        for kind in kinds
    ]
    peers.append(
        catalogue.Peer("unfit", "unfit", "x", "x", tasks=("rollout",), cannot={"rollout": "it knows no chance"})
    )
    pythons = race.Pythons(Path(sys.executable), Path(sys.executable))
    found = list(race.races([question], peers, pythons, race.Patience(rounds=3, seconds=0.0, search=2.0)))
    assert [outcome.peer for outcome in found] == [*kinds, "unfit"]
    missing, raises, dies, hangs, skips, works, unfit = found
    assert missing.failure == "ModuleNotFoundError: No module named 'absent'"
    assert raises.failure == "ValueError: no such move"
    assert "ended with 7" in dies.failure
    assert hangs.failure == "searching: stopped after 2 s"
    assert skips.failure == "made 3 simulations where 10 were asked"
    assert unfit.failure == "cannot: it knows no chance"
    assert works.failure is None
    assert works.version == pytest.__version__
    assert len(works.ratios) == 3
    assert all(outcome.ratio is None for outcome in found if outcome is not works)


def line(peer: str, ours: float | None, theirs: float | None, **more: Any) -> dict[str, Any]:
    ratio = None if ours is None or theirs is None else ours / theirs
    told = {"task": "rollout", "game": "connect_four", "evaluator": "rollout", "simulations": 800, "trees": 1}
    told |= {"peer": peer, "like": "UCT", "version": "1.2", "ours": ours, "theirs": theirs, "ratio": ratio}
    return told | {"ratios": [], "ready": [], "cores": [], "failure": None} | more


@pytest.fixture
def figures() -> dict[str, Any]:
    machine = {"processor": "An Abacus", "python": "3.11", "commit": "abc"}
    rows = [
        line("open_spiel_cpp_uct", 900_000.0, 100_000.0),
        line("mcts", 1_000_000.0, 4_000.0, ready=[1.5, 2.25]),
        line("mctspy", 800_000.0, 1_000.0, simulations=10_000, evaluated=8_100.0),
        line("multimcts", None, None, version=None, failure="ImportError: no a|b"),
    ]
    return {"machine": machine, "load": [0.1, 1.9], "rows": rows}


def test_the_markdown_has_a_row_a_peer_and_a_column_a_question(figures):
    told = load("peers.table").markdown(figures)
    assert "An Abacus" in told
    assert "load average 0.1 before and 1.9 after" in told
    grid = [[cell.strip() for cell in row.strip("|").split("|")] for row in told.splitlines() if row.startswith("|")]
    assert grid[0][1:3] == ["connect four 800", "connect four 10,000"]
    assert [row[:3] for row in grid[2:]] == [
        ["**anabranch UCT**", "950 k", "800 k"],  # the median of what was measured beside each peer
        ["OpenSpiel C++ MCTSBot, UCT 1.2", "100 k (9×)", "–"],
        ["mcts 1.2", "4 k (250×)", "–"],
        ["mctspy 1.2", "–", "1 k (800×)"],
    ]
    assert [row[3] for row in grid[2:]] == ["1.5 s", "", "2.2 s", ""]
    assert grid[2][4].endswith("evaluated once (nodes of a search, connect four 10,000: 8,100)")
    assert "- multimcts (connect four 800): ImportError: no a\\|b" in told


def test_the_brief_table_names_the_fastest_fair_peer_of_each_question(figures):
    """Our rate is that of the full table; `mcts`, which does less than was asked, is left out however fast it is."""
    table = load("peers.table")
    figures["rows"] += [
        line("open_spiel_cpp_uct", 600_000.0, 50_000.0, simulations=10_000),
        line("mcts", 700_000.0, 350_000.0, simulations=10_000),
    ]
    rows = [row for row in table.brief(figures).splitlines() if row.startswith("|")]
    assert [row.split(" | ")[:5] for row in rows[2:]] == [
        ["| connect four, rollouts, 10,000", "700 k", "OpenSpiel C++ MCTSBot, UCT (1.2)", "50 k", "12×"],
    ]
    assert rows[2].endswith(
        "| C++ bot on C++ games; a tree; its states also keep their history; ours wins and blocks in its rollouts, "
        "which costs a fifth of its rate |"
    )


def test_the_brief_table_has_five_rows_of_the_last_figures():
    table = load("peers.table")
    data = json.loads(table.LATEST.read_text(encoding="utf-8"))
    assert sum(row.startswith("| ") for row in table.brief(data).splitlines()) == 2 + 5


def test_tables_go_between_the_marks_and_nowhere_else(figures):
    table = load("peers.table")
    begin, short, end = "<!-- peers:begin -->\n", "<!-- peers:begin brief -->\n", "<!-- peers:end -->"
    text = f"before\n{begin}old\n{end}\nbetween\n{short}{end}\nafter\n"
    filled = table.fill(text, figures)
    assert filled == (
        f"before\n{begin}\n{table.markdown(figures)}\n{end}\nbetween\n{short}\n{table.brief(figures)}\n{end}\nafter\n"
    )
    assert table.fill(filled, figures) == filled
    assert table.fill("no marks", figures) == "no marks"


def test_the_terminal_table_has_a_line_for_everyone(figures):
    told = load("peers.table").text(figures["rows"]).splitlines()
    assert told[0].split() == ["question", "ours", "theirs", "ratio"]  # no columns for bars, as there are none
    assert re.split(r"\s{2,}", told[1])[1:4] == ["900 k", "100 k", "9"]
    assert told[4].endswith("multimcts: ImportError: no a|b")


def test_documents_show_the_last_figures():
    table = load("peers.table")
    data = json.loads(table.LATEST.read_text(encoding="utf-8"))
    for name in table.DOCUMENTS:
        if (ROOT / name).exists():
            text = (ROOT / name).read_text(encoding="utf-8")
            assert table.fill(text, data) == text, f"{name}: run `make readme`"


def test_the_last_figures_are_of_every_question_and_peer():
    table, catalogue, questions = load("peers.table"), load("peers.catalogue"), load("peers.questions")
    data = json.loads(table.LATEST.read_text(encoding="utf-8"))
    asked = [(q, peer.name) for q in questions.QUESTIONS for peer in catalogue.PEERS if peer.asked(q)]
    assert [(table.question_of(row), row["peer"]) for row in data["rows"]] == asked


@pytest.mark.parametrize("words", [["--only", "conect_four"], ["--peers", "opn_spiel"], ["--python", "/nowhere"]])
def test_unknown_names_are_answered_with_the_nearest(words, capsys):
    with pytest.raises(SystemExit) as stop:
        load("run_peers").main(words)
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert "'connect_four'?" in said or "'open_spiel_cpp_uct'?" in said or "make peers" in said


def test_a_part_can_be_chosen():
    run = load("run_peers")
    questions, peers = run.chosen(
        run.arguments(["--only", "connect_four", "rollout", "--peers", "open_spiel", "--simulations", "800"])
    )
    assert [str(question) for question in questions] == ["connect four, rollouts, 800"]
    assert [peer.name for peer in peers] == [f"open_spiel_{kind}" for kind in ("cpp_puct", "cpp_uct")] + [
        f"open_spiel_python_{kind}" for kind in ("puct", "uct")
    ]


def requirements(path: Path) -> dict[str, str]:
    pins = re.findall(r"^([\w.-]+)==(\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {name.lower().replace("_", "-"): version for name, version in pins}


def test_peers_are_pinned_and_stay_out_of_the_package_and_its_tests():
    """OpenSpiel alone is also ours, for the tests of rules; the rest may not leak into what users install."""
    lists = [requirements(FOLDER / "peers" / f"requirements{kind}.txt") for kind in ("", "-alone")]
    pinned = lists[0] | lists[1]
    packages = {peer.package.replace("_", "-") for peer in load("peers.catalogue").PEERS}
    assert packages <= pinned.keys()
    strangers = (packages | {"jax", "jaxlib", "pgx"}) - {"open-spiel"}
    assert not strangers & requirements(ROOT / "constraints.txt").keys()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [text for group in project["optional-dependencies"].values() for text in group]
    ours = {re.split(r"[\s\[<>=~!;]", text)[0].lower().replace("_", "-") for text in project["dependencies"] + extras}
    assert not strangers & ours


def test_the_engine_alone_searches_with_settings_left_open():
    """Settings that depend on the game are settled before the engine sees them, as `ab.Searcher` does."""
    engine, made = load("engine"), ab.games.load("pyrat", preset="open5")
    for config in (ab.SearchConfig(), ab.SearchConfig(simultaneous=ab.RegretMatching())):
        root = engine.make(made, ab.Uniform(), config=config)()
        engine.run(root, 50)
        searched = ab.Searcher(made, ab.Uniform(), config, threads=1)
        (found,) = searched.run([searched.root(made.start())], visits=50)
        assert root.nodes == len(found.graph)


def test_every_ablation_changes_the_preset_of_its_game():
    """A variant whose setting has another name by now would stop hours into a table."""
    ablations = load("ablations")
    for study in ablations.STUDIES.values():
        plain, *_ = study.variants
        assert study.settings(plain) == study.base(preset(study.game))
        made = [study.settings(name) for name in study.variants]
        assert all(one != other for at, one in enumerate(made) for other in made[:at])
        for settings in made:
            auxiliary_shapes(settings.auxiliary, study.game)


def test_all_endings_of_yatzy_are_looked_at():
    """By hand: a face f alone has 5f upper totals at which it may earn the bonus, and all others are one state."""
    proofs = load("proofs")
    assert proofs.upper_totals([0]) == [0, 1, 2, 3, 4, 5]
    assert proofs.upper_totals([5, 4, 3]) == sorted({min(63, 6 * a + 5 * b + 4 * c) for a, b, c in np.ndindex(6, 6, 6)})
    game, faces = ab.games.load("yatzy"), range(1, 7)
    ones, twos = (proofs.turns_ahead(game, left) for left in (1, 2))
    assert len(ones) == 9 + sum(5 * face + 1 for face in faces)
    pairs = sum(5 * (one + other) + 1 for one in faces for other in range(one + 1, 7))
    beyond = 12 + 7 + 2 + 2  # fives and sixes left: 50 at most above; 4 and 6: 55; 3 and 6, 4 and 5: 60
    assert len(twos) == 9 * 8 // 2 + 9 * sum(5 * face + 1 for face in faces) + pairs - beyond
    assert len({proofs.last_turn(state) for state in ones}) == 9 + 6 * 6
