"""Theorem: with the exact rules as its model, MuZero's self-play is AlphaZero's on trees, visit for visit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.imagined import Rules

import anabranch as ab
from anabranch.learn.presets import preset
from anabranch.learn.records import GameRecord
from anabranch.learn.selfplay import Worker
from anabranch.learn.settings import Method
from anabranch.models.learned import Seen


class SeenRules(Rules):
    """The rules as a model that is given what players see; positions of the game are known by that."""

    def __init__(self, game: ab.Game, evaluator: Any) -> None:
        super().__init__(game, evaluator)
        self.known: dict[bytes, ab.State] = {}
        level = {game.start().data: game.start()}
        while level:
            following: dict[Any, ab.State] = {}
            for state in level.values():
                self.known[self.key(state.observe(state.turn[0]), state.turn[0])] = state  # type: ignore[index]
                reached = [state.step(action)[0] for action in state.legal()]
                following |= {each.data: each for each in reached if not each.over}
            level = following

    @staticmethod
    def key(seen: np.ndarray, mover: int) -> bytes:
        return bytes([mover]) + np.ascontiguousarray(seen, np.float32).tobytes()

    def initial(self, observations: Seen) -> ab.Initial:
        return super().initial([self.known[self.key(*each)] for each in zip(*observations, strict=True)])


class Opinions:
    """An evaluator whose answers depend on the state alone, and prefer some choices."""

    def evaluate(self, batch: ab.Batch) -> tuple[Any, Any]:
        logits, values = [], []
        for state in batch.states:
            dice = np.random.default_rng(state.node_key % 2**32)
            logits.append(dice.normal(size=state.game.actions))
            values.append(dice.uniform(-1, 1, state.game.players))
        return np.stack(logits).astype(np.float32), np.stack(values)


def games(game: ab.Game, method: Method, search: ab.SearchConfig, evaluator: Any) -> Sequence[GameRecord]:
    made = preset(game, "muzero")
    changed = replace(made.self_play, abreast=3, random_games=2, keep="nothing", opening_plies=2)
    net = made.net if method == "muzero" else replace(made.net, architecture="mlp")
    config = replace(made, method=method, net=net, search=search, self_play=changed)
    with Worker(game, config, evaluator) as worker:
        found = [record for ended in worker.play(iter(range(8))) for record in ended]
    return sorted(found, key=lambda record: record.id)


SELECTORS: dict[str, Any] = {
    "gumbel": ab.Gumbel(noise=0.0, scale="range"),
    "puct": ab.Puct(scale="range", first_play=ab.FirstPlay.parent()),
}
GAMES: dict[str, dict[str, Any]] = {"tic_tac_toe": {}, "n_in_a_row": {"players": 3, "size": 3, "line": 2}}


@pytest.mark.parametrize("rule", SELECTORS)
@pytest.mark.parametrize("name", GAMES)
def test_planning_in_the_rules_is_searching_by_them(name, rule):
    game = ab.games.load(name, **GAMES[name])
    search = ab.SearchConfig(
        selector=SELECTORS[rule],
        transposition=ab.Transposition(merge=False),
        cap=ab.PlayoutCap(full=24, fast=6, chance=0.5),
        proofs="off",
    )
    opinions = Opinions()
    one = games(game, "alphazero", search, opinions)
    other = games(game, "muzero", search, SeenRules(game, opinions))
    assert one == other
    visits = [decision.visits for record in one for decision in record.decisions]
    assert {0, 6, 24} <= set(visits)
