"""The number that signs the engine's behaviour stays what the repository says, whatever the threads."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.search.diagnosis.signature import CASES, Case, sign, signature

STORED = json.loads(Path(__file__).with_name("signature.json").read_text())


@pytest.mark.parametrize("threads", [1, 3])
def test_signature_is_the_stored_number(threads):
    """Where behaviour changed on purpose: store what `anabranch bench --signature --json` prints, and say so."""
    found = signature(threads=threads)
    assert found.nodes == STORED["nodes"]
    assert found.number == STORED["signature"]


@pytest.mark.parametrize(
    "other",
    [
        Case("connect_four", evaluator=ab.Hashing(), simulations=501),
        Case("connect_four", evaluator=ab.Hashing(seed=1), simulations=500),
        Case(
            "connect_four",
            evaluator=ab.Hashing(),
            simulations=500,
            config=ab.SearchConfig(selector=ab.Puct(c_init=1.26)),
        ),
    ],
)
def test_a_search_that_differs_signs_differently(other):
    assert sign(other) != sign(Case("connect_four", evaluator=ab.Hashing(), simulations=500))


def test_every_selector_chance_mode_evaluator_and_kind_of_game_is_signed():
    games = {case.game for case in CASES}
    assert {type(case.evaluator).__name__ for case in CASES} == {"Uniform", "Hashing", "Heuristic", "Rollout", "Asked"}
    assert {type(case.config.selector).__name__ for case in CASES} == {"Puct", "Ucb1", "Gumbel"}
    assert {case.config.chance.draw for case in CASES} == {"spread", "sampled"}
    assert {case.config.transposition.on_visit for case in CASES} == {"continue", "stop"}
    assert set(ab.games.names()) - games == {"explicit"}  # a table of one's own
    assert {case.config.virtual_loss.mode for case in CASES if case.config.width > 1} == {"loss", "visits", "off"}
    assert {1, 2, 3} <= {case.config.depth for case in CASES}
    assert any(case.config.noise for case in CASES)
    assert any(case.config.forced for case in CASES)
    scales = {case.config.selector.scale for case in CASES}
    assert scales == {"auto", "none", "node", "graph", "range"}
    in_charge = [case.config.simultaneous or case.config.selector for case in CASES]
    weights = {selector.weights for selector in in_charge if isinstance(selector, (ab.Puct, ab.Ucb1))}
    assert weights == {"A", "B", "C", "D"}


def test_the_parts_tell_which_case_changed():
    changed = [dataclasses.replace(CASES[0], simulations=300), dataclasses.replace(CASES[1], simulations=300)]
    one, two = signature(changed), signature([changed[0], dataclasses.replace(changed[1], simulations=301)])
    assert one.cases[0] == two.cases[0]
    assert one.cases[1] != two.cases[1]
    assert one.number != two.number
