"""mctx's gumbel and muzero policies, case by case: the same trees, visits exactly, weights and values to 1e-5."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.golden.mctx_model import STORED, HashLatents, HashModel, HashTree, unpacked

import anabranch as ab
from anabranch import _native
from anabranch.search.maths.gumbel import halving, scheduled
from anabranch.search.maths.root_rule import RootRule

CASES: list[dict[str, Any]] = STORED["cases"]
MUZERO = ab.Puct(c_init=1.25, c_log=1.0, c_base=19652.0, c_off=2.0, scale="node", first_play=ab.FirstPlay.lowest())


def config_of(case: dict[str, Any]) -> ab.SearchConfig:
    gumbel = ab.Gumbel(considered=max(1, case["considered"]), scale="node")
    return ab.SearchConfig(
        proofs="off",  # the contract without them
        selector=gumbel if case["policy"] == "gumbel" else MUZERO,
        transposition=ab.Transposition(merge=False),
    )


def searched(case: dict[str, Any], *, reference: bool) -> tuple[ab.Result, list[int]]:
    """Return what we find in a case, and the visits of all nodes in the order they were made."""
    game, noise = HashTree(case), unpacked(case["noise"])
    gumbel = case["policy"] == "gumbel"
    model = HashModel(game, None if gumbel else noise)
    valid = np.setdiff1d(np.arange(case["actions"]), case["invalid"])
    if reference:
        search = ab.Reference(game.start(), model, config_of(case))
        if gumbel:
            search.walker.rule = RootRule(gumbel=[noise[valid].tolist()])
        found = search.run(simulations=case["simulations"])
        return found, [node.visits for node in search.graph.nodes]
    searcher = ab.Searcher(game, model, config_of(case), threads=1)
    root = searcher.root(game.start())
    if gumbel:
        _native.set_gumbel(root.native, noise[valid].tolist())
    [found] = searcher.run(root, simulations=case["simulations"])
    return found, root.graph.columns["visits"].tolist()


def planned(case: dict[str, Any]) -> tuple[ab.Result, list[int]]:
    """Return the same of a plan in the case's model, two roots abreast."""
    noise, gumbel = unpacked(case["noise"]), case["policy"] == "gumbel"
    valid = np.setdiff1d(np.arange(case["actions"]), case["invalid"])
    model: Any = HashLatents(case, None if gumbel else noise)
    plan = ab.plan(ab.TwoPlayer(model) if case["discount"] == -1.0 else model, [0, 0], config_of(case), visits=0)
    if gumbel:
        for root in plan.roots:
            _native.set_gumbel(root.native, noise[valid].tolist())
    plan.run(simulations=case["simulations"])
    assert plan.visits[0].tolist() == plan.visits[1].tolist()
    return plan[0], plan.roots[0].graph.columns["visits"].tolist()


def check(case: dict[str, Any], found: ab.Result, nodes: list[int]) -> None:
    visits = [[int(a), int(found.visits[0, a])] for a in np.flatnonzero(found.visits[0])]
    assert visits == case["visits"]
    assert hashlib.sha256(np.array(nodes, "<i4").tobytes()).hexdigest()[:16] == case["nodes"], "visits of all nodes"
    assert found.value[0] == pytest.approx(case["value"], abs=1e-5)
    assert found.policy[0] == pytest.approx(unpacked(case["weights"]), abs=1e-5)
    if case["policy"] == "gumbel":
        assert found.action == case["winner"]


@pytest.mark.parametrize("first", range(0, len(CASES), 10))
def test_mctx_finds_the_same_tree(first):
    """Noise given, both policies; what a case is made of is in its error."""
    for number, case in enumerate(CASES[first : first + 10], start=first):
        try:
            check(case, *searched(case, reference=False))
            check(case, *planned(case))
            if case["simulations"] * case["actions"] < 500:
                check(case, *searched(case, reference=True))
        except AssertionError as error:
            brief = {name: value for name, value in case.items() if name not in ("noise", "weights")}
            error.add_note(f"case {number}: {brief}")
            raise


def test_the_cases_cover_what_they_should():
    counts = Counter(case["policy"] for case in CASES)
    assert sum(counts.values()) >= 200
    assert min(counts.values()) >= 80
    for policy in counts:
        cases = [case for case in CASES if case["policy"] == policy]
        assert {2, 9, 82, 441} <= {case["actions"] for case in cases}
        assert {1, 50, 200} <= {case["simulations"] for case in cases}
        assert {-1.0, 0.9375} <= {case["discount"] for case in cases}
        assert sum(bool(case["invalid"]) for case in cases) >= 20
    assert {2, 4, 8, 16, 32} <= {case["considered"] for case in CASES}


def test_schedules_are_those_of_mctx():
    """For all budgets up to 256 and up to 32 considered choices, by a checksum of all of mctx's tables."""
    mark = hashlib.sha256()
    for considered in range(33):
        for simulations in range(1, 257):
            phases = halving(considered, simulations)
            mark.update(np.array([scheduled(phases, t) for t in range(simulations)], "<i4").tobytes())
    assert mark.hexdigest() == STORED["schedules"]
