"""Play one of our games and OpenSpiel's side by side and compare everything both can tell."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anabranch as ab


def _same_id(number: int) -> int:
    return number


def play_in_lockstep(
    game: ab.Game,
    spiel: Any,
    plies: int,
    *,
    seed: int = 0,
    action_id: Callable[[int], int] = _same_id,
    outcome_id: Callable[[int], int] = _same_id,
) -> int:
    """Play random games until `plies` steps are made; return how many games were finished.

    At every state both must agree on who acts and what is legal (chance: on the distribution), at the end on returns.
    `action_id` and `outcome_id` translate our ids into OpenSpiel's.
    """
    dice = random.Random(seed)
    finished = 0
    ours, theirs, total = game.start(), spiel.new_initial_state(), np.zeros(game.players)
    for _ in range(plies):
        if ours.turn == ab.CHANCE:
            assert theirs.is_chance_node(), f"{ours}\n{theirs}"
            chances = ours.outcomes()
            expected = dict(theirs.chance_outcomes())
            assert {outcome_id(outcome): p for outcome, p in chances} == pytest.approx(expected), f"{ours}\n{theirs}"
            (outcome,) = dice.choices([outcome for outcome, _ in chances], [p for _, p in chances])
            ours, rewards = ours.step(outcome)
            theirs.apply_action(outcome_id(outcome))
        else:
            assert isinstance(ours.turn, tuple)
            legal = {seat: ours.legal(seat) for seat in ours.turn}
            for seat in range(game.players):
                translated = sorted(action_id(action) for action in legal.get(seat, []))
                assert translated == theirs.legal_actions(seat), f"player {seat}\n{ours}\n{theirs}"
            joint = [dice.choice(legal[seat]) for seat in ours.turn]
            ours, rewards = ours.step(joint)
            if theirs.is_simultaneous_node():
                theirs.apply_actions([action_id(action) for action in joint])
            else:
                (action,) = joint
                theirs.apply_action(action_id(action))
        total += rewards
        assert ours.over == theirs.is_terminal(), f"{ours}\n{theirs}"
        if ours.over:
            assert total.tolist() == theirs.returns(), f"{ours}\n{theirs}"
            finished += 1
            ours, theirs, total = game.start(), spiel.new_initial_state(), np.zeros(game.players)
    return finished
