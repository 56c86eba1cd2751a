"""`make demo` as the Makefile has it, with a tiny budget: it trains, rates with intervals, and says how to play."""

from __future__ import annotations

import re
import shlex

from tests.sources import ROOT

from anabranch.cli import GOOD, main
from anabranch.learn.presets import preset
from anabranch.search.settings.mapping import from_toml

TINY = (
    "workers=0", "most_steps=20", "net.channels=4", "net.blocks=1", "self_play.abreast=16", "teacher.positions=10",
    "teacher.full=20", "teacher.fast=5", "search.cap.full=8", "search.cap.fast=4", "replay.least=10", "replay.shard=8",
    "learner.batch=16", "export.every=4", "rating.positions=10", "rating.simulations=4", "rating.games=4",
)  # fmt: skip


def command() -> list[str]:
    """The words of the demo's training in the Makefile."""
    (line,) = re.findall(
        r"^\t\$\(BIN\)/anabranch (train .*) \$\(ARGS\)$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    return shlex.split(line)


def test_the_demo_trains_and_rates_and_says_how_to_play(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    words = [word.replace("$(DEMO)", str(tmp_path / "run")) for word in command()]
    assert main([*words, *(word for pair in TINY for word in ("--set", pair))]) == GOOD
    said = capsys.readouterr().out
    assert "20 steps" in said
    for opponent in ("random", "search:simulations=50"):
        assert re.search(rf"model \d+ scores [0-9.]+% against {opponent}, 95 % interval [0-9.]+% to [0-9.]+%", said)
    assert len(re.findall(r"^model \d+ +[+-]\d+ +± \d+", said, re.MULTILINE)) >= 2  # ratings of several models
    assert said.splitlines()[-1].startswith("  anabranch play connect_four --agent search:")


def test_the_demo_takes_two_minutes_on_two_cores():
    import anabranch as ab

    settings = from_toml(ROOT / "examples" / "demo.toml", base=preset(ab.games.load("connect_four")))
    assert settings.minutes == 1.5  # rating takes the rest
    assert settings.workers is None  # as many as suit the cores
