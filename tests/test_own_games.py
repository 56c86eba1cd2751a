"""Games of users' own, as files of rules that the library knows nothing of: they train with the command alone."""

from __future__ import annotations

import pytest
from tests.sources import ROOT

import anabranch as ab
from anabranch.cli import GOOD, USAGE, main
from anabranch.play.solitaire import solitaire

FILES = ("dots_and_boxes.py:DotsAndBoxes", "shut_the_box.py:ShutTheBox", "auction.py:Auction")
TINY = (
    "most_steps=6", "net.width=8", "self_play.abreast=8", "teacher.positions=20", "teacher.full=10", "teacher.fast=5",
    "search.cap.full=8", "search.cap.fast=4", "replay.least=20", "replay.shard=8", "learner.batch=16",
    "export.every=2", "rating.positions=10", "rating.simulations=4", "rating.games=6", "rating.models=1",
    "rating.anchors=random", "workers=0",
)  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.partition(".")[0])
def test_a_file_of_rules_trains_with_one_command(file, tmp_path, capsys):
    name = str(ROOT / "examples" / "games" / file)
    words = ["train", name, "--run", str(tmp_path / "run")]
    assert main([*words, *(word for pair in TINY for word in ("--set", pair))]) == GOOD
    said = capsys.readouterr().out
    assert "6 steps" in said
    assert said.splitlines()[-1].startswith(f"  anabranch play {name} --agent search:")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.partition(".")[0])
def test_their_rules_keep_the_laws(file):
    ab.check(ab.games.load(str(ROOT / "examples" / "games" / file)), seconds=0.5).raise_if_failed()


def test_shut_the_box_is_worth_what_the_oracle_gets():
    game = ab.games.load(str(ROOT / "examples" / "games" / FILES[1]))
    exact = float(ab.solve(game).value[0])
    got = solitaire(game, "oracle", 300)
    assert abs(got.mean() - exact) < 4 * got.std() / 300**0.5
    assert solitaire(game, "random", 300).mean() < exact - 5
    assert (solitaire(game, "random", 10) == solitaire(game, "random", 10, abreast=3)).all()


RULES = '''
import numpy as np
import anabranch as ab


class Blind(ab.CompiledGame):
    """Take a coin or not."""

    def __init__(self):
        self.players, self.actions = 1, 2
        self.state = ab.record(over=np.bool_)

    def turn(self, state):
        return ab.OVER if state.over else ab.player(0)

    def legal(self, state, player, actions):
        actions[0], actions[1] = 0, 1
        return 2

    def step(self, state, actions, rewards):
        state.over = True
        rewards[0] = actions[0]
'''


def test_a_game_that_nobody_can_see_says_how_to_write_observe(tmp_path, capsys):
    (tmp_path / "blind.py").write_text(RULES)
    assert main(["train", f"{tmp_path}/blind.py:Blind", "--run", str(tmp_path / "run")]) == USAGE
    said = capsys.readouterr().err
    assert "Blind has no observe verb" in said
    assert "def observe(self, state, player, planes)" in said
    assert "self.observation = (" in said
    assert not (tmp_path / "run").exists()
